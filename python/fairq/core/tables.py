"""Tables that people read, and CSV for programs. A column's name ends in its unit.

`delay_s_mean` of several seeds is headed "delay mean" and has cells like `3.42 ms ± 0.11`; with `si` it is headed
"delay mean (s)" and has the number alone. No line is wider than the terminal.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fairq.core import cells
from fairq.core.columns import facts
from fairq.core.streams import screen_width

WIDTH = 160
"""Columns of text where standard output is no terminal and COLUMNS is not set: a pipe or a file, always the same."""

PROSE = 100
"""Columns of prose at most."""

WIDTH_MIN = 20
"""Columns of text at least."""

NAMES_MIN = (32, 16)
"""Columns of a name that stay at least: before a column of less import is left out, and before any other is."""

CUTS = ((0.5, True), (0.25, True), (0.75, True), (0.5, False), (0.25, False), (0.75, False))
"""How a long name may be cut: the part of what stays that is behind, and whether words stay whole.

The first that keeps names apart is taken.
"""

_WORDS = re.compile(r"[^\s(),;:=<>\[\]{}@]+|[\s(),;:=<>\[\]{}@]")
"""The words of a name and what stands between them; a quantity such as 2.5Mbit/s is one word."""

GAP = "  "
"""What stands between two columns."""

ENDS = ("_low", "_high")
"""What follows the name of a mean for the ends of its 95 % confidence interval."""

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

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
"""Colours as a terminal is told them."""

MARKS = {
    "agrees": GREEN, " =": GREEN, "kept": GREEN, "fair": GREEN,
    "differs": RED, " #": RED, "broken": RED,
    "undecided": YELLOW, " ~": YELLOW,
}  # fmt: skip
"""The colours of cells that are verdicts, or end in the sign of one."""


def heading(name: str) -> str:
    """The heading of a column of raw numbers: its words, then its unit in parentheses."""
    rest, unit = words(name)
    if not unit:
        return rest
    if rest:
        return f"{rest} ({unit})"
    return unit if unit in _COUNTED else f"({unit})"


def words(name: str) -> tuple[str, str]:
    """The words of a column's name without its unit, and the unit; "" where the name has none."""
    written = suffix(name)
    before, _, after = f"_{name}_".partition(f"_{written}_") if written else (name, "", "")
    return " ".join(f"{before}_{after}".strip("_").split("_")), UNITS.get(written, "")


def suffix(name: str) -> str:
    """The unit of a column as it stands in its name; "" where the name has none.

    The unit of a column of a run is known; that of another column is found in its name.
    """
    known = facts(name)
    for written, printed in UNITS.items():
        before, found, after = f"_{name}_".partition(f"_{written}_")
        # what is counted per second, or lasts so long per packet, is no time
        is_unit = "_per_" not in f"{before}_" and not after.startswith("per_")
        if found and (is_unit if known is None else known.unit == printed):
            return written
    return ""


def columns_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of a table, in the order in which its rows name them."""
    return list(dict.fromkeys(column for row in rows for column in row))


def text(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    minor: Sequence[str] = (),
    keep: Sequence[str] = (),
    sentences: Sequence[str] = (),
    heads: Mapping[str, str] = MappingProxyType({}),
    raw: Collection[str] = (),
    width: int | None = None,
    wide: bool = False,
    si: bool = False,
    colour: bool = False,
    every: str = "the same in all rows",
    more: str = "--wide has all",
) -> str:
    """An aligned table with a line under the headings; numbers to the right, words to the left.

    Where a row has NAME_low and NAME_high, they are shown as the interval of NAME. What is the same in all rows is said
    once above the table, behind `every`, unless its column is in `keep`; a column without any value is left out.

    If the table is wider than `width` (default: the terminal), long names are cut in the middle, the texts of the
    columns `sentences` take several lines, and columns are left out: those of `minor` in their order, then from the
    right. The last line names them and says `more`. With `wide` all columns are shown as they are, however wide.

    With `si` numbers are raw, in the units of their columns' names, and the ends of intervals have columns of their
    own. `heads` are headings that do not follow from a column's name; the texts below them are not
    cut. The columns `raw` have no unit, whatever their names say, and stand under these names.
    `colour` adds what a terminal takes for colours.
    """
    names = list(columns) if columns is not None else columns_of(rows)
    laid = [_raw(rows, name) for name in names] if si else _readable(rows, names, raw)
    # a name from a study's file may hold what steers a terminal
    laid = [each._replace(is_sentence=each.name in sentences, head=shown(each.head)) for each in laid]
    laid = [each._replace(head=heads[each.name], is_whole=True) if each.name in heads else each for each in laid]
    room = max(WIDTH_MIN, (screen_width() or WIDTH) if width is None else width)
    above, below = "", ""
    if not wide:
        laid, same = _apart(laid, len(rows), keep)
        above = _folded(f"{every}:", [f"{each.head} {each.cells[0].strip()}" for each in same], room)
        laid, left = _fitted(laid, minor, room)
        below = _left_out(left, room, more)
    form = [(each.width, each.is_number) for each in laid]
    lines = [_line([each.head for each in laid], form, BOLD if colour else "")]
    lines.append(_line(["-" * wide for wide, _ in form], form, DIM if colour else ""))
    lines += [_line(row, form, marks=colour) for row in zip(*(each.cells for each in laid), strict=True)]
    ends = [_painted(part, DIM) if colour else part for part in (above, below) if part]
    return "\n".join([*ends[: bool(above)], *lines, *ends[bool(above) :]])


def prose(text: str, width: int | None = None) -> str:
    """Paragraphs on lines that fit the terminal, and are short enough to read."""
    room = max(WIDTH_MIN, min(PROSE, (screen_width() or WIDTH) if width is None else width))
    return "\n\n".join("\n".join(_filled(part.split(), room)) for part in text.strip("\n").split("\n\n"))


def marked(text: str) -> str:
    """A text whose cells stand in columns already, with the signs of verdicts in their colours."""
    return re.sub(r"(?<=\S) [=#~](?=  |$)", lambda sign: _painted(sign[0], MARKS[sign[0]]), text, flags=re.MULTILINE)


def value(name: str, given: Any, si: bool = False) -> str:
    """One value of the column called `name`, with its unit."""
    unit = words(name)[1]
    if si or not _is_number(given):
        return shown(given)
    (cell,) = cells.column([given], unit)
    has_none = not cell.unit and unit != name and cell.number[-1:].isdigit()
    return str(cell._replace(unit=unit) if has_none else cell)


def compared(row: Mapping[str, Any]) -> dict[str, Any]:
    """A quantity emulated, simulated, and how far apart: each row has a unit of its own."""
    quantity, apart = row["quantity"], row["difference"]
    return {
        "of": row["of"],
        "quantity": words(quantity)[0],
        **{name: value(quantity, row[name]) for name in ("emulated", "simulated")},
        "difference": None if apart is None else f"{100 * apart:+.1f} %",
    }


def head(name: str, si: bool = False) -> str:
    """The name of a value that carries its unit, or of a raw one."""
    return heading(name) if si else words(name)[0] or name


def read(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of each row, as `text` has them, not aligned: for a table that something else lays out."""
    laid = _readable(rows, columns)
    texts = [[" ".join(cell.split()) for cell in each.cells] for each in laid]
    return [each.head for each in laid], [list(row) for row in zip(*texts, strict=True)]


def above(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> tuple[list[_Column], list[_Column]]:
    """The columns that tell rows apart, and those with one value, with their common units in the heads."""
    laid = [
        each._replace(cells=[" ".join(cell.split()) for cell in each.cells])
        for each in _readable(rows, columns, is_unit_above=True)
    ]
    return _apart(laid, len(rows), ())


def shown(value: Any) -> str:
    """A raw value: four significant digits, "-" for none, whole numbers whole."""
    if value is None:
        return cells.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return cells.NONE if math.isnan(value) else str(value)
        if abs(value) < cells.ROUNDING:
            return "0"
        if abs(value) >= 1000 or value == int(value):
            return f"{value:.0f}"
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(part) for part in value)
    # What came from a file may hold what steers a terminal.
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def columns_wide(text: str) -> int:
    """The columns that a terminal takes for a text: two for a letter of East Asia, none for an accent above another."""
    if text.isascii():
        return len(text)
    return sum(map(_letter_wide, text))


def middle(text: str, width: int, behind_part: float = 0.5, has_words: bool = True) -> str:
    """A text cut in its middle, or where `behind_part` of what stays is behind, to at most `width` columns.

    With `has_words` no word is cut, unless less than half of the width would be left; the first word
    stays before what is behind.

    >>> middle("a name that is far too long", 15), middle("call(rate=100kbit/s)", 19), middle("ab" * 9, 9)
    ('a name … long', 'call(rate=…)', 'abab…abab')
    """
    if columns_wide(text) <= width:
        return text
    short = _cut_out(_WORDS.findall(text), width, behind_part) if has_words else ""
    if short.startswith("…"):
        # The first word is the name of what the others are settings of.
        short = _cut_out(_WORDS.findall(text), width, 0.0)
    return short if 2 * columns_wide(short) >= width else _cut_out(text, width, behind_part)


def _cut_out(parts: Sequence[str], width: int, behind_part: float) -> str:
    """The first and the last parts, as many as fit, and a sign for those between them."""
    behind, used = "", 0
    for part in reversed(parts):
        if used + columns_wide(part) > int((width - 1) * behind_part):
            break
        behind, used = part + behind, used + columns_wide(part)
    before = ""
    for part in parts:
        used += columns_wide(part)
        if used > width - 1:
            break
        before += part
    return f"{before}…{behind}"


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> None:
    """Write a table with the columns' own names in the first line; a missing value is an empty field."""
    names = list(columns) if columns is not None else columns_of(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class _Column(NamedTuple):
    """A column as it is laid out: its cells are texts."""

    name: str
    head: str
    cells: Sequence[str]
    is_number: bool
    is_empty: bool
    is_same: bool
    is_sentence: bool = False
    is_whole: bool = False

    @property
    def width(self) -> int:
        return max([columns_wide(self.head), *(columns_wide(line) for cell in self.cells for line in cell.split("\n"))])


def _raw(rows: Sequence[Mapping[str, Any]], name: str) -> _Column:
    values = [row.get(name) for row in rows]
    return _column(name, heading(name), [shown(value) for value in values], values)


def _column(name: str, head: str, cells: Sequence[str], values: Sequence[Any], ends: Sequence[Any] = ()) -> _Column:
    first = values[0] if values else None
    is_same = len(values) > 1 and all(value == first for value in values) and len({*ends}) <= 1
    is_number = any(map(_is_number, values)) and all(value is None or _is_number(value) for value in values)
    return _Column(name, head, cells, is_number, all(map(_is_none, values)), is_same)


def _readable(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], raw: Collection[str] = (), is_unit_above: bool = False
) -> list[_Column]:
    """The columns with units and intervals in their cells; or a unit that all cells have in the head."""
    laid = []
    ends = {f"{name}{end}" for name in names for end in ENDS}
    for name in names:
        if name in ends:
            continue
        values = [row.get(name) for row in rows]
        if name in raw:
            laid.append(_column(name, name, [shown(value) for value in values], values))
            continue
        rest, unit = words(name)
        if not any(map(_is_number, values)) or not all(each is None or _is_number(each) for each in values):
            laid.append(_column(name, rest or unit, [shown(value) for value in values], values))
            continue
        lows, highs = ([row.get(f"{name}{end}") for row in rows] for end in ENDS)
        known = facts(name)
        # of instants, what happened within a microsecond must not look the same
        is_instant = known is not None and known.instant
        made = cells.instants(values, unit) if is_instant else cells.column(values, unit, lows, highs)
        has_sign = any(cell.unit for cell in made)
        of = name.replace("_", " ") if unit in _COUNTED else rest if has_sign and rest else heading(name)
        signs = {cell.unit for cell in made if cell.unit}
        if is_unit_above and len(signs) == 1:
            of, made = f"{of} ({signs.pop()})", [cell._replace(unit="") for cell in made]
        laid.append(_column(name, of, cells.aligned(made), values, list(zip(lows, highs, strict=True))))
    return laid


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_none(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _apart(laid: Sequence[_Column], rows: int, keep: Sequence[str]) -> tuple[list[_Column], list[_Column]]:
    """The columns that tell rows apart, and those with one value in all rows.

    Where no number tells rows apart, all numbers stay columns: a table of names alone says nothing.
    """
    is_told = any(each.is_number and (each.name in keep or len({*each.cells}) > 1) for each in laid)
    full = [each for each in laid if not each.is_empty]
    same = [each for each in full if each.is_same and each.name not in keep]
    if len(same) == len(full):
        return list(laid), []
    same = [each for each in same if is_told or not each.is_number]
    return [each for each in full if each not in same], same


def _fitted(laid: Sequence[_Column], minor: Sequence[str], room: int) -> tuple[list[_Column], list[_Column]]:
    """The columns that fit, names cut where that is enough, and those that are left out."""
    kept, left = list(laid), []
    cut = _cut(kept, room, NAMES_MIN[0])
    less = [each for name in minor for each in laid[1:] if each.name == name]
    while cut is None and less:
        left.append(less.pop(0))
        kept.remove(left[-1])
        cut = _cut(kept, room, NAMES_MIN[0])
    while cut is None and (cut := _cut(kept, room, NAMES_MIN[1])) is None:
        left.append(kept.pop())
    for each in reversed(left):
        # what is less wide than a column that went may stay
        more = [other for other in laid if other in kept or other is each]
        if (with_it := _cut(more, room, NAMES_MIN[0])) is not None:
            kept, cut = more, with_it
    return cut, [each for each in laid if each not in kept]


def _cut(laid: Sequence[_Column], room: int, name_min: int) -> list[_Column] | None:
    """The columns with long names cut so far that all fit, if that can be: no two names may become the same."""
    widths = [each.width for each in laid]
    free = room - len(GAP) * (len(laid) - 1)
    if len(laid) == 1 and widths[0] > free:
        return [_narrowed(laid[0], room)]
    least = [
        width if each.is_number or each.is_whole else min(width, max(name_min, columns_wide(each.head)))
        for each, width in zip(laid, widths, strict=True)
    ]
    # the widest are cut first, all to the same width
    level = max(widths, default=0)
    while sum(given := [max(low, min(width, level)) for low, width in zip(least, widths, strict=True)]) > free:
        if level <= name_min:
            return None
        level -= 1
    cut = []
    for each, width, narrow in zip(laid, widths, given, strict=True):
        spare = free - sum(given) + narrow
        while narrow < width and _cut_at(each, narrow) is None:
            narrow += 1
            if narrow > spare:
                return None
        cut.append(_narrowed(each, narrow) if narrow < width else each)
    return cut if sum(each.width for each in cut) <= free else None


def _cut_at(column: _Column, width: int) -> tuple[float, bool] | None:
    """How to cut the names of a column so that all stay different; None if no way does."""
    if column.is_sentence:
        return CUTS[0]
    names = {*column.cells}
    return next((cut for cut in CUTS if _are_apart(names, width, *cut)), None)


def _are_apart(names: Iterable[str], width: int, behind_part: float, has_words: bool) -> bool:
    seen: set[str] = set()
    for name in names:
        short = middle(name, width, behind_part, has_words)
        if short in seen:
            return False
        seen.add(short)
    return True


def _narrowed(column: _Column, width: int) -> _Column:
    if column.is_sentence:
        return column._replace(cells=["\n".join(_filled(cell.split(), width)) for cell in column.cells])
    cut = _cut_at(column, width) or CUTS[0]
    cells = [middle(cell, width, *cut) for cell in column.cells]
    return column._replace(head=middle(column.head, width), cells=cells)


def _left_out(left: Sequence[_Column], room: int, more: str) -> str:
    """The line that names the columns that are left out, as many as it has room for."""
    if not left:
        return ""
    names = [each.head for each in left]
    for count in range(len(names), 0, -1):
        others = f" and {len(names) - count} more" if count < len(names) else ""
        line = f"left out: {', '.join(names[:count])}{others}; {more}"
        if columns_wide(line) <= room:
            return line
    return middle(f"left out: {len(names)}; {more}", room)


def _folded(what: str, parts: Sequence[str], room: int) -> str:
    """`what` and its parts, on as many lines as they take; the parts of one line stay together."""
    if not parts:
        return ""
    return "\n".join(_filled([what, *(f"{part}," for part in parts[:-1]), parts[-1]], room, "  "))


def _short(parts: Sequence[str], room: int) -> Iterator[str]:
    """The parts; one that is longer than a line as its words."""
    for part in parts:
        yield from [part] if columns_wide(part) <= room else (middle(word, room) for word in part.split())


def _filled(parts: Sequence[str], room: int, further: str = "") -> list[str]:
    """Lines of at most `room` columns; those after the first begin with `further`."""
    lines: list[str] = []
    for part in _short(parts, room - len(further)):
        if lines and columns_wide(lines[-1]) + 1 + columns_wide(part) <= room:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{further}{part}" if lines else part)
    return lines


def _line(parts: Sequence[str], form: Sequence[tuple[int, bool]], colour: str = "", marks: bool = False) -> str:
    """One row; `form` has the width of each column, and whether its cells stand to the right."""
    if any("\n" in part for part in parts):
        lines = zip_longest(*(part.split("\n") for part in parts), fillvalue="")
        return "\n".join(_line(line, form, colour, marks) for line in lines)
    padded = []
    for part, (width, is_right) in zip(parts, form, strict=True):
        fill = " " * (width - columns_wide(part))
        paint = colour or (next((of for mark, of in MARKS.items() if part.endswith(mark)), "") if marks else "")
        text = _painted(part, paint) if paint else part
        padded.append(fill + text if is_right else text + fill)
    return GAP.join(padded).rstrip()


def _painted(text: str, colour: str) -> str:
    return "\n".join(f"\x1b[{colour}m{line}\x1b[0m" for line in text.split("\n"))


def _letter_wide(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1
