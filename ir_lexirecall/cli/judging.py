"""Add and run the commands `to-judge` and `merge-judged`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.cli.arguments import Inputs, Options, Parser
from ir_lexirecall.cli.output import Page, add_output, emit
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import compare_runs, parse_criteria
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.io.spreadsheets import escaped, write_spreadsheet
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.files import (
    MOST_GRADES,
    merged_judges,
    write_pool_csv,
    write_pool_page,
)
from ir_lexirecall.present.text import top_words


def add_to_judge(commands: Any) -> None:
    """Add the command `to-judge`."""
    parser: Parser = commands.add_parser(
        "to-judge",
        help="list the unjudged documents that decide most",
        description="List the unjudged documents that decide most between runs, by one "
        "criterion. -o pool.csv adds texts and a column of grades to fill in; -o pool.html is a "
        "page for judging that needs no network. Other commands read the new judgments with "
        "--judged.",
        example="to-judge qrels.txt bm25.run dph.run -n 100 -o pool.html",
    )
    parser.add_runs(least=2)
    parser.add_argument(
        "-n",
        type=int,
        default=100,
        metavar="N",
        help="list at most N documents (default: 100)",
    )
    parser.add("measures", help="the measure that compares the runs")
    parser.add_preference()
    parser.add("rel", "cutoff")
    parser.add(
        "baseline", help="list only documents that decide between this run and others"
    )
    parser.add("allow_empty", "depth", "max_rel")
    default = " (default: those of the collection, if this machine has them)"
    _add_texts(parser, "-o pool.csv and pool.html", default)
    add_output(parser)


_MEANING = (
    "decides: how differently open pairs of runs rank the document, added up (by lexirecall: in "
    "how many of them only one run retrieves it).",
    "runs: how many runs retrieve it.",
)
"""Meanings of columns whose names do not tell."""


def run_to_judge(options: Options) -> None:
    """Run the command `to-judge`."""
    by = parse_criteria(options.criteria(preferences=["lexirecall"]))
    if len(by) > 1:
        raise ValueError(
            f"one criterion orders the documents; choose one of {', '.join(by)}"
        )
    inputs = Inputs(options)
    design = Design(options.baseline, allow_empty=options.allow_empty)
    result = compare_runs(inputs.judgments, inputs.runs, by, design)
    if result.compared.scored is not None:
        result.compared.scored.warn_of_hardly_judged()
    table = result.to_judge(options.n, depth=options.depth, max_rel=options.max_rel)

    kind = _ending(options.output)
    if kind not in ("html", "csv") and (options.texts or options.queries):
        raise ValueError(
            "texts are written with -o pool.csv or -o pool.html; name one of these"
        )
    if options.labels and kind != "html":
        raise ValueError(
            "--labels needs a page to show them; write one with -o pool.html"
        )
    if kind in ("html", "csv"):
        emit(f"{_write_pool(table, kind, options, inputs)}\n")
        return
    page = Page(options)
    page.add_table(table)
    if not len(table):
        (criterion,) = by.values()
        top = top_words({"": Judgings(options.depth).depth_of(criterion)})
        page.add_sentences(f"No unjudged document of {top} can change who is better.")
    elif page.for_people:
        page.add_sentences("", *_MEANING)
    page.finish()


def _write_pool(
    table: pd.DataFrame, kind: str, options: Options, inputs: Inputs
) -> Path:
    """Write documents to judge, with their texts, as a page or as a table."""
    collection = inputs.collection
    if collection is not None and not collection.has_texts:
        collection = None
    texts, queries = options.texts or collection, options.queries or collection
    if kind == "csv":
        return write_pool_csv(table, options.output, texts=texts, queries=queries)
    return write_pool_page(
        table,
        options.output,
        max_rel=Judgings(max_rel=options.max_rel).top_grade(inputs.judgments),
        texts=texts,
        queries=queries,
        labels=options.labels,
    )


def _ending(path: str | None) -> str:
    """Return what follows the last dot of a path, in lower case; empty without a path."""
    return (path or "").lower().rpartition(".")[2]


def _add_texts(parser: Parser, where: str, default: str) -> None:
    """Add the options for what a page shows besides ids."""
    help_text = (
        f"texts of documents for {where}: TSV, CSV, JSON lines, or an id of "
        f"ir_datasets{default}"
    )
    parser.add_argument("--texts", metavar="FILE", help=help_text)
    parser.add_argument(
        "--queries",
        metavar="FILE",
        help=f"texts of queries, in the same formats or as TREC topics{default}",
    )
    parser.add_argument(
        "--labels",
        type=lambda words: [word.strip() for word in words.split(",") if word.strip()],
        metavar="WORDS",
        default=[],
        help='names of the grades 0, 1, ... on the page, such as "not relevant,relevant"',
    )


# -- merge-judged ----------------------------------------------------------------------------------


def add_merge_judged(commands: Any) -> None:
    """Add the command `merge-judged`."""
    parser: Parser = commands.add_parser(
        "merge-judged",
        help="merge the judgments of two people, and list their disagreements",
        description="Merge the files of two judges (qrels, or pools with grades). Judgments that "
        "agree, or that only one judge made, go into one file for --judged. Documents with two "
        "different grades are listed, so that they can be judged again.",
        example="merge-judged judged-ada.qrels judged-ben.qrels -o agreed.qrels --disagreements "
        "again.html",
    )
    parser.add_argument(
        "judged", nargs=2, metavar="JUDGED", help="the file of each judge"
    )
    words = "write the merged judgments: TREC qrels, or a table (.csv)"
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=words)
    words = (
        "write the documents with two grades: a table (.csv), or a page to judge them "
        "again (.html)"
    )
    parser.add_argument("--disagreements", metavar="FILE", help=words)
    _add_texts(parser, "--disagreements FILE.html", "")


def run_merge_judged(options: Options) -> None:
    """Run the command `merge-judged`."""
    kind = _ending(options.disagreements)
    _check_files(options, kind)
    agreed, differ = merged_judges(*options.judged)
    as_table = options.output.lower().endswith(".csv")
    if not as_table and _has_blanks(agreed):
        raise ValueError(
            f"{options.output}: an id has a blank in it, which qrels of TREC cannot hold; "
            "name a .csv file"
        )
    top = _top_grade(
        options.labels, agreed["relevance"], differ["grade_a"], differ["grade_b"]
    )
    if kind == "html" and top >= MOST_GRADES:
        raise ValueError(
            f"--disagreements {options.disagreements}: the page has keys for grades up to "
            f"{MOST_GRADES - 1}, and one is {top}; name a .csv file"
        )
    with written_whole(options.output) as path:  # both files or neither
        if as_table:
            write_spreadsheet(_marked(agreed), path)
        else:
            _write_qrels(agreed, path)
        if kind == "csv":
            with written_whole(options.disagreements) as path_of_disagreements:
                write_spreadsheet(differ, path_of_disagreements)
        elif kind == "html":
            write_pool_page(
                differ,
                options.disagreements,
                texts=options.texts,
                queries=options.queries,
                max_rel=top,
                labels=options.labels,
            )
    emit(f"{len(agreed):,} agreed, {len(differ):,} with two grades\n")


def _check_files(options: Options, kind: str) -> None:
    """Raise if the file of disagreements has an unknown kind, or one that shows no texts."""
    if kind not in ("", "csv", "html"):
        raise ValueError(
            f"--disagreements {options.disagreements}: name a file that ends with .csv or .html"
        )
    if kind != "html" and (options.texts or options.queries or options.labels):
        raise ValueError(
            "--texts, --queries and --labels need a page to show them; write one with "
            "--disagreements again.html"
        )


def _marked(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judgments, with the columns of a table for judges if an id looks like a formula.

    By these columns, readers know that such ids were escaped; see ``with_original_ids``.
    """
    if any(
        escaped(name) != name for name in chain(judged["query_id"], judged["doc_id"])
    ):
        return judged.assign(query="", text="")
    return judged


def _has_blanks(qrels: pd.DataFrame) -> bool:
    """Return whether an id has white space in it."""
    ids = pd.concat([qrels["query_id"], qrels["doc_id"]]).astype(str)
    return bool(ids.str.contains(r"\s").any())


def _top_grade(labels: Sequence[str], *grades: Iterable[float]) -> int:
    """Return the highest grade of the judgments and of the labels, at least 1."""
    return int(max([1.0, len(labels) - 1, *chain.from_iterable(grades)]))


def _write_qrels(judged: pd.DataFrame, path: Path) -> None:
    """Write judgments in the format of TREC."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    judged.assign(iteration=0)[columns].to_csv(
        path,
        sep=" ",
        header=False,
        index=False,
        quoting=csv.QUOTE_NONE,
        lineterminator="\n",
    )
