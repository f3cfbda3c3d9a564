"""
Predictions of MTEB and sentence-transformers
=============================================

An embedding model was run on a retrieval task, and its predictions are on disk. You will learn

- how to evaluate such a file with any measure, in one call,
- what a document that finds itself does to the numbers, and how to take it out,
- how to see how many dimensions an embedding needs,
- how to have these measures select the best model while sentence-transformers trains it.

Needs scikit-learn, which makes the "model" here: ``pip install -e '.[all]' scikit-learn`` in a checkout. The last part
needs sentence-transformers and is left out without it.
"""

# %%
# A task and a model
# ------------------
#
# The task is *more like this*: each of the 90 short documents that come with the package is a query, and the other
# documents on its subject are relevant. The model embeds groups of letters by a singular value decomposition. Its first
# dimensions are the most important ones, so it can be cut short, as a Matryoshka embedding can.

import importlib.util
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

import ir_lexirecall as irl
from ir_lexirecall import demo

documents = demo.docs()
ids = documents["doc_id"].tolist()
texts = (documents["title"] + " " + documents["text"]).tolist()
subject = np.array([doc_id.split("-")[0] for doc_id in ids])

qrels = {
    query: {doc: 1 for doc in np.array(ids)[subject == subject[i]] if doc != query}
    for i, query in enumerate(ids)
}
embeddings = TruncatedSVD(80, random_state=1).fit_transform(
    TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True
    ).fit_transform(texts)
)


def predictions(dimensions):
    """Cosines of all pairs of documents, from a number of dimensions: {query: {document: score}}."""
    vectors = normalize(embeddings[:, :dimensions])
    return {
        query: dict(zip(ids, row, strict=True))
        for query, row in zip(ids, (vectors @ vectors.T).tolist(), strict=True)
    }


# %%
# MTEB's file
# -----------
#
# ``mteb.evaluate(model, tasks, prediction_folder=...)`` writes one JSON file per task: subset, split, query, document,
# score. We write the same here. It holds no judgments; those come from the task, in any form: a dict as here, BEIR's
# TSV, TREC's qrels, an id of ``ir_datasets``.

folder = Path(tempfile.mkdtemp())


def written(dimensions):
    """A file as MTEB writes it, for a model with this number of dimensions."""
    path = folder / f"svd-{dimensions}" / "MoreLikeThis_predictions.json"
    path.parent.mkdir()
    content = {
        "mteb_model_meta": {"model_name": f"svd-{dimensions}"},
        "default": {"test": predictions(dimensions)},
    }
    path.write_text(json.dumps(content))
    return path


files = {
    f"svd-{dimensions}": written(dimensions) for dimensions in (2, 4, 8, 16, 32, 64)
}
print(files["svd-16"].read_text()[:150], "...")

# %%
# One call
# --------
#
# The path is enough; the content shows the format. ``aggregate=True`` gives means instead of values per query.

irl.evaluate(["nDCG@10", "LR", "TSE"], qrels, files["svd-16"], aggregate=True).to_frame(
    "mean"
).round(3)

# %%
# Queries that retrieve themselves
# --------------------------------
#
# Those values are too low. Every query is also a document of the collection, and finds itself first. MTEB writes
# predictions *before* it removes these documents. ``exclude="self"`` removes them here.

irl.evaluate(
    ["nDCG@10", "LR", "TSE"],
    irl.load(qrels, exclude="self"),
    files["svd-16"],
    aggregate=True,
).to_frame("mean").round(3)

# %%
# How many dimensions?
# --------------------
#
# ``compare`` takes all files at once; ``means`` has intervals.

measures = ["nDCG@10", "LR", "TSE"]
result = irl.compare(
    irl.load(qrels, exclude="self"),
    files,
    [*measures, "lexirecall"],
    baseline="svd-64",
    test=irl.SignificanceTest(seed=1),
)
means = result.means()
means = means[means["criterion"].isin(measures)]

figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axes, (measure, rows) in zip(
    panels, means.groupby("criterion", sort=False), strict=True
):
    dimensions = rows["run"].str.removeprefix("svd-").astype(int)
    axes.plot(dimensions, rows["mean"], marker="o")
    axes.fill_between(dimensions, rows["ci_low"], rows["ci_high"], alpha=0.2)
    axes.set_xscale("log", base=2)
    axes.set_xticks(dimensions, dimensions)
    axes.set_xlabel("dimensions")
    axes.set_title(measure)
figure.suptitle("Means and 95% intervals by dimensions of the embedding")
plt.show()

# %%
# Sixteen dimensions are best by all three measures. Whether to cut at four or keep all 64 depends on the user: for
# the first ten results (``nDCG@10``) more dimensions are better, and for the *last* relevant document (LexiRecall,
# TSE) fewer are, because they look beyond the words. A comparison of the rankings with those of all 64 dimensions,
# query by query, shows whether this is more than chance:

columns = ["run_a", "run_b", "wins", "losses", "difference", "p_corrected", "verdict"]
result.table("lexirecall")[columns].round(4)

# %%
# This decided the first queries between the smallest and the largest model:

explained = result.explain("svd-2", "svd-64", "lexirecall")
explained[["query_id", "winner", "level", "doc_id", "rank_a", "rank_b"]].head()

# %%
# sentence-transformers' file
# ---------------------------
#
# ``InformationRetrievalEvaluator`` writes a line per query if it is made with ``write_predictions=True``. The file is
# read in the same way.

lines = [
    {
        "query_id": query,
        "query": "",
        "results": [{"corpus_id": doc, "score": score} for doc, score in found.items()],
    }
    for query, found in predictions(16).items()
]
path = folder / "Information-Retrieval_evaluation_MoreLikeThis_predictions_cosine.jsonl"
path.write_text("\n".join(map(json.dumps, lines)))
irl.evaluate(
    ["nDCG@10", "LR", "TSE"], irl.load(qrels, exclude="self"), path, aggregate=True
).to_frame("mean").round(3)

# %%
# While a model is trained
# ------------------------
#
# ``LexiRecallEvaluator`` is sentence-transformers' evaluator with further measures added (there is one for sparse
# encoders, and one for cross-encoders that rerank). Give it to a trainer, and name its primary metric for the best
# model::
#
#     SentenceTransformerTrainer(model, args, train_dataset, evaluator=evaluator)  # args: metric_for_best_model="eval_dev_cosine_LR"
#
# Here a tiny model, a random vector per word, is scored before any training.


def scored_while_training():
    """Metrics of an untrained model, and means with intervals."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers_lexirecall import LexiRecallEvaluator
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    try:
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    except ModuleNotFoundError:  # before version 6
        from sentence_transformers.models import StaticEmbedding

    words = sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(
        WordLevel(
            {word: i for i, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]"
        )
    )
    tokenizer.pre_tokenizer = Whitespace()
    model = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_dim=64)], device="cpu"
    )
    queries = dict(demo.queries()[["query_id", "text"]].itertuples(index=False))
    grades = {
        query: rows.groupby("doc_id")["relevance"].max().to_dict()
        for query, rows in demo.qrels().groupby("query_id")
    }
    evaluator = LexiRecallEvaluator(
        queries,
        dict(zip(ids, texts, strict=True)),
        grades,
        ["LR", "nDCG@10"],
        name="dev",
    )
    metrics = evaluator(model)
    print(f"{evaluator.primary_metric} = {metrics[evaluator.primary_metric]:.3f}")
    return evaluator.intervals.round(3)


if importlib.util.find_spec("sentence_transformers"):
    print(scored_while_training().to_string(index=False))
else:
    print(
        "sentence-transformers is not installed: pip install -e '.[sentence-transformers]' to run this part"
    )
