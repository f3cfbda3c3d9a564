"""What rankings can give: the best value by measures of several aspects, and exposure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import (
    and_more,
    check_choice,
    check_integer,
    check_number,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import without
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.recall import EXPOSURES
from ir_lexirecall.measures.recall import exposure as exposure_model
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.meta.records import DIAZ, Headline, recorded, study
from ir_lexirecall.plots.studies import Bars, Lines

ProvidersLike: TypeAlias = "Mapping[str, str] | pd.DataFrame"
"""Provider of each document: a mapping of ids, or a table with columns `doc_id` and `provider`."""

_MAISTRO = (
    "Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021, doi 10.1145/3459637.3482287"
)
_MOST_ASPECTS = 6  # 720 orders


# -- the best value that can be reached ------------------------------------------------------------


def _in_rising_order(table: pd.DataFrame) -> pd.DataFrame:
    rising = table.sort_values(["measure", "value"], kind="stable")
    return rising.assign(queries=rising.groupby("measure").cumcount() + 1)


@study(
    "The largest value that any ranking reaches, for measures of several aspects",
    Headline("value", "mean of the largest value reached", "largest", "smallest"),
    Lines(
        "The best value that any ranking of these documents has",
        "queries",
        "queries, by what can be reached",
        value="value",
        meaning="largest value of any ranking",
        marks=_in_rising_order,
    ),
)
def reachable_maximum(measures: MeasuresLike, qrels: QrelsLike) -> pd.DataFrame:
    """Estimate the largest value that any ranking reaches, for measures of several aspects.

    The judged documents of a query are ranked in many ways: by the labels of the aspects one after
    the other, in every order of the aspects, by the sum of the labels, by the sum of their squares,
    and by the largest label. The best value over these rankings may be below 1 for ``CAM`` and
    ``MM``.

    Args:
        measures: measures that name their aspects: ``CAM``, ``MM``, ``TOMA``.
        qrels: judgments in any form that ``evaluate`` takes.

    Returns:
        A row per measure and query that has a label above the lowest: ``measure``, ``query_id``,
        ``value`` and ``order`` (of the first ranking that reaches it, such as
        ``'relevance > quality'`` or ``'sum'``).

    Raises:
        ValueError: a measure that names no aspects, or more than 6; or bad input.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of
    Rankings, CIKM 2021, Figure 2, doi 10.1145/3459637.3482287.

    >>> import pandas as pd
    >>> from ir_lexirecall import CAM, TOMA
    >>> from ir_lexirecall.meta import reachable_maximum
    >>> qrels = pd.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    ... )
    >>> aspects = {"relevance": 1, "quality": 1}
    >>> measures = [CAM(aspects=aspects, base="RR"), TOMA(aspects=aspects)]
    >>> reachable_maximum(measures, qrels)["value"].tolist()
    [0.75, 1.0]
    """
    parsed = parse_measures(measures)
    for name, measure in parsed.items():
        _check_aspects_of(name, measure)
    judgments = Judgments.from_qrels(qrels)
    parts = [
        _maximum_of(measure, judgments).assign(measure=name)
        for name, measure in parsed.items()
    ]
    table = pd.concat(parts, ignore_index=True)[
        ["measure", "query_id", "value", "order"]
    ]
    printed = {name: str(measure) for name, measure in parsed.items()}
    return recorded(table, "reachable_maximum", measures=printed, source=_MAISTRO)


def _check_aspects_of(name: str, measure: IRMeasure) -> None:
    """Check that a measure names at most so many aspects that all their orders can be tried."""
    if "aspects" not in measure.SUPPORTED_PARAMS:
        raise ValueError(f"{name} names no aspects; give CAM, MM or TOMA")
    if len(measure["aspects"]) > _MOST_ASPECTS:
        raise ValueError(
            f"{name} has more than {_MOST_ASPECTS} aspects; leave some out"
        )


def _maximum_of(measure: IRMeasure, judgments: Judgments) -> pd.DataFrame:
    """Return the best value of every labelled query and the order that reaches it first."""
    labels = aspect_labels(measure, judgments)
    best = np.full(len(judgments), -np.inf)
    order = np.full(len(judgments), "", dtype=object)
    for name, keys in _orders(labels):
        value = values(measure, _ranked_by(keys, judgments))
        is_better = value > best
        best[is_better], order[is_better] = value[is_better], name
    labelled = labelled_queries(judgments, labels)
    query_ids = [judgments.query_ids[q] for q in labelled]
    return pd.DataFrame(
        {"query_id": query_ids, "value": best[labelled], "order": order[labelled]}
    )


def _orders(labels: Mapping[str, Floats]) -> Iterator[tuple[str, list[Floats]]]:
    """Yield names of orders of documents and what they sort by, the most important first."""
    for names in permutations(labels):
        yield " > ".join(names), [labels[name] for name in names]
    stacked = np.stack(list(labels.values()))
    yield "sum", [stacked.sum(axis=0)]
    yield "sum of squares", [(stacked**2).sum(axis=0)]
    yield "largest label", [stacked.max(axis=0)]


def _ranked_by(keys: Sequence[Floats], judgments: Judgments) -> AlignedRun:
    """Return the ranking of all judged documents by falling keys."""
    doc = np.lexsort((*(-key for key in reversed(keys)), judgments.query))
    query = judgments.query[doc]
    depth = np.bincount(judgments.query, minlength=len(judgments))
    rank = position_in_segment(query) + 1
    return AlignedRun(judgments, query=query, doc=doc, rank=rank, depth=depth)


def aspect_labels(measure: IRMeasure, judgments: Judgments) -> dict[str, Floats]:
    """Return labels of every judged document by aspect; a missing or negative one is 0."""
    return {
        name: np.maximum(np.nan_to_num(label, nan=0.0), 0.0)
        for name, label in judgments.labels(list(measure["aspects"])).items()
    }


def labelled_queries(judgments: Judgments, labels: Mapping[str, Floats]) -> Ints:
    """Return the queries with a label above 0."""
    largest = np.max(list(labels.values()), axis=0)
    return np.flatnonzero(
        np.bincount(judgments.query[largest > 0], minlength=len(judgments))
    )


# -- exposure of providers -------------------------------------------------------------------------


def _worst_of_each_run(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean exposure of the worst provider of each run."""
    least = table.groupby(["run", "query_id"], sort=False)["exposure"].min()
    return (
        least.groupby("run", sort=False)
        .mean()
        .reset_index(name="exposure")
        .rename(columns={"run": "measure"})
    )


@study(
    "Exposure of the providers of relevant documents",
    Headline("exposure", "mean exposure of a provider", "most", "least"),
    Bars(
        "What the worst-off provider gets, on average over the queries",
        meaning="mean exposure of the worst-off provider",
        row="run",
        marks=_worst_of_each_run,
    ),
)
def provider_exposure(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    providers: ProvidersLike,
    *,
    exposure: str = "AP",
    p: float = 0.8,
    n: int | None = None,
    rel: float = 1,
    allow_empty: bool = False,
) -> pd.DataFrame:
    """Sum up the exposure that rankings give to the provider of relevant documents.

    The exposure of a provider is the sum of e(rank) over its relevant documents. Its u missing
    documents stand at the bottom of the collection, at ranks n-u+1, ..., n; without ``n``, they
    have exposure 0.

    Args:
        qrels: judgments in any form that ``evaluate`` takes.
        runs: runs by name, at least one.
        providers: provider of each relevant document, as a mapping of document ids, or a DataFrame
            with columns ``doc_id`` and ``provider``.
        exposure: of rank i: ``'AP'`` or ``'RR'`` 1/i, ``'nDCG'`` 1/log2(i+1), ``'RBP'``
            (1-p) p^(i-1), ``'linear'`` 1 - i/n.
        p: of the exposure ``'RBP'``.
        n: documents in the collection.
        rel: smallest grade that counts as relevant.
        allow_empty: take runs without a query or document in common with the qrels.

    Returns:
        A row per run, query and provider of a relevant document: ``run``, ``query_id``,
        ``provider``, ``relevant``, ``retrieved``, ``exposure`` (Eq. 2), ``per_document`` (its mean
        over the relevant documents) and ``worst`` (no other provider of the query gets less).

    Raises:
        ValueError: a relevant document without a provider, an unknown exposure, or n below a rank.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equation 2, doi 10.1145/3728373.

    >>> from ir_lexirecall.meta import provider_exposure
    >>> qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> table = provider_exposure(qrels, {"x": run}, {"a": "P", "b": "P", "c": "Q"})
    >>> table[["provider", "relevant", "exposure", "worst"]].round(3)
      provider  relevant  exposure  worst
    0        P         2     1.500  False
    1        Q         1     0.333   True
    """
    check_choice("exposure", exposure, EXPOSURES)
    check_number("p", p, above=0, below=1)
    check_number("rel", rel, above=0)
    if n is not None:
        check_integer("n", n)
    elif exposure == "linear":
        raise ValueError(
            "exposure='linear' needs n, the number of documents in the collection"
        )
    judgments = Judgments.from_qrels(qrels)
    scored = ScoredRuns.from_runs({}, judgments, runs, allow_empty=allow_empty)
    relevant = np.flatnonzero(judgments.grade >= rel)
    owner = _owners(providers, [judgments.doc_ids[doc] for doc in relevant])
    model = exposure_model(exposure, p=float(p), n=n)
    parts = []
    for name, run in scored.runs.items():
        rank = _ranks_of(run, relevant)
        _check_size(n, name, run, rank, judgments.query[relevant])
        imputed = _imputed(rank, judgments.query[relevant], owner, n)
        table = pd.DataFrame(
            {
                "query_id": [judgments.query_ids[q] for q in judgments.query[relevant]],
                "provider": owner,
                "retrieved": rank > 0,
                "exposure": model(imputed),
            }
        )
        parts.append(_by_provider(table).assign(run=name))
    columns = ["run", "query_id", "provider", "relevant", "retrieved", "exposure"]
    table = pd.concat(parts, ignore_index=True)[[*columns, "per_document", "worst"]]
    facts = {
        "exposure": exposure,
        "p": p if exposure == "RBP" else None,
        "n": n,
        "rel": rel,
    }
    return recorded(
        table, "provider_exposure", runs=list(scored.runs), **facts, source=DIAZ
    )


def _owners(providers: Any, doc_ids: Sequence[str]) -> list[str]:
    """Return the provider of each document."""
    if isinstance(providers, Mapping):
        pairs = list(providers.items())
    elif {"doc_id", "provider"} <= set(getattr(providers, "columns", ())):
        pairs = list(zip(providers["doc_id"], providers["provider"], strict=True))
    else:
        raise ValueError(
            "give the providers as a mapping of document ids, or a table with doc_id and provider"
        )
    owner: dict[str, str] = {}
    for doc_id, provider in pairs:
        if pd.isna(provider):
            raise ValueError(f"document {doc_id!r} has no provider; name one")
        if owner.setdefault(str(doc_id), str(provider)) != str(provider):
            raise ValueError(
                f"document {doc_id!r} has the providers {owner[str(doc_id)]!r} and {provider!r}; "
                "keep one"
            )
    missing = without(doc_ids, owner)
    if missing:
        raise ValueError(
            f"the relevant document {missing[0]!r} has no provider{and_more(len(missing) - 1)}; "
            "name one"
        )
    return [owner[doc_id] for doc_id in doc_ids]


def _ranks_of(run: AlignedRun, docs: Ints) -> Ints:
    """Return the rank of each document; 0 for documents that were not retrieved."""
    rank = np.zeros(len(run.judgments.grade), dtype=np.int64)
    rank[run.doc] = run.rank
    return rank[docs]


def _check_size(
    n: int | None, name: str, run: AlignedRun, rank: Ints, query: Ints
) -> None:
    """Raise if the collection is too small for the documents of a run and those it misses."""
    if n is None:
        return
    deepest = np.zeros(len(run.judgments), dtype=np.int64)
    np.maximum.at(deepest, query, rank)
    needed = deepest + np.bincount(query[rank == 0], minlength=len(run.judgments))
    if needed.max(initial=0) > n:
        query_id = run.judgments.query_ids[int(needed.argmax())]
        raise ValueError(
            f"n={n} is smaller than rank {needed.max()}, needed for query {query_id!r} of run "
            f"{name!r}; n is the size of the collection"
        )


def _imputed(rank: Ints, query: Ints, owner: Sequence[str], n: int | None) -> Floats:
    """Return ranks; the u missing documents of a provider and query have n-u+1, ..., n."""
    imputed = rank.astype(np.float64)
    missing = np.flatnonzero(rank == 0)
    if n is None:
        imputed[missing] = np.inf
        return imputed
    provider = np.unique(owner, return_inverse=True)[1]
    missing = missing[np.lexsort((provider[missing], query[missing]))]
    group = query[missing] * (provider.max(initial=0) + 1) + provider[missing]
    imputed[missing] = n - position_in_segment(group)
    return imputed


def _by_provider(documents: pd.DataFrame) -> pd.DataFrame:
    """Return a row per query and provider from a row per relevant document."""
    grouped = documents.groupby(["query_id", "provider"], sort=True)
    table = grouped.agg(
        relevant=("exposure", "size"),
        retrieved=("retrieved", "sum"),
        total=("exposure", "sum"),
        per_document=("exposure", "mean"),
    ).reset_index()
    table = table.rename(columns={"total": "exposure"})
    least = table.groupby("query_id")["exposure"].transform("min")
    table["worst"] = table["exposure"] == least
    return table
