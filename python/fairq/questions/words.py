"""The words of a question: items of --flows and of --hosts, a rate for each direction, lists.

A quantity is checked by the one parser of quantities, and stays the text that a scenario takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache

from fairq.core import quantities, registry
from fairq.core.errors import UsageError
from fairq.core.near import meant, near_miss

TRAFFIC = ("web", "call", "flood")
"""Items of --flows that are no congestion control."""

RECORDED = "recorded"
"""The name of an item that is packets of a capture: no word of a question, as it needs the file."""

OPTIONS = ("start", "size", "direction", "dscp")
"""What an item may say of its flows, beside the settings of its control."""

DIRECTIONS = ("down", "up")
"""The directions of a line; data of a download flows down."""

POINTS = tuple(map(str, range(64)))
"""The code points that packets may carry (DSCP), as text."""

COUNT_MAX = 10_000
"""The most flows of one item, and hosts of one class."""

OPENING = "([{"
CLOSING = ")]}"


@dataclass(frozen=True)
class Item:
    """One item of --flows: flows that are alike."""

    text: str
    """As it was written."""
    name: str
    """A congestion control, or one of TRAFFIC."""
    settings: str = ""
    """Settings in the text form, without their parentheses."""
    count: int | None = None
    rtt: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    called: str | None = None
    """The name of its flows, which their random numbers follow from; `None`: as it is written."""
    kind: str | None = None
    """The kind of users whose flows these are; `None`: users are not told apart."""

    @property
    def label(self) -> str:
        """The name of its flows."""
        if self.called is not None:
            return self.called
        return self.said()

    def said(self, count: str = "") -> str:
        """The item as it is written, with this behind its settings for its count."""
        settings = f"({self.settings})" if self.settings else ""
        options = f"({', '.join(f'{key}={value}' for key, value in self.options.items())})" if self.options else ""
        return f"{self.name}{settings}{count}{f'@{self.rtt}' if self.rtt else ''}{options}"

    @property
    def place(self) -> str:
        """The word of the question that it stands in, for messages and notes."""
        if self.kind is None:
            return f"--flows {self.text}"
        return f"--shared {self.kind}: {self.unmarked}"

    @property
    def unmarked(self) -> str:
        """The item as it is written, without its code point."""
        options = {name: value for name, value in self.options.items() if name != "dscp"}
        return replace(self, options=options).said(f":{self.count}" if self.count else "")

    @property
    def is_up(self) -> bool:
        """Whether its data flows up."""
        return self.options.get("direction") == "up"

    @property
    def is_greedy(self) -> bool:
        """Whether its flows take as much as their congestion control lets them, to the end."""
        return self.name not in (*TRAFFIC, RECORDED) and "size" not in self.options

    @property
    def has_transfers(self) -> bool:
        """Whether its flows are made of transfers, each of which takes a time."""
        return self.name == "web" or "size" in self.options

    def setting(self, name: str) -> str | None:
        """The text of a setting; `None` if it is not written."""
        return dict(pair for pair in map(_pair, split(self.settings)) if pair[1] is not None).get(name)


@dataclass(frozen=True)
class HostClass:
    """One item of --hosts: hosts with equally many connections."""

    text: str
    hosts: int
    connections: int


def split(text: str, at: str = ",") -> list[str]:
    """The parts of a list; what stands in parentheses is not split. An empty text has none."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in OPENING) - (letter in CLOSING)
        if letter == at and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if parts or last else []


def values(option: str, given: str | Sequence[str] | None) -> list[str]:
    """The values of a list, each once; UsageError names what is empty or written twice."""
    if given is None:
        return []
    # A line's end within a value is a space, as everywhere in text forms.
    found = [" ".join(value.split()) for value in (split(given) if isinstance(given, str) else given)]
    if not found:
        raise UsageError(f"{option} is empty; write a value, or several separated by commas")
    if not all(found):
        raise UsageError(f"{option}: there is no value between two commas or behind the last; write one, or no comma")
    for value in found:
        if found.count(value) > 1:
            count = ", with the sum as its count, as cubic:2" if option == "--flows" else ""
            raise UsageError(f"{option}: {value} is there twice; write it once{count}")
    return found


def buffers(given: str | Sequence[str] | None) -> list[str]:
    """The values of --buffer; bandwidth-delay products in the one spelling of scenarios."""
    capital = [re.sub(r"bdp$", "BDP", each, flags=re.IGNORECASE) for each in values("--buffer", given)]
    return values("--buffer", capital or None)


def quantity(option: str, kind: str, text: str) -> float:
    """A time in seconds, a rate in bit/s, or a size in bytes; UsageError names the option."""
    try:
        return {"time": quantities.time, "rate": quantities.rate, "size": quantities.size}[kind](text)
    except UsageError as error:
        raise UsageError(f"{option} {error}") from None


def part(option: str, given: str | float, of: str = "the packets", example: str = "1%") -> float:
    """A part of the packets, or of something else, from 0 to below 1: 0.01, or "1%"."""
    text = str(given).strip()
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise UsageError(f"{option} {text}: write a part of {of}, as {_number(example)} or {example}") from None
    if not 0 <= value < 1:
        raise UsageError(f"{option} {text}: a part of {of} is from 0 to below 1, as {_number(example)} or {example}")
    return value


def _number(percentage: str) -> str:
    return f"{float(percentage.removesuffix('%')) / 100:g}"


def part_at(option: str, text: str) -> tuple[float, str]:
    """A part of the packets and a time: "1%@5ms"."""
    some, at, time = text.partition("@")
    if not at:
        raise UsageError(f"{option} {text}: write which part of the packets is late, and by how much, as 1%@5ms")
    quantity(option, "time", time.strip())
    return part(option, some), time.strip()


def hosts(given: str | Sequence[str]) -> list[HostClass]:
    """The classes of --hosts: "16x1,1x4" is sixteen hosts with one connection and one with four."""
    found = [_host_class(text) for text in values("--hosts", given)]
    if len(set(found)) < len(found):
        raise UsageError("--hosts: a class is there twice; write the sum of its hosts once")
    return found


def _host_class(text: str) -> HostClass:
    many, cross, connections = text.lower().replace("×", "x").partition("x")
    where = f"--hosts {text}"
    if not cross or not many.strip().isascii() or not many.strip().isdigit() or not connections.strip().isdigit():
        raise UsageError(f"{where}: write hosts x connections of each, as 16x1 for 16 hosts with one each")
    found = HostClass(f"{int(many)}x{int(connections)}", int(many), int(connections))
    for number, what in ((found.hosts, "hosts"), (found.connections, "connections")):
        if not 1 <= number <= COUNT_MAX:
            raise UsageError(f"{where}: {number} {what}; write a number from 1 to {COUNT_MAX}")
    return found


def items(given: str | Sequence[str]) -> list[Item]:
    """The items of --flows; UsageError names the item that is wrong."""
    found = [item(text) for text in values("--flows", given)]
    labels = [each.label for each in found]
    for number, each in enumerate(found):
        if labels.index(each.label) != number:
            raise UsageError(
                f"--flows {each.text}: {each.label} is there twice; write it once, with the sum as its count"
            )
    return found


def item(text: str, *, is_tried: bool = False, option: str = "--flows") -> Item:
    """One item: `CONTROL[(settings)][:COUNT][@RTT][(start=, size=, direction=up|down, dscp=)]`.

    If it `is_tried` as what another text may mean, no third text is looked for. Messages name the
    `option` that it stands in.
    """
    where = f"{option} {text}"
    if any(letter in text for letter in "[]{}") and text.count("(") == 0:
        raise UsageError(f"{where}: settings stand in parentheses, as cubic(decrease=0.8)")
    name, rest = _word(text)
    if not name:
        raise UsageError(f"{where}: it begins with no name; write CONTROL[(settings)][:COUNT][@RTT], as cubic:2@40ms")
    if name not in controls() and name not in TRAFFIC:
        raise UsageError(where if is_tried else _unknown(where, text, name))
    found = Item(text, name)
    while rest:
        mark = rest[0]
        if mark == "(":
            inside, rest = _inside(where, rest)
            found = _with(where, found, inside)
        elif mark == ":":
            word, rest = _word(rest[1:])
            if found.count is not None:
                raise UsageError(f"{where}: a second count; write one, as {name}:2")
            found = replace(found, count=_count(where, name, word))
        elif mark == "@":
            word, rest = _word(rest[1:])
            if quantity(f"{where}:", "time", word) <= 0:
                raise UsageError(f"{where}: a round trip is above 0 s; write one, as {name}@40ms")
            found = replace(found, rtt=word)
        else:
            write = (not is_tried and _ours(text)) or "CONTROL[(settings)][:COUNT][@RTT], as cubic:2@40ms"
            raise UsageError(f"{where}: {rest!r} is no part of an item; write {write}")
    return _checked(where, found)


def _word(text: str) -> tuple[str, str]:
    """What stands before the next mark of an item, and the rest."""
    ends = [text.index(mark) for mark in ":@(" if mark in text]
    end = min(ends, default=len(text))
    return text[:end].strip(), text[end:].strip()


def _inside(where: str, text: str) -> tuple[str, str]:
    """What stands in the parentheses that a text begins with, and what stands behind them."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in OPENING) - (letter in CLOSING)
        if depth == 0:
            return text[1:place].strip(), text[place + 1 :].strip()
    raise UsageError(f"{where}: a parenthesis is not closed; write ) at its end")


def _with(where: str, found: Item, inside: str) -> Item:
    """An item with what a pair of parentheses says: options by their names, else settings."""
    settings, options = [], dict(found.options)
    for part in split(inside):
        key, value = _pair(part)
        is_own = key == "size" and found.name == "web"
        if key in OPTIONS and not is_own:
            if not value:
                raise UsageError(f"{where}: {key} has no value; write {key}={_EXAMPLES[key]}")
            if key in options:
                raise UsageError(f"{where}: {key} is there twice; write it once")
            options[key] = value
        elif not found.settings:
            settings.append(part)
        elif is_own:
            raise UsageError(
                f"{where}: {part} stands with the other settings of the web, as web({found.settings}, {part})"
            )
        else:
            raise UsageError(f"{where}: {key} is none of an item's words{near_miss(key, OPTIONS)}")
    return replace(found, settings=found.settings or ", ".join(settings), options=options)


_EXAMPLES = {"start": "5s", "size": "10MB", "direction": "up", "dscp": "10"}


def _pair(part: str) -> tuple[str, str | None]:
    """The name and the value of a setting."""
    key, equals, value = part.partition("=")
    return key.strip(), value.strip() if equals else None


def _count(where: str, name: str, word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise UsageError(f"{where}: {word!r} is no number of flows; write a whole number from 1 up, as {name}:2")
    if not 1 <= (count := int(word)) <= COUNT_MAX:
        raise UsageError(f"{where}: {count} flows; write a number from 1 to {COUNT_MAX}, as {name}:2")
    return count


def _checked(where: str, found: Item) -> Item:
    """The item, if what it says goes together."""
    if controls().get(found.name) == "uncontrolled":
        raise UsageError(
            f"{where}: {found.name} has no flow control; write flood(rate=20Mbit/s) or call(rate=100kbit/s)"
        )
    direction = found.options.get("direction", "down")
    if direction not in DIRECTIONS:
        raise UsageError(f"{where}: direction {direction!r}{near_miss(direction, DIRECTIONS)}")
    if "start" in found.options:
        quantity(f"{where}: start", "time", found.options["start"])
    if "size" in found.options:
        if found.name in TRAFFIC:
            raise UsageError(f"{where}: {found.name} has no size; give a congestion control one, as cubic(size=10MB)")
        if quantity(f"{where}: size", "size", found.options["size"]) < 1:
            raise UsageError(f"{where}: a size of no byte; write size=10MB")
    if "dscp" in found.options and found.options["dscp"] not in POINTS:
        raise UsageError(f"{where}: dscp {found.options['dscp']}: a code point is a number from 0 to 63, as dscp=10")
    if found.name in ("call", "flood"):
        for part in split(found.settings):
            if _pair(part)[0] != "rate":
                raise UsageError(f"{where}: {_pair(part)[0]}: {found.name} has a rate and no other setting")
        rate = found.setting("rate")
        if rate is None:
            example = "100kbit/s" if found.name == "call" else "20Mbit/s"
            raise UsageError(f"{where}: {found.name} needs a rate; write {found.name}(rate={example})")
        quantity(f"{where}: rate", "rate", rate)
    return found


_OWN: ContextVar[tuple[str, ...]] = ContextVar("own controls", default=())


@contextmanager
def knowing(own: Sequence[str]) -> Iterator[None]:
    """Take these names of own congestion controls as items, as long as a question is read."""
    token = _OWN.set(tuple(own))
    try:
        yield
    finally:
        _OWN.reset(token)


def controls() -> dict[str, str]:
    """Congestion controls and the other transports by name and by alias, and own controls."""
    return _registered() | {name: name for name in _OWN.get()}


@cache
def _registered() -> dict[str, str]:
    entries = registry.listing("transports")
    return {name: entry["name"] for entry in entries for name in (entry["name"], *entry["aliases"])}


BESIDE: dict[str, dict[str, str | int]] = {
    # Older than the recovery of today's systems, in which its window of one packet would not grow.
    "tahoe": {"recovery": "tahoe"},
    # It goes by the gaps of answers, and needs one for each packet.
    "packet_pair": {"acknowledge_every": 1},
}
"""What a control needs of its connection, whatever the profile has."""


def beside(name: str) -> dict[str, str | int]:
    """What the control called so needs of its connection beside the profile."""
    return BESIDE.get(controls().get(name, name), {})


MARKED = ("dctcp", "decbit", "prague")
"""Controls whose packets ask for marks without being told to."""


def can_mark(name: str) -> bool:
    """Whether marks mean something to an item: to its control, or to the web's CUBIC."""
    control = controls().get("cubic" if name == "web" else name)
    return control is not None and (control in MARKED or takes(control, ("transport",), "ecn"))


def takes(name: str, parts: Sequence[str], setting: str) -> bool:
    """Whether an entry of the registry, as one of these parts, has a setting that is off."""
    cards = [card for card in registry.cards(name) if card["part"] in parts]
    return any(each["name"] == setting and each["default"] is False for card in cards for each in card["settings"])


_COUNT_BEFORE = re.compile(r"(?P<count>\d+)\s*[x×*]?\s*(?P<item>[^\W\d].*)")
_COUNT_BEHIND = re.compile(r"(?P<item>.+?)\s*(?:[x×*]|\s)\s*(?P<count>\d+)")


def _unknown(where: str, text: str, name: str) -> str:
    """What is said of an item whose name is not known: what to write in its place."""
    if (ours := _ours(text)) is None:
        return f"{where}: {name} is no congestion control{near_miss(name, [*controls(), *TRAFFIC])}"
    if name.lower() == "tcp":
        others = sorted({*controls()} - {"none", "uncontrolled"})
        return f"{where}: TCP has a congestion control; write {ours}, or another of {', '.join(others)}"
    return f"{where}: {name} is no congestion control; did you mean {ours}?"


def _ours(text: str) -> str | None:
    """The item that is meant by words of other tools, or by 2xcubic, cubic*2; `None` if none is."""
    counted = _COUNT_BEFORE.fullmatch(text) or _COUNT_BEHIND.fullmatch(text)
    written, count = (counted["item"], f":{counted['count']}") if counted else (text, "")
    name, rest = _word(written)
    known = [*controls(), *TRAFFIC]
    ours = name if name in known else meant(name, known)
    if ours is None or ours == text:
        return None
    for candidate in (f"{ours.partition('(')[0]}{rest}", f"{ours}{rest}", ours):
        try:
            found = item(candidate, is_tried=True)
            return found.said(count) if count else candidate
        except UsageError:
            continue
    return None
