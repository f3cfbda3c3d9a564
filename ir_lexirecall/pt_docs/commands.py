"""What commands of the documentation print.

They run on the embedded collection, written to files as a reader would have them.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ir_lexirecall.cli import main
from ir_lexirecall.data import demo
from ir_lexirecall.evaluation.evaluating import evaluate
from ir_lexirecall.io.measure_names import trec_eval_lines


def output(command: str) -> str:
    """Return what ``ir-lexirecall COMMAND`` prints."""
    printed = io.StringIO()
    with files(), contextlib.redirect_stdout(printed):
        code = main(shlex.split(command))
    if code:
        raise ValueError(f"ir-lexirecall {command} ended with {code}")
    return printed.getvalue()


@contextlib.contextmanager
def files() -> Iterator[Path]:
    """Yield a folder with the files of ``write_files``, the working directory for a while."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files(Path(folder))
        yield Path(folder)


def write_files(folder: Path) -> None:
    """Write the embedded collection to files.

    They are ``qrels.txt``, ``bm25.run``, ..., and the runs in ``runs/lexirecall-demo/``.
    ``main.run``, ``release.run`` are ``bm25``, ``branch.run`` ``bm25_rerank``; ``bm25.eval`` and
    ``ql.eval`` are what ``trec_eval -q`` prints.
    """
    demo.write(folder)
    (folder / "runs" / "lexirecall-demo").mkdir(parents=True)
    for name in demo.RUNS:
        shutil.copy(folder / f"{name}.run", folder / "runs" / "lexirecall-demo")
    for name, run in (("main", "bm25"), ("branch", "bm25_rerank"), ("release", "bm25")):
        shutil.copy(folder / f"{run}.run", folder / f"{name}.run")
    query_ids = sorted(demo.queries()["query_id"])
    for name, groups in (("type", 3), ("user", 6)):
        lines = [
            f"{query_id}\t{name} {i % groups}\n" for i, query_id in enumerate(query_ids)
        ]
        (folder / f"{name}s.tsv").write_text("".join(lines), encoding="utf-8")
    for name in ("bm25", "ql"):
        values = evaluate(["AP", "P@10"], demo.qrels(), demo.run(name))
        (folder / f"{name}.eval").write_text(
            trec_eval_lines(values.mean(), values, run=name) + "\n", encoding="utf-8"
        )
