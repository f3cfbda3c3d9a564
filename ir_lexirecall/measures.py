"""The measures, declared: the one list from which provider, command line and documentation are made.

A measure is an ``ir_measures.Measure``: it prints as a string that ``ir_measures.parse_measure`` reads back,
takes parameters by call (``RBU(p=0.9)``) and a cutoff by ``@``.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure, ParamInfo

from ir_lexirecall.scoring import exposure, gain
from ir_lexirecall.scoring.toma import DISTANCES

_NUMBER = (int, float)


class Param(ParamInfo):  # type: ignore[misc]
    """A parameter of a measure: type, default, description, and what its values must be."""

    def __init__(
        self,
        dtype: type | tuple[type, ...],
        desc: str,
        *,
        default: Any = None,
        required: bool = False,
        choices: tuple[str, ...] | None = None,
        check: Callable[[Any], bool] | None = None,
        expects: str = "",
    ) -> None:
        extra = {} if choices is None else {"choices": choices}
        super().__init__(dtype=dtype, required=required, default=default, desc=desc, **extra)
        self.check = check
        self.expects = expects or (f"one of {', '.join(map(repr, choices))}" if choices else dtype_name(dtype))

    def validate(self, value: Any) -> bool:
        if value is None:
            return not self.required
        if isinstance(value, bool) and self.dtype is not bool:
            return False
        if not super().validate(value):
            return False
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return self.check is None or self.check(value)


def dtype_name(dtype: Any) -> str:
    """How errors and the measures' list call a parameter's type."""
    if dtype == (str, int):
        return "text or number"
    return "number" if isinstance(dtype, tuple) else str(getattr(dtype, "__name__", dtype))


class UnknownParameter(ValueError):
    """A measure was asked for with a parameter that it does not have."""


class _Measure(Measure):  # type: ignore[misc]
    """A measure whose parameters are in canonical form: in declared order, plain numbers, no ``None``."""

    PRETTY_NAME: str
    SHORT_DESC: str
    FORMULA: str
    SOURCE: str
    DEFAULT = 0.0
    validated: bool

    def __init__(self, **params: Any) -> None:
        unknown = [name for name in params if name not in self.SUPPORTED_PARAMS]
        if unknown:
            raise UnknownParameter(
                f"{self.__name__} has no parameter {unknown[0]!r}; it has {', '.join(self.SUPPORTED_PARAMS) or 'none'}"
            )
        given = {name: _plain(params[name]) for name in self.SUPPORTED_PARAMS if name in params}
        super().__init__(**{name: value for name, value in given.items() if value is not None})

    def validate_params(self) -> None:
        """Raise a ``ValueError`` that names the first parameter out of range."""
        if self.validated:
            return
        for name, param in self.SUPPORTED_PARAMS.items():
            value = self[name]
            if not param.validate(value):
                problem = "is required" if value is None else f"must be {param.expects}, not {value!r}"
                raise ValueError(f"{self.__name__}: {name} {problem} ({param.desc})")
        self.check_together()
        self.validated = True

    def check_together(self) -> None:
        """Raise a ``ValueError`` for parameters that do not go together."""

    def _param_repr(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{k!r}:{self._param_repr(v)}" for k, v in value.items()) + "}"
        return repr(value)


def _plain(value: Any) -> Any:
    """Plain Python numbers (integral ones as int), measures as strings, dictionaries sorted."""
    if isinstance(value, Measure):
        return _spelt_out(value)
    if isinstance(value, Mapping):
        items = [(_plain(k), _plain(v)) for k, v in value.items()]
        try:
            return dict(sorted(items))
        except TypeError:
            return dict(sorted(items, key=repr))
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ == "bool_" or type(value).__name__ == "bool":
        return bool(value)  # NumPy's, too
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return int(number) if number.is_integer() else number
    return value


def _spelt_out(measure: Measure) -> str:
    """The measure as text with every parameter that was given: ``str`` leaves out the defaults among them."""
    given = {name: value for name, value in measure.params.items() if name != measure.AT_PARAM}
    params = ",".join(f"{name}={measure._param_repr(value)}" for name, value in given.items())
    at = f"@{measure.params[measure.AT_PARAM]}" if measure.AT_PARAM in measure.params else ""
    return f"{measure.__name__}{f'({params})' if params else ''}{at}"


def _cutoff(required: bool = False) -> Param:
    return Param(
        int, "ranking cutoff threshold", required=required, check=lambda k: k >= 1, expects="an integer of at least 1"
    )


def _rel() -> Param:
    return Param(
        _NUMBER,
        "smallest grade that counts as relevant",
        default=1,
        check=lambda rel: rel > 0,
        expects="a number above 0",
    )


def _max_rel(required: bool) -> Param:
    return Param(
        _NUMBER,
        "top grade of the relevance scale" if required else "top grade (default: of the query and aspect)",
        required=required,
        check=lambda top: top > 0,
        expects="a number above 0",
    )


def _n() -> Param:
    return Param(int, "documents in the collection", check=lambda n: n >= 1, expects="an integer of at least 1")


def _gain() -> Param:
    return Param(
        str, "gain of a grade: 'exp' (2^g-1)/2^max_rel or 'linear' g/max_rel", default="exp", choices=gain.NAMES
    )


def _unjudged() -> Param:
    return Param(
        str,
        "gain of unjudged documents: 'worst' none, 'best' that of max_rel",
        default="worst",
        choices=("worst", "best"),
    )


def _phi(default: float) -> Param:
    return Param(
        _NUMBER,
        "persistence",
        default=default,
        check=lambda phi: 0 < phi < 1,
        expects="a number between 0 and 1 (both excluded)",
    )


class _TSE(_Measure):
    """Total search efficiency: the exposure of the last relevant document, TSE = e(p_m).

    How soon is a user served who needs *every* relevant document? With the default exposure e(i) = 1/i it is
    the reciprocal rank of the last one. A missing relevant document sits at the bottom of the collection
    (``impute='pessimistic'``: rank n, infinity without ``n``), or follows the ranking at once (``'optimistic'``).
    ``normalize=True`` gives (e(p_m) - e(n)) / (e(m) - e(n)). Values lie in [0, 1].

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> run = {"q": {"a": 3.0, "x": 2.0, "y": 1.5, "b": 1.0}}
    >>> TSE.calc_aggregate(qrels, run), TSE(exposure="nDCG").calc_aggregate(qrels, run)
    (0.25, 0.43067...)
    """

    __name__ = "TSE"
    NAME = __name__
    PRETTY_NAME = "Total Search Efficiency"
    SHORT_DESC = "Exposure of the last relevant document: how soon everything relevant has been seen."
    FORMULA = "e(p_m)"
    SOURCE = "Diaz et al., TORS 2026"
    SUPPORTED_PARAMS = {
        "cutoff": _cutoff(),
        "rel": _rel(),
        "exposure": Param(
            str,
            "exposure of rank i: 'AP'='RR' 1/i, 'nDCG' 1/log2(i+1), 'RBP' (1-p)p^(i-1), 'linear' 1-i/n",
            default="AP",
            choices=exposure.NAMES,
        ),
        "p": Param(
            _NUMBER,
            "persistence of the exposure 'RBP'",
            default=0.8,
            check=lambda p: 0 < p < 1,
            expects="a number between 0 and 1 (both excluded)",
        ),
        "n": _n(),
        "impute": Param(
            str,
            "where missing relevant documents are: 'pessimistic' at rank n, 'optimistic' right below",
            default="pessimistic",
            choices=("pessimistic", "optimistic"),
        ),
        "normalize": Param(bool, "scale between the worst and the best value", default=False),
    }

    def check_together(self) -> None:
        if self["exposure"] == "linear" and self["n"] is None:
            raise ValueError(f"{self}: exposure='linear' needs n, the number of documents in the collection")


class _LexiRecall(_Measure):
    """Lexicographic recall as a number: ordered first by recall, then by the last relevant document, and so on.

    ``form='nested'`` (default): with r of m relevant documents at ranks p_1 < ... < p_r,
    LR = (r + r/p*) / (m + 1), p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1), N' = sum_{i<r} C(p_i - 1, i).
    It lies in (r/(m+1), (r+1)/(m+1)] (0 for r = 0) and is 1 only for the ideal ranking. It is computed with
    exact integers and rounded once, so a better ranking never gets a smaller number; but a float has 53 bits:
    rankings that share their whole tail can get the same one. ``ir_lexirecall.compare`` compares exactly.

    ``form='weighted'``: metric lexirecall (Eq. 12 of the source), exact rationals rounded once; it needs ``n``,
    takes ``eps``, and separates fewer rankings, because its weights shrink by 1/n from one recall level to the next.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> LR.calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    0.93333...
    """

    __name__ = "LexiRecall"
    NAME = __name__
    PRETTY_NAME = "Lexicographic Recall"
    SHORT_DESC = "Recall, refined by the rank of the last relevant document, then of the one before, and so on."
    FORMULA = "(r + r/p*) / (m + 1)"
    SOURCE = "Diaz et al., TORS 2026"
    SUPPORTED_PARAMS = {
        "cutoff": _cutoff(),
        "rel": _rel(),
        "form": Param(
            str,
            "'nested' (needs nothing) or 'weighted' (Eq. 12, needs n)",
            default="nested",
            choices=("nested", "weighted"),
        ),
        "n": _n(),
        "eps": Param(
            _NUMBER,
            "of the form 'weighted': Delta = 1/(n+eps)",
            default=0.5,
            check=lambda eps: eps > 0,
            expects="a number above 0",
        ),
    }

    def check_together(self) -> None:
        if self["form"] == "weighted" and self["n"] is None:
            raise ValueError(f"{self}: form='weighted' needs n, the number of documents in the collection")


_CWL_TEXT = """

    V(1) = 1, V(i+1) = V(i) C(i); the value is sum V(i) r_i / sum V(i), the expected utility per document. The gain
    r_i of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``). ``unjudged='worst'``
    gives unjudged documents no gain, ``'best'`` that of max_rel: the two bound the value (their difference is the
    residual). Yields ``ir_measures.CwlMetric`` with expected total utility (sum V r), cost and items (sum V).

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.
"""


class _CWL_ERR8(_Measure):
    __doc__ = f"""C/W/L variant of ERR, Equation 8: C(i) = 1 - r_i below rank k, 0 from k on.{_CWL_TEXT}
    >>> (CWL_ERR8(max_rel=1) @ 2).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0, "x": 1.0}}}})
    0.33333...
    """

    __name__ = "CWL_ERR8"
    NAME = __name__
    PRETTY_NAME = "C/W/L ERR (Eq. 8)"
    SHORT_DESC = "Expected utility per document of a user who stops when satisfied, or at rank k."
    FORMULA = "C(i) = 1 - r_i, i < k"
    SOURCE = "Azzopardi et al., ICTIR 2021"
    SUPPORTED_PARAMS = {
        "cutoff": _cutoff(required=True),
        "max_rel": _max_rel(required=True),
        "gain": _gain(),
        "unjudged": _unjudged(),
    }


class _CWL_ERR9(_Measure):
    __doc__ = f"""C/W/L variant of ERR, Equation 9: C(i) = i/(i+1) (1 - r_i) below rank k, 0 from k on.{_CWL_TEXT}
    >>> (CWL_ERR9(max_rel=1) @ 2).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0, "x": 1.0}}}})
    0.4
    """

    __name__ = "CWL_ERR9"
    NAME = __name__
    PRETTY_NAME = "C/W/L ERR (Eq. 9)"
    SHORT_DESC = "Like CWL_ERR8, the user losing patience as 1/i."
    FORMULA = "C(i) = i/(i+1) (1 - r_i), i < k"
    SOURCE = "Azzopardi et al., ICTIR 2021"
    SUPPORTED_PARAMS = _CWL_ERR8.SUPPORTED_PARAMS


class _CWL_ERR10(_Measure):
    __doc__ = f"""C/W/L variant of ERR, Equation 10: C(i) = phi (1 - r_i), summed to infinity exactly.{_CWL_TEXT}
    >>> CWL_ERR10(phi=0.5, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0}}}})
    0.33333...
    """

    __name__ = "CWL_ERR10"
    NAME = __name__
    PRETTY_NAME = "C/W/L ERR (Eq. 10)"
    SHORT_DESC = "Expected utility per document of a user with persistence phi who stops when satisfied."
    FORMULA = "C(i) = phi (1 - r_i)"
    SOURCE = "Azzopardi et al., ICTIR 2021"
    SUPPORTED_PARAMS = {
        "phi": _phi(0.7),
        "max_rel": _max_rel(required=True),
        "gain": _gain(),
        "unjudged": _unjudged(),
    }


class _CWL_ERR11(_Measure):
    __doc__ = f"""C/W/L variant of ERR, Equation 11: C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i), to infinity exactly.{_CWL_TEXT}
    >>> CWL_ERR11(T=1, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"x": 2.0}}}})
    0.0
    """

    __name__ = "CWL_ERR11"
    NAME = __name__
    PRETTY_NAME = "C/W/L ERR (Eq. 11)"
    SHORT_DESC = "Expected utility per document of a user who wants gain T and stops when satisfied."
    FORMULA = "C(i) = ((i+2T-1)/(i+2T))^2 (1 - r_i)"
    SOURCE = "Azzopardi et al., ICTIR 2021"
    SUPPORTED_PARAMS = {
        "T": Param(_NUMBER, "gain the user hopes for", default=1.35, check=lambda t: t > 0, expects="a number above 0"),
        "max_rel": _max_rel(required=True),
        "gain": _gain(),
        "unjudged": _unjudged(),
    }


class _CWL_RBP(_Measure):
    __doc__ = f"""Rank-biased precision with the gains of the ERR variants: C(i) = phi, to infinity exactly.{_CWL_TEXT}
    >>> CWL_RBP(phi=0.5, max_rel=1).calc_aggregate({{"q": {{"a": 1}}}}, {{"q": {{"a": 2.0}}}})
    0.25
    """

    __name__ = "CWL_RBP"
    NAME = __name__
    PRETTY_NAME = "C/W/L Rank-Biased Precision"
    SHORT_DESC = "Expected utility per document of a user with persistence phi."
    FORMULA = "C(i) = phi"
    SOURCE = "Azzopardi et al., ICTIR 2021"
    SUPPORTED_PARAMS = {
        "phi": _phi(0.6),
        "max_rel": _max_rel(required=True),
        "gain": _gain(),
        "unjudged": _unjudged(),
    }


class _RBU(_Measure):
    """Rank-biased utility: what a user gains over all aspects, less the effort of reading.

    RBU@k = sum over ranks i = 1..min(k, depth) of p^i (sum over aspects t of w_t r(d_i, t) times the product of
    (1 - r(d_j, t)) over j < i, minus e). Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their
    weights w_t from the column ``weight`` (else equal), scaled to sum to 1 over the aspects with a relevant document.
    ``max_rel`` defaults to the largest grade of the query and aspect. Irrelevant documents only cost effort, so
    values may be negative; a query without relevant documents scores 0. ``normalize=True`` multiplies by (1-p)/p.

    Source: Amigó, Spina, Carrillo-de-Albornoz, An Axiomatic Analysis of Diversity Evaluation Metrics, SIGIR 2018,
    doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> RBU(p=1, e=0.05).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.4
    """

    __name__ = "RBU"
    NAME = __name__
    PRETTY_NAME = "Rank-Biased Utility"
    SHORT_DESC = "Gain over several aspects with diminishing returns, less the effort of reading."
    FORMULA = "sum p^i (sum_t w_t r(d_i,t) prod (1 - r(d_j,t)) - e)"
    SOURCE = "Amigó et al., SIGIR 2018"
    SUPPORTED_PARAMS = {
        "cutoff": _cutoff(),
        "p": Param(
            _NUMBER,
            "persistence",
            default=0.99,
            check=lambda p: 0 < p <= 1,
            expects="a number above 0 and at most 1",
        ),
        "e": Param(
            _NUMBER,
            "effort of reading a document",
            default=0.05,
            check=lambda e: e >= 0,
            expects="a number of at least 0",
        ),
        "gain": _gain(),
        "max_rel": _max_rel(required=False),
        "normalize": Param(bool, "multiply by (1-p)/p, the scale of RBP", default=False),
    }

    def check_together(self) -> None:
        if self["normalize"] and self["p"] == 1:
            raise ValueError(f"{self}: normalize=True needs p below 1 (the scale is (1-p)/p)")


def _check_aspects(aspects: Any) -> bool:
    def is_number(value: Any) -> bool:
        return isinstance(value, _NUMBER) and not isinstance(value, bool) and math.isfinite(value) and value >= 0

    def is_scale(scale: Any) -> bool:
        if isinstance(scale, dict):
            ordered = list(scale.values())
            return (
                len(scale) > 0
                and all(map(is_number, scale))
                and all(map(is_number, ordered))
                and ordered == sorted(ordered)
            )
        return isinstance(scale, int) and not isinstance(scale, bool) and scale >= 1

    return len(aspects) > 0 and all(isinstance(name, str) and is_scale(scale) for name, scale in aspects.items())


def _aspects() -> Param:
    return Param(
        dict,
        "judged aspects with their top grade, or with the embedded value of each grade",
        required=True,
        check=_check_aspects,
        expects="a dict of aspect names to a top grade (integer of at least 1) or to {grade: value}, all at least 0 "
        "(a negative label counts as 0), with values that do not fall, e.g. {'relevance':2,'quality':{0:0,1:1.5,2:3}}",
    )


def _base() -> Param:
    return Param(str, "measure that scores the ranking", default="nDCG")


def _binarize(default: str | None, desc: str) -> Param:
    return Param(
        (str, int),
        desc,
        default=default,
        check=lambda b: b == "half" if isinstance(b, str) else b >= 1,
        expects="'half' or an integer of at least 1",
    )


class _AspectMeasure(_Measure):
    """What TOMA, CAM and MM share: a base measure, checked and cut off."""

    def base_measure(self) -> Measure:
        """The base with this measure's cutoff.

        Raises:
            ValueError: there is no such base, or it cannot take the cutoff.
        """
        try:
            base = ir_measures.parse_measure(self["base"])
        except (NameError, SyntaxError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.__name__}: base={self['base']!r} is not a measure: {error}") from None
        if isinstance(base, _AspectMeasure):
            raise ValueError(
                f"{self.__name__}: base={self['base']!r} judges several aspects itself; name one that does not"
            )
        if self["cutoff"] is not None:
            own = base.params.get("cutoff", self["cutoff"])
            if "cutoff" not in base.SUPPORTED_PARAMS or own != self["cutoff"]:
                raise ValueError(f"{self.__name__}: the base {base} cannot be cut at {self['cutoff']}")
            base = base(cutoff=self["cutoff"])
        missing = [name for name, param in base.SUPPORTED_PARAMS.items() if param.required and name not in base.params]
        if missing:
            raise ValueError(f"{self.__name__}: base={self['base']!r} needs {missing[0]}")
        try:
            base.validate_params()
        except (ValueError, AssertionError) as error:
            raise ValueError(f"{self.__name__}: base={self['base']!r} is not a measure: {error}") from None
        if base.params.get("cutoff") is not None and base.params["cutoff"] < 1:
            raise ValueError(f"{self.__name__}: base={self['base']!r}: the cutoff must be at least 1")
        return base

    def check_together(self) -> None:
        self.base_measure()


class _TOMA(_AspectMeasure):
    """Total order of multi-aspect labels: every label tuple gets a weight, and a base measure scores the weights.

    The weight of a document is the place of its label tuple's distance to the best tuple: the distinct distances of
    all tuples, farthest first, are numbered 0, 1, 2, ... Aspects are columns of the qrels, or rows named in
    ``iteration``; ``aspects`` maps each to its top grade (labels 0..top, embedded as they are), or to the embedded
    value of each grade. A missing label is the lowest one. ``gate`` names an aspect without which the others
    do not count. A binary base needs a threshold: ``binarize='half'`` takes weights of at least K // 2 of K.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of Rankings, CIKM 2021,
    doi 10.1145/3459637.3482287.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 2], "quality": [1, 0]})
    >>> TOMA(aspects={"relevance": 2, "quality": 1}).calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    1.0
    """

    __name__ = "TOMA"
    NAME = __name__
    PRETTY_NAME = "Total Order Multi-Aspect"
    SHORT_DESC = "A base measure on weights that order all combinations of several judged aspects."
    FORMULA = "base on weights by distance to the best label tuple"
    SOURCE = "Maistro et al., CIKM 2021"
    SUPPORTED_PARAMS = {
        "cutoff": _cutoff(),
        "aspects": _aspects(),
        "distance": Param(str, "distance to the best tuple", default="euclidean", choices=DISTANCES),
        "base": _base(),
        "gate": Param(str, "aspect without which the others do not count"),
        "binarize": _binarize("half", "threshold of binary bases: 'half' (w >= K // 2) or a weight"),
    }

    def check_together(self) -> None:
        super().check_together()
        if self["gate"] is not None and self["gate"] not in self["aspects"]:
            raise ValueError(f"TOMA: gate={self['gate']!r} is not among the aspects {', '.join(self['aspects'])}")


def _check_weights(weights: Any) -> bool:
    values = list(weights.values())
    numeric = all(isinstance(w, _NUMBER) and not isinstance(w, bool) and math.isfinite(w) and w >= 0 for w in values)
    return numeric and sum(values) > 0


_MEAN_PARAMS = {
    "cutoff": _cutoff(),
    "aspects": _aspects(),
    "base": _base(),
    "weights": Param(
        dict,
        "weight of each aspect (default: equal)",
        check=_check_weights,
        expects="a dict of aspect names to numbers of at least 0, not all 0",
    ),
    "binarize": _binarize(None, "threshold of binary bases: a grade, or 'half' (above half of each scale)"),
}


class _MeanMeasure(_AspectMeasure):
    """What CAM and MM share: weights of the aspects."""

    SUPPORTED_PARAMS = _MEAN_PARAMS

    def check_together(self) -> None:
        super().check_together()
        if self["weights"] is not None and set(self["weights"]) != set(self["aspects"]):
            raise ValueError(
                f"{self.__name__}: weights name {', '.join(self['weights'])}, but the aspects are "
                f"{', '.join(self['aspects'])}"
            )


class _CAM(_MeanMeasure):
    """Convex aggregating measure: the weighted mean over aspects of a base measure, CAM = sum p_a base_a.

    Each aspect's grades are scored as given; ``aspects`` as in ``TOMA``, ``weights`` gives the p_a (default: equal).
    A binary base takes its own ``rel`` (``'AP(rel=2)'``, default 1), or ``binarize``: a grade, or ``'half'``, which
    takes the grades above the middle of each aspect's scale.

    Source: Lioma, Simonsen, Larsen, Evaluation Measures for Relevance and Credibility in Ranked Lists, ICTIR 2017,
    doi 10.1145/3121050.3121072, as used by Maistro et al., CIKM 2021.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]})
    >>> CAM(aspects={"relevance": 1, "quality": 1}, base="RR").calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    0.75
    """

    __name__ = "CAM"
    NAME = __name__
    PRETTY_NAME = "Convex Aggregating Measure"
    SHORT_DESC = "Weighted mean over several judged aspects of a base measure."
    FORMULA = "sum p_a base_a"
    SOURCE = "Lioma et al., ICTIR 2017"


class _MM(_MeanMeasure):
    """Multidimensional measure: the weighted harmonic mean over aspects of a base measure.

    MM = sum p_a / sum (p_a / base_a), 0 if any base_a is 0. Parameters as in ``CAM``.

    Source: Palotti, Zuccon, Hanbury, MM: A new Framework for Multidimensional Evaluation of Search Engines, CIKM 2018,
    doi 10.1145/3269206.3269261, as used by Maistro et al., CIKM 2021.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]})
    >>> MM(aspects={"relevance": 1, "quality": 1}, base="RR").calc_aggregate(qrels, {"q": {"a": 2.0, "b": 1.0}})
    0.66666...
    """

    __name__ = "MM"
    NAME = __name__
    PRETTY_NAME = "Multidimensional Measure"
    SHORT_DESC = "Weighted harmonic mean over several judged aspects of a base measure."
    FORMULA = "sum p_a / sum (p_a / base_a)"
    SOURCE = "Palotti et al., CIKM 2018"


TSE = _TSE()
LexiRecall = _LexiRecall()
LR = LexiRecall
CWL_ERR8 = _CWL_ERR8()
CWL_ERR9 = _CWL_ERR9()
CWL_ERR10 = _CWL_ERR10()
CWL_ERR11 = _CWL_ERR11()
CWL_RBP = _CWL_RBP()
RBU = _RBU()
TOMA = _TOMA()
CAM = _CAM()
MM = _MM()

MEASURES: dict[str, _Measure] = {
    "TSE": TSE,
    "LexiRecall": LexiRecall,
    "LR": LexiRecall,
    "CWL_ERR8": CWL_ERR8,
    "CWL_ERR9": CWL_ERR9,
    "CWL_ERR10": CWL_ERR10,
    "CWL_ERR11": CWL_ERR11,
    "CWL_RBP": CWL_RBP,
    "RBU": RBU,
    "TOMA": TOMA,
    "CAM": CAM,
    "MM": MM,
}
"""All measures of this library, by the names under which ir_measures knows them."""


def register() -> None:
    """Make ir_measures know the measures; a name that somebody else took stays theirs, with a warning."""
    registry = ir_measures.measures.registry
    for name, measure in MEASURES.items():
        taken = registry.get(name)
        if taken is None or type(taken).__module__ == __name__:
            registry[name] = measure
        else:
            warnings.warn(
                f"ir_measures knows another measure called {name!r} already ({type(taken).__module__}); strings mean that "
                f"one, ir_lexirecall.{name} is ours",
                stacklevel=3,
            )
