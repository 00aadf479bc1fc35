"""The project's own cases of order: tc commands and the packets that arrive, for record.py to give to a kernel.

Arrivals come from a seeded generator and are the same on every machine. Flow i has source port 10000 + i.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

LINE = [
    "qdisc add dev r1 root handle 1: htb default 1",
    "class add dev r1 parent 1: classid 1:1 htb rate 1mbit ceil 1mbit burst 1 cburst 1",
]
"""A line of 1 Mbit/s: a class over the discipline under test (guest.exact_line takes its burst away)."""

UNDER = "parent 1:1 handle 10:"


@dataclass(frozen=True)
class Arrival:
    """A packet that comes: time in nanoseconds, bytes of its frame."""

    time: int
    flow: int
    length: int
    tos: int = 0
    source: int = 1
    sink: int = 1


@dataclass(frozen=True)
class Recording:
    """A case to record."""

    name: str
    tc: Sequence[str]
    arrivals: Sequence[Arrival]
    draws: bool = False
    rate: str = "1Mbit/s"
    """fairq's line: the class's, or more where the discipline shapes."""
    exact: int | None = field(default=1_000_000)
    """The rate of the class that is the line; None: the discipline shapes."""


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def steady(
    seed: int, load: float, seconds: float, shape: Callable[[random.Random, int], Arrival], flows: int = 8
) -> list[Arrival]:
    """Poisson arrivals of flows that offer `load` of 1 Mbit/s together; `shape` makes a flow's packet."""
    draw, found = random.Random(seed), []
    for flow in range(flows):
        time = 0.0
        while True:
            packet = shape(draw, flow)
            time += draw.expovariate(load * 1e6 / flows / (8 * packet.length))
            if time >= seconds:
                break
            found.append(_at(packet, time))
    return sorted(found, key=lambda packet: (packet.time, packet.flow))


def bursts(
    seed: int, number: int, gap: float, shape: Callable[[random.Random, int], Arrival], flows: int = 8
) -> list[Arrival]:
    """Bursts of 1 to 18 packets of some flows within a millisecond, after a gap in which the line goes idle."""
    draw, found, time = random.Random(seed), [], 0.0
    for _ in range(number):
        time += gap * (0.5 + draw.random())
        for _ in range(draw.randint(1, 6)):
            flow = draw.randrange(flows)
            for _ in range(draw.randint(1, 3)):
                found.append(_at(shape(draw, flow), time + draw.random() * 1e-3))
    return sorted(found, key=lambda packet: (packet.time, packet.flow))


def _at(packet: Arrival, seconds: float) -> Arrival:
    return Arrival(_ns(seconds), packet.flow, packet.length, packet.tos, packet.source, packet.sink)


def mixed(draw: random.Random, flow: int) -> Arrival:
    """Lengths of 60 to 1514 B; the flow is the class by precedence."""
    return Arrival(0, flow, draw.choice([60, 90, 300, 590, 1000, 1514]), flow << 5)


def plain(draw: random.Random, flow: int) -> Arrival:
    """Lengths of 60 to 1514 B, one type of service."""
    return Arrival(0, flow, draw.choice([60, 90, 300, 590, 1000, 1514]))


def ect(draw: random.Random, flow: int) -> Arrival:
    """Packets of which the flows with even numbers accept CE."""
    return Arrival(0, flow, draw.choice([590, 1000, 1514]), 2 if flow % 2 == 0 else 0)


def hosts(draw: random.Random, flow: int) -> Arrival:
    """Half of the flows from one host, and three receivers."""
    return Arrival(0, flow, draw.choice([300, 1000, 1514]), 0, 1 if flow < 4 else flow - 2, 1 + flow % 3)


CODE_POINTS = [0, 8, 10, 18, 26, 34, 46, 48]


def code_points(draw: random.Random, flow: int) -> Arrival:
    """A code point for each flow."""
    return Arrival(0, flow, draw.choice([300, 1000, 1514]), CODE_POINTS[flow] << 2)


def by_precedence() -> list[str]:
    """Filters: precedence p goes to class p + 1."""
    return [_filter(p, f"10:{p + 1}") for p in range(8)]


def _filter(precedence: int, leaf: str) -> str:
    match = f"match ip tos {precedence << 5:#04x} 0xe0"
    return f"filter add dev r1 parent 10: protocol ip prio 1 u32 {match} flowid {leaf}"


def _classes(kind: str, settings: Callable[[int], str]) -> list[str]:
    return [f"class add dev r1 parent 10: classid 10:{at} {kind} {settings(at)}" for at in range(1, 9)]


def _under(discipline: str) -> list[str]:
    return [*LINE, f"qdisc add dev r1 {UNDER} {discipline}"]


def _tree(kind: str, rows: Sequence[tuple[str, str, str]]) -> list[str]:
    return [
        f"class add dev r1 parent 10:{parent} classid 10:{name} {kind} {settings}" for name, parent, settings in rows
    ]


HTB = _tree("htb", [
    ("1", "", "rate 1mbit ceil 1mbit burst 3028 cburst 3028"),
    ("10", "1", "rate 700kbit ceil 1mbit burst 3028 cburst 3028"),
    ("20", "1", "rate 300kbit ceil 600kbit burst 3028 cburst 3028"),
    ("110", "10", "rate 500kbit ceil 900kbit burst 3028 cburst 3028"),
    ("31", "110", "rate 100kbit ceil 900kbit burst 3028 cburst 3028 prio 1"),
    ("32", "110", "rate 400kbit ceil 500kbit burst 3028 cburst 3028"),
    ("33", "10", "rate 200kbit ceil 1mbit burst 3028 cburst 3028 prio 1"),
    ("34", "20", "rate 300kbit ceil 400kbit burst 3028 cburst 3028"),
])  # fmt: skip

HFSC = _tree("hfsc", [
    ("1", "", "ls m2 1mbit"),
    ("10", "1", "ls m2 700kbit"),
    ("20", "1", "ls m2 300kbit ul m2 500kbit"),
    ("31", "10", "rt m1 500kbit d 20ms m2 100kbit ls m2 200kbit"),
    ("32", "10", "ls m2 500kbit"),
    ("33", "20", "ls m2 100kbit"),
    ("34", "20", "ls m1 300kbit d 50ms m2 200kbit"),
])  # fmt: skip


def _leaves() -> list[str]:
    return [_filter(p, f"10:{31 + p // 2}") for p in range(8)]


def recordings() -> list[Recording]:
    """All of them."""
    return [*_trees(), *_marks(), *_limits(), *_cake(), *_shapers(), *_that_draw()]


def _trees() -> list[Recording]:
    """Mixed weights and sizes, and trees of three levels: with the line busy, and in bursts after which it is idle."""
    drr = [*_under("drr"), *_classes("drr", lambda at: f"quantum {300 * at}"), *by_precedence()]
    qfq = [*_under("qfq"), *_classes("qfq", lambda at: f"weight {1 + at % 4} maxpkt 1514"), *by_precedence()]
    cases = {
        "drr_weights": drr,
        "qfq_mixed": qfq,
        "ets_mixed": [*_under("ets bands 8 strict 2 quanta 1500 3000 600 1514 4000 2000"), *by_precedence()],
        "htb_levels": [*_under("htb default 34"), *HTB, *_leaves()],
        "hfsc_levels": [*_under("hfsc default 34"), *HFSC, *_leaves()],
        "sfq_mixed": _under("sfq limit 3000 depth 1000 flows 256 quantum 3000"),
        "fq_mixed": _under("fq limit 10000 flow_limit 5000"),
    }
    shapes = {"steady": steady(11, 1.1, 6, mixed), "idle": bursts(12, 120, 0.05, mixed)}
    return [Recording(f"{name}.{shape}", tc, shapes[shape]) for name, tc in cases.items() for shape in shapes]


def _marks() -> list[Recording]:
    """ECN: half of the flows accept CE."""
    over = steady(13, 1.3, 8, ect)
    cases = {
        "codel_ecn": "codel ecn",
        "fq_codel_ecn": "fq_codel",
        "codel_ce_threshold": "codel ecn ce_threshold 20ms",
        "fq_codel_ce_threshold": "fq_codel ce_threshold 10ms",
        "cake_ecn": "cake unlimited besteffort flows",
    }
    fq = _under("fq limit 10000 flow_limit 5000 ce_threshold 30ms")
    found = [Recording(f"{name}.overload", _under(line), over) for name, line in cases.items()]
    return [*found, Recording("fq_ce_threshold.steady", fq, steady(15, 0.95, 8, ect))]


def _limits() -> list[Recording]:
    """Limits of a few packets or bytes."""
    some = steady(14, 1.2, 5, plain)
    cases = {
        "pfifo_small": "pfifo limit 3",
        "bfifo_small": "bfifo limit 4000",
        "fq_codel_small": "fq_codel limit 6",
        "fq_codel_memory": "fq_codel memory_limit 20000",
        "codel_small": "codel limit 5",
        "sfq_small": "sfq limit 8",
        "sfq_head_drop": "sfq limit 20 headdrop",
        "sfq_depth": "sfq limit 100 depth 4",
        "fq_small": "fq limit 20 flow_limit 4",
        "cake_small": "cake unlimited besteffort flows memlimit 20000",
    }
    return [Recording(f"{name}.steady", _under(line), some) for name, line in cases.items()]


def _cake() -> list[Recording]:
    """CAKE by several hosts, and its tins and overheads under its own shaper."""
    several, marked, some = (steady(16, 1.1, 6, hosts), steady(17, 1.1, 6, code_points), steady(14, 1.2, 5, plain))
    isolations = ["hosts", "srchost", "dsthost", "dual-srchost", "dual-dsthost", "triple-isolate", "flowblind"]
    found = [
        Recording(
            f"cake_{name.replace('-', '_')}.steady", _under(f"cake unlimited besteffort {name} rtt 1000s"), several
        )
        for name in isolations
    ]
    shapes = {"steady": marked, "idle": bursts(18, 120, 0.05, code_points)}
    for tins in ("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"):
        for shape, arrivals in shapes.items():
            found.append(
                _shaped(f"cake_shaped_{tins}.{shape}", f"cake bandwidth 1mbit {tins} flows rtt 1000s", arrivals)
            )
    rest = {
        "cake_shaped_diffserv3_law.steady": ("cake bandwidth 1mbit diffserv3 flows", marked),
        "cake_shaped_docsis.steady": ("cake bandwidth 1mbit besteffort flows docsis rtt 1000s", some),
        "cake_shaped_atm.steady": ("cake bandwidth 1mbit besteffort flows pppoe-llcsnap rtt 1000s", some),
    }
    return [*found, *(_shaped(name, *given) for name, given in rest.items())]


def _shapers() -> list[Recording]:
    """Token buckets, and the credit-based shaper on the device of 10 Gbit/s that it takes its slopes against."""
    idle, some = bursts(19, 120, 0.05, plain), steady(14, 1.2, 5, plain)
    cases = {
        "tbf.idle": ("tbf rate 1mbit burst 5kb latency 500ms", idle),
        "tbf_peak.idle": ("tbf rate 1mbit burst 10kb latency 500ms peakrate 2mbit mtu 1540", idle),
        "tbf.steady": ("tbf rate 1mbit burst 5kb latency 50ms", some),
    }
    cbs = "cbs idleslope 1000 sendslope -9999000 hicredit"
    credits = {
        "cbs.idle": (f"{cbs} 3000 locredit -1514", idle),
        "cbs.steady": (f"{cbs} 153 locredit -1514", some),
        "cbs_bounds.idle": (f"{cbs} 0 locredit -500", idle),
    }
    return [
        *(_shaped(name, *given) for name, given in cases.items()),
        *(_shaped(name, *given, rate="10Gbit/s") for name, given in credits.items()),
    ]


def _that_draw() -> list[Recording]:
    over = steady(13, 1.3, 8, ect)
    red = "red limit 400000 min 15000 max 45000 avpkt 1000 burst 25 probability 0.1 bandwidth 1mbit ecn"
    cases = {"fq_pie": "fq_pie limit 1000", "pie_ecn": "pie limit 1000 ecn", "sfb": "sfb limit 1000", "red_ecn": red}
    return [Recording(f"{name}.overload", _under(line), over, draws=True) for name, line in cases.items()]


def _shaped(name: str, line: str, arrivals: Sequence[Arrival], rate: str = "1Gbit/s") -> Recording:
    """A discipline that shapes, before a line that is much faster."""
    return Recording(name, [f"qdisc add dev r1 root handle 10: {line}"], arrivals, rate=rate, exact=None)
