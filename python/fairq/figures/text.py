"""Text of a figure: its width, its lines, and what is left of a long name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from fairq.core import tables

NAME_SHOWN = 49
"""Letters of a name in a figure: longer ones would leave no room for the curves."""

SPREAD = 1.06
"""What hinting may add to the width of a text at low resolution."""


LACKING = 1.1
"""The width of the box that stands for a letter that the font lacks, in heights of its letters."""


@cache
def _font() -> Any:
    # matplotlib's own changes its size with every text it writes
    font = FT2Font(findfont(FontProperties()))
    font.set_size(100, 72)
    return font


@lru_cache(4096)
def _advance(letter: str) -> float:
    """How far a letter of 1 point moves the pen, in points."""
    font = _font()
    if not font.get_char_index(ord(letter)):
        return LACKING
    return float(font.load_char(ord(letter)).linearHoriAdvance) / 65536 / 100


def width(text: str, size: float) -> float:
    """How wide a line of text of that size is, in points."""
    return sum(map(_advance, text)) * size * SPREAD


def plain(text: Any) -> str:
    """A name as a figure shows it: cut in its middle if it is long, dollars made no formula."""
    return _escaped(tables.middle(tables.shown(text), NAME_SHOWN))


def cut(text: Any, room: float, size: float) -> str:
    """A name, cut in its middle until it fits the room in points."""
    shown = tables.shown(text)
    kept = min(tables.columns_wide(shown), NAME_SHOWN)
    while kept > 1 and width(tables.middle(shown, kept), size) > room:
        kept -= 1
    return _escaped(tables.middle(shown, kept))


def cut_all(names: Sequence[Any], room: float, size: float) -> list[str]:
    """Names that fit the room; those that would look alike are numbered."""
    shown = [cut(name, room, size) for name in names]
    if len(set(shown)) == len(set(map(str, names))):
        return shown
    numbers = {str(name): f"{at + 1}: " for at, name in enumerate(dict.fromkeys(map(str, names)))}
    return [
        numbers[str(name)] + cut(name, room - width(numbers[str(name)], size), size)
        if shown.count(short) > 1
        else short
        for name, short in zip(names, shown, strict=True)
    ]


def wrapped(text: str, room: float, size: float, lines_max: int = 99) -> list[str]:
    """The text in lines that fit the room, broken at spaces; the last one is cut if need be."""
    lines = _lines(text, room, size)
    if len(lines) > lines_max:
        lines = [*lines[: lines_max - 1], " ".join(lines[lines_max - 1 :])]
    return [_escaped(line) if width(line, size) <= room else cut(line, room, size) for line in lines if line]


def fits(text: str, room: float, size: float, lines_max: int) -> bool:
    """Whether a text has room in that number of lines without a cut."""
    lines = _lines(text, room, size)
    return len(lines) <= lines_max and all(width(line, size) <= room for line in lines)


def _lines(text: str, room: float, size: float) -> list[str]:
    """The text broken at spaces; a word may be wider than the room."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in tables.shown(paragraph).split(" "):
            longer = f"{line} {word}" if line else word
            if line and width(longer, size) > room:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return lines


def _escaped(text: str) -> str:
    return text.replace("$", r"\$")
