"""Texts of the command line: theory, questions, filters of packets, conditions, fields, names."""

from __future__ import annotations

from fuzzing.captures import capture
from fuzzing.drawing import Case, Draw, damaged, form, value
from fuzzing.scenarios import LINE, part_of, queue_text, shapes

WORDS = [
    "cubic",
    "bbr",
    "reno",
    "web",
    "call",
    "flood",
    "start",
    "size",
    "direction",
    "up",
    "down",
    "not",
    "and",
    "or",
    "host",
    "net",
    "port",
    "src",
    "dst",
    "tcp",
    "udp",
    "throughput",
    "goodput",
    "half-width",
    "inf",
    "nan",
    "x",
    "*",
    "(",
    ")",
    ":",
    "@",
    "=",
]
CONTROLS = ("cubic", "bbr", "reno", "vegas", "newreno", "cubic(beta=0.8)", "ledbat", "dctcp")


def arguments(draw: Draw) -> Case:
    """A command whose arguments are texts with a grammar."""
    kinds = {theory: 4, compare: 3, advise: 1, baseline: 2, replay: 2, until: 1, setting: 2, audit: 1, shape: 1}
    return draw.weighted(kinds)(draw)


def given(draw: Draw, **options: str) -> tuple[str, ...]:
    """Options with their values, some of them damaged."""
    return tuple(f"--{name.replace('_', '-')}={damaged(draw, text, WORDS, 0.08)}" for name, text in options.items())


def some(draw: Draw, **options: str) -> dict[str, str]:
    """Some of the options."""
    return {name: options[name] for name in draw.some(list(options), 0.4)}


def listed(draw: Draw, low: float, high: float) -> str:
    """Numbers with commas between them."""
    return ",".join(f"{draw.uniform(low, high):.{1 + draw.up_to(5)}f}" for _ in range(draw.one((1, 1, 2, 5))))


def size(draw: Draw, low: int, high: int) -> str:
    """Whole bytes."""
    return f"{low + draw.up_to(high - low)}{draw.one((' B', 'B'))}"


def theory(draw: Draw) -> Case:
    """What the papers derive."""
    ftps, rate = str(1 + draw.up_to(20)), draw.quantity("rate")
    delta, telnet, ftp = size(draw, 1, 19), size(draw, 20, 1500), size(draw, 500, 1500)
    needed: dict[str, str] = {}
    match name := draw.one(("delay-bounds", "delay", "delay-curve", "pgps", "tcp", "sharing")):
        case "delay-bounds":
            more = some(draw, ftps=ftps, telnet_packet=telnet, ftp_packet=ftp, delta=delta, rate=rate)
        case "delay":
            more = some(draw, ftps=ftps, rho=listed(draw, 0.01, 0.99), delta=delta, rate=rate)
        case "delay-curve":
            numbers = {"delta": f"{draw.uniform(0, 2):.2f}", "window": str(1 + draw.up_to(40))}
            more = some(draw, ftps=ftps, rho=listed(draw, 0, 1), **numbers)
        case "pgps":
            lines = ",".join(f"{1 + draw.up_to(99)} Mbit/s" for _ in range(1 + draw.up_to(4)))
            needed = {"burst": size(draw, 1000, 9000), "packet": size(draw, 100, 999), "share": "100 kbit/s"}
            needed["lines"] = lines
            more = some(draw, largest=size(draw, 1000, 1500), rate="90 kbit/s", propagation=draw.quantity("time"))
        case "tcp":
            needed = {"rtt": draw.quantity("time"), "loss": listed(draw, 0.0001, 0.9)}
            more = some(draw, packet=size(draw, 100, 9000), timeout="1 s")
        case _:
            needed = {"load": listed(draw, 0.01, 0.99)}
            counts = {"more_than": str(draw.up_to(500)), "distribution": str(draw.up_to(99))}
            more = some(draw, probability="0.01", rate=rate, size=draw.quantity("size"), peak="0.1 Mbit/s", **counts)
    return Case((("theory", name, *given(draw, **needed, **more), *draw.some(("--json", "--si"), 0.2)),))


def item(draw: Draw) -> str:
    """Flows of a question."""
    name = draw.one((*CONTROLS, "web", "call(rate=100kbit/s)", "flood(rate=1Mbit/s)"))
    more = draw.some((f":{1 + draw.up_to(3)}", f"@{100 + draw.up_to(90)}ms"), 0.4)
    own = ""
    if "(" not in name and name != "web" and draw.chance(0.15):
        own = draw.one(("(start=1s)", "(direction=up)", "(size=100kB)"))
    return name + "".join(more) + own


def asked(draw: Draw) -> dict[str, str]:
    """Options that several questions have."""
    return some(
        draw,
        queue=",".join(draw.sample(("fifo", "fq_codel", "cake", "fifo + red", "drr"), 1 + draw.up_to(1))),
        buffer=draw.one(("1BDP", "60kB", "0.5BDP,2BDP", "100packets")),
        seeds=str(1 + draw.up_to(4)),
    )


def compare(draw: Draw) -> Case:
    """A question; counted and not run."""
    options = some(
        draw,
        loss=draw.one(("1%", "0.01", "0.5 %")),
        jitter="1 ms",
        reorder="1%@5ms",
        profile=draw.one(("linux", "rfc", "ns-3")),
        receive_window=draw.one(("6MB", "4000packets")),
    )
    flows = ",".join(item(draw) for _ in range(draw.one((1, 1, 2))))
    line = {"rate": draw.one(("10Mbit/s", "5Mbit/s/1Mbit/s", "1 Mbit/s")), "rtt": draw.one(("20ms", "20ms,80ms"))}
    times = {"warm_up": "0 s", "duration": "1 s"}
    return Case((("compare", *given(draw, **line, flows=flows, **times, **asked(draw), **options), "--dry-run"),))


def advise(draw: Draw) -> Case:
    """A question of a user's line; counted and not run."""
    options = some(
        draw,
        criterion=draw.one(("call_p99", "bulk", "jain")),
        below=draw.one(("5%", "0.1")),
        utilisation_min="90%",
        dev="ppp0",
        flows=item(draw),
    )
    line = {"down": "5Mbit/s", "up": "1Mbit/s", "rtt": "20ms", "warm_up": "0 s", "duration": "1 s"}
    return Case((("advise", *given(draw, **line, **asked(draw), **options), "--dry-run"),))


def baseline(draw: Draw) -> Case:
    """A congestion control alone."""
    options = some(
        draw,
        buffer=draw.one(("2BDP", "60kB", "9packets")),
        queue=queue_text(draw),
        profile="rfc",
        receive_window="64kB",
        series="10 ms",
    )
    control = draw.one(CONTROLS) if draw.chance(0.6) else part_of(draw, "TransportSettings")
    text = damaged(draw, str(form(draw, control)), WORDS, 0.15)
    return Case((("baseline", *given(draw, rate="1 Mbit/s", rtt="20ms", duration="1 s", **options), "--", text),))


def packets(draw: Draw, depth: int) -> str:
    """A filter in tcpdump's words."""
    if depth == 0 or draw.chance(0.4):
        return draw.one(
            (
                "tcp",
                "udp",
                "ip",
                "ip6",
                "icmp",
                "host 10.0.0.1",
                "net 10.0.0.0/8",
                "port 80",
                "src port 443",
                "tcp port 80 or 443",
                "dst host fd00::1",
                "net 192.168",
                "port 1000",
                "icmp6",
            )
        )
    inner = packets(draw, depth - 1)
    both = f"{inner} {draw.one(('or', 'or', 'and', '||'))} {packets(draw, depth - 1)}"
    return draw.one((f"not {inner}", f"({inner})", both))


def replay(draw: Draw) -> Case:
    """A replay of the packets of a filter."""
    buffer = draw.one(("20packets", "9kB", "50ms", "unlimited", "0.1 s"))
    only = packets(draw, 3) + (" or ip or ip6" if draw.chance(0.8) else "")
    options = some(draw, gap_max="1 ms", queue=queue_text(draw))
    words = given(draw, rate=draw.one(("1 Mbit/s", "10Mbit/s")), buffer=buffer, only=only, **options)
    return Case((("replay", "c.pcap", *words, "--json"),), {"c.pcap": capture(draw, damage=0)})


def until(draw: Draw) -> Case:
    """A condition up to which a study is extended."""
    column = draw.one(("throughput", "goodput", "share", "throughput_bit_per_s"))
    condition = f"{column} half-width < {draw.one(('1%', '0.5 %', '10%'))}"
    study = b'[study]\nscenario = "s.toml"\nreplications = 2\n'
    words = ("sweep", "study.toml", "--dry-run", *given(draw, until=condition))
    return Case((words,), {"s.toml": LINE, "study.toml": study})


FIELDS = (
    "links.l.rate=2 Mbit/s",
    "links[0].delay=1 ms",
    "measure.seed=7",
    "flows.f.traffic=ftp(packets=9)",
    "flows[1].tos=184",
    "defaults.buffer=9 kB",
    "links.l.loss=0.5",
    "measure.duration=5 ms",
    "defaults.access={rate = '1 Mbit/s'}",
    "flows.f.connection=linux",
    "flows.u.route=['l']",
)


def setting(draw: Draw) -> Case:
    """Fields of a scenario, set by their paths."""
    chosen = draw.some(FIELDS, 0.3) or FIELDS[:1]
    words = [f"--set={damaged(draw, each, ('links', 'flows', 'f', 'rate', 'measure'), 0.15)}" for each in chosen]
    return Case((("run", "s.toml", "--dry-run", "--json", *words), ("run", "s.toml", *words)), {"s.toml": LINE})


def audit(draw: Draw) -> Case:
    """A discipline, audited with few seeds."""
    return Case((("audit", "--seeds=1", "--", damaged(draw, queue_text(draw), WORDS, 0.2)),))


def shape(draw: Draw) -> Case:
    """A topology of a known shape, described."""
    found = value(draw, {"$ref": "#/$defs/TopologySettings"}, shapes(draw), 0.3)
    return Case((("topology", "--json", "--", damaged(draw, str(form(draw, found)), WORDS, 0.2)),))
