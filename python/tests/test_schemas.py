"""The JSON Schemas: a file for each, one for each command with --json, a text for each field.

That documents are valid by them is checked in every test that prints one (conftest.py, `documents`).
"""

import argparse
import json
from pathlib import Path
from typing import Annotated

import pytest

from fairq import schemas
from fairq.cli import program
from fairq.core.rows import Row
from fairq.schemas import DOCUMENTS

FOLDER = Path(__file__).parents[2] / "schema"

OTHERWISE = {"run": "result", "schema": "scenario"}
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
def test_a_schema_is_its_file_and_is_one(name, fairq):
    jsonschema = pytest.importorskip("jsonschema")
    committed = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    stale = "run: .venv/bin/python -m fairq.schemas schema" if name in DOCUMENTS else "run: cargo xtask generate"
    assert schemas.text(name) + "\n" == committed, f"schema/{name}.schema.json is stale; {stale}"
    assert fairq("schema", name) == (0, committed, "")
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


def test_each_file_is_a_schema_that_the_command_knows():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in schemas.NAMES}


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
