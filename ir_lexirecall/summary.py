"""What a result says, in a few sentences: who leads, who cannot be told from the leader, what should be distrusted.

Results (comparisons, benchmarks, collections, studies) hand in tables; what comes out is a ``Finding``, which texts, notebooks,
the command line and reports show in the same words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall import text as texts

if TYPE_CHECKING:
    import pandas as pd

BROKEN, DOUBTFUL, WEAK, ASIDE = range(4)
"""How grave a note is: a run is broken or nothing can be significant; numbers may be off; there is little to go by; to know."""

FEW_QUERIES = "Few queries"  # kind of a note
OUTNUMBERED = "Leads, but loses more queries than it wins against runs that are not told from it"  # kind of a note
LEVEL = "="  # marks runs that cannot be told from the leader
_MOST_NAMES = 10  # in a sentence; the ranking below shows all
_FEW_NAMES = 4  # in a sentence that lists runs for several measures
_MOST_NOTES = 5
_MOST_ROWS = 20
_NOISE = 1e-12  # of sums in another order

_TESTS = {
    "sign": "sign test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "bootstrap": "paired bootstrap test",
    "randomisation": "randomisation test",
    "tukey": "randomised Tukey HSD test",
}
_GENITIVE = "'s"
_CORRECTIONS = {
    "holm": "Holm's",
    "bonferroni": "Bonferroni's",
    "sidak": "Šidák's",
    "holm-sidak": "Holm and Šidák's",
    "simes-hochberg": "Hochberg's",
    "hommel": "Hommel's",
    "fdr_bh": "Benjamini and Hochberg's",
    "fdr_by": "Benjamini and Yekutieli's",
}


class Note(str):
    """A sentence on what should be distrusted, with how grave that is.

    Attributes:
        gravity: one of ``BROKEN``, ``DOUBTFUL``, ``WEAK``, ``ASIDE``.
        kind: what notes on several runs or pairs have in common, for ``grouped``.
        subject: the run or pair, with its numbers.
        runs: names of the run or the pair that it concerns; empty where it concerns the whole.
        fact: of a note on one run, the numbers alone, for ``notes_of_run``.

    >>> gravest_first([Note("few queries", WEAK), Note("no documents", BROKEN)])
    ['no documents', 'few queries']
    """

    gravity: int
    kind: str
    subject: str
    runs: tuple[str, ...]
    fact: str

    def __new__(
        cls,
        sentence: str,
        gravity: int = WEAK,
        kind: str = "",
        subject: str = "",
        *,
        runs: tuple[str, ...] = (),
        fact: str = "",
    ) -> Note:
        note = super().__new__(cls, sentence)
        note.gravity, note.kind, note.subject, note.runs, note.fact = gravity, kind, subject, runs, fact
        return note

    def within(self, name: str) -> Note:
        """The same note on a part of the result that has a name."""
        return Note(f"{name}: {self}", self.gravity, self.kind, f"{name}: {self.subject}")


def grouped(notes: Iterable[Note]) -> list[Note]:
    """Notes of one kind on several runs or pairs as one note.

    >>> notes = [Note(f"{run}: no documents for 2 queries.", BROKEN, "No documents", f"{run} (2 queries)") for run in ("a", "b")]
    >>> grouped([*notes, Note("Only 3 queries.")])
    ['No documents: a (2 queries) and b (2 queries).', 'Only 3 queries.']
    """
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        kinds.setdefault(note.kind or str(note), []).append(note)
    return [
        same[0]
        if len(same) == 1
        else Note(f"{kind}: {enumerated([note.subject for note in same])}.", min(note.gravity for note in same))
        for kind, same in kinds.items()
    ]


def notes_of_run(run: str, notes: Iterable[Note]) -> list[str]:
    """Notes on one run, in sentences that do not name it; those of one kind as one sentence.

    >>> notes = [Note(f"a: ties move {name}.", kind="Ties move", runs=("a",), fact=name) for name in ("AP", "RR")]
    >>> notes_of_run("a", notes), notes_of_run("a", notes[:1])
    (['Ties move: AP and RR.'], ['Ties move AP.'])
    """
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        if note.runs == (run,):
            kinds.setdefault(note.kind if note.fact else str(note), []).append(note)
    return [
        _capitalised(same[0].removeprefix(f"{run}: "))
        if len(same) == 1
        else f"{kind}: {enumerated([note.fact for note in same])}."
        for kind, same in kinds.items()
    ]


def _capitalised(sentence: str) -> str:
    """A sentence that begins with a capital, unless it begins with a name such as nDCG@10."""
    first = sentence.partition(" ")[0]
    return sentence[:1].upper() + sentence[1:] if first.isalpha() and first.islower() else sentence


def gravest_first(notes: Iterable[Note]) -> list[Note]:
    """Notes without repetitions, the gravest first."""
    return sorted(dict.fromkeys(notes), key=lambda note: note.gravity)


@dataclass(frozen=True)
class Finding:
    """What a result says. ``str()`` is the text that ``summary()`` gives.

    Attributes:
        sentences: what was compared, who leads, what differs.
        notes: what should be distrusted, the gravest first.
        ranking: best first: ``run``, the quantity that ranks, its interval ``ci_low``, ``ci_high``, further means; of a
            collection or study another short table; or None.
        marks: for each row of the ranking, ``=`` where the run cannot be told from the leader; with a baseline ``+`` and ``-``
            where it is better or worse.
        title: what the ranking shows.
        measures: names of measures in it, which texts show in short where they are long; see ``in_short``.
        explained: what these short names stand for.
    """

    sentences: Sequence[str]
    notes: Sequence[str] = ()
    ranking: pd.DataFrame | None = None
    marks: Sequence[str] = ()
    title: str = ""
    measures: Sequence[str] = ()
    explained: str = ""

    def in_short(self) -> Finding:
        """The same with short names of measures, and what they stand for."""
        names = texts.short_names(self.measures)
        if not names:
            return self

        return replace(
            self,
            sentences=[texts.in_short(sentence, names) for sentence in self.sentences],
            notes=[texts.in_short(note, names) for note in self.notes],
            ranking=None if self.ranking is None else self.ranking.rename(columns=names),
            title=texts.in_short(self.title, names),
            measures=[],
            explained=texts.explained_names(names),
        )

    def __str__(self) -> str:
        if (short := self.in_short()) is not self:
            return str(short)
        parts = [" ".join(map(texts.printable, self.sentences))]
        if self.notes:
            parts.append("\n".join(["Distrust:", *(f"- {texts.printable(note)}" for note in self.shown_notes())]))
        if self.ranking is not None and len(self.ranking):
            title = [texts.printable(self.title)] if self.title else []
            parts.append("\n".join([*title, ranking_text(self.ranking, self.marks)]))
        if self.explained:
            parts.append(texts.printable(self.explained))
        return "\n\n".join(parts)

    def shown_notes(self, where: str = "see diagnostics") -> list[str]:
        """The notes that texts show, and how many more there are and ``where``."""
        more = len(self.notes) - _MOST_NOTES
        return [*self.notes[:_MOST_NOTES], *([f"and {count(more, 'more note')}: {where}"] if more > 0 else [])]


def ranking_text(ranking: pd.DataFrame, marks: Sequence[str] = (), places: int = 4) -> str:
    """A ranking for terminals: places, names, and the interval of the first number beside it.

    >>> import pandas as pd
    >>> ranking = pd.DataFrame({"run": ["bm25", "ql"], "AP": [0.5, 0.25], "ci_low": [0.25, 0.125], "ci_high": [0.75, 0.5]})
    >>> print(ranking_text(ranking, ["", "="], places=3))
       run      AP  95 % interval
    1  bm25  0.500  0.250 to 0.750
    2  ql    0.250  0.125 to 0.500  =
    """
    rows, align = ranking_cells(ranking, marks, places)
    return texts.text_table([[texts.printable(cell) for cell in row] for row in rows], align)


def ranking_cells(
    ranking: pd.DataFrame, marks: Sequence[str] = (), places: int = 4
) -> tuple[list[list[str]], list[str]]:
    """The cells of a ranking with its head, not yet escaped, and how columns are aligned."""
    confidence = ranking.attrs.get("confidence", 0.95)
    columns = [["", *(str(place) for place in range(1, len(ranking) + 1))]] if "run" in ranking else []
    align = ["right" for _ in columns]
    for name, values in ranking.items():
        if name == "ci_high":
            continue
        if name == "ci_low":
            ends = zip(values, ranking["ci_high"], strict=True)
            columns.append([f"{100 * confidence:g} % interval", *(interval(low, high, places) for low, high in ends)])
            align.append("left")
        elif getattr(values.dtype, "kind", "O") in "iuf":
            decimals = places if values.dtype.kind == "f" else 0
            columns.append([str(name), *(texts.format_number(float(value), decimals) for value in values)])
            align.append("right")
        else:
            columns.append([str(name), *map(str, values)])
            align.append("left")
    if any(marks):
        columns.append(["", *marks])
        align.append("left")
    return [list(row) for row in zip(*columns, strict=True)], align


def interval(low: float, high: float, places: int = 4) -> str:
    """An interval in words, ``-`` where there is none.

    >>> interval(0.25, 0.5, 2), interval(float("-inf"), float("inf"))
    ('0.25 to 0.50', '-')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    return f"{texts.format_number(float(low), places)} to {texts.format_number(float(high), places)}"


# -- words -----------------------------------------------------------------------------------------


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "run")
    ('1 query', '2,000 queries', '0 runs')
    """
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {plural}"


def listed(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Names in a sentence; of many the first ones, and how many more there are.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcde"), most=3)
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def enumerated(facts: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Facts in a sentence: as ``listed``, but parted by semicolons where they have commas of their own.

    >>> enumerated(["a", "b"]), enumerated(["a, 1", "b, 2", "c, 3"], most=2)
    ('a and b', 'a, 1; b, 2; and 1 more')
    """
    if not any(", " in fact for fact in facts):
        return listed(facts, most)
    more = len(facts) - most
    return "; ".join([*facts[:most], *([f"and {more} more"] if more > 0 else [])])


def how_tested(test: Any, comparisons: int) -> str:
    """A significance test in a few words.

    Args:
        test: with ``name``, ``alpha`` and ``counted_correction``.
        comparisons: how many p-values are corrected together.
    """
    correction = test.counted_correction if comparisons > 1 else None
    how = f", {correction_words(correction)} for {comparisons:,} comparisons" if correction else ""
    return f"{_TESTS.get(test.name, test.name)}{how}, p <= {test.alpha:g}"


def correction_words(method: str) -> str:
    """A correction for several comparisons by its inventors.

    >>> correction_words("holm"), correction_words("fdr_tsbh")
    ("Holm's correction", 'fdr_tsbh correction')
    """
    return f"{_CORRECTIONS.get(method, method)} correction"


def corrected_words(method: str) -> str:
    """A correction for several comparisons, as what p-values are.

    >>> corrected_words("holm"), corrected_words("fdr_bh"), corrected_words("fdr_tsbh")
    ('Holm-corrected', 'Benjamini-Hochberg-corrected', 'fdr_tsbh-corrected')
    """
    return f"{_CORRECTIONS.get(method, method).replace(' and ', '-').removesuffix(_GENITIVE)}-corrected"


def estimate_words(test: Any) -> str:
    """What a test estimates, in a few words."""
    return {"sign": "net share of decided queries won", "wilcoxon": "pseudomedian of differences"}.get(
        test.name, "mean difference"
    )


# -- who leads -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """How runs stand by one measure or preference.

    Attributes:
        name: of the measure or preference.
        quantity: what ranks, such as "mean nDCG@10".
        ranking: ``run``, ``mean``, ``ci_low``, ``ci_high``, best first.
        pairs: the comparisons that were tested: ``run_a``, ``run_b``, ``estimate``, ``p_corrected``, ``reject``.
        rising: whether the larger value is better.
    """

    name: str
    quantity: str
    ranking: pd.DataFrame
    pairs: pd.DataFrame
    rising: bool = True
    _tested: Mapping[frozenset[str], Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = {frozenset((row.run_a, row.run_b)): row for row in self.pairs.itertuples()}
        object.__setattr__(self, "_tested", rows)

    @property
    def runs(self) -> list[str]:
        """Names of the runs, best first."""
        return list(map(str, self.ranking["run"]))

    @property
    def leader(self) -> str:
        """The run with the best mean."""
        return self.runs[0]

    @property
    def leaders(self) -> list[str]:
        """The runs that share the best mean."""
        means = self.ranking["mean"].to_numpy()
        return [
            run for run, same in zip(self.runs, np.isclose(means, means[0], rtol=_NOISE, atol=0), strict=True) if same
        ]

    @property
    def level(self) -> list[str]:
        """The runs that the test does not tell from the leader, best first."""
        return [run for run in self.runs[1:] if (row := self.between(self.leader, run)) is not None and not row.reject]

    @property
    def untested(self) -> list[str]:
        """The runs that were not compared with the leader."""
        return [run for run in self.runs[1:] if self.between(self.leader, run) is None]

    def between(self, a: str, b: str) -> Any:
        """The row of ``pairs`` on two runs, in either order; None where they were not compared."""
        return self._tested.get(frozenset((a, b)))

    def better(self, run: str, than: str) -> bool | None:
        """Whether a run is significantly better than another one; None where the two are not told apart."""
        row = self.between(run, than)
        if row is None or not row.reject:
            return None
        return bool(((row.estimate > 0) == self.rising) == (row.run_a == run))

    def against(self, reference: str) -> pd.DataFrame:
        """Differences of all other runs to one, as far as they were compared with it, in the order of the ranking.

        Columns: ``run``, ``estimate`` (of the run over the reference), ``ci_low``, ``ci_high``, ``p_corrected``, ``reject``,
        ``better`` (whether the run is significantly better).
        """
        import pandas as pd

        rows = []
        for run in self.runs:
            row = None if run == reference else self.between(run, reference)
            if row is not None:
                ends = (row.estimate, row.ci_low, row.ci_high)
                ends = ends if row.run_a == run else (-ends[0], -ends[2], -ends[1])
                rows.append((run, *ends, row.p_corrected, bool(row.reject), self.better(run, reference) is True))
        names = ["run", "estimate", "ci_low", "ci_high", "p_corrected", "reject", "better"]
        table = pd.DataFrame(rows, columns=names)
        table.attrs.update(self.pairs.attrs)
        return table

    @property
    def beaten_by(self) -> list[str]:
        """Runs that are significantly better than the leader, pair by pair: preferences may run in circles."""
        return [run for run in self.runs[1:] if self.better(run, self.leader)]

    def outnumbered(self, won: Callable[[str, str], tuple[int, int]]) -> Iterator[Note]:
        """The note that the leader loses more queries than it wins against runs that are not told from it.

        Args:
            won: how many queries the first of two runs wins, and how many it loses.
        """
        if not self.runs:
            return
        pairs = [(run, *won(self.leader, run)) for run in self.level if run not in self.leaders]
        against = [(run, wins, losses) for run, wins, losses in pairs if losses > wins]
        if against:
            facts = [f"{run} (wins {wins}, loses {losses})" for run, wins, losses in against]
            yield Note(
                f"{self.leader} leads by {self.name}, but loses more queries than it wins against {enumerated(facts)}: "
                "not told apart.",
                DOUBTFUL,
                OUTNUMBERED,
                f"{self.leader} by {self.name}, against {listed([run for run, *_ in against])}",
                runs=(self.leader,),
                fact=f"by {self.name}, against {listed([run for run, *_ in against])}",
            )

    @property
    def rejected(self) -> int:
        """How many pairs differ."""
        return int(self.pairs["reject"].sum())

    def marks(self) -> list[str]:
        """For each run of the ranking, ``=`` where it cannot be told from the leader."""
        level = set(self.level)
        return [LEVEL if run in level else "" for run in self.runs]


def best_first(means: Any, rising: bool = True) -> Any:
    """The places of means in their order, best first; what differs by rounding only stays as it is.

    >>> best_first(np.array([0.25, 0.1 + 0.2, 0.3])).tolist(), best_first(np.array([3.0, 1.0, 2.0]), rising=False).tolist()
    ([1, 2, 0], [1, 2, 0])
    """
    means = np.asarray(means, dtype=np.float64)
    finite = np.where(np.isfinite(means), means, 0.0)
    step = _NOISE * np.abs(finite).max(initial=0.0) or 1.0
    rounded = np.where(np.isfinite(means), np.round(finite / step), np.where(np.isnan(means), -np.inf, means))
    return np.argsort(-rounded if rising else rounded, kind="stable")


def leading(standings: Sequence[Standing], test: Any, baseline: str | None) -> list[str]:
    """Sentences on who leads, who cannot be told from the leader, and how many pairs differ.

    Args:
        standings: one or several, of the same runs.
        test: how differences were tested, see ``how_tested``.
        baseline: the run that all others were compared with, or None for all pairs.
    """
    if len(standings) == 1:
        return _leading_by_one(standings[0], test, baseline)
    runs = len(standings[0].ranking)
    sentences = [_leaders(standings)] if runs > 1 else []
    if runs == 2:
        sentences.append(_two_told_apart(standings, test))
    elif baseline is None and runs > 1:
        sentences += [*_leading_everywhere(standings), _levels(standings)]
        pairs = len(standings[0].pairs)
        differ = ", ".join(f"{standing.name} {standing.rejected:,}" for standing in standings)
        sentences.append(f"Of {count(pairs, 'pair')}, so many differ ({how_tested(test, pairs)}): {differ}.")
    elif runs > 1:
        sentences += _against_baseline(standings, test, str(baseline))
    return sentences


def _leading_by_one(standing: Standing, test: Any, baseline: str | None) -> list[str]:
    row = standing.ranking.iloc[0]
    confidence = f"{100 * (1 - test.alpha):g} % interval"
    within = interval(row["ci_low"], row["ci_high"])
    number = f"{texts.format_number(float(row['mean']), 4)}{'' if within == '-' else f', {confidence} {within}'}"
    if len(standing.runs) == 1:
        return [f"{standing.leader}: {standing.quantity} {number}."]
    if len(standing.leaders) == len(standing.runs):
        sentences = [f"All runs have the same {standing.quantity}: {number}."]
    elif len(standing.leaders) > 1:
        sentences = [f"{listed(standing.leaders)} lead with the same {standing.quantity} ({number})."]
    else:
        sentences = [f"{standing.leader} leads ({standing.quantity} {number})."]
    pairs = len(standing.pairs)
    how = how_tested(test, pairs)
    if baseline is not None and pairs > 1:
        return sentences + _against_baseline([standing], test, baseline)
    if pairs == 1:
        p = texts.format_p(float(standing.pairs["p_corrected"].iloc[0]))
        p = p if p.startswith("<") else f"= {p}"
        verdict = "differ significantly" if standing.rejected else "cannot be told apart"
        return [*sentences, f"The two {verdict} (p {p}; {how})."]
    leaders, beaten = standing.leaders, standing.beaten_by
    level = [run for run in standing.level if run not in leaders]
    it = "it" if len(leaders) == 1 else "them"
    others = len(standing.runs) - len(leaders)
    if others and not level and not beaten:
        sentences.append(f"{'It is' if it == 'it' else 'They are'} significantly better than every other run.")
    elif others and len(level) == others:
        sentences.append(f"No other run can be told from {it}.")
    elif level:
        sentences.append(f"{count(len(level), 'run')} cannot be told from {it}: {listed(level)}.")
    if beaten:
        sentences.append(f"But {listed(beaten)} {'is' if len(beaten) == 1 else 'are'} preferred to {it}, pair by pair.")
    sentences.append(f"{standing.rejected:,} of {count(pairs, 'pair')} differ ({how}).")
    return sentences


def _grouped(standings: Sequence[Standing], key: Callable[[Standing], Any]) -> dict[Any, list[str]]:
    """The names of standings by what they have in common."""
    groups: dict[Any, list[str]] = {}
    for standing in standings:
        groups.setdefault(key(standing), []).append(standing.name)
    return groups


def _leaders(standings: Sequence[Standing]) -> str:
    groups = _grouped(standings, lambda standing: tuple(standing.leaders))
    if len(groups) == 1:
        (leaders,) = groups
        if len(leaders) == len(standings[0].runs) > 1:
            return f"All runs are alike by {listed(groups[leaders])}."
        return f"{listed(leaders)} {'leads' if len(leaders) == 1 else 'lead'} by {listed(groups[leaders])}."
    parts = [f"by {listed(names)}, {listed(leaders)}" for leaders, names in groups.items()]
    return f"Who leads depends on the measure: {'; '.join(parts)}."


def _leading_everywhere(standings: Sequence[Standing]) -> list[str]:
    """Which runs lead, or cannot be told from the leader, by every measure; nothing where that is said already."""
    if len(_grouped(standings, lambda standing: tuple(standing.leaders))) == 1:
        return []
    groups = [{*standing.leaders, *standing.level} for standing in standings]
    everywhere = [run for run in standings[0].runs if all(run in group for group in groups)]
    return [leading_everywhere(everywhere)]


def leading_everywhere(runs: Sequence[str]) -> str:
    """Which runs lead, or cannot be told from the leader, by every measure.

    >>> leading_everywhere(["bm25"]), leading_everywhere([])
    ('bm25 is in the leading group by every measure.', 'No run is in the leading group by every measure.')
    """
    who = listed(runs) if runs else "No run"
    return f"{who} {'is' if len(runs) < 2 else 'are'} in the leading group by every measure."


def _two_told_apart(standings: Sequence[Standing], test: Any) -> str:
    """By which of several measures the only two runs differ."""
    differ = [standing.name for standing in standings if standing.rejected]
    alike = [standing.name for standing in standings if not standing.rejected]
    facts = [f"differ significantly by {listed(differ)}"] if differ else []
    facts += [f"cannot be told apart by {listed(alike)}"] if alike else []
    return f"The two {', and '.join(facts)} ({how_tested(test, 1)})."


def _levels(standings: Sequence[Standing]) -> str:
    def who(standing: Standing) -> str:
        level = [run for run in standing.level if run not in standing.leaders]
        others = len(standing.runs) - len(standing.leaders)
        return "no other run" if not level else "all others" if len(level) == others else listed(level, _FEW_NAMES)

    parts = [f"by {listed(names)}, {level}" for level, names in _grouped(standings, who).items()]
    return f"Not told from the leader: {'; '.join(parts)}."


def _against_baseline(standings: Sequence[Standing], test: Any, baseline: str) -> list[str]:
    parts = []
    for standing in standings:
        others = [run for run in standing.runs if run != baseline]
        better = [run for run in others if standing.better(run, baseline)]
        worse = [run for run in others if standing.better(baseline, run)]
        level = [run for run in others if run not in better and run not in worse]
        facts = [
            f"{len(runs)} {what} ({listed(runs)})"
            for runs, what in ((better, "better"), (worse, "worse"), (level, "not told apart"))
            if runs
        ]
        by = f"by {standing.name}, " if len(standings) > 1 else ""
        parts.append(by + ", ".join(facts))
    how = how_tested(test, len(standings[0].pairs))
    return [f"Against the baseline {baseline} ({how}): {'; '.join(parts)}."]


def leading_overall(
    head: Sequence[str],
    overall: Sequence[pd.DataFrame],
    baseline: str | None,
    *,
    how: str,
    notes: Sequence[str],
    alpha: float,
    falling: Collection[str],
) -> Finding:
    """What holds over many collections.

    Args:
        head: the first sentences.
        overall: for each measure, the rows of ``BenchmarkSuite.overall``, best first.
        baseline: as in ``leading``.
        how: how intervals come about.
        notes: what should be distrusted.
        alpha: 1 - confidence.
        falling: the measures of which the smaller value is better.
    """
    sentences = [*head]
    firsts: dict[tuple[str, ...], list[str]] = {}
    for table in overall:
        may_lead = (str(table["run"].iloc[0]), *map(str, table["run"].iloc[1:][table["rank_low"].iloc[1:] == 1]))
        firsts.setdefault(may_lead, []).append(str(table["measure"].iloc[0]))
    runs = len(overall[0])
    for (leader, *others), names in firsts.items():
        if runs == 1:
            break
        what = f"leads, but {listed(others)} may be first as well" if others else "leads before all others"
        sentences.append(f"By {listed(names)}, {leader} {what}.")
    sentences.append(f"Macro means; {how}.")
    if baseline is not None and "difference" in overall[0]:
        parts = []
        for table in overall:
            rows = table[table["run"] != baseline]
            rising = table["measure"].iloc[0] not in falling
            rejected = rows["reject"].fillna(False).astype(bool)
            ways = ((rows["difference"] > 0) == rising, rejected)
            better, worse = rows["run"][ways[1] & ways[0]], rows["run"][ways[1] & ~ways[0]]
            level = rows["run"][~rejected]
            facts = [
                f"{len(names)} {word} ({listed(list(map(str, names)))})"
                for names, word in ((better, "better"), (worse, "worse"), (level, "not told apart"))
                if len(names)
            ]
            parts.append(f"by {table['measure'].iloc[0]}, {', '.join(facts)}")
        sentences.append(f"Against the baseline {baseline} (corrected p <= {alpha:g}): {'; '.join(parts)}.")
    first, *further = overall
    name = str(first["measure"].iloc[0])
    ranking = first[["run", "mean", "ci_low", "ci_high"]].rename(columns={"mean": name}).reset_index(drop=True)
    ranking["rank"] = [f"{low} to {high}" for low, high in zip(first["rank_low"], first["rank_high"], strict=True)]
    for table in further:
        means = table.set_index("run")["mean"]
        ranking[str(table["measure"].iloc[0])] = means.reindex(ranking["run"]).to_numpy()
    ranking.attrs = {"confidence": 1 - alpha}
    marks = ["", *(LEVEL if low == 1 else "" for low in first["rank_low"].iloc[1:])]
    legend = f" ({LEVEL} may be first as well)" if any(marks) else ""
    title = f"Ranking by macro mean {name}, best first{legend}:"
    names = [str(table["measure"].iloc[0]) for table in overall]
    return Finding(sentences, notes, ranking, marks, title, names)


def ranked(
    standings: Sequence[Standing], alpha: float, baseline: str | None = None
) -> tuple[pd.DataFrame, list[str], str]:
    """The ranking by the first of several standings, with the means of the others, its marks and its title.

    Args:
        standings: one or several, of the same runs.
        alpha: 1 - confidence.
        baseline: what marks say: better or worse than this run; without, which runs cannot be told from the leader.
    """
    first, *others = standings
    ranking = first.ranking.rename(columns={"mean": first.name})
    for standing in others:
        ranking[standing.name] = standing.ranking.set_index("run")["mean"].reindex(ranking["run"]).to_numpy()
    ranking.attrs["confidence"] = 1 - alpha
    marks, legend = first.marks(), f" ({LEVEL} cannot be told from the leader)"
    if baseline is not None:
        signs = {True: "+", False: "-", None: ""}
        marks = [signs[first.better(run, baseline)] for run in first.runs]
        legend = f" (+ better, - worse than {baseline})"
    legend = legend if any(marks) else ""
    return ranking, marks, f"Ranking by {first.quantity}, best first{legend}:"


# -- notebooks -------------------------------------------------------------------------------------


def html(finding: Finding, picture: str = "", caption: str = "", most: int = _MOST_ROWS) -> str:
    """A finding as HTML for a notebook: the sentences, what to distrust, the ranking, a picture.

    Args:
        finding: what to show.
        picture: an element of HTML.
        caption: small print.
        most: rows of the ranking that are shown; the rest is counted.

    >>> print(html(Finding(["<b> leads."])))
    <div><p>&lt;b&gt; leads.</p></div>
    """
    finding = finding.in_short()
    parts = [f"<p>{'<br>'.join(map(texts.escape_html, finding.sentences))}</p>"]
    if finding.notes:
        items = "".join(f"<li>{texts.escape_html(note)}</li>" for note in finding.shown_notes())
        parts.append(f"<p><b>Distrust:</b></p><ul>{items}</ul>")
    if finding.ranking is not None and len(finding.ranking):
        rows, align = ranking_cells(finding.ranking, finding.marks)
        parts.append(html_table(rows, align, finding.title, most))
    parts.append(picture)
    caption = "; ".join(filter(None, [finding.explained, caption]))
    if caption:
        parts.append(f"<p><small>{texts.escape_html(caption)}</small></p>")
    return f"<div>{''.join(parts)}</div>"


def html_table(rows: Sequence[Sequence[str]], align: Sequence[str], title: str = "", most: int = _MOST_ROWS) -> str:
    """A table of texts as HTML, its head first; of many rows the first ones, and how many more there are.

    >>> html_table([["run"], ["a"], ["b"], ["c"]], ["left"], most=1).partition("<p>")[2]
    '<small>2 more rows</small></p>'
    """

    def row(cells: Sequence[str], tag: str) -> str:
        pairs = zip(cells, align, strict=True)
        return "".join(f'<{tag} style="text-align:{way}">{texts.escape_html(cell)}</{tag}>' for cell, way in pairs)

    head, *body = rows
    caption = f'<caption style="text-align:left">{texts.escape_html(title)}</caption>' if title else ""
    lines = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in body[:most])
    more = f"<p><small>{count(len(body) - most, 'more row')}</small></p>" if len(body) > most else ""
    return f"<table>{caption}<thead><tr>{row(head, 'th')}</tr></thead><tbody>{lines}</tbody></table>{more}"
