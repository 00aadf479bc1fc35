"""Plain tables: aligned text for people and pipes, CSV for programs. A column's name ends in its unit.

`delay_s_mean` is headed "delay mean (s)", `throughput_bit_per_s` "throughput (bit/s)".
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairq.streams import screen_width

WIDTH = 100
"""Columns of text where nothing says how wide the screen is."""

UNITS = {
    "packets_per_s": "packets/s",
    "bit_per_s": "bit/s",
    "s": "s",
    "ps": "ps",
    "ns": "ns",
    "bytes": "bytes",
    "packets": "packets",
}
"""Units as they are written in the name of a column, and as they are printed."""

_COUNTED = frozenset({"bytes", "packets"})
"""Units that are also the name of what is counted: a column `packets` is headed "packets"."""


def heading(name: str) -> str:
    """The heading of a column: its words, then its unit in parentheses."""
    words = f"_{name}_"
    for written, printed in UNITS.items():
        if f"_{written}_" in words:
            before, _, after = words.partition(f"_{written}_")
            rest = " ".join(f"{before}_{after}".strip("_").split("_"))
            if rest:
                return f"{rest} ({printed})"
            return printed if written in _COUNTED else f"({printed})"
    return name.replace("_", " ")


def columns_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of a table, in the order in which its rows name them."""
    return list(dict.fromkeys(column for row in rows for column in row))


def text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """An aligned table with a line under the headings; numbers to the right, words to the left."""
    names = list(columns) if columns is not None else columns_of(rows)
    cells = [[shown(row.get(name)) for name in names] for row in rows]
    heads = [heading(name) for name in names]
    widths = [max([len(head), *(len(line[i]) for line in cells)]) for i, head in enumerate(heads)]
    right = [_is_number_column(rows, name) for name in names]

    def line(parts: Sequence[str]) -> str:
        padded = (
            part.rjust(width) if to_right else part.ljust(width)
            for part, width, to_right in zip(parts, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), line(["-" * width for width in widths]), *(line(parts) for parts in cells)])


def fitted(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], width: int | None = None) -> str:
    """As much of an aligned table as fits the terminal: the first columns, and the names of those that are left out."""
    room = (screen_width() or WIDTH) if width is None else width
    kept = 0
    used = 0
    for name in columns:
        used += max(len(heading(name)), *(len(shown(row.get(name))) for row in rows), 0) + (2 if kept else 0)
        if used > room and kept:
            break
        kept += 1
    left = columns[kept:]
    table = text(rows, columns[:kept])
    return f"{table}\nand {', '.join(left)}" if left else table


def shown(value: Any) -> str:
    """A value as people read it: four significant digits, "-" for none, whole numbers whole."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-" if math.isnan(value) else str(value)
        if abs(value) >= 1000 or value == int(value):
            return f"{value:.0f}"
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(part) for part in value)
    # What came from a file may hold what steers a terminal.
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> None:
    """Write a table with the columns' own names in the first line; a missing value is an empty field."""
    names = list(columns) if columns is not None else columns_of(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _is_number_column(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [row.get(name) for row in rows]
    return any(isinstance(value, int | float) for value in values) and not any(isinstance(v, str) for v in values)
