"""Random test networks with a bottleneck known to be fair or not: `fairq detect` is trained and judged by them.

A test network is one bottleneck, its discipline, its buffer, what others send through it, and what I send. All of it
follows from the network's number, and is sent as a capture through `fairq replay`; `fairq detect` is shown only two
captures of my packets, one from each end, with unrelated clocks and time stamps that are late by some microseconds.
The others' packets do not react to drops, but their rate changes over time as that of transports does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fairq
from fairq.detection import evidence, journeys, pairs
from fairq.detection.journeys import Journey

Random = np.random.Generator
Numbers = np.ndarray[Any, np.dtype[np.float64]]
Sent = tuple[Numbers, Numbers]
"""Times in seconds and bytes of packets."""

KEPT = 64
"""Bytes of a packet in the captures: its headers, and its sender."""

FAIR = {
    "fq": ["fq", "wfq", "sfq", "wf2q_plus", "round_robin"],
    "drr": ["drr(quantum=1500B)"],
    "drr, large quantum": ["drr(quantum=6000B)", "drr(quantum=15000B)", "drr(quantum=30000B)"],
    "fq_codel": ["fq_codel", "cake"],
}
FIFO = {"fifo": ["fifo + tail_drop"], "fifo with AQM": ["fifo + red", "fifo + codel", "fifo + pie"]}
"""What may stand at the bottleneck, by the names of the table; kinds of one truth are equally frequent."""


@dataclass(frozen=True)
class World:
    """One test network and what is true in it."""

    number: int
    kind: str
    discipline: str
    capacity: float
    buffer: int
    others: str
    mine: str
    journey: Journey | None

    @property
    def is_fair(self) -> bool:
        """Whether each flow had a queue of its own."""
        return self.kind in FAIR


def drawn(number: int, folder: Path) -> World:
    """The test network of this number, run; `folder` is empty and holds its captures afterwards."""
    random = np.random.default_rng([1990, number])
    capacity = float(np.exp(random.uniform(np.log(2e6), np.log(50e6))))
    # the time of 3000 to 9000 packets of 1500 B at the bottleneck
    duration = random.uniform(3000, 9000) * 12_000 / capacity
    kinds = FAIR if random.random() < 0.5 else FIFO
    kind = str(random.choice(list(kinds)))
    discipline = str(random.choice(kinds[kind]))
    buffer = int(np.exp(random.uniform(np.log(25), np.log(400))))
    access = capacity * float(np.exp(random.uniform(np.log(2), np.log(30))))
    others_name = str(random.choice(list(OTHERS)))
    flows = OTHERS[others_name](random, capacity, duration)
    mine_name = str(random.choice(list(MINE)))
    share = capacity / (1 + len(flows))
    flows.insert(0, MINE[mine_name](random, capacity, share, access, duration))
    sent, received = through(flows, capacity, buffer, discipline, folder)
    late = float(random.choice([0.0, 1e-6, 10e-6, 40e-6]))
    journey = seen(sent, received, random, late)
    return World(number, kind, discipline, capacity, buffer, others_name, mine_name, journey)


def through(flows: list[Sent], capacity: float, buffer: int, discipline: str, folder: Path) -> tuple[Path, Path]:
    """Flows through a gateway: the captures of what was sent and of what left."""
    write(folder / "all.pcap", flows)
    fairq.replay(
        folder / "all.pcap", rate=f"{capacity:.0f} bit/s", buffer=f"{buffer} packets", disciplines=[discipline],
        fluid=False, out=folder / "out",
    )  # fmt: skip
    (gateway,) = [path for path in (folder / "out").iterdir() if path.is_dir()]
    return folder / "all.pcap", gateway / "capture.pcapng"


RECORDED_FLOWS_MAX = 250
"""Flows of a test network of recorded traffic; each has an address of its own, and there are no more."""

RECORDED_PACKETS_MAX = 12_000
"""Packets of such a network; later ones are left out."""

SEEN_MAX = 6
"""Flows of such a network that are mine in turn."""


def recorded(number: int, captures: Sequence[Path], folder: Path) -> tuple[list[Path], list[World]]:
    """Recorded traffic at a random bottleneck: which captures went into it, and a test network for each of some flows.

    One to three captures run at once, from random places on and at up to three times their speed, so that there are
    others whatever was recorded together.
    """
    random = np.random.default_rng([1991, number])
    capacity = float(np.exp(random.uniform(np.log(1e6), np.log(30e6))))
    kinds = FAIR if random.random() < 0.5 else FIFO
    kind = str(random.choice(list(kinds)))
    discipline = str(random.choice(kinds[kind]))
    buffer = int(np.exp(random.uniform(np.log(25), np.log(1000))))
    count = int(random.integers(1, 1 + min(3, len(captures))))
    used = [captures[int(place)] for place in sorted(random.choice(len(captures), count, replace=False))]
    flows: list[Sent] = []
    for capture in used:
        speed, start = float(np.exp(random.uniform(0, np.log(3)))), random.uniform(0, 2)
        flows += [(start + times / speed, sizes) for times, sizes in flows_of(capture)]
    flows = sorted(flows, key=lambda flow: -len(flow[0]))[:RECORDED_FLOWS_MAX]
    end = np.sort(np.concatenate([times for times, _ in flows]))[:RECORDED_PACKETS_MAX][-1]
    flows = [(times[times <= end], sizes[times <= end]) for times, sizes in flows]
    sent, received = through(flows, capacity, buffer, discipline, folder)
    late = float(random.choice([0.0, 1e-6, 10e-6, 40e-6]))
    found = journeys.from_captures(sent, received)
    mine = random.permutation(len(found))
    stamped = [as_stamped(found[int(place)], random, late) for place in mine]
    told = [journey for journey in stamped if evidence.of(journey) is not None][:SEEN_MAX]
    others = "recorded"
    worlds = [World(number, kind, discipline, capacity, buffer, others, others, journey) for journey in told]
    return used, worlds


@cache
def flows_of(capture: Path) -> list[Sent]:
    """The times since the first, without longer pauses than PAUSE_MAX, and the sizes of each flow of a capture."""
    read = pairs.read(capture, capture)
    every = np.unique(np.concatenate([flow.first for flow in read.flows]))
    gaps = np.minimum(np.diff(every, prepend=every[0]), PAUSE_MAX)
    at = np.cumsum(gaps)
    return [(at[np.searchsorted(every, flow.first)], flow.size) for flow in read.flows]


PAUSE_MAX = 2.0
"""Seconds in which nothing happens in recorded traffic; longer ones are cut to this."""


def seen(sent: Path, received: Path, random: Random, late: float) -> Journey | None:
    """My packets as two captures at the ends show them; nothing if none came."""
    mine = "10.0.0.1 1001 > 10.0.1.1 2001 udp"
    found = [journey for journey in journeys.from_captures(sent, received) if journey.flow == mine]
    if not found:
        return None
    return as_stamped(found[0], random, late)


def as_stamped(journey: Journey, random: Random, late: float) -> Journey:
    """The same with clocks that have nothing to do with each other and stamps that are late by so much, in the mean."""
    offset = random.uniform(-1e3, 1e3)

    def stamped(times: Numbers) -> Numbers:
        return times + random.exponential(late, len(times)) if late else times

    # a host stamps its packets in their order
    sent_at = np.maximum.accumulate(stamped(journey.sent))
    received_at = stamped(journey.received) + offset
    came = ~np.isnan(received_at)
    received_at[came] = np.maximum.accumulate(received_at[came])
    return Journey(journey.flow, sent_at, received_at, journey.size)


def write(path: Path, flows: list[Sent]) -> None:
    """A capture of all flows as they come to the bottleneck, stamped in nanoseconds."""
    times = np.concatenate([times for times, _ in flows])
    sizes = np.concatenate([sizes for _, sizes in flows]).astype(np.int64)
    flow = np.repeat(np.arange(len(flows)), [len(times) for times, _ in flows])
    order = np.argsort(times, kind="stable")
    record = struct.Struct("<IIII")
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for number, place in enumerate(order):
            nanoseconds, size = round(times[place] * 1e9), int(sizes[place])
            file.write(record.pack(nanoseconds // 10**9, nanoseconds % 10**9, KEPT, size))
            file.write(frame(int(flow[place]), number, size))


def frame(flow: int, number: int, length: int) -> bytes:
    """Ethernet, IPv4 and UDP of that flow; the packet's number is what it carries."""
    ethernet = bytes.fromhex("020000000002 020000000001 0800")
    addresses = bytes([10, 0, 0, flow + 1, 10, 0, 1, flow + 1])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length - 14, number & 0xFFFF, 0, 64, 17, 0) + addresses
    udp = struct.pack(">HHHH", 1001 + flow, 2001 + flow, length - 34, 0)
    return (ethernet + ip + udp + struct.pack(">I", number)).ljust(KEPT, b"\0")


def poisson(random: Random, rate: float, duration: float, start: float = 0.0) -> Numbers:
    """Times at a mean rate in packets per second."""
    count = random.poisson(max(rate * (duration - start), 0.0))
    return np.sort(random.uniform(start, duration, count))


def length(random: Random) -> float:
    """The length of the packets of one of the others."""
    return float(random.choice([1500.0, 1500.0, 1500.0, 1000.0, 500.0]))


def sawtooth(random: Random, capacity: float, share: float, duration: float) -> Sent:
    """A rate that climbs from about half its share to above it and falls again: congestion avoidance without ears."""
    size = length(random)
    period = random.uniform(0.05, 0.4) * duration
    low, high = random.uniform(0.5, 0.9) * share, random.uniform(1.05, 1.6) * share
    phase = random.uniform(0, 1)
    times, now = [], random.uniform(0, 8 * size / share)
    while now < duration:
        times.append(now)
        # two packets to an acknowledgement, as often as not
        if random.random() < 0.5:
            times.append(now + 8 * size / (10 * capacity))
            now += 8 * size / (low + (high - low) * ((now / period + phase) % 1))
        now += 8 * size / (low + (high - low) * ((now / period + phase) % 1)) * random.uniform(0.7, 1.3)
    return np.array(times), np.full(len(times), size)


def nobody(random: Random, capacity: float, duration: float) -> list[Sent]:
    """At most some packets now and then."""
    rate = random.uniform(0, 0.05) * capacity
    return [(times := poisson(random, rate / 4000, duration), np.full(len(times), 500.0))]


def light(random: Random, capacity: float, duration: float) -> list[Sent]:
    """Some flows at chance, up to half of the line."""
    return at_chance(random, capacity, duration, random.uniform(0.1, 0.5))


def heavy(random: Random, capacity: float, duration: float) -> list[Sent]:
    """The same, up to almost all of it."""
    return at_chance(random, capacity, duration, random.uniform(0.5, 0.95))


def at_chance(random: Random, capacity: float, duration: float, load: float) -> list[Sent]:
    """Flows of packets at chance that load the line so much in all."""
    flows = []
    parts = random.dirichlet(np.ones(int(random.integers(1, 9))))
    for part in parts:
        size = length(random)
        times = poisson(random, part * load * capacity / 8 / size, duration)
        flows.append((times, np.full(len(times), size)))
    return flows


def bursts(random: Random, capacity: float, duration: float) -> list[Sent]:
    """Flows that send some tens of packets at once, far apart."""
    flows = []
    count, load = int(random.integers(1, 7)), random.uniform(0.2, 0.95)
    for _ in range(count):
        size, packets = length(random), random.uniform(5, 60)
        starts = poisson(random, load * capacity / count / 8 / size / packets, duration)
        counts = random.geometric(1 / packets, len(starts))
        gap = 8 * size / (capacity * random.uniform(1, 10))
        times = np.sort(
            np.concatenate([[], *(start + gap * np.arange(n) for start, n in zip(starts, counts, strict=True))])
        )
        times = times[times < duration]
        flows.append((times, np.full(len(times), size)))
    return flows


def greedy(random: Random, capacity: float, duration: float) -> list[Sent]:
    """Flows that together want a little more than the line has, now and then or always."""
    count = int(random.integers(1, 9))
    share = random.uniform(0.9, 1.2) * capacity / count
    return [sawtooth(random, capacity, share, duration) for _ in range(count)]


def some_greedy(random: Random, capacity: float, duration: float) -> list[Sent]:
    """Some that want much, and some at chance."""
    return greedy(random, capacity * random.uniform(0.5, 1.0), duration) + light(random, capacity, duration)


OTHERS: dict[str, Callable[[Random, float, float], list[Sent]]] = {
    "nobody": nobody, "light": light, "heavy": heavy, "bursts": bursts, "greedy": greedy, "some greedy": some_greedy,
}  # fmt: skip


def trains(random: Random, starts: Numbers, counts: Numbers, sizes: Numbers, access: float) -> Sent:
    """Packets back to back on the access line from each start on."""
    times, lengths, free = [], [], 0.0
    for start, count, size in zip(starts, counts, sizes, strict=True):
        now = max(start, free)
        for _ in range(int(count)):
            now += 8 * size / access
            times.append(now)
            lengths.append(size)
        free = now
    return np.array(times), np.array(lengths)


def probe(random: Random, capacity: float, share: float, access: float, duration: float) -> Sent:
    """Pairs and trains of long packets and of short ones, far apart: made to be seen by `fairq detect`."""
    load = random.uniform(0.03, 0.15) * capacity
    counts = random.choice([2, 2, 2, 8, 16, 32], int(duration * load / 8 / 9000) + 10)
    sizes = random.choice([1500.0, 1500.0, 200.0], len(counts))
    return trains(random, np.sort(random.uniform(0, duration, len(counts))), counts, sizes, access)


def video(random: Random, capacity: float, share: float, access: float, duration: float) -> Sent:
    """A segment of many packets at equal distances, at the speed of the access line."""
    load, packets = random.uniform(0.3, 1.1) * share, random.uniform(20, 150)
    starts = np.arange(0.01 * duration, duration, 8 * 1500 * packets / load)
    counts = np.maximum(1, np.round(random.normal(packets, 0.2 * packets, len(starts))))
    return trains(random, starts, counts, np.full(len(starts), 1500.0), access)


def bulk(random: Random, capacity: float, share: float, access: float, duration: float) -> Sent:
    """A transfer: a rate that climbs and falls about the share, every second packet right behind the one before."""
    times, sizes = sawtooth(random, access / 10, random.uniform(0.8, 1.3) * share, duration)
    return times, sizes


def paced(random: Random, capacity: float, share: float, access: float, duration: float) -> Sent:
    """Packets at nearly equal distances."""
    rate, size = random.uniform(0.2, 1.2) * share, float(random.choice([1500.0, 800.0, 300.0]))
    gap = 8 * size / rate
    times = np.arange(0.0, duration, gap)
    return times + random.uniform(0, 0.2 * gap, len(times)), np.full(len(times), size)


def telephone(random: Random, capacity: float, share: float, access: float, duration: float) -> Sent:
    """Short packets at chance, at a small part of the share."""
    times = poisson(random, random.uniform(0.02, 0.3) * share / 8 / 300, duration)
    return times, random.choice([200.0, 300.0, 600.0], len(times))


MINE: dict[str, Callable[[Random, float, float, float, float], Sent]] = {
    "probe": probe, "video": video, "bulk": bulk, "paced": paced, "telephone": telephone,
}  # fmt: skip
