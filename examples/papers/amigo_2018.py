"""
Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018: ten constraints and metric unanimity
====================================================================================

Of 201 printed numbers (Table 1, which is 20 measures by ten constraints, and the example of metric unanimity) 175 are
reproduced with aspect relevance as the paper defines it. 183 are reproduced if no other document of the ranking may be about
the subtopic. Of 67 claims 26 hold, 14 fail and 27 cannot be decided.

- **How marks are made**: measures are the paper's formulas, with graded judgments where the formula allows them. A mark is
  *yes* if no counterexample was found among all short rankings and some random longer ones. Each difference from the paper
  has a counterexample or a reason.
- **Ten constraints**: RBU alone meets all ten only in the second reading. Saturation holds for RBU and ERR-IA only if the
  top grade satisfies with probability 1.
- **Metric unanimity** (Tables 2 and 3): the paper's 30 runs of the Web Track 2014 are not available here. The designs are
  repeated on made-up systems, and on the topics of DATA/web2014-diversity with one real run and systems made from it. In most
  designs the measures compared reach the largest possible value, so 27 claims cannot be decided. RBU is not strictly ahead of
  all others in any design that can tell: EU is level with it, and without the effort term both fall.
- **RBU(p=1, e=0) is not ERR-IA**, as the paper says: it lacks ERR's 1/i.
- **Section 6.5** is about 23 runs of the Dynamic Domain track, which are not available here.

"An Axiomatic Analysis of Diversity Evaluation Metrics: Introducing the Rank-Biased Utility Metric" (SIGIR 2018,
doi 10.1145/3209978.3210024)::

    python examples/papers/amigo_2018.py
    python examples/papers/amigo_2018.py DATA --full --plots out
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import unanimity
from printed import Printed, drawn, new_figure, save

from ir_lexirecall import evaluate
from ir_lexirecall._util.arrays import Ints
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures import novelty
from ir_lexirecall.measures.novelty import NRBP_G
from ir_lexirecall.meta import Study, axioms, properties

CONSTRAINTS = {  # as the paper shortens them
    "PRI": "priority",
    "DEEP": "deepness",
    "DEEPTH": "deepness threshold",
    "CLOSETH": "closeness threshold",
    "CONF": "confidence",
    "ASPDIV": "query aspect diversity",
    "RED": "redundancy",
    "MRED": "monotonic redundancy",
    "SAT": "aspect relevance saturation",
    "ASPREL": "aspect relevance",
}
NARROWER = ("ASPREL*", "aspect relevance, unseen elsewhere")  # beside ASPREL as printed
TABLE_1 = {  # + satisfied, in the order of CONSTRAINTS
    "P@k": "--++------",
    "RR": "--+-------",
    "AP": "---+------",
    "nDCG@k": "++-+------",
    "ERR@k": "+++-------",
    "RBP": "+++-------",
    "P-IA@k": "--++-----+",
    "RR-IA@k": "--+-----++",
    "AP-IA": "++-+-----+",
    "nDCG-IA@k": "++-+-+---+",
    "ERR-IA@k": "+++--+++++",
    "RBP-IA": "++++-+---+",
    "S-Recall@k": "--+-----+-",
    "S-RR@100%": "--+-----+-",
    "NRBP": "+++---+---",
    "D#-Measure@k": "++-+-+---+",
    "alpha-nDCG@k": "++++-++---",
    "EU": "+++--++--+",
    "CT@k": "+++--++-++",
    "RBU@k": "++++++++++",
}
MISREAD = "; the paper's text says the opposite of its table"
FREE_BELOW = (
    "a document below about t is worth less after it; unseen elsewhere it holds"
)
OWN_IDEAL = (
    "normalised by the relevant documents of each subtopic; unseen elsewhere it holds"
)
WEAK_ABOVE = "a weak document above devalues a strong one below by 1-alpha"
REASONS = {  # of the differences; the counterexample follows where there is one
    (
        "RR",
        "SAT",
    ): "it meets the condition; the paper gives measures of one aspect no mark for diversity",
    (
        "nDCG@k",
        "ASPDIV",
    ): "it meets the condition; the paper gives measures of one aspect no mark for diversity",
    (
        "ERR@k",
        "ASPDIV",
    ): "it meets the condition; the paper gives measures of one aspect no mark for diversity",
    (
        "ERR@k",
        "SAT",
    ): "it meets the condition; the paper gives measures of one aspect no mark for diversity",
    (
        "RBP",
        "ASPDIV",
    ): "it meets the condition; the paper gives measures of one aspect no mark for diversity",
    ("RBP", "CLOSETH"): f"from p > 3/4 on{MISREAD}",
    ("AP-IA", "PRI"): "AP is not defined for grades, and has no mark itself",
    ("AP-IA", "DEEP"): "AP is not defined for grades, and has no mark itself",
    ("NRBP", "PRI"): f"{WEAK_ABOVE}; for binary relevance it holds",
    ("alpha-nDCG@k", "PRI"): f"{WEAK_ABOVE}; for binary relevance it holds",
    ("alpha-nDCG@k", "CLOSETH"): "alpha=.5; it holds for alpha <= .25",
    ("alpha-nDCG@k", "ASPDIV"): WEAK_ABOVE,
    ("EU", "PRI"): f"{WEAK_ABOVE}; for binary relevance it holds",
    ("EU", "CONF"): f"every document costs e{MISREAD}",
    ("EU", "ASPDIV"): WEAK_ABOVE,
    ("CT@k", "PRI"): f"{WEAK_ABOVE}; for binary relevance it holds",
    ("CT@k", "ASPDIV"): WEAK_ABOVE,
    ("RR-IA@k", "ASPREL"): FREE_BELOW,
    ("AP-IA", "ASPREL"): OWN_IDEAL,
    ("nDCG-IA@k", "ASPREL"): OWN_IDEAL,
    ("ERR-IA@k", "ASPREL"): FREE_BELOW,
    ("D#-Measure@k", "ASPREL"): FREE_BELOW,
    ("EU", "ASPREL"): FREE_BELOW,
    ("CT@k", "ASPREL"): FREE_BELOW,
    ("RBU@k", "ASPREL"): FREE_BELOW,
    ("CT@k", "RED"): "both subtopics are full: a further document is worth nothing",
}
AT_CEILING = "what is compared, or most variants of the design, have the largest possible metric unanimity"
TABLE_2 = {  # the paper's values by design: RBU, the best of all others, and of recall of subtopics
    "official": "RBU(p=.99) .8024, then .7956; S-Recall last, .3965 to .2478",
    "cut at 0..length": "RBU(p=.99) .8568, then .7734; S-Recall last, .4238 to .3007",
    "cut at 0..50": "RBU .9808, then .7709 (also RBU with e=0); S-Recall last, .5137 to .4831",
}


class AlphaDCG(novelty.Novelty, register=False):
    """The paper's alpha-DCG for grades; its ideal is the same for a topic."""

    NAME = "AlphaDCG"


MEASURES = {  # without a cutoff, which the paper takes as deep, but for P and S-Recall
    "P@k": "P@20",
    "RR": "RR",
    "AP": "AP",
    "nDCG@k": "nDCG",
    "ERR@k": "GERR(max_rel=2)",
    "RBP": "CWL_RBP(phi=0.8,max_rel=2)",
    "P-IA@k": "IA(base='P@20')",
    "RR-IA@k": "IA(base='RR')",
    "AP-IA": "IA(base='AP')",
    "nDCG-IA@k": "IA(base='nDCG')",
    "ERR-IA@k": "IA(base='GERR(max_rel=2)')",
    "RBP-IA": "IA(base='CWL_RBP(phi=0.8,max_rel=2)')",
    "S-Recall@k": "StRecall@20",
    "S-RR@100%": "SRR",
    "NRBP": NRBP_G(),
    "D#-Measure@k": "DSharp",
    "alpha-nDCG@k": AlphaDCG(),
    "EU": "EU",
    "CT@k": "CT",
    "RBU@k": "RBU(p=0.8)",
}
PARAMETERS = {  # what the marks depend on
    "RBU(p=0.76)": "RBU(p=0.76)",
    "RBU(p=0.5)": "RBU(p=0.5)",
    "RBU(e=0)": "RBU(e=0,p=0.8)",
    "RBP(p=.76)": "CWL_RBP(phi=0.76,max_rel=2)",
    "RBP(p=.5)": "CWL_RBP(phi=0.5,max_rel=2)",
    "alpha-nDCG(alpha=.25)": AlphaDCG(alpha=0.25),
    "NRBP(p=.99)": NRBP_G(p=0.99),
}
EFFORTS = (0.0, 0.001, 0.05, 0.1, 0.5)
OF_NDEVAL = {
    "NRBP, binary": "NRBP",
    "alpha-nDCG, binary": "alpha_nDCG@20",
}  # ndeval's, beside the graded ones of Table 1
BINARY = {name: MEASURES[name] for name in ("AP", "NRBP", "alpha-nDCG@k", "EU", "CT@k")}


# -- Table 1 ---------------------------------------------------------------------------------------


def marks(
    measures: dict, cases: int, size: int, grades: tuple[int, ...] = (0, 1, 2)
) -> pd.DataFrame:
    """Mark and counterexample, a row per measure and constraint."""
    table = axioms(measures, grades=grades, size=size, cases=cases)
    short = {
        name: abbreviation for abbreviation, name in [*CONSTRAINTS.items(), NARROWER]
    }
    table = table[table["property"].isin(short)]
    marked = table.assign(
        constraint=table["property"].map(short),
        mark=np.where(table["result"] == "holds", "+", "-"),
    )
    return marked.set_index(["measure", "constraint"])


def table_1(cases: int, size: int, plots: Path | None, count: Printed) -> int:
    """Compare Table 1 mark by mark.

    Returns:
        How many more marks agree where aspect relevance is read as unseen elsewhere.
    """
    meaning = properties().set_index("property")["meaning"]
    print("The ten constraints, as they are checked")
    for short, name in [*CONSTRAINTS.items(), NARROWER]:
        print(f"  {short:8} {name}: {meaning[name]}")
    ours = marks(MEASURES, cases, size)
    narrower = compare_marks(ours, count)
    saturation(count)
    other = marks(PARAMETERS, cases, size)["mark"].unstack()
    print("\n  The same with other parameters")
    print_marks(other, PARAMETERS)
    ndeval = marks(OF_NDEVAL, cases, size)["mark"].unstack()
    print("  ndeval's measures, for which every grade above 0 is the same")
    print_marks(ndeval, OF_NDEVAL)
    binary = marks(BINARY, cases, size, (0, 1))["mark"].unstack()
    priority = ", ".join(f"{name} {binary.loc[name, 'PRI']}" for name in BINARY)
    print(f"\n  Priority where relevance is binary: {priority}")
    claims_of_table_1(ours["mark"].unstack(), other, count)
    if drawn(plots):
        picture_of_table_1(ours["mark"].unstack(), plots)
    return narrower


def compare_marks(ours: pd.DataFrame, count: Printed) -> int:
    """Print Table 1 beside our marks; return how many more agree in the narrower reading."""
    print(
        "\nTable 1: printed mark, then ours where it is another one; ASPREL* is the same printed mark beside the narrower reading\n"
    )
    print(f"{'':14}" + "".join(f"{short:9}" for short in [*CONSTRAINTS, NARROWER[0]]))
    examples, narrower, failing = [], 0, []
    for name, printed in TABLE_1.items():
        cells = []
        for paper, short in zip(printed, CONSTRAINTS, strict=True):
            mark, example = ours.loc[(name, short), ["mark", "counterexample"]]
            why = REASONS.get((name, short), "no reason known")
            is_same = count.compare(f"Table 1, {name}, {short}", paper, mark, why=why)
            cells.append(paper if is_same else f"{paper} {mark}")
            if not is_same and example:
                examples.append(f"{name}, {short}: {example}")
        as_printed, unseen = (
            ours.loc[(name, s), "mark"] for s in ("ASPREL", NARROWER[0])
        )
        narrower += (unseen == printed[-1]) - (as_printed == printed[-1])
        if as_printed != printed[-1]:
            failing.append(name)
        cells.append(unseen if unseen == printed[-1] else f"{printed[-1]} {unseen}")
        print(f"{name:14}" + "".join(f"{cell:9}" for cell in cells).rstrip())
    print(
        "\n  Counterexamples (labels from rank 1 on, 1+0 for two subtopics; behind the bar what is not retrieved)"
    )
    for line in examples:
        print(f"    {line}")
    marked = sum(row[-1] == "+" for row in TABLE_1.values())
    print(
        f"\n  ASPREL as printed lets documents below be about t and t', too: then {len(failing)} of the {marked} printed marks + fail, RBU's among them"
    )
    print(
        f"    ({', '.join(failing)}). ASPREL*, nothing else about them anywhere, is a narrower constraint; all of those marks agree with it."
    )
    return narrower


def print_marks(table: pd.DataFrame, names: Iterable[str]) -> None:
    """Print marks of measures, a row each."""
    for name in names:
        cells = (f"{table.loc[name, short]:9}" for short in [*CONSTRAINTS, NARROWER[0]])
        print(f"    {name:22}" + "".join(cells).rstrip())


def claims_of_table_1(ours: pd.DataFrame, other: pd.DataFrame, count: Printed) -> None:
    """Check what the text concludes from Table 1."""
    readings = {NARROWER[0]: "ASPREL as printed", "ASPREL": "ASPREL unseen elsewhere"}
    for left_out, reading in readings.items():
        meets_all = ours.eq("+").drop(columns=left_out).all(axis=1)
        count.claim(
            f"RBU is the only measure that meets all ten constraints, {reading}",
            list(meets_all.index[meets_all]) == ["RBU@k"],
        )
    failed = other.drop(columns="ASPREL").loc["RBU(e=0)"]
    count.claim(
        "RBU with e=0 fails confidence, and nothing else, ASPREL unseen elsewhere",
        list(failed.index[failed == "-"]) == ["CONF"],
    )
    count.claim(
        "RBU meets the closeness threshold from p > 3/4 on, not at p=.5",
        other.loc["RBU(p=0.76)", "CLOSETH"]
        == "+"
        != other.loc["RBU(p=0.5)", "CLOSETH"],
    )


def picture_of_table_1(ours: pd.DataFrame, plots: Path | None) -> None:
    """Draw our marks, with the printed ones where they differ."""
    axes = new_figure(8, 6).add_subplot()
    columns = [*CONSTRAINTS, NARROWER[0]]
    shown = ours.loc[list(TABLE_1), columns]
    printed = pd.DataFrame(
        [[*row, row[-1]] for row in TABLE_1.values()],
        index=shown.index,
        columns=shown.columns,
    )
    colour = np.where(shown == printed, np.where(shown == "+", 0.75, 0.5), 0.25)
    axes.imshow(colour, cmap="PiYG", vmin=0, vmax=1, aspect="auto")
    for (i, j), mark in np.ndenumerate(shown.to_numpy()):
        text = mark if printed.iat[i, j] == mark else f"{mark} / {printed.iat[i, j]}"
        axes.text(j, i, text, ha="center", va="center", fontsize="small")
    axes.set_title("constraints met; ours / printed where they differ")
    axes.set_xticks(range(len(columns)), columns, rotation=45)
    axes.set_yticks(range(len(TABLE_1)), list(TABLE_1))
    save(axes, plots, "amigo_2018_table_1")


def saturation(count: Printed) -> None:
    """What a second document about a subtopic is worth after a first one of the top grade, by its probability to satisfy."""
    rows = [("q", "a", 1, "t"), ("q", "b", 1, "t"), ("q", "c", 1, "u")]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id"]
    )
    runs = {"one": {"q": {"a": 2.0}}, "two": {"q": {"a": 2.0, "b": 1.0}}}
    print(
        "\n  Saturation (SAT) asks for a top grade that satisfies with probability 1: a document about a subtopic, then a second one about it"
    )
    held = {}
    for family, measure in {
        "RBU": "RBU({})",
        "ERR-IA": 'IA(base="GERR(max_rel=1,{})")',
    }.items():
        for mapping, probability in (("exp", "1/2"), ("linear", "1")):
            text = measure.format(f"gain='{mapping}'")
            first, second = (
                float(evaluate(text, qrels, run).loc["q", text])
                for run in runs.values()
            )
            held[family, mapping] = second <= first
            print(
                f"    {text}: top grade satisfies with probability {probability}: {first:.4f}, then {second:.4f}: {'holds' if second <= first else 'fails'}"
            )
    print("    With gain='exp', the default, no finite grade has probability 1.")
    for family in ("RBU", "ERR-IA"):
        count.claim(
            f"SAT holds for {family} where the top grade satisfies with probability 1 (gain='linear')",
            held[family, "linear"],
        )
        count.claim(f"SAT holds for {family} with gain='exp'", held[family, "exp"])


# -- metric unanimity ------------------------------------------------------------------------------


def variants() -> dict[str, str]:
    """The measures of Table 2 with all their parameters, by label; the label begins with the family."""
    listed = {
        "AP": "AP",
        "RR": "RR",
        "AP-IA": "IA(base='AP')",
        "RR-IA": "IA(base='RR')",
    }
    for k in (10, 20, 50, 100, 1000):
        for name, base in {
            "P": f"P@{k}",
            "ERR": f"GERR(max_rel=4)@{k}",
            "nDCG": f"nDCG@{k}",
        }.items():
            listed |= {f"{name}@{k}": base, f"{name}-IA@{k}": f"IA(base='{base}')"}
        listed[f"S-Recall@{k}"] = f"StRecall@{k}"
        listed |= {
            f"alpha-nDCG(a={a})@{k}": f"alpha_nDCG(alpha={a})@{k}"
            for a in (0.1, 0.25, 0.5, 0.75)
        }
    for p in (0.8, 0.9, 0.99):
        listed[f"RBP(p={p})"] = f"CWL_RBP(phi={p},max_rel=4)"
        listed |= {
            f"NRBP(p={p},a={a})": f"NRBP(alpha={a},beta={p})"
            for a in (0.1, 0.25, 0.5, 0.75)
        }
        listed |= {f"RBU(p={p},e={e})": f"RBU(p={p},e={e},max_rel=4)" for e in EFFORTS}
    for a in (0.1, 0.25, 0.5, 0.75):
        listed |= {
            f"EU(a={a},e={e})": f"EU(alpha={a},e={e},max_rel=4)" for e in EFFORTS
        }
    return listed


def made_up(
    topics: int, systems: int, depth: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, dict]:
    """Few graded judgments for three to six subtopics, and systems that see a document's grades through noise."""
    rows, runs = [], {f"system {s:02}": {} for s in range(systems)}
    for q in range(topics):
        subtopics = int(rng.integers(3, 7))
        grade = rng.choice(
            [0, 1, 2, 3, 4],
            p=[0.985, 0.008, 0.004, 0.002, 0.001],
            size=(depth, subtopics),
        )
        documents, aspects = np.nonzero(grade)
        names = [f"d{i:04}" for i in range(depth)]
        rows += [
            (f"q{q}", names[d], int(grade[d, t]), f"t{t}")
            for d, t in zip(documents, aspects, strict=True)
        ]
        for s, run in enumerate(runs.values()):
            taste = rng.dirichlet(
                np.ones(subtopics)
            )  # which subtopics a system understands
            score = grade @ taste * (0.5 + 3 * s / systems) + rng.normal(0, 1, depth)
            best = np.argsort(-score)[: rng.integers(depth // 10, depth)]
            run[f"q{q}"] = {names[i]: float(score[i]) for i in best}
    return pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id"]
    ), runs


def from_one_run(
    judgments: Judgments, run: AlignedRun, systems: int, rng: np.random.Generator
) -> dict[str, AlignedRun]:
    """The run, and systems that rank its documents again: by its ranks, with noise, and more or less knowledge of grades."""
    runs = {"the run": run}
    for s in range(1, systems):
        depth = int(run.depth.max())
        score = -np.log(np.arange(1, depth + 1))[None, :] + rng.normal(
            0, rng.uniform(0.2, 2), (len(judgments), depth)
        )
        score[run.query, run.rank - 1] += rng.uniform(-0.2, 0.6) * run.grade
        score[np.arange(depth) >= run.depth[:, None]] = -np.inf
        rank = np.empty_like(score, dtype=np.int64)
        np.put_along_axis(
            rank,
            np.argsort(-score, axis=1, kind="stable"),
            np.arange(1, depth + 1)[None, :],
            axis=1,
        )
        moved = rank[run.query, run.rank - 1]
        order = np.lexsort((moved, run.query))
        runs[f"system {s:02}"] = replace(
            run,
            query=run.query[order],
            doc=run.doc[order],
            rank=moved[order],
            ties=None,
        )
    return runs


def cut(run: AlignedRun, depth: Ints) -> AlignedRun:
    """The first documents of a run, another number for each topic."""
    keep = run.rank <= depth[run.query]
    return replace(
        run,
        query=run.query[keep],
        doc=run.doc[keep],
        rank=run.rank[keep],
        depth=np.minimum(run.depth, depth),
        ties=None,
    )


def simulated(qrels: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Every grade r replaced by a random one of 0..r, and random weights of the subtopics."""
    pairs = qrels[["query_id", "subtopic_id"]].drop_duplicates()
    weights = pairs.assign(weight=rng.random(len(pairs)) + 1e-9)
    return qrels.assign(
        relevance=rng.integers(0, qrels["relevance"].clip(lower=0) + 1)
    ).merge(weights)


def best_with(values: pd.Series, family: str, e: float) -> float:
    """The best variant of RBU or EU with an effort."""
    return float(values[values.index.str.match(rf"{family}\(.*e={e}\)$")].max())


def unanimity_by_design(
    what: str,
    qrels: pd.DataFrame,
    runs_for,
    seed: int,
    count: Printed,
    plots: Path | None,
) -> None:
    """Table 2's three designs on one collection: who leads, and who comes last?"""
    table = unanimity_table(what, qrels, runs_for, seed, count)
    family = table.index.str.extract(r"^([^@(]+)", expand=False)
    best = table.groupby(family).max().sort_values("official", ascending=False)
    print(f"\nTable 2, {what}: the best variant of every family by metric unanimity")
    print(best.to_string(float_format=lambda value: f"{value:.4f}"))
    designs = [
        Design(f"Table 2, {what}, {name}", table[name], family, count) for name in table
    ]
    verdicts = []  # by design: whether RBU leads
    for name, design in zip(table, designs, strict=True):
        values = design.values
        print(
            f"  {name}: first {values.idxmax()} {values.max():.4f}; last {values.idxmin()} {values.min():.4f}; the paper: {TABLE_2[name]}"
        )
        verdicts.append(design.rbu_leads())
        if name == "official":
            design.section_6_2()
        if name == "cut at 0..50":
            design.deep_cutoffs()
        design.others(best[name])
    rbus_lead(what, designs, verdicts, count)
    efforts_of(what, table, verdicts)
    if drawn(plots):
        picture_of_table_2(what, best, plots)


def unanimity_table(
    what: str, qrels: pd.DataFrame, runs_for, seed: int, count: Printed
) -> pd.DataFrame:
    """Return metric unanimity: a row per variant, a column per design."""
    rng = np.random.default_rng(seed)
    tables = {}
    for design in TABLE_2:
        judged = qrels if design == "official" else simulated(qrels, rng)
        judgments = Judgments.from_qrels(judged)
        runs = runs_for(judgments)
        if design == "official":
            order_at_20(what, runs, count)
            official_order(what, runs, count)
        else:
            runs = cut_at_random(runs, None if "length" in design else 50, rng)
        study = Study(variants(), judgments, runs, progress=False)
        tables[design] = study.unanimity().set_index("measure")["unanimity"]
    return pd.DataFrame(tables)


def cut_at_random(
    runs: dict[str, AlignedRun], most: int | None, rng: np.random.Generator
) -> dict[str, AlignedRun]:
    """Return runs whose rankings are cut at random lengths, of their own length or `most` at most."""
    longest = {
        name: run.depth if most is None else np.minimum(run.depth, most)
        for name, run in runs.items()
    }
    return {
        name: cut(run, rng.integers(0, longest[name] + 1)) for name, run in runs.items()
    }


@dataclass(frozen=True)
class Design:
    """Metric unanimity of all variants in one design.

    Attributes:
        name: of the design, at the beginning of claims.
        values: of the variants, by label.
        family: of each variant.
        count: what claims are counted in.
    """

    name: str
    values: pd.Series
    family: pd.Series
    count: Printed

    @property
    def effort(self) -> pd.Series:
        """Variants of RBU with an effort."""
        is_rbu = self.family == "RBU"
        return self.values[is_rbu & ~self.values.index.str.endswith("e=0.0)")]

    @property
    def rest(self) -> pd.Series:
        """Variants of all other families."""
        return self.values[self.family != "RBU"]

    def ahead_of(self, text: str, first: float, second: float) -> None:
        """Claim that one value is above another; at the ceiling that cannot be decided."""
        full, variants_of = int((self.values > 1 - 1e-9).sum()), len(self.values)
        if full > variants_of / 2 or min(first, second) > 1 - 1e-9:
            self.count.cannot_tell(
                f"{text} ({full} of {variants_of} variants have the largest possible value)",
                AT_CEILING,
            )
        else:
            self.count.claim(
                f"{text} ({first:.4f}, {second:.4f})", first > second + 1e-9
            )

    def rbu_leads(self) -> bool | None:
        """Claim that RBU is strictly ahead of all others, and return whether it is."""
        rest, first = self.rest, self.effort.max()
        level = sorted(
            {
                label.split("(")[0].split("@")[0]
                for label in rest.index[rest >= first - 1e-9]
            }
        )
        self.ahead_of(
            f"{self.name}: RBU is strictly ahead of all other measures, the best of which are {', '.join(level) or rest.idxmax()}",
            first,
            rest.max(),
        )
        return self.count.claims[-1].holds

    def others(self, best: pd.Series) -> None:
        """Claim what the text says of deep cutoffs, of who comes last, and of persistence."""
        values = self.values
        at = []
        for name in ("ERR", "nDCG", "ERR-IA", "nDCG-IA", "alpha-nDCG"):
            is_of = values.index.str.startswith(f"{name}@") | values.index.str.match(
                rf"{name}\(.*@"
            )
            of = values[is_of]
            at.append([of[of.index.str.endswith(k)].max() for k in ("@1000", "@10")])
        self.ahead_of(
            f"{self.name}: cutoff 1000 is ahead of cutoff 10 for ERR, nDCG, alpha-nDCG and the intent-aware ones",
            *min(at, key=lambda pair: pair[0] - pair[1]),
        )
        last = ["S-Recall", "RR"]
        self.ahead_of(
            f"{self.name}: S-Recall or RR comes last of the families",
            best.drop(last).min(),
            best[last].min(),
        )
        effort = self.effort
        high, low = (
            effort[effort.index.str.contains(p)].max() for p in ("p=0.99", r"p=0.8,")
        )
        self.ahead_of(f"{self.name}: RBU with p=.99 is ahead of p=.8", high, low)

    def section_6_2(self) -> None:
        """Check what the text says of families and parameters, by the judgments as they are."""
        name, values = self.name, self.values
        rbp = [values[f"RBP(p={p})"] for p in (0.99, 0.8)]
        self.ahead_of(f"{name}, Section 6.2: RBP with p=.99 is ahead of p=.8", *rbp)
        pairs = [
            ("AP-IA", "AP"),
            ("RR-IA", "RR"),
            ("P-IA@20", "P@20"),
            ("nDCG-IA@20", "nDCG@20"),
        ]
        below = [
            plain for aware, plain in pairs if values[aware] < values[plain] - 1e-9
        ]
        exceptions = f" (not {', '.join(below)})" if below else ""
        self.count.claim(
            f"{name}, Section 6.2: intent-aware forms are at least as unanimous as plain ones{exceptions}",
            not below,
        )
        least = min(best_with(values, "RBU", e) for e in EFFORTS)
        self.ahead_of(
            f"{name}, Section 6.2: RBU is first with every e", least, self.rest.max()
        )
        rivals = values[self.family.isin(["EU", "ERR-IA"])].max()
        self.ahead_of(
            f"{name}, Section 6.3: no single constraint decides, RBU is above EU and ERR-IA",
            values[self.family == "RBU"].max(),
            rivals,
        )

    def deep_cutoffs(self) -> None:
        """Check that cutoffs beyond the length of all lists change nothing."""
        values = self.values
        gap = max(
            abs(values[f"{measure}@50"] - values[f"{measure}@{k}"])
            for measure in ("nDCG", "ERR", "nDCG-IA", "ERR-IA")
            for k in (100, 1000)
        )
        self.count.claim(
            f"{self.name}, Section 6.3: cutoffs of 50 and more are level", gap < 1e-9
        )


def rbus_lead(
    what: str, designs: list[Design], verdicts: list[bool | None], count: Printed
) -> None:
    """Check that RBU's lead grows over the designs."""
    leads = [float(design.effort.max() - design.rest.max()) for design in designs]
    shown = ", ".join(f"{lead:+.4f}" for lead in leads)
    text = f"Section 6.3, {what}: RBU's lead grows over the designs ({shown}; printed .0068, .0834, .2099)"
    if None in verdicts:
        count.cannot_tell(text, AT_CEILING)
    else:
        count.claim(text, 0 < leads[0] < leads[1] < leads[2])


def efforts_of(what: str, table: pd.DataFrame, verdicts: list[bool | None]) -> None:
    """Print the best RBU and EU by effort, and in how many designs RBU leads."""
    print(f"\n  {what}: the best RBU and EU by effort e")
    rows = [
        {
            f"{name}, e={e}": best_with(values, name, e)
            for e in EFFORTS
            for name in ("RBU", "EU")
        }
        for _, values in table.items()
    ]
    efforts = pd.DataFrame(rows, index=pd.Index(list(table), name="design"))
    text = efforts.to_string(float_format=lambda value: f"{value:.4f}")
    print("    " + text.replace("\n", "\n    "))
    is_without = efforts.columns.str.endswith("e=0.0")
    falls = efforts.loc[:, ~is_without].max(axis=1) - efforts.loc[:, is_without].max(
        axis=1
    )
    decided = [verdict for verdict in verdicts if verdict is not None]
    print(
        f"    RBU strictly ahead of all others: in {sum(decided)} of the {len(decided)} designs that can tell, of {len(verdicts)}."
    )
    fall = ", ".join(f"{value:.4f}" for value in falls)
    print(f"    From e > 0 to e = 0 the best of RBU and EU falls by {fall}.")


def picture_of_table_2(what: str, best: pd.DataFrame, plots: Path | None) -> None:
    """Draw the best variant of every family by design."""
    axes = new_figure(7, 4.5).add_subplot()
    for design in best:
        axes.plot(best[design], range(len(best)), "o", label=design)
    axes.set_yticks(range(len(best)), list(best.index))
    axes.invert_yaxis()
    axes.set(xlabel="metric unanimity, best variant", title=what)
    axes.legend()
    save(
        axes, plots, f"amigo_2018_table_2_{'web_2014' if 'Web' in what else 'made_up'}"
    )


def official_order(what: str, runs: dict[str, AlignedRun], count: Printed) -> None:
    """Check which of the official measures is first, and what RBU's persistence does."""
    official = {"AP-IA": "IA(base='AP')", "alpha-nDCG": "alpha_nDCG(alpha=0.5)@20"}
    official |= {"ERR-IA": "IA(base='GERR(max_rel=4)@20')", "P-IA": "IA(base='P@20')"}
    official |= {"S-Recall": "StRecall@20"}
    rbu = {f"RBU(p={p})": f"RBU(p={p},max_rel=4)@20" for p in (0.8, 0.9, 0.99)}
    judgments = next(iter(runs.values())).judgments
    table = Study({**official, **rbu}, judgments, runs, progress=False).unanimity()
    value = table.set_index("measure")["unanimity"]
    first, rest = value["AP-IA"], value[list(official)[1:]].max()
    count.claim(
        f"Section 6.4, {what}: AP-IA is first of the official measures ({first:.4f}, {rest:.4f})",
        first > rest + 1e-9,
    )
    rising = value[list(rbu)].tolist()
    count.claim(
        f"Section 6.4, {what}: metric unanimity rises with RBU's p ({', '.join(f'{v:.4f}' for v in rising)})",
        rising[0] < rising[1] < rising[2],
    )


def of_single_rankings(count: Printed) -> None:
    """Check what the text says of single rankings, and note slips of the text."""
    rows = [
        ("q", "a", 1, "t"),
        ("q", "b", 1, "t"),
        ("q", "b", 1, "u"),
        ("q", "c", 1, "u"),
    ]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id"]
    )
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    ratios = []
    for scale in (2, 20, 10**6):  # gains of 1 / scale
        names = [
            f"RBU(p=0.8,e=0,gain='linear',max_rel={scale},normalize=True)",
            f"IA(base=\"CWL_RBP(phi=0.8,gain='linear',max_rel={scale})\")",
        ]
        rbu, rbp = evaluate(names, qrels, run).loc["q", names]
        ratios.append(rbu / rbp)
    count.claim(
        "Section 5: RBU with e=0 approaches RBP-IA for small gains (their ratios "
        f"{', '.join(f'{ratio:.6f}' for ratio in ratios)})",
        ratios[0] < ratios[1] < ratios[2] and abs(ratios[2] - 1) < 1e-5,
    )
    name = "RBU(p=1,e=0.1,gain='linear',max_rel=10)"
    value = float(evaluate(name, {"q": {"a": 1}}, {"q": {"a": 1.0}}).loc["q", name])
    count.claim(
        "Section 5: with e = .1 and r = .1 a document gains nothing", abs(value) < 1e-12
    )
    both = {"q": {"b": 2.0, "x": 1.0}}
    values = [
        float(evaluate("IA(base='P@2')", qrels, run_of).iloc[0, 0])
        for run_of in (both, {"q": {"a": 2.0, "c": 1.0}})
    ]
    count.claim(
        "Footnote 3: P-IA depends on the number of relevant documents over all aspects alone",
        abs(values[0] - values[1]) < 1e-12,
    )
    for text in (
        "RBU with e > 0 is above CT and ACT",
        "RBU without e is below them",
        "P@Recall and ERR's means are less unanimous",
    ):
        count.cannot_tell(
            f"Section 6.5, Table 3: {text}",
            "the 23 runs of Dynamic Domain are not at hand",
        )
    count.slip(
        "Footnote 4 prints 1/N + 2/N for AP-IA@2; the precision at the second document is 2/2"
    )
    count.slip(
        "Section 3.2 defines relevant and irrelevant documents with their relevances exchanged"
    )
    count.slip(
        "The appendix's proof of ASPDIV takes a larger sum over aspects for a larger value of each"
    )


def order_at_20(what: str, runs: dict[str, AlignedRun], count: Printed) -> None:
    """Section 6.4: the official measures and RBU at 20, by metric unanimity among themselves, with and without effort."""
    others = {
        "alpha-nDCG": "alpha_nDCG(alpha=0.5)@20",
        "ERR-IA": "IA(base='GERR(max_rel=4)@20')",
    }
    others |= {"P-IA": "IA(base='P@20')", "S-Recall": "StRecall@20"}
    judgments = next(iter(runs.values())).judgments
    print(f"\nSection 6.4, k = 20, {what}: metric unanimity among these measures")
    for text, efforts in {"e = 0 to .5": EFFORTS, "e = 0 alone": EFFORTS[:1]}.items():
        rbu = {
            f"RBU(p={p},e={e:g})": f"RBU(p={p},e={e},max_rel=4)@20"
            for p in (0.8, 0.9, 0.99)
            for e in efforts
        }
        value = (
            Study({**others, **rbu}, judgments, runs, progress=False)
            .unanimity()
            .set_index("measure")["unanimity"]
        )
        families = {
            "RBU, least": value[list(rbu)].min(),
            **value[list(others)].to_dict(),
        }
        print(
            f"  {text}: "
            + "; ".join(f"{name} {of:.4f}" for name, of in families.items())
        )
        name = f"Section 6.4, {what}, k = 20, {text}"
        first, *rest = families.values()
        count.claim(
            f"{name}: RBU is first with every p and e ({first:.4f}, {max(rest):.4f})",
            first > max(rest) + 1e-9,
        )
        count.claim(
            f"{name}: S-Recall is last, after P-IA ({rest[-1]:.4f}, {rest[-2]:.4f})",
            sorted(rest)[:2] == rest[:-3:-1],
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", nargs="?", type=Path, help="folder with web2014-diversity"
    )
    parser.add_argument(
        "--cases",
        type=int,
        default=20,
        help="random cases per constraint (default: %(default)s)",
    )
    parser.add_argument(
        "--size",
        type=int,
        default=4,
        help="enumerate rankings up to this many documents (default: %(default)s)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="30 systems and 50 topics, as many as the paper, not 10 and 15",
    )
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw the figures into this folder"
    )
    options = parser.parse_args(arguments)
    count = Printed()
    narrower = table_1(options.cases, options.size, options.plots, count)
    unanimity.example(count)
    unanimity.properties(count)
    of_single_rankings(count)
    topics, systems, depth = (50, 30, 2000) if options.full else (15, 10, 500)
    qrels, made = made_up(topics, systems, depth, np.random.default_rng(1))
    print(
        "  alpha-nDCG and NRBP of metric unanimity are ndeval's, of binary relevance; those of Table 1 are graded."
    )
    what = f"{systems} made-up systems, {topics} topics"
    unanimity_by_design(
        what,
        qrels,
        lambda judged: {n: align(judged, run) for n, run in made.items()},
        2,
        count,
        options.plots,
    )
    if options.data is None:
        print("\nNo folder with data was given: no analysis of the Web Track's topics.")
    else:
        folder = options.data / "web2014-diversity"
        columns = ["query_id", "subtopic_id", "doc_id", "relevance"]
        web = pd.read_csv(
            folder / "qrels.ndeval.txt.gz",
            sep=r"\s+",
            names=columns,
            dtype={"query_id": str, "subtopic_id": str},
        )
        what = f"Web Track 2014, its topics, one run and {systems - 1} systems made from it"

        def from_ql(judged: Judgments) -> dict[str, AlignedRun]:
            run = align(judged, str(folder / "ql.run.gz"))
            return from_one_run(judged, run, systems, np.random.default_rng(3))

        unanimity_by_design(what, web, from_ql, 4, count, options.plots)
    count.note(
        f"That is with aspect relevance as printed; in the narrower reading, unseen elsewhere, {count.agree + narrower} of {count.total} agree."
    )
    count.report()


if __name__ == "__main__":
    main()
