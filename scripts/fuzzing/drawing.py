"""Random choices, and the values and damages that several grammars share."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

SCHEMA = Path(__file__).parents[2] / "schema" / "scenario.schema.json"
EDGES = ("0", "1", "-1", "255", "256", "65535", "65536", "4294967295", "4294967296", "9223372036854775807",
         "18446744073709551615", "18446744073709551616", "1e308", "1e400", "1e-400", "5e-324", "-0.0", "nan", "inf",
         "-inf", "0.1", "0x10", "010", "1_000", "1,5", "١", "²", "1" * 400)  # fmt: skip
"""Numbers at the ends of ranges, and what is one in some languages."""
LETTERS = ("\0", "\n", "\r", "\t", "\x1b[31m", '"', "'", "\\", "<b>", "ä", "日本", "\u202e", "\ufeff",
           "\u0301" * 50, "\U0010ffff", " ", "", "%", "{}", "a" * 5000, "../", "$(id)", ";", "--",
           "[", "]", "(", ")")  # fmt: skip
UNITS = {
    "time": ("s", "ms", "us", "ns", "ps", "min", "h"),
    "rate": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"),
    "size": ("B", "kB", "MB", "KiB", "MiB"),
}


@dataclass(frozen=True)
class Case:
    """An input: files, and the commands that read them, up to the first that is refused.

    `{said}` in a command is what the command before printed. It is bad if that is refused.
    """

    commands: tuple[tuple[str, ...], ...]
    files: Mapping[str, bytes] = field(default_factory=dict)


class Draw(random.Random):
    """The choices of one input: the same for the same reader, seed and number."""

    def __init__(self, reader: str, seed: int, number: int) -> None:
        super().__init__(f"{reader}/{seed}/{number}")

    def one(self, of: Sequence[T]) -> T:
        """One of them."""
        return of[int(self.random() * len(of))]

    def some(self, of: Sequence[T], part: float = 0.5) -> list[T]:
        """A part of them, in their order."""
        return [each for each in of if self.random() < part]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    def up_to(self, most: int) -> int:
        """A whole number from 0 to `most`."""
        return int(self.random() * (most + 1))

    def weighted(self, of: Mapping[T, float]) -> T:
        """One of the keys, each as often as its value says."""
        return self.choices(list(of), list(of.values()))[0]

    def near(self, value: float) -> float:
        """A number about as large; rarely one that is far off."""
        if self.random() < 0.04:
            return value * self.one((0, 1e-9, 1e-4, 1e3, 1e6, 1e12))
        return value * self.one((0.1, 0.5, 0.9, 1, 1, 1.1, 2, 7))

    def quantity(self, kind: str, low: float = 1, high: float = 1000) -> str:
        """A time, rate or size with a unit and from `low` to `high` of it."""
        number = f"{low * (high / low) ** self.random():.{self.up_to(3)}f}"
        return f"{number if float(number) else low}{self.one(('', ' '))}{self.one(UNITS[kind][:4])}"

    def edge(self) -> str:
        """A number at the end of a range, or a letter that ends texts elsewhere."""
        return self.one(EDGES) if self.chance(0.7) else self.one(LETTERS)


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def damaged(draw: Draw, text: str, words: Sequence[str] = (), part: float = 0.3) -> str:
    """The text; in a part of the cases with one to three changes."""
    if not draw.chance(part):
        return text
    for _ in range(draw.one((1, 1, 1, 2, 3))):
        text = draw.one(CHANGES)(draw, text, words)
    return text


def _number(draw: Draw, text: str, _: Sequence[str]) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    place = draw.one(found)
    changed = f"{draw.near(float(place[0][:300])):.6g}" if draw.chance(0.5) else draw.edge()
    return text[: place.start()] + changed + text[place.end() :]


def _line(draw: Draw, text: str, _: Sequence[str]) -> str:
    lines = text.split("\n")
    at, to = draw.up_to(len(lines) - 1), draw.up_to(len(lines) - 1)
    match draw.up_to(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines[at : at + 1] = ["", lines[at], "# a comment"]
    return "\n".join(lines)


def _word(draw: Draw, text: str, words: Sequence[str]) -> str:
    found = list(re.finditer(r"[A-Za-z_]\w+", text))
    if not found or not words:
        return _letter(draw, text, words)
    place = draw.one(found)
    return text[: place.start()] + draw.one(words) + text[place.end() :]


def _letter(draw: Draw, text: str, _: Sequence[str]) -> str:
    at = draw.up_to(len(text))
    match draw.up_to(3):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + draw.one(LETTERS) + text[at:]
        case 2:
            return text[:at] + text[at + draw.up_to(3) :]
        case _:
            return text[:at] + " " + text[at:]


CHANGES: tuple[Callable[[Draw, str, Sequence[str]], str], ...] = (_number, _number, _line, _word, _letter)


# Values by the schema of scenarios: a new discipline, traffic or transport needs no line here.


@cache
def schema() -> Mapping[str, Any]:
    """The JSON Schema of scenarios."""
    said: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return said


Fixed = Mapping[str, Callable[[Draw], Any]]


def value(draw: Draw, of: Mapping[str, Any], fixed: Fixed, part: float) -> Any:
    """A value of a schema; a field in `fixed` comes from there, others with probability `part`."""
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        if f"${name}" in fixed:
            return fixed[f"${name}"](draw)
        of = {**schema()["$defs"][name], **{key: each for key, each in of.items() if key != "$ref"}}
    for several in ("oneOf", "anyOf"):
        if several in of:
            kinds = [each for each in of[several] if each.get("type") != "null" and not _is_any_text(each)]
            return value(draw, draw.one(kinds), fixed, part)
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return draw.one([each for each in of["enum"] if each is not None])
    usual = of.get("default")
    usual = draw.one(of["examples"]) if usual in (None, []) and of.get("examples") else usual
    kinds = of.get("type", "string")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object":
            return table(draw, of, fixed, part)
        case "array":
            items = of.get("items", True)
            count = draw.one((0, 1, 1, 2, 3))
            return usual if items is True else [value(draw, items, fixed, part) for _ in range(count)]
        case "boolean":
            return draw.chance(0.5)
        case "integer":
            return max(of.get("minimum", -1000), min(of.get("maximum", 2**31), round(draw.near(usual or 4))))
        case "number":
            return draw.near(usual if isinstance(usual, int | float) else 0.5)
    return _text(draw, usual)


def _is_any_text(of: Mapping[str, Any]) -> bool:
    """Whether it is the schema of a text form, which stands beside that of its table."""
    return of.get("type") == "string" and not {"const", "enum", "examples", "x-unit"} & set(of)


def _is_alias(of: Mapping[str, Any]) -> bool:
    return str(of.get("description", "")).startswith("Another name of")


def _text(draw: Draw, usual: Any) -> str:
    """A quantity about as large as the usual one."""
    if not isinstance(usual, str) or not (place := NUMBER.search(usual)):
        return usual if isinstance(usual, str) else draw.one(("a", "b"))
    number = draw.near(float(place[0]))
    is_whole = usual.endswith((" B", "packets", " bit/s"))
    shown = str(max(1, round(number))) if is_whole else f"{number:.3f}".rstrip("0").rstrip(".")
    return usual[: place.start()] + shown + usual[place.end() :]


def table(draw: Draw, of: Mapping[str, Any], fixed: Fixed, part: float) -> dict[str, Any]:
    """A table of a schema."""
    said = {}
    for name, field_of in of.get("properties", {}).items():
        if name in fixed:
            found = fixed[name](draw)
            if found is not None:
                said[name] = found
        elif name in of.get("required", ()) or draw.chance(part * (0.05 if _is_alias(field_of) else 1)):
            said[name] = value(draw, field_of, fixed, part)
    return said


def form(draw: Draw, given: Any) -> Any:
    """A value as a text form, if it is a table with a kind."""
    if isinstance(given, dict) and "kind" in given:
        return _form(given)
    return given


def _form(given: Any) -> str:
    match given:
        case dict():
            fields = ", ".join(f"{name}={_form(each)}" for name, each in given.items() if name != "kind")
            return str(given.get("kind", "")) + (f"({fields})" if fields or "kind" not in given else "")
        case list():
            return f"[{', '.join(map(_form, given))}]"
        case bool():
            return str(given).lower()
    return str(given)
