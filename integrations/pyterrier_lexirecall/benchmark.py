"""``pt.lexirecall.Benchmark``: pipelines on many data sets, their runs saved, and what holds over all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

import ir_lexirecall.benchmarks as benchmarks
from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison.comparing import CriteriaLike, coerce_test
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.data.collection import load, rules_of
from ir_lexirecall.data.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.significance import SignificanceTest

_PREFIX = "irds:"


@partial(entry, name="pt.lexirecall.Benchmark")
def Benchmark(
    pipelines: Any,
    collections: Any,
    by: CriteriaLike | None = None,
    *,
    baseline: str | None = None,
    test: str | SignificanceTest | None = None,
    correction: str | None = "holm",
    alpha: float = 0.05,
    margin: MarginLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    queries: str = "all",
    groups: GroupsLike | None = None,
    cluster: bool = False,
    judged_only: bool = False,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    allow_empty: bool = False,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
    save_dir: str | os.PathLike[str] | None = None,
    experiment: Mapping[str, Any] | None = None,
) -> benchmarks.Benchmark:
    """Run pipelines on many data sets, one after the other, and compare them as ``ir_lexirecall.benchmark`` does.

    Every pipeline runs on every data set through ``pt.Experiment``, and its run is saved as
    ``{save_dir}/{data set}/{pipeline}.res.gz`` (slashes of names as dashes, in lower case, as SuiteEval does). A run is there whole
    or not at all; one that is there already is not made again, so a benchmark that was interrupted continues.

    Args:
        pipelines: a mapping of names to pipelines, a list of pipelines (called by what they print), or a function of the data
            set that gives either, or yields pipelines or pairs of a pipeline and its name.
        collections: a list of data sets (ids with or without ``irds:``, or PyTerrier's objects), a mapping of names to these
            or to pairs of topics and qrels, or a suite of SuiteEval.
        by, baseline, test, correction, alpha, margin, rel, cutoff, queries, groups, cluster, judged_only: as in
            ``ir_lexirecall.benchmark``, of pipelines.
        exclude, rules, allow_empty, n_resamples, seed, progress: as there.
        save_dir: where runs are kept; by default nowhere.
        experiment: options of ``pt.Experiment``, such as ``batch_size``.

    Returns:
        ``Benchmark``: a ``Comparison`` for each data set, and what holds over all of them.

    Raises:
        ValueError: no data sets or pipelines, two of one name, or bad input to the evaluation.

    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> result = Benchmark({"one": pt.Transformer.from_df(one)}, {"tiny": (topics, qrels)}, ["AP"])
    >>> result["tiny"].means()[["criterion", "run", "mean"]]
      criterion  run  mean
    0        AP  one   1.0
    """
    data = dict(_data_sets(collections))
    with tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder:
        saved = Path(folder if save_dir is None else save_dir)
        runs = {}
        for name, source in progress_bar(progress, data.items(), total=len(data), desc="data sets"):
            place = saved / name.replace("/", "-").lower()
            place.mkdir(parents=True, exist_ok=True)
            runs[name] = _run_all(_named(pipelines, source), source, place, dict(experiment or {}))
        return benchmarks.benchmark(
            {name: _judgments(source, rules) for name, source in data.items()},
            runs,
            by,
            baseline=baseline,
            test=coerce_test(test, correction, alpha, n_resamples, seed, progress),
            margin=margin,
            rel=rel,
            cutoff=cutoff,
            queries=queries,
            groups=groups,
            cluster=cluster,
            judged_only=judged_only,
            exclude=exclude,
            rules=rules,
            allow_empty=allow_empty,
            progress=progress,
        )


# -- data sets -----------------------------------------------------------------------------------------


def _data_sets(collections: Any) -> Iterator[tuple[str, Any]]:
    """Names and data sets; an object of PyTerrier, or a pair of topics and qrels."""
    if isinstance(collections, Mapping):
        named = [(str(name), source) for name, source in collections.items()]
    elif hasattr(collections, "datasets") and not isinstance(collections, (str, list, tuple)):  # a suite of SuiteEval
        named = [(str(name), source) for name, source in collections.datasets]
    elif isinstance(collections, (list, tuple)):
        named = [(_name_of(source), source) for source in collections]
    else:
        raise ValueError(
            f"give collections as a list of data sets, a mapping of names to them, or a suite, not {collections!r}"
        )
    names = [name for name, _ in named]
    if not names:
        raise ValueError("there are no collections")
    folders = [name.replace("/", "-").lower() for name in names]
    if twice := next((name for name, folder in zip(names, folders, strict=True) if folders.count(folder) > 1), None):
        raise ValueError(f"two collections have the same name or folder, {twice}")
    for name, source in named:
        if isinstance(source, str):
            source = pt.get_dataset(source if ":" in source else f"{_PREFIX}{source}")
        pair = isinstance(source, (tuple, list)) and len(source) == 2
        if not pair and not (hasattr(source, "get_topics") and hasattr(source, "get_qrels")):
            raise ValueError(f"collection {name!r} must be a data set or a pair of topics and qrels, not {source!r}")
        yield name, source


def _name_of(source: Any) -> str:
    return source.removeprefix(_PREFIX) if isinstance(source, str) else str(_id_of(source) or source)


def _id_of(source: Any) -> str | None:
    """The id in ir_datasets of a data set of PyTerrier, None where it has none."""
    dataset_id = getattr(source, "_irds_id", None)
    return dataset_id if isinstance(dataset_id, str) else None


def _topics_and_qrels(source: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuple(source) if isinstance(source, (tuple, list)) else (source.get_topics(), source.get_qrels())


def _judgments(source: Any, rules: bool) -> QrelsLike:
    """The qrels: of ir_datasets' data sets with all that is known of them, of others with the rules of their id."""
    dataset_id = _id_of(source)
    if dataset_id is not None and type(source).__name__ == "IRDSDataset":
        return load(dataset_id)
    judgments = Judgments.from_qrels(_topics_and_qrels(source)[1])
    return judgments.with_rules(rules_of(dataset_id)) if rules and dataset_id is not None else judgments


# -- pipelines -----------------------------------------------------------------------------------------


def _named(pipelines: Any, source: Any) -> dict[str, Any]:
    """The pipelines of a data set by name."""
    if isinstance(pipelines, pt.Transformer):
        pipelines = [pipelines]
    elif callable(pipelines):
        pipelines = pipelines(source)
    if isinstance(pipelines, Mapping):
        pairs: Sequence[tuple[Any, Any]] = list(pipelines.items())
    elif isinstance(pipelines, Iterable):
        pairs = [(item[1], item[0]) if isinstance(item, tuple) else (item, item) for item in pipelines]
    else:
        raise ValueError(f"expected pipelines, or a function that gives some, got {pipelines!r}")
    names = [str(name) for name, _ in pairs]
    if not names:
        raise ValueError("there are no pipelines")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two pipelines have the same name, {twice}; give them as a mapping of names to pipelines")
    odd = [name for name in names if "/" in name or os.sep in name or name.startswith(".") or " object at 0x" in name]
    if odd:
        raise ValueError(f"{odd[0]!r} cannot name a file; give pipelines as a mapping of names to pipelines")
    return dict(zip(names, (pipeline for _, pipeline in pairs), strict=True))


def _run_all(pipelines: dict[str, Any], source: Any, place: Path, options: dict[str, Any]) -> dict[str, str]:
    """The runs of all pipelines on a data set; those that are there already are not made again."""
    files = {name: place / f"{name}.res.gz" for name in pipelines}
    if not all(file.exists() for file in files.values()):
        topics, qrels = _topics_and_qrels(source)
        for name, pipeline in pipelines.items():
            if not files[name].exists():
                with tempfile.TemporaryDirectory(prefix=".partial-", dir=place) as unfinished:
                    # PyTerrier refuses some characters in names; the file gets its name when it is whole.
                    pt.Experiment([pipeline], topics, qrels, ["num_q"], ["run"], save_dir=unfinished, **options)
                    os.replace(Path(unfinished) / "run.res.gz", files[name])
    return {name: str(file) for name, file in files.items()}
