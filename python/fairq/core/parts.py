"""The classes from which own parts derive: queues, congestion controls, sources of packets.

An own part is given to `fairq.run(scenario, parts={"mine": Mine})` and then stands in texts as the
registry's parts do: `mine(k=3) + codel + 100packets`. Its settings are the keyword arguments of
`__init__`, each with a default that is a number, a truth or text. Each line, connection and source
gets an object of its own, made anew for each run; what two of them share, as a field of the class,
makes results depend on their order.

Times are seconds since the start of the run, as floats; `round(1e12 * time)` is the exact number of
picoseconds. Lengths are bytes, rates bit/s, windows packets. Random numbers come from
`random.Random(line.seed)` and the like: results are then the same in each run with the same seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairq._native import Acked, Beginning, Congested, Flow, Header, Line, NotBefore, Packet, Queue, SourceBeginning


class Part:
    """What all own parts have."""

    def _has_own(self, name: str) -> bool:
        """Whether a class of the user has this method, and not fairq's, which does nothing."""
        return getattr(getattr(self, name), "__func__", None) is not _of_fairq(type(self), name)

    def readings(self) -> dict[str, float]:
        """Numbers to show in the table `states`, by their names."""
        return {}


def _of_fairq(kind: type, name: str) -> Any:
    """The method as fairq's class has it."""
    for each in kind.__mro__:
        if each.__module__ == __name__ and name in vars(each):
            return vars(each)[name]
    return None


class _OfQueue(Part):
    """What own parts of queues have."""

    line: Line
    """The line: its nominal `rate` in bit/s and a `seed`."""

    def begin(self, line: Line) -> None:
        """Called once, before the first packet; keeps the line as `self.line`."""
        self.line = line


class Rank(_OfQueue):
    """A scheduler from one function: the packet of the least rank leaves first.

    Equal ranks leave in order of arrival. Packets of one flow leave in the order in which they
    came: while a flow has packets waiting, none has a lower rank than the one before it.
    """

    def rank(self, now: float, flow: Flow, packet: Packet) -> float:
        """The rank of a packet that joins; `flow` has a `number` and a `weight`."""
        raise NotImplementedError


class Scheduler(_OfQueue):
    """Which queue sends next. Each flow has a queue, whose number is that of the flow.

    It holds no packets: it is told of those that come and go, and names queues. A packet that
    arrives is told by `arrive`, then, if it is alone in its queue, by `backlogged`.
    """

    def arrive(self, now: float, queue: int, flow: Flow, packet: Packet) -> int:
        """Note a packet that joins the end of a queue, and give it a whole number, its tag.

        The tag comes back with the packet. Without this method it is the packet's bytes.
        """
        return packet.bytes

    def backlogged(self, queue: int, tag: int) -> None:
        """A queue that was empty has its first packet, with this tag."""

    def next(self, now: float) -> int | NotBefore | None:
        """Name the queue whose head leaves next; `fairq.NotBefore(time)` to wait; None without one.

        It is asked again when time has passed or something was told.
        """
        raise NotImplementedError

    def sent(self, now: float, queue: int, packet: Packet, tag: int, next_tag: int | None) -> None:
        """The head of a queue leaves; `next_tag` is that of the packet behind it, or None."""

    def removed(self, now: float, queue: int, packet: Packet, tag: int, next_tag: int | None) -> None:
        """A packet was dropped from anywhere in its queue; `next_tag` is that of the head now."""

    def idle(self, now: float) -> None:
        """The line has become idle."""

    def weigh(self, now: float, queue: int, weight: float) -> None:
        """A flow has another weight from now."""


class Policy(_OfQueue):
    """Which packets are dropped or marked before the buffer is full.

    A full buffer is not its business: the packet is then dropped as the scheduler's default does,
    or as the text says (`mine + tail_drop + 100packets`). A `queue` has its `number`, `packets` and
    `bytes`, and `all_packets` and `all_bytes` of all queues together.
    """

    def admit(self, now: float, queue: Queue, flow: Flow, packet: Packet) -> bool | str:
        """Whether an arriving packet may join its queue, in which it does not count yet.

        False drops it; so do the names of reasons ("early", "over_share", "rank", "horizon",
        "redundant"), which tables show. "mark" marks it if it takes marks, and drops it if not.
        """
        return True

    def depart(self, now: float, queue: Queue, packet: Packet) -> str:
        """What becomes of the head of a queue that is about to leave: "send", "drop" or "mark"."""
        return "send"

    def left(self, now: float, queue: Queue, packet: Packet, sent: bool) -> None:
        """A packet has left its queue, `sent` or dropped."""

    def idle(self, now: float) -> None:
        """The line has become idle."""


class Discipline(_OfQueue):
    """A whole discipline: it holds the packets.

    A packet for which the limit of the queue has no room is dropped before it is asked.
    """

    reorders = False
    """Whether packets of one flow may leave in another order than they came."""

    _dropped: list[tuple[Packet, str]]

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """Make an object that can drop packets, whatever `__init__` does."""
        made = super().__new__(cls)
        made._dropped = []
        return made

    def enqueue(self, now: float, packet: Packet, header: Header) -> bool:
        """Take a packet: True if it is held, False if it is dropped."""
        raise NotImplementedError

    def dequeue(self, now: float) -> Packet | NotBefore | None:
        """Give the packet that leaves next; `fairq.NotBefore(time)` to wait; None without one."""
        raise NotImplementedError

    def drop(self, packet: Packet, why: str = "early") -> None:
        """Drop a packet that is held, or that arrives; `why` is one of `Policy.admit`."""
        self._dropped.append((packet, why))

    def idle(self, now: float) -> None:
        """The line has become idle."""


class Control(Part):
    """A congestion control: how many packets may be in flight, and how fast they follow each other.

    It stands over a connection that repairs losses, as those of the registry do. It is told of
    events, and sets its fields.
    """

    window: float = 1.0
    """Packets that may be in flight: the integer part counts, and one may always be."""
    pace: float | None = None
    """The rate in bit/s at which packets follow each other; None if they may follow at once."""
    threshold: float | None = None
    """The window in packets below which it is in slow start, for tables; it limits nothing."""
    takes_marks = False
    """Whether its packets may be marked in place of being dropped (ECN)."""
    measures_rate = False
    """Whether acknowledgements carry samples of the delivery rate."""

    def begin(self, beginning: Beginning) -> None:
        """Called once, before the first packet; sets the window to the initial one."""
        self.window = beginning.window

    def acknowledged(self, acked: Acked) -> None:
        """An acknowledgement arrived; also called for duplicates."""
        raise NotImplementedError

    def lost(self, congested: Congested) -> None:
        """A packet was lost: called once for a window of data. Half of the flight stays."""
        self.window = self.threshold = max(congested.flight / 2, 2.0)

    def marked(self, congested: Congested) -> None:
        """Marks were reported: called once for a window of data. It is as a loss."""
        self.lost(congested)

    def timed_out(self, congested: Congested) -> None:
        """The retransmission timer expired: slow start from the restart window."""
        if not congested.is_repeated:
            self.threshold = max(congested.flight / 2, 2.0)
        self.window = congested.restart

    def recovered(self, now: float) -> None:
        """All losses have been repaired."""

    def rested(self, now: float) -> None:
        """Nothing was in flight for longer than a timeout."""

    def sent(self, now: float, flight: int) -> None:
        """A packet was sent; `flight` were in flight before."""


class Source(Part):
    """A source of packets, which are sent as they come unless the flow names a transport."""

    packet: int = 1500
    """Bytes of its longest packet."""
    demand: float | None = None
    """What it asks for on average, in bit/s; None if it takes all that it gets."""

    def begin(self, beginning: SourceBeginning) -> None:
        """Called once, before the first packet, with the time `now` and a `seed`."""

    def next(self) -> tuple[float, int] | None:
        """The seconds from the last packet, or the start, and the bytes; None at the end."""
        raise NotImplementedError


KINDS = (Rank, Scheduler, Policy, Discipline, Control, Source)
"""The classes from which own parts derive."""
