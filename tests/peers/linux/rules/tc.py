"""The words of tc commands, as the oracles read them: a discipline, its classes and its filters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from linux.truth import Packet

UNITS = {
    "": 1, "b": 1, "kb": 1024, "mb": 1 << 20, "us": 10**3, "ms": 10**6, "s": 10**9,
    "bit": 1 / 8, "kbit": 125, "mbit": 125_000, "gbit": 125_000_000,
}  # fmt: skip
"""Sizes in bytes, times in nanoseconds, rates in bytes per second."""


def quantity(word: str) -> int:
    """A number with its unit."""
    found = re.fullmatch(r"([\d.]+)([a-z]*)", word)
    assert found and found[2] in UNITS, word
    return round(float(found[1]) * UNITS[found[2]])


class Options(list[str]):
    """The words after a kind."""

    def number(self, name: str, default: int = 0) -> int:
        """The quantity after a word."""
        return quantity(self[self.index(name) + 1]) if name in self else default

    def numbers(self, name: str) -> list[int]:
        """All the numbers after a word."""
        found: list[int] = []
        for word in self[self.index(name) + 1 :]:
            if not word.isdigit():
                break
            found.append(int(word))
        return found


@dataclass(frozen=True)
class Class:
    """A class: its number, that of the class above it (0: none) and its options."""

    name: int
    parent: int
    options: Options


@dataclass
class Commands:
    """A discipline with handle 10: and what belongs to it."""

    kind: str = ""
    options: Options = field(default_factory=Options)
    classes: list[Class] = field(default_factory=list)
    filters: list[tuple[str, int, int, int]] = field(default_factory=list)
    """What is looked at (`tos` or `sport`), its value, its mask, the class."""
    is_under_line: bool = False
    """Whether a class of htb above it is the line."""

    def class_of(self, packet: Packet) -> int | None:
        """The class that the first filter that matches gives."""
        seen = {"tos": packet.tos, "sport": 10000 + packet.flow}
        return next((name for what, value, mask, name in self.filters if seen[what] & mask == value), None)


def commands(text: str) -> Commands:
    """The commands of a case."""
    found = Commands()
    for words in (command.split() for command in text.split(";")):
        at = words.index("dev") + 2
        if words[0] == "qdisc" and "10:" in words:
            start = words.index("10:") + 1
            found.kind, found.options = words[start], Options(words[start + 1 :])
            found.is_under_line = words[at] == "parent"
        elif words[0] == "class" and words[at + 1].startswith("10:"):
            start = words.index("classid") + 1
            found.classes.append(Class(_minor(words[start]), _minor(words[at + 1]), Options(words[start + 2 :])))
        elif words[0] == "filter":
            match = words.index("match")
            what, value, mask = words[match + 2 : match + 5]
            found.filters.append((what, int(value, 0), int(mask, 0), _minor(words[words.index("flowid") + 1])))
    return found


def _minor(handle: str) -> int:
    return int(handle.split(":")[1] or "0", 16)
