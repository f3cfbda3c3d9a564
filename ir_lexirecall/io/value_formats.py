"""Values per item in the JSON files of other evaluation programs.

A reader takes the content of a file and returns a table: a row per item (and repeat), a column per
measure. A row without a value is a row that failed: the value is missing, whatever the program
counts for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ir_lexirecall._util.errors import is_number, naming, shortened, shown, shown_names
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io.cells import TRUTH_VALUES
from ir_lexirecall.io.files import File, JSONObject
from ir_lexirecall.io.frames import Table
from ir_lexirecall.io.names import NUGGET_QUERIES
from ir_lexirecall.io.query_columns import CONTENT_HASH
from ir_lexirecall.io.value_cells import id_text, texts

Row: TypeAlias = dict[str, Any]
"""The ids of an item, and its values by the name of the measure."""

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Scores of inspect_ai that are letters: correct, partially correct, incorrect, no answer."""
_YES_AND_NO = {"yes": 1.0, "no": 0.0, **TRUTH_VALUES}
_HELM_ABOUT_REQUESTS = re.compile(
    r"num_|training_|inference_|batch_size|finish_reason|prompt_truncated|max_prob|logprob"
)
"""Statistics of HELM that are not about the quality of an answer."""
_PARTS_OF_SCENARIO = re.compile(
    r"(?:dataset|subject|task|subset|demographic|language|language_pair|domain)=[^,]+"
)
"""Parts of the name of a run of HELM that say which instances it has."""
_AUTOMATIC_NAME = re.compile(r"(conversational_)?test_case_\d+")
"""A name that DeepEval makes of the number of a test case."""
_SAMPLES_OF_LM_EVAL = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl"
)
_LM_EVAL_KEYS = frozenset(("configs", "n-shot", "versions"))
_SETTINGS_BESIDE_RESULTS = frozenset(
    ("args", "config", "date", "metadata", "model", "model_name", "params", "settings")
)
_ERROR_OF_PROMPTFOO = 2
"""What promptfoo writes as `failureReason` of a test that ended in an error."""
_VALUES_OF_LISTS = {
    "submitted_ids": None,
    "incomplete_ids": None,
    "error_ids": 0.0,
    "empty_patch_ids": 0.0,
    "unresolved_ids": 0.0,
    "resolved_ids": 1.0,
}
"""What an instance counts in SWE-bench by the list that it is in; a later list counts."""
_SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def table_of_format(content: Any, path: str) -> Table | None:
    """Return the values in a JSON file of a known program; None if it is of no such program.

    Args:
        content: what the file holds; a list of the objects if it has one per line.
        path: the file.

    Raises:
        ValueError: the file is of such a program, and holds no values per item.
    """
    for one in FORMATS:
        if one.matches(content):
            return _read_as(one, content, path)
    return None


def _read_as(program_format: Format, content: Any, path: str) -> Table:
    """Return the values in a file of a program.

    Raises:
        ValueError: a part of it is missing, or of a type that the program does not write.
    """
    try:
        with naming(path):
            return program_format.read(content, path)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{path}: it looks like a file of {program_format.program}, but a part of it is "
            f"missing or of another type ({shortened(fault)}); write it again, or give a table "
            "with a row per item and a column per measure"
        ) from None


def table_of_rows(
    rows: Sequence[Row],
    path: str,
    item: str,
    measures: Iterable[str],
    *,
    notes: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> Table:
    """Return rows as a table.

    Args:
        rows: the rows; all have a `run`.
        path: the file.
        item: the column of items.
        measures: the columns of values that are taken by default.
        notes: sentences on what was read.
        cut: sentences on what the file lacks because it ended early.

    Raises:
        ValueError: there are no values.
    """
    measures = tuple(dict.fromkeys(measures))
    for name in measures:
        if not isinstance(name, str):
            raise ValueError(
                f"{path}: a measure is called {shown(name)}, not by a text"
            )
    if not _has_values(rows, measures):
        raise ValueError(
            f"{path}: none of its items has a score; give the log of a finished evaluation"
        )
    names = dict.fromkeys(chain.from_iterable(rows))
    runs = {row["run"] for row in rows}
    run = None
    if len(runs) == 1:
        [run] = runs
        del names["run"]
    return Table(
        {name: texts(row.get(name) for row in rows) for name in names},
        path,
        lambda n: f"{path}, {item} {id_text(rows[n][item])!r}",
        run=run,
        measures=measures,
        notes=tuple(notes),
        cut=tuple(cut),
    )


def _has_values(rows: Sequence[Row], measures: Iterable[str]) -> bool:
    """Return whether a row has a value of a measure."""
    for row in rows:
        for name in measures:
            if row.get(name) is not None:
                return True
    return False


# -- inspect_ai ------------------------------------------------------------------------------------


def is_inspect(content: Any) -> bool:
    """Return whether an object is a log of inspect_ai."""
    spec = content.get("eval") if isinstance(content, Mapping) else None
    return isinstance(spec, Mapping) and not is_eval_plus(content)


def table_of_inspect(log: JSONObject, path: str) -> Table:
    """Return a row per sample and epoch, a column per scorer.

    Letters count as inspect_ai's reducers take them, epochs are repeats, and samples that ended in
    an error have no values.

    Raises:
        ValueError: the log has no samples.
    """
    samples = log.get("samples")
    if not samples:
        raise ValueError(
            f"{path}: a log of inspect_ai without samples; keep them (log_samples), and leave "
            "header_only out"
        )
    about = {"run": log["eval"].get("model")}
    data_set = (log["eval"].get("dataset") or {}).get("name")
    if data_set:
        about["dataset"] = data_set
    rows = []
    measures: list[str] = []
    has_letters = False
    for number, sample in enumerate(samples, start=1):
        if "id" not in sample:
            raise ValueError(
                f"{path}: sample {number} of the log has no id; write the log again"
            )
        scores = _inspect_scores(sample)
        has_letters |= any(map(_is_letter, scores.values()))
        measures += scores
        values = {name: _inspect_value(value) for name, value in scores.items()}
        ids = {"sample_id": sample["id"], "epoch": sample.get("epoch", 1)}
        rows.append({**about, **ids, **values})
    notes = []
    if has_letters:
        counted = ", ".join(f"{letter} {value:g}" for letter, value in _LETTERS.items())
        notes = [f"inspect_ai's letters count as its reducers take them: {counted}."]
    cut = _lost_samples(log, path)
    return table_of_rows(rows, path, "sample_id", measures, notes=notes, cut=cut)


def _is_letter(score: Any) -> bool:
    """Return whether a score of inspect_ai is one of its letters."""
    return isinstance(score, str) and score in _LETTERS


def _inspect_scores(sample: JSONObject) -> Row:
    """Return the scores of a sample by scorer; a scorer with several has a column for each."""
    scores: Row = {}
    for scorer, score in (sample.get("scores") or {}).items():
        if sample.get("error"):
            scores[scorer] = None
            continue
        value = score.get("value")
        if isinstance(value, Mapping):
            scores |= {f"{scorer}.{part}": x for part, x in value.items()}
        else:
            scores[scorer] = value
    return scores


def _inspect_value(value: Any) -> Any:
    """Return a score as inspect_ai's reducers take it; other texts stay as they are."""
    if not isinstance(value, str):
        return value
    return _LETTERS.get(value, _YES_AND_NO.get(value.lower(), value))


def _lost_samples(log: JSONObject, path: str) -> list[str]:
    """Return a sentence if a run of inspect_ai did not finish, or lacks samples."""
    n_read, status = len(log["samples"]), log.get("status", "started")
    expected = _expected_samples(log)
    if status == "success" and n_read >= expected:
        return []
    of = f" of {expected}" if expected else ""
    return [
        f"{path}: {n_read}{of} samples are in it; the status of the run is {status!r}."
    ]


def _expected_samples(log: JSONObject) -> int:
    """Return the number of samples times epochs of inspect_ai; 0 if the log does not say."""
    results, spec = log.get("results") or {}, log["eval"]
    if "total_samples" in results:
        return _number_of(results["total_samples"])
    data_set, config = spec.get("dataset") or {}, spec.get("config") or {}
    n_items = len(data_set.get("sample_ids") or ()) or data_set.get("samples") or 0
    return _number_of(n_items) * _number_of(config.get("epochs") or 1)


def _number_of(count: Any) -> int:
    """Return a number of samples or results that a file states.

    Raises:
        TypeError: it is something else.
    """
    if not is_number(count):
        raise TypeError(f"{shown(count)} is not a number")
    return int(count)


# -- lm-eval, HELM ---------------------------------------------------------------------------------


def is_lm_eval(content: Any) -> bool:
    """Return whether records are samples of lm-eval."""
    return _are_records(content, "doc_id", "metrics")


def table_of_lm_eval(records: Sequence[JSONObject], path: str) -> Table:
    """Return a row per document and filter, a column per metric."""
    measures = []
    for record in records:
        measures += [name for name in record["metrics"] if name in record]
    about_document: tuple[str, ...] = (CONTENT_HASH,)
    if all(record.get(CONTENT_HASH) is None for record in records):
        about_document = ("doc", "target")  # older versions write no hash
    kept = ("doc_id", "filter", *about_document, *dict.fromkeys(measures))
    about: Row = {"run": _model_of_samples(path)}
    task = task_of_samples(path)
    if task is not None:
        about["task"] = task
    rows = [about | {name: record.get(name) for name in kept} for record in records]
    return table_of_rows(rows, path, "doc_id", measures)


def samples_in(folder: PathLike) -> list[Path]:
    """Return the files of samples that lm-eval wrote into a folder or the folders in it."""
    paths = sorted(Path(folder).rglob("samples_*.jsonl"))
    return [path for path in paths if task_of_samples(path) is not None]


def task_of_samples(path: PathLike) -> str | None:
    """Return the task in the name of a file of samples by lm-eval; None for other names.

    >>> task_of_samples("m/samples_arc_easy_2024-05-01T10-20-30.5.jsonl")
    'arc_easy'
    """
    match = _SAMPLES_OF_LM_EVAL.fullmatch(os.path.basename(path))
    return match and match["task"]


def check_is_no_summary(content: Any, path: str) -> None:
    """Raise if a file holds a program's settings and results, which may be no values per query.

    Those of lm-eval are over all documents of a task. What other programs write there is not known.
    """
    if not isinstance(content, Mapping) or "results" not in content:
        return
    if _LM_EVAL_KEYS & content.keys() and isinstance(content["results"], Mapping):
        raise ValueError(
            f"{path}: results of lm-eval over all documents; values per document are in its files "
            "samples_*.jsonl (give lm-eval --log_samples)"
        )
    if _SETTINGS_BESIDE_RESULTS & content.keys():
        raise ValueError(
            f"{path}: a program's results beside its settings; if 'results' has values per query, "
            "give a file of it alone: a list of records, or {query_id: {measure: value}}"
        )


def _model_of_samples(path: str) -> str | None:
    """Return the model that lm-eval names in the file of results beside its samples, if any."""
    match = _SAMPLES_OF_LM_EVAL.match(os.path.basename(path))
    if match is None:
        return None
    results = Path(path).parent / f"results_{match['time']}.json"
    if not results.is_file():
        return None
    content = File.opened(results).json()
    if isinstance(content, Mapping):
        return content.get("model_name")
    return None


def is_helm(content: Any) -> bool:
    """Return whether records are HELM's statistics per instance."""
    return _are_records(content, "instance_id", "stats")


def table_of_helm(records: Sequence[JSONObject], path: str) -> Table:
    """Return a row per instance, trial and perturbation, a column per statistic.

    By default those are taken that are about the quality of an answer.
    """
    about = {"run": _model_of_helm(path), "task": _scenario_of_helm(path)}
    rows = []
    names: list[str] = []
    for record in records:
        perturbation = record.get("perturbation") or {}
        values = {_name_of_stat(stat): stat.get("mean") for stat in record["stats"]}
        names += values
        ids = {name: record.get(name) for name in ("instance_id", "train_trial_index")}
        rows.append(
            {**about, **ids, "perturbation": perturbation.get("name"), **values}
        )
    return table_of_rows(
        rows,
        path,
        "instance_id",
        [name for name in names if not _HELM_ABOUT_REQUESTS.match(name)],
        notes=[
            "Of HELM's statistics those of the quality of answers are taken; others by name."
        ],
    )


def _model_of_helm(path: str) -> str:
    """Return the model in the name of the folder of a file, else the folder."""
    folder = Path(path).resolve().parent.name
    model = re.search(r"model=([^,]+)", folder)
    return model[1] if model else folder


def _scenario_of_helm(path: str) -> str | None:
    """Return the scenario in the name of the folder of a file, without settings of the model.

    None if the folder is not named as HELM does.
    """
    folder = Path(path).resolve().parent.name
    if "model=" not in folder:
        return None
    base = re.split("[:,-]", folder, maxsplit=1)[0]
    return ",".join([base, *_PARTS_OF_SCENARIO.findall(folder)])


def _name_of_stat(stat: JSONObject) -> str:
    """Return the name of a statistic of HELM, without its split."""
    name = stat["name"]
    if isinstance(name, Mapping):
        name = name["name"]
    return str(name)


# -- OpenSearch, SWE-bench -------------------------------------------------------------------------


def is_opensearch(content: Any) -> bool:
    """Return whether an object is an answer of OpenSearch with results of experiments."""
    return any("searchConfigurationId" in source for source in _sources(content))


def _sources(content: Any) -> list[JSONObject]:
    """Return the documents in an answer of OpenSearch, or in records of an export."""
    hits = content
    if isinstance(content, Mapping) and isinstance(content.get("hits"), Mapping):
        hits = content["hits"].get("hits")
    if not isinstance(hits, list):
        return []
    sources = (hit.get("_source") for hit in hits if isinstance(hit, Mapping))
    return [source for source in sources if isinstance(source, Mapping)]


def table_of_opensearch(content: Any, path: str) -> Table:
    """Return a row per query and search configuration, a column per metric."""
    rows = []
    measures: list[str] = []
    for source in _sources(content):
        values = {one["metric"]: one["value"] for one in source.get("metrics") or ()}
        measures += values
        rows.append(
            {
                "run": source["searchConfigurationId"],
                "query": source["searchText"],
                "experiment": source.get("experimentId"),
                "variant": source.get("experimentVariantId"),
                **values,
            }
        )
    total, cut = _total_hits(content), []
    if total > len(rows):
        part = f"{len(rows)} of {total} results"
        cut = [f"{path}: {part} are in it; ask for more (size)."]
    return table_of_rows(rows, path, "query", measures, cut=cut)


def _total_hits(content: Any) -> int:
    """Return the number of documents of a search, of which an answer may hold a part."""
    if not isinstance(content, Mapping):
        return 0
    total = content["hits"].get("total", 0)
    if isinstance(total, Mapping):
        total = total.get("value", 0)
    return _number_of(total)


def is_swe_bench(content: Any) -> bool:
    """Return whether an object is a report of SWE-bench, or has one for each instance."""
    if not isinstance(content, Mapping) or not content:
        return False
    if isinstance(content.get("resolved_ids", content.get("resolved")), list):
        return True
    return all(map(_says_if_resolved, content.values()))


def _says_if_resolved(report: Any) -> bool:
    """Return whether an object is SWE-bench's report on an instance."""
    return isinstance(report, Mapping) and isinstance(report.get("resolved"), bool)


def table_of_swe_bench(report: JSONObject, path: str) -> Table:
    """Return 1 for each instance that was resolved, 0 for one that was run and was not.

    As in SWE-bench, an empty patch and an error count 0. What was not run has no value.

    Raises:
        ValueError: the report does not say which instances were run.
    """
    lists = [report.get(name) for name in ("resolved_ids", "resolved")]
    if not any(isinstance(ids, list) for ids in lists):
        resolved = {name: one["resolved"] for name, one in report.items()}
        return _table_of_resolved(resolved, path)
    if "unresolved_ids" not in report:
        raise ValueError(
            f"{path}: it lists the instances that were resolved, not those that failed; give the "
            "report of SWE-bench's harness, which has unresolved_ids"
        )
    values: dict[str, float | None] = {}
    for name, value in _VALUES_OF_LISTS.items():
        values |= dict.fromkeys(report.get(name, ()), value)
    failed = []
    for name in ("error", "empty_patch"):
        n_failed = len(report.get(f"{name}_ids", ()))
        if n_failed:
            failed.append(f"{n_failed} {name.replace('_', ' ')}")
    notes = []
    if failed:
        share = f"{' and '.join(failed)} of {len(values)} instances"
        notes = [f"{path}: {share} count 0."]
    return _table_of_resolved(values, path, notes=notes)


def _table_of_resolved(
    values: Mapping[str, float | None], path: str, notes: Sequence[str] = ()
) -> Table:
    """Return a row per instance with whether it was resolved."""
    rows = [
        {"run": None, "instance_id": name, "resolved": x} for name, x in values.items()
    ]
    return table_of_rows(rows, path, "instance_id", ["resolved"], notes=notes)


# -- EvalPlus --------------------------------------------------------------------------------------


def is_eval_plus(content: Any) -> bool:
    """Return whether an object is what EvalPlus writes: solutions by task."""
    tasks = content.get("eval") if isinstance(content, Mapping) else None
    if not isinstance(tasks, Mapping) or not tasks:
        return False
    return all(_are_records(one, "base_status") for one in tasks.values())


def table_of_eval_plus(content: JSONObject, path: str) -> Table:
    """Return a row per task and solution: whether it passed the base tests, and all tests."""
    rows = []
    measures = ["base"]
    for task, solutions in content["eval"].items():
        for number, solution in enumerate(solutions):
            base = _has_passed(solution["base_status"])
            row = {"run": None, "id": task, "sample": number, "base": base}
            if solution.get("plus_status") is not None:
                row["plus"] = base * _has_passed(solution["plus_status"])
                measures.append("plus")
            rows.append(row)
    return table_of_rows(rows, path, "id", measures)


def _has_passed(status: Any) -> float:
    """Return 1 for a status of EvalPlus that says that tests were passed, else 0."""
    return float(status in ("pass", "success"))


# -- DeepEval, promptfoo, nuggets ------------------------------------------------------------------


def is_deepeval(content: Any) -> bool:
    """Return whether an object is a test run of DeepEval."""
    return isinstance(content, Mapping) and isinstance(content.get("testCases"), list)


def table_of_deepeval(run: JSONObject, path: str) -> Table:
    """Return a row per test case, a column per metric.

    A test case is known by its name. If its name is only a number, it is known by its input.
    """
    rows = []
    measures: list[str] = []
    for case in [*run["testCases"], *(run.get("conversationalTestCases") or ())]:
        values = {
            one["name"]: one.get("score") for one in case.get("metricsData") or ()
        }
        measures += values
        item = case.get("name") or ""
        if not item or _AUTOMATIC_NAME.fullmatch(item) is not None:
            item = case.get("input") or case.get("scenario")
        rows.append(
            {
                "run": run.get("identifier"),
                "id": item,
                "order": case.get("order"),
                **values,
            }
        )
    return table_of_rows(rows, path, "id", measures)


def is_promptfoo(content: Any) -> bool:
    """Return whether an object is what promptfoo writes."""
    results = content.get("results") if isinstance(content, Mapping) else None
    if isinstance(results, Mapping):
        results = results.get("results")
    return _are_records(results, "provider", "success")


def table_of_promptfoo(content: JSONObject, path: str) -> Table:
    """Return a row per test, provider and prompt, a column for the score and each named score.

    A test is known by its variables. One that ended in an error has no values.
    """
    results = content["results"]
    if isinstance(results, Mapping):
        results = results["results"]
    has_prompts = len({_prompt_of(result) for result in results}) > 1
    rows = []
    measures: list[str] = []
    for result in results:
        values = {"score": result.get("score"), "success": result["success"]}
        values |= result.get("namedScores") or {}
        run = _provider_of(result)
        if has_prompts:
            run = f"{run}, {_prompt_of(result)}"
        variables = json.dumps(result.get("vars"), sort_keys=True, ensure_ascii=False)
        row = {"run": run, "id": variables, "testIdx": result.get("testIdx")}
        if not _has_failed(result):
            row |= values
            measures += values
        rows.append(row)
    return table_of_rows(rows, path, "id", measures)


def _has_failed(result: JSONObject) -> bool:
    """Return whether a test of promptfoo ended in an error, not in a wrong answer."""
    has_error = bool(result.get("error")) and "failureReason" not in result
    return result.get("failureReason") == _ERROR_OF_PROMPTFOO or has_error


def _provider_of(result: JSONObject) -> str:
    """Return the label of the provider of a result of promptfoo, else its id."""
    provider = result["provider"]
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider["id"]
    return str(provider)


def _prompt_of(result: JSONObject) -> str:
    """Return the label of the prompt of a result of promptfoo."""
    prompt = result.get("prompt") or {}
    return str(prompt.get("label") or result.get("promptIdx", ""))


def is_nuggets(content: Any) -> bool:
    """Return whether records are assignments of nuggets."""
    if not _are_records(content, "nuggets"):
        return False
    return all(isinstance(record["nuggets"], list) for record in content)


def table_of_nuggets(records: Sequence[JSONObject], path: str) -> Table:
    """Return the scores of answers by the nuggets that they support, as nuggetizer has them.

    The scores count all nuggets or the vital ones, and partial support as half or, strictly, as
    nothing. An answer without vital nuggets has 0.

    Raises:
        ValueError: a nugget has another importance or assignment.
    """
    rows = []
    for record in records:
        query = next((record[name] for name in NUGGET_QUERIES if name in record), None)
        support = [
            (nugget.get("importance"), _support_of(nugget, query, path))
            for nugget in record["nuggets"]
        ]
        every = [value for _, value in support]
        vital = [value for importance, value in support if importance == "vital"]
        values = {}
        for name, supports in (("vital", vital), ("all", every)):
            n_nuggets = max(1, len(supports))
            values[f"strict_{name}_score"] = supports.count(1.0) / n_nuggets
            values[f"{name}_score"] = sum(supports) / n_nuggets
        rows.append({"run": record.get("run_id"), "query_id": query, **values})
    names = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")
    return table_of_rows(rows, path, "query_id", names)


def _support_of(nugget: JSONObject, query: Any, path: str) -> float:
    """Return the degree to which an answer supports a nugget.

    Raises:
        ValueError: that, or the importance of the nugget, is not known.
    """
    assignment, importance = nugget.get("assignment"), nugget.get("importance")
    if assignment not in _SUPPORT or importance not in ("vital", "okay"):
        raise ValueError(
            f"{path}: a nugget of query {shown(query)} has importance {shown(importance)} and "
            f"assignment {shown(assignment)}; expected vital or okay, and "
            f"{shown_names(list(_SUPPORT))}"
        )
    return _SUPPORT[assignment]


def _are_records(content: Any, *names: str) -> bool:
    """Return whether something is a list of objects that have some names."""
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(row, Mapping) and row.keys() >= {*names} for row in content)


class Format(NamedTuple):
    """The files of a program.

    Attributes:
        program: the program that writes them.
        matches: returns whether the content of a file is of this program.
        read: returns its values.
    """

    program: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, str], Table]


FORMATS = (
    Format("inspect_ai", is_inspect, table_of_inspect),
    Format("lm-eval", is_lm_eval, table_of_lm_eval),
    Format("HELM", is_helm, table_of_helm),
    Format("OpenSearch", is_opensearch, table_of_opensearch),
    Format("SWE-bench", is_swe_bench, table_of_swe_bench),
    Format("DeepEval", is_deepeval, table_of_deepeval),
    Format("promptfoo", is_promptfoo, table_of_promptfoo),
    Format("nuggetizer", is_nuggets, table_of_nuggets),
    Format("EvalPlus", is_eval_plus, table_of_eval_plus),
)
