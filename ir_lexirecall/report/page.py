"""An evaluation as one HTML file: tables, pictures, what decided, and how it was made. Nothing else is needed to read it."""

from __future__ import annotations

import datetime
import hashlib
import io
import os
import platform
import re
import threading
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from ir_lexirecall import plots
from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
from ir_lexirecall.errors import needs
from ir_lexirecall.files import written_whole
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.progress import progress_bar

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS = 20_000  # of the values by query
_MOST_ROWS = 250  # of a table of queries
_MOST_RUNS = 40  # in a heatmap
_VECTORS_UP_TO = 300  # queries; the marks of more are drawn as pixels

_RELIED_ON = (
    *("ir-lexirecall", "ir-measures", "ir-datasets", "numpy", "scipy", "pandas", "polars", "statsmodels"),
    *("pytrec-eval-terrier", "cwl-eval", "matplotlib", "jinja2"),
)

# What columns are called in the report ({a}, {b}: the two runs of a pair), and what they mean.
_COLUMNS = {
    "query_id": ("query", ""),
    "run_a": ("run A", ""),
    "run_b": ("run B", ""),
    "wins": ("wins", "queries on which run A is preferred"),
    "losses": ("losses", "queries on which run B is preferred"),
    "ties": ("ties", "queries on which neither is"),
    "incomparable": ("incomparable", "queries on which a partial order does not say"),
    "mean": ("mean", "mean preference for run A over the queries, from -1 to 1"),
    "estimate": ("estimate", "what the test estimates: see the test"),
    "ci_low": (
        "CI low",
        "confidence interval of the estimate, at 1 - alpha: without 0 exactly where p is at most alpha",
    ),
    "ci_high": ("CI high", ""),
    "p": ("p", "of the test, for this pair alone"),
    "p_corrected": ("p corrected", "for all pairs together"),
    "reject": ("significant", "whether the corrected p is below alpha"),
    "effect_size": (
        "effect size",
        "sign test: (wins - losses) / (wins + losses); Wilcoxon: rank-biserial correlation; else mean / standard deviation",
    ),
    "winner": ("winner", "the run preferred; –: a tie, or not comparable"),
    "preference": ("preference", "for the first run over the second, from -1 to 1"),
    "level": ("level", "the recall level that decided: i, for the i-th relevant document"),
    "tied_levels": ("tied levels", "how many levels were equal before"),
    "doc_id": ("document", "the winner's document at the deciding level"),
    "rank_a": ("rank, {a}", "where the run reaches the deciding level; –: it does not, or nothing decided"),
    "rank_b": ("rank, {b}", ""),
    "other_doc_id": ("other document", "the loser's document at the deciding level"),
    "levels_a": ("levels, {a}", "recall levels at which the run is ahead"),
    "levels_b": ("levels, {b}", ""),
    "value_a": ("value, {a}", "of the measure"),
    "value_b": ("value, {b}", ""),
}

# Pictures are drawn in colours that stand for those of the page, so that they follow its light or dark scheme.
_INK = "#010203"
_PAGE_COLOURS = {
    _INK: "currentColor",
    "#808080": "var(--muted)",  # grey
    "#d3d3d3": "var(--line)",  # lightgrey
    "#1f77b4": "var(--first)",  # tab:blue
    "#d62728": "var(--second)",  # tab:red
}
_STYLE = {
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none"),
    "legend.edgecolor": "none",
    "font.size": 12,
    "font.sans-serif": ["DejaVu Sans"],
    "text.parse_math": False,  # a run may be called a$b$c
    "svg.fonttype": "none",
    "svg.hashsalt": "ir-lexirecall",  # makes ids, and so the file, reproducible
}


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass(frozen=True)
class Report:
    """An evaluation as a page that stands alone: ``Report.from_result(result).write("report.html")``.

    The file needs no network, follows the reader's light or dark scheme, prints, and reads on a phone. Numbers are shown
    with four decimal places; the attribute ``data-value`` of their cells has all digits.

    Attributes:
        table, per_query, preferences: as in ``Benchmark``; what is None is left out, but not all of it.
        suite: a benchmark of many collections: what holds over them is added.
        title: of the page.
        inputs: files and data set ids by what they are, such as ``{"qrels": "qrels.txt", "bm25": "bm25.run"}``. A file is
            listed with its SHA-256 (of its bytes as stored), anything else as it is.
        command: the command line that made the report, if one did.
        date: when the evaluation was made; by default, when the report is.
        details: how many pairs of runs at most get pictures and a table of what decided, counted once per preference;
            those of the runs that rank highest come first.
        progress: show a progress bar over the pictures; by default on a terminal only.

    Raises:
        ValueError: there is nothing to report, or ``details`` is negative.

    >>> from ir_lexirecall import benchmark, demo
    >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> page = Report.from_result(result, title="Two runs", date=datetime.date(2026, 1, 31)).html()
    >>> "<h1>Two runs</h1>" in page
    True
    """

    table: pd.DataFrame | None = None
    per_query: pd.DataFrame | None = None
    preferences: Preferences | None = None
    suite: BenchmarkSuite | None = None
    title: str = "Retrieval evaluation"
    inputs: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict)
    command: str | None = None
    date: datetime.date = field(default_factory=_now)
    details: int = 20
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.table is None and self.preferences is None:
            raise ValueError("report: there is neither a table of measures nor a comparison to report")
        if self.details < 0:
            raise ValueError(f"report: details must be at least 0, not {self.details!r}")

    @classmethod
    def from_result(cls, result: Benchmark | BenchmarkSuite | Preferences, **options: Any) -> Report:
        """The report of what ``benchmark`` or ``compare`` gave; ``options`` are attributes of ``Report``, by name."""
        if isinstance(result, Preferences):
            return cls(preferences=result, **options)
        if isinstance(result, BenchmarkSuite):
            return cls(result.table, suite=result, **options)
        return cls(result.table, result.per_query, result.preferences, **options)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into a file, which is replaced if it exists: by the whole page, or not at all.

        Returns:
            The file's path.

        Raises:
            ModuleNotFoundError: Jinja2 or matplotlib is not installed.
            ValueError: the file's folder does not exist.
            OSError: the file cannot be written, or an input not be read.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {str(path.parent)!r} to write into")
        page = self.html()
        with written_whole(path) as temporary:
            temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
        return path

    def html(self) -> str:
        """The page as text.

        Raises:
            ModuleNotFoundError: Jinja2 or matplotlib is not installed.
            OSError: an input cannot be read.
        """
        try:
            import jinja2
            import matplotlib  # noqa: F401  # said before anything is computed
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(needs("a report", str(error.name), "report"), name=error.name) from None
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("ir_lexirecall.report"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["sha256"] = lambda text: b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return environment.get_template("report.html").render(
            title=self.title,
            version=version("ir-lexirecall"),
            date=(
                self.date.isoformat(timespec="seconds")
                if isinstance(self.date, datetime.datetime)
                else self.date.isoformat()
            ),
            measures=None if self.table is None else _Table.of(self._measures(self.table)),
            over=None if self.suite is None else self._over_collections(self.suite),
            by_query=self._by_query(),
            comparison=None if self.preferences is None else self._comparison(self.preferences),
            files=[_File.of(what, os.fspath(source)) for what, source in self.inputs.items()],
            settings=self._settings(),
            command=self.command,
            versions={"Python": platform.python_version(), **_versions()},
        )

    @staticmethod
    def _measures(table: pd.DataFrame) -> pd.DataFrame:
        return table if table.index.nlevels > 1 else table.rename_axis("run")

    def _over_collections(self, suite: BenchmarkSuite) -> dict[str, Any]:
        """The sections on many collections."""
        tables = {"queries": suite.overall("queries")}
        if len(suite.collections) > 1 and suite.runs:
            tables["collections"] = suite.overall("collections")
        pictures: list[_Picture] = []
        first = next(iter(suite.preferences.values()))
        names = list(tables["queries"]["measure"].unique())
        with progress_bar(self.progress, total=3 * len(names), desc="pictures") as bar:
            if first is not None and len(suite.runs) > 1:
                pictures = list(_suite_pictures(suite, _Pictures(first, bar.update), names))
        return {
            "tables": {over: _Table.of(table.set_index(["measure", "run"])) for over, table in tables.items()},
            "collections": {name: len(result.query_ids) for name, result in suite.results.items()},
            "pictures": pictures,
            "preferences": {
                name: _Table.of(compared.table().set_index(["run_a", "run_b"]), _labels("A", "B"))
                for name, compared in suite.preferences.items()
                if compared is not None
            },
            "friedman": [test for test in map(suite.friedman, names) if not np.isnan(test["p"])],
            "diagnostics": suite.diagnostics,
        }

    def _by_query(self) -> dict[str, Any] | None:
        """The values by query: a table per measure, with a row per query and a column per run."""
        if self.per_query is None:
            return None
        if self.per_query.size > _MOST_CELLS:
            return {"size": self.per_query.size, "tables": {}}
        runs = list(dict.fromkeys(self.per_query.index.get_level_values("run")))
        tables = {
            str(name): _Table.of(values.unstack("run")[runs], {"query_id": "query"})
            for name, values in self.per_query.items()
        }
        return {"size": self.per_query.size, "tables": tables}

    def _settings(self) -> dict[str, str]:
        """What was asked."""
        settings: dict[str, Any] = {}
        if self.table is not None:
            settings["measures"] = ", ".join(map(str, self.table.columns))
        if self.suite is not None:
            settings |= {name: value for name, value in self.suite.provenance.items() if name != "versions"}
        if self.preferences is not None:
            made = {name: value for name, value in self.preferences.provenance.items() if name != "versions"}
            settings |= {**made, "baseline": self.preferences.baseline}
        return {name.replace("_", " "): "none" if value is None else str(value) for name, value in settings.items()}

    def _comparison(self, preferences: Preferences) -> dict[str, Any]:
        """The sections on preferences."""
        names, table = preferences.preferences, preferences.table()
        rankings = {name: preferences.ranking("mean", name) for name in names}
        pairs = _best_first(preferences.pairs, list(rankings[names[0]].index))
        shown = pairs[: self.details // len(names)]
        heatmaps = len(preferences.runs) <= _MOST_RUNS
        bar = progress_bar(self.progress, total=len(names) * (heatmaps + len(shown)), desc="pictures")
        with bar:
            pictures = _Pictures(preferences, bar.update) if preferences.query_ids else None
            by_preference = []
            for name, ranking in rankings.items():
                of_name = table[table["preference"] == name].drop(columns="preference") if len(names) > 1 else table
                matrix = preferences.matrix(name).loc[ranking.index, ranking.index]
                by_preference.append(
                    {
                        "name": name,
                        "significant": int(of_name["reject"].sum()),
                        "ranking": list(ranking.items()),
                        "picture": pictures.heatmap(name) if pictures and heatmaps else None,
                        "table": _Table.of(of_name.set_index(["run_a", "run_b"]), _labels("A", "B")),
                        "matrix": _Table.of(matrix.rename_axis("run")) if heatmaps else None,
                    }
                )
            decided = [(a, b, [_decided(preferences, a, b, name, pictures) for name in names]) for a, b in shown]
            return {
                "runs": len(preferences.runs),
                "queries": len(preferences.query_ids),
                "baseline": preferences.baseline,
                "test": preferences.test,
                "correction": preferences.provenance["correction"],
                "by_preference": by_preference,
                "diagnostics": preferences.diagnostics,
                "all_pairs": len(pairs),
                "pairs": decided,
                "meanings": _meanings(name for name in table.columns if name != "preference"),
                "pair_meanings": _meanings(name for *_, by in decided for each in by for name in each["columns"]),
            }


def _decided(preferences: Preferences, a: str, b: str, name: str, pictures: _Pictures | None) -> dict[str, Any]:
    """What decided between two runs by one preference."""
    table = preferences.explain(a, b, name)
    won = {run: int((table["winner"] == run).sum()) for run in (a, b)}
    summary = f"{a} is preferred on {won[a]} queries, {b} on {won[b]}, neither on {len(table) - sum(won.values())}."
    return {
        "name": name,
        "summary": summary,
        "picture": pictures.pair(a, b, name, summary) if pictures else None,
        "queries": len(table),
        "table": _Table.of(_strongest(table, _MOST_ROWS).set_index("query_id"), _labels(a, b)),
        "columns": list(table.columns),
    }


def _suite_pictures(suite: BenchmarkSuite, pictures: _Pictures, names: Sequence[str]) -> Iterator[_Picture]:
    """Forest, rank intervals and critical differences of each measure."""
    runs = 0.3 * len(suite.runs) + 1.5
    for name in names:
        if suite.baseline is not None:
            rows = (len(suite.collections) + 1) * len(suite.runs)
            yield pictures.draw(
                partial(suite.plot, name),
                (8.0, max(3.0, 0.24 * rows + 1)),
                title=f"Differences of {name} to {suite.baseline}, by collection and over all",
                description="Each row is a difference with its interval; diamonds are macro means over all collections. The "
                "same numbers over all collections are in the table above.",
            )
        yield pictures.draw(
            partial(suite.plot_ranks, name),
            (7.0, max(2.5, runs)),
            title=f"Ranks by the macro mean of {name}",
            description="Thin: interval of the rank; thick: where the resamples put the run; the dot is its place.",
        )
        yield pictures.draw(
            partial(suite.plot_cd, name),
            (7.0, max(2.5, runs)),
            title=f"Mean ranks over collections by {name}, with the critical difference",
            description="A bar joins runs whose mean ranks differ by less than Nemenyi's critical difference.",
        )


# -- tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    name: str
    label: str
    is_key: bool
    is_number: bool


@dataclass(frozen=True)
class _Table:
    """A table of the page: rows of cells, each its text and all digits of its number (None: no number)."""

    columns: list[_Column]
    rows: list[list[tuple[str, str | None]]]

    @classmethod
    def of(cls, table: pd.DataFrame, labels: Mapping[str, str] | None = None) -> _Table:
        """A data frame as a table; its index is what names a row, ``labels`` are what columns are called."""
        numbers = [(str(name), dtype.kind in "iuf") for name, dtype in zip(table.columns, table.dtypes, strict=True)]
        kinds = [(str(name), True, False) for name in table.index.names] + [(name, False, n) for name, n in numbers]
        columns = [
            _Column(name, (labels or {}).get(name, name), is_key, is_number) for name, is_key, is_number in kinds
        ]
        rows = [(*(key if table.index.nlevels > 1 else [key]), *row) for key, *row in table.itertuples(name=None)]
        return cls(columns, [list(map(_cell, row)) for row in rows])

    def cells(self) -> Iterator[Iterator[tuple[_Column, tuple[str, str | None]]]]:
        """Rows of cells with their columns."""
        return (zip(self.columns, row, strict=True) for row in self.rows)


def _labels(a: str, b: str) -> dict[str, str]:
    """What the columns of comparisons are called, for a pair of runs."""
    return {name: label.format(a=a, b=b) for name, (label, _) in _COLUMNS.items()}


def _meanings(columns: Iterable[str]) -> dict[str, str]:
    """By their labels, what columns of comparisons mean, as far as that needs words."""
    found = (_COLUMNS[name] for name in dict.fromkeys(columns))
    return {label.format(a="…", b="…"): meaning for label, meaning in found if meaning}


def _cell(value: Any) -> tuple[str, str | None]:
    import pandas as pd

    if isinstance(value, str):
        return value, None
    if isinstance(value, (bool, np.bool_)):
        return ("yes" if value else "no"), None
    if value is None or value is pd.NA:
        return "–", None
    if isinstance(value, (float, np.floating)):
        return _number(float(value)), repr(float(value))
    return str(value), str(value)


def _number(value: float) -> str:
    """A number with four decimal places; one that would read as 0 but is not keeps its magnitude."""
    if np.isnan(value):
        return "–"
    text = f"{value:.4f}"
    return f"{value:.1e}" if value and not float(text) else text


def _strongest(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """The queries with the strongest preference (for a measure, the largest difference), in their order."""
    if len(table) <= most:
        return table
    strength = table["value_a"] - table["value_b"] if "value_a" in table else table["preference"]
    return table.iloc[np.sort(np.argsort(-np.abs(np.nan_to_num(strength.to_numpy())), kind="stable")[:most])]


def _best_first(pairs: Sequence[tuple[str, str]], ranking: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of the best runs first: by the place of the worse one, then of the better one."""
    place = {name: i for i, name in enumerate(ranking)}
    return sorted(pairs, key=lambda pair: sorted((place[pair[0]], place[pair[1]]), reverse=True))


# -- provenance ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """An input: a file with its size in bytes and its SHA-256, or an id that has neither."""

    what: str
    source: str
    size: int | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, what: str, source: str) -> _File:
        if not os.path.isfile(source):
            return cls(what, source)
        digest = hashlib.sha256()
        with open(source, "rb") as file:
            while block := file.read(2**20):
                digest.update(block)
            return cls(what, source, file.tell(), digest.hexdigest())


def _versions() -> dict[str, str]:
    """Versions of what the numbers and pictures come from, as far as installed."""
    found = {}
    for name in _RELIED_ON:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


# -- pictures --------------------------------------------------------------------------------------


class _Styling:
    """A lock on matplotlib's settings and Python's filters of warnings, of which a process has one each."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)  # another thread may have held it

    def renew(self) -> None:
        self.lock = threading.Lock()


_styling = _Styling()


@dataclass(frozen=True)
class _Picture:
    svg: str
    caption: str


@dataclass
class _Pictures:
    """The pictures of a comparison as elements of a page, each with ids of its own."""

    preferences: Preferences
    done: Callable[[], Any]
    _drawn: int = 0

    def heatmap(self, preference: str) -> _Picture:
        ranking = list(self.preferences.ranking("mean", preference).index)
        labels = 0.09 * max(map(len, plots.labels(ranking)))
        size = 0.6 * len(ranking) + 1.2 + labels
        return self.draw(
            lambda ax: self.preferences.plot(preference, ax),
            (max(4.5, size + 1.3), max(3.5, size)),
            title=f"Mean preference by {preference}, run by run",
            description=f"Runs, best first: {', '.join(ranking)}. Each cell is the mean preference of the row's run over the "
            "column's; * marks a significant difference. The same numbers are in the table below.",
        )

    def pair(self, a: str, b: str, preference: str, summary: str) -> _Picture:
        queries = len(self.preferences.query_ids)
        return self.draw(
            lambda ax: self.preferences.plot_pair(a, b, preference, ax),
            (float(np.clip(0.22 * queries, 6.5, 11)), 4.0),
            title=f"{a} and {b} by {preference}, query by query",
            description=f"{summary} Queries are ordered from wins of {a} to wins of {b}. What decided is in the table below.",
            in_pixels=queries > _VECTORS_UP_TO,
        )

    def draw(
        self,
        plot: Callable[[Any], Any],
        size: tuple[float, float],
        title: str,
        description: str,
        in_pixels: bool = False,
    ) -> _Picture:
        from matplotlib import style
        from matplotlib.figure import Figure
        from matplotlib.text import Annotation

        self._drawn += 1
        written = io.StringIO()
        with _styling.lock, style.context(["default", _STYLE]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has more fonts
            figure = Figure(figsize=size, layout="constrained")
            ax = figure.subplots()
            plot(ax)
            for text in ax.texts[:]:
                if isinstance(text, Annotation):  # the footnote with the provenance: the page has it already
                    text.remove()
            if ax.get_yscale() == "log":
                ax.yaxis.set_major_formatter("{x:g}")
                ax.yaxis.set_minor_formatter("")
            if in_pixels:
                for artist in (
                    *ax.collections,
                    *ax.patches,
                    *(line for line in ax.lines if np.size(line.get_xdata()) > 2),
                ):
                    artist.set_rasterized(True)
            figure.savefig(written, format="svg", dpi=144, metadata={"Date": None})
        self.done()
        return _Picture(_inline(written.getvalue(), f"picture{self._drawn}", title, description), title)


_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _inline(svg: str, name: str, title: str, description: str) -> str:
    """An SVG file as an element of an HTML page: with words for it, in the page's colours and font, its ids its own."""
    root = ElementTree.fromstring(_NO_XML.sub("\ufffd", svg))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _for_page(key, value, name)
            for key, value in element.attrib.items()
            if key != "id" or value in referred
        }
    width, height = (float(root.attrib.pop(side).removesuffix("pt")) * 4 / 3 for side in ("width", "height"))
    root.attrib |= {
        "style": f"--width: {width:.0f}px; aspect-ratio: {width:.0f} / {height:.0f}",
        "role": "img",
        "aria-labelledby": f"{name}-title",
        "aria-describedby": f"{name}-description",
    }
    for place, (tag, text) in enumerate([("title", title), ("desc", description)]):
        words = ElementTree.Element(tag, id=f"{name}-{'title' if tag == 'title' else 'description'}")
        words.text = _NO_XML.sub("\ufffd", text)
        root.insert(place, words)
    return ElementTree.tostring(root, encoding="unicode")


def _for_page(key: str, value: str, name: str) -> str:
    """An attribute's value with the picture's own ids, and in the page's colours and font."""
    if key == "id":
        return f"{name}-{value}"
    if value.startswith("#") and key.endswith("href"):
        return f"#{name}-{value[1:]}"
    if key == "style":
        value = re.sub(r"font: ([\d.]+px) [^;]+", r"font-size: \1", value)
        value = re.sub(r"; font-family: [^;]+|font-family: [^;]+; ", "", value)
        value = value.replace("stroke: #000000", "stroke: currentColor")
        for drawn, shown in _PAGE_COLOURS.items():
            value = value.replace(drawn, shown)
    return value.replace("url(#", f"url(#{name}-") if "url(#" in value else value
