"""How much exposure a ranking gives to each provider of relevant documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import and_more, check_choice, check_integer, check_number, entry
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures import exposure as exposures
from ir_lexirecall.meta.result import study
from ir_lexirecall.meta.worst_cases import aligned_runs

_SOURCE = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"

ProvidersLike: TypeAlias = Mapping[str, str] | pd.DataFrame
"""Provider of each document: a mapping of document ids, or a table with columns ``doc_id`` and ``provider``."""


@entry
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
    progress: bool | None = None,
) -> pd.DataFrame:
    """Exposure of every provider of relevant documents: the sum of e(p_d) over its relevant documents d (Eq. 2).

    The u missing documents of a provider stand at the bottom of the collection, at ranks n-u+1, ..., n; without ``n``, in
    the limit, they have exposure 0. The least exposure of any conceivable provider of a query is in ``worst_case``.

    Args:
        runs: at least one run by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        providers: provider of each document, as a mapping of document ids, or a DataFrame with columns ``doc_id`` and
            ``provider``.
        exposure: ``'AP'`` or ``'RR'`` 1/i, ``'nDCG'`` 1/log2(i+1), ``'RBP'`` (1-p) p^(i-1), ``'linear'`` 1 - i/n.
        p: of the exposure ``'RBP'``.
        n: documents in the collection.
        rel: smallest grade that counts as relevant.
        qrels, allow_empty, progress: as in ``ties``.

    Returns:
        A row per run, query and provider of a relevant document: ``run``, ``query_id``, ``provider``, ``relevant``,
        ``retrieved``, ``exposure``, ``per_document`` (their mean) and ``worst`` (whether no other provider of the query gets
        less).

    Raises:
        ValueError: a relevant document without a provider, an unknown exposure, or n below a rank.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equation 2, doi 10.1145/3728373.

    >>> qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> table = provider_exposure(qrels, {"x": run}, {"a": "P", "b": "P", "c": "Q"})
    >>> table[["provider", "relevant", "exposure", "worst"]].round(3)
      provider  relevant  exposure  worst
    0        P         2     1.500  False
    1        Q         1     0.333   True
    """
    check_choice("exposure", exposure, exposures.NAMES)
    if exposure == "linear" and n is None:
        raise ValueError("exposure='linear' needs n, the number of documents in the collection")
    check_number("p", p, above=0, below=1)
    if n is not None:
        check_integer("n", n)
    e = exposures.exposure(exposure, p=float(p), n=n)
    aligned = aligned_runs(qrels, runs, rel, allow_empty, progress)
    judgments = next(iter(aligned.values())).judgments
    relevant = np.flatnonzero(judgments.grade >= rel)
    query = judgments.query[relevant]
    owner = _owners(providers, [judgments.doc_ids[doc] for doc in relevant])
    parts = []
    for name, run in aligned.items():
        rank = np.zeros(len(judgments.grade), dtype=np.int64)
        rank[run.doc] = run.rank
        rank = rank[relevant]
        if n is not None:
            needed = run.relevant(rel).p_r + np.bincount(query[rank == 0], minlength=len(judgments))
            if needed.max() > n:
                raise ValueError(
                    f"n={n} is smaller than rank {needed.max()}, needed for query "
                    f"{judgments.query_ids[int(needed.argmax())]!r} of run {name!r}; n is the size of the collection"
                )
        documents = pd.DataFrame(
            {
                "query_id": [judgments.query_ids[q] for q in query],
                "provider": owner,
                "retrieved": rank > 0,
                "exposure": e(_imputed(query, np.unique(owner, return_inverse=True)[1], rank, n)),
            }
        )
        grouped = documents.groupby(["query_id", "provider"], sort=True)
        table = grouped.agg(
            relevant=("exposure", "size"),
            retrieved=("retrieved", "sum"),
            total=("exposure", "sum"),
            per_document=("exposure", "mean"),
        ).reset_index()
        table = table.rename(columns={"total": "exposure"})
        table["worst"] = table["exposure"] == table.groupby("query_id")["exposure"].transform("min")
        table.insert(0, "run", name)
        parts.append(table)
    return study(
        pd.concat(parts, ignore_index=True),
        "provider_exposure",
        runs=list(aligned),
        exposure=exposure,
        p=p if exposure == "RBP" else None,
        n=n,
        rel=rel,
        source=_SOURCE,
    )


def _imputed(query: Ints, provider: Ints, rank: Ints, n: int | None) -> Floats:
    """The ranks, where the u missing documents (rank 0) of a provider and query stand at n-u+1, ..., n."""
    imputed = rank.astype(np.float64)
    missing = np.flatnonzero(rank == 0)
    missing = missing[np.lexsort((provider[missing], query[missing]))]
    group = query[missing] * (provider.max(initial=0) + 1) + provider[missing]
    imputed[missing] = np.inf if n is None else n - position_in_segment(group)
    return imputed


def _owners(providers: ProvidersLike, doc_ids: Sequence[str]) -> list[str]:
    """The provider of each document."""
    if isinstance(providers, Mapping):
        pairs = list(providers.items())
    elif {"doc_id", "provider"} <= set(getattr(providers, "columns", ())):
        pairs = list(zip(providers["doc_id"], providers["provider"], strict=True))
    else:
        raise ValueError("give the providers as a mapping of document ids, or a table with doc_id and provider")
    owner: dict[str, str] = {}
    for doc_id, provider in pairs:
        if provider is None or provider != provider or str(provider) == "<NA>":
            raise ValueError(f"document {doc_id!r} has no provider; name one")
        if owner.setdefault(str(doc_id), str(provider)) != str(provider):
            raise ValueError(f"document {doc_id!r} has the providers {owner[str(doc_id)]!r} and {provider!r}; keep one")
    unknown = [doc_id for doc_id in doc_ids if doc_id not in owner]
    if unknown:
        raise ValueError(f"the relevant document {unknown[0]!r} has no provider{and_more(len(unknown) - 1)}; name one")
    return [owner[doc_id] for doc_id in doc_ids]
