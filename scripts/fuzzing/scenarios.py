"""Scenarios by their schema, in TOML and JSON, with the files they name; and texts of queues."""

from __future__ import annotations

import json
from typing import Any

from fuzzing import captures, tables
from fuzzing.drawing import Case, Draw, Fixed, damaged, form, schema, table, value

NODES = ("a", "b", "c", "d")
WORDS = [
    "links",
    "flows",
    "axes",
    "measure",
    "defaults",
    "topology",
    "nodes",
    "pools",
    "sessions",
    "name",
    "from",
    "to",
    "rate",
    "delay",
    "queue",
    "buffer",
    "traffic",
    "transport",
    "kind",
    "ftp",
    "fifo",
    "fq",
    "unlimited",
    "drawn",
    "true",
    "values",
    "set",
    "path",
    "group",
    "Tbit",
    "packets",
    "h",
    "ps",
    "BDP",
]
DEFS = "$defs"
TRANSFERS = ("flow_arrivals", "incast", "request_response", "web")
FILES = {"t.trace": tables.trace, "t.csv": tables.traffic, "t.pcap": captures.capture}


def scenario(draw: Draw) -> Case:
    """A scenario, its estimate, and a run of it that writes samples."""
    said = network(draw)
    is_json = draw.chance(0.2)
    text = json.dumps(said, ensure_ascii=draw.chance(0.5)) if is_json else toml(draw, said)
    text = damaged(draw, text, WORDS, 0.2)
    name = "s.json" if is_json and draw.chance(0.5) else "s.toml"
    content = text.encode(errors="surrogatepass")
    if draw.chance(0.03):
        content = b"\xef\xbb\xbf" + content
    if draw.chance(0.05):
        content = content.replace(b"\n", b"\r\n")
    files = {name: content, **{file: make(draw) for file, make in FILES.items() if file in text}}
    others = {("theory", "max-min", name): 1, ("topology", name): 1, ("tc", name): 1}
    first: tuple[str, ...] = draw.weighted({("run", name, "--dry-run", "--json"): 6, **others})
    commands: tuple[tuple[str, ...], ...] = (first,)
    if first[0] == "run":
        extra = draw.some((("--series", "1 ms"), ("--states",), ("--overlay",), ("--packets", "f0")), 0.2)
        options = [word for one in extra for word in one]
        commands += (("run", name, "--workers", "1", "--json", *options),)
    return Case(commands, files)


def network(draw: Draw) -> dict[str, Any]:
    """A small network that runs for some milliseconds."""
    nodes = NODES[: draw.one((2, 2, 3, 4))]
    said: dict[str, Any] = {}
    if draw.chance(0.6):
        said["edition"] = draw.one((1, 2))
    said["measure"] = {"duration": f"{draw.one((1, 3, 10, 50))} ms"}
    if draw.chance(0.3):
        said["measure"] |= {
            "warm_up": f"{draw.up_to(20)} ms",
            "seed": draw.up_to(2**40),
            "replications": 1 + draw.up_to(1),
        }
    said["defaults"] = table(draw, schema()[DEFS]["Defaults"], {**fixed(draw, nodes), "start": starts}, 0.1)
    said["links"] = [link(draw, at, nodes[at : at + 2]) for at in range(len(nodes) - 1)]
    if draw.chance(0.1):
        said["topology"] = form(draw, value(draw, {"$ref": "#/$defs/TopologySettings"}, shapes(draw), 0.3))
    said["flows"] = [flow(draw, at, nodes) for at in range(draw.one((1, 1, 2, 3)))]
    if draw.chance(0.1):
        said["routing"], said["multipath"] = draw.one(("hops", "delay", "weight")), draw.chance(0.5)
    if draw.chance(0.15):
        said["sessions"] = [session(draw, nodes)]
    if draw.chance(0.1):
        said["nodes"] = [{"name": node, "role": draw.one(("edge", "core", "both"))} for node in draw.some(nodes)]
    if draw.chance(0.1):
        policy = draw.one(("fuzzball", "dynamic_threshold", "dynamic_threshold(alpha=0.5)"))
        said["pools"] = [{"name": "p", "node": nodes[0], "policy": policy, "size": limit(draw)}]
    if draw.chance(0.2):
        said["axes"] = axes(draw)
    return said


def axes(draw: Draw) -> list[dict[str, Any]]:
    """One or two axes, by a path or by overrides."""
    found: list[dict[str, Any]] = []
    for name in draw.some(("x", "y"), 0.7):
        values = draw.one((["1 ms", "2 ms"], ["3 ms"]))
        path = draw.one(
            {"x": ("links.l0.delay", "measure.warm_up"), "y": ("links[0].jitter", "links.l0.reorder.delay")}[name]
        )
        if draw.chance(0.5):
            found.append({"name": name, "path": path, "values": values})
        else:
            sets = [{"name": f"n{at}", "set": {path: each}} for at, each in enumerate(values)]
            found.append({"name": name, "values": sets})
        if draw.chance(0.2):
            found[-1]["group"] = "g"
    return found


def starts(draw: Draw) -> str:
    """When a flow starts, mostly within the run."""
    return draw.one(("0 s", "0 s", "drawn(within=1ms)", "1 ms", "drawn"))


def fixed(draw: Draw, nodes: tuple[str, ...]) -> Fixed:
    """What the schema does not say: names that exist, files that are there, small rates."""
    return {
        "$Queue": lambda d: queue(d),
        "queue": lambda d: queue_value(d) if d.chance(0.4) else None,
        "reverse_queue": lambda d: queue_value(d) if d.chance(0.1) else None,
        "host_queue": lambda d: queue_value(d) if d.chance(0.1) else None,
        "buffer": lambda d: buffer(d) if d.chance(0.2) else None,
        "transport": lambda d: part_of(d, "TransportSettings") if d.chance(0.4) else None,
        "stop": lambda d: d.one(("1.5 s", "60 s")) if d.chance(0.1) else None,
        "points": lambda d: [["100 B", 0.5], ["1 kB", 1]],
        "probability": lambda d: d.one((0, 0.01, 0.5)),
        "warm_up": lambda d: None,
        "class": lambda d: None,
        "count": lambda d: 1 + d.up_to(3) if d.chance(0.2) else None,
        "hosts": lambda d: None,
        "route": lambda d: ["l0"] if d.chance(0.05) else None,
        "sources": lambda d: 1 + d.up_to(2),
        "mean_on": lambda d: d.one(("10 s", "100 s")),
        "file": lambda d: "t.csv",
        "flow": lambda d: "a" if d.chance(0.3) else None,
        "$Connection": lambda d: d.one(({"profile": "linux"}, {"initial_window": 2}, "rfc", {"duplicates": 2})),
        "tos": lambda d: 4 * d.up_to(63) if d.chance(0.2) else None,
        "rate": rate,
        "access_rate": rate,
        "reverse_rate": lambda d: rate(d) if d.chance(0.1) else None,
        "loss": lambda d: d.one((0, 0.01, 0.5)) if d.chance(0.1) else None,
    }


def rate(draw: Draw) -> str:
    """A rate of which some milliseconds are some packets."""
    return draw.one(("56 kbit/s", "1 Mbit/s", "9.6kbit/s", "10 Mbit/s", "33333333 bit/s", "0.1 Gbit/s"))


def limit(draw: Draw) -> str:
    """How much may wait."""
    return draw.one(("1 packets", "20packets", "9000 B", "64 kB", "1 MiB"))


def buffer(draw: Draw) -> str:
    """A buffer of a line."""
    return draw.one((limit(draw), "50 ms", "1 BDP", "unlimited"))


def part_of(draw: Draw, definition: str) -> Any:
    """One of the parts of a definition, as a table or a text form."""
    part = draw.one((0, 0, 0.1, 0.4))
    found = value(draw, {"$ref": f"#/$defs/{definition}"}, fixed(draw, NODES[:2]), part)
    return form(draw, found) if draw.chance(0.5) else found


def queue(draw: Draw) -> dict[str, Any]:
    """A queue as a table."""
    part = draw.one((0, 0, 0, 0.1, 0.3))
    given = {name: own for name, own in fixed(draw, NODES[:2]).items() if name not in ("buffer", "flow", "class")}
    given |= {"name": lambda d: d.one(("k", "l", "m")), "parent": lambda d: None, "default": lambda d: None}

    def of(definition: str) -> Any:
        return value(draw, {"$ref": f"#/$defs/{definition}"}, given, part)

    if draw.chance(0.35):
        said = {"design": of("DesignSettings")}
    else:
        said = {"scheduler": of("SchedulerSettings")}
        if draw.chance(0.3):
            said["buffer"] = of("BufferSettings")
        if draw.chance(0.1):
            said["marker"] = of("MarkerSettings")
    if draw.chance(0.1):
        said["policer"] = of("PolicerSettings")
    if draw.chance(0.15):
        said["classifier"] = of("ClassifierSettings")
    if draw.chance(0.5):
        said["limit"] = limit(draw)
    return said


def queue_text(draw: Draw) -> str:
    """A queue in its text form."""
    given = queue(draw)
    terms = [each if isinstance(each, str) else form(draw, each) for each in given.values()]
    if draw.chance(0.3):
        draw.shuffle(terms)
    return draw.one((" + ", " + ", "+", "  +\t")).join(terms)


def queue_value(draw: Draw) -> Any:
    """A queue as text or as a table."""
    return queue_text(draw) if draw.chance(0.6) else queue(draw)


def link(draw: Draw, at: int, ends: tuple[str, ...]) -> dict[str, Any]:
    """A link between two nodes."""
    own = {**fixed(draw, ends), "name": lambda d: f"l{at}", "from": lambda d: ends[0], "to": lambda d: ends[1],
           "delay": lambda d: d.one(("0 s", "1 ms", "10 us", "1 ps")), "jitter": lambda d: None,
           "trace": lambda d: None, "reverse_trace": lambda d: None}  # fmt: skip
    said = table(draw, schema()[DEFS]["Link"], own, 0.05)
    if draw.chance(0.1):
        del said["rate"]
        said["trace"] = "t.trace"
    if draw.chance(0.1):
        said["jitter"] = draw.one(("0 s", "1 ms", "1 ps"))
    return said


def flow(draw: Draw, at: int, nodes: tuple[str, ...]) -> dict[str, Any]:
    """A flow between two of the nodes."""
    ends = draw.sample(nodes, 2)
    own = {**fixed(draw, nodes), "name": lambda d: f"f{at}", "from": lambda d: ends[0], "to": lambda d: ends[1],
           "traffic": traffic, "start": starts}  # fmt: skip
    said = table(draw, schema()[DEFS]["Flow"], own, 0.05)
    if any(name in str(said["traffic"]) for name in TRANSFERS):
        # a transfer ends when all of it is acknowledged
        said["transport"] = draw.one(
            ("reno", "cubic", "bbr", "newreno", "jk", "linux_cubic" if draw.chance(0.01) else "vegas")
        )
    return said


def traffic(draw: Draw) -> Any:
    """Traffic; recorded traffic from a file that is there."""
    found = value(draw, {"$ref": "#/$defs/TrafficSettings"}, fixed(draw, NODES), draw.one((0, 0, 0.2)))
    if found["kind"] == "capture":
        found["file"] = "t.pcap"
    return form(draw, found) if draw.chance(0.5) else found


def session(draw: Draw, nodes: tuple[str, ...]) -> dict[str, Any]:
    """A session with layers of 2^n."""
    control, source = draw.one((("plm", "pairs"), ("rlm", "constant"), ("rlm", "pairs"), ("rlc", "bursts")))
    said: dict[str, Any] = {"name": "s", "from": nodes[0], "control": control, "source": source}
    if draw.chance(0.5):
        said["layers"] = {"count": 1 + draw.up_to(4), "rate": "50 kbit/s"}
    else:
        said["rates"] = ["50 kbit/s", "50 kbit/s", "100 kbit/s"]
    said["receivers"] = [{"at": node, "name": f"r{node}"} for node in nodes[1:]]
    return said


def shapes(draw: Draw) -> Fixed:
    """Small numbers for topologies of a known shape."""
    names = ("nodes", "hosts", "leaves", "spines", "hops", "mans", "lans", "man_nodes", "lan_nodes", "wan_nodes")
    small = {name: (lambda d: 1 + d.up_to(4)) for name in names}
    return {**fixed(draw, NODES), **small, "k": lambda d: d.one((2, 4, 6)), "wan_links": lambda d: 5 + d.up_to(5)}


# TOML.


def toml(draw: Draw, said: dict[str, Any]) -> str:
    """A document in TOML, in one of the styles that it has."""
    lines = ["# a scenario"] if draw.chance(0.2) else []
    tables_of = []
    for name, each in said.items():
        if isinstance(each, dict) and draw.chance(0.8):
            tables_of += [f"\n[{name}]", *(f"{_key(draw, key)} = {_toml(draw, inner)}" for key, inner in each.items())]
        elif isinstance(each, list) and each and isinstance(each[0], dict) and draw.chance(0.9):
            for one in each:
                tables_of += [
                    f"\n[[{name}]]",
                    *(f"{_key(draw, key)} = {_toml(draw, inner)}" for key, inner in one.items()),
                ]
        else:
            lines.append(f"{name} = {_toml(draw, each)}")
    return "\n".join([*lines, *tables_of]) + "\n"


def _key(draw: Draw, name: str) -> str:
    is_bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii() and name
    return name if is_bare and draw.chance(0.95) else json.dumps(name)


def _toml(draw: Draw, each: Any) -> str:
    match each:
        case bool():
            return str(each).lower()
        case dict():
            return "{ " + ", ".join(f"{_key(draw, name)} = {_toml(draw, one)}" for name, one in each.items()) + " }"
        case list():
            gap = "\n    " if draw.chance(0.1) else " "
            return "[" + f",{gap}".join(_toml(draw, one) for one in each) + "]"
        case str() if draw.chance(0.1) and "'" not in each:
            return f"'{each}'"
        case str() if draw.chance(0.05):
            return f'"""{each}"""'
    return json.dumps(each, ensure_ascii=False)


# Texts of queues, the whole way to a run, a replay and Linux.


def queues(draw: Draw) -> Case:
    """The text form of a queue, translated, run and replayed."""
    text = damaged(draw, queue_text(draw), WORDS, 0.3).replace("\0", "")
    files = {"s.toml": LINE, "t.pcap": captures.capture(draw, damage=0)}
    run = ("run", "s.toml", "--workers", "1", "--json", "--states", f"--set=defaults.queue={text}")
    replay = ("replay", "t.pcap", "--rate", rate(draw), f"--buffer={limit(draw)}", f"--queue={text}", "--json")
    # what tc is told to do, it takes
    translate = (("tc", "--", text), ("tc", "--read={said}"))
    return Case((run, replay) if draw.chance(0.7) else translate, files)


LINE = b"""edition = 2
[measure]
duration = "20 ms"
[defaults]
start = "0 s"
[[links]]
name = "l"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "1 ms"
[[flows]]
name = "f"
from = "a"
to = "b"
traffic = "ftp"
count = 2
[[flows]]
name = "u"
from = "a"
to = "b"
traffic = "constant_rate(rate=5Mbit/s)"
tos = 184
"""
