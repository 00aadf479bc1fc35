"""Which columns of a query's answer are columns of the study's tables: these alone have units.

What SQL has computed is what SQL gave, whatever it is called: `sum(dropped) as bytes` is a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairq.core import lazy
from fairq.core.results import described
from fairq.studies.sql import FACTS


def unchanged(sql: str, columns: Sequence[str]) -> set[str]:
    """The columns of the answer, of those called `columns`, that a query passes on as they are."""
    known = {column["name"] for table in described().values() for column in table["columns"]} | {*FACTS}
    node = _node(sql)
    if node is None or not _is_of_tables(node.get("from_table") or {}, _names(node)):
        return set()
    passed: set[str] = set()
    made: set[str] = set()
    for each in node["select_list"]:
        if each["type"] == "STAR":
            made |= {replaced["key"] if isinstance(replaced, dict) else replaced for replaced in _made(each)}
            passed |= known
        elif each["type"] == "COLUMN_REF" and each["alias"] in ("", each["column_names"][-1]):
            passed.add(each["column_names"][-1])
        else:
            made.add(each["alias"])
    return passed & known & {*columns} - made


def _made(star: Mapping[str, Any]) -> Iterator[Any]:
    """What a star computes or calls otherwise, where it says so."""
    yield from star.get("replace_list") or ()
    for renamed in star.get("rename_list") or ():
        yield renamed.get("value", "") if isinstance(renamed, dict) else renamed


def _node(sql: str) -> Mapping[str, Any] | None:
    """The select of a query as DuckDB reads it; `None` for a query of another form, as pivot."""
    try:
        with lazy.duckdb.connect(":memory:") as connection:
            found = connection.execute("select json_serialize_sql(?)", [sql]).fetchone()
        read = json.loads(found[0]) if found else {}
    except lazy.duckdb.Error:
        return None
    statements = read.get("statements") or [{}]
    node = statements[0].get("node") or {}
    return node if node.get("type") == "SELECT_NODE" else None


def _names(node: Mapping[str, Any]) -> set[str]:
    """What a query itself calls a table."""
    return {each["key"] for each in node["cte_map"]["map"]}


def _is_of_tables(source: Mapping[str, Any], own: set[str]) -> bool:
    """Whether a query is of the study's tables alone."""
    if source.get("type") == "JOIN":
        return all(_is_of_tables(source[side], own) for side in ("left", "right"))
    name = source.get("table_name")
    return source.get("type") == "BASE_TABLE" and name not in own and not source.get("column_name_alias")
