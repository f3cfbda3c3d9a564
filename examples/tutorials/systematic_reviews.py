"""
Systematic reviews: who finds everything first
==============================================

A review must find *every* relevant record, and somebody reads until then. Models of active learning order the records;
simulations on finished reviews show how well. You will learn

- how to read simulations of ASReview, or make rankings of your own into reviews,
- what WSS, ATD, the loss of recall and the last relevant record say, and for which size of the collection,
- how to draw recall curves,
- how to compare models on several reviews by who finds everything first, and what decided between two.

Needs scikit-learn, whose classifiers are the "models" here.
"""

# %%
# Simulations
# -----------
#
# With ASReview 2 or 3, a simulation is a file, and one line reads it. A review is a query, a model is a run, and the
# order of labelling is its ranking::
#
#     from ir_lexirecall.io.reviews import read_reviews
#     reviews = read_reviews(["bees-nb.asreview", "bees-svm.asreview", ...])
#     irl.compare(reviews.qrels, reviews.runs)
#
# (and ``asreview lexirecall compare *.asreview`` does it on the command line). Records that were never labelled come
# last; those that the model started with are left out. Here we simulate reviews ourselves: each of the seven subjects
# of the embedded collection is a review that searches its 90 documents, twice with different prior knowledge.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.evaluation.evaluating import recall_curves

documents = demo.docs()
ids = documents["doc_id"].to_numpy()
subject = np.array([doc_id.split("-")[0] for doc_id in ids])
texts = TfidfVectorizer(sublinear_tf=True).fit_transform(
    documents["title"] + " " + documents["text"]
)


def simulate(model, wanted, priors):
    """Records in the order in which a model has them labelled: four at a time, those most probably relevant."""
    labelled = list(priors)
    scores = np.random.default_rng(sum(priors)).random(len(ids))  # chance
    while len(labelled) < len(ids):
        rest = np.setdiff1d(np.arange(len(ids)), labelled)
        if model is not None:
            model.fit(texts[labelled], wanted[labelled])
            scores = model.predict_proba(texts)[:, 1]
        labelled += rest[np.argsort(-scores[rest])][:4].tolist()
    return labelled[len(priors) :]


models = {
    "naive Bayes": MultinomialNB(alpha=0.1),
    "logistic": LogisticRegression(C=10, class_weight="balanced", solver="liblinear"),
    "chance": None,
}
qrels, runs = {}, {name: {} for name in models}
for name in np.unique(subject):
    for start in range(2):
        wanted = (subject == name).astype(int)
        priors = [np.flatnonzero(wanted)[start], np.flatnonzero(1 - wanted)[7 * start]]
        review = f"{name}-{start}"
        records = np.setdiff1d(np.arange(len(ids)), priors)
        qrels[review] = {ids[i]: int(wanted[i]) for i in records}
        for model, classifier in models.items():
            ranking = simulate(classifier, wanted, priors)
            runs[model][review] = {ids[i]: -rank for rank, i in enumerate(ranking, 1)}
len(qrels), len(next(iter(qrels.values())))

# %%
# Measures
# --------
#
# All measures look at rankings of the whole collection. ``LastRel`` is the rank of the last relevant record.
# ``WSS@0.95`` is the share of records that need not be read to find 95%, minus the share that chance would save.
# ``ATD`` is the mean rank of the relevant records. ``RecallLoss`` is the area between the ideal recall curve and this
# one (0 to 1). ``ERF@0.1`` is the share of records found in the first tenth, minus that of chance. The measures take
# the number of records from a complete ranking; for a run that is cut off, name it: ``WSS(n=90)``, or
# ``WSS(n={"bee-0": 88, ...})`` where reviews differ.

measures = ["LastRel", "WSS@0.95", "ATD", "RecallLoss", "ERF@0.1"]
for model, run in runs.items():
    print(
        model.ljust(12),
        irl.evaluate(measures, qrels, run, aggregate=True).round(3).to_dict(),
    )

# %%
# Curves
# ------
#
# Means over reviews hide when the last record was found; the dots show it.

irl.plots.recall_curves(recall_curves(qrels, runs))
plt.show()

# %%
# Who finds everything first
# --------------------------
#
# Lexicographic recall prefers the model that finds the last relevant record earlier; if both find it at the same
# rank, the one before decides, and so on. Each review is one decision, while one hard review can dominate a mean of
# ranks.

result = irl.compare(qrels, runs, "lexirecall")
result.table()[["run_a", "run_b", "wins", "losses", "ties"]]

# %%
# For each review, ``explain`` shows what decided between two models: the recall level, the record, and its two ranks.

result.explain("naive Bayes", "logistic").head()
