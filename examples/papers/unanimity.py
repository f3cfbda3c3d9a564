"""Metric unanimity on made-up values, for ``amigo_2018.py``: the paper's example and the properties that it proves."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from printed import Printed

from ir_lexirecall import evaluate
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.meta import Study


class FromTable(Measure):
    """A measure whose values are listed: that of the ranking whose first document has grade g is the g-th."""

    params = {"values": Param(str, "values in the order of grades", required=True)}

    def score(self, run: AlignedRun) -> Floats:
        listed = np.array([float(value) for value in self["values"].split()])
        value = np.zeros(len(run.judgments))
        first = run.rank == 1
        value[run.query[first]] = listed[run.grade[first].astype(int) - 1]
        return value


def example(count: Printed) -> None:
    """The paper's three measures of three systems."""
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    runs = {
        f"s{i}": {"q": {document: 1.0}} for i, document in enumerate("abc", start=1)
    }
    listed = {"m1": "1 .5 .2", "m2": ".8 .3 .4", "m3": "1 .2 .5"}
    measures = {name: FromTable(values=values) for name, values in listed.items()}
    table = (
        Study(measures, qrels, runs, progress=False).unanimity().set_index("measure")
    )
    print("\nMetric unanimity, the paper's example: three systems, three measures")
    print(table.to_string(float_format=lambda value: f"{value:.4f}"))
    count.compare(
        "metric unanimity of m1 in the example",
        0.415,
        float(table.loc["m1", "unanimity"]),
        digits=3,
    )


def properties(count: Printed) -> None:
    """Properties 1 to 4 of metric unanimity on made-up values, and whether RBU(p=1, e=0) is ERR-IA."""

    def of(**listed: str) -> pd.Series:
        qrels = {"q": {"a": 1, "b": 2, "c": 3}}
        runs = {
            f"s{i}": {"q": {document: 1.0}} for i, document in enumerate("abc", start=1)
        }
        measures = {name: FromTable(values=values) for name, values in listed.items()}
        return (
            Study(measures, qrels, runs, progress=False)
            .unanimity()
            .set_index("measure")["unanimity"]
        )

    listed = {"m1": "1 .5 .2", "m2": ".8 .3 .4", "m3": "1 .2 .5"}
    plain, copied = of(**listed), of(**listed, m4=listed["m3"])
    orders = [" ".join(order) for order in itertools.permutations((".1", ".2", ".3"))]
    rivals = {"m2": listed["m2"], "m3": listed["m3"]}
    of_orders = [of(m=order, **rivals)["m"] for order in orders]
    follows, constant = of(m=".9 .3 .4", **rivals)["m"], of(m=".5 .5 .5", **rivals)["m"]
    two = of(a="1 .5 .2", b="1 .5 .5")
    count.claim(
        f"Property 1 of MU: largest for a measure that follows all unanimous pairs ({follows:.4f}; of all orders {max(of_orders):.4f})",
        abs(follows - max(of_orders)) < 1e-9 and abs(follows - 1) < 1e-9,
    )
    share = float(np.mean([2.0**value for value in of_orders]))
    count.claim(
        f"Property 2 of MU: 0 for a constant measure ({constant:.4f}), and the ratio is 1 in the mean of all orders ({share:.4f})",
        abs(constant) < 1e-9 and abs(share - 1) < 1e-9,
    )
    count.claim(
        f"Property 3 of MU: not symmetric ({two['a']:.4f} of one measure beside another, {two['b']:.4f} the other way)",
        abs(two["a"] - two["b"]) > 1e-9,
    )
    count.claim(
        f"Property 4 of MU: a copy of another measure changes nothing ({plain['m1']:.4f}, {copied['m1']:.4f})",
        abs(plain["m1"] - copied["m1"]) < 1e-9,
    )
    rows = [("q", "a", 1, "t"), ("q", "b", 1, "t"), ("q", "c", 1, "u")]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id"]
    )
    names = ["RBU(p=1,e=0,max_rel=1)", 'IA(base="GERR(max_rel=1)")']
    rbu, err = evaluate(names, qrels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}).loc[
        "q", names
    ]
    count.claim(
        f"RBU(p=1, e=0) is ERR-IA ({rbu:.4f} and {err:.4f} of one ranking: RBU lacks ERR's 1/i)",
        abs(rbu - err) < 1e-9,
    )
