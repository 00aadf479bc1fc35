"""`fairq replay`: a capture through a gateway."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from fairq import api, tables
from fairq.commands.options import (
    Commands,
    command,
    looks,
    out,
)
from fairq.commands.printing import FLOWS_SHOWN, as_json, look, pairs, split, written
from fairq.progress import Bar


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "replay", replay, "send a packet capture through a gateway",
                      "fairq replay web.pcap --rate 300kbit/s --buffer 40packets --discipline fifo,fq",
                      "--classifier defines the flows of all tables and of each discipline that names no classifier. A"
                      " class of htb (--under class) does not ask a discipline that holds no packet.")  # fmt: skip
    parser.add_argument("capture", metavar="CAPTURE", help="a pcap or pcapng file; - reads standard input")
    parser.add_argument("--rate", required=True, help="rate of the gateway's line, as 300kbit/s")
    parser.add_argument("--buffer", required=True, help="what may wait, as 40packets, 60kB or unlimited")
    parser.add_argument("--discipline", default=",".join(api.REPLAYED), metavar="LIST",
                        help=f"disciplines, one replay each (default {','.join(api.REPLAYED)})")  # fmt: skip
    parser.add_argument("--classifier", help="define a flow by pair, port_pair, source, destination or tos")
    parser.add_argument("--gap-max", default="10 s", metavar="TIME", help="cut longer idle gaps to this (default 10 s)")
    parser.add_argument("--no-fluid", dest="fluid", action="store_false",
                        help="skip the comparison with a fluid: faster, but no lateness")  # fmt: skip
    parser.add_argument("--under", choices=["device", "class"], default="device",
                        help="let the device (default) or a class of htb ask the disciplines for packets")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="show all flows, not only those with most packets")
    looks(parser)
    out(parser, "write packets.parquet and capture.pcapng of each discipline into this folder")


MINOR = ["delay_s_p50", "bytes", "delay_s_max"]
"""The columns of flows that go first where a screen is too narrow."""


def replay(arguments: Namespace) -> str:
    """`fairq replay`."""
    with Bar(Path(arguments.capture).name) as bar:
        result = api.replay(
            arguments.capture,
            rate=arguments.rate,
            buffer=arguments.buffer,
            disciplines=split(arguments.discipline),
            classifier=arguments.classifier,
            gap_max=arguments.gap_max,
            fluid=arguments.fluid,
            under=arguments.under,
            out=arguments.out,
            replace=arguments.replace,
            progress=bar,
        )
    if arguments.json:
        return as_json(result.document, "replay")
    summary = [{key: d[key] for key in d if key not in ("flows", "note", "states")} for d in result.disciplines]
    parts = [pairs(result.capture, arguments.si), "", "Disciplines", tables.text(summary, **look(arguments))]
    parts += [f"{d['name']}: {d['note']}" for d in result.disciplines if d.get("note")]
    for discipline in result.disciplines:
        flows = sorted(discipline["flows"], key=lambda flow: -flow["packets"])
        kept = flows if arguments.all else flows[:FLOWS_SHOWN]
        every = "every row" if len(kept) == len(flows) else "every row shown"
        parts += ["", f"Flows under {discipline['name']}, by {discipline['rows_by']}"]
        parts.append(tables.text(kept, every=every, minor=MINOR, **look(arguments)))
        if len(kept) < len(flows):
            parts.append(f"and {len(flows) - len(kept)} flows with fewer packets; --all shows them")
    if places := written(arguments, arguments.out):
        parts.append(places)
    return "\n".join(parts)
