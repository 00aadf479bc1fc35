"""`fairq report`: a study or a run as one page that opens without a network."""

from __future__ import annotations

from argparse import Namespace

from fairq.cli.options import STORE, STUDY, VERIFY
from fairq.cli.printing import as_json, tell_of, written
from fairq.core.declared import PATH, Option, Spec, typed_only

SPEC = Spec(
    "report",
    "fairq report study.toml --out report.html",
    (
        STUDY._replace(help="the study file, the folder of its store, or the --out of a run or an emulation"),
        STORE,
        *typed_only(VERIFY),
        Option("out", "the page (default: the path of the study or folder, with .html)", "FILE", PATH, is_written=True),
    ),
    "The page holds figures, tables with intervals and what each axis changes, and asks for no other file;"
    " docs/guide/reports.md shows how to read it.",
    functions=("report",),
)


def report(arguments: Namespace) -> str:
    """`fairq report`."""
    from fairq.reports import run_report
    from fairq.reports import study_report as reports
    from fairq.studies.run_folder import RunFolder
    from fairq.studies.sql import asked_of

    results = asked_of(arguments.study, arguments.store, verify=arguments.verify)
    if isinstance(results, RunFolder):
        page = run_report.write(arguments.study, arguments.out)
    else:
        tell_of(results)
        page = reports.write(arguments.study, results, arguments.out)
    if arguments.json:
        return as_json(page.document, "report")
    return f"A report of {page.runs} run{'s' if page.runs != 1 else ''}.{written(arguments, page.path)}\n"
