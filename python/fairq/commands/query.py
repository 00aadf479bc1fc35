"""`fairq query`: SQL over the results of a study."""

from __future__ import annotations

import csv
import io
from argparse import Namespace

from fairq import tables
from fairq.commands.options import Commands, command, verify
from fairq.commands.printing import as_json, tell_of


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(
        commands_of, "query", query, "fairq query study.toml 'select queue, avg(share) from flows group by all'",
        "The tables of the study are views with its axes as columns, and runs has a row for each run;"
        " docs/guide/query.md shows questions. It needs DuckDB: pip install duckdb.",
    )  # fmt: skip
    parser.add_argument("study", metavar="STUDY", help="the study file, or the folder of its store")
    parser.add_argument("sql", metavar="SQL", help="one query, in DuckDB's SQL")
    parser.add_argument("--store", metavar="DIR", help="the store (default: the study's path without .toml)")
    verify(parser)
    parser.add_argument("--csv", action="store_true", help="print CSV")


def query(arguments: Namespace) -> str:
    """`fairq query`."""
    from fairq.sweeps import query as sqls
    from fairq.sweeps.unchanged import unchanged

    results = sqls.opened(arguments.study, arguments.store, verify=arguments.verify)
    tell_of(results)
    found = sqls.query(results, arguments.sql)
    if arguments.json:
        return as_json(found.document, "query")
    if arguments.csv:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([found.columns, *found.rows])
        return text.getvalue()
    if not found.rows:
        return "No row.\n"
    raw = set(found.columns) - unchanged(arguments.sql, found.columns)
    return tables.text(found.dicts, found.columns, keep=found.columns, raw=raw, more="--csv has all")
