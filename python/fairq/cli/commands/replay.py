"""`fairq replay`: a capture through a gateway."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairq import api, plots
from fairq.cli.options import LOOKS, out, plot
from fairq.cli.printing import FLOWS_SHOWN, as_json, look, pairs, picture, save, style, written
from fairq.core import cells, tables
from fairq.core.declared import LIST, PATH, Option, Spec, argument, switch, typed_only
from fairq.core.progress import Bar
from fairq.replays import replay_tables

SUMMARY = [
    "name", "direction", "packets", "dropped", "marked", "delay_s_mean", "delay_s_p99", "delay_s_max",
    "throughput_bit_per_s", "jain_index", "overtakes", "late_s_max", "late_bound_s", "later_than_bound", "bytes",
    "bytes_dropped", "sent", "delay_s_p50", "delay_s_p95", "last_departure_s", "classifier", "rows_by", "late_s_mean",
    "late_s_p99", "late_packets", "late_not_compared",
]  # fmt: skip
"""The columns of the disciplines; on a screen as many as fit."""

STATES = ["subqueue", "quantity", "value", "unit"]
"""The columns of what disciplines show at the end."""

HEAD_MAX = 32
"""The columns that the name of a discipline takes in a heading."""

MINOR = ["delay_s_p50", "bytes", "delay_s_max"]
"""The columns of flows that go first where a screen is too narrow."""


SPEC = Spec(
    "replay",
    "fairq replay web.pcap --me 192.168.1.7 --down 50Mbit/s --up 10Mbit/s --buffer 1000packets",
    (
        argument("capture", "a pcap or pcapng file; - reads standard input", "CAPTURE", PATH),
        Option("rate", "rate of the gateway's line, as 300kbit/s, if there is one for all packets"),
        Option("me", "split by direction: your address or network; several with commas between", "ADDRESS"),
        Option("down", "rate of the line to --me, as 50Mbit/s", "RATE"),
        Option("up", "rate of the line from --me, as 10Mbit/s", "RATE"),
        Option("only", "replay only these packets: 'up and not (tcp port 22 or 443)'", "EXPR"),
        Option("buffer", "the buffer, as 40packets, 60kB, 50ms, 1BDP or unlimited", required=True),
        Option("rtt", "the round trip of --buffer 1BDP, as 40ms", "TIME"),
        Option("queue", f"queues, one replay each (default {','.join(api.REPLAYED)})", "LIST", LIST,
               typed=",".join(api.REPLAYED), flags=("--queue", "--discipline")),
        Option("classifier", "define a flow by pair, port_pair, source, destination or tos"),
        Option("gap_max", "cut longer idle gaps to this (default 10 s)", "TIME", default="10 s"),
        Option("fluid", "skip the comparison with a fluid: faster, but no lateness", kind="bool",
               default=True, flags=("--no-fluid",)),
        Option("under", "dequeue as a device does (default), or as a class of htb",
               kind="Literal['device', 'class']", default="device", choices=("device", "class")),
        *typed_only(
            switch("each", "add a table of the flows of each discipline by itself"),
            switch("all", "show all flows, not only those with most packets"),
            switch("states", "show what each discipline counts and keeps at the end, as tc -s does"),
        ),
        *plot("draw delay over time under each discipline"),
        *LOOKS,
        *out("write packets.parquet and capture.pcapng of each discipline into this folder"),
    ),
    "All packets pass a line of --rate; or those to --me pass one of --down, those from there one of"
    " --up. --only takes words of tcpdump (host, net, port, src, dst, ip, ip6, tcp, udp, icmp, icmp6,"
    " and, or, not) and up and down. --classifier defines the flows of all tables and of each"
    " discipline that names no classifier. A class of htb (--under class) does not ask a discipline"
    " that holds no packet.",
    functions=("replay",),
    beside=("disciplines", "class_burst", "progress"),
)  # fmt: skip


def replay(arguments: Namespace) -> str:
    """`fairq replay`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    with Bar(Path(arguments.capture).name) as bar:
        result = api.replay(**SPEC.words(vars(arguments)), progress=bar)
    if drawing:
        save(plots.of_replay(result, style(arguments)), drawing)
    if arguments.json:
        return as_json(result.document, "replay")
    note = result.capture.get("note")
    parts = [pairs({name: value for name, value in result.capture.items() if name != "note"}, arguments.si)]
    if result.directions:
        parts += ["", "Directions", tables.text(result.directions, **look(arguments))]
    parts += ["", "Disciplines", tables.text(result.disciplines, SUMMARY, keep=["name"], **look(arguments))]
    parts += [f"{_named(d)}: {d['note']}" for d in result.disciplines if d.get("note")]
    parts += _beside(result.disciplines, arguments)
    if arguments.each:
        parts += _each(result.disciplines, arguments)
    if arguments.states:
        parts += _states(result.disciplines, arguments)
    parts += ["", tables.prose(f"Note: {note}")] if note else []
    if result.answer:
        heads = _heads([row["name"] for row in result.disciplines], is_wide=arguments.wide)
        parts += ["", tables.prose(_answer(str(result.answer["text"]), heads))]
    if places := written(arguments, drawing, arguments.out):
        parts.append(places)
    return "\n".join(parts)


def _beside(disciplines: Sequence[Mapping[str, Any]], arguments: Namespace) -> Iterator[str]:
    """The lines of the tables of flows, disciplines beside each other: one, if all tell flows apart the same way."""
    found = replay_tables.beside(disciplines)
    for rows_by, names, flows in found:
        kept = flows if arguments.all else flows[:FLOWS_SHOWN]
        rows = [
            {**flow, **{name: _cell(flow["disciplines"].get(name), si=arguments.si) for name in names}} for flow in kept
        ]
        columns = ["direction", "flow", "packets", *names]
        yield from ("", f"Flows by {rows_by}: mean delay/99 %, packets dropped")
        heads = _heads(names, is_wide=arguments.wide)
        minor = ["packets", "direction"]
        yield tables.text(rows, columns, minor=minor, keep=columns, heads=heads, **look(arguments))
        yield from _more(len(flows) - len(kept))
    if len(found) > 1:
        yield "The disciplines tell flows apart in several ways; --classifier NAME puts all into one table"


def _heads(names: Sequence[str], *, is_wide: bool) -> dict[str, str]:
    """The headings of disciplines: long names are cut in their middle, if that tells them apart."""
    cut = {name: tables.middle(name, HEAD_MAX) for name in names}
    return {name: name for name in names} if is_wide or len(set(cut.values())) < len(cut) else cut


def _answer(text: str, heads: Mapping[str, str]) -> str:
    """The answer, in which disciplines have the names of the headings."""
    # A name may be a part of a longer one.
    for name in sorted(heads, key=len, reverse=True):
        text = text.replace(name, heads[name])
    return text


def _cell(row: Mapping[str, Any] | None, *, si: bool) -> str:
    """What became of a flow under a discipline."""
    if row is None:
        return cells.NONE
    lost = f", {row['dropped']}" if row["dropped"] else ""
    delays = [row["delay_s_mean"], row["delay_s_p99"]]
    if delays[0] is None:
        return f"{cells.NONE}{lost}"
    if si:
        return "/".join(map(tables.shown, delays)) + lost
    mean, p99 = cells.column(delays, "s")
    return f"{mean.number if mean.unit == p99.unit else mean}/{p99}{lost}"


def _each(disciplines: Sequence[Mapping[str, Any]], arguments: Namespace) -> Iterator[str]:
    """The lines of a table of flows for each discipline."""
    for discipline in disciplines:
        flows = sorted(discipline["flows"], key=lambda flow: -flow["packets"])
        kept = flows if arguments.all else flows[:FLOWS_SHOWN]
        every = "the same in all rows" if len(kept) == len(flows) else "the same in all rows shown"
        yield from ("", f"Flows under {_named(discipline)}, by {discipline['rows_by']}")
        yield tables.text(kept, every=every, minor=MINOR, **look(arguments))
        yield from _more(len(flows) - len(kept))


def _states(disciplines: Sequence[Mapping[str, Any]], arguments: Namespace) -> Iterator[str]:
    """The lines of a table for each discipline with states; the subqueue of a leaf is its class."""
    for discipline in disciplines:
        if rows := discipline["states"]:
            yield from ("", f"States of {tables.middle(_named(discipline), HEAD_MAX)}")
            yield tables.text(rows, STATES, keep=STATES, **look(arguments))


def _more(left: int) -> Iterator[str]:
    if left:
        yield f"and {left} flows with fewer packets; --all shows them"


def _named(discipline: Mapping[str, Any]) -> str:
    return " ".join(filter(None, [discipline["name"], discipline.get("direction")]))
