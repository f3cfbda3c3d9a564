"""What commands of the documentation print: they run on the embedded collection, written to files as a reader would have them."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ir_lexirecall.cli import main
from ir_lexirecall.data import demo


def output(command: str) -> str:
    """What ``ir-lexirecall COMMAND`` prints."""
    printed = io.StringIO()
    with files(), contextlib.redirect_stdout(printed):
        code = main(shlex.split(command))
    if code:
        raise ValueError(f"ir-lexirecall {command} ended with {code}")
    return printed.getvalue()


@contextlib.contextmanager
def files() -> Iterator[Path]:
    """A folder, for a while the working directory, with ``qrels.txt``, ``bm25.run``, ..., and ``runs/``."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        qrels = demo.qrels()[["query_id", "subtopic_id", "doc_id", "relevance"]]
        qrels.to_csv(Path(folder, "qrels.txt"), sep=" ", header=False, index=False)
        Path(folder, "runs", "lexirecall-demo").mkdir(parents=True)
        for name, run in demo.runs().items():
            rows = run.assign(q0="Q0", rank=run.groupby("query_id").cumcount() + 1, tag=name)
            rows = rows[["query_id", "q0", "doc_id", "rank", "score", "tag"]]
            for place in (Path(folder), Path(folder, "runs", "lexirecall-demo")):
                rows.to_csv(place / f"{name}.run", sep=" ", header=False, index=False)
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
