"""`fairq topology`: what a topology holds, and its map."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from fairq import api
from fairq.commands.options import (
    Commands,
    command,
    looks,
    picture_looks,
    target,
)
from fairq.commands.printing import as_json, pairs, picture, save, style, written
from fairq.progress import Bar


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "topology", topology, "fairq topology 'fat_tree(k=4)' --out map.svg",
                        "Reads GML, GraphML, BRITE, the output of tiers, an edge list in CSV, or a scenario (.toml,"
                        " .json).")  # fmt: skip
    parser.add_argument("file", metavar="WHAT",
                          help="a topology file, a scenario, or a shape by name, as 'fat_tree(k=4)'")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="refuse what is otherwise warned of")
    parser.add_argument("--default-rate", metavar="RATE",
                          help="the rate of links without one in the file (default 1 Gbit/s)")  # fmt: skip
    parser.add_argument("--default-delay", metavar="TIME",
                          help="the delay of links without delay or coordinates (default 1 ms)")  # fmt: skip
    parser.add_argument("--out", type=target, metavar="FILE", help="draw the topology into an SVG, PNG or PDF file")
    picture_looks(parser)
    looks(parser)


def topology(arguments: Namespace) -> str:
    """`fairq topology`."""
    out = picture(arguments.out) if arguments.out else None
    with Bar(Path(arguments.file).name) as bar:
        found = api.topology(
            arguments.file,
            strict=arguments.strict,
            default_rate=arguments.default_rate,
            default_delay=arguments.default_delay,
            progress=bar,
        )
    said = {name: value for name, value in found.document.items() if not name.endswith("_table")}
    if out is not None:
        from fairq import maps

        title = f"{Path(arguments.file).stem}: {found.nodes} nodes, {found.links} links, "
        title += f"diameter {found.diameter_s * 1000:.4g} ms"
        with Bar(Path(out).name) as bar:
            figure = maps.network(title, found.node_table, found.link_table, progress=bar, style=style(arguments))
        save(figure, out)
    if arguments.json:
        return as_json(said, "topology")
    lines = [pairs({name: value for name, value in said.items() if name not in ("warnings", "notes")}, arguments.si)]
    lines += [f"warning: {warning}" for warning in found.warnings]
    return "\n".join(lines + [f"note: {note}" for note in found.notes]) + written(arguments, out)
