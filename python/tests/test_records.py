"""What each result has by its type alone: document, files, a notebook's table; and that the types
are those of the schemas."""

import json
from collections.abc import Mapping

import pytest
from test_kept_results import SCENARIO, TUPLES, kinds  # noqa: F401 - the fixture

import fairq
from fairq import schemas
from fairq.audits.audit_results import Audit
from fairq.benchmarks.bench_results import Disciplines
from fairq.core.records import Document, Record, in_document
from fairq.core.rows import Row, Table, row_of
from fairq.replays.replay_results import Replay
from fairq.serving.serving_results import Serving
from fairq.topologies.topology_results import Topology


@pytest.mark.parametrize("name", TUPLES)
def test_a_result_is_shown_and_written_by_its_type(kinds, name, tmp_path):  # noqa: F811
    result = kinds(name)
    assert isinstance(result, Record)
    html = result._repr_html_()
    assert html.count("<table") == 1 and "<th scope=" in html
    result.write_json(tmp_path / "it.json")
    assert json.loads((tmp_path / "it.json").read_text()) == json.loads(json.dumps(dict(result.document)))
    tables = result._tables()
    for table in tables:
        result.write_csv(tmp_path / "it.csv", table)
        lines = (tmp_path / "it.csv").read_text().splitlines()
        assert lines[0].split(",")[0] == tables[table].columns[0] and len(lines) > len(tables[table])
    with pytest.raises(fairq.UsageError, match=r"no such table|has no table"):
        result.write_csv(tmp_path / "other.csv", "wonders")
    assert not (tmp_path / "other.csv").exists()
    with pytest.raises(AttributeError, match="cannot be changed"):
        result.document = {}
    with pytest.raises(TypeError, match="has no field wonders"):
        result._replace(wonders=1)


def test_a_file_that_cannot_be_written_is_said(kinds, tmp_path):  # noqa: F811
    for write in (kinds("audit").write_json, kinds("audit").write_csv, kinds("run").write_csv):
        with pytest.raises(fairq.OutputError, match="there is no folder"):
            write(tmp_path / "none" / "it")


class Said(Row):
    """A row of a test."""

    name: str
    inner: "Table[Said] | None"


def test_texts_are_escaped_in_a_notebook():
    table = Table.of(Said, [{"name": "<b>", "inner": None}])
    assert "&lt;b&gt;" in table._repr_html_() and "&lt;b&gt;" in table[0]._repr_html_()


def test_rows_inside_a_row_have_their_type():
    row = row_of(Said, {"name": "a", "inner": [{"name": "b", "inner": None}]})
    assert row.inner is not None and row.inner[0].name == "b" and isinstance(row.inner, Table)
    assert row == {"name": "a", "inner": [{"name": "b", "inner": None}]}


def test_a_table_has_what_a_sequence_has():
    table = Table.of(Said, [{"name": "a"}, {"name": "b"}])
    assert table.index({"name": "b"}) == 1 and table.count({"name": "a"}) == 1
    assert [row.name for row in reversed(table)] == ["b", "a"] and {"name": "a"} in table
    assert Table.of(Said, []).columns == ("name", "inner")


def test_rows_of_python_are_taken_as_arrow():
    polars = pytest.importorskip("polars")
    table = Table.of(Said, [{"name": "a", "of": [1, 2]}, {"name": "b", "of": None}])
    assert polars.DataFrame(table).rows() == table.to_polars().rows() == [("a", [1, 2]), ("b", None)]


def test_a_result_that_is_read_has_the_tables_of_its_run(kinds, tmp_path):  # noqa: F811
    run = kinds("run")
    run.write_json(tmp_path / "result.json")
    again = fairq.read_result(tmp_path)
    assert isinstance(again, fairq.Result) and again.document == run.document
    for name in ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states"):
        assert getattr(again, name) == getattr(run, name)
        assert again.by_seed(name).columns == run.by_seed(name).columns, name
        assert again.by_seed(name) == run.by_seed(name)
    again.write_json(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "result.json").read_text()
    with pytest.raises(fairq.UsageError, match="has no trace"):
        again.write_trace(tmp_path / "trace.json")


COMPILED = {
    "replay": (Replay, {}),
    "serve": (Serving, {}),
    "audit": (Audit, {}),
    "topology": (Topology, {"node_table", "link_table"}),
    "bench-disciplines": (Disciplines, {}),
}
"""Types of what the compiled part gives by their schemas, and the fields that --json leaves out."""


@pytest.mark.parametrize("name", COMPILED)
def test_types_of_what_the_compiled_part_gives_are_those_of_its_schemas(name):
    kind, more = COMPILED[name]
    schema = fairq.schema(name)
    same(kind, schema, schema.get("$defs", {}), set(more))


def same(kind, schema, definitions, more=frozenset()):
    """Hold a type to the schema of an object, and what it holds to what that holds."""
    fields = in_document(kind)
    assert set(fields) - more == set(schema["properties"]), kind
    for key, (_, hint) in fields.items():
        inner = row_types(hint)
        if inner and key not in more:
            (reference,) = references(schema["properties"][key])
            same(inner[0], definitions[reference.rpartition("/")[2]], definitions)


def row_types(hint):
    """The types of rows in a type of a field."""
    if isinstance(hint, type) and issubclass(hint, Row):
        return [hint]
    return [kind for each in getattr(hint, "__args__", ()) for kind in row_types(each)]


def references(schema):
    """What a schema refers to."""
    if isinstance(schema, Mapping):
        here = [schema["$ref"]] if "$ref" in schema else []
        return here + [found for inner in schema.values() for found in references(inner)]
    return [found for inner in schema for found in references(inner)] if isinstance(schema, list) else []


PARTS = ("Control", "Discipline", "Policy", "Rank", "Scheduler", "Source")
"""What users derive from."""


def test_help_names_each_function_and_dir_what_there_is():
    functions = [name for name in fairq.__all__ if not isinstance(getattr(fairq, name), type)]
    lines = [line.split()[0] for line in fairq.__doc__.splitlines() if line.startswith("    ") and ">>>" not in line]
    named = sorted(line for line in lines if line.isidentifier())
    assert named == sorted({*named} & {*fairq.__all__}) and {*named} >= {*functions, *PARTS}
    assert set(dir(fairq)) >= {*fairq.__all__, "__version__"}


def test_results_by_key_are_documents():
    agreed = fairq.agree("linux", "codel")
    assert isinstance(agreed, Document) and agreed.document == dict(agreed)
    assert fairq.max_min(SCENARIO)[0].flow == fairq.max_min(SCENARIO)[0]["flow"]
    assert set(schemas.DOCUMENTS) <= set(schemas.NAMES)
