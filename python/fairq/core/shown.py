"""What a notebook shows of results: HTML tables with units in their heads, and sentences above.

The colours are those of the page around, so that a table is readable in light and dark themes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from fairq.core import tables

COLUMNS_MAX = 10
"""Columns of a table that a notebook shows."""

WIDTH_MAX = 900
"""Pixels of a table: what a notebook has beside its margins on a small screen."""

DIGIT, LETTER, BOLD, SMALL = 8.3, 7.6, 8.6, 6.7
"""Pixels of a character of 13 pixels, at most: of a number, a text, a head, an interval."""

PADDING = 10
"""Pixels left and right of a cell where there is little room."""

WHOLE_MAX = 24
"""Letters of a text that stays on one line where there is little room."""

INTERVAL = re.compile(r"(.*\S) \(([^()]+–[^()]+)\)")
"""A number and the ends of its interval."""

CELL_MAX = 60
"""Letters of a cell or a heading; a longer text is cut in the middle."""

TEXT_MAX = 2000
"""Letters of the sentences above a table."""

USUAL = (
    "throughput_bit_per_s", "goodput_bit_per_s", "share", "utilisation", "delay_s_mean", "queueing_s_mean",
    "queueing_s_p99", "delay_s_p99", "loss", "completion_s_mean", "jain", "marked_ratio",
)  # fmt: skip
"""The numbers that are shown first where there are more columns than fit."""

TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0.3em 0"
CAPTION = "caption-side:bottom;text-align:left;font-size:90%;padding:0.3em 0"
CELL = "padding:0.2em 0.7em;text-align:"
NARROW = "padding:0.2em 0.35em;text-align:"
BELOW = "display:block;font-size:80%"


class Column(NamedTuple):
    """A column as a notebook shows it."""

    head: str
    cells: Sequence[str]
    is_number: bool = False

    def width(self) -> float:
        """Its pixels, if nothing wraps."""
        text = DIGIT if self.is_number else LETTER
        return max([BOLD * len(self.head), *(text * len(cell) for cell in self.cells)]) + 2 * PADDING

    def narrow(self) -> float:
        """Its pixels where heads wrap, and intervals stand below their numbers."""
        widths = [BOLD * max(map(len, _cut(self.head).split()), default=0)]
        for cell in map(_cut, self.cells):
            if not self.is_number:
                widths += [LETTER * max(min(len(cell), WHOLE_MAX), *map(len, cell.split()), 0)]
            elif parts := INTERVAL.fullmatch(cell):
                widths += [DIGIT * len(parts[1]), SMALL * len(parts[2])]
            else:
                widths += [DIGIT * len(cell)]
        return max(widths) + PADDING


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], count: int) -> str:
    """The HTML of a table of `count` rows, of which `rows` are the first."""
    laid, same = tables.above(rows, columns)
    kept, is_narrow = _chosen([(each.name, Column(each.head, each.cells, each.is_number)) for each in laid])
    left = len(laid) - len(kept)
    said = [_size(count, len(rows), len(columns))]
    if same:
        every = "all rows" if count == len(rows) else "all rows shown"
        told = "; ".join(f"{_cut(each.head)} {_cut(each.cells[0])}" for each in same[:COLUMNS_MAX])
        said.append(f"the same in {every}: {told}{'; …' if len(same) > COLUMNS_MAX else ''}")
    if left:
        said.append(f"{left} more column{'' if left == 1 else 's'}: .columns names all")
    if is_narrow and any(INTERVAL.fullmatch(cell) for each in kept if each.is_number for cell in each.cells):
        said.append("small, below a number: its interval")
    return laid_out(kept, ". ".join(said), is_narrow=is_narrow)


def _chosen(laid: Sequence[tuple[str, Column]]) -> tuple[list[Column], bool]:
    """The columns that are shown, in their order, and whether they need all room that there is.

    Names, what is usual, and what differs come first; names that repeat a column come last.
    """

    def rank(at: int) -> tuple[int, int]:
        name, column = laid[at]
        if not column.is_number:
            # as the settings of a queue that has none but its name
            return (4 if any(list(column.cells) == list(other.cells) for _, other in laid[:at]) else 0), 0
        if name in USUAL:
            return 1, USUAL.index(name)
        return (2 if len({*column.cells}) > 1 else 3), 0

    best = sorted(range(len(laid)), key=rank)[:COLUMNS_MAX]
    is_narrow = sum(laid[at][1].width() for at in best) > WIDTH_MAX
    while is_narrow and len(best) > 1 and sum(laid[at][1].narrow() for at in best) > WIDTH_MAX:
        best.pop()
    return [laid[at][1] for at in sorted(best)], is_narrow


def laid_out(columns: Iterable[Column], caption: str = "", *, is_narrow: bool = False) -> str:
    """A table of texts, which may be of a user's file and are escaped.

    If it is narrow, heads wrap and intervals stand below their numbers.
    """
    columns = list(columns)
    heads = "".join(
        f'<th scope="col" style="{_style(each, is_narrow)}{";width:1px" if is_narrow and each.is_number else ""}">'
        f"{escape(_cut(each.head))}</th>"
        for each in columns
    )
    lines = "".join(
        f"<tr>{''.join(_cell(each, text, is_narrow) for each, text in zip(columns, row, strict=True))}</tr>"
        for row in zip(*(each.cells for each in columns), strict=True)
    )
    below = f'<caption style="{CAPTION}">{escape(caption)}</caption>' if caption else ""
    return f'<table style="{TABLE}">{below}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'


def of_values(values: Mapping[str, Any]) -> str:
    """A table of names and values: the numbers and short texts among these values."""
    told = {name: value for name, value in values.items() if isinstance(value, str | int | float)}
    short = {name: value for name, value in told.items() if "\n" not in str(value) and value != ""}
    lines = "".join(
        f'<tr><th scope="row" style="{CELL}left">{escape(_cut(tables.heading(name)))}</th>'
        f"{_cell(Column(name, ()), tables.shown(value))}</tr>"
        for name, value in short.items()
    )
    left = len(values) - len(short)
    more = f'<caption style="{CAPTION}">{left} more in its fields: dict(…) has all</caption>' if left else ""
    return f'<table style="{TABLE}">{more}<tbody>{lines}</tbody></table>'


def sentence(text: str) -> str:
    """Sentences above a table, their lines as they are."""
    text = text.strip()
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]}…"
    return f'<p style="white-space:pre-line;max-width:50em">{escape(text)}</p>' if text else ""


def _cell(column: Column, text: str, is_narrow: bool = False) -> str:
    cut = _cut(text)
    whole = f' title="{escape(text[:TEXT_MAX])}"' if cut != text else ""
    said, style = escape(cut), _style(column, is_narrow)
    if is_narrow and (column.is_number or len(cut) <= WHOLE_MAX):
        style += ";white-space:nowrap"
    if is_narrow and column.is_number and (parts := INTERVAL.fullmatch(cut)):
        said = f'{escape(parts[1])} <span style="{BELOW}">{escape(parts[2])}</span>'
    return f'<td style="{style}"{whole}>{said}</td>'


def _style(column: Column, is_narrow: bool = False) -> str:
    return f"{NARROW if is_narrow else CELL}{'right' if column.is_number else 'left'}"


def _cut(text: str) -> str:
    return text if len(text) <= CELL_MAX else tables.middle(text, CELL_MAX)


def _size(rows: int, shown: int, columns: int) -> str:
    first = f"the first {shown} of " if rows > shown else ""
    return f"{first}{rows} row{'' if rows == 1 else 's'}, {columns} column{'' if columns == 1 else 's'}"
