"""What a notebook shows of results: HTML tables with units in their heads, and sentences above.

The colours are those of the page around, so that a table is readable in light and dark themes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from fairq.core import tables

COLUMNS_MAX = 10
"""Columns of a table that a notebook shows."""

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


class Column(NamedTuple):
    """A column as a notebook shows it."""

    head: str
    cells: Sequence[str]
    is_number: bool = False


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], count: int) -> str:
    """The HTML of a table of `count` rows, of which `rows` are the first."""
    laid, same = tables.above(rows, columns)
    kept = _chosen(laid)
    left = len(laid) - len(kept)
    said = [_size(count, len(rows), len(columns))]
    if same:
        every = "all rows" if count == len(rows) else "all rows shown"
        told = "; ".join(f"{_cut(each.head)} {_cut(each.cells[0])}" for each in same[:COLUMNS_MAX])
        said.append(f"the same in {every}: {told}{'; …' if len(same) > COLUMNS_MAX else ''}")
    if left:
        said.append(f"{left} more column{'' if left == 1 else 's'}: .columns names all")
    return laid_out([Column(each.head, each.cells, each.is_number) for each in kept], ". ".join(said))


def _chosen(laid: Sequence[Any]) -> list[Any]:
    """The columns that are shown, in their order: names, what is usual, and what differs come first."""
    if len(laid) <= COLUMNS_MAX:
        return list(laid)

    def rank(each: Any) -> tuple[int, int]:
        if not each.is_number:
            return 0, 0
        if each.name in USUAL:
            return 1, USUAL.index(each.name)
        return (2 if len({*each.cells}) > 1 else 3), 0

    best = sorted(laid, key=rank)[:COLUMNS_MAX]
    return [each for each in laid if each in best]


def laid_out(columns: Iterable[Column], caption: str = "") -> str:
    """A table of texts, which may be of a user's file and are escaped."""
    columns = list(columns)
    heads = "".join(f'<th scope="col" style="{_style(each)}">{escape(_cut(each.head))}</th>' for each in columns)
    lines = "".join(
        f"<tr>{''.join(_cell(each, text) for each, text in zip(columns, row, strict=True))}</tr>"
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


def _cell(column: Column, text: str) -> str:
    cut = _cut(text)
    whole = f' title="{escape(text[:TEXT_MAX])}"' if cut != text else ""
    return f'<td style="{_style(column)}"{whole}>{escape(cut)}</td>'


def _style(column: Column) -> str:
    return f"{CELL}{'right' if column.is_number else 'left'}"


def _cut(text: str) -> str:
    return text if len(text) <= CELL_MAX else tables.middle(text, CELL_MAX)


def _size(rows: int, shown: int, columns: int) -> str:
    first = f"the first {shown} of " if rows > shown else ""
    return f"{first}{rows} row{'' if rows == 1 else 's'}, {columns} column{'' if columns == 1 else 's'}"
