"""A question as it was asked: its words checked, and the groups of flows that have a row each."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import fairq._native as _native
from fairq.core import declared, own
from fairq.core.arguments import read
from fairq.core.declared import LIST, PART, command_line, said, word
from fairq.core.errors import UsageError
from fairq.core.own import Own, Parts
from fairq.core.parts import Control
from fairq.core.wings import wing
from fairq.questions import rates, words
from fairq.questions import receive_window as windows
from fairq.questions.losses import Loss, losses
from fairq.questions.words import HostClass, Item

SEEDS, PROFILE = 10, "linux"
"""What a question has where it says nothing."""

WARM_UP, DURATION = "5 s", "30 s"
"""The times that a search for steady ones begins with, on a line of up to 100 Mbit/s."""

QUEUES = ("fifo",)
"""The queue of a question that names none."""

HEAVY_TAIL = (
    "sizes of its transfers have no finite variance (Pareto, shape 1.2): ten seeds mostly miss the rare long ones, so "
    "that 95 % intervals of shares beside it hold in some 80 %; write more --seeds"
)
"""What to know of shares beside a user of the web."""

PAPERS = {"fq": "linux_fq", "sfq": "linux_sfq"}
"""Names that a paper and Linux have for different disciplines, and Linux's here."""

PACERS = ("linux_fq", "fq_pacing")
"""Disciplines that pace what a host sends."""


@dataclass(frozen=True)
class Group:
    """Flows that the answer has one row for."""

    label: str
    item: Item
    count: int
    host_class: HostClass | None = None

    @property
    def direction(self) -> str:
        """The direction of its data: up or down."""
        return "up" if self.item.is_up else "down"


@dataclass(frozen=True)
class Setup:
    """What commands set up on the line, down and up: its queues, and the rates that it then has."""

    name: str
    queues: tuple[str, str]
    rates: tuple[str, str]


def listed(flag: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """The values of a list."""
    return tuple(words.values(flag, given))


def _time(flag: str, given: str) -> str:
    """A time, checked; it stays its text, which a scenario takes."""
    words.quantity(flag, "time", given)
    return given


def _late(flag: str, given: str) -> str:
    """A part that is late and by how much, likewise."""
    words.part_at(flag, given)
    return given


def _window(_: str, given: str) -> str:
    """A receive window, likewise."""
    windows.packets(given)
    return given


@dataclass(frozen=True, kw_only=True)
class Question:
    """Flows over one line; every queue is compared with every host queue, buffer and round trip."""

    # fmt: off
    rate: str = word(
        "the line's rate, as 50Mbit/s/10Mbit/s, 30Mbit/s..130Mbit/s, or trace:FILE", "DOWN[/UP]",
        required=True,
        at=("links[0].rate", "links[0].reverse_rate", "links[0].trace", "links[0].reverse_trace")
    )
    rtts: tuple[str, ...] = word(
        "round trips without queueing, as 20ms,80ms", "LIST", LIST, name="rtt", value=(), read=listed,
        at=("links[0].delay",)
    )
    flows: tuple[Item, ...] = word(
        "the flows, as cubic:2,bbr@80ms", "LIST", LIST, required=True,
        read=lambda _, given: tuple(words.items(given))
    )
    hosts: tuple[HostClass, ...] = word(
        "put the flows on H clients with C connections each, as 16x1,1x4", "HxC,…", LIST, value=(),
        read=lambda _, given: tuple(words.hosts(given))
    )
    queues: tuple[str, ...] = word(
        "queues of the line, as fifo,fq_codel,cake (default fifo)", "LIST", LIST, name="queue",
        value=QUEUES, read=listed, at=("links[0].queue",)
    )
    host_queues: tuple[str, ...] = word(
        "queues of the sending hosts, as linux_fq,fq_codel", "LIST", LIST, name="host_queue", value=(),
        read=listed
    )
    buffers: tuple[str, ...] = word(
        "buffers of the line's queue, as 1BDP,60kB (default: Linux's limits)", "LIST", LIST, name="buffer",
        value=(), read=lambda _, given: tuple(words.buffers(given)), at=("links[0].buffer",)
    )
    ecn: bool = word("use ECN where both ends can: mark in place of dropping", kind="bool", default=False)
    losses: tuple[Loss, ...] = word(
        "lose this part of the packets, as 1% or in bursts as 2%@burst=5", "PART",
        f"{PART} | Sequence[str]", name="loss", value=(), read=lambda _, given: losses(given),
        at=("links[0].loss",)
    )
    """Several only if each item is alone."""
    alone: bool = word(
        "give each item of --flows a line of its own; --loss may then be a list", kind="bool", default=False
    )
    jitter: str | None = word(
        "delay each packet by a random time up to this, without reordering", "TIME", read=_time, at=("links[0].jitter",)
    )
    reorder: str | None = word(
        "send this part of the packets late, as 1%@5ms", "PART@TIME", read=_late, at=("links[0].reorder",)
    )
    seeds: int = word(
        f"seeds: runs of each point with other random numbers (default {SEEDS})", "N", "int", default=SEEDS,
        at=("measure.replications",)
    )
    duration: str | None = word(
        "measure this long (default: until shares and delays stand still)", "TIME", at=("measure.duration",)
    )
    """The measured time; `None` is found by the runs (steady.py)."""
    warm_up: str | None = word(
        "leave out this time at the beginning (default: found by the runs)", "TIME", at=("measure.warm_up",)
    )
    profile: str = word(
        f"the system of the hosts (default {PROFILE})", "NAME", default=PROFILE, at=("defaults.connection",)
    )
    receive_window: str | None = word(
        "the receive window, as 6MB or 4000packets (default: the profile's)", "SIZE", read=_window
    )
    # fmt: on
    latency_target: str | None = None
    """Within which the packets of calls are to arrive, if that is asked for."""
    seed: int = 1
    """The first seed; the others follow it."""
    setups: tuple[Setup, ...] = ()
    """What takes the place of the queues, if there is any: `queues` are then the names of these."""
    asked_by: str | None = None
    """The command that asks it; `None` is `fairq compare`."""
    own: Own | None = None
    """Own parts that its queues and flows may name."""

    @property
    def loss(self) -> Loss | None:
        """What the line loses; of several the first."""
        return next(iter(self.losses), None)

    def parts(self) -> list[Question]:
        """The questions of the items alone, each with each loss."""
        return [
            replace(self, flows=(item,), losses=(loss,) if loss else (), alone=False)
            for loss in self.losses or (None,)
            for item in self.flows
        ]

    @cached_property
    def rates(self) -> tuple[str, str]:
        """The rates of the line, down and up."""
        return rates.of_ways(self.rate)

    @property
    def is_behind(self) -> bool:
        """Whether what commands set up stands behind the line, whose rate they cannot follow."""
        return bool(self.setups) and self.is_moving

    @property
    def is_moving(self) -> bool:
        """Whether the line's rate changes in some direction."""
        return any(map(rates.is_moving, self.rates))

    def rate_bit_per_s(self, way: str) -> float:
        """The line's nominal rate in a direction."""
        return rates.nominal("--rate", self.rates[words.DIRECTIONS.index(way)])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of flows: one for each item, or for each item on each class of hosts."""
        if not self.hosts:
            return tuple(Group(item.label, item, item.count or 1) for item in self.flows)
        return tuple(
            Group(f"{each.text} {item.label}", item, each.hosts * self.connections(each, at), each)
            for each in self.hosts
            for at, item in enumerate(self.flows)
            if self.connections(each, at)
        )

    def connections(self, host_class: HostClass, item: int) -> int:
        """The connections of a host that are of the item with this number: they take turns."""
        return len(range(item, host_class.connections, len(self.flows)))

    @property
    def line_rtts(self) -> tuple[str, ...]:
        """The round trips of the line itself; if none was said, the shortest of the flows'."""
        if self.rtts:
            return self.rtts
        return (min((item.rtt for item in self.flows if item.rtt), key=_seconds),)

    def rtt_s(self, item: Item, line_rtt: str) -> float:
        """The round trip of an item's flows without queueing, where the line has this one."""
        return _seconds(item.rtt or line_rtt)

    @property
    def has_up(self) -> bool:
        """Whether data flows up, too."""
        return any(item.is_up for item in self.flows)

    @property
    def has_down(self) -> bool:
        """Whether data flows down."""
        return not all(item.is_up for item in self.flows)

    @cached_property
    def command(self) -> str:
        """The command that asks it."""
        asks = said(self)
        if self.asked_by is not None:
            # It says all but the times, which were found.
            times = [each for each in asks if each[0].name in ("duration", "warm_up")]
            return f"{self.asked_by} {command_line('', times)}".rstrip()
        return command_line("fairq compare", asks)

    def document(self) -> dict[str, Any]:
        """The question as `--json` prints it."""
        found: dict[str, Any] = {"command": self.command}
        for field, option, _ in declared.words(Question):
            value = getattr(self, field)
            several = isinstance(value, tuple)
            found[option.name] = [getattr(each, "text", each) for each in value] if several else value
            if option.name == "loss":
                found["loss"] = self.loss.part if self.loss else None
                found["loss_burst"] = self.loss.burst if self.loss else None
        # A question of items alone has a document of its own.
        del found["alone"]
        return found


def ask(parts: Parts | Own | None = None, **given: Any) -> Question:
    """The question of the words of `Question`; UsageError names a wrong word and what to write.

    Queues and flows may name own `parts`.
    """
    if parts is None:
        question = read(Question, "compare", given)
    else:
        known = own.read(parts)
        assert known is not None, "there are parts"
        with words.knowing(known.names(Control)):
            question = replace(read(Question, "compare", given), own=known)
    check(question)
    return question


def check(question: Question) -> None:
    """UsageError if words of a question do not go together."""
    _check_alone(question)
    _check_hosts(question)
    _check_round_trips(question)
    check_queues(question)
    _check_times(question)


def notes(question: Question) -> list[dict[str, str]]:
    """What to know of the question: names that are others elsewhere, defaults that count."""
    found = []
    for option, queues in (("--queue", question.queues), ("--host-queue", question.host_queues)):
        for name, linux in PAPERS.items():
            if any(name in words.split(queue, "+") for queue in queues):
                text = f"the papers'; Linux's is {linux}"
                found.append({"code": "papers", "where": f"{option} {name}", "text": text})
    begins = None if question.warm_up is None else words.quantity("--warm-up", "time", question.warm_up)
    for item in question.flows:
        start = item.options.get("start", "0 s")
        if begins is not None and words.quantity("start", "time", start) > begins:
            text = f"the measured time begins at {question.warm_up}, before it starts: what the flows get is a mean of "
            text += f"the times without it and with it; write a --warm-up of {start} or more"
            found.append({"code": "start", "where": item.place, "text": text})
    for item in question.flows if question.ecn else ():
        if not words.can_mark(item.name):
            text = "it takes no marks: its packets are dropped where others' are marked"
            found.append({"code": "ecn", "where": item.place, "text": text})
    found += [
        {"code": "tail", "where": item.place, "text": HEAVY_TAIL}
        for item in question.flows
        if item.name == "web" and "size" not in item.settings
    ]
    if not question.buffers:
        text = "none is named, so that each queue has its limit in Linux; write for example --buffer 1BDP"
        found.append({"code": "buffer", "where": "--buffer", "text": text})
    return found


def is_pacer(queue: str, own: Own | None = None) -> bool:
    """Whether a host queue paces its connections."""
    parts = json.loads(_native.queue(queue, own))
    return any(parts.get(part, {}).get("kind") in PACERS for part in ("design", "scheduler"))


def _seconds(text: str) -> float:
    return words.quantity("--rtt", "time", text)


def _check_alone(question: Question) -> None:
    if not question.alone:
        if len(question.losses) > 1:
            texts = ",".join(loss.text for loss in question.losses)
            raise UsageError(f"--loss {texts}: several losses go with --alone; write --alone, or one loss")
        return
    if question.hosts:
        raise UsageError("--alone: an item has no host beside others there; leave --hosts out")
    for item in question.flows:
        if item.name in words.TRAFFIC:
            raise UsageError(f"--flows {item.text}: --alone is for congestion controls, as cubic; leave this item out")
        if item.rtt is not None:
            raise UsageError(
                f"--flows {item.text}: a line of its own has the round trip of --rtt; write --rtt {item.rtt}, "
                "or several as 10ms,40ms"
            )


def _check_hosts(question: Question) -> None:
    if not question.hosts:
        return
    for item in question.flows:
        if item.count is not None:
            raise UsageError(
                f"--flows {item.text}: --hosts says how many connections there are; write {item.name} without "
                f":{item.count}"
            )
    most = max(each.connections for each in question.hosts)
    for at, item in enumerate(question.flows):
        if at >= most:
            raise UsageError(
                f"--flows {item.text}: no host has {at + 1} connections, so that none would be of it; write "
                f"--hosts …x{at + 1}, or leave it out"
            )


def _check_round_trips(question: Question) -> None:
    without = [item for item in question.flows if item.rtt is None]
    if not question.rtts and without:
        item = without[0]
        own = f"{item.name}({item.settings})@40ms" if item.settings else f"{item.name}@40ms"
        raise UsageError(
            f"--rtt is missing: write the round trip without queueing, as --rtt 40ms, or one for each item, as {own}"
        )
    for rtt in question.rtts:
        if _seconds(rtt) <= 0:
            raise UsageError(f"--rtt {rtt}: a round trip is above 0 s; write for example 40ms")
    if len(question.rtts) > 1 and not without:
        raise UsageError("--rtt: each item of --flows has a round trip of its own; leave --rtt out, or the @…")
    for item in question.flows:
        for rtt in question.rtts:
            if item.rtt is not None and _seconds(item.rtt) < _seconds(rtt):
                raise UsageError(
                    f"{item.place}: a round trip of {item.rtt} is below the line's own, {rtt}; write @{rtt} or "
                    "more, or a shorter --rtt"
                )


def check_queues(question: Question) -> None:
    """UsageError if a queue cannot be, or names the room that --buffer gives as well."""
    for option, queues in (("--queue", question.queues), ("--host-queue", question.host_queues)):
        for queue in queues:
            try:
                parts = json.loads(_native.queue(queue, question.own))
            except UsageError as error:
                raise UsageError(_of_tc(queue) or error.fault, where=f"{option} {queue}") from None
            if option == "--queue" and question.buffers and parts.get("limit") is not None:
                raise UsageError(
                    f"--queue {queue}: it names its own limit; leave --buffer out, or write the queue without the limit"
                )


def _of_tc(queue: str) -> str | None:
    """What to write for a queue in the words of tc; `None` if these are none."""
    linux = wing("traffic_control.for_questions") if _native.has_unknown_words(queue) else None
    remedy: str | None = linux.remedy(queue) if linux else None
    return remedy


def _check_times(question: Question) -> None:
    warm_up = words.quantity("--warm-up", "time", question.warm_up or "0 s")
    duration = math.inf if question.duration is None else words.quantity("--duration", "time", question.duration)
    if duration <= 0:
        raise UsageError(f"--duration {question.duration}: a run needs some time to measure; write for example 30s")
    for item in question.flows:
        start = item.options.get("start")
        if start is not None and words.quantity("start", "time", start) >= warm_up + duration:
            raise UsageError(
                f"{item.place}: it starts at the end of the run, {warm_up + duration:g} s, or later; write an "
                "earlier start or a longer --duration"
            )
