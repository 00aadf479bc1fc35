"""`fairq topology`: what a topology holds, and its map."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from fairq import api, plots
from fairq.cli.options import LOOKS, PICTURE_LOOKS
from fairq.cli.printing import as_json, pairs, picture, save, style, written
from fairq.core.declared import PATH, Option, Spec, argument, switch
from fairq.core.progress import Bar

SPEC = Spec(
    "topology",
    "fairq topology 'fat_tree(k=4)' --out map.svg",
    (
        argument("file", "a topology file, a scenario, or a shape by name, as 'fat_tree(k=4)'", "WHAT", PATH),
        switch("strict", "treat warnings as errors"),
        Option("default_rate", "the rate of links without one in the file (default 1 Gbit/s)", "RATE"),
        Option("default_delay", "the delay of links without delay or coordinates (default 1 ms)", "TIME"),
        Option("out", "draw the topology into an SVG, PNG or PDF file", "FILE", PATH, is_written=True,
               in_python=False),
        *PICTURE_LOOKS,
        *LOOKS,
    ),
    "Reads GML, GraphML, BRITE, the output of tiers, an edge list in CSV, or a scenario (.toml, .json).",
    functions=("topology",),
    beside=("progress",),
)  # fmt: skip


def topology(arguments: Namespace) -> str:
    """`fairq topology`."""
    out = picture(arguments.out) if arguments.out else None
    with Bar(Path(arguments.file).name) as bar:
        found = api.topology(**SPEC.words(vars(arguments)), progress=bar)
    said = {name: value for name, value in found.document.items() if not name.endswith("_table")}
    if out is not None:
        with Bar(Path(out).name) as bar:
            figure = plots.of_topology(found, style(arguments), bar)
        save(figure, out)
    if arguments.json:
        return as_json(said, "topology")
    lines = [pairs({name: value for name, value in said.items() if name not in ("warnings", "notes")}, arguments.si)]
    lines += [f"warning: {warning}" for warning in found.warnings]
    return "\n".join(lines + [f"note: {note}" for note in found.notes]) + written(arguments, out)
