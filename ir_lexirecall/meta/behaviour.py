"""What measures look at: the first or the last relevant document, ties, agreement, and the worst-off user or provider."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.evaluation import Evaluation, parse_measures
from ir_lexirecall.meta.rankings import has_aspects, judged_ranks, score
from ir_lexirecall.meta.study import Study, matrix, other
from ir_lexirecall.meta.systems import NOT_COMPARABLE, check_relevant, check_runs, read_ranks, read_systems
from ir_lexirecall.preferences.comparison import check_options
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.scoring import exposure as exposures
from ir_lexirecall.scoring.arrays import Floats, Ints
from ir_lexirecall.tables import and_more

if TYPE_CHECKING:
    import pandas as pd


_SOURCE = "Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373"


# -- ties of random rankings -----------------------------------------------------------------------


def tie_probabilities(
    n: int | Iterable[int], m: int | Iterable[int], *, k: int | Iterable[int] = 1000, progress: bool | None = None
) -> Study:
    """Probability that two random rankings of a collection tie, in closed form and exact arithmetic.

    Of n documents m are relevant, and both rankings are uniformly random permutations. With C the binomial coefficient:

    - ``LexiRecall`` (all positions agree): 1 / C(n, m);
    - ``TSE``, and ``RR`` by symmetry: sum over p of (C(p-1, m-1) / C(n, m))^2, which closes to
      sum_{j=0}^{m-1} (2a-j)! / (j! (a-j)!^2) C(n, 2a-j+1) / C(n, m)^2 with a = m - 1;
    - ``R@k``, and ``P@k``: sum over j of (C(k, j) C(n-k, m-j) / C(n, m))^2;
    - ``Rprec``: the same with k = m.

    Args:
        n: documents in the collection, one number or several.
        m: relevant documents, from 1 to n, one number or several.
        k: cutoffs of R@k; one beyond n is n.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per n, m and measure: ``n``, ``m``, ``measure``, ``probability`` (rounded once) and
        ``exact`` (a ``Fraction``).

    Raises:
        ValueError: a number is no integer, or out of range.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026, Appendix E,
    doi 10.1145/3728373.

    >>> tie_probabilities(4, 2, k=2)[["measure", "probability", "exact"]]
          measure  probability exact
    0  LexiRecall     0.166667   1/6
    1         TSE     0.388889  7/18
    2          RR     0.388889  7/18
    3         R@2     0.500000   1/2
    4       Rprec     0.500000   1/2
    """
    import pandas as pd

    sizes, relevant, cutoffs = (_integers(value, name) for value, name in ((n, "n"), (m, "m"), (k, "k")))
    if max(relevant) > min(sizes):
        raise ValueError(f"tie_probabilities: m={max(relevant)} relevant documents do not fit into n={min(sizes)}")
    rows: list[tuple[int, int, str, Fraction]] = []
    shown = progress_bar(progress, list(product(sizes, relevant)), desc="n, m")
    for size, few in shown:
        last = _same_last(size, few)
        exact = {
            "LexiRecall": Fraction(1, comb(size, few)),
            "TSE": last,
            "RR": last,
            **{f"R@{depth}": _same_count(size, few, depth) for depth in cutoffs},
            "Rprec": _same_count(size, few, few),
        }
        rows += [(size, few, measure, chance) for measure, chance in exact.items()]
    table = pd.DataFrame(
        {
            "n": [row[0] for row in rows],
            "m": [row[1] for row in rows],
            "measure": [row[2] for row in rows],
            "probability": [float(row[3]) for row in rows],
            "exact": pd.Series([row[3] for row in rows], dtype=object),
        }
    )
    return Study.of(
        table, _draw_tie_probabilities, function="tie_probabilities", n=sizes, m=relevant, k=cutoffs, source=_SOURCE
    )


def _integers(value: Any, name: str) -> list[int]:
    """One number or several, each an integer of at least 1."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    for each in several:
        if isinstance(each, bool) or not isinstance(each, numbers.Integral) or each < 1:
            raise ValueError(f"{name} must be integers of at least 1, not {each!r}")
    if not several:
        raise ValueError(f"{name}: give at least one number")
    return [int(each) for each in several]


def _same_last(n: int, m: int) -> Fraction:
    """Probability that the last relevant documents of two random rankings stand at the same rank.

    C(x, a)^2 = sum_j (2a-j)! / (j! (a-j)!^2) C(x, 2a-j), and the sum of C(x, t) over x < n is C(n, t+1).
    """
    a = m - 1
    pairs, orders, places = 0, comb(2 * a, a), comb(n, 2 * a + 1)  # of j = 0; each term is made from the one before
    for j in range(a + 1):
        pairs += orders * places
        if j < a:
            orders = orders * (a - j) ** 2 // ((j + 1) * (2 * a - j))
            places = places * (2 * a - j + 1) // (n - 2 * a + j) if places else comb(n, 2 * a - j)
    return Fraction(pairs, comb(n, m) ** 2)


def _same_count(n: int, m: int, k: int) -> Fraction:
    """Probability that two random rankings have equally many relevant documents among the first k."""
    k = min(k, n)
    least, most = max(0, m - (n - k)), min(k, m)  # relevant documents among the first k
    pairs, ways = 0, comb(k, least) * comb(n - k, m - least)
    for j in range(least, most + 1):
        pairs += ways**2
        if j < most:
            ways = ways * (k - j) * (m - j) // ((j + 1) * (n - k - m + j + 1))
    return Fraction(pairs, comb(n, m) ** 2)


def _draw_tie_probabilities(table: pd.DataFrame, ax: Any) -> Any:
    """Tie probability against the number that varies: n, or else m."""
    x = "n" if table["n"].nunique() > 1 else "m"
    for (measure, *_), rows in table.groupby(["measure", "m" if x == "n" else "n"], sort=False):
        ax.plot(rows[x], rows["probability"], marker=".", label=measure)
    ax.set_xscale("log" if x == "n" else "linear")
    ax.set_yscale("log")
    ax.set_xlabel("documents n" if x == "n" else "relevant documents m")
    ax.set_ylabel("probability of a tie")
    ax.legend(fontsize="small")
    return ax


# -- orientation -----------------------------------------------------------------------------------


def orientation(
    measures: Any, m: int | Iterable[int] = range(1, 16), n: int | Iterable[int] = 1000, *, progress: bool | None = None
) -> Study:
    """How much of a measure's range the first, and how much the last, relevant document decides.

    All n documents are ranked and m of them are relevant (grade 1, or the measure's ``rel``). Write mu(p_1, ..., p_m)
    for the measure's value with the relevant documents at those ranks, best = mu(1, ..., m) and
    worst = mu(n-m+1, ..., n). Then

    - ``precision`` = (mu(1, n-m+2, ..., n) - worst) / (best - worst): in the worst ranking, the first relevant document
      moves to the top;
    - ``recall`` = (best - mu(1, ..., m-1, n)) / (best - worst): in the ideal ranking, the last relevant document
      moves to the bottom.

    Both are 1 for m = 1 unless the measure is constant. Reciprocal rank has precision orientation 1 and, for m > 1, recall
    orientation 0; total search efficiency the reverse. Where best = worst, there is no range and both are NaN.

    Args:
        measures: measures or strings, as for ``evaluate``.
        m: relevant documents, one number or several.
        n: documents, one number or several, at least m.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per measure, n and m: ``measure``, ``n``, ``m``, ``precision``, ``recall``, ``best``,
        ``worst``, ``first_up`` and ``last_down`` (the four values).

    Raises:
        ValueError: an unknown measure, or m > n.

    Source: after the precision and recall orientation of Diaz, Ekstrand, Mitra, TORS 2026, doi 10.1145/3728373;
    normalised by the measure's range, so that measures compare.

    >>> orientation(["RR", "TSE", "AP"], m=2, n=10)[["measure", "m", "precision", "recall"]].round(3)
      measure  m  precision  recall
    0      RR  2      1.000   0.000
    1     TSE  2      0.000   1.000
    2      AP  2      0.526   0.474
    """
    import pandas as pd

    named = parse_measures(measures)
    relevant, sizes = _integers(m, "m"), _integers(n, "n")
    if max(sizes) > 2**53:
        raise ValueError(f"orientation: n={max(sizes)} documents are more ranks than floats tell apart, 2^53")
    if max(relevant) > min(sizes):
        raise ValueError(f"orientation: m={max(relevant)} relevant documents do not fit into n={min(sizes)}")
    rows = []
    shown = progress_bar(progress, named.items(), desc="measures")
    for name, measure in shown:
        for size in sizes:
            for few in relevant:
                best, worst, first_up, last_down = _extremes(measure, few, size).tolist()
                span = best - worst
                precision, recall = (first_up - worst, best - last_down) if span else (np.nan, np.nan)
                span = span or 1.0
                rows.append((name, size, few, precision / span, recall / span, best, worst, first_up, last_down))
    columns = ["measure", "n", "m", "precision", "recall", "best", "worst", "first_up", "last_down"]
    return Study.of(
        pd.DataFrame(rows, columns=columns),
        _draw_orientation,
        function="orientation",
        measures=list(named),
        m=relevant,
        n=sizes,
        source=_SOURCE,
    )


def _extremes(measure: Measure, m: int, n: int) -> Floats:
    """Values of the best ranking, the worst, the worst with its first up, and the best with its last down."""
    i = np.arange(1, m + 1)
    best, worst = i, n - m + i
    first_up = np.r_[1, worst[1:]]
    last_down = np.r_[best[:-1], n]
    rank = np.concatenate([best, worst, first_up, last_down])
    grade = np.full(4 * m, float(measure.params.get("rel", 1)))
    columns = list(measure["aspects"]) if has_aspects(measure) else []
    if columns:
        tops = [scale if isinstance(scale, int) else max(scale) for scale in measure["aspects"].values()]
        grade = np.tile(np.array(tops, dtype=np.float64), (4 * m, 1))
    return score(measure, judged_ranks(np.repeat(np.arange(4), m), rank, grade, np.full(4, n), columns=columns))


def _draw_orientation(table: pd.DataFrame, ax: Any) -> Any:
    """Precision orientation (dashed) and recall orientation (solid) against m."""
    several = table["n"].nunique() > 1
    for number, ((measure, n), rows) in enumerate(table.groupby(["measure", "n"], sort=False)):
        label = f"{measure}, n={n}" if several else measure
        ax.plot(rows["m"], rows["recall"], f"C{number % 10}-", marker=".", label=label)
        ax.plot(rows["m"], rows["precision"], f"C{number % 10}--")
    ax.set_xlabel("relevant documents m")
    ax.set_ylabel("orientation: recall (solid), precision (dashed)")
    ax.legend(fontsize="small")
    return ax


# -- ties and agreement on data --------------------------------------------------------------------


def ties(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    progress: bool | None = None,
) -> Study:
    """How many pairs of systems tie, query by query: exactly equal values, or no preference either way.

    Args:
        measures: a measure or a preference of ``compare`` (``'lexirecall'``, ``'rpp'``, ...), or several.
        qrels, runs: as for ``compare``.
        rel, cutoff: of the preferences that are no measures, as for ``compare``.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per measure and query that has relevant documents: ``measure``, ``query_id``, ``pairs``,
        ``ties``, ``incomparable`` (pairs that a partial order leaves open; they do not tie) and ``share`` = ties / pairs.

    Raises:
        ValueError: as ``compare``.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q": {"a": 2, "b": 1}}, "y": {"q": {"a": 3, "c": 2, "b": 1}}, "z": {"q": {"a": 3, "b": 1}}}
    >>> ties(["R@2", "TSE"], qrels, runs)[["measure", "pairs", "ties", "share"]].round(3)
      measure  pairs  ties  share
    0     R@2      3     1  0.333
    1     TSE      3     1  0.333
    """
    import pandas as pd

    systems = read_systems("ties", measures, qrels, runs, rel=rel, cutoff=cutoff, progress=progress)
    parts = []
    for label in systems.asked:
        signs = systems.decisions(label, NOT_COMPARABLE)
        parts.append(
            pd.DataFrame(
                {
                    "measure": label,
                    "query_id": systems.query_ids,
                    "pairs": len(signs),
                    "ties": (signs == 0).sum(axis=0),
                    "incomparable": (signs == NOT_COMPARABLE).sum(axis=0),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    table["share"] = table["ties"] / table["pairs"]
    return Study.of(table, _draw_ties, function="ties", **systems.provenance)


def ties_by_measure(table: Study) -> Study:
    """What ``ties`` gave, summed over the queries: a row per measure.

    >>> qrels = {"q": {"a": 1}, "r": {"a": 1}}
    >>> runs = {"x": {"q": {"a": 2}, "r": {"a": 1}}, "y": {"q": {"c": 2, "a": 1}, "r": {"a": 1}}}
    >>> ties_by_measure(ties("AP", qrels, runs))
      measure  pairs  ties  incomparable  share
    0      AP      2     1             0    0.5
    """
    totals = table.drop(columns=["query_id", "share"]).groupby("measure", sort=False).sum().reset_index()
    totals["share"] = totals["ties"] / totals["pairs"]
    return Study.of(totals, other(table), **table.attrs)


def agreement(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    rel: float = 1,
    cutoff: int | None = None,
    progress: bool | None = None,
) -> Study:
    """How often two measures or preferences order the same two systems alike on the same query.

    A decision is a pair of systems on a query. ``agreement`` = agree / (agree + disagree) counts the decisions that both
    make; ``agreement_with_ties`` = (agree + tied_both) / (decisions - incomparable) counts a tie of both as agreement
    and a tie of one as none.

    Args:
        measures: at least two measures or preferences of ``compare``.
        qrels, runs, rel, cutoff, progress: as for ``ties``.

    Returns:
        A ``Study`` with a row per pair of measures: ``measure_a``, ``measure_b``, ``decisions``, ``agree``, ``disagree``,
        ``tied_a`` and ``tied_b`` (only that one ties), ``tied_both``, ``incomparable`` (either is a partial order that
        leaves the pair open), ``agreement`` and ``agreement_with_ties`` (NaN where nothing was decided).

    Raises:
        ValueError: fewer than two measures, and as ``compare``.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q": {"a": 3, "c": 2, "d": 1, "b": 0}}, "y": {"q": {"c": 3, "a": 2, "b": 1}}}
    >>> agreement(["RR", "TSE", "R@3"], qrels, runs)[["measure_a", "measure_b", "agree", "disagree", "tied_a"]]
      measure_a measure_b  agree  disagree  tied_a
    0        RR       TSE      0         1       0
    1        RR       R@3      0         1       0
    2       TSE       R@3      1         0       0
    """
    import pandas as pd

    systems = read_systems(
        "agreement", measures, qrels, runs, rel=rel, cutoff=cutoff, least_measures=2, progress=progress
    )
    signs = {label: systems.decisions(label, NOT_COMPARABLE) for label in systems.asked}
    rows = []
    for a, b in combinations(signs, 2):
        x, y = signs[a], signs[b]
        open_ = (x == NOT_COMPARABLE) | (y == NOT_COMPARABLE)
        counts = [
            (x == y) & (x != 0),
            (x == -y) & (x != 0),
            (x == 0) & (y != 0),
            (x != 0) & (y == 0),
            (x == 0) & (y == 0),
        ]
        agree, disagree, tied_a, tied_b, tied_both = (int((each & ~open_).sum()) for each in counts)
        decided, compared = agree + disagree, int((~open_).sum())
        rows.append(
            {
                "measure_a": a,
                "measure_b": b,
                "decisions": x.size,
                "agree": agree,
                "disagree": disagree,
                "tied_a": tied_a,
                "tied_b": tied_b,
                "tied_both": tied_both,
                "incomparable": int(open_.sum()),
                "agreement": agree / decided if decided else np.nan,
                "agreement_with_ties": (agree + tied_both) / compared if compared else np.nan,
            }
        )
    draw = matrix("agreement", lowest=0, cmap="Blues", label="agreement where both decide")
    return Study.of(pd.DataFrame(rows), draw, function="agreement", **systems.provenance)


def _draw_ties(table: pd.DataFrame, ax: Any) -> Any:
    """Share of tied pairs over all queries, a bar per measure."""
    totals = table.groupby("measure", sort=False)[["ties", "pairs"]].sum()
    ax.barh(totals.index.tolist(), (totals["ties"] / totals["pairs"]).to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("share of pairs of systems that tie")
    return ax


# -- the worst-off user and provider ---------------------------------------------------------------

_EXPOSURE_OF = {"AP": "AP", "RR": "RR", "nDCG": "nDCG", "RBP": "RBP"}


def worst_case(
    measures: Any,
    qrels: Any,
    runs: Mapping[str, Any],
    *,
    rel: float = 1,
    enumerate_up_to: int = 8,
    progress: bool | None = None,
) -> Study:
    """What the worst-off user and the worst-off provider get from a ranking.

    Let R be the m relevant documents of a query and U range over its 2^m - 1 non-empty subsets.

    - A user may need exactly the documents U: ``user`` = min over U of mu(ranking, U), the measure with the documents U
      relevant (grade 1) and all others not (Eq. 4).
    - A provider may own exactly the documents U: ``provider`` = min over U of the sum of e(p_d) over d in U, with the
      measure's exposure e: 1/i for AP and RR, 1/log2(i+1) for nDCG, (1-p) p^(i-1) for RBP (Eq. 6). NaN for others.
    - For those measures both equal ``closed_form`` = e(p_m), the total search efficiency of the same exposure, for any
      m; a missing document has exposure 0. NaN for others.

    Args:
        measures: what a user gets, such as AP, nDCG or RBP; binary or graded, of one aspect.
        qrels, runs: as for ``compare``; one run is enough, and runs may be ``JudgedRanks``.
        rel: smallest grade of a document that somebody may need.
        enumerate_up_to: enumerate the subsets of queries with up to so many relevant documents (at most 16); beyond, only
            the closed form is given.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per system, measure and query that has relevant documents: ``system``, ``measure``,
        ``query_id``, ``m``, ``user``, ``provider``, ``closed_form`` and ``subsets`` (how many were enumerated, 0: none).

    Raises:
        ValueError: bad input, or a measure of several aspects.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equations 4 and 6, doi 10.1145/3728373.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> worst_case(["AP", "R@2"], qrels, {"x": {"q": {"a": 4, "c": 3, "d": 2, "b": 1}}}).drop(columns=["system", "m"])
      measure query_id  user  provider  closed_form  subsets
    0      AP        q  0.25      0.25         0.25        3
    1     R@2        q  0.00       NaN          NaN        3
    """
    import pandas as pd

    named = parse_measures(measures)
    for name, measure in named.items():
        if has_aspects(measure):
            raise ValueError(f"worst_case: {name} judges several aspects; a user's need is a set of documents")
    if (
        isinstance(enumerate_up_to, bool)
        or not isinstance(enumerate_up_to, numbers.Integral)
        or not 0 <= enumerate_up_to <= 16
    ):
        raise ValueError(f"worst_case: enumerate_up_to must be an integer from 0 to 16, not {enumerate_up_to!r}")
    by_system = _aligned(qrels, runs, "worst_case", rel, progress)
    parts = []
    for system, ranks in progress_bar(progress, by_system.items(), desc="worst cases"):
        query, rank, depth = _places(ranks, rel)
        judged = np.flatnonzero(np.bincount(query, minlength=len(depth)))
        m = np.bincount(query, minlength=len(depth))[judged]
        some = judged[m <= enumerate_up_to]
        for name, measure in named.items():
            user = np.full(len(depth), np.nan)
            user[some] = _worst_user(measure, query, rank, depth, some)
            e = _exposure_within(measure)
            last = np.zeros(len(depth))
            provider = np.full(len(depth), np.nan)
            if e is not None:
                np.maximum.at(last, query, np.where(rank > 0, rank, np.inf))
                provider[some] = _worst_provider(e, query, rank, some)
            parts.append(
                pd.DataFrame(
                    {
                        "system": system,
                        "measure": name,
                        "query_id": [ranks.judgments.query_ids[q] for q in judged],
                        "m": m,
                        "user": user[judged],
                        "provider": provider[judged],
                        "closed_form": np.nan if e is None else e(last[judged]),
                        "subsets": np.where(m <= enumerate_up_to, 2 ** np.minimum(m, 16) - 1, 0),
                    }
                )
            )
    return Study.of(
        pd.concat(parts, ignore_index=True),
        _draw_worst_case,
        function="worst_case",
        measures=list(named),
        systems=list(by_system),
        queries=int((next(iter(by_system.values())).judgments.m(rel) > 0).sum()),
        rel=rel,
        enumerate_up_to=int(enumerate_up_to),
        source=_SOURCE,
    )


def _aligned(qrels: Any, runs: Any, function: str, rel: float, progress: bool | None) -> dict[str, JudgedRanks]:
    check_options(function, rel=rel)
    check_runs(function, runs, least=1)
    evaluation = Evaluation({}, qrels)
    check_relevant(function, evaluation.judgments, rel)
    return {name: ranks for name, ranks, _ in read_ranks(function, evaluation, runs, progress)}


def _places(ranks: JudgedRanks, rel: float) -> tuple[Ints, Ints, Ints]:
    """Query and rank (0: missing) of every relevant document, by query and rank with the missing last; and the depths."""
    relevant = np.flatnonzero(ranks.judgments.grade >= rel)
    rank = np.zeros(len(ranks.judgments.grade), dtype=np.int64)
    rank[ranks.doc] = ranks.rank
    query, rank = ranks.judgments.query[relevant], rank[relevant]
    order = np.lexsort((rank, rank == 0, query))
    return query[order], rank[order], ranks.depth


def _worst_user(measure: Measure, query: Ints, rank: Ints, depth: Ints, some: Ints) -> Floats:
    """Minimum of the measure over all non-empty sets of relevant documents, for some queries."""
    worst = np.empty(len(some))
    grade = float(measure.params.get("rel", 1))
    for place, q in enumerate(some.tolist()):
        own = rank[np.searchsorted(query, q) : np.searchsorted(query, q, side="right")]
        subset, doc = _subsets(len(own))
        sets = 2 ** len(own) - 1
        ranks = judged_ranks(subset, own[doc], np.full(len(doc), grade), np.full(sets, depth[q]))
        worst[place] = score(measure, ranks).min()
    return worst


def _subsets(m: int) -> tuple[Ints, Ints]:
    """The non-empty subsets of 0..m-1: for each member of each, the subset's number and the member."""
    subset, doc = np.nonzero((np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1)
    return subset, doc


def _worst_provider(e: Callable[[Floats], Floats], query: Ints, rank: Ints, some: Ints) -> Floats:
    """Minimum of the sum of exposures over all non-empty sets of relevant documents, for some queries."""
    worst = np.empty(len(some))
    for place, q in enumerate(some.tolist()):
        own = rank[np.searchsorted(query, q) : np.searchsorted(query, q, side="right")]
        subset, doc = _subsets(len(own))
        exposed = e(np.where(own > 0, own, np.inf).astype(np.float64))
        worst[place] = np.bincount(subset, weights=exposed[doc]).min()
    return worst


def _exposure_within(measure: Measure) -> Callable[[Floats], Floats] | None:
    """The exposure behind a measure, 0 below its cutoff; None where there is none."""
    if measure.NAME not in _EXPOSURE_OF or measure.params.keys() - {"cutoff", "rel", "p"}:
        return None
    p = measure["p"] if measure.NAME == "RBP" else 0.8
    e = exposures.exposure(_EXPOSURE_OF[measure.NAME], p=p, n=None)
    k = measure.params.get("cutoff", np.inf)
    return lambda rank: np.where(rank <= k, e(rank), 0.0)


def provider_exposure(
    qrels: Any,
    runs: Mapping[str, Any],
    providers: Any,
    *,
    exposure: str = "AP",
    p: float = 0.8,
    n: int | None = None,
    rel: float = 1,
    progress: bool | None = None,
) -> Study:
    """Exposure of each provider of relevant documents: the sum of e(p_d) over its relevant documents d (Eq. 6).

    The worst-off provider of a query is the one with the least; with a provider per document that is e(p_m), the
    total search efficiency.

    Args:
        qrels, runs: as for ``compare``; one run is enough.
        providers: provider of each document, as a mapping of document ids, or a DataFrame with columns ``doc_id`` and
            ``provider``.
        exposure: ``'AP'`` or ``'RR'`` 1/i, ``'nDCG'`` 1/log2(i+1), ``'RBP'`` (1-p) p^(i-1), ``'linear'`` 1 - i/n.
        p: of the exposure ``'RBP'``.
        n: documents in the collection; a missing document stands at rank n, without n it has exposure 0.
        rel: smallest grade that counts as relevant.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per system, query and provider of a relevant document: ``system``, ``query_id``,
        ``provider``, ``relevant``, ``retrieved``, ``exposure``, ``per_document`` (their mean) and ``worst`` (whether no
        other provider of the query gets less).

    Raises:
        ValueError: a relevant document without a provider, an unknown exposure, or n below a rank.

    Source: Diaz, Ekstrand, Mitra, TORS 2026, Equation 6, doi 10.1145/3728373.

    >>> qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> found = provider_exposure(qrels, {"x": run}, {"a": "P", "b": "P", "c": "Q"})
    >>> found[["provider", "relevant", "exposure", "worst"]].round(3)
      provider  relevant  exposure  worst
    0        P         2     1.500  False
    1        Q         1     0.333   True
    """
    import pandas as pd

    if exposure not in exposures.NAMES:
        raise ValueError(
            f"provider_exposure: there is no exposure {exposure!r}; there are {', '.join(exposures.NAMES)}"
        )
    if exposure == "linear" and n is None:
        raise ValueError("provider_exposure: exposure='linear' needs n, the number of documents in the collection")
    if not isinstance(p, numbers.Real) or not 0 < p < 1:
        raise ValueError(f"provider_exposure: p must lie between 0 and 1, not {p!r}")
    if n is not None:
        n = _integers(n, "n")[0]
    e = exposures.exposure(exposure, p=float(p), n=n)
    by_system = _aligned(qrels, runs, "provider_exposure", rel, progress)
    judgments = next(iter(by_system.values())).judgments
    relevant = np.flatnonzero(judgments.grade >= rel)
    owner = _owners(providers, [judgments.doc_ids[doc] for doc in relevant])
    parts = []
    for system, ranks in by_system.items():
        rank = np.zeros(len(judgments.grade), dtype=np.int64)
        rank[ranks.doc] = ranks.rank
        rank = rank[relevant]
        if n is not None and rank.max(initial=0) > n:
            raise ValueError(
                f"provider_exposure: n={n} is smaller than rank {rank.max()} of run {system!r}; n is the size of the collection"
            )
        exposed = e(np.where(rank > 0, rank, np.inf if n is None else n).astype(np.float64))
        documents = pd.DataFrame(
            {
                "query_id": [judgments.query_ids[q] for q in judgments.query[relevant]],
                "provider": owner,
                "retrieved": rank > 0,
                "exposure": exposed,
            }
        )
        grouped = documents.groupby(["query_id", "provider"], sort=True)
        own = grouped.agg(
            relevant=("exposure", "size"),
            retrieved=("retrieved", "sum"),
            total=("exposure", "sum"),
            per_document=("exposure", "mean"),
        ).reset_index()
        own = own.rename(columns={"total": "exposure"})
        own["worst"] = own["exposure"] == own.groupby("query_id")["exposure"].transform("min")
        own.insert(0, "system", system)
        parts.append(own)
    return Study.of(
        pd.concat(parts, ignore_index=True),
        _draw_provider_exposure,
        function="provider_exposure",
        systems=list(by_system),
        exposure=exposure,
        p=p if exposure == "RBP" else None,
        n=n,
        rel=rel,
        source=_SOURCE,
    )


def _owners(providers: Any, doc_ids: Sequence[str]) -> list[str]:
    """The provider of each document."""
    if isinstance(providers, Mapping):
        pairs = list(providers.items())
    elif {"doc_id", "provider"} <= set(getattr(providers, "columns", ())):
        pairs = list(zip(providers["doc_id"], providers["provider"], strict=True))
    else:
        raise ValueError(
            "provider_exposure: give the providers as a mapping of document ids, or a table with doc_id and provider"
        )
    owner: dict[str, str] = {}
    for doc_id, provider in pairs:
        if provider is None or provider != provider or str(provider) == "<NA>":
            raise ValueError(f"provider_exposure: document {doc_id!r} has no provider; name one")
        if owner.setdefault(str(doc_id), str(provider)) != str(provider):
            raise ValueError(
                f"provider_exposure: document {doc_id!r} has the providers {owner[str(doc_id)]!r} and {provider!r}; keep one"
            )
    unknown = [doc_id for doc_id in doc_ids if doc_id not in owner]
    if unknown:
        raise ValueError(
            f"provider_exposure: the relevant document {unknown[0]!r} has no provider{and_more(len(unknown) - 1)}; name one"
        )
    return [owner[doc_id] for doc_id in doc_ids]


def _draw_worst_case(table: pd.DataFrame, ax: Any) -> Any:
    """Mean over queries of what the worst-off user gets, a group of bars per system."""
    best_known = table["user"].fillna(table["closed_form"])
    means = table.assign(value=best_known).groupby(["system", "measure"], sort=False)["value"].mean().unstack()
    means.plot.bar(ax=ax)
    ax.set_ylabel("mean value of the worst-off user")
    return ax


def _draw_provider_exposure(table: pd.DataFrame, ax: Any) -> Any:
    """Mean over queries of the least exposure of a provider, a bar per system."""
    least = table.groupby(["system", "query_id"], sort=False)["exposure"].min().groupby("system", sort=False).mean()
    ax.barh(least.index.tolist(), least.to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("mean exposure of the worst-off provider")
    return ax
