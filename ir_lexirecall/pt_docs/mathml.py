"""Sphinx extension: formulas as MathML, which browsers draw themselves, without scripts or fonts from elsewhere."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer ``mathml``."""
    inline, block = (partial(_write, tag=tag, name=name) for tag, name in (("span", "math"), ("div", "math-block")))
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(writer: Any, node: Any, tag: str, name: str) -> None:
    """Write a formula, within a line or alone."""
    try:
        written = str(tex2mathml(node.astext(), as_block=tag == "div"))
    except MathError as error:
        raise ValueError(f"formula {node.astext()!r} at {node.source}:{node.line}: {error}") from error
    written = re.sub(r"<mo>([{}|\[\]])</mo>", r'<mo stretchy="false">\1</mo>', written)  # as in LaTeX without \left
    writer.body.append(f'<{tag} class="{name}">{written}</{tag}>')
    raise nodes.SkipNode
