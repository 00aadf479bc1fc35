"""What the commands of a queue are written with: the commands so far, what differs, and how tc says a value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import fairq._native as _native
from fairq.traffic_control.qdisc_tables import MTU, Table, Unit, as_time, bytes_of, us_of
from fairq.traffic_control.units import MOST

Settings = Mapping[str, Any]
Limit = tuple[int, str] | None
"""Number and unit, packets or bytes; None: unlimited, or not said."""
HANDLES = 0x8000
"""The kernel gives out those from here on by itself."""
AVPKT = 1000
"""How many bytes a packet has where a limit in packets is to be one in bytes."""


@dataclass
class Writer:
    """The commands and what differs so far, and where the next qdisc stands."""

    dev: str
    rate: float | None
    """Of the line, in bit/s, where it is known."""
    parent: str = "root"
    handle: int = 1
    commands: list[str] = field(default_factory=list)
    differs: list[dict[str, str]] = field(default_factory=list)
    place: str = ""
    """The class in which the qdisc stands, before the settings of rows; empty for the root."""
    handles: set[int] = field(default_factory=lambda: {1})
    """Those that are taken on the device."""
    leaves: list[tuple[Writer, Settings]] = field(default_factory=list)
    """The queues of classes that are not written yet, each with where it stands."""

    def differ(self, setting: str, here: Any, linux: str) -> None:
        """Add a row to what differs."""
        said = here if isinstance(here, str) else "on" if here is True else "off" if here is False else f"{here}"
        self.differs.append({"setting": f"{self.place}{setting}", "here": said, "linux": linux})

    def say(self, *words: str) -> None:
        """Add a command; a number that the kernel has no room for is the greatest that it has."""
        said = [part for word in words for part in word.split(" ")]
        for at, part in enumerate(said):
            if part.isdecimal() and int(part) > MOST:
                self.differ(said[at - 1], part, f"at most {MOST}")
                said[at] = f"{MOST}"
        self.commands.append(" ".join(["tc", *said]))

    def qdisc(self, kind: str, words: Sequence[str] = ()) -> None:
        """Add the command of a qdisc."""
        self.say("qdisc", "replace" if self.parent == "root" else "add", "dev", self.dev, self.at(),
                 f"handle {self.handle:x}:", kind, *words)  # fmt: skip

    def at(self) -> str:
        """Where the qdisc stands."""
        return self.parent if self.parent == "root" else f"parent {self.parent}"

    def under(self, rate: str) -> None:
        """What follows stands in a class that is the line."""
        self.qdisc("htb", ["default 1"])
        self.klass("", "1", "htb", [f"rate {rate}", f"ceil {rate}"])
        self.parent, self.handle = f"{self.handle:x}:1", self.free(0x10)

    def free(self, wanted: int) -> int:
        """The first handle from `wanted` on that no qdisc has, taken from then on."""
        first = wanted if wanted < HANDLES else 0x100
        found = next(one for one in range(first, HANDLES) if one not in self.handles)
        self.handles.add(found)
        return found

    def leaf(self, number: str, name: str, queue: Settings | str | None) -> None:
        """Note the queue of a class, to be written after the filters; `None` is Linux's own."""
        if queue is None:
            return
        table = native_queue(queue) if isinstance(queue, str) else queue
        minor = int(number, 16)
        handle = self.free(minor if minor >= 0x10 else minor * 0x10)
        place = f"{self.place}{name}: "
        below = Writer(self.dev, None, f"{self.handle:x}:{number}", handle, self.commands, self.differs, place,
                       self.handles)  # fmt: skip
        self.leaves.append((below, table))

    def klass(self, parent: str, number: str, kind: str, words: Sequence[str]) -> None:
        """Add the command of a class."""
        own = f"{self.handle:x}:"
        self.say("class add dev", self.dev, f"parent {own}{parent}", f"classid {own}{number}", kind, *words)

    def filter(self, value: int, mask: int, number: str) -> None:
        """Add the filters that send a type-of-service byte under a mask to a class, of IPv4 and of IPv6."""
        for family in ("ip", "ip6"):
            name = "dsfield" if family == "ip" else "priority"
            protocol = "ip" if family == "ip" else "ipv6"
            self.say("filter add dev", self.dev, f"parent {self.handle:x}: protocol {protocol}",
                     f"u32 match {family} {name} {value:#04x} {mask:#04x} flowid {self.handle:x}:{number}")  # fmt: skip


def native_queue(text: str) -> dict[str, Any]:
    """The settings of a text form."""
    table: dict[str, Any] = json.loads(_native.queue(text))
    return table


def limit_of(text: str | None) -> Limit:
    """A limit as number and unit, or None where it is unlimited or not said."""
    if text is None or text == "unlimited":
        return None
    number, unit = text.split()
    return (int(number), "packets") if unit.startswith("packet") else (bytes_of(text), "bytes")


def packets(writer: Writer, limit: Limit, default: int, *, least: int = 1, most: int = MOST) -> list[str]:
    """A limit in packets, from `least` to `most`: what is not said is Linux's own."""
    if limit is None:
        writer.differ("limit", "not said", f"{default} packets")
        return []
    number, unit = limit
    there = number if unit == "packets" else number // MTU
    if there > most:
        there = most
        writer.differ("limit", f"{number} {unit}", f"at most {most} packets")
    elif unit == "bytes":
        there = max(least, there)
        writer.differ("limit", f"{number} B", f"packets: {there}")
    elif there < least:
        there = least
        writer.differ("limit", f"{number} packets", f"at least {least} packets")
    return [f"limit {there}"]


def in_bytes(writer: Writer, limit: Limit, default: int) -> int:
    """A limit in bytes: what is not said is Linux's own."""
    if limit is None:
        writer.differ("limit", "not said", f"{default} B")
        return default
    number, unit = limit
    if unit == "packets":
        writer.differ("limit", f"{number} packets", f"bytes: {number * AVPKT}, {AVPKT} for each packet")
        return number * AVPKT
    return number


def changed(writer: Writer, table: Table, part: Settings) -> list[str]:
    """The options of settings that are not the default, which are Linux's too."""
    default = _usual(table.kind)
    words = []
    for name, (word, row) in table.rows().items():
        is_changed = part.get(name) is not None and part.get(name) != default.get(name)
        if is_changed or row.unsaid is not None:
            said = row.unit.there(part[name])
            words.append(said if row.unit.is_word else f"{word} {said}".strip())
            _say_rounded(writer, name, part[name], row.unit, said)
            if word in table.zero.split() and not _steps(part[name], row.unit):
                writer.differ(name, part[name], "0 is the default")
    return words


def _steps(value: Any, unit: Unit) -> float:
    """How many of what tc counts in a value is; of a unit without steps, its number."""
    if unit.step is None:
        return float(f"{value}".split()[0])
    return float(us_of(value) if isinstance(value, str) else value) / unit.step[1]


def _say_rounded(writer: Writer, name: str, value: Any, unit: Unit, said: str) -> None:
    """Whether tc cannot say the value, because its steps are coarser or it has a bound."""
    if unit.step is None:
        return
    steps = _steps(value, unit)
    taken = float(said) if unit.there is not as_time else max(1, round(steps)) if steps else 0
    if abs(steps - taken) > 1e-9:
        writer.differ(name, value, f"{said}, in whole {unit.step[0]}")


@cache
def _usual(kind: str) -> Settings:
    """The settings that a part has where nothing is said."""
    table = native_queue(kind)
    part: Settings = table.get("design") or table.get("buffer") or table["scheduler"]
    return part


def left(writer: Writer, kind: str, part: Settings, *said: str) -> None:
    """What has been changed and has no option in tc."""
    default = _usual(kind)
    for name, value in part.items():
        if name not in (*said, "kind") and value != default.get(name):
            writer.differ(name, value, "no such option")
