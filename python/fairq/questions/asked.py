"""A question as it was asked: its words checked, and the groups of flows that have a row each."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fairq import _native
from fairq.errors import UsageError
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
        """Where its data flows to."""
        return "up" if self.item.is_up else "down"


@dataclass(frozen=True)
class Setup:
    """What commands set up on the line, down and up: its queues, and the rates that it then has."""

    name: str
    queues: tuple[str, str]
    rates: tuple[str, str]


@dataclass(frozen=True)
class Question:
    """Flows over one line; every queue is compared with every host queue, buffer and round trip."""

    rate: str
    flows: tuple[Item, ...]
    rtts: tuple[str, ...] = ()
    hosts: tuple[HostClass, ...] = ()
    queues: tuple[str, ...] = QUEUES
    host_queues: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    ecn: bool = False
    losses: tuple[Loss, ...] = ()
    """Several only if each item is alone."""
    alone: bool = False
    """Whether each item of flows has a line of its own."""
    jitter: str | None = None
    reorder: str | None = None
    seeds: int = SEEDS
    duration: str | None = None
    """The measured time; `None` is found by the runs (steady.py)."""
    warm_up: str | None = None
    profile: str = PROFILE
    receive_window: str | None = None
    latency_target: str | None = None
    """Within which the packets of calls are to arrive, if that is asked for."""
    seed: int = 1
    """The first seed; the others follow it."""
    setups: tuple[Setup, ...] = ()
    """What takes the place of the queues, if there is any: `queues` are then the names of these."""
    asked_by: str | None = None
    """The command that asks it; `None` is `fairq compare`."""

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
        times = [("--duration", self.duration), ("--warm-up", self.warm_up)]
        if self.asked_by is not None:
            return " ".join([self.asked_by, *filter(None, [_options(times)])])
        said: list[tuple[str, str | None]] = [
            ("--rate", self.rate),
            ("--rtt", ",".join(self.rtts) or None),
            ("--flows", ",".join(item.text for item in self.flows)),
            ("--hosts", ",".join(each.text for each in self.hosts) or None),
            ("--queue", ",".join(self.queues)),
            ("--host-queue", ",".join(self.host_queues) or None),
            ("--buffer", ",".join(self.buffers) or None),
            ("--loss", ",".join(loss.text for loss in self.losses) or None),
            ("--jitter", self.jitter),
            ("--reorder", self.reorder),
            ("--seeds", str(self.seeds)),
            *times,
            ("--profile", self.profile),
            (windows.OPTION, self.receive_window),
        ]
        flags = [name for name, is_on in (("--alone", self.alone), ("--ecn", self.ecn)) if is_on]
        return " ".join(["fairq compare", _options(said), *flags])

    def document(self) -> dict[str, Any]:
        """The question as `--json` prints it."""
        return {
            "command": self.command,
            "rate": self.rate,
            "rtt": list(self.rtts),
            "flows": [item.text for item in self.flows],
            "hosts": [each.text for each in self.hosts],
            "queue": list(self.queues),
            "host_queue": list(self.host_queues),
            "buffer": list(self.buffers),
            "ecn": self.ecn,
            "loss": self.loss.part if self.loss else None,
            "loss_burst": self.loss.burst if self.loss else None,
            "jitter": self.jitter,
            "reorder": self.reorder,
            "seeds": self.seeds,
            "duration": self.duration,
            "warm_up": self.warm_up,
            "profile": self.profile,
            "receive_window": self.receive_window,
        }


def ask(
    *,
    rate: str,
    flows: str | Sequence[str],
    rtt: str | Sequence[str] | None = None,
    hosts: str | Sequence[str] | None = None,
    queue: str | Sequence[str] | None = None,
    host_queue: str | Sequence[str] | None = None,
    buffer: str | Sequence[str] | None = None,
    ecn: bool = False,
    loss: str | float | Sequence[str] | None = None,
    alone: bool = False,
    jitter: str | None = None,
    reorder: str | None = None,
    seeds: int = SEEDS,
    duration: str | None = None,
    warm_up: str | None = None,
    profile: str = PROFILE,
    receive_window: str | None = None,
) -> Question:
    """The question of these words; UsageError names a wrong word, and what would make sense."""
    question = Question(
        rate=rate,
        flows=tuple(words.items(flows)),
        rtts=tuple(words.values("--rtt", rtt)),
        hosts=tuple(words.hosts(hosts)) if hosts is not None else (),
        queues=tuple(words.values("--queue", queue)) or QUEUES,
        host_queues=tuple(words.values("--host-queue", host_queue)),
        buffers=tuple(words.buffers(buffer)),
        ecn=ecn,
        losses=losses(loss, is_alone=alone),
        alone=alone,
        jitter=jitter,
        reorder=reorder,
        seeds=seeds,
        duration=duration,
        warm_up=warm_up,
        profile=profile,
        receive_window=receive_window,
    )
    _check_alone(question)
    _check_hosts(question)
    _check_round_trips(question)
    check_queues(question)
    _check_times(question)
    if receive_window is not None:
        windows.packets(receive_window)
    if jitter is not None:
        words.quantity("--jitter", "time", jitter)
    if reorder is not None:
        words.part_at("--reorder", reorder)
    return question


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
            found.append({"code": "start", "where": f"--flows {item.text}", "text": text})
    for item in question.flows if question.ecn else ():
        if not words.can_mark(item.name):
            text = "it takes no marks: its packets are dropped where others' are marked"
            found.append({"code": "ecn", "where": f"--flows {item.text}", "text": text})
    found += [
        {"code": "tail", "where": f"--flows {item.text}", "text": HEAVY_TAIL}
        for item in question.flows
        if item.name == "web" and "size" not in item.settings
    ]
    if not question.buffers:
        text = "none is named, so that each queue has its limit in Linux; write for example --buffer 1BDP"
        found.append({"code": "buffer", "where": "--buffer", "text": text})
    return found


def is_pacer(queue: str) -> bool:
    """Whether a host queue paces its connections."""
    parts = json.loads(_native.queue(queue))
    return any(parts.get(part, {}).get("kind") in PACERS for part in ("design", "scheduler"))


def _options(said: Sequence[tuple[str, str | None]]) -> str:
    """Options with their values, as a shell takes them; without those that have none."""
    return shlex.join([word for option, value in said if value is not None for word in (option, value)])


def _seconds(text: str) -> float:
    return words.quantity("--rtt", "time", text)


def _check_alone(question: Question) -> None:
    if not question.alone:
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
                    f"--flows {item.text}: a round trip of {item.rtt} is below the line's own, {rtt}; write @{rtt} or "
                    "more, or a shorter --rtt"
                )


def check_queues(question: Question) -> None:
    """UsageError if a queue cannot be, or names the room that --buffer gives as well."""
    for option, queues in (("--queue", question.queues), ("--host-queue", question.host_queues)):
        for queue in queues:
            try:
                parts = json.loads(_native.queue(queue))
            except UsageError as error:
                raise UsageError(_of_tc(queue) or error.fault, where=f"{option} {queue}") from None
            if option == "--queue" and question.buffers and parts.get("limit") is not None:
                raise UsageError(
                    f"--queue {queue}: it names its own limit; leave --buffer out, or write the queue without the limit"
                )


def _of_tc(queue: str) -> str | None:
    """What to write for a queue in the words of tc; `None` if these are none."""
    from fairq import tc

    try:
        found = tc.read_words(queue)
        _native.queue(found.text)
    except UsageError:
        return None
    # Linux's limit is the default here as well, and --buffer may take its place.
    write = found.text if "limit" in queue else found.text.partition(" + ")[0]
    more = "; fairq tc --read says what differs" if found.differs else ""
    return f"these are words of tc; write {write}{more}"


def _check_times(question: Question) -> None:
    if question.seeds < 1:
        raise UsageError(f"--seeds {question.seeds}: write a whole number from 1 up")
    warm_up = words.quantity("--warm-up", "time", question.warm_up or "0 s")
    duration = math.inf if question.duration is None else words.quantity("--duration", "time", question.duration)
    if duration <= 0:
        raise UsageError(f"--duration {question.duration}: a run needs some time to measure; write for example 30s")
    for item in question.flows:
        start = item.options.get("start")
        if start is not None and words.quantity("start", "time", start) >= warm_up + duration:
            raise UsageError(
                f"--flows {item.text}: it starts at the end of the run, {warm_up + duration:g} s, or later; write an "
                "earlier start or a longer --duration"
            )
