"""`fairq reproduce`: the numbers of papers beside ours."""

from __future__ import annotations

import sys
from argparse import Namespace

from fairq import api
from fairq.cli.options import LOOKS, QUICK, WORKERS, out
from fairq.cli.printing import as_json, look, written
from fairq.core import streams, tables
from fairq.core.declared import OneOf, Option, Spec, argument, switch
from fairq.core.errors import UsageError
from fairq.core.progress import Bar

SPEC = Spec(
    "reproduce",
    "fairq reproduce demers1990 --quick --out out/demers1990",
    (
        argument("paper", "one that --list shows, or all (--out is then out/all if not said)", "PAPER",
                 required=True, nargs="?"),
        switch("list", "list the papers", in_python=False),
        OneOf((
            Option("seeds", "seeds of each scenario (default: the paper's own)", "N", "int"),
            QUICK._replace(help="use fewer seeds or scenarios: wider intervals, fewer cells decided"),
        )),
        Option("start", "start as the scenario files say (default), or compare random starts",
               kind="Literal['together', 'drawn']", default="together", choices=("together", "drawn")),
        WORKERS,
        *LOOKS,
        *out("write the report, tables, figures and index.html into this folder"),
    ),
    functions=("reproduce",),
    beside=("progress", "printed", "width"),
)  # fmt: skip


def reproduce(arguments: Namespace) -> str:
    """`fairq reproduce`."""
    if arguments.list:
        found = api.listing("papers")
        if arguments.json:
            return as_json(found, "list-papers")
        return tables.text(found, sentences=["title"], **look(arguments))
    if arguments.paper is None:
        raise UsageError("PAPER is missing; write one of those that fairq reproduce --list shows, or all")
    folder = arguments.out or ("out/all" if arguments.paper == "all" else None)
    with Bar(arguments.paper) as bar:

        def printed(part: str) -> None:
            bar.clear()
            sys.stdout.write(tables.marked(part) if streams.has_colour() else part)
            sys.stdout.flush()

        reproduced = api.reproduce(
            **SPEC.words(vars(arguments)) | {"out": folder},
            progress=bar,
            printed=None if arguments.json else printed,
            width=None if arguments.wide else streams.screen_width() or tables.WIDTH,
        )
    if arguments.json:
        return as_json(reproduced.document, "reproduce")
    places = written(arguments, folder)
    return f"{places}, the page is index.html\n" if places else ""
