"""A result at a glance: one structure, shown on a terminal, in a notebook or report, or in Markdown.

A `Glance` has a title, one table (a row per run, a group of columns per criterion, marks in columns
of their own), the legend of its marks, and what a table cannot say. The other modules fill it from
a comparison, a benchmark or a gate; the three renderers below show it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ir_lexirecall.present import text as texts
from ir_lexirecall.present.tables import Shown
from ir_lexirecall.present.text import count

WIDTH = 80  # columns of a text whose reader's width is not known
MOST_ROWS = 10  # of a table, besides the baseline
MOST_NOTES = 3
_LINES = 24  # of a screen: with many rows, fewer caveats are shown

BETTER, WORSE, MAY_BE_BEST, BEST, UNSURE = "+", "-", "=", "*", "?"
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    MAY_BE_BEST: "may be the best",
    BEST: "best mean",
    UNSURE: "might be undone",
}
"""What marks mean, for pages, which have room for words."""
_CLASSES = {
    BETTER: "better",
    WORSE: "worse",
    MAY_BE_BEST: "level",
    BEST: "best",
    UNSURE: "unsure",
}
_HTML_CAPTION = (
    '<caption class="hidden">The result at a glance</caption>'  # is not seen, but read out
)
_LONGEST_RUN = 24  # columns of a run's name in a text
_BETWEEN = "   "  # groups of columns
_UNBROKEN = "\N{NO-BREAK SPACE}"
_P = re.compile(r"p [<=]+ [\d.]+")
_BAR = (96, 12)  # width and height of the picture of an interval
STYLE = (
    ".irl-glance td,.irl-glance th{padding:2px 8px;text-align:right;white-space:nowrap}"
    ".irl-glance th.name,.irl-glance td.text{text-align:left}.irl-glance .scroll{overflow-x:auto;position:relative}"
    ".irl-glance th.group{text-align:center}.irl-glance .better{color:#1f77b4}"
    ".irl-glance .worse{color:#d1600a}.irl-glance .unsure{color:#a0741a}"
    ".irl-glance .best{font-weight:600}.irl-glance svg{vertical-align:middle}"
    ".irl-glance .muted{opacity:.75;font-size:.9em}"
    ".irl-glance .hidden{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap}"
)
"""Of a notebook; a report has these rules in its own style sheet."""


@dataclass(frozen=True)
class Part:
    """A column below the name of a criterion.

    Attributes:
        head: what its numbers are.
        cells: a text for each row; empty where there is nothing to show.
        importance: 0 if it is always shown; where room is short, columns with the largest number
            are left out first.
        numeric: whether cells align on the right.
    """

    head: str
    cells: Sequence[str]
    importance: int = 0
    numeric: bool = True


@dataclass(frozen=True)
class Group:
    """The columns of a criterion.

    Attributes:
        name: of the criterion.
        parts: its columns.
        marks: for each row the marks that follow its numbers, in a column of their own.
        spans: for each row the lower end, the value and the upper end of an interval, which pages
            draw; empty if there are no intervals.
    """

    name: str
    parts: Sequence[Part]
    marks: Sequence[str] = ()
    spans: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True)
class Step:
    """How to see more: on the command line, in Python, and what it shows."""

    option: str
    code: str
    purpose: str = ""


@dataclass(frozen=True)
class Glance:
    """A result at a glance.

    Attributes:
        title: what was compared.
        rows: names of the rows, best first.
        groups: the columns of each criterion.
        facts: pairs of a name and a sentence, in place of a table (of two runs).
        legend: what the marks mean, and how differences were tested.
        unjudged: what unjudged documents could change.
        remarks: sentences on what a table cannot say.
        notes: what to be careful about, the gravest first.
        steps: how to see more.
        kept: rows that are shown even if they are not among the best ten: the baseline.
        names: names of measures, which are shown in short where they are long.
        row_head: what the rows are.
        is_numbered: whether rows have a number before them.
        details: further tables with their titles.
    """

    title: str
    rows: Sequence[str] = ()
    groups: Sequence[Group] = ()
    facts: Sequence[tuple[str, str]] = ()
    legend: Sequence[str] = ()
    unjudged: Sequence[str] = ()
    remarks: Sequence[str] = ()
    notes: Sequence[str] = ()
    steps: Sequence[Step] = ()
    kept: Sequence[str] = ()
    names: Sequence[str] = ()
    row_head: str = ""
    is_numbered: bool = False
    details: Sequence[tuple[str, Shown]] = field(default=())

    def __str__(self) -> str:
        return glance_text(self)

    def indices(self, *, all_rows: bool = False) -> list[int]:
        """Return the rows to show: the best ten and those always kept, or all of them."""
        everything = list(range(len(self.rows)))
        shown = [i for i in everything if i < MOST_ROWS or self.rows[i] in self.kept]
        is_one_hidden = len(everything) == len(shown) + 1
        return everything if all_rows or is_one_hidden else shown

    def in_short(self) -> tuple[Glance, str]:
        """Return this table with short names of measures, and a sentence that explains these."""
        names = texts.short_names(self.names)
        if not names:
            return self, ""

        def shortened(sentences: Iterable[str]) -> list[str]:
            return [texts.in_short(sentence, names) for sentence in sentences]

        short = replace(
            self,
            title=texts.in_short(self.title, names),
            groups=[
                replace(group, name=names.get(group.name, group.name)) for group in self.groups
            ],
            facts=[
                (names.get(name, name), texts.in_short(fact, names)) for name, fact in self.facts
            ],
            legend=shortened(self.legend),
            unjudged=shortened(self.unjudged),
            remarks=shortened(self.remarks),
            notes=shortened(self.notes),
            names=(),
        )
        return short, texts.explained_names(names)


# -- text ----------------------------------------------------------------------------------------


def glance_text(
    glance: Glance,
    width: int | None = WIDTH,
    *,
    all_rows: bool = False,
    all_notes: bool = False,
    options: bool = False,
    provenance: str = "",
) -> str:
    """Show a result on a terminal.

    Args:
        glance: what to show.
        width: columns of the terminal; None for as many as it takes.
        all_rows: show every run, not only the best ten and the baseline.
        all_notes: show every caveat, not only the gravest three.
        options: name the options of the command line that show more, not the methods of Python.
        provenance: a line with settings and versions.

    >>> group = Group("AP", [Part("mean", ["0.500", "0.250"])], ["*", ""])
    >>> print(glance_text(Glance("2 runs", ["bm25", "ql"], [group], legend=["* best mean"])))
    2 runs
    <BLANKLINE>
           AP
           mean
    bm25   0.500  *
    ql     0.250
    <BLANKLINE>
    * best mean
    """
    short, explained = glance.in_short() if width else (glance, "")
    rows = short.indices(all_rows=all_rows)
    blocks = [_wrapped([short.title], width)]
    if short.rows:
        blocks.append(_table_lines(short, rows, width, options=options))
    if short.facts:
        blocks.append(_fact_lines(short.facts, width))
    blocks.append(_wrapped([*short.legend, *short.unjudged, *short.remarks], width))
    for title, table in short.details:
        lines = table.text(width)[0].splitlines() if table.columns else []
        blocks.append([*_wrapped([title], width), *lines, *_wrapped(table.notes, width)])
    below = [_step_lines(short.steps, width, options=options)]
    below.append(_wrapped(filter(None, [explained, provenance]), width))
    used = sum(len(block) + 1 for block in [*blocks, *below] if block)
    most = len(short.notes) if all_notes else MOST_NOTES
    notes = _note_lines(short.notes[:most], len(short.notes), width, options=options)
    while not all_notes and used + len(notes) > _LINES and most > 1:
        most -= 1
        notes = _note_lines(short.notes[:most], len(short.notes), width, options=options)
    return "\n\n".join("\n".join(block) for block in [*blocks, notes, *below] if block)


def full_text(glance: Glance, provenance: Mapping[str, Any]) -> str:
    """Show a result with every run, column and caveat, and how it was made."""
    line = texts.provenance_line(provenance)
    return glance_text(glance, None, all_rows=True, all_notes=True, provenance=line)


def _wrapped(sentences: Iterable[str], width: int | None, indent: str = "") -> list[str]:
    """Return sentences as lines, each beginning a line of its own."""
    lines: list[str] = []
    further = indent + ("  " if indent else "")
    for sentence in sentences:
        lines += _lines_of(sentence, width, indent, further)
    return lines


def _lines_of(sentence: str, width: int | None, first: str, further: str) -> list[str]:
    """Return a sentence as lines; ``p = 0.05`` is not torn apart."""
    shown = texts.printable(sentence)
    if width is None:
        return [first + shown]
    kept = _P.sub(lambda match: match.group().replace(" ", _UNBROKEN), shown)
    lines = textwrap.wrap(
        kept,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace(_UNBROKEN, " ") for line in lines]


def _fact_lines(facts: Sequence[tuple[str, str]], width: int | None) -> list[str]:
    """Return a line for each criterion: its name and a sentence."""
    widest = max(texts.width(name) for name, _ in facts)
    if width is not None and widest > width // 3:
        return _wrapped([f"{name}: {fact}" for name, fact in facts], width)
    lines = []
    for name, fact in facts:
        lead = texts.printable(name) + " " * (widest - texts.width(name)) + _BETWEEN
        lines += _lines_of(fact, width, lead, " " * (widest + len(_BETWEEN)))
    return lines


def _note_lines(
    shown: Sequence[str], n_notes: int, width: int | None, *, options: bool
) -> list[str]:
    """Return some of the caveats, and how to see those left out."""
    if not shown:
        return []
    lines = ["Careful", *_wrapped(shown, width, "  ")]
    if len(shown) < n_notes:
        where = "--caveats" if options else ".diagnostics"
        lines.append(f"  {n_notes - len(shown)} more: {where}")
    return lines


def _step_lines(steps: Sequence[Step], width: int | None, *, options: bool) -> list[str]:
    """Return how to see more: a line each if a purpose is named, else one line of them all."""
    plain = [step.option if options else step.code for step in steps if not step.purpose]
    lines = []
    for step in steps:
        if step.purpose:
            lines.append(f"{step.option if options else step.code}   {step.purpose}")
    if any(plain):
        lines.append("  ".join(step.replace(" ", _UNBROKEN) for step in plain if step))
    return _wrapped(lines, width)


def _table_lines(
    glance: Glance, rows: Sequence[int], width: int | None, *, options: bool
) -> list[str]:
    """Return the table, in as many blocks below each other as the width asks for."""
    names = _row_names(glance, rows, width)
    room = None if width is None else width - texts.width(names[0])
    between = _BETWEEN
    if all(len(group.parts) == 1 and not group.parts[0].head for group in glance.groups):
        between = between[1:]
    groups = _fitting(glance.groups, rows, room)
    blocks: list[list[str]] = []
    block: list[list[str]] = [names]
    used = 0
    for group in groups:
        lines = _group_lines(group, rows)
        needed = len(between) + texts.width(lines[0])
        if room is not None and len(block) > 1 and used + needed > room:
            blocks.append(_joined(block, between))
            block, used = [names], 0
        block.append(lines)
        used += needed
    blocks.append(_joined(block, between))
    lines = []
    for number, part in enumerate(blocks):
        lines += [*([""] if number else []), *part]
    hidden = len(glance.rows) - len(rows)
    if hidden:
        how = "--all" if options else ".summary(full=True)"
        indent = "    " if glance.is_numbered else ""
        lines.append(f"{indent}{hidden} more: {how}")
    return lines


def _joined(columns: Sequence[Sequence[str]], between: str) -> list[str]:
    """Return columns of equally many lines beside each other; an empty second head is left out."""
    lines = [between.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return [line for i, line in enumerate(lines) if line or i != 1]


def _row_names(glance: Glance, rows: Sequence[int], width: int | None) -> list[str]:
    """Return the column of names below two lines of heads, filled up to one width."""
    names = [texts.printable(glance.rows[i]) for i in rows]
    short = names if width is None else [texts.shorten(name, _LONGEST_RUN) for name in names]
    if len(set(short)) == len(set(names)):
        names = short
    if glance.is_numbered:
        names = [f"{i + 1:>2}  {name}" for i, name in zip(rows, names, strict=True)]
    cells = [glance.row_head, "", *names]
    widest = max(map(texts.width, cells))
    return [cell + " " * (widest - texts.width(cell)) for cell in cells]


def _fitting(groups: Sequence[Group], rows: Sequence[int], room: int | None) -> list[Group]:
    """Return the groups without the least important columns, as far as the room asks for that."""
    kept = list(groups)
    if room is None:
        return kept

    def needed() -> int:
        return sum(len(_BETWEEN) + texts.width(_group_lines(one, rows)[0]) for one in kept)

    levels = {part.importance for group in groups for part in group.parts} - {0}
    for level in sorted(levels, reverse=True):
        if needed() <= room:
            break
        fewer = [
            replace(one, parts=[part for part in one.parts if part.importance < level])
            for one in kept
        ]
        kept = [one for one in fewer if one.parts]
    return kept


def _group_lines(group: Group, rows: Sequence[int]) -> list[str]:
    """Return the lines of a group of columns: its name, the heads of its columns, the cells."""
    columns = []
    for part in group.parts:
        cells = [part.head, *(part.cells[i] for i in rows)]
        widest = max(map(texts.width, cells))
        fill = [" " * (widest - texts.width(cell)) for cell in cells]
        pairs = zip(cells, fill, strict=True)
        columns.append([more + cell if part.numeric else cell + more for cell, more in pairs])
    if any(group.marks):
        marks = ["", *(group.marks[i] for i in rows)]
        widest = max(map(len, marks))
        columns.append([mark.ljust(widest) for mark in marks])
    lines = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    widest = max(texts.width(group.name), *map(texts.width, lines))
    name = texts.printable(group.name)
    is_column = len(group.parts) == 1 and not group.parts[0].head
    if is_column and group.parts[0].numeric:  # the name of a single column stands as its numbers do
        name = " " * (texts.width(lines[0]) - texts.width(name)) + name
        return [" " * (widest - texts.width(line)) + line for line in [name, *lines]]
    return [line + " " * (widest - texts.width(line)) for line in [name, *lines]]


# -- pages -----------------------------------------------------------------------------------------


def glance_html(
    glance: Glance, *, picture: str = "", provenance: str = "", is_report: bool = False
) -> str:
    """Show a result in a notebook or, without a style sheet and steps, in a report.

    >>> print(glance_html(Glance("<b>"), is_report=True))
    <div class="irl-glance"><p class="title">&lt;b&gt;</p></div>
    """
    short, explained = glance.in_short()
    parts = [] if is_report else [f"<style>{STYLE}</style>"]
    parts.append(f'<p class="title">{texts.escape_html(short.title)}</p>')
    if short.rows:
        parts.append(_html_table(short, glance))
    if short.facts:
        lines = [
            f'<tr><th scope="row" class="name"{_full_name(name, full)}>{texts.escape_html(name)}</th>'
            f'<td class="text">{texts.escape_html(fact)}</td></tr>'
            for (name, fact), (full, _) in zip(short.facts, glance.facts, strict=True)
        ]
        parts.append(f"<table>{_HTML_CAPTION}{''.join(lines)}</table>")
    small = [*short.legend, *short.unjudged]
    if small:
        parts.append(f'<p class="muted">{"<br>".join(map(_html_sentence, small))}</p>')
    if short.remarks:
        parts.append(f"<p>{'<br>'.join(map(texts.escape_html, short.remarks))}</p>")
    for title, table in short.details:
        parts.append(f"<p>{texts.escape_html(title)}</p>")
        parts += [table.html()] if table.columns else []
    parts += _html_notes(short.notes)
    parts.append(picture)
    steps = "" if is_report else "  ".join(step.code for step in short.steps if step.code)
    explained = "" if is_report else explained  # which has full names with its criteria
    for line in filter(None, [explained, steps, provenance]):
        parts.append(f'<p class="muted">{texts.escape_html(line)}</p>')
    return f'<div class="irl-glance">{"".join(parts)}</div>'


def _html_notes(notes: Sequence[str]) -> list[str]:
    """Return the caveats, folded."""
    if not notes:
        return []
    items = "".join(f"<li>{texts.escape_html(note)}</li>" for note in notes)
    summary = f"Careful ({count(len(notes), 'note')})"
    return [f"<details open><summary>{summary}</summary><ul>{items}</ul></details>"]


def _html_table(glance: Glance, full: Glance) -> str:
    """Return the table, with intervals drawn and marks as words; ``full`` has the full names."""
    rows = glance.indices()
    corner = texts.escape_html(glance.row_head) or _read_out("run")
    first, second = [f'<th scope="col" class="name" rowspan="2">{corner}</th>'], []
    for group, whole in zip(glance.groups, full.groups, strict=True):
        heads = [texts.escape_html(part.head) or _read_out("value") for part in _html_parts(group)]
        heads += [_read_out("interval")] * bool(group.spans)
        heads += [_read_out("mark")] * any(group.marks)
        name = texts.escape_html(group.name)
        attributes = f'class="group" colspan="{len(heads)}"{_full_name(group.name, whole.name)}'
        first.append(f'<th scope="colgroup" {attributes}>{name}</th>')
        second += [f'<th scope="col">{head}</th>' for head in heads]
    ends = {group.name: _ends(group) for group in glance.groups if group.spans}
    body = []
    for i in rows:
        cells = [f'<th scope="row" class="name">{texts.escape_html(glance.rows[i])}</th>']
        for group in glance.groups:
            cells += [_html_cell(part, i) for part in _html_parts(group)]
            if group.spans:
                cells.append(f"<td>{_bar(group.spans[i], ends[group.name])}</td>")
            if any(group.marks):
                cells.append(f'<td class="text">{_html_marks(group.marks[i])}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    hidden = len(glance.rows) - len(rows)
    more = f'<p class="muted">{count(hidden, "more row")}</p>' if hidden else ""
    head = f"<tr>{''.join(first)}</tr><tr>{''.join(second)}</tr>"
    table = f"<table>{_HTML_CAPTION}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"
    label = 'role="region" tabindex="0" aria-label="The result at a glance"'
    return f'<div class="scroll" {label}>{table}</div>{more}'


def _full_name(name: str, full: str) -> str:
    """Return the attribute of a head whose name is short."""
    return f' title="{texts.escape_html(full)}"' if full != name else ""


def _read_out(head: str) -> str:
    """Return the head of a column that explains itself to the eye, for those who hear the page."""
    return f'<span class="hidden">{head}</span>'


def _html_parts(group: Group) -> list[Part]:
    """Return the columns of a group on a page, where a picture stands for an interval."""
    if not group.spans:
        return list(group.parts)
    return [part for part in group.parts if "interval" not in part.head]


def _html_cell(part: Part, row: int) -> str:
    """Return a cell, with the minus sign of typography in numbers."""
    cell = texts.escape_html(part.cells[row])
    if not part.numeric:
        return f'<td class="text">{cell}</td>'
    return f"<td>{cell.replace('-', chr(0x2212)) if cell != '-' else cell}</td>"


def _html_marks(marks: str) -> str:
    """Return marks as words in colour."""
    shown = [
        f'<span class="{_CLASSES[mark]}">{WORDS[mark]}</span>'
        if mark in WORDS
        else texts.escape_html(mark)
        for mark in marks
    ]
    return ", ".join(shown)


def _html_sentence(sentence: str) -> str:
    """Return a sentence as HTML, with the sign for *at most*."""
    return texts.escape_html(sentence).replace("p &lt;= ", "p \N{LESS-THAN OR EQUAL TO} ")


def _ends(group: Group) -> tuple[float, float]:
    """Return the range of all intervals of a group."""
    finite = [x for span in group.spans for x in span if x == x and abs(x) != float("inf")]
    if not finite or min(finite) == max(finite):
        return 0.0, 1.0
    return min(finite), max(finite)


def _bar(span: tuple[float, float, float], ends: tuple[float, float]) -> str:
    """Return an interval as a small picture: a line from end to end, and a dot at the value."""
    width, height = _BAR
    low, value, high = ((x - ends[0]) / (ends[1] - ends[0]) * (width - 8) + 4 for x in span)
    if not all(-1 <= x <= width + 1 for x in (low, value, high)):  # an end is not finite
        return ""
    middle = height / 2
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"'
    return (
        f'<svg width="{width}" height="{height}" aria-hidden="true">{line} '
        f'stroke="currentColor" stroke-width="1.5"/><circle cx="{value:.1f}" cy="{middle}" r="3" '
        'fill="currentColor"/></svg>'
    )


# -- Markdown ----------------------------------------------------------------------------------------


def glance_markdown(glance: Glance, provenance: str = "") -> str:
    """Show a result in Markdown, for a page of a pull request or a job.

    >>> group = Group("AP", [Part("mean", ["0.5"])], ["+"])
    >>> print(glance_markdown(Glance("1 run", ["bm25"], [group])))
    ### 1 run
    <BLANKLINE>
    |      | AP mean |   |
    |:-----|--------:|:--|
    | bm25 |     0.5 | + |
    """
    short, explained = glance.in_short()
    escape = texts.escape_markdown
    blocks = [f"### {escape(short.title)}"]
    if short.rows:
        blocks.append(_markdown_table(short))
    if short.facts:
        blocks.append(
            "\n".join(f"- **{escape(name)}**: {escape(fact)}" for name, fact in short.facts)
        )
    blocks += map(escape, [*short.legend, *short.unjudged, *short.remarks])
    for title, table in short.details:
        blocks.append(escape(title))
        blocks += [table.markdown()] if table.columns else []
    if short.notes:
        blocks += ["Careful:", "\n".join(f"- {escape(note)}" for note in short.notes)]
    blocks += [escape(line) for line in (explained, provenance) if line]
    return "\n\n".join(blocks)


def _markdown_table(glance: Glance) -> str:
    """Return the table in Markdown: each column with the name of its criterion."""
    rows = glance.indices(all_rows=True)
    columns: list[tuple[list[str], bool]] = [
        ([glance.row_head, *(texts.escape_markdown(glance.rows[i]) for i in rows)], False)
    ]
    for group in glance.groups:
        for part in group.parts:
            head = f"{group.name} {part.head}".strip()
            cells = [texts.escape_markdown(cell) for cell in (head, *(part.cells[i] for i in rows))]
            columns.append((cells, part.numeric))
        if any(group.marks):
            marks = [texts.escape_markdown(group.marks[i]) for i in rows]
            columns.append((["", *marks], False))
    lines: list[list[str]] = [[] for _ in range(len(rows) + 1)]
    rules = []
    for cells, numeric in columns:
        widest = max(1, *map(texts.width, cells))
        for line, cell in zip(lines, cells, strict=True):
            more = " " * (widest - texts.width(cell))
            line.append(more + cell if numeric else cell + more)
        rule = "-" * (widest + 1)
        rules.append(f"{rule}:" if numeric else f":{rule}")
    shown = [f"| {' | '.join(line)} |" for line in lines]
    shown.insert(1, f"|{'|'.join(rules)}|")
    return "\n".join(shown)
