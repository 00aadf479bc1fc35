"""The JSON Schemas: one for each command with --json, a text for each field.

That documents are valid by them is checked in every test that prints one (conftest.py, `documents`).
The fields of documents stand in `kept/schemas.txt`; those of scenarios, studies and results in
`schema/`, where editors find them.
"""

import argparse
import json
from pathlib import Path
from typing import Annotated

import pytest
from kept import hold

from fairq import schemas
from fairq.cli import program
from fairq.core.rows import Row

FOLDER = Path(__file__).parents[2] / "schema"
IN_FILES = ("scenario", "study", "result")
"""The schemas that `cargo xtask generate` writes into the folder."""

OTHERWISE = {"run": "result", "schema": "scenario", "emulate": "result", "mm-link": "result"}
"""Commands whose documents have schemas of other names."""


def with_json(parser, words=()):
    """The commands that have --json, by their words."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if words and any("--json" in action.option_strings for action in parser._actions):
        yield "-".join(words)
    for action in inner:
        for name, command in action.choices.items():
            yield from with_json(command, (*words, name))


@pytest.mark.parametrize("command", sorted(with_json(program.parser())))
def test_a_command_that_prints_json_has_a_schema_of_its_name(command):
    assert OTHERWISE.get(command, command) in schemas.NAMES


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_schema_is_one_and_is_printed_with_an_indent(name, fairq):
    jsonschema = pytest.importorskip("jsonschema")
    text = schemas.text(name)
    assert fairq("schema", name) == (0, f"{text}\n", "") and text.startswith('{\n  "') and '"$schema"' in text
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("name", IN_FILES)
def test_a_schema_for_editors_is_its_file(name):
    committed = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    is_same = json.dumps(committed) == json.dumps(json.loads(schemas.text(name)))
    assert is_same, f"schema/{name}.schema.json is stale; run: cargo xtask generate"


def test_the_other_schemas_are_in_no_file():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in IN_FILES}


def test_the_fields_of_documents_are_those_that_are_committed():
    given = {name: json.loads(schemas.text(name)) for name in schemas.NAMES if name not in IN_FILES}
    lines = [line for name, schema in given.items() for line in fields(name, schema, schema.get("$defs", {}))]
    hold("schemas.txt", list(dict.fromkeys(lines)), "python/tests/test_schemas.py")


def fields(place, schema, definitions):
    """Each value of a document with its place and its kind: `?` follows a field that may be
    missing, `[]` a list, `{}` a map."""
    if "$ref" in schema:
        schema = {**schema, **definitions[schema["$ref"].removeprefix("#/$defs/")]}
    inner = [(place, choice) for key in ("anyOf", "oneOf") for choice in schema.get(key, ())]
    for name, field in schema.get("properties", {}).items():
        inner.append((f"{place}.{name}{'' if name in schema.get('required', ()) else '?'}", field))
    inner += [(f"{place}{mark}", schema[key]) for key, mark in HELD.items() if isinstance(schema.get(key), dict)]
    for there, each in inner:
        yield from fields(there, each, definitions)
    if not inner or isinstance(schema.get("type"), list):
        kind = " ".join(json.dumps(schema[key]) for key in KINDS if key in schema)
        yield f"{place}: {kind or 'anything'}".replace('"', "")


HELD = {"items": "[]", "additionalProperties": "{}"}
"""What a schema says of what a list and a map hold, and how a place is written that is inside."""
KINDS = ("type", "const", "enum", "format", "minimum")
"""What a schema says of a value."""


def objects(schema):
    """The descriptions of objects in a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


@pytest.mark.parametrize("name", [name for name in schemas.NAMES if name != "scenario"])
def test_an_object_has_no_other_fields_and_each_says_what_it_means(name):
    for found in objects(json.loads(schemas.text(name))):
        fields = found.get("properties", {})
        if fields:
            # a map says what its values are
            assert found["additionalProperties"] is False or "type" in found["additionalProperties"]
        for field, schema in fields.items():
            is_said = "description" in schema or "const" in schema or schema.get("type") in ("object", "array")
            assert is_said or "$ref" in schema or name == "result", field


ENTRY = dict.fromkeys(("name", "part", "summary", "use_when", "source", "cost", "bound"), "") | {"aliases": []}
RATE = {"loss": 0.1, "model": "mathis", "rate_packets_per_s": 1.0, "rate_bit_per_s": 1.0, "window_packets": 1.0}


@pytest.mark.parametrize("name,right,wrong", [
    ("list", [ENTRY], {"aliases": "fq"}),
    ("list", [ENTRY], {"more": 1}),
    ("theory-tcp", [RATE], {"loss": "0.1"}),
    ("theory-tcp", [RATE], {"model": "reno"}),
    ("theory-tcp", [RATE], {"rate": 1.0}),
])  # fmt: skip
def test_a_field_that_is_wrong_or_too_many_or_missing_is_noticed(check_document, name, right, wrong):
    jsonschema = pytest.importorskip("jsonschema")
    check_document(right, name)
    for row in (right[0] | wrong, {field: right[0][field] for field in list(right[0])[1:]}):
        with pytest.raises(jsonschema.ValidationError):
            check_document([row], name)


def test_a_document_without_a_schema_is_told_by_name(check_document):
    with pytest.raises(AssertionError, match="wonders: no schema of this document"):
        check_document({}, "wonders")


def test_a_type_that_json_does_not_have_is_refused():
    class Place(Row):
        """A row."""

        place: Annotated[complex, "Its place."]

    with pytest.raises(TypeError, match="complex"):
        schemas.of(list[Place])
