"""Systems with several runs in ``pt.lexirecall.Experiment``, beside ``irl.compare`` on the same runs."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyterrier as pt
import pytest

import ir_lexirecall as irl
from ir_lexirecall import LR, demo

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sparse]

NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
JUDGED = demo.qrels().groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
QRELS = JUDGED.rename(columns=NAMES)
TOPICS = pd.DataFrame({"qid": sorted(QRELS["qid"].unique()), "query": "text"})
RUNS = {
    "bm25": ["bm25"],
    "model": ["ql", "tfidf", "ql"],
    "other": ["tfidf", "bm25_rerank", "ql"],
}
METRICS = ["map", LR]


def results(name: str) -> pd.DataFrame:
    frame = demo.run(name).rename(columns=NAMES)
    return frame.assign(rank=frame.groupby("qid").cumcount())


def systems(kind: str, folder: Any = None) -> dict[str, Any]:
    """Return the runs of each system as frames, pipelines or files; one run is no list."""
    made: dict[str, Any] = {}
    for system, names in RUNS.items():
        runs = []
        for number, name in enumerate(names):
            frame = results(name)
            if kind == "pipelines":
                frame = pt.Transformer.from_df(frame)
            if kind == "files":
                path = folder / f"{system} {number}.res"
                pt.io.write_results(frame, str(path))
                frame = path
            runs.append(frame)
        made[system] = runs if len(runs) > 1 else runs[0]
    return made


def experiment(retr_systems: Any, **options: Any) -> Any:
    return pt.lexirecall.Experiment(
        retr_systems,
        TOPICS,
        QRELS,
        METRICS,
        **{"repeats": "seeds", "deterministic": "bm25"} | options,
    )


def compared(**options: Any) -> irl.Comparison:
    runs: dict[str, Any] = {
        name: [demo.run(run) for run in of_system]
        if len(of_system) > 1
        else demo.run(of_system[0])
        for name, of_system in RUNS.items()
    }
    by = {"map": "AP", "LexiRecall": "LR", "lexirecall": "lexirecall"}
    return irl.compare(
        JUDGED, runs, by, **{"repeats": "seeds", "deterministic": "bm25"} | options
    )


@pytest.mark.parametrize("kind", ["frames", "pipelines", "files"])
def test_numbers_are_those_of_compare(kind: str, tmp_path: Any) -> None:
    table = experiment(systems(kind, tmp_path), baseline="bm25", correction="holm")
    expected = compared(baseline="bm25")
    assert table["name"].tolist() == list(RUNS)
    means = expected.means().set_index(["criterion", "run"])["mean"]
    rows = expected.table().set_index(["criterion", "run_a"])
    for column, criterion in [("map", "map"), ("LexiRecall", "LexiRecall")]:
        assert table[column].tolist() == [means[criterion, run] for run in RUNS]
    columns = {
        "map": "map",
        "LexiRecall": "LexiRecall",
        "pref:lexirecall": "lexirecall",
    }
    for column, criterion in columns.items():
        for row, run in enumerate(RUNS):
            if run == "bm25":
                continue
            for ending, name in (
                ("+", "wins"),
                ("p-value", "p"),
                ("p-value corrected", "p_corrected"),
            ):
                assert table[f"{column} {ending}"][row] == rows[name][criterion, run]
    preferred = rows["difference"]["lexirecall"]
    assert table["pref:lexirecall"][1:].tolist() == pytest.approx(
        preferred[list(RUNS)[1:]].tolist()
    )
    assert table.attrs["comparison"].provenance["repeats"] == "seeds"


def test_values_per_topic_are_averages_over_runs() -> None:
    averages, values = experiment(systems("frames"), perquery="both", round=6)
    expected = compared().per_query("map")
    rows = values[values["measure"] == "map"].pivot(
        index="qid", columns="name", values="value"
    )
    for run in RUNS:
        found = rows[run][expected.index].to_numpy(dtype=float)
        assert found == pytest.approx(expected[run].to_numpy(), abs=1e-6)
        assert averages.set_index("name")["map"][run] == pytest.approx(
            expected[run].mean(), abs=1e-6
        )
    preferred = values[values["measure"] == "pref:lexirecall"]
    assert set(preferred["name"]) == set(RUNS)


@pytest.mark.slow
def test_a_list_of_systems_several_baselines_and_a_margin() -> None:
    named = systems("frames")
    table = experiment(
        list(named.values()), names=list(named), baseline=["bm25", "other"], margin=0.05
    )
    one = experiment(named, baseline="other", margin=0.05)
    for name in one:
        if (
            name != "name"
            and not name.startswith("pref:lexirecall")
            and name not in table
        ):
            expected = one[name].rename(f"{name} (other)")
            pd.testing.assert_series_equal(table[f"{name} (other)"], expected)
    assert "map verdict (corrected) (bm25)" in table


def test_samples_are_averaged_by_the_sign_test_of_preferences() -> None:
    options: dict[str, Any] = {
        "repeats": "samples",
        "deterministic": None,
        "baseline": "bm25",
    }
    table, expected = (
        experiment(systems("frames"), **options),
        compared(**options).table(),
    )
    of_preference = expected[expected["criterion"] == "lexirecall"]
    assert table["pref:lexirecall p-value"][1:].tolist() == of_preference["p"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"repeats": None, "deterministic": None},
            "system 'model' is a list of 3 runs; say what",
        ),
        ({"deterministic": None}, "run 'bm25' has one seed"),
        ({"deterministic": "bm24"}, "did you mean 'bm25'"),
        ({"preferences": "dominance"}, "leaves some rankings incomparable"),
        ({"predicted": QRELS}, "cannot be combined with predicted"),
        (
            {"test": lambda a, b: (0.0, 1.0), "baseline": 0},
            "your own test cannot use repeats",
        ),
        ({"dataframe": False}, "leave dataframe=False out"),
        ({"test": "wilcoxon"}, "needs the t-test"),
        ({"baseline": "bm2"}, "did you mean 'bm25'"),
    ],
)
def test_what_repeats_cannot_be_combined_with_is_refused(
    options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=r"^pt\.lexirecall\.Experiment: ") as error:
        experiment(systems("frames"), **options)
    assert message in str(error.value)


def test_two_systems_of_one_name_are_refused() -> None:
    runs = list(systems("frames").values())
    with pytest.raises(ValueError, match="repeats need systems of different names"):
        experiment(runs, names=["bm25", "model", "model"])


def test_a_system_called_as_a_repeat_of_another_is_refused() -> None:
    runs = list(systems("frames").values())
    name = "model, repeat 1"
    with pytest.raises(
        ValueError, match=f"'{name}': .* label of a repeat of 'model'; rename the run"
    ):
        experiment(runs, names=[name, "model", "other"], deterministic=name)
