"""A result at a glance: one structure for terminals, notebooks, reports and Markdown.

A `Glance` has a title, one table (a row per run, a group of columns per criterion, marks in columns
of their own), the legend of its marks, and what a table cannot say. The other modules fill it from
a comparison, a benchmark or a gate; the three renderers below show it.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.selecting import without
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.tables import BEST, Shown, markdown_lines
from ir_lexirecall.present.text import count

WIDTH = 80  # columns of a text whose reader's width is not known
PLACES = 3  # decimal places
MOST_ROWS = 10  # of a table, besides the baseline
FEWEST_ROWS = 3  # the same on a screen that is full
FEW_ROWS = 5  # that are all shown, also on a screen that is full
MOST_NOTES = 3
LINES = 24  # of a screen

BETTER, WORSE, MAY_BE_BEST, UNSURE = "+", "-", "=", "?"
_UNDONE = "might be undone"
_WORDS = {
    BETTER: '<span class="better">better</span>',
    WORSE: '<span class="worse">worse</span>',
    MAY_BE_BEST: '<span class="level">may be the best</span>',
    BEST: '<span class="best">best mean</span>',
    UNSURE: f'<span class="unsure">{_UNDONE}</span>',
}
"""What marks mean, for pages, which have room for words."""
# Screen readers read this caption out; the page does not show it.
_HTML_CAPTION = '<caption class="hidden">The result at a glance</caption>'
_LONGEST_RUN = 24  # columns of a run's name in a text
_BETWEEN = "   "  # groups of columns
_UNBROKEN = "\N{NO-BREAK SPACE}"
_P = re.compile(r"p [<=]+ [\d.]+")
_MARK_BEFORE_WORDS = re.compile(
    r"(?:^|(?<=, ))[-+*=] (?=better|worse|best mean|may be the best)"
)
_BAR = (96, 12)  # width and height of the picture of an interval
STYLE = (
    ".irl-glance td,.irl-glance th{padding:2px 8px;text-align:right;white-space:nowrap}"
    ".irl-glance th.name,.irl-glance td.text{text-align:left}"
    ".irl-glance .scroll{overflow-x:auto;position:relative}"
    ".irl-glance th.group{text-align:center}.irl-glance .better{color:#1f77b4}"
    ".irl-glance .worse{color:#d1600a}.irl-glance .unsure{color:#a0741a}"
    ".irl-glance .best{font-weight:600}.irl-glance svg{vertical-align:middle}"
    ".irl-glance .muted{opacity:.75;font-size:.9em}"
    ".irl-glance .hidden{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap}"
)
"""Of a notebook; a report has these rules in its own style sheet."""


Span: TypeAlias = tuple[float, float, float]
"""The lower end of an interval, the value in it, and the upper end."""


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
        spans: for each row an interval, which pages draw; empty if there are no intervals.
    """

    name: str
    parts: Sequence[Part]
    marks: Sequence[str] = ()
    spans: Sequence[Span] = ()


COMMAND = "ir-lexirecall "
"""How a line begins that readers copy: it is not wrapped."""


@dataclass(frozen=True)
class Step:
    """How to see more: on the command line, and in Python."""

    option: str
    code: str


@dataclass(frozen=True)
class Glance:
    """A result at a glance.

    Attributes:
        title: what was compared.
        rows: names of the rows, best first.
        groups: the columns of each criterion.
        facts: pairs of a name and a sentence, in place of a table (of two runs).
        legend: what the marks mean, and how differences were tested.
        short_legend: the same for a screen that the whole legend would overflow.
        spare: sentences of the legend and remarks that give way to caveats on a full screen.
        short_groups: narrower columns that go with the short legend; empty if there are none.
        unjudged: what unjudged documents could change.
        remarks: sentences on what a table cannot say.
        notes: what to be careful about, the gravest first.
        steps: how to see more.
        kept: rows that are shown even if they are not among the best ten: the baseline.
        names: names of measures, which are shown in short where they are long.
        row_head: what the rows are.
        is_numbered: whether rows have a number before them.
        details: further tables of a gate, which no page shows, with their titles.
    """

    title: str
    rows: Sequence[str] = ()
    groups: Sequence[Group] = ()
    facts: Sequence[tuple[str, str]] = ()
    legend: Sequence[str] = ()
    short_legend: Sequence[str] = ()
    spare: Sequence[str] = ()
    short_groups: Sequence[Group] = ()
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
        if all_rows or is_one_hidden:
            return everything
        return shown

    def in_short(self) -> tuple[Glance, str]:
        """Return this table with short names of measures, and a sentence that explains these."""
        names = texts.short_names(self.names)
        if not names:
            return self, ""

        def shortened(sentences: Iterable[str]) -> list[str]:
            return [texts.in_short(sentence, names) for sentence in sentences]

        def renamed(groups: Iterable[Group]) -> list[Group]:
            return [
                replace(group, name=names.get(group.name, group.name))
                for group in groups
            ]

        short = replace(
            self,
            title=texts.in_short(self.title, names),
            groups=renamed(self.groups),
            facts=[
                (names.get(name, name), texts.in_short(fact, names))
                for name, fact in self.facts
            ],
            legend=shortened(self.legend),
            short_legend=shortened(self.short_legend),
            spare=shortened(self.spare),
            short_groups=renamed(self.short_groups),
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
    page = _Page(
        short,
        width,
        short.indices(all_rows=all_rows),
        len(short.notes) if all_notes else min(len(short.notes), MOST_NOTES),
        short.legend,
        options,
        [*filter(None, [explained, provenance])],
    )
    if all_rows or all_notes or width is None:
        return page.text
    return _fitted(page).text


@dataclass(frozen=True)
class _Page:
    """What a text shows of a result.

    Attributes:
        glance: the result.
        width: columns of the terminal; None for as many as it takes.
        rows: indices of the rows shown.
        n_notes: how many caveats are shown.
        legend: the whole legend or the short one.
        options: name options of the command line, not methods of Python.
        small_print: sentences at the end.
    """

    glance: Glance
    width: int | None
    rows: Sequence[int]
    n_notes: int
    legend: Sequence[str]
    options: bool
    small_print: Sequence[str]

    @cached_property
    def text(self) -> str:
        """Return the text: blocks with an empty line between them."""
        glance, width = self.glance, self.width
        blocks = [_wrapped([glance.title], width)]
        if glance.rows:
            blocks.append(self._table_lines())
        if glance.facts:
            blocks.append(_fact_lines(glance.facts, width))
        sentences = [*self.legend, *glance.unjudged, *glance.remarks]
        blocks.append(_wrapped(sentences, width))
        blocks += [
            _detail_lines(title, table, width) for title, table in glance.details
        ]
        small_print = _wrapped(self.small_print, width)
        blocks += [self._note_lines(), self._step_lines(), small_print]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    @property
    def fits(self) -> bool:
        """Return whether the text fits a screen."""
        return self.text.count("\n") < LINES

    def _way(self, option: str, code: str) -> str:
        """Return how to see more: an option of the command line, or a method of Python."""
        return option if self.options else code

    def _note_lines(self) -> list[str]:
        """Return the gravest caveats, and how to see those left out."""
        notes = self.glance.notes
        if not notes:
            return []
        head = "Careful"
        if self.n_notes < len(notes):
            how = self._way("--caveats", ".diagnostics")
            head += f" ({len(notes) - self.n_notes} more: {how})"
        return [head, *_wrapped(notes[: self.n_notes], self.width, "  ")]

    def _step_lines(self) -> list[str]:
        """Return how to see more.

        What says that columns are left out ends the line. The last step makes room for it, if that
        saves a line.
        """
        ways = [self._way(step.option, step.code) for step in self.glance.steps]
        if not ways:
            return []
        left_out = self._columns_left_out()
        if not left_out:
            return _in_lines(ways, self.width)
        all_steps = _in_lines([*ways, left_out], self.width)
        fewer_steps = _in_lines([*ways[:-1], left_out], self.width)
        return min(all_steps, fewer_steps, key=len)

    def _columns_left_out(self) -> str:
        """Return how many columns did not fit, and how to see them; an empty text if all fit."""
        n_left_out = _n_columns(self.glance.groups) - _n_columns(self._groups)
        if not n_left_out:
            return ""
        how = self._way("--wide", ".summary(full=True)")
        return f"{how}: {count(n_left_out, 'column')} left out"

    def _table_lines(self) -> list[str]:
        """Return the table, in as many blocks below each other as the width asks for."""
        glance = self.glance
        groups = [_group_lines(group, self.rows) for group in self._groups]
        between = _BETWEEN
        if all(map(_is_single_column, glance.groups)):
            between = between[1:]
        lines: list[str] = []
        for block in _blocks(groups, len(between), self._room):
            if lines:
                lines.append("")
            lines += _joined([self._row_names, *block], between)
        hidden = without(range(len(glance.rows)), self.rows)
        if hidden:
            indent = "    " if glance.is_numbered else ""
            sentence = self._hidden_rows(hidden)
            lines += _lines_of(sentence, self.width, indent, indent + "  ")
        return lines

    def _hidden_rows(self, hidden: Sequence[int]) -> str:
        """Return how many rows are not shown, how many have marks, and how to see them."""
        line = f"{len(hidden)} more: {self._way('--all', '.summary(full=True)')}"
        marked = Counter(
            name for i in hidden for name in _groups_with_mark(self.glance, i)
        )
        if marked:
            by = [f"{n} by {name}" for name, n in marked.items()]
            line += f" (marked: {', '.join(by)})"
        return line

    @cached_property
    def _row_names(self) -> list[str]:
        """Return the column of names below two lines of heads, padded to one width."""
        names = [texts.printable(self.glance.rows[i]) for i in self.rows]
        if self.width is not None:
            short = [texts.shorten(name, _LONGEST_RUN) for name in names]
            if len(set(short)) == len(set(names)):  # no two are the same in short
                names = short
        if self.glance.is_numbered:
            numbered = zip(self.rows, names, strict=True)
            names = [f"{i + 1:>2}  {name}" for i, name in numbered]
        return texts.padded([self.glance.row_head, "", *names], numeric=False)

    @property
    def _room(self) -> int | None:
        """Return the width beside the names of rows; None for as much as it takes."""
        if self.width is None:
            return None
        return self.width - texts.width(self._row_names[0])

    @cached_property
    def _groups(self) -> list[Group]:
        """Return the groups without the least important columns, as far as the room asks for it."""
        kept = list(self.glance.groups)
        if self._room is None:
            return kept
        levels = {part.importance for group in kept for part in group.parts} - {0}
        for level in sorted(levels, reverse=True):
            if sum(_needed_width(group, self.rows) for group in kept) <= self._room:
                break
            kept = _below_importance(kept, level)
        return kept


def _fitted(page: _Page) -> _Page:
    """Return a page that fits a screen if it can, leaving out as little as possible."""
    for shorter in _shorter_pages(page):
        if shorter.fits:
            return shorter
    return shorter


def _shorter_pages(page: _Page) -> Iterator[_Page]:
    """Yield ever shorter pages: fewer caveats, a short legend, of more than five rows fewer."""
    yield page
    if page.glance.spare:
        remarks = without(page.glance.remarks, page.glance.spare)
        page = replace(
            page,
            legend=without(page.legend, page.glance.spare),
            glance=replace(page.glance, remarks=remarks),
        )
        yield page
    for n_notes in range(page.n_notes - 1, 0, -1):
        page = replace(page, n_notes=n_notes)
        yield page
    if page.glance.short_legend:
        groups = page.glance.short_groups or page.glance.groups
        short = replace(page.glance, groups=groups)
        page = replace(page, glance=short, legend=short.short_legend)
        yield page
    if len(page.glance.rows) <= FEW_ROWS:
        return
    for row in _dispensable_rows(page.glance, page.rows):
        page = replace(page, rows=without(page.rows, [row]))
        yield page


def _dispensable_rows(glance: Glance, rows: Sequence[int]) -> list[int]:
    """Return the rows that a full screen leaves out, those first that have no mark."""
    lower = [i for i in rows if i >= FEWEST_ROWS and glance.rows[i] not in glance.kept]
    return sorted(lower, key=lambda i: (bool(_groups_with_mark(glance, i)), -i))


def _groups_with_mark(glance: Glance, row: int) -> list[str]:
    """Return the criteria by which a row has a mark."""
    return [group.name for group in glance.groups if group.marks and group.marks[row]]


def _detail_lines(title: str, table: Shown, width: int | None) -> list[str]:
    """Return a further table below its title, with its notes."""
    lines = _wrapped([title], width)
    if table.columns:
        lines += table.text(width)[0].splitlines()
    return lines + _wrapped(table.notes, width)


def full_text(glance: Glance, provenance: Mapping[str, Any]) -> str:
    """Show a result with every run, column and caveat, and how it was made."""
    line = texts.provenance_line(provenance)
    return glance_text(glance, None, all_rows=True, all_notes=True, provenance=line)


def _wrapped(
    sentences: Iterable[str], width: int | None, indent: str = ""
) -> list[str]:
    """Return sentences as lines, each beginning a line of its own."""
    lines: list[str] = []
    further = indent + ("  " if indent else "")
    for sentence in sentences:
        lines += _lines_of(sentence, width, indent, further)
    return lines


def _lines_of(sentence: str, width: int | None, first: str, further: str) -> list[str]:
    """Return a sentence as lines; ``p = 0.05`` and commands are not torn apart."""
    shown = texts.printable(sentence)
    if width is None or sentence.startswith(COMMAND):
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


def _in_lines(phrases: Sequence[str], width: int | None) -> list[str]:
    """Return phrases beside each other, none of them torn apart."""
    unbroken = [phrase.replace(" ", _UNBROKEN) for phrase in phrases]
    return _wrapped(["  ".join(unbroken)], width)


def _n_columns(groups: Iterable[Group]) -> int:
    """Return how many columns groups have, without their marks."""
    return sum(len(group.parts) for group in groups)


def _blocks(
    groups: Sequence[list[str]], between: int, room: int | None
) -> list[list[list[str]]]:
    """Return which groups of columns stand beside each other; those without room begin a block."""
    blocks: list[list[list[str]]] = [[]]
    used = 0
    for lines in groups:
        needed = between + texts.width(lines[0])
        if room is not None and blocks[-1] and used + needed > room:
            blocks.append([])
            used = 0
        blocks[-1].append(lines)
        used += needed
    return blocks


def _joined(columns: Sequence[Sequence[str]], between: str) -> list[str]:
    """Return columns of equally many lines beside each other; an empty second head is left out."""
    lines = [between.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return [line for i, line in enumerate(lines) if line or i != 1]


def _needed_width(group: Group, rows: Sequence[int]) -> int:
    """Return how wide a group is, with the blanks before it."""
    return len(_BETWEEN) + texts.width(_group_lines(group, rows)[0])


def _below_importance(groups: Sequence[Group], level: int) -> list[Group]:
    """Return the groups with only their columns below a level of importance, if there are any."""
    fewer = []
    for group in groups:
        parts = [part for part in group.parts if part.importance < level]
        if parts:
            fewer.append(replace(group, parts=parts))
    return fewer


def _group_lines(group: Group, rows: Sequence[int]) -> list[str]:
    """Return the lines of a group of columns: its name, the heads of its columns, the cells."""
    columns = []
    for part in group.parts:
        cells = [part.head, *(part.cells[i] for i in rows)]
        columns.append(texts.padded(cells, numeric=part.numeric))
    if any(group.marks):
        columns.append(
            texts.padded(["", *(group.marks[i] for i in rows)], numeric=False)
        )
    lines = ["  ".join(cells) for cells in zip(*columns, strict=True)]
    name = texts.printable(group.name)
    is_numeric = _is_single_column(group) and group.parts[0].numeric
    if is_numeric:  # its name stands above its numbers, which end where marks begin
        name = " " * (texts.width(lines[0]) - texts.width(name)) + name
    return texts.padded([name, *lines], numeric=is_numeric)


def _is_single_column(group: Group) -> bool:
    """Return whether a group is one column without a head, so that its name is the head."""
    return len(group.parts) == 1 and not group.parts[0].head


# -- pages -----------------------------------------------------------------------------------------


def glance_html(
    glance: Glance, *, picture: str = "", provenance: str = "", is_report: bool = False
) -> str:
    """Show a result in a notebook or, without a style sheet and steps, in a report.

    >>> print(glance_html(Glance("<b>"), is_report=True))
    <div class="irl-glance"><p class="title">&lt;b&gt;</p></div>
    """
    short, explained = glance.in_short()
    parts = [f'<p class="title">{texts.escape_html(short.title)}</p>']
    if short.rows:
        parts.append(_html_table(short, glance))
    if short.facts:
        parts.append(_html_facts(short, glance))
    small = [*short.legend, *short.unjudged]
    if small:
        parts.append(f'<p class="muted">{"<br>".join(map(_html_sentence, small))}</p>')
    if short.remarks:
        parts.append(f"<p>{'<br>'.join(map(texts.escape_html, short.remarks))}</p>")
    parts += _html_notes(short.notes)
    parts.append(picture)
    below = [provenance]
    # A report has full names with its criteria, and links instead of steps.
    if not is_report:
        parts.insert(0, f"<style>{STYLE}</style>")
        steps = "  ".join(step.code for step in short.steps)
        below = [explained, steps, provenance]
    for line in filter(None, below):
        parts.append(f'<p class="muted">{texts.escape_html(line)}</p>')
    return f'<div class="irl-glance">{"".join(parts)}</div>'


def _html_facts(short: Glance, full: Glance) -> str:
    """Return a table with a row for each criterion: its short name and a sentence."""
    rows = []
    for (name, fact), (full_name, _) in zip(short.facts, full.facts, strict=True):
        attributes = f'scope="row" class="name"{_full_name(name, full_name)}'
        head = f"<th {attributes}>{texts.escape_html(name)}</th>"
        rows.append(f'<tr>{head}<td class="text">{texts.escape_html(fact)}</td></tr>')
    return f"<table>{_HTML_CAPTION}{''.join(rows)}</table>"


def _html_notes(notes: Sequence[str]) -> list[str]:
    """Return the caveats, folded."""
    if not notes:
        return []
    items = "".join(f"<li>{texts.escape_html(note)}</li>" for note in notes)
    summary = f"Careful ({count(len(notes), 'note')})"
    return [f"<details open><summary>{summary}</summary><ul>{items}</ul></details>"]


def _html_table(glance: Glance, full: Glance) -> str:
    """Return the table, with intervals drawn and marks as words.

    Args:
        glance: what to show, with short names of measures.
        full: the same with full names.
    """
    rows = glance.indices()
    ends = {group.name: _ends(group) for group in glance.groups if group.spans}
    body = []
    for i in rows:
        cells = [
            f'<th scope="row" class="name">{texts.escape_html(glance.rows[i])}</th>'
        ]
        for group in glance.groups:
            cells += _html_cells(group, i, ends.get(group.name))
        body.append(f"<tr>{''.join(cells)}</tr>")
    table = (
        f"<table>{_HTML_CAPTION}<thead>{_html_heads(glance, full)}</thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )
    label = 'role="region" tabindex="0" aria-label="The result at a glance"'
    shown = f'<div class="scroll" {label}>{table}</div>'
    n_hidden = len(glance.rows) - len(rows)
    if n_hidden:
        shown += f'<p class="muted">{count(n_hidden, "more row")}</p>'
    return shown


def _html_heads(glance: Glance, full: Glance) -> str:
    """Return the two rows of heads: names of criteria, and what their columns are."""
    corner = texts.escape_html(glance.row_head) or _read_out("run")
    first, second = [f'<th scope="col" class="name" rowspan="2">{corner}</th>'], []
    for group, whole in zip(glance.groups, full.groups, strict=True):
        heads = []
        for part in _html_parts(group):
            heads.append(texts.escape_html(part.head) or _read_out("value"))
        if group.spans:
            heads.append(_read_out("interval"))
        if any(group.marks):
            heads.append(_read_out("mark"))
        name = texts.escape_html(group.name)
        attributes = (
            f'class="group" colspan="{len(heads)}"{_full_name(group.name, whole.name)}'
        )
        first.append(f'<th scope="colgroup" {attributes}>{name}</th>')
        second += [f'<th scope="col">{head}</th>' for head in heads]
    return f"<tr>{''.join(first)}</tr><tr>{''.join(second)}</tr>"


def _html_cells(group: Group, row: int, ends: tuple[float, float] | None) -> list[str]:
    """Return the cells of a row in the columns of a criterion.

    Args:
        group: the columns.
        row: index of the row.
        ends: the range of all intervals of the criterion; None if it has none.
    """
    cells = [_html_cell(part, row) for part in _html_parts(group)]
    if ends is not None:
        cells.append(f"<td>{_bar(group.spans[row], ends)}</td>")
    if any(group.marks):
        cells.append(f'<td class="text">{_html_marks(group.marks[row])}</td>')
    return cells


def _full_name(name: str, full: str) -> str:
    """Return the attribute of a head whose name is short."""
    if full != name:
        return f' title="{texts.escape_html(full)}"'
    return ""


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
    return ", ".join(_WORDS.get(mark) or texts.escape_html(mark) for mark in marks)


def _html_sentence(sentence: str) -> str:
    """Return a sentence of the legend as HTML, with the sign for *at most*."""
    shown = texts.escape_html(without_marks(sentence))
    return shown.replace("p &lt;= ", "p \N{LESS-THAN OR EQUAL TO} ")


def without_marks(sentence: str) -> str:
    """Return a sentence of the legend for a table whose cells have words instead of marks.

    >>> without_marks("+ better, - worse than ql")
    'better, worse than ql'
    """
    words = _MARK_BEFORE_WORDS.sub("", sentence)
    if words.startswith(f"{UNSURE} "):
        return f"{_UNDONE}: {words[2:]}"
    return words


def _ends(group: Group) -> tuple[float, float]:
    """Return the range of all intervals of a group."""
    finite = list(filter(math.isfinite, chain.from_iterable(group.spans)))
    if not finite or min(finite) == max(finite):
        return 0.0, 1.0
    return min(finite), max(finite)


def _bar(span: Span, ends: tuple[float, float]) -> str:
    """Return an interval as a small picture: a line from end to end, and a dot at the value."""
    width, height = _BAR
    low, value, high = (
        (x - ends[0]) / (ends[1] - ends[0]) * (width - 8) + 4 for x in span
    )
    # Also where an end is not finite.
    if not all(-1 <= x <= width + 1 for x in (low, value, high)):
        return ""
    middle = height / 2
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"'
    return (
        f'<svg width="{width}" height="{height}" aria-hidden="true">{line} '
        f'stroke="currentColor" stroke-width="1.5"/><circle cx="{value:.1f}" cy="{middle}" r="3" '
        'fill="currentColor"/></svg>'
    )


# -- Markdown --------------------------------------------------------------------------------------


def glance_markdown(glance: Glance) -> str:
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
        facts = [f"- **{escape(name)}**: {escape(fact)}" for name, fact in short.facts]
        blocks.append("\n".join(facts))
    for sentence in [*short.legend, *short.unjudged, *short.remarks]:
        is_command = sentence.startswith(COMMAND)
        blocks.append(f"    {sentence}" if is_command else escape(sentence))
    for title, table in short.details:
        blocks.append(escape(title))
        if table.columns:
            blocks.append(table.markdown())
    if short.notes:
        blocks += ["Careful:", "\n".join(f"- {escape(note)}" for note in short.notes)]
    blocks += map(escape, filter(None, [explained]))
    return "\n\n".join(blocks)


def _markdown_table(glance: Glance) -> str:
    """Return the table in Markdown: each column with the name of its criterion."""
    columns = _markdown_columns(glance)
    cells = [
        texts.padded(column.cells, numeric=column.numeric, least=1)
        for column in columns
    ]
    return "\n".join(markdown_lines(cells, [column.numeric for column in columns]))


def _markdown_columns(glance: Glance) -> list[Part]:
    """Return the columns of a table in Markdown, as parts whose first cell is the head."""
    rows = glance.indices(all_rows=True)
    names = [texts.escape_markdown(glance.rows[i]) for i in rows]
    columns = [Part("", [glance.row_head, *names], numeric=False)]
    for group in glance.groups:
        for part in group.parts:
            head = f"{group.name} {part.head}".strip()
            cells = [head, *(part.cells[i] for i in rows)]
            columns.append(replace(part, cells=[*map(texts.escape_markdown, cells)]))
        if any(group.marks):
            marks = [texts.escape_markdown(group.marks[i]) for i in rows]
            columns.append(Part("", ["", *marks], numeric=False))
    return columns
