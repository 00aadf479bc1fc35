"""SQL over the results of a study: its tables are views with the axes and the seed as columns.

Beside an axis of texts with units, as "20 ms", stands its number in the base unit, to order by.

A view reads the files of the parts when a query asks for it; nothing is copied and nothing is
written. A query reads these files and no other, and loads no extension. `runs` has a row for each
run of the study, those that do not exist yet included.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairq.core import lazy
from fairq.core.errors import OutputError, UsageError
from fairq.core.results import TABLES, described
from fairq.studies.run_folder import RunFolder, is_run_folder
from fairq.studies.store import HEADER
from fairq.studies.stored_runs import Results
from fairq.studies.study_results import Found

if TYPE_CHECKING:
    import duckdb

KINDS = {"text": "VARCHAR", "whole": "BIGINT", "real": "DOUBLE"}
"""The types of columns that a table without rows has."""

FACTS = {
    "digest": "VARCHAR", "point": "BIGINT", "seed": "BIGINT", "part": "VARCHAR", "cost_s": "DOUBLE", "error": "VARCHAR",
}  # fmt: skip
"""The columns of the table of runs beside the axes, and their types."""


def opened(
    study: str | os.PathLike[str], store: str | os.PathLike[str] | None = None, *, verify: bool = False
) -> Results:
    """The results of a study, by its file or its store's folder; UsageError if there is none."""
    path = Path(store) if store is not None else Path(study)
    return Results(path.with_suffix("") if store is None and path.suffix == ".toml" else path, verify=verify)


def asked_of(
    study: str | os.PathLike[str], store: str | os.PathLike[str] | None = None, *, verify: bool = False
) -> Results | RunFolder:
    """What a query or a report is about: a study, or the folder of one run."""
    path = Path(study)
    if store is None and path.is_dir() and not is_run_folder(path) and not (path / HEADER).exists():
        raise UsageError(
            f"{path}: neither the store of a study nor the folder of a run; fairq sweep makes the one, and fairq run"
            " and fairq emulate with --out the other"
        )
    return RunFolder(study) if store is None and is_run_folder(study) else opened(study, store, verify=verify)


def query(results: Results | RunFolder, sql: str) -> Found:
    """Run one SQL query over the tables of a study or a run; UsageError: what DuckDB refuses.

    The rows stand in the order that the query asks for; without `order by` it may be another each
    time.
    """
    with lazy.duckdb.connect(":memory:", config=dict(ALONE)) as connection:
        _close(connection, results)
        statement = None
        try:
            if isinstance(results, RunFolder):
                _of_run(connection, results)
            else:
                _of_study(connection, results, sql)
            statement = _reading(connection.extract_statements(sql))
            connection.execute(statement)
            columns = _told_apart([column[0] for column in connection.description])
            rows = [tuple(map(_plain, row)) for row in connection.fetchall()]
            return Found(columns, rows, dicts=[dict(zip(columns, row, strict=True)) for row in rows])
        except lazy.duckdb.Error as error:
            of_query = (lazy.duckdb.CatalogException, lazy.duckdb.BinderException, lazy.duckdb.DataError)
            is_of_query = isinstance(error, lazy.duckdb.ParserException) or (statement and isinstance(error, of_query))
            if not is_of_query:
                # to read all parts takes long
                _check_read(connection, results)
            raise UsageError(_refused(str(error), results)) from None


ALONE: Mapping[str, Any] = {
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # a name that is no table is not looked for among the variables of this program
    "python_enable_replacements": False,
    # else a large query writes into the working folder
    "temp_directory": "",
}
"""What DuckDB is opened with: it reads nothing of the user's folder, and loads no other program."""


def _close(connection: duckdb.DuckDBPyConnection, results: Results | RunFolder) -> None:
    """Leave the parts of the store as the only files that may be read, for good."""
    parts = [part.path.absolute() for table in results.tables for part in results.parts(table)]
    for part in parts:
        if part.is_symlink():
            raise OutputError(f"{part}: is a link, which a query does not follow; copy the file there")
    connection.execute(f"set allowed_paths = [{', '.join(_text(os.fspath(part)) for part in parts)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _of_study(connection: duckdb.DuckDBPyConnection, results: Results, sql: str) -> None:
    _runs(connection, results)
    for table in results.tables:
        _view(connection, results, table)
        if re.search(rf"\b{table}\b", sql, re.IGNORECASE):
            _check(connection, results, table)


def _of_run(connection: duckdb.DuckDBPyConnection, results: RunFolder) -> None:
    for table in results.tables:
        file = _text(os.fspath(results.parts(table)[0].path.absolute()))
        connection.execute(f"create view {table} as select * from read_parquet([{file}], hive_partitioning = false)")


def _runs(connection: duckdb.DuckDBPyConnection, results: Results) -> None:
    """The table `runs`: axes, then what there is to know of a run."""
    rows = results.runs()
    kinds = {axis: _kind([row.axes[axis] for row in rows]) for axis in results.axes}
    lists: dict[str, list[Any]] = {
        axis: [None if row.axes[axis] is None else kinds[axis][1](row.axes[axis]) for row in rows] for axis in kinds
    }
    lists |= {name: [getattr(row, name) for row in rows] for name in FACTS}
    types = {**{axis: kind for axis, (kind, _) in kinds.items()}, **FACTS}
    for name, (axis, bases) in results.in_base_units.items():
        lists[name] = [bases[row.axes[axis]] for row in rows]
        types[name] = "DOUBLE"
    columns = ", ".join(f"unnest(cast(? as {types[name]}[])) as {_quoted(name)}" for name in lists)
    connection.execute(f"create table runs as select {columns}", list(lists.values()))


def _kind(values: Sequence[Any]) -> tuple[str, Any]:
    """The type of an axis that holds all its values, and what makes them of it."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return "BOOLEAN", bool
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in known):
        return "VARCHAR", str
    if all(isinstance(value, int) and abs(value) < 2**63 for value in known):
        return "BIGINT", int
    return "DOUBLE", float


def _view(connection: duckdb.DuckDBPyConnection, results: Results, table: str) -> None:
    """The view of a table: axes and seed, then its columns with the digest before them."""
    parts = results.parts(table)
    own = {column["name"] for column in described()[table]["columns"]}
    beside = [name for name in results.in_base_units if name not in own]
    axes = "".join(f"r.{_quoted(axis)}, " for axis in (*results.axes, *beside))
    if parts:
        files = ", ".join(_text(os.fspath(part.path.absolute())) for part in parts)
        connection.execute(
            f"create view {table} as select {axes}r.seed, f.* exclude (filename) from read_parquet([{files}],"
            " filename = true, hive_partitioning = false, union_by_name = true) f"
            " join runs r on r.digest = f.digest and r.part = parse_filename(f.filename, true)"
        )
        return
    columns = ", ".join(
        f"cast(null as {KINDS[column['kind']]}) as {_quoted(column['name'])}"
        for column in described()[table]["columns"]
    )
    connection.execute(f"create view {table} as select {axes}r.seed, r.digest, {columns} from runs r where false")


def _check(connection: duckdb.DuckDBPyConnection, results: Results, table: str) -> None:
    """OutputError with its name if a part does not have the rows that its marker says.

    Of its runs.
    """
    parts = {os.fspath(part.path.absolute()): part for part in results.parts(table)}
    if not parts:
        return
    named = [(path, digest) for path, part in parts.items() for digest in part.marker.runs]
    files = ", ".join(map(_text, parts))
    found = connection.execute(
        "with named as (select unnest(cast(? as VARCHAR[])) as path, unnest(cast(? as VARCHAR[])) as digest)"
        f" select f.filename, count(*), count(n.digest) from read_parquet([{files}], filename = true,"
        " hive_partitioning = false, union_by_name = true) f"
        " left join named n on n.path = f.filename and n.digest = f.digest group by all",
        [[path for path, _ in named], [digest for _, digest in named]],
    ).fetchall()
    rows = {path: (count, known) for path, count, known in found}
    for path, part in parts.items():
        count, known = rows.get(path, (0, 0))
        if count != part.rows(table) or known != count:
            raise OutputError(
                f"{part.path}: has {known} rows of its runs and not {part.rows(table)}: it was changed; fairq sweep"
                " --verify sets it aside and runs its runs again"
            )


def _check_read(connection: duckdb.DuckDBPyConnection, results: Results | RunFolder) -> None:
    """OutputError with its name if DuckDB cannot read a part; DuckDB names no damaged file."""
    for table in results.tables:
        for part in results.parts(table):
            file = f"read_parquet({_text(os.fspath(part.path.absolute()))})"
            try:
                whole = "count(columns(*))" if isinstance(results, RunFolder) else "count(digest), count(columns(*))"
                connection.execute(f"select {whole} from {file}").fetchall()
            except lazy.duckdb.Error as cause:
                said = " ".join(str(cause).partition("\nLINE ")[0].split())
                mend = (
                    "write the result again" if isinstance(results, RunFolder) else "fairq sweep --verify sets it aside"
                )
                raise OutputError(f"{part.path}: cannot be read as a part: {said}; {mend}") from None


READS = ("SELECT", "MULTI")
"""Kinds of statements that write no file; MULTI is pivot."""


def _reading(statements: Sequence[duckdb.Statement]) -> duckdb.Statement:
    """The one statement that there is; UsageError if it is more than a query."""
    if not statements:
        raise UsageError("the SQL is empty; write a query, as: select * from runs limit 5")
    if len(statements) > 1:
        raise UsageError(f"SQL: these are {len(statements)} queries; write one")
    kind = statements[0].type.name
    if kind not in READS:
        raise UsageError(f"SQL: {kind} is no query; write one that begins with select, from, with or pivot")
    return statements[0]


def _refused(message: str, results: Results | RunFolder) -> str:
    """What DuckDB says in one line; of a table that the study does not keep, how to keep it."""
    if "disabled by configuration" in message or "extension" in message:
        what = message.partition("\n")[0].partition(" - file system")[0].partition(", but it exists")[0]
        return f"SQL: {what}: a query reads the tables of its store and nothing else; docs/guide/query.md says more"
    said = "; ".join(line.strip() for line in message.partition("\nLINE ")[0].splitlines() if line.strip())
    missing = next((name for name in TABLES if f"Table with name {name} does not exist" in said), None)
    if missing is not None and isinstance(results, RunFolder):
        return f"SQL: the folder has no {missing}; it has {', '.join(results.tables)}"
    if missing is not None:
        return f"SQL: the study keeps no {missing}; it has runs, {', '.join(results.tables)}; see [keep] in its file"
    return f"SQL: {said}"


def _told_apart(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        number = 2
        other = name
        while other in found:
            other, number = f"{name}_{number}", number + 1
        found.append(other)
    return found


def _plain(value: Any) -> Any:
    """A value as JSON and CSV have it: a list or struct is JSON in text."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str, ensure_ascii=False)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
