"""The same evaluation where the data is: on Spark DataFrames, with the same values bit for bit.

    import spark_lexirecall
    values = spark_lexirecall.evaluate([TSE, LR, nDCG @ 10], qrels, run)

``qrels`` has the columns ``query_id``, ``doc_id``, ``relevance`` and whatever else ``ir_lexirecall`` reads
(``subtopic_id`` or ``iteration``, ``weight``, aspects); ``run`` has ``query_id``, ``doc_id``, ``score``. Needs PySpark 4 or later, and
``ir-lexirecall`` and PyArrow on the workers too.
"""

from spark_lexirecall.distributed import compare, evaluate

__all__ = ["compare", "evaluate"]
