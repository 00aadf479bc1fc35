"""Cells of connections: a line, its discipline, and flows over it, said once for both sides.

record.py makes the guest's job of a cell, runs.py the scenario. A packet is a frame of 1514 B with
1448 B of data.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FRAME, DATA = 1514, 1448
DURATION_S = 20
WINDOWS = ["0-20", "5-20"]


@dataclass(frozen=True)
class Greedy:
    """Always another packet to send."""


@dataclass(frozen=True)
class Responses:
    """A new connection sends some packets; a time after their last acknowledgement the next one does."""

    packets: int
    think_ms: float


@dataclass(frozen=True)
class Arrivals:
    """New connections begin at random and send the same number of packets each."""

    packets: int
    mean_gap_ms: float


@dataclass(frozen=True)
class Bursts:
    """One connection is given some packets at once, and again after each period."""

    packets: int
    every_ms: float


@dataclass(frozen=True)
class Flow:
    """Flows that are alike."""

    name: str
    """What its share of the line is called; of several with one name, the sum."""
    law: str = "cubic"
    """Linux's name of the congestion control."""
    traffic: Greedy | Responses | Arrivals | Bursts = Greedy()
    rtt_ms: float | None = None
    """Its round trip alone, if not the cell's."""
    window: int | None = None
    """The receiver's window in packets, if it is not Linux's own."""
    up: bool = False
    """Whether it goes against the others."""
    count: int = 1
    tos: int = 0
    """The type-of-service byte of its packets."""


@dataclass(frozen=True)
class Cell:
    """A line with its flows."""

    name: str
    rate_mbit: float
    rtt_ms: float
    queue: str
    """As tc has it; of several commands the first is under the line, and DEV is the device."""
    flows: Sequence[Flow]
    ecn: bool = False
    """Whether all connections ask for ECN; DCTCP does in any case."""
    loss: float = 0.0
    """The probability that a packet is lost beside the line, in each direction."""
    up_mbit: float | None = None
    """The rate of the line against it, whose discipline is the same; None: it is no bottleneck."""

    @property
    def group(self) -> str:
        """The kind of the cell."""
        return self.name.partition(".")[0]

    @property
    def each(self) -> list[Flow]:
        """Flow by flow."""
        return [flow for flow in self.flows for _ in range(flow.count)]

    def rate(self, flow: Flow) -> float:
        """The rate of the line that a flow sends over, in bit/s."""
        return 1e6 * (self.up_mbit if flow.up and self.up_mbit else self.rate_mbit)

    def round_trip(self, flow: Flow) -> float:
        """In milliseconds, of a packet alone."""
        return flow.rtt_ms or self.rtt_ms

    def delay_ms(self, flow: Flow) -> float:
        """What of the round trip is not the transmission of a packet over the line."""
        return self.round_trip(flow) - FRAME * 8 / self.rate_mbit / 1e3

    @property
    def arrives_late(self) -> bool:
        """Whether the guest's packets arrive at the end of their transmission, as real ones do.

        They leave a class of htb at its beginning, which one way only adds to the round trip. Where two ways share the
        lines it moves each way's packets against the other's acknowledgements, and how these come together is all.
        """
        return any(flow.up for flow in self.flows)


RED = "red limit 400000 min 20000 max 60000 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit"
STEP = "red limit 400000 min 30000 max 30001 avpkt 1500 burst 21 probability 1.0 bandwidth 20mbit ecn"
MARKING = {
    "cake": "cake unlimited",
    "choke": "choke limit 1000 min 15 max 45 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit ecn",
    "codel": "codel ecn",
    "fq": "fq ce_threshold 5ms",
    "fq_codel": "fq_codel",
    "fq_pie": "fq_pie ecn",
    "pie": "pie ecn",
    "red": f"{RED} ecn",
    "sfb": "sfb",
}
"""Each discipline that marks."""


def cells() -> list[Cell]:
    """All of them."""
    found = [
        *_transfers(), *_lossy(), *_marked(), *_round_trips(), *_windows(), *_bursts(), *_steps(), *_two_way(),
        *_short(), *_tails(), *_far(), *_thresholds(), *_asymmetric(), *_others(), *_leaves(),
    ]  # fmt: skip
    assert len({cell.name for cell in found}) == len(found)
    return found


def _transfers() -> list[Cell]:
    """Short transfers, each a new connection: alone, at random, and beside a long one."""
    short = Flow("short", traffic=Responses(20, 100))
    longer = Flow("short", traffic=Responses(200, 300))
    return [
        Cell("transfers.20M.20ms.pfifo.20", 20, 20, "pfifo limit 100", [short]),
        Cell("transfers.20M.60ms.pfifo.200", 20, 60, "pfifo limit 100", [longer]),
        Cell("transfers.10M.20ms.pfifo.random", 10, 20, "pfifo limit 100", [Flow("short", traffic=Arrivals(20, 50))]),
        Cell("transfers.20M.20ms.fq_codel.beside", 20, 20, "fq_codel", [Flow("cubic"), short]),
    ]


def _lossy() -> list[Cell]:
    """Loss that is no sign of a queue."""
    return [
        Cell("lossy.20M.20ms.pfifo.cubic", 20, 20, "pfifo limit 100", [Flow("cubic")], loss=0.01),
        Cell("lossy.20M.60ms.fq_codel.reno", 20, 60, "fq_codel", [Flow("reno", "reno")], loss=0.003),
        Cell("lossy.20M.60ms.pfifo.cubic", 20, 60, "pfifo limit 100", [Flow("cubic")], loss=0.03),
        Cell("lossy.20M.60ms.pfifo.bbr", 20, 60, "pfifo limit 100", [Flow("bbr", "bbr")], loss=0.01),
    ]


def _marked() -> list[Cell]:
    """Two of Reno and two of CUBIC that accept marks."""
    flows = [Flow("reno", "reno", count=2), Flow("cubic", count=2)]
    return [Cell(f"ecn.20M.20ms.{name}", 20, 20, queue, flows, ecn=True) for name, queue in MARKING.items()]


def _round_trips() -> list[Cell]:
    """Two round trips over one queue."""
    cubic = [Flow("near"), Flow("far", rtt_ms=80)]
    reno = [Flow("near", "reno"), Flow("far", "reno", rtt_ms=80)]
    return [
        Cell("round_trips.20M.pfifo.cubic", 20, 20, "pfifo limit 100", cubic),
        Cell("round_trips.20M.pie.reno", 20, 20, "pie", reno),
        Cell("round_trips.20M.fq_codel.cubic", 20, 20, "fq_codel", cubic),
        Cell("round_trips.20M.codel.reno", 20, 20, "codel", reno),
    ]


def _windows() -> list[Cell]:
    """A receiver's window that is less than the line and the queue take."""
    return [
        Cell("windows.20M.20ms.pfifo.20", 20, 20, "pfifo limit 100", [Flow("cubic", window=20)]),
        Cell("windows.20M.60ms.fq_codel.120", 20, 60, "fq_codel", [Flow("cubic", window=120)]),
        Cell("windows.20M.20ms.pfifo.beside", 20, 20, "pfifo limit 100", [Flow("limited", window=40), Flow("free")]),
    ]


def _bursts() -> list[Cell]:
    """Connections that are idle between bursts: longer than the timeout, and shorter."""
    return [
        Cell("bursts.20M.20ms.pfifo.long", 20, 20, "pfifo limit 100", [Flow("cubic", traffic=Bursts(150, 1000))]),
        Cell("bursts.20M.20ms.pfifo.short", 20, 20, "pfifo limit 100", [Flow("cubic", traffic=Bursts(60, 150))]),
        Cell("bursts.20M.60ms.pfifo.longest", 20, 60, "pfifo limit 100", [Flow("reno", "reno", Bursts(300, 3000))]),
        Cell("bursts.20M.20ms.fq_codel.beside", 20, 20, "fq_codel", [
            Flow("greedy"), Flow("bursts", traffic=Bursts(100, 700)),
        ]),
    ]  # fmt: skip


def _steps() -> list[Cell]:
    """DCTCP beside Reno over a threshold of 30 kB."""
    dctcp, reno = Flow("dctcp", "dctcp"), Flow("reno", "reno")
    return [
        Cell("step.20M.20ms.marked", 20, 20, STEP, [dctcp, reno], ecn=True),
        Cell("step.20M.20ms.dropped", 20, 20, STEP, [dctcp, reno]),
        Cell("step.20M.60ms.marked", 20, 60, STEP, [dctcp, reno], ecn=True),
    ]


def _two_way() -> list[Cell]:
    """An upload beside a download: each one's acknowledgements wait behind the other's packets."""
    both = [Flow("down"), Flow("up", up=True)]
    return [
        Cell("two_way.20M.20ms.pfifo.2M", 20, 20, "pfifo limit 50", both, up_mbit=2),
        Cell("two_way.20M.20ms.fq_codel.2M", 20, 20, "fq_codel", both, up_mbit=2),
        Cell("two_way.20M.20ms.pfifo.20M", 20, 20, "pfifo limit 100", both, up_mbit=20),
        Cell("two_way.10M.60ms.pie.1M", 10, 60, "pie", [Flow("down", count=2), Flow("up", up=True)], up_mbit=1),
    ]


def _short() -> list[Cell]:
    """Short transfers, each a new connection, beside two long ones."""
    found = []
    queues = {
        "20ms.fq": "fq", "20ms.fq_codel": "fq_codel", "20ms.cake": "cake unlimited", "60ms.pfifo": "pfifo limit 100",
        "60ms.codel": "codel", "60ms.pie": "pie",
    }  # fmt: skip
    for name, queue in queues.items():
        for packets, think_ms in ((10, 50), (100, 200)):
            flows = [Flow("long", count=2), Flow("short", traffic=Responses(packets, think_ms))]
            found.append(Cell(f"short.20M.{name}.{packets}", 20, int(name[:2]), queue, flows))
    return found


TAILS = [
    ("20ms.3.2", 150), ("20ms.10.2", 200), ("20ms.10.3", 200), ("20ms.30.1", 400), ("20ms.30.2", 400),
    ("60ms.1.3", 300), ("60ms.3.2", 450), ("60ms.3.3", 450), ("60ms.10.2", 600), ("60ms.10.3", 600),
    ("60ms.30.1", 400), ("20ms.pfifo.1", 100), ("20ms.pfifo.3", 150),
]  # fmt: skip
"""Round trip, packets of a burst, per cent lost (`pfifo`: 3), and milliseconds between bursts."""


def _tails() -> list[Cell]:
    """Bursts of which a packet is lost at times: the last one has no later one that tells of it."""
    found = []
    for name, every_ms in TAILS:
        trip, *words = name.split(".")
        packets, percent = (int(words[1]), 3) if words[0] == "pfifo" else map(int, words)
        flow = Flow("cubic", traffic=Bursts(packets, every_ms))
        found.append(Cell(f"tails.20M.{name}", 20, int(trip[:2]), "pfifo limit 100", [flow], loss=percent / 100))
    return found


def _far() -> list[Cell]:
    """Round trips of 12 and 120 ms over one queue."""
    queues = {
        "pfifo.cubic": "pfifo limit 100", "pie.cubic": "pie", "fq_codel.cubic": "fq_codel", "pie.reno": "pie",
    }  # fmt: skip
    return [
        Cell(f"rtt10.20M.{name}", 20, 20, queue, [
            Flow(flow, name.partition(".")[2], rtt_ms=trip) for flow, trip in (("near", 12), ("far", 120))
        ])
        for name, queue in queues.items()
    ]  # fmt: skip


def _thresholds() -> list[Cell]:
    """DCTCP over a threshold of waiting time."""
    return [
        Cell(f"ce.20M.{trip}ms.fq_codel.{number}d", 20, trip, "fq_codel ce_threshold 1ms", [
            Flow("dctcp", "dctcp", count=number),
        ], ecn=True)
        for trip, number in ((10, 2), (60, 1), (60, 2))
    ]  # fmt: skip


def _asymmetric() -> list[Cell]:
    """A way up that is slow even for acknowledgements."""
    both, aggressive = [Flow("down"), Flow("up", up=True)], "cake unlimited ack-filter-aggressive"
    return [
        Cell("asym.20M.20ms.cake", 20, 20, "cake unlimited", both, up_mbit=1),
        Cell("asym.20M.60ms.cake_aggressive", 20, 60, aggressive, both, up_mbit=1),
        Cell("asym.20M.20ms.fq_codel.down", 20, 20, "fq_codel", [Flow("down", count=2)], up_mbit=0.3),
    ]


def _others() -> list[Cell]:
    """Slow and fast lines, eight connections, and three controls."""
    three = [Flow("cubic"), Flow("bbr", "bbr"), Flow("reno", "reno")]
    return [
        Cell("rate2.2M.40ms.pie", 2, 40, "pie", [Flow("cubic", count=2)]),
        Cell("rate2.2M.80ms.pfifo.reno", 2, 80, "pfifo limit 30", [Flow("reno", "reno", count=2)]),
        Cell("eight.20M.20ms.pfifo", 20, 20, "pfifo limit 100", [Flow("cubic", count=8)]),
        Cell("mixed.20M.20ms.pfifo", 20, 20, "pfifo limit 100", three),
        Cell("mixed.20M.60ms.codel", 20, 60, "codel", three),
        Cell("big.200M.20ms.pfifo", 200, 20, "pfifo limit 330", [Flow("cubic", count=2)]),
    ]


def _leaves() -> list[Cell]:
    """Class trees with a discipline in each leaf."""
    two = [Flow("cubic", count=2), Flow("reno", "reno", count=2)]
    three = [Flow("one", count=2, tos=0x20), Flow("two", tos=0x40), Flow("three")]
    first = [Flow("first", traffic=Bursts(40, 100), tos=0x20), Flow("cubic", count=2)]
    return [
        Cell("leaf.20M.20ms.tbf_fq_codel", 20, 20, TBF, two),
        Cell("leaf.20M.20ms.htb3_fq_codel", 20, 20, HTB, three),
        Cell("leaf.20M.20ms.prio_sfq", 20, 20, PRIO, first),
    ]


def _tos(tos: int, leaf: str) -> str:
    return f"filter add dev DEV parent 10: protocol ip prio 1 u32 match ip tos {tos:#04x} 0xe0 flowid {leaf}"


HTB = "; ".join([
    "htb default 13",
    "class add dev DEV parent 10: classid 10:1 htb rate 20mbit ceil 20mbit",
    *(
        f"class add dev DEV parent 10:1 classid 10:{leaf} htb rate {rate}mbit ceil 20mbit"
        for leaf, rate in ((11, 4), (12, 6), (13, 10))
    ),
    *(f"qdisc add dev DEV parent 10:{leaf} handle {10 * leaf}: fq_codel" for leaf in (11, 12, 13)),
    _tos(0x20, "10:11"),
    _tos(0x40, "10:12"),
])  # fmt: skip
PRIO = "; ".join(
    [
        "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "qdisc add dev DEV parent 10:1 handle 11: pfifo limit 50",
        "qdisc add dev DEV parent 10:2 handle 12: sfq",
        _tos(0x20, "10:1"),
    ]
)
TBF = "tbf rate 15mbit burst 20kb latency 100ms; qdisc add dev DEV parent 10:1 handle 20: fq_codel"


def line(device: str, rate_mbit: float, queue: str) -> list[str]:
    """A class of htb as the line, over the discipline (guest.exact_line takes its burst away)."""
    rate = f"{rate_mbit:g}mbit"
    queue, *rest = queue.replace("DEV", device).split("; ")
    return [
        f"qdisc add dev {device} root handle 1: htb default 1",
        f"class add dev {device} parent 1: classid 1:1 htb rate {rate} ceil {rate} burst 1 cburst 1",
        f"qdisc add dev {device} parent 1:1 handle 10: {queue}",
        *rest,
    ]


def job(cell: Cell, run: int) -> dict[str, Any]:
    """What the guest does for a run, by starts and arrivals of its own."""
    draw = random.Random(f"{cell.name}/{run}")
    trips = {
        cell.round_trip(flow): cell.delay_ms(flow) if cell.arrives_late else cell.round_trip(flow)
        for flow in cell.flows
    }
    sinks = sorted(trips)
    exact = {"r1": round(cell.rate_mbit * 1e6)}
    commands = line("r1", cell.rate_mbit, cell.queue)
    if cell.up_mbit:
        exact["r0"] = round(cell.up_mbit * 1e6)
        commands += line("r0", cell.up_mbit, cell.queue)
    flows = [_guest_flow(flow, 1 + sinks.index(cell.round_trip(flow)), draw) for flow in cell.each]
    return {
        "name": f"{cell.name}@{run}",
        "tc": commands,
        "exact": exact,
        "transmits": {"d0": exact["r1"], "s0": exact.get("r0")} if cell.arrives_late else {},
        "duration": DURATION_S,
        "sinks": len(trips),
        "delays_ms": [trips[key] for key in sorted(trips)],
        "loss": cell.loss,
        "flows": flows,
        "sysctl": {"net.ipv4.tcp_ecn": 1} if cell.ecn else {},
    }


def starts_s(cell: Cell, run: int) -> list[float]:
    """When each flow begins in a run."""
    return [flow["start"] for flow in job(cell, run)["flows"]]


def _guest_flow(flow: Flow, sink: int, draw: random.Random) -> dict[str, Any]:
    start = draw.random()
    told: dict[str, Any] = {"cc": flow.law, "start": start, "sink": sink, "up": flow.up}
    if flow.tos:
        told["tos"] = flow.tos
    if flow.window:
        told["window"] = flow.window * DATA
    match flow.traffic:
        case Responses(packets, think_ms):
            told |= {"bytes": packets * DATA, "think": think_ms / 1e3}
        case Arrivals(packets, mean_gap_ms):
            begins = [start + draw.expovariate(1e3 / mean_gap_ms)]
            while begins[-1] < DURATION_S:
                begins.append(begins[-1] + draw.expovariate(1e3 / mean_gap_ms))
            told |= {"bytes": packets * DATA, "begins": begins[:-1]}
        case Bursts(packets, every_ms):
            told |= {"bytes": packets * DATA, "every": every_ms / 1e3}
    return told


def of(names: Sequence[str]) -> Mapping[str, Cell]:
    """The cells of these names, by name."""
    return {cell.name: cell for cell in cells() if cell.name in names}
