"""Corrections of p-values for a family of comparisons."""

from __future__ import annotations

import difflib

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.errors import entry, needs

_COMMON = ("holm", "bonferroni", "fdr_bh")


def check_correction(method: str | None) -> None:
    """Require None, 'holm', or a method of statsmodels' ``multipletests``; without statsmodels, its methods are not known.

    Raises:
        ValueError: unknown correction.

    >>> check_correction("bonferoni")
    Traceback (most recent call last):
    ...
    ValueError: unknown correction 'bonferoni'; did you mean 'bonferroni'? Choose from holm, bonferroni, ...
    """
    if method is None or method == "holm":
        return
    try:
        from statsmodels.stats.multitest import multitest_alias, multitest_methods_names
    except ModuleNotFoundError:
        if isinstance(method, str):
            return
        multitest_methods_names = multitest_alias = {}
    names = [*_COMMON, *(name for name in multitest_methods_names if len(name) > 2 and name not in _COMMON)]
    if not isinstance(method, str) or method not in {*multitest_methods_names, *multitest_alias}:
        raise ValueError(f"unknown correction {method!r}{choices(method, names)} (None: no correction)")


def choices(name: object, known: list[str]) -> str:
    """The end of a sentence about an unknown name: what may have been meant, and what there is.

    >>> choices("ho1m", ["holm", "bonferroni"]), choices("x", ["holm", "bonferroni"])
    ("; did you mean 'holm'? Choose from holm, bonferroni", '; choose from holm, bonferroni')
    """
    close = difflib.get_close_matches(name.lower(), known, 1) if isinstance(name, str) else []
    return (f"; did you mean {close[0]!r}? Choose" if close else "; choose") + f" from {', '.join(known)}"


@entry
def corrected(p: Floats, method: str | None, alpha: float) -> tuple[Floats, Bools]:
    """p-values adjusted for the family of comparisons, and which are rejected, by statsmodels' ``multipletests``.

    Only the default, Holm's, needs no statsmodels.

    Args:
        p: p-values of one family, shape ``(P,)``.
        method: ``'holm'``, another name that ``multipletests`` knows, or None: p as it is.
        alpha: level of the family (or false discovery rate).

    Raises:
        ValueError: unknown correction.
        ModuleNotFoundError: statsmodels is not installed.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979.

    >>> corrected(np.array([0.04, 0.01]), "holm", 0.05)
    (array([0.04, 0.02]), array([ True,  True]))
    """
    if method is None or len(p) == 0:
        return p, p <= alpha
    if method == "holm":
        return _holm(p, alpha)
    check_correction(method)
    try:
        from statsmodels.stats.multitest import multipletests
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            needs(f"the correction {method!r}", "statsmodels", "compare") + "; or choose 'holm' or None"
        ) from None
    reject, adjusted, *_ = multipletests(p, alpha=alpha, method=method)
    return adjusted, reject & ~np.isnan(p)


def _holm(p: Floats, alpha: float) -> tuple[Floats, Bools]:
    """Step down from the smallest p-value: it counts against all comparisons, the next one against the rest, ..."""
    order = np.argsort(p)
    left = np.arange(len(p), 0, -1)
    adjusted, reject = np.empty(len(p)), np.empty(len(p), dtype=bool)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * left), 1)
    reject[order] = np.logical_and.accumulate(p[order] <= alpha / left)
    return adjusted, reject
