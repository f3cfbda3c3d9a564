"""Run a script as its page or notebook does: cell by cell, printing what a cell's last line gives.

    python tests/support/cells.py examples/tutorials/SCRIPT.py

Warnings are errors, but for those on what will change in other packages, which users do not see either.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from pathlib import Path


def main(script: Path) -> None:
    os.chdir(script.parent)
    sys.path[0] = str(
        script.parent
    )  # not the folder of tests, which has folders called like packages
    names: dict[str, object] = {"__name__": "__main__"}
    line = 0
    for cell in re.split(r"(?m)^(?=# %%)", script.read_text(encoding="utf-8")):
        tree = ast.parse("\n" * line + cell)
        line += cell.count("\n")
        last = (
            tree.body.pop()
            if tree.body and isinstance(tree.body[-1], ast.Expr)
            else None
        )
        exec(compile(tree, script, "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), script, "eval"), names)
            if shown is not None:
                print(shown, end="\n\n")


if __name__ == "__main__":
    import matplotlib as mpl
    import pandas as pd

    mpl.use("agg")
    pd.set_option("display.width", 250, "display.max_columns", 30)
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", message=".*non-interactive.*")
    main(Path(sys.argv[1]).resolve())
