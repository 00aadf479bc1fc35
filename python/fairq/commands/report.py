"""`fairq report`: a study as one page that opens without a network."""

from __future__ import annotations

from argparse import Namespace

from fairq.commands.options import Commands, command, target
from fairq.commands.printing import as_json, written


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "report", report, "describe the results of a study in one HTML page",
        "fairq report study.toml --out report.html",
        "The page holds figures, tables with intervals and what each axis changes, and asks for no other file;"
        " docs/guide/reports.md shows how to read it.",
    )  # fmt: skip
    parser.add_argument("study", metavar="STUDY", help="the study file, or the folder of its store")
    parser.add_argument("--store", metavar="DIR", help="the store (default: the study's path without .toml)")
    parser.add_argument("--out", type=target, metavar="FILE", help="the page (default: the study's path with .html)")


def report(arguments: Namespace) -> str:
    """`fairq report`."""
    from fairq import api

    page = api.report(arguments.study, store=arguments.store, out=arguments.out)
    if arguments.json:
        return as_json({**page._asdict(), "path": str(page.path)}, "report")
    return f"A report of {page.runs} run{'s' if page.runs != 1 else ''}.{written(arguments, page.path)}\n"
