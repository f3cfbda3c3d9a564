"""``gate``: does a change make rankings worse?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.errors import (
    check_choice,
    check_integer,
    entry,
    shown,
    shown_names,
)
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.presenting import present
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import without
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import (
    CriteriaLike,
    Wanted,
    compare_repeated,
    compare_runs,
    compare_values,
    parse_criteria,
    read_predicted,
    refuse_reading_of_values,
    wanted_values,
)
from ir_lexirecall.comparison.criteria import Criterion
from ir_lexirecall.comparison.ledger import Look
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.verdicts import UNDECIDED, UNDONE, WORSE, two_sided
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.io.frames import readable_again
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.repeated_values import Repeats, RepeatsLike
from ir_lexirecall.io.values import ValuesLike, read_values
from ir_lexirecall.measures.scoring import least_grade, way_to_reach
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest

RULES = ("evidence", "judged", "strict", "drop")


@dataclass(frozen=True, eq=False)
class Gate:
    """Result of ``gate``.

    Attributes:
        comparison: of the candidate with the baseline.
        rule: ``'evidence'``, ``'judged'``, ``'strict'`` or ``'drop'``.
        release: of the candidate with a second baseline; None where there is none.
        look: which look at such data it is, and what it spends; None without a ledger.
    """

    comparison: Comparison = field(repr=False)
    rule: str
    release: Gate | None = None
    look: Look | None = None

    @property
    def baseline(self) -> str:
        """Name of the run to compare with."""
        return str(self.comparison.baseline)

    @cached_property
    def candidate(self) -> str:
        """Name of the run that must not be worse."""
        return next(run for run in self.comparison.runs if run != self.baseline)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows of ``Comparison.table``, and what the gate makes of them.

        Further columns: ``test``, ``queries``, ``margin``, ``holds`` (see
        ``Comparison.verdicts``), and ``fails``: whether the criterion stops the change.

        By evidence, strict or not, a criterion fails where the verdict is *worse*. A loss that some
        grades of unjudged documents are known to undo (``holds`` is ``could be undone``) is
        *undecided*; where that is not known (``not bounded``), *worse* stands, and so it does by
        the rule ``'judged'``. By the rule ``'drop'`` a criterion fails where a mean fell by more
        than the margin, or the test finds a preference for the baseline.
        """
        result = self.comparison
        table = result.table()
        has_rankings = result.compared.given is None
        if has_rankings:
            table["holds"] = result.verdicts(holds=True)["holds"]
        else:
            table["holds"] = None
        for fact in ("test", "queries", "margin"):
            table[fact] = [result.provenance[fact][name] for name in table["criterion"]]
        if self.rule == "drop":
            return table.assign(fails=self._drops(table))
        if self.rule != "judged":
            is_excused = (table["verdict"] == WORSE) & (table["holds"] == UNDONE)
            table["verdict"] = table["verdict"].mask(is_excused, UNDECIDED)
        return table.assign(fails=table["verdict"] == WORSE)

    def _drops(self, table: pd.DataFrame) -> Bools:
        """Return whether each criterion fell by more than its margin, or prefers the baseline."""
        by = [self.comparison.compared.by[name] for name in table["criterion"]]
        signs, margin = np.array([c.sign for c in by]), table["margin"].to_numpy()
        loss = -signs * table["difference"].to_numpy()
        size = table[["mean_a", "mean_b"]].abs().max(axis=1).fillna(1.0).to_numpy()
        is_rounding = same(loss, margin, np.maximum(size, margin))
        has_fallen = (loss > margin) & ~is_rounding
        reject = (table["p_corrected"] <= self.comparison.test.alpha).to_numpy()
        verdicts = two_sided(reject, signs * table["estimate"].to_numpy())
        drops: Bools = np.where(
            [c.is_measure for c in by], has_fallen, np.array(verdicts) == WORSE
        )
        return drops

    @cached_property
    def unchanged(self) -> bool:
        """Whether the candidate retrieves the same documents as the baseline, at the same ranks.

        An unchanged run passes by every rule.
        """
        return self.comparison.missing.retrieve_the_same(self.candidate, self.baseline)

    @property
    def failed(self) -> list[str]:
        """The criteria that stop the change."""
        return self.table["criterion"][self.table["fails"]].tolist()

    @property
    def undecided(self) -> list[str]:
        """The criteria that the evidence leaves open; none for an unchanged run.

        Either the tests find neither a loss nor a gain and cannot rule out a loss of the margin
        (``significance.margin_verdicts``), or some grades would undo a loss (``table``).
        The summary says which queries or judgments would decide (``present/gates.py``).
        """
        if self.unchanged:
            return []
        table = self.table
        return table["criterion"][
            (table["verdict"] == UNDECIDED) & ~table["fails"]
        ].tolist()

    @property
    def outcome(self) -> str:
        """``'worse'``, ``'undecided'`` (only where that does not pass), or ``'passed'``."""
        if self.failed or (self.release is not None and self.release.failed):
            return WORSE
        undecided = self.undecided or (
            self.release is not None and self.release.undecided
        )
        if self.rule == "strict" and undecided:
            return UNDECIDED
        return "passed"

    @property
    def exit_code(self) -> int:
        """0 passed, 3 worse, 4 undecided where that does not pass."""
        return {"passed": 0, WORSE: 3, UNDECIDED: 4}[self.outcome]

    @entry
    def lost(self, most: int | None = None) -> pd.DataFrame:
        """Return the queries that the candidate loses by the first criterion, largest losses first.

        The columns are those of ``Comparison.explain``, which say what decided.

        Args:
            most: how many at most; by default all.
        """
        if most is not None:
            check_integer("most", most, least=0)
        result = self.comparison
        name = result.criteria[0]
        table = result.explain(self.candidate, self.baseline, name)
        lost = table[(table["winner"] == self.baseline).to_numpy()]
        losses = lost["preference"]
        if "value_a" in lost:
            losses = result.compared.by[name].sign * (lost["value_a"] - lost["value_b"])
        return lost.loc[losses.sort_values(kind="stable").index].head(
            len(lost) if most is None else most
        )

    def __str__(self) -> str:
        """Return the summary in Markdown."""
        return present.gate_text(self)

    def __repr__(self) -> str:
        """Return the runs and the outcome."""
        pair = f"{self.candidate} beside {self.baseline}"
        return f"<Gate: {pair}: {self.outcome}; print() shows what it says>"


@entry
def gate(
    qrels: QrelsLike | None = None,
    baseline: RunLike | None = None,
    candidate: RunLike | None = None,
    by: CriteriaLike | None = None,
    *,
    margin: MarginLike = 0.01,
    test: str | SignificanceTest | None = None,
    rule: str = "evidence",
    names: tuple[str, str] | None = None,
    allow_empty: bool = False,
    ledger: str | os.PathLike[str] | None = None,
    horizon: int | None = None,
    release: RunLike | None = None,
    predicted: QrelsLike | ValuesLike | None = None,
    groups: GroupsLike | None = None,
    values: ValuesLike | None = None,
    smaller_is_better: str | Iterable[str] | None = None,
    missing: str = "error",
    query: str | None = None,
    run: str | None = None,
    where: Mapping[str, Any] | None = None,
    repeats: RepeatsLike | None = None,
    deterministic: str | Iterable[str] | None = None,
) -> Gate:
    """Test whether a candidate is worse than a baseline, to stop a change before it is merged.

    A criterion is *worse* if the one-sided test finds a loss (corrected over all criteria), *not
    worse* if it finds that a loss is smaller than the margin, else *undecided*. So a change
    without an effect is called worse in at most alpha of the cases, over all criteria together. A
    change that loses exactly the margin is called not worse in at most alpha of the cases, by each
    criterion (unless differences are very skewed: see the page on error rates). These rates are
    per change: over 50 harmless changes, 0.93 of projects see one stopped; with a ``ledger``, at
    most alpha. A run that did not change passes.

    Args:
        qrels: judgments, in any form that ``evaluate`` takes.
        baseline: a run, in any form that ``evaluate`` takes. With ``values``, the name of a run in
            them, by default the first of two.
        candidate: the same for the candidate, by default the second of two.
        by: criteria, as in ``compare``; of values by default all measures.
        margin: a loss that does not matter, as in ``compare``.
        test: as in ``compare``.
        allow_empty: as in ``compare``.
        groups: as in ``compare``.
        rule: how a criterion is decided. ``'evidence'``: by the tests; a loss that some grades of
            unjudged documents (down to the criterion's cutoff, else rank 100) would undo is
            *undecided*, because a candidate may find documents outside the baseline's pool. If it
            is not known whether grades would, *worse* stands. ``'judged'``: by the tests; unjudged
            documents count as not relevant. ``'strict'``: as ``'evidence'``, but undecided criteria
            do not pass. ``'drop'``: *worse* if a mean fell by more than the margin, even by chance;
            the summary then says *failed*.
        names: names of the two runs, by default ``"baseline"`` and ``"candidate"``.
        ledger: a file of JSON lines that records each look. The n-th look tests at
            6 alpha / (pi n)^2, so that all changes together keep alpha. Looks are only appended,
            and several jobs may do so at once. The same data with the same test count once, also
            after a crash; another correction, seed or direction makes a new look.
        horizon: number of looks that the ledger will have, if it is known. Each look then tests at
            alpha / horizon, and finds more than late looks of a ledger without a horizon. Further
            looks are refused.
        release: a second baseline, the run of the last release: many small losses may pass one by
            one, but their sum does not. Each baseline is tested at half of alpha. With ``values``,
            its name.
        predicted: judgments by a program of all queries, as in ``compare``; ``qrels`` are then
            people's judgments of a random sample. Differences, tests and verdicts use both.
        values: instead of ``qrels`` and two runs: values per query that another program computed,
            as in ``compare``.
        smaller_is_better: measures of ``values`` whose smaller value is better, as in ``compare``.
        query: the column of queries in ``values``, as in ``compare``.
        run: the column of runs, as in ``compare``.
        where: the rows to take, as in ``compare``.
        missing: what to do if a run lacks a value, as in ``io.values.read_values``.
        repeats: the kind of repeats of a system, in ``values`` or as a list of runs, as in
            ``compare``.
        deterministic: as in ``compare``.

    Returns:
        ``Gate``: ``outcome``, ``failed``, ``table``, ``lost()``, ``exit_code``; ``str()`` is a
        summary in Markdown.

    Raises:
        ValueError: bad input, no query has a relevant document, a file that is not a ledger, or a
            ledger with the rule ``'drop'``.

    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    >>> before = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    >>> after = before | {q: {"b": 2.0, "a": 1.0} for q in qrels if q < "q2"}
    >>> gate(qrels, before, before, "RR").outcome, gate(qrels, before, after, "RR").outcome
    ('passed', 'worse')
    >>> main = {f"q{i}": {"accuracy": 1.0} for i in range(30)}
    >>> branch = main | {f"q{i}": {"accuracy": 0.0} for i in range(12)}
    >>> gate(values={"main": main, "branch": branch}).outcome
    'worse'
    """
    _check_options(names, margin, rule, tests_once=ledger is None and release is None)
    _check_horizon(horizon, has_ledger=ledger is not None)
    design = Design(
        None,
        margin,
        SignificanceTest.by_name(test),
        predicted,
        groups,
        allow_empty=allow_empty,
    )
    repeated = Repeats.from_argument(repeats, deterministic)
    if values is None:
        refuse_reading_of_values(
            smaller_is_better, missing, query=query, run=run, where=where
        )
        runs = _named_runs(
            qrels, baseline, candidate, release, names or ("baseline", "candidate")
        )
        results = _compare_rankings(qrels, runs, by, design, repeated)
    else:
        if qrels is not None:
            raise ValueError("give qrels and two runs, or values, not both")
        if names is not None:
            raise ValueError("names is for rankings; with values, give {name: values}")
        wanted = wanted_values(
            by, smaller_is_better, missing, query, run, where, repeated
        )
        results = _compare_values(
            readable_again(values), [baseline, candidate, release], wanted, design
        )
    if ledger is None:
        return _gate_of(results, rule, design.test.alpha)
    look = Look.claim(ledger, _looked_at(results), design.test.alpha, horizon)
    gate = _gate_of(results, rule, look.spent, look)
    look.record(_outcome_of(gate))
    return gate


def _named_runs(
    qrels: Any, baseline: Any, candidate: Any, release: Any, names: tuple[str, str]
) -> dict[str, Any]:
    """Return the runs by their names: the baseline, the candidate and, if any, the release.

    Raises:
        ValueError: qrels or a run was not given.
    """
    if qrels is None or baseline is None or candidate is None:
        raise ValueError("give qrels, baseline and candidate, or values=")
    runs = {names[0]: baseline, names[1]: candidate}
    if release is not None:
        runs["release" if "release" not in names else f"{names[0]} (release)"] = release
    return runs


def _compare_rankings(
    qrels: Any,
    runs: Mapping[str, Any],
    by: CriteriaLike | None,
    design: Design,
    repeats: Repeats | None = None,
) -> list[Comparison]:
    """Return the comparison of the candidate with the baseline and, if any, with the release."""
    if by is None:
        raise ValueError("name criteria, such as 'nDCG@10'")
    judgments, criteria = Judgments.from_qrels(qrels), parse_criteria(by)
    _check_relevant(judgments, criteria)
    if design.predicted is not None:
        design = replace(design, predicted=read_predicted(design.predicted))
    baseline, candidate, *release = runs
    results = []
    source = runs[candidate]
    for name in (baseline, *release):
        pair = {name: runs[name], candidate: source}
        of_pair = replace(design, baseline=name)
        if repeats is not None:
            repeats_of_pair = repeats.of_runs(list(pair))
            result = compare_repeated(
                judgments, pair, criteria, of_pair, repeats_of_pair
            )
        else:
            result = compare_runs(judgments, pair, criteria, of_pair)
            assert result.compared.scored is not None
            # The run that the user gave may be readable only once.
            source = result.compared.scored.sources[candidate]
        results.append(result)
    return results


def _compare_values(
    values: Any, names: Sequence[Any], wanted: Wanted, design: Design
) -> list[Comparison]:
    """Return the comparison of the candidate with the baseline and, if any, with the release.

    Args:
        values: the values.
        names: of the baseline, the candidate and the release; None where one is not named.
        wanted: what to read, as from ``wanted_values``.
        design: how they are compared.
    """
    measures, options = wanted
    baseline, candidate, release = _names_in_values(values, names, options)
    results = []
    for name in (baseline, release):
        if name is not None:
            pair = [name, candidate]
            reading = {**options, "runs": pair}
            if options.get("repeats") is not None:
                reading["repeats"] = options["repeats"].of_runs(pair)
            results.append(
                compare_values(
                    values, (measures, reading), replace(design, baseline=name)
                )
            )
    return results


def _names_in_values(
    values: Any, names: Sequence[Any], options: Mapping[str, Any]
) -> tuple[str, str, str | None]:
    """Return the names of the baseline, the candidate and the release in values.

    Raises:
        ValueError: a name is no text, two are the same, or it is unclear which run is which.
    """
    for argument, name in zip(("baseline", "candidate", "release"), names, strict=True):
        if not isinstance(name, str | None):
            raise ValueError(
                f"{argument} must be the name of a run in values, not {shown(name)}"
            )
    baseline, candidate, release = names
    if baseline is None or candidate is None:
        runs = read_values(values, **{**options, "missing": "skip"}).runs
        others = without(runs, names)
        candidates = without(runs, [release])
        if len(candidates) != 2:
            raise ValueError(
                f"values hold the runs {shown_names(runs)}: name two, baseline= and candidate="
            )
        baseline = others[0] if baseline is None else baseline
        if candidate is None:
            candidate = others[-1]
    if candidate in (baseline, release):
        raise ValueError(
            f"the candidate and its baseline are one run, {candidate!r}; name two"
        )
    return baseline, candidate, release


def _check_options(names: Any, margin: Any, rule: Any, *, tests_once: bool) -> None:
    """Raise if the options of a gate are wrong, or do not go together."""
    check_choice("rule", rule, RULES)
    if names is not None and (not isinstance(names, (tuple, list)) or len(names) != 2):
        raise ValueError(
            f"names must be two, the baseline's and the candidate's, not {shown(names)}"
        )
    if margin is None:
        raise ValueError(
            "margin must be a number, a share such as '2%', or one for each criterion, not None; "
            "0 allows no loss"
        )
    if rule == "drop" and not tests_once:
        raise ValueError(
            "ledger and release need the rule 'evidence': they are about tests"
        )


def _check_horizon(horizon: Any, *, has_ledger: bool) -> None:
    """Raise if a horizon is no number of looks, or is given without a ledger."""
    if horizon is None:
        return
    check_integer("horizon", horizon, least=1)
    if not has_ledger:
        raise ValueError(
            "horizon is the number of looks of a ledger; name one: ledger=FILE (--ledger FILE)"
        )


def _check_relevant(judgments: Judgments, criteria: Mapping[str, Any]) -> None:
    """Raise if no query has a relevant document by one of the criteria."""
    least_of: dict[str, float] = {}
    for name, criterion in criteria.items():
        if isinstance(criterion, Preference):
            least_of[name] = criterion.rel_in(judgments)
        else:
            least_of[name] = least_grade(criterion)
    top = judgments.highest_grade
    unreached = [name for name, least in least_of.items() if top <= 0 or top < least]
    if not unreached:
        return
    message = "no query of the qrels has a relevant document: nothing can be compared"
    if top > 0:
        message += (
            f" by {shown_names(unreached)}; "
            f"their highest grade is {top:g}{way_to_reach(top)}"
        )
    raise ValueError(message)


def _gate_of(
    results: Sequence[Comparison], rule: str, alpha: float, look: Look | None = None
) -> Gate:
    """Return the gate of a comparison with the baseline and, if any, one with the release.

    Each comparison is tested at its share of alpha.
    """
    test = replace(results[0].test, alpha=alpha / len(results))
    gates = [
        Gate(Comparison(replace(result.compared, test=test)), rule)
        for result in results
    ]
    release = gates[1] if len(gates) > 1 else None
    return replace(gates[0], release=release, look=look)


def _looked_at(results: Sequence[Comparison]) -> dict[str, Any]:
    """Return what decides the outcome: digests of each run's values, roles, margins, the test."""
    digests = {}
    for result in results:
        criteria: list[Criterion] = list(result.compared.by.values())
        if result.compared.predicted is not None:
            criteria += result.compared.predicted.by.values()
        for row, run in enumerate(result.runs):
            standings = b"".join(
                criterion.standings[row].tobytes() for criterion in criteria
            )
            digests[run] = hashlib.sha256(standings).hexdigest()[:16]
    test = results[0].test
    return {
        "runs": digests,
        "baselines": [result.baseline for result in results],
        "margins": [dict(result.compared.margins or {}) for result in results],
        "tests": results[0].provenance["test"],
        "correction": test.correction,
        "n_resamples": test.n_resamples,
        "seed": test.seed,
        **_units(results[0]),
    }


def _units(result: Comparison) -> dict[str, str]:
    """Return the units of the test if they are not queries: a digest of groups, or the repeats.

    It is empty for most gates, so that ledgers written before still know their looks.
    """
    units: dict[str, str] = {}
    groups, kind = result.compared.groups, result.provenance["repeats"]
    if result.test.cluster and groups is not None:
        labels = "\n".join(map(str, groups.labels.tolist()))
        units["groups"] = hashlib.sha256(labels.encode()).hexdigest()[:16]
    if kind is not None:
        units["repeats"] = kind
    return units


def _outcome_of(gate: Gate) -> Mapping[str, Any]:
    """Return what a ledger records of a gate."""
    tables = {gate.baseline: gate.table}
    if gate.release is not None:
        tables[gate.release.baseline] = gate.release.table
    verdicts = {
        name: dict(zip(table["criterion"], table["verdict"], strict=True))
        for name, table in tables.items()
    }
    return {"outcome": gate.outcome, "verdicts": verdicts}
