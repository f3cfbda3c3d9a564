'''What a measure is: a class with declared parameters and a ``score``.

Defining the class registers the measure.

    class ESL(Measure):
        """Expected search length: non-relevant documents before the first relevant one."""
        params = {"cutoff": cutoff(), "rel": rel()}

        def score(self, run: AlignedRun) -> Floats: ...

From then on ``"ESL(rel=2)@10"`` is a measure of ir_measures, of PyTerrier, of the command line and
of every function of this library. A measure prints as a string that is read back as the same
measure, takes parameters by call (``ESL(rel=2)``) and a cutoff by ``@``.
'''

from __future__ import annotations

import inspect
import numbers
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import warn
from ir_lexirecall._util.selecting import without
from ir_lexirecall.measures.about import About
from ir_lexirecall.measures.other_names import measure_meant
from ir_lexirecall.measures.parameters import JUDGED_ONLY, Param

if TYPE_CHECKING:
    from typing import Self

    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments

REGISTRY: dict[str, Measure] = {}
"""Measures of this library and of users, by every name under which ir_measures knows them."""

PREFERENCE_NAMES = (
    "lexirecall",
    "lexiprecision",
    "rrlexiprecision",
    "rpp",
    "invrpp",
    "dcgrpp",
    "dominance",
)
"""Names that comparisons read as preferences: no measure takes one."""

UNIT = (0.0, 1.0)
FAMILIES = ("binary", "graded", "collections", "subtopics", "aspects", "unjudged")
"""Subjects of measures: relevant documents, grades, collections, subtopics, aspects, judgments."""


@dataclass(frozen=True, eq=False)
class Utility:
    """Values of a C/W/L measure for all queries, with the names of `ir_measures.CwlMetric`.

    Every document costs 1.
    """

    value: Floats
    expected_total_utility: Floats
    expected_total_cost: Floats
    expected_items: Floats


class UnknownParameter(ValueError):
    """A measure was called with a parameter that it does not have."""


def check_names(
    measure: str, params: Mapping[str, Any], supported: Mapping[str, Any]
) -> None:
    """Raise if a parameter is not one of the measure."""
    unknown = without(params, supported)
    if unknown:
        raise UnknownParameter(
            f"{measure} has no parameter {unknown[0]!r}; it has "
            f"{', '.join(supported) or 'none'}"
        )


class _Callable(type):
    """Metaclass by which `ESL @ 10` is `ESL(cutoff=10)`, and a class prints as its instances do."""

    def __matmul__(cls, cutoff: Any) -> Measure:
        measure: Measure = cls()
        return measure @ cutoff

    def __str__(cls) -> str:
        return getattr(cls, "NAME", "") or cls.__name__


class Parameterised:
    """Base of measures and preferences: a name and parameters.

    It prints as a string that can be read back.
    """

    NAME: ClassVar[str] = ""
    AT_PARAM: ClassVar[str] = "cutoff"
    SUPPORTED_PARAMS: ClassVar[dict[str, Param]]
    params: dict[str, Any]
    validated: bool = False
    _text: str | None = None

    def __init__(self, **params: Any) -> None:
        check_names(self.NAME, params, self.SUPPORTED_PARAMS)
        self.params = {}
        for name in self.SUPPORTED_PARAMS:
            if params.get(name) is not None:
                self.params[name] = _plain(params[name])

    def __call__(self, **params: Any) -> Self:
        """Return the same measure with other parameters."""
        return type(self)(**{**self.params, **params})

    def __matmul__(self, cutoff: Any) -> Self:
        return self(**{self.AT_PARAM: cutoff})  # type: ignore[return-value]  # mypy forgets what self is

    @property
    def __name__(self) -> str:
        return self.NAME

    def validate_params(self) -> None:
        """Raise a ``ValueError`` that names the first parameter out of range."""
        if self.validated:
            return
        for name, param in self.SUPPORTED_PARAMS.items():
            value = self[name]
            if not param.validate(value):
                if value is None:
                    problem = "is required"
                else:
                    problem = f"must be {param.expects}, not {value!r}"
                raise ValueError(f"{self.NAME}: {name} {problem} ({param.desc})")
        self.check_together()
        self.validated = True

    def check_together(self) -> None:
        """Raise a ``ValueError`` for parameters that do not go together."""

    def __getitem__(self, name: str) -> Any:
        params = self.params
        if name in params:
            return params[name]
        return self.SUPPORTED_PARAMS[name].default

    def __repr__(self) -> str:
        if self._text is None:  # printed often: it is what measures are told apart by
            self._text = str(IRMeasure.__repr__(self))
        return self._text

    def _param_repr(self, value: Any) -> str:
        """Return a value as it is written in the name of a measure."""
        if isinstance(value, dict):
            return (
                "{"
                + ",".join(f"{k!r}:{self._param_repr(v)}" for k, v in value.items())
                + "}"
            )
        return repr(value)


class Measure(Parameterised, IRMeasure, metaclass=_Callable):  # type: ignore[misc]
    """Base of all measures: a subclass declares ``params`` and computes ``score``.

    A class that is only a base of others says so: ``class Shared(Measure, register=False)``. All
    attributes are optional.

    Attributes:
        params: parameters by name, in the order in which they print; ``judged_only`` follows by
            itself.
        NAME: under which ir_measures knows the measure; by default, the name of the class.
        ALIASES: further names.
        SMALLER_IS_BETTER: whether comparisons prefer the smaller value.
        RANGE: the smallest and the largest value that there can be; ``value_range`` says so where
            parameters matter.
        FAMILY: what it is about, one of ``FAMILIES``.
        LEAST_GRADE: without a document of at least this grade, a query scores 0; ``rel`` says so
            where it is a parameter.
        PAGE: the page of ``pt_docs/measures`` that describes it; only the package's own have one.
        PRETTY_NAME: its full name.
        SHORT_DESC: a sentence on it, by default the first line of the docstring.
        ABOUT: formula, source, example and the like, as ``describe`` and the documentation show
            them.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ()
    SMALLER_IS_BETTER: ClassVar[bool] = False
    RANGE: ClassVar[tuple[float, float]] = (-inf, inf)
    FAMILY: ClassVar[str] = "graded"
    LEAST_GRADE: ClassVar[float] = 0
    PAGE: ClassVar[str] = ""
    PRETTY_NAME: ClassVar[str] = ""
    SHORT_DESC: ClassVar[str] = ""
    ABOUT: ClassVar[About] = About()
    DEFAULT = 0.0

    def least_grade(self) -> float:
        """Return the grade without which a query scores 0, unless ``rel`` says it."""
        return self.LEAST_GRADE

    def about(self) -> About:
        """Return the description of the measure with its parameters, by default `ABOUT`."""
        return self.ABOUT

    def __init_subclass__(cls, *, register: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "params" in cls.__dict__:
            cls.SUPPORTED_PARAMS = {
                **cls.__dict__["params"],
                "judged_only": JUDGED_ONLY,
            }
        if not register:
            return
        cls.NAME = cls.__dict__.get("NAME", cls.__name__)
        cls.PRETTY_NAME = cls.__dict__.get("PRETTY_NAME", cls.NAME)
        cls.SHORT_DESC = cls.__dict__.get(
            "SHORT_DESC", (inspect.getdoc(cls) or cls.NAME).partition("\n")[0]
        )
        if "ABOUT" in cls.__dict__ and cls.__doc__:
            cls.__doc__ = with_formula(inspect.cleandoc(cls.__doc__), cls.ABOUT)
        make_known(cls())

    @abstractmethod
    def score(self, run: AlignedRun) -> Floats | Utility:
        """Values of an aligned ``run`` for all queries of its judgments, shape ``(Q,)``."""

    def value_range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value with these parameters, or infinity."""
        return self.RANGE

    def is_cost(self) -> bool:
        """Return whether the smaller value is the better one."""
        return self.SMALLER_IS_BETTER

    def check_judgments(self, judgments: Judgments) -> None:
        """Warn of ``judgments`` that do not suit the measure; called once for every qrels."""


def last_rank(measure: IRMeasure) -> float:
    """Return the cutoff of a measure; infinity without one."""
    if "cutoff" not in measure.SUPPORTED_PARAMS or measure["cutoff"] is None:
        return inf
    return measure["cutoff"]


def looked_at(measure: IRMeasure, run: AlignedRun) -> Ints:
    """Return how many documents of each ranking a measure looks at: all, or down to its cutoff."""
    k = measure["cutoff"]
    if k is None:
        return run.depth
    return np.minimum(run.depth, k)


def documents_read(measure: IRMeasure, run: AlignedRun) -> Ints | float:
    """Return the cutoff of a measure; without one, the number of documents of each ranking."""
    k = measure["cutoff"]
    if k is None:
        return run.depth
    return float(k)


def with_formula(docstring: str, about: About) -> str:
    """Return a docstring with the formula of a measure and what its letters mean after the summary.

    >>> print(with_formula("Rank of the first one.", About(formula="p_1", symbols="p_1: a rank")))
    Rank of the first one.
    <BLANKLINE>
    Formula: p_1
    <BLANKLINE>
    Symbols: p_1: a rank
    """
    summary, _, rest = docstring.partition("\n\n")
    formula = ""
    if about.plain:
        formula = f"Formula: {about.plain}"
    symbols = ""
    if about.symbols:
        symbols = f"Symbols: {about.symbols}"
    return "\n\n".join(part for part in (summary, formula, symbols, rest) if part)


def make_known(measure: Measure) -> None:
    """Make ir_measures know a measure by its name and aliases.

    A later definition of the same name takes the place of an earlier one of a user (a notebook's
    cell that runs again), with a warning if that is of another module. A name of this library, or
    of another package, keeps its meaning, with a warning; so does one of another program that this
    library reads, such as `map`, and that of a preference.
    """
    registry = ir_measures.measures.registry
    for name in (measure.NAME, *measure.ALIASES):
        other = registry.get(name)
        meant = "" if other is not None else _meant_already(name)
        if meant and not _is_of_library(measure):
            warn(
                f"this library reads {name!r} as {meant} already; strings mean that one; give "
                f"{type(measure).__module__}.{type(measure).__qualname__} as an object, or "
                "another name"
            )
            continue
        if other is None or _may_be_redefined(other, measure):
            _warn_of_replaced(name, other, measure)
            registry[name] = REGISTRY[name] = measure
            continue
        module = type(measure).__module__
        if not _is_of_library(other):
            REGISTRY[name] = measure
            module = module.partition(".")[0]
        owner = "this library has" if _is_of_library(other) else "ir_measures knows"
        warn(
            f"{owner} another measure called {name!r} already ({type(other).__module__}); strings "
            f"mean "
            f"that one; give {module}.{type(measure).__qualname__} as an object, or another name"
        )


def _warn_of_replaced(name: str, other: IRMeasure | None, measure: Measure) -> None:
    """Warn that a user's class takes the name of one of another module."""
    if other is None or _is_of_library(other):
        return
    earlier, later = type(other), type(measure)
    if earlier.__module__ != later.__module__:
        warn(
            f"{name!r} means {later.__module__}.{later.__qualname__} in strings from now on, no "
            f"longer {earlier.__module__}.{earlier.__qualname__}; give objects, or another name"
        )


def _meant_already(name: str) -> str:
    """Return what strings mean by a name that is no measure's own; empty if they mean nothing."""
    if name in PREFERENCE_NAMES:
        return "a preference"
    return measure_meant(name)


def _may_be_redefined(existing: IRMeasure, measure: Measure) -> bool:
    """Return whether a measure may take a name: from a user's class, or within this library."""
    return _is_one_of_ours(existing) and (
        not _is_of_library(existing) or _is_of_library(measure)
    )


def _is_of_library(measure: IRMeasure) -> bool:
    """Return whether a measure belongs to this library; a user's class does not."""
    return type(measure).__module__.partition(".")[0] == __name__.partition(".")[0]


def _is_one_of_ours(measure: IRMeasure) -> bool:
    """Return whether a measure's class derives from `Measure`, of any import of this module."""
    return any(
        base.__module__ == __name__ and base.__name__ == "Measure"
        for base in type(measure).__mro__
    )


def _plain(value: Any) -> Any:
    """Plain Python numbers (integral ones as int), measures as strings, dictionaries sorted."""
    if isinstance(value, IRMeasure):
        return _with_all_parameters(value)
    if isinstance(value, Mapping):
        items = [(_plain(k), _plain(v)) for k, v in value.items()]
        try:
            return dict(sorted(items))
        except TypeError:
            return dict(sorted(items, key=repr))
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in ("bool_", "bool"):
        return bool(value)  # NumPy's, too
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if number.is_integer():
            return int(number)
        return number
    return value


def _with_all_parameters(measure: IRMeasure) -> str:
    """Return a measure as text with all parameters that were set, unlike `str`, also defaults."""
    values = {}
    for name, value in measure.params.items():
        if name != measure.AT_PARAM:
            values[name] = value
    params = ",".join(
        f"{name}={measure._param_repr(value)}" for name, value in values.items()
    )
    if measure.AT_PARAM in measure.params:
        at = f"@{measure.params[measure.AT_PARAM]}"
    else:
        at = ""
    return f"{measure.__name__}{f'({params})' if params else ''}{at}"


Measure.SUPPORTED_PARAMS = {"judged_only": JUDGED_ONLY}
