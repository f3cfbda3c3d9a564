"""What the tests share: known answers, values by library and reference, random collections."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
import reference
from chromium import CHROMIUM, Browser
from hypothesis import settings
from hypothesis import strategies as st
from ir_measures.measures.base import Measure

from ir_lexirecall.evaluation.provider import LexiRecallProvider
from ir_lexirecall.measures import REGISTRY

settings.register_profile(
    "default", deadline=None, max_examples=25, derandomize=True
)  # the same cases in every run
settings.register_profile(
    "slow", deadline=None, max_examples=50, derandomize=True
)  # of slow tests
settings.register_profile(
    "quick", deadline=None, max_examples=10, derandomize=True
)  # for further versions of Python
settings.register_profile(
    "random", deadline=None, max_examples=100
)  # other cases in every run: to look for more
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


MARKERS = (
    "slow: run by python -m pytest -m slow, and where the test or its file is named",
    "slow_except(name): slow, except for this test of a file or this case of a test",
    "sparse: slow, except for the first case of each test and every fifth after it",
)


def pytest_configure(config: pytest.Config) -> None:
    """Leave slow tests to ``python -m pytest -m slow``, unless files, folders or marks are named."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if (
        config.args_source is config.ArgsSource.TESTPATHS
        and not config.option.markexpr
        and not config.option.keyword
    ):
        config.option.markexpr = "not slow"  # xdist hands it to its workers
    if config.option.markexpr == "slow" and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("slow")
    # Of made-up runs and qrels; what is about these warnings asks for them.
    for about in (
        "RBU. the qrels name one aspect",
        ".*retrieves nothing",
        ".*of its first .* documents are judged",
        ".*no grade of the qrels is high enough",
        ".*has several grades, for subtopics",
        ".*is empty",
    ):
        config.addinivalue_line("filterwarnings", f"ignore:{about}:UserWarning")
    config.addinivalue_line(
        "filterwarnings", "ignore:The inplace keyword:DeprecationWarning:pyterrier"
    )  # PyTerrier's own
    # Hundreds of tests start Python, each of which would compile the library anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # of xdist's workers, which would wait for each other's threads


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage: all that is made then stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # nor is it looked through later
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark the cases that the marks ``slow_except`` and ``sparse`` leave to the slow command."""
    n_cases: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if is_left_to_the_slow_command(item, n_cases[function]):
            item.add_marker(pytest.mark.slow)
        n_cases[function] += 1


def is_left_to_the_slow_command(item: pytest.Item, case: int) -> bool:
    """Return whether ``slow_except`` or ``sparse`` makes this case of a test slow."""
    exception = item.get_closest_marker("slow_except")
    if exception is not None:
        return exception.args[0] not in (item.name, case_id(item))
    return item.get_closest_marker("sparse") is not None and case % 5 > 0


def case_id(item: pytest.Item) -> str:
    """Return the id of the case of a parametrised test: ``a-2`` of ``test_name[a-2]``."""
    return item.name.partition("[")[2].removesuffix("]")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run single files and tests in this process: quick to start, and a debugger can stop there."""
    named = (Path(argument.partition("::")[0]) for argument in config.args)
    return None if any(map(Path.is_dir, named)) else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run a file's tests in one process, where they share its fixtures and Spark's session; slow examples anywhere."""
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return nodeid if file.endswith("test_examples.py") else file

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """No doctests of tests: looking for them would skip, in silence, a file that cannot be imported."""
    collectors = yield
    return [collector for collector in collectors if type(collector) is pytest.Module]


Qrels = Mapping[str, Mapping[str, float]]
Run = Mapping[str, Mapping[str, float]]
CWL_FIELDS = (
    "value",
    "expected_total_utility",
    "expected_cost",
    "expected_total_cost",
    "expected_items",
)

# -- data ------------------------------------------------------------------------------------------

VECTORS = Path(__file__).parent / "vectors"
SHARED_DATA = Path(__file__).parents[1].parent / "shared" / "data"


class Data:
    """Known answers, which are part of the project, and large runs and qrels, which are not."""

    def path(self, name: str) -> str:
        """Path of a file of the large runs and qrels; a test that needs a missing one is skipped."""
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(
                f"{path} is missing: the large runs and qrels are not part of the project"
            )
        return str(path)

    def folder(self, name: str) -> list[str]:
        """Paths of the files of a folder of the evaluation data, sorted."""
        return sorted(map(str, Path(self.path(name)).iterdir()))

    def vectors(self, name: str) -> Any:
        """Content of a file of known answers."""
        return json.loads((VECTORS / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def data() -> Data:
    """Known answers, and paths of the large runs and qrels."""
    return Data()


# -- values ----------------------------------------------------------------------------------------

PROVIDER = LexiRecallProvider()


def values(measure: Measure, qrels: Any, run: Any) -> dict[str, float]:
    """This library's value of each query, also for the measures that another provider would serve first."""
    return {
        metric.query_id: metric.value
        for metric in PROVIDER.iter_calc([measure], qrels, run)
    }


def cwl_values(measure: Measure, qrels: Any, run: Any) -> dict[tuple[str, str], float]:
    """All five values of a C/W/L measure, by query and field."""
    return by_field(
        {
            metric.query_id: metric[2:]
            for metric in PROVIDER.iter_calc([measure], qrels, run)
        }
    )


def words(text: str) -> list[str]:
    """Measures, preferences and other names with blanks between them."""
    return text.split()


def by_field(by_query: Mapping[str, Sequence[float]]) -> dict[tuple[str, str], float]:
    """Five values per query, by query and field."""
    return {
        (q, name): value
        for q, five in by_query.items()
        for name, value in zip(CWL_FIELDS, five, strict=True)
    }


def reference_values(
    score: Callable[..., Any],
    judgments: Mapping[str, Any],
    run: Run,
    *places: Any,
    **parameters: Any,
) -> dict[str, Any]:
    """``score(ranking, judgments of the query, *places, **parameters)`` of each query, in trec_eval's order."""
    return {
        q: score(reference.order(run.get(q, {})), judged, *places, **parameters)
        for q, judged in judgments.items()
    }


def retrieved(ranking: Sequence[float | None]) -> dict[str, float]:
    """The scores of a ranking in which the document at each place is called by that place's number."""
    return {str(place): -float(place) for place in range(len(ranking))}


def judged(
    ranking: Sequence[float | None], missing: Sequence[float] = ()
) -> dict[str, float]:
    """The judgments of a ranking given by its grades (None: unjudged), and of documents it misses."""
    grades = {
        str(place): grade for place, grade in enumerate(ranking) if grade is not None
    }
    return grades | {f"missing{i}": grade for i, grade in enumerate(missing)}


# -- random collections ----------------------------------------------------------------------------

QUERY_IDS = st.sampled_from(["q", "q1", "q10", "Q1", "é", "文書"])

# Prefixes, upper case, characters that separate fields elsewhere, composed and decomposed letters, and ids
# that UTF-16 would sort in another order than UTF-8.
DOC_IDS = st.sampled_from(
    [
        "d",
        "d1",
        "d10",
        "D1",
        'd"1',
        "d,1",
        "é",
        "e\u0301",
        "a\u00a0b",
        "文",
        "\uffff",
        "\U00010000",
    ]
)

# Equal, equal only as 32-bit floats, equal only as numbers (-0.0), beyond the range of 32 bits, or anything.
SCORES = st.one_of(
    st.sampled_from(
        [
            0.0,
            -0.0,
            1e-50,
            -1e-50,
            1.0,
            1 + 1e-9,
            1 - 1e-9,
            16777216.0,
            16777217.0,
            1e39,
            -1e300,
        ]
    ),
    st.floats(-3, 3),
)

GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 2.5, 3, 4])
CUTOFFS = st.none() | st.integers(1, 60)


@st.composite
def rankings(draw: st.DrawFn) -> dict[str, float]:
    """Scores of documents, some of them judged, with stretches of unjudged ones between them."""
    scores = draw(st.dictionaries(DOC_IDS, SCORES))
    for score, length in draw(
        st.lists(st.tuples(SCORES, st.integers(1, 30)), max_size=3)
    ):
        scores |= {f"unjudged{len(scores) + i}": score for i in range(length)}
    return scores


@st.composite
def judged_queries(
    draw: st.DrawFn, judgments: st.SearchStrategy[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``judgments`` and rankings by query, at least one of them judged; others may lack the one or the other."""
    query_ids = draw(st.lists(QUERY_IDS, min_size=1, max_size=5, unique=True))
    missing = st.integers(0, 4).map(lambda number: number == 0)
    qrels = {
        q: draw(judgments)
        for place, q in enumerate(query_ids)
        if place == 0 or not draw(missing)
    }
    run = {q: draw(rankings()) for q in query_ids if not draw(missing)}
    return qrels, run


def collections(
    grades: st.SearchStrategy[float] = GRADES,
) -> st.SearchStrategy[tuple[Qrels, Run]]:
    """Qrels and a run as dicts of dicts."""
    return judged_queries(st.dictionaries(DOC_IDS, grades, min_size=1))


@st.composite
def placements(draw: st.DrawFn, relevant: int) -> list[int]:
    """The ranks of at most so many relevant documents, some of them deep."""
    ranks = st.integers(1, 12) | st.integers(1, 70) | st.integers(1, 2_000)
    return sorted(draw(st.sets(ranks, max_size=relevant)))


def at_ranks(ranks: list[int]) -> list[float | None]:
    """The grades of a ranking with relevant documents at these ranks, the others unjudged."""
    ranking: list[float | None] = [None] * max(ranks, default=0)
    for rank in ranks:
        ranking[rank - 1] = 1
    return ranking


def values_of_placements(
    measure: Any, relevant: int, *placed: list[int]
) -> list[float]:
    """Values of rankings with relevant documents at these ranks, and the rest of them missing."""
    rankings = {str(q): at_ranks(ranks) for q, ranks in enumerate(placed)}
    qrels = {
        q: judged(ranking, [1] * (relevant - ranking.count(1)))
        for q, ranking in rankings.items()
    }
    found = values(
        measure, qrels, {q: retrieved(ranking) for q, ranking in rankings.items()}
    )
    return [found[q] for q in rankings]


ASPECT_IDS = st.sampled_from(["1", "2", "10", "é"])


def subtopic_collections(
    grades: st.SearchStrategy[float] = GRADES,
) -> st.SearchStrategy[tuple[Any, Run]]:
    """Judgments by query and aspect (``subtopic_table`` makes qrels of them), and a run."""
    one_aspect = st.dictionaries(DOC_IDS, grades, min_size=1, max_size=5)
    return judged_queries(st.dictionaries(ASPECT_IDS, one_aspect, min_size=1))


def subtopic_table(
    judgments: Mapping[str, Mapping[str, Mapping[str, float]]], column: str
) -> pd.DataFrame:
    """Qrels with a row per query, aspect and document; ``column`` names the aspect."""
    rows = [
        (q, doc, grade, aspect)
        for q, aspects in judgments.items()
        for aspect, grades in aspects.items()
        for doc, grade in grades.items()
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", column])


ASPECTS = ("relevance", "quality", "trust")

# A top grade, or the values of all grades: equal ones, gaps between the grades, sums that only decimals get right.
SCALES = st.sampled_from(
    [
        1,
        2,
        4,
        {0: 0, 1: 1.5, 2: 3},
        {0: 0, 1: 1, 2: 1, 3: 2},
        {0: 0, 1: 0.1, 2: 0.2, 3: 0.3},
        {0: 0.1, 2: 0.4, 5: 0.5},
        {0: 0, 1: 10**6, 2: 10**9},
    ]
)


def grades_of(scale: int | Mapping[int, float]) -> list[int]:
    return sorted(scale) if isinstance(scale, Mapping) else list(range(scale + 1))


@st.composite
def aspect_collections(
    draw: st.DrawFn, aspects: int = len(ASPECTS)
) -> tuple[dict[str, Any], Any, Any]:
    """Scales of up to so many aspects, labels by query, document and aspect (some missing), and a run."""
    names = draw(
        st.lists(st.sampled_from(ASPECTS), min_size=1, max_size=aspects, unique=True)
    )
    scales = {name: draw(SCALES) for name in names}
    labels = {name: st.sampled_from(grades_of(scale)) for name, scale in scales.items()}
    some_labels = st.fixed_dictionaries({}, optional=labels)
    drawn, run = draw(judged_queries(st.dictionaries(DOC_IDS, some_labels, max_size=8)))
    next(iter(drawn.values()))[draw(DOC_IDS)] = draw(
        st.fixed_dictionaries(labels)
    )  # every aspect occurs
    judgments = {
        q: {doc: label for doc, label in docs.items() if label}
        for q, docs in drawn.items()
    }
    judgments = {q: docs for q, docs in judgments.items() if docs}
    return scales, judgments, run


def in_columns(judgments: Mapping[str, Any]) -> pd.DataFrame:
    """Qrels with a column per aspect."""
    rows = [
        {
            "query_id": q,
            "doc_id": doc,
            **dict.fromkeys(ASPECTS),
            "relevance": 0,
            **label,
        }
        for q, docs in judgments.items()
        for doc, label in docs.items()
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(ASPECTS, float))


@st.composite
def bases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """``base`` and ``cutoff`` as the measures take them, and as the reference takes them."""
    base = draw(
        st.sampled_from(
            words(
                "nDCG AP RR RBP P R AP(rel=2) RR(rel=3) RBP(p=0.5) RBP(p=0.9,rel=2) P(rel=2)"
            )
        )
    )
    needs_cutoff = base[0] in "P" or base == "R"
    k = draw(st.integers(1, 40) if needs_cutoff else st.none() | st.integers(1, 40))
    if needs_cutoff or (k is not None and draw(st.booleans())):
        return {"base": f"{base}@{k}", "cutoff": draw(st.sampled_from([None, k]))}, {
            "base": base,
            "cutoff": k,
        }
    return {"base": base, "cutoff": k}, {"base": base, "cutoff": k}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium, started once for the tests of a file."""
    if CHROMIUM is None:
        pytest.skip("there is neither chromium nor chromium-browser nor google-chrome")
    browser = Browser(CHROMIUM, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """An empty page in headless Chromium, which sees nothing that another test has stored."""
    chromium.begin_anew()
    return chromium


@pytest.fixture
def _registries_as_before() -> Iterator[None]:
    """Forget the measures that a test or a page defines."""
    registries = (REGISTRY, ir_measures.measures.registry)
    before = [dict(registry) for registry in registries]
    yield
    for registry, content in zip(registries, before, strict=True):
        registry.clear()
        registry.update(content)
