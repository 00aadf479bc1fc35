"""What `fairq advise` ranks: queues and buffers of Linux, each as its own tc commands set it up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import fairq._native as _native
from fairq import traffic_control as tc
from fairq.core import quantities
from fairq.core.errors import UsageError
from fairq.questions import class_trees, network, words
from fairq.questions import rates as rates_of
from fairq.questions.asked import Question, Setup
from fairq.questions.class_trees import ForKinds
from fairq.questions.sharing import Kind
from fairq.traffic_control import TcCommands

USUAL = ("codel", "pie", "red", "linux_sfq", "linux_fq", "fq_codel", "fq_pie", "cake")
"""Queues with the limit that they have in Linux."""

LINUX_FIFO = "1000packets"
"""The room of a FIFO in Linux: the queue of a device, `txqueuelen`."""

FIFO_ROUND_TRIPS = (0.5, 1.0, 2.0)
"""The rooms of other FIFOs, in the longest round trip at the rate that is set up."""


class Candidate(NamedTuple):
    """A queue, how much may wait, and what its commands set up."""

    queue: str
    """The queue in its text form, as the user wrote it."""
    buffer: str | None
    """`None` is its limit in Linux."""
    written: Mapping[str, TcCommands]
    """The commands by direction."""
    setup: Setup
    """What `fairq tc --read` makes of the commands: this is run."""
    shaped: Mapping[str, float]
    """The rates that the commands set up by direction, in bit/s."""
    kinds: Sequence[Kind] = ()
    """The kinds of users that it has classes for."""

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.setup.name

    @property
    def is_other(self) -> bool:
        """Whether tc has no such discipline, so that another one is set up."""
        rows = (row for each in self.written.values() for row in each.differs)
        return any(_of(row) == "discipline" for row in rows)


class Grid(NamedTuple):
    """Each of these queues with each of these buffers; without buffers, with its limit in Linux."""

    queues: tuple[str, ...]
    buffers: tuple[str, ...]


class Devices(NamedTuple):
    """The devices of the commands, and how far below the rate of the line they shape, as a part of it."""

    dev: str
    lan: str
    below: float

    def of(self, way: str) -> str:
        """The device that sends in a direction."""
        return self.lan if way == "down" else self.dev


def grids(rtts: Sequence[str], queue: str | Sequence[str] | None, buffer: str | Sequence[str] | None) -> list[Grid]:
    """The candidates of a line with these round trips: those that are named, or the usual ones."""
    queues, buffers = words.values("--queue", queue), words.values("--buffer", buffer)
    for text in queues:
        if text.partition(class_trees.WITH)[0] in class_trees.TREES:
            raise UsageError(f"--queue {text}: a tree of classes is for kinds of users; write --shared as well")
        _plain(text)
    if queues:
        return [Grid(tuple(queues), tuple(buffers))]
    if buffers:
        return [Grid(("fifo",), tuple(buffers)), Grid(USUAL, ())]
    longest = max(words.quantity("--rtt", "time", rtt) for rtt in rtts)
    rooms = [f"{longest * part * 1000:.6g}ms" for part in FIFO_ROUND_TRIPS]
    return [Grid(("fifo",), (LINUX_FIFO, *reversed(rooms))), Grid(USUAL, ())]


def for_kinds(queue: str | Sequence[str] | None, kinds: Sequence[Kind]) -> list[str | ForKinds]:
    """The candidates of a line that kinds of users share: those named, or the usual ones."""
    names = words.values("--queue", queue) or [*class_trees.USUAL, *class_trees.PLAIN]
    return [class_trees.named(name, kinds) or _plain(name) for name in names]


def _plain(queue: str) -> str:
    """A queue without classes of the kinds; UsageError if tc cannot have it."""
    try:
        tc.write(queue)
    except UsageError as error:
        raise UsageError(error.fault, where=f"--queue {queue}") from None
    return queue


def candidates(line: Question, of: Sequence[Grid], devices: Devices) -> Iterator[Candidate]:
    """The candidates of a line; UsageError names one whose commands cannot be read back."""
    for grid in of:
        for buffer in grid.buffers or (None,):
            rooms = _rooms(line, buffer, devices.below) if buffer is not None else {}
            for queue in grid.queues:
                yield _candidate(line, queue, buffer, rooms, devices)


def shared(line: Question, of: Sequence[str | ForKinds], devices: Devices) -> Iterator[Candidate]:
    """The candidates of a line that kinds of users share, likewise."""
    for each in of:
        yield _candidate(line, each, None, {}, devices) if isinstance(each, str) else _tree(line, each, devices)


def _candidate(
    line: Question, queue: str, buffer: str | None, rooms: Mapping[str, str], devices: Devices
) -> Candidate:  # fmt: skip
    name = queue if buffer is None else f"{queue} of {buffer}"
    written = {}
    for way, rate in zip(words.DIRECTIONS, line.rates, strict=True):
        text = queue if buffer is None else f"{queue} + {rooms[way]}"
        written[way] = tc.write(text, devices.of(way), rate_bit_per_s=_below(rate, devices.below))
    return _set_up(line, Candidate(queue, buffer, written, Setup(name, ("", ""), ("", "")), {}))


def _tree(line: Question, tree: ForKinds, devices: Devices) -> Candidate:
    """A tree of classes, whose text has rates of its own in each direction."""
    written = {}
    for way, rate in zip(words.DIRECTIONS, line.rates, strict=True):
        below = _below(rate, devices.below)
        rate_bit_per_s = None if tree.tree.shapes else below
        try:
            written[way] = tc.write(tree.text(below), devices.of(way), rate_bit_per_s=rate_bit_per_s)
        except UsageError as error:
            raise UsageError(error.fault, where=f"--queue {tree.name}") from None
    named = Candidate(tree.name, None, written, Setup(tree.name, ("", ""), ("", "")), {}, tree.kinds)
    made = _set_up(line, named)
    shaped = {way: _below(rate, devices.below) for way, rate in zip(words.DIRECTIONS, line.rates, strict=True)}
    return made._replace(shaped=shaped)


def _set_up(line: Question, candidate: Candidate) -> Candidate:
    """A candidate with what its commands set up, as `tc.read` reads them."""
    queues, rates, shaped = [], [], {}
    for way, rate in zip(words.DIRECTIONS, line.rates, strict=True):
        # The device sends faster than a line whose rate it cannot follow.
        own_rate = f"{network.access_bit_per_s(line)}bit/s" if line.is_moving else rate
        try:
            read = tc.read("\n".join(candidate.written[way].commands))
        except UsageError as error:
            fault = f"its tc commands cannot be read back: {error.fault}"
            raise UsageError(fault, where=f"--queue {candidate.queue}") from None
        queues.append(read.text)
        rates.append(read.rate or own_rate)
        # CAKE shapes by itself, in front of the line.
        own = (json.loads(_native.queue(read.text)).get("design") or {}).get("rate")
        shaped[way] = min(quantities.rate(each) for each in (own, rates[-1]) if each is not None)
    setup = Setup(candidate.name, (queues[0], queues[1]), (rates[0], rates[1]))
    return candidate._replace(setup=setup, shaped=shaped)


def _below(rate: str, below: float) -> float:
    """The rate at which tc shapes a line of this one, in bit/s: below the lower end of a walk."""
    return rates_of.least(rate) * (1 - below)


def _rooms(line: Question, buffer: str, below: float) -> dict[str, str]:
    """How much may wait by direction, at the rates that are set up and the longest round trip."""
    down, up = (f"{round(_below(rate, below))}bit/s" for rate in line.rates)
    longest = max(line.line_rtts, key=lambda rtt: words.quantity("--rtt", "time", rtt))
    room = replace(line, rate=f"{down}/{up}", rtts=(longest,), queues=("fifo",), buffers=(buffer,))
    lines = json.loads(_native.lines(network.scenario(room).text, "advise", []))
    ways = {each["direction"]: each["queue"]["limit"] for each in lines if each["link"] == network.LINE}
    return {
        way: "".join(ways[direction].split())
        for way, direction in zip(words.DIRECTIONS, ("forward", "reverse"), strict=True)
    }


def _least(rates: Sequence[str]) -> str:
    """What tc shapes below."""
    if any(rates_of.is_moving(rate) for rate in rates):
        return "the lower end of a walk or the mean of a trace"
    return "the line"


def _of(row: Mapping[str, str]) -> str:
    """The setting of a row, without the class of a leaf before it."""
    return row["setting"].rpartition(": ")[2]


def _marks(kinds: Sequence[Kind]) -> Iterator[str]:
    """What tells the kinds of users apart in the filters."""
    for kind in kinds:
        if kind.point is not None:
            yield f"{kind.name}: packets with code point {kind.point}; mark them, both ways, before they come here"
        else:
            yield f"{kind.name}: all other packets"


def commands(candidate: Candidate, rates: Sequence[str], devices: Devices) -> list[str]:
    """The tc commands of a candidate for these rates, each after a comment on its device."""
    said = [
        f"# Shaped {100 * devices.below:.3g} % below {_least(rates)}: else packets wait in the modem or at the "
        "provider, not here."
        if devices.below
        else "# Shaped at the line's rate: packets wait here only if the device is the line itself."
    ]
    said += [f"# {line}" for line in _marks(candidate.kinds)]
    where = {"down": "to your network", "up": "to the line"}
    for way, rate in zip(words.DIRECTIONS, rates, strict=True):
        written = candidate.written[way]
        # Where no limit was said, it was Linux's here as well; a leaf's row begins with its class.
        differs = [row for row in written.differs if _of(row) != "limit" or row["here"] != "not said"]
        said += [f"# {way}, {rate}: {devices.of(way)} is the device {where[way]}"]
        said += written._replace(differs=differs).as_lines()
    return said
