"""``pt.lexirecall.Benchmark``: pipelines on many data sets, their runs saved, and what holds over all of them."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyterrier as pt

import ir_lexirecall.benchmarks as benchmarks
from ir_lexirecall._util.errors import did_you_mean, entry, repeated
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison.comparing import CriteriaLike
from ir_lexirecall.data.collection import Collection, Rules, find_collection, rules_of
from ir_lexirecall.data.judgments import Judgments

_PREFIX = "irds:"


@partial(entry, name="pt.lexirecall.Benchmark")
def Benchmark(
    pipelines: Any,
    collections: Any,
    by: CriteriaLike | None = None,
    *,
    save_dir: str | os.PathLike[str] | None = None,
    experiment: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> benchmarks.Benchmark:
    """Run pipelines on many data sets, one after the other, and compare them as ``ir_lexirecall.benchmark`` does.

    Every pipeline runs on every data set through ``pt.Experiment``, and its run is saved as
    ``{save_dir}/{data set}/{pipeline}.res.gz`` (slashes of names as dashes, in lower case, as SuiteEval does). A run is
    there whole or not at all; one that is there already is not made again, so a benchmark that was interrupted
    continues.

    Args:
        pipelines: a mapping of names to pipelines, a list of pipelines (called by what they print), or a function of
            the data set that gives either, or yields pipelines or pairs of a pipeline and its name.
        collections: a list of data sets (ids with or without ``irds:``, or PyTerrier's objects), a mapping of names to
            these or to pairs of topics and qrels (a frame, or what ``ir_lexirecall.load`` gives), or a suite of SuiteEval.
        by: as in ``ir_lexirecall.benchmark``, of pipelines.
        save_dir: where runs are kept; by default nowhere.
        experiment: options of ``pt.Experiment``, such as ``batch_size``.
        progress: show progress bars; by default on a terminal only.
        options: whatever else ``ir_lexirecall.benchmark`` takes, such as ``baseline``, ``test`` and ``margin``.

    Returns:
        ``Benchmark``: a ``Comparison`` for each data set, and what holds over all of them.

    Raises:
        ValueError: no data sets or pipelines, two of one name, or bad input to the evaluation.

    >>> import pandas as pd
    >>> topics = pd.DataFrame({"qid": ["1"], "query": ["x"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 1]})
    >>> one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    >>> result = Benchmark({"one": pt.Transformer.from_df(one)}, {"tiny": (topics, qrels)}, ["AP"])
    >>> result["tiny"].means()[["criterion", "run", "mean"]]
      criterion  run  mean
    0        AP  one   1.0
    """
    known = inspect.signature(benchmarks.benchmark).parameters.keys() - {
        "collections",
        "runs",
        "values",
        "missing",
    }
    if unknown := next((name for name in options if name not in known), None):
        raise TypeError(
            f"pt.lexirecall.Benchmark: unexpected argument {unknown!r}{did_you_mean(unknown, known)}"
        )
    data = _data_sets(collections)
    judgments, runs = dict[str, Any](), dict[str, dict[str, str]]()
    with tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder:
        for name, source in progress_bar(progress, data.items(), total=len(data), desc="data sets"):
            place = Path(folder if save_dir is None else save_dir) / _folder(name)
            place.mkdir(parents=True, exist_ok=True)
            systems = _named(pipelines, source)
            runs[name] = {system: str(place / f"{system}.res.gz") for system in systems}
            pair = isinstance(source, (tuple, list))
            for system, file in runs[name].items():
                if not os.path.exists(file):
                    topics, qrels = source if pair else (source.get_topics(), source.get_qrels())
                    if isinstance(qrels, (Collection, Judgments)):
                        columns = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
                        qrels = (
                            Judgments.from_qrels(qrels).for_ir_measures().rename(columns=columns)
                        )
                    with tempfile.TemporaryDirectory(prefix=".partial-", dir=place) as unfinished:
                        # PyTerrier refuses some characters in names; the file gets its name when it is whole.
                        asked = {"names": ["run"], "save_dir": unfinished, **(experiment or {})}
                        pt.Experiment([systems[system]], topics, qrels, ["num_q"], **asked)
                        os.replace(Path(unfinished) / "run.res.gz", file)
            dataset_id = _id_of(source)
            if dataset_id is not None and type(source).__name__ == "IRDSDataset":
                judgments[name] = find_collection(dataset_id)  # with all that is known of it
            else:
                rules = Rules() if dataset_id is None else rules_of(dataset_id)
                judgments[name] = Judgments.from_qrels(
                    source[1] if pair else source.get_qrels()
                ).with_rules(rules)
        return benchmarks.benchmark(judgments, runs, by, **options)


def _data_sets(collections: Any) -> dict[str, Any]:
    """Data sets by name; an object of PyTerrier, or a pair of topics and qrels."""
    named: Iterable[tuple[Any, Any]]
    if isinstance(collections, Mapping):
        named = collections.items()
    elif isinstance(collections, (list, tuple)):
        named = [
            (
                source.removeprefix(_PREFIX)
                if isinstance(source, str)
                else _id_of(source) or source,
                source,
            )
            for source in collections
        ]
    elif hasattr(collections, "datasets"):  # a suite of SuiteEval
        named = collections.datasets
    else:
        ways = "a list of data sets, a mapping of names to them, or a suite"
        raise ValueError(f"give collections as {ways}, not {collections!r}")
    data, folders = dict[str, Any](), dict[str, str]()
    for name, source in named:
        name = str(name)
        if _folder(name) in folders:
            raise ValueError(
                f"two collections have the same name or folder, {folders[_folder(name)]}"
            )
        folders[_folder(name)] = name
        if isinstance(source, str):
            source = pt.get_dataset(source if ":" in source else f"{_PREFIX}{source}")
        pair = isinstance(source, (tuple, list)) and len(source) == 2
        if not pair and not (hasattr(source, "get_topics") and hasattr(source, "get_qrels")):
            raise ValueError(
                f"collection {name!r} must be a data set or a pair of topics and qrels, not {source!r}"
            )
        data[name] = source
    if not data:
        raise ValueError("there are no collections")
    return data


def _folder(name: str) -> str:
    """Where the runs of a data set are saved, as SuiteEval calls it."""
    return name.replace("/", "-").lower()


def _id_of(source: Any) -> str | None:
    """The id in ir_datasets of a data set of PyTerrier, None where it has none."""
    return source.irds_ref().dataset_id() if hasattr(source, "irds_ref") else None


def _named(pipelines: Any, source: Any) -> dict[str, Any]:
    """The pipelines of a data set by name."""
    if isinstance(pipelines, pt.Transformer):
        pipelines = [pipelines]
    elif callable(pipelines):
        pipelines = pipelines(source)
    if isinstance(pipelines, Mapping):
        pairs = list(pipelines.items())
    elif isinstance(pipelines, Iterable):
        pairs = [
            (item[1], item[0]) if isinstance(item, tuple) else (item, item) for item in pipelines
        ]
    else:
        raise ValueError(f"expected pipelines, or a function that gives some, got {pipelines!r}")
    names = [str(name) for name, _ in pairs]
    if not names:
        raise ValueError("there are no pipelines")
    if (twice := repeated(names)) is not None:
        raise ValueError(
            f"two pipelines have the same name, {twice}; give them as a mapping of names to pipelines"
        )
    odd = [
        name
        for name in names
        if "/" in name or os.sep in name or name.startswith(".") or " object at 0x" in name
    ]
    if odd:
        raise ValueError(
            f"{odd[0]!r} cannot name a file; give pipelines as a mapping of names to pipelines"
        )
    return dict(zip(names, (pipeline for _, pipeline in pairs), strict=True))
