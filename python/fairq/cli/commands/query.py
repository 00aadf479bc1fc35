"""`fairq query`: SQL over the results of a study."""

from __future__ import annotations

import csv
import io
from argparse import Namespace

from fairq.cli.options import STORE, STUDY, VERIFY
from fairq.cli.printing import as_json, tell_of
from fairq.core import tables
from fairq.core.declared import Spec, argument, switch, typed_only

SPEC = Spec(
    "query",
    "fairq query study.toml 'select queue, avg(share) from flows group by all'",
    (
        STUDY._replace(help="the study file, the folder of its store, or the --out of a run"),
        argument("sql", "one query, in DuckDB's SQL", "SQL"),
        STORE,
        *typed_only(VERIFY, switch("csv", "print CSV")),
    ),
    "The tables of the study are views with its axes as columns, and runs has a row for each run;"
    " docs/guide/query.md shows questions. It needs DuckDB: pip install duckdb.",
    functions=("query",),
)


def query(arguments: Namespace) -> str:
    """`fairq query`."""
    from fairq.studies import sql as sqls
    from fairq.studies.unchanged import unchanged

    results = sqls.asked_of(arguments.study, arguments.store, verify=arguments.verify)
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
