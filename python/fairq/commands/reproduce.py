"""`fairq reproduce`: the numbers of papers beside ours."""

from __future__ import annotations

import sys
from argparse import Namespace

from fairq import api, streams, tables
from fairq.commands.options import (
    Commands,
    command,
    count,
    looks,
    out,
    workers,
)
from fairq.commands.printing import as_json, look, written
from fairq.errors import UsageError
from fairq.progress import Bar


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "reproduce", reproduce,
                     "fairq reproduce demers1990 --quick --out out/demers1990")  # fmt: skip
    parser.add_argument("paper", metavar="PAPER", nargs="?",
                           help="one that --list shows, or all (--out is then out/all if not said)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the papers")
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--seeds", type=count, metavar="N", help="seeds of each scenario (default: the paper's own)")
    how_many.add_argument("--quick", action="store_true",
                          help="use fewer seeds or scenarios: wider intervals, fewer cells decided")  # fmt: skip
    parser.add_argument("--start", choices=["together", "drawn"], default="together",
                           help="start as the scenario files say (default), or compare random starts")  # fmt: skip
    workers(parser)
    looks(parser)
    out(parser, "write the report, tables, figures and index.html into this folder")


def reproduce(arguments: Namespace) -> str:
    """`fairq reproduce`."""
    if arguments.list:
        found = api.listing("papers")
        if arguments.json:
            return as_json(found, "list-papers")
        return tables.text(found, sentences=["title"], **look(arguments))
    if arguments.paper is None:
        raise UsageError("PAPER is missing; write one of those that fairq reproduce --list shows, or all")
    out = arguments.out or ("out/all" if arguments.paper == "all" else None)
    with Bar(arguments.paper) as bar:

        def printed(part: str) -> None:
            bar.clear()
            sys.stdout.write(tables.marked(part) if streams.has_colour() else part)
            sys.stdout.flush()

        reproduced = api.reproduce(
            arguments.paper,
            seeds=arguments.seeds,
            quick=arguments.quick,
            start=arguments.start,
            workers=arguments.workers,
            out=out,
            replace=arguments.replace,
            progress=bar,
            printed=None if arguments.json else printed,
            width=None if arguments.wide else streams.screen_width() or tables.WIDTH,
        )
    if arguments.json:
        return as_json(reproduced.document, "reproduce")
    places = written(arguments, out)
    return f"{places}, the page is index.html\n" if places else ""
