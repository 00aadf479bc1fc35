"""A run that one holds: taken event by event, looked at, changed, and taken back.

Every link that is held shows each of its packets; others keep their shortcuts. Looking at a run
changes nothing of it, and taken back it is the same again: `digest` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import fairq._native as _native
from fairq.core import shown
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.pictured import Pictured
from fairq.core.results import Result, Table, table

if TYPE_CHECKING:
    from fairq.core.inputs import Text

When = str | float
"""A time from the start of the run: text with a unit, as "10 s", or seconds."""

EVENTS = (
    *("arrived", "began", "sent", "delivered", "marked", "dropped", "lost"),
    *("flow_began", "flow_ended", "window", "retransmitted", "timed_out", "level"),
)
"""What happens: to a packet at a link, to a flow, to a receiver of a session."""

LOOKS = ("waiting", "states", "series", "flows", "links", "queues", "transfers", "sessions")
"""The tables of the present instant."""


_KEPT = 20_000
"""Packets of a link that a record keeps at least."""


class _Passed(NamedTuple):
    """The fields of a timeline: a named tuple can have no other base."""

    packets: Table[Any]
    """A row for each packet, in the order in which they came."""
    fluid: Table[Any]
    """What the fluid had served of each flow, at each instant at which its shares changed; empty
    if the link's rate follows a trace, or more than 32 flows cross it."""
    has_more: bool
    """Whether there were more packets than asked for; those here are the first ones."""


class Timeline(Pictured, _Passed):
    """What passed a link in a stretch of time; `.plot()` shows it, as `fairq run --timeline` does."""

    __slots__ = ()


class Decision(NamedTuple):
    """Why a discipline chose the packet whose transmission began."""

    by: str
    """What decides: `finish`, `start`, `rank`, `turn`, `class`, `arrival`."""
    value: float | None
    """The packet's value of that; the least went first."""
    clock: float | None
    """The scheduler's clock, V or R, if it has one."""
    queue: int
    """The number of the packet's queue in the discipline."""
    eligible: int | None
    """How many queues could be chosen, if not all that hold packets."""
    step: int | None
    """The step that sent it, counted from 1, of those in the card of the discipline."""


class Event(NamedTuple):
    """Something that happened. What does not belong to it is None."""

    time_s: float
    """When, in seconds from the start of the run."""
    event: str
    """What, one of EVENTS."""
    link: str | None
    """The link on which it happened."""
    direction: str | None
    """Its direction: `forward` or `reverse`."""
    flow: str | None
    """The flow."""
    packet: int | None
    """The packet's name while it is under way, by which it can be dropped, marked or held."""
    sequence: int | None
    """Its number in its flow."""
    packet_bytes: int | None
    """Its bytes."""
    reason: str | None
    """Why it was dropped."""
    value: float | None
    """Of `window` packets, of `level` the layers, of `began` when the transmission ends, in
    seconds."""
    decision: Decision | None
    """Of `began`: why the packet was chosen, where the discipline had a choice and says so."""


class Step(NamedTuple):
    """What one step of a run was."""

    time_s: float
    """When, in seconds."""
    what: str
    """`arrival` at the end of a link, `end` of a transmission, `update` of a discipline, `emission`
    of a flow's traffic, `timer` or `host` of a flow, `session`, or a `change` of the scenario."""
    of: str | None
    """The name of the link, flow or session."""
    direction: str | None
    """The direction of the link."""


class LiveRun:
    """A run in progress; see `fairq.live`. As a context manager it says where it is used."""

    def __init__(
        self, scenario: Text, sets: Sequence[tuple[str, str]] = (), seed: int = 1, links: Sequence[str] | None = None
    ) -> None:
        text, name, self._own = scenario
        one = [*sets, ("measure.seed", str(seed)), ("measure.replications", "1")]
        self._native = _native.LiveRun(text, name, one, seed, None if links is None else list(links), self._own)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def _repr_html_(self) -> str:
        told = shown.of_values({"now_s": self.now, "end_s": self.end, "steps": self.steps})
        return f"{shown.sentence('A run in progress; .finish() takes it to its end')}{told}"

    @property
    def now(self) -> float:
        """The time of the last event, or that to which the run was taken, in seconds."""
        return self._native.now

    @property
    def end(self) -> float:
        """When the run ends, in seconds: warm-up and duration."""
        return self._native.end

    @property
    def next_time(self) -> float | None:
        """When the next event is, in seconds; None if there is none before the run ends."""
        return self._native.next_time

    @property
    def steps(self) -> int:
        """How many events have been.

        A step has the same number in every run with the same seed, links and changes.
        """
        return self._native.steps

    @property
    def digest(self) -> str:
        """What "the same run" means: 16 hexadecimal digits over all events and changes so far."""
        return self._native.digest

    def step(self) -> Step | None:
        """Run the next event; None if there is none before the run ends."""
        happened = self._native.step()
        return happened and Step(self.now, *happened)

    def step_back(self, steps: int = 1) -> None:
        """Take the run back: changes by hand since are undone. It is run again from the seed."""
        self.run_steps(max(0, self.steps - steps))

    def run_steps(self, to: int) -> None:
        """Run on or back to the end of step number `to`."""
        if to < 0:
            raise UsageError(f"run_steps: {to} is no number of steps; write one from 0")
        self._native.run_steps(to)

    def run_to(self, time: When) -> None:
        """Run all that happens up to a time, that included, at most to the end of the run.

        KeyboardInterrupt leaves the run where it is: it can be looked at and goes on.
        """
        while not self._native.run_some(time):
            pass

    def finish(self) -> Result:
        """Run to the end; what the run gave, as `fairq.run` gives it.

        That is for the scenario with the changes by hand.
        Packets that were offered, dropped, marked or held by hand are in its counts and not in its
        scenario.
        """
        self.run_to(self.end)
        return self.result()

    def result(self) -> Result:
        """What the run gave; UsageError if it has not come to its end."""
        outcome = self._native.outcome()
        if self._own is not None:
            self._own.check_shared()
        return Result(outcome)

    def change(
        self,
        path: str | None = None,
        value: Any = None,
        /,
        *,
        link: str | None = None,
        flow: str | None = None,
        **fields: Any,
    ) -> None:
        """Change a link or a flow's weight now, after all that has happened.

        Either a field of the scenario by its path, `change("links.uplink.rate", "5 Mbit/s")`, or
        what an entry of
        `[[changes]]` says: `change(link="uplink", rate="5 Mbit/s")`, `change(link="uplink",
        direction="forward", queue="fq_codel")`, `change(link="uplink", up=False)`,
        `change(flow="bulk", weight=2)`. UsageError if it cannot be; nothing has changed then.
        """
        named = {key: given for key, given in {"link": link, "flow": flow, **fields}.items() if given is not None}
        if path is None:
            if not named:
                raise UsageError('change: write what changes, as change("links.uplink.rate", "5 Mbit/s")')
            self._native.change(json.dumps(named))
            return
        if named:
            raise UsageError("change: write either a path with its value, or link= or flow= with what changes")
        self._native.set(path, value if isinstance(value, str) else json.dumps(value))

    def offer(
        self, *, link: str, flow: str, packet_bytes: int = 1500, count: int = 1, direction: str = "forward"
    ) -> None:
        """Let packets of a flow come to a link's queue now, beside those that its transport sends.

        The transport hears nothing of them; counts have them. UsageError if the link is not on the
        path of the flow's data.
        """
        if direction not in ("forward", "reverse"):
            raise UsageError(f"offer: direction: {direction}; write forward or reverse")
        for name, value in (("packet_bytes", packet_bytes), ("count", count)):
            if not 1 <= value <= 1_000_000:
                raise UsageError(f"offer: {name}: {value}; write a whole number from 1 to 1000000")
        self._native.offer(link, direction == "reverse", flow, packet_bytes, count)

    def drop(self, packet: int) -> None:
        """Drop a packet that waits, by its number in the table `waiting` or in an event."""
        self._native.drop_packet(packet)

    def mark(self, packet: int) -> None:
        """Mark a packet that waits *congestion experienced*.

        UsageError if its sender does not use ECN.
        """
        self._native.mark_packet(packet)

    def hold(self, packet: int, until: When) -> None:
        """Take a packet that waits out of its queue; it comes to the queue again at `until`."""
        self._native.hold_packet(packet, until)

    def look(self, name: str = "waiting") -> Table[Any]:
        """Give the table called `name` as it is now.

        `waiting` has the packets that wait or are being sent; `states` what disciplines count and
        keep; `series` one sample of each flow and link; `flows`, `links`, `queues`, `transfers`,
        `sessions` are those of a result, since the warm-up or, while that lasts, since the start.
        """
        if name not in LOOKS:
            raise UsageError(f"look: {name}: there is no such table{near_miss(name, LOOKS)}")
        return table(self._native.look(name), name)

    def events(
        self,
        *,
        links: Sequence[str] | None = None,
        flows: Sequence[str] | None = None,
        of: AbstractSet[str] | None = None,
        until: When | None = None,
    ) -> Iterator[Event]:
        """Run on and give each event as it happens: of these links and flows, of these kinds.

        Up to `until`, or to the end of the run. In the body of the loop the run stands at the end
        of the step in which the event happened, so that a packet that arrived can be dropped there;
        leaving the loop leaves it there.
        """
        time = self.end if until is None else until
        with self.watch(links=links, flows=flows, of=of) as watch:
            reached = False
            while not reached:
                reached = watch.run_until_event(time)
                yield from watch.take()

    def decisions(self, link: str, until: When | None = None) -> Iterator[Event]:
        """Run on and give each transmission that begins on a link, with its discipline's reason.

        Those without a reason, of packets that found the link idle, are left out.
        """
        for event in self.events(links=[link], of={"began"}, until=until):
            if event.decision is not None:
                yield event

    def watch(
        self,
        *,
        links: Sequence[str] | None = None,
        flows: Sequence[str] | None = None,
        of: AbstractSet[str] | None = None,
    ) -> Watch:
        """Record events from now on, until the context is left: `with run.watch(…) as watch:`."""
        _known_events(of)
        chosen = [None if names is None else sorted(names) for names in (links, flows, of)]
        return Watch(self._native, self._native.watch(*chosen))

    def timeline(
        self,
        link: str | None = None,
        direction: str = "forward",
        *,
        from_s: float = 0.0,
        until_s: float | None = None,
        most: int = 2000,
    ) -> Timeline:
        """Run on, and give each packet that is at a link between two times, beside the fluid.

        Without a name that link which most flows share, of these the slowest.

        To be called on a run that stands at its beginning: the fluid, bit-by-bit service of the
        same packets by the weights of their flows (Demers, Keshav and Shenker 1990), begins with an
        empty queue. The run stops where `most` packets were exceeded. UsageError if the link is not
        there or not held.
        """
        if direction not in ("forward", "reverse"):
            raise UsageError(f"timeline: direction: {direction}; write forward or reverse")
        until = self.end if until_s is None else min(until_s, self.end)
        self._native.record(link, direction == "reverse", max(_KEPT, 2 * most))
        reached, has_more = False, False
        while not reached and not has_more:
            reached = self._native.run_some(until)
            packets, fluid, has_more = self._native.recorded(from_s, until, most)
        return Timeline(table(packets, "timeline"), table(fluid, "fluid"), has_more)

    def __repr__(self) -> str:
        return f"<LiveRun: {self.now:g} s of {self.end:g} s, {self.steps} steps>"


class Watch:
    """A record of events; `take` gives those since the last call."""

    def __init__(self, native: _native.LiveRun, tape: int) -> None:
        self._native = native
        self._tape = tape

    def run_until_event(self, time: When) -> bool:
        """Run on to the next event that is recorded, or to a time: whether that is reached.

        A long way is run in pieces: False without an event asks for another call.
        """
        return self._native.run_until_event(self._tape, time)

    def take(self) -> list[Event]:
        """Give the events that were recorded since the last call."""
        taken = self._native.take(self._tape)
        return [Event(*event[:-1], event[-1] and Decision(*event[-1])) for event in taken]

    def stop(self) -> None:
        """Record no more."""
        self._native.unwatch(self._tape)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _known_events(of: AbstractSet[str] | None) -> None:
    """Refuse kinds of events that there are not."""
    if isinstance(of, str):
        raise UsageError(f'of: write a set of events, as of={{"{of}"}}')
    for name in of or ():
        if name not in EVENTS:
            raise UsageError(f"of: {name}: there is no such event{near_miss(name, EVENTS)}")
