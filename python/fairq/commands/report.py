"""`fairq report`: a study as one page that opens without a network."""

from __future__ import annotations

from argparse import Namespace

from fairq.commands.options import Commands, command, target, verify
from fairq.commands.printing import as_json, tell_of, written


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "report", report, "fairq report study.toml --out report.html",
        "The page holds figures, tables with intervals and what each axis changes, and asks for no other file;"
        " docs/guide/reports.md shows how to read it.",
    )  # fmt: skip
    parser.add_argument("study", metavar="STUDY", help="the study file, or the folder of its store")
    parser.add_argument("--store", metavar="DIR", help="the store (default: the study's path without .toml)")
    verify(parser)
    parser.add_argument("--out", type=target, metavar="FILE", help="the page (default: the study's path with .html)")


def report(arguments: Namespace) -> str:
    """`fairq report`."""
    from fairq.sweeps import report as reports
    from fairq.sweeps.query import opened

    results = opened(arguments.study, arguments.store, verify=arguments.verify)
    tell_of(results)
    page = reports.write(arguments.study, results, arguments.out)
    if arguments.json:
        return as_json(page.document, "report")
    return f"A report of {page.runs} run{'s' if page.runs != 1 else ''}.{written(arguments, page.path)}\n"
