"""Sphinx extension: formulas as MathML, which browsers draw themselves, without scripts or fonts from elsewhere."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_math(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    writer.body.append(f'<span class="math">{_mathml(node, as_block=False)}</span>')
    raise nodes.SkipNode


def visit_math_block(writer: Any, node: Any) -> None:
    """Write a formula that stands alone."""
    writer.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node: Any, *, as_block: bool) -> str:
    try:
        written = str(tex2mathml(node.astext(), as_block=as_block))
        return re.sub(r"<mo>([{}|\[\]])</mo>", r'<mo stretchy="false">\1</mo>', written)  # as in LaTeX without \left
    except MathError as error:
        raise ValueError(f"formula {node.astext()!r} at {node.source}:{node.line}: {error}") from error
