"""Names of measures in trec_eval, ranx, BEIR and sentence-transformers, and their meaning."""

from __future__ import annotations

import re

from ir_lexirecall.io.measure_names import EQUIVALENTS, Equivalent, equivalent

_NAMES_HERE = {
    **dict.fromkeys(("hr", "hit", "hits", "hitrate", "hitratio"), "Success"),
    **dict.fromkeys(("acc", "accuracy", "topk", "topkaccuracy"), "Success"),
    **dict.fromkeys(("mrr", "reciprocalrank", "meanreciprocalrank"), "RR"),
    **dict.fromkeys(("map", "averageprecision", "meanaverageprecision"), "AP"),
    **dict.fromkeys(("prec", "precision"), "P"),
    **dict.fromkeys(("rec", "recall"), "R"),
    **dict.fromkeys(("recallcap", "rcap", "cappedrecall"), "R_cap"),
    "ndcgburges": "nDCG(dcg='exp-log2')",
    "dcgburges": "DCG(dcg='exp-log2')",
    "rprecision": "Rprec",
    "ndcg": "nDCG",
    "dcg": "DCG",
    "f1": "F1",
    "hole": "Unjudged",
    "bpref": "Bpref",
}
"""What measures are called in other programs (without underscores, in lower case), and here."""

_NEED_CUTOFF = ("Success", "P", "R", "R_cap", "Unjudged")
# These are counts in ranx and shares in others: no name of ours.
_COUNTS_ELSEWHERE = ("hits", "hit", "topk")
_WITH_CUTOFF = re.compile(
    r"([A-Za-z][A-Za-z_-]*?|[fF]1|[fF]1[_-]score)[_-]?(?:@|at|[_-])?[_-]?(\d*)"
)
_PLAIN = re.compile(
    r"(?P<name>[A-Za-z][\w-]*?)(?:(?:@|_at_)(?P<cutoff>\d+))?(?:-l(?P<rel>\d+))?"
)
_LONGEST = 50


def measure_meant(text: str) -> str:
    """Return the measure that another program's name means beyond doubt; empty if there is none.

    ranx's `-l2` behind a name is the smallest grade that counts as relevant.

    >>> [measure_meant(name) for name in ("ndcg_cut_10", "mrr", "hit_rate@10", "map@100-l2")]
    ['nDCG@10', 'RR', 'Success@10', 'AP(rel=2)@100']
    >>> [measure_meant(name) for name in ("recall", "hits@10", "gm_map", "11pt_avg")]
    ['', '', '', '']
    """
    of_trec_eval = equivalent(text)
    if of_trec_eval is not None:
        depends_on_version = of_trec_eval.note.startswith("trec_eval 9")
        if depends_on_version:
            return ""
        return of_trec_eval.measure
    match = None
    if len(text) < _LONGEST:
        match = _PLAIN.fullmatch(text)
    if match is None:
        return ""
    key = re.sub("[_-]", "", match["name"]).lower()
    name = _NAMES_HERE.get(key, "")
    if not name or key in _COUNTS_ELSEWHERE:
        return ""
    if match["cutoff"] is None and name in _NEED_CUTOFF:
        return ""
    rel = ""
    if match["rel"]:
        rel = f"(rel={match['rel']})"
    cutoff = ""
    if match["cutoff"]:
        cutoff = f"@{match['cutoff']}"
    return f"{name}{rel}{cutoff}"


def name_here(text: str) -> str:
    """Return what a measure of another program is probably called here; empty if it is unknown.

    >>> [name_here(name) for name in ("HR@10", "hit_rate_at_5", "accuracy@1", "mrr10", "FR@3")]
    ['Success@10', 'Success@5', 'Success@1', 'RR@10', '']
    """
    match = None
    if len(text) < _LONGEST:
        match = _WITH_CUTOFF.fullmatch(text.strip())
    name = match and _NAMES_HERE.get(re.sub("[_-]", "", match[1]).lower())
    if not name or not match:
        return ""
    cutoff = match[2] or ("k" if name in _NEED_CUTOFF else "")
    return f"{name}@{cutoff}" if cutoff else name


def hint_of_trec_eval(text: str) -> str:
    """Return what a name of trec_eval, such as `ndcg_cut`, is called here; empty for others."""
    match = equivalent(text) or _family_of_trec_eval(text)
    if match is None:
        return ""
    if not match.measure:
        return f"is not here; use {match.note}"
    note = f" ({match.note})" if match.note else ""
    return f"is called {match.measure.replace('@K', '@k')} here{note}"


def _family_of_trec_eval(text: str) -> Equivalent | None:
    """Return trec_eval's measures that have a cutoff or a recall behind this name."""
    families = (f"{text}_K", f"{text}_X")
    return next((item for item in EQUIVALENTS if item.name in families), None)
