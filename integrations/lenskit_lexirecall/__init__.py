"""Our measures as LensKit's metrics, for its run analysis, and exact preferences between its runs.

>>> from lenskit.data import ItemList, ItemListCollection
>>> from lenskit.metrics import NDCG, RunAnalysis
>>> from lenskit_lexirecall import TSE, LexiRecall, Metric, compare
>>> test = ItemListCollection.from_dict({1: ItemList([31, 42]), 2: ItemList([17])}, "user_id")
>>> recs = ItemListCollection.empty(["model", "user_id"])
>>> recs.add(ItemList([31, 50, 42], ordered=True), model="knn", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="knn", user_id=2)
>>> recs.add(ItemList([31, 50, 60, 42], ordered=True), model="als", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="als", user_id=2)
>>> measured = RunAnalysis(TSE(), LexiRecall(), Metric("RBP(p=0.5)"), NDCG(10)).measure(recs, test)
>>> measured.list_metrics().groupby("model").mean().round(3)
         TSE  LexiRecall  RBP(p=0.5)  NDCG@10
model
als    0.625       0.933       0.531    0.875
knn    0.667       0.967       0.562    0.908
>>> compare(test, recs).matrix()
     knn  als
knn  0.0  0.5
als -0.5  0.0
"""

from ir_lexirecall.errors import needs

try:
    import lenskit.metrics  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(needs("lenskit_lexirecall", "LensKit", "lenskit"), name=error.name) from None

from lenskit_lexirecall.comparison import compare
from lenskit_lexirecall.metrics import TSE, LexiRecall, Metric

__all__ = ["TSE", "LexiRecall", "Metric", "compare"]
