"""pytest's plugin: a test that fails where a change makes rankings worse.

    def test_the_change_keeps_the_quality(assert_not_worse):
        assert_not_worse("qrels.txt", "main.run", "branch.run", ["nDCG@10", "LR"], margin=0.01)

pytest finds it by the entry point ``pytest11``. It is loaded wherever pytest starts, so it imports
the library only when an assertion needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ir_lexirecall.comparison import Gate
    from ir_lexirecall.comparison.compared import MarginLike
    from ir_lexirecall.comparison.comparing import CriteriaLike
    from ir_lexirecall.data.alignment import RunLike
    from ir_lexirecall.data.judgments import QrelsLike
    from ir_lexirecall.io.values import ValuesLike

__all__ = ["assert_not_worse"]


def assert_not_worse(
    qrels: QrelsLike | None = None,
    baseline: RunLike | None = None,
    candidate: RunLike | None = None,
    measures: CriteriaLike | None = None,
    *,
    margin: MarginLike = 0.01,
    values: ValuesLike | None = None,
    **options: Any,
) -> Gate:
    """Fail unless a candidate passes ``ir_lexirecall.gate``.

    The failure shows the gate's table and the queries that lost most. As a fixture it also records
    facts on each criterion as properties of the test, which pytest's ``--junitxml`` writes.

    Args:
        qrels: judgments, in any form that ``ir_lexirecall.gate`` takes.
        baseline: the run to compare with, in any form that ``ir_lexirecall.gate`` takes.
        candidate: the run to check, in any form that ``ir_lexirecall.gate`` takes.
        measures: its ``by``: measures and preferences.
        margin: a loss that does not matter.
        values: instead of ``qrels`` and two runs: values per query that another program computed;
            ``baseline`` and ``candidate`` are then names of runs in them.
        **options: the other options of ``ir_lexirecall.gate``, and ``strict=True``: undecided
            criteria fail, too (the rule ``'strict'``).

    Returns:
        The ``Gate``. A warning tells if a significant loss passes because unjudged documents could
        undo it.

    Raises:
        AssertionError: the candidate is worse, or undecided with ``strict=True``.
        ValueError: as ``gate``.

    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(9)}
    >>> before = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    >>> after = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    >>> assert_not_worse(qrels, before, before, "RR").outcome
    'passed'
    >>> main = {q: {"accuracy": 1.0} for q in qrels}
    >>> assert_not_worse(values={"main": main, "branch": main}).outcome
    'passed'
    >>> assert_not_worse(qrels, before, after, "RR")
    Traceback (most recent call last):
    ...
    AssertionError: FAILED: candidate is worse than baseline by RR (exit 3)
    ...
    """
    __tracebackhide__ = True
    options |= {"margin": margin, "values": values}
    gate = _decided(qrels, baseline, candidate, measures, **options)
    return _passed(gate, qrels, baseline, candidate)


@pytest.fixture(name="assert_not_worse")
def recording(request: pytest.FixtureRequest) -> Callable[..., Gate]:
    """Return ``pytest_lexirecall.assert_not_worse``, which also records facts as properties.

    The properties go to the test item: pytest's own fixture ``record_property`` does the same, but
    warns once per test that schema ``xunit2``, the default of ``--junitxml``, has none.
    """

    def assertion(*args: Any, **kwargs: Any) -> Gate:
        __tracebackhide__ = True
        from ir_lexirecall.present.gates import criterion_facts

        gate = _decided(*args, **kwargs)
        for criterion, facts in criterion_facts(gate).items():
            request.node.user_properties.append((criterion, facts))
        return _passed(gate, *args)

    return assertion


def _decided(
    qrels: Any = None,
    baseline: Any = None,
    candidate: Any = None,
    measures: Any = None,
    *,
    strict: bool = False,
    **options: Any,
) -> Gate:
    """Return the gate of a candidate; errors name `assert_not_worse`."""
    from ir_lexirecall._util.errors import called, check_flag, entry
    from ir_lexirecall.comparison import gate

    with called("assert_not_worse"):
        if check_flag("strict", strict):
            options["rule"] = _strict_rule(options.get("rule", "evidence"))
    return entry(gate, "assert_not_worse")(
        qrels, baseline, candidate, measures, **options
    )


def _strict_rule(rule: Any) -> str:
    """Return the rule by which what is undecided fails, too; raise if it is another one."""
    if rule not in ("evidence", "strict"):
        raise ValueError(
            f"strict=True is the rule 'strict', so rule={rule!r} cannot be given with it; "
            "leave one out"
        )
    return "strict"


def _passed(gate: Gate, *given: Any) -> Gate:
    """Return a gate that does not stop the change.

    Args:
        gate: what was found.
        given: the judgments and the two runs, if they were given by position, and what follows.

    Raises:
        AssertionError: it does.
    """
    __tracebackhide__ = True
    from ir_lexirecall.present.gates import UNKNOWN_FILES, gate_text

    files: Sequence[str] = UNKNOWN_FILES
    paths = [os.fspath(x) for x in given[:3] if isinstance(x, (str, os.PathLike))]
    if len(paths) == len(files):
        files = paths
    if gate.exit_code:
        raise AssertionError(gate_text(gate, markdown=False, files=files))
    _warn_of_undone_losses(gate, files)
    if gate.release is not None:
        _warn_of_undone_losses(gate.release, UNKNOWN_FILES)
    return gate


def _warn_of_undone_losses(gate: Gate, files: Sequence[str]) -> None:
    """Warn about criteria that pass only because unjudged documents could undo a loss."""
    from ir_lexirecall._util.errors import warn
    from ir_lexirecall.present.gates import judging_command, undone_losses

    for name in undone_losses(gate):
        warn(
            f"assert_not_worse passes undecided: {gate.candidate} is significantly worse than "
            f"{gate.baseline} by {name}, but unjudged documents could undo the loss; judge them "
            f"({judging_command(gate, name, files)}), or fail with strict=True"
        )
