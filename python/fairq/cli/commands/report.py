"""`fairq report`: a study as one page that opens without a network."""

from __future__ import annotations

from argparse import Namespace

from fairq.cli.options import STORE, STUDY, VERIFY
from fairq.cli.printing import as_json, tell_of, written
from fairq.core.declared import PATH, Option, Spec, typed_only

SPEC = Spec(
    "report",
    "fairq report study.toml --out report.html",
    (
        STUDY,
        STORE,
        *typed_only(VERIFY),
        Option("out", "the page (default: the study's path with .html)", "FILE", PATH, is_written=True),
    ),
    "The page holds figures, tables with intervals and what each axis changes, and asks for no other file;"
    " docs/guide/reports.md shows how to read it.",
    functions=("report",),
)


def report(arguments: Namespace) -> str:
    """`fairq report`."""
    from fairq.reports import study_report as reports
    from fairq.studies.sql import opened

    results = opened(arguments.study, arguments.store, verify=arguments.verify)
    tell_of(results)
    page = reports.write(arguments.study, results, arguments.out)
    if arguments.json:
        return as_json(page.document, "report")
    return f"A report of {page.runs} run{'s' if page.runs != 1 else ''}.{written(arguments, page.path)}\n"
