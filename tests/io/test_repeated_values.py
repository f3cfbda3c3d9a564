"""Values of several repeats of one system."""

import numpy as np
import pandas as pd
import pytest

from ir_lexirecall.io.values import read_collections, read_values


def frame(repeats=(3, 3), column="seed", queries=8):
    """Return values of two runs, with a row per run, repeat and query."""
    rng = np.random.default_rng(0)
    rows = [
        (run, repeat, f"q{q}", rng.random())
        for run, number in zip(("new", "old"), repeats, strict=True)
        for repeat in range(number)
        for q in range(queries)
    ]
    return pd.DataFrame(rows, columns=["run", column, "query_id", "acc"])


def one_run(number):
    """Return values of one repeat, which differ by its number."""
    ids = [f"q{q}" for q in range(8)]
    return pd.DataFrame({"query_id": ids, "acc": [number / (q + 8) for q in range(8)]})


@pytest.mark.parametrize(
    "column", ["seed", "epoch", "repeat", "trial", "sample", "fold", "Seed"]
)
def test_values_are_averages_over_repeats(column):
    table = frame(column=column)
    read = read_values(table, repeats="samples")
    expected = table.groupby(["run", "query_id"])["acc"].mean()
    for row, run in enumerate(read.runs):
        for q, query in enumerate(read.query_ids):
            assert read.values["acc"][row, q] == pytest.approx(expected[run, query])
    assert [x.shape for x in read.repeats["acc"]] == [(3, 8), (3, 8)]
    assert read.measures == ["acc"]


def test_a_named_column_a_wide_table_files_and_lists_give_the_same(tmp_path):
    table = frame()
    expected = read_values(table, repeats="seeds").values["acc"]
    named = table.rename(columns={"seed": "number"})
    assert (
        read_values(named, repeats=("number", "seeds")).values["acc"] == expected
    ).all()
    wide = table.pivot(
        index=["seed", "query_id"], columns="run", values="acc"
    ).reset_index()
    assert (read_values(wide, repeats="seeds").values["value"] == expected).all()
    long = table.assign(measure="acc").rename(columns={"acc": "value"})
    assert (read_values(long, repeats="seeds").values["acc"] == expected).all()
    parts, lists = {}, {}
    for run, rows in table.groupby("run"):
        parts[run] = tmp_path / f"{run}.csv"
        rows.drop(columns="run").to_csv(parts[run], index=False)
        lists[run] = [
            one.drop(columns=["run", "seed"]) for _, one in rows.groupby("seed")
        ]
    assert (read_values(parts, repeats="seeds").values["acc"] == expected).all()
    assert (read_values(lists, repeats="seeds").values["acc"] == expected).all()


def test_a_query_column_is_found_by_its_ids_among_repeats():
    table = frame().rename(columns={"query_id": "item"})
    assert read_values(table, repeats="seeds").query_ids == [f"q{q}" for q in range(8)]


def test_unequal_repeats_and_deterministic_runs():
    read = read_values(frame((2, 5)), repeats="seeds")
    assert [len(x) for x in read.repeats["acc"]] == [2, 5]
    read = read_values(frame((3, 1)), repeats="seeds", deterministic="old")
    assert [len(x) for x in read.repeats["acc"]] == [3, 1]
    assert read_values(frame((3, 1)), repeats="samples").runs == ["new", "old"]


def test_repeats_of_collections():
    table = pd.concat([frame().assign(collection=name) for name in ("a", "b")])
    tables = read_collections(table, repeats="samples")
    assert [tables[name].values["acc"].shape for name in ("a", "b")] == [(2, 8), (2, 8)]


def without(table, row):
    return table.drop(index=row)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (frame(), {}, 'repeats="samples" (noise of each query) or repeats="seeds"'),
        (
            frame((1, 1)),
            {"repeats": "seeds"},
            "the column 'seed' is '0' in every row; leave repeats out, or name the column",
        ),
        (
            frame(column="number").assign(seed=7),
            {"repeats": "samples"},
            "the column 'seed' is '7' in every row",
        ),
        (
            frame((1, 1)).assign(seed=[3] * 8 + [4] * 8),
            {"repeats": "samples"},
            "there is one repeat of every run only",
        ),
        (
            frame(column="checkpoint"),
            {"repeats": "seeds"},
            "run 'new' has 3 rows for query 'q0', and no column is known to tell its repeats "
            "apart; name or add one, as in repeats=('COLUMN', 'seeds') (known: seed, ",
        ),
        (
            frame((3, 1), column="checkpoint").astype({"checkpoint": str}),
            {"repeats": "samples", "deterministic": "old"},
            "run 'new' has 3 rows for query 'q0', and no column is known",
        ),
        (
            frame((1, 1)).drop(columns="seed"),
            {"repeats": "samples"},
            "there is one repeat of every run only",
        ),
        (
            frame((1, 1)),
            {"repeats": ("seed", "seeds")},
            "the column 'seed' is '0' in every row",
        ),
        (frame((3, 1)), {"repeats": "seeds"}, "run 'old' has one seed"),
        (
            frame((2, 1)),
            {"repeats": "seeds", "deterministic": "old"},
            "run 'new' has 2 seeds; at least 3 are needed",
        ),
        (
            frame(),
            {"repeats": "seeds", "deterministic": "old"},
            "deterministic names 'old', which has 3 repeats",
        ),
        (frame(), {"repeats": "seeds", "deterministic": "odl"}, "did you mean 'old'?"),
        (frame(), {"deterministic": "old"}, "needs repeats="),
        (frame(), {"repeats": "sedes"}, "did you mean 'seeds'?"),
        (
            frame(),
            {"repeats": ("sede", "seeds")},
            "no column 'sede' to tell repeats apart",
        ),
        (frame(), {"repeats": 3}, "repeats must be 'samples' or 'seeds'"),
        (
            without(frame(), 3),
            {"repeats": "seeds"},
            "run 'new, repeat 0' for query 'q3' is missing",
        ),
        (
            frame().assign(acc=frame()["acc"].where(frame().index != 9)),
            {"repeats": "seeds"},
            "run 'new, repeat 1' for query 'q1' is missing",
        ),
        (
            frame().assign(fold=[0, 1] * 24),
            {"repeats": "seeds"},
            "seed, fold may tell repeats apart",
        ),
        (
            frame().assign(seed=frame()["seed"].where(frame().index != 9)),
            {"repeats": "seeds"},
            "run 'new' has repeats elsewhere, but none is named here",
        ),
        ({"new": [frame()], "old": frame()}, {}, "run 'new': a list of 1; say what"),
        (
            {
                "new": [one_run(1), one_run(2), one_run(3)],
                "new, repeat 1": one_run(4),
                "old": [one_run(5), one_run(6), one_run(7)],
            },
            {"repeats": "seeds", "deterministic": "new, repeat 1"},
            "run 'new, repeat 1': its name is also the label of a repeat of 'new'; rename the run",
        ),
    ],
)
def test_bad_repeats_are_refused(table, options, message):
    with pytest.raises(ValueError, match=r"^read_values: ") as error:
        read_values(table, **options)
    assert message in str(error.value)
