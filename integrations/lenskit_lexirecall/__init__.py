"""Our measures as LensKit's metrics, and comparisons of its runs.

>>> from lenskit.data import ItemList, ItemListCollection
>>> from lenskit.metrics import NDCG, MeasurementCollector
>>> from lenskit_lexirecall import TSE, LexiRecall, Metric, compare
>>> test = ItemListCollection.from_dict({1: ItemList([31, 42]), 2: ItemList([17])}, "user_id")
>>> recs = ItemListCollection.empty(["model", "user_id"])
>>> recs.add(ItemList([31, 50, 42], ordered=True), model="knn", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="knn", user_id=2)
>>> recs.add(ItemList([31, 50, 60, 42], ordered=True), model="als", user_id=1)
>>> recs.add(ItemList([17, 50], ordered=True), model="als", user_id=2)
>>> collector = MeasurementCollector()
>>> for metric in (TSE(), LexiRecall(), Metric("RBP(p=0.5)"), NDCG(10)):
...     collector.add_metric(metric)
>>> measure = getattr(collector, "add_list_measurement", None) or collector.measure_list  # before LensKit 2026
>>> for key, items in recs:
...     measure(items, test.lookup_projected(key), model=key.model, user_id=key.user_id)
>>> collector.list_metrics().groupby("model").mean().round(3)
         TSE  LexiRecall  RBP(p=0.5)  NDCG@10
model
als    0.625       0.933       0.531    0.875
knn    0.667       0.967       0.562    0.908
>>> compare(test, recs).matrix()
     knn  als
knn  0.0  0.5
als -0.5  0.0
"""

from ir_lexirecall._util.errors import needs

try:
    import lenskit.metrics  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(needs("lenskit_lexirecall", "LensKit", "lenskit"), name=error.name) from None

from lenskit_lexirecall.metrics import TSE, LexiRecall, Metric
from lenskit_lexirecall.runs import compare, qrels

__all__ = ["TSE", "LexiRecall", "Metric", "compare", "qrels"]
