"""A file in TOML held to a JSON Schema: a fault names file, line, path and near miss."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fairq import _native
from fairq.errors import ScenarioError
from fairq.near import near_miss

Schema = Mapping[str, Any]

KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "string": ("a text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("a table", lambda value: isinstance(value, dict)),
}
"""The kinds of a schema: what a message calls each, and what is one."""


class Document:
    """What a file says, checked."""

    def __init__(self, text: str, name: str, schema: Schema) -> None:
        self.name = name
        tree, lines = _native.toml_tree(text, name)
        self._lines = dict(lines)
        self._schema = schema
        self.tree: dict[str, Any] = json.loads(tree)
        self._check(self.tree, schema, "")

    def fault(self, path: str, message: str) -> ScenarioError:
        """The exception that names a place: its path, and the line of that or of what is around."""
        around = path
        while around and around not in self._lines:
            around = around[: max(around.rfind("."), around.rfind("["), 0)]
        line = f":{self._lines[around]}" if around else ""
        return ScenarioError(message, f"{self.name}{line}", path)

    def _check(self, value: Any, schema: Schema, path: str) -> None:
        if "$ref" in schema:
            schema = self._schema["$defs"][schema["$ref"].rpartition("/")[2]]
        if "enum" in schema and value not in schema["enum"]:
            raise self.fault(path, f"{json.dumps(value)} is not known{near_miss(str(value), schema['enum'])}")
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(KINDS[kind][1](value) for kind in kinds):
            wanted = " or ".join(KINDS[kind][0] for kind in kinds)
            raise self.fault(path, f"{json.dumps(value)} is not {wanted}")
        if isinstance(value, dict):
            self._check_table(value, schema, path)
        elif isinstance(value, list):
            if len(value) < schema.get("minItems", 0):
                raise self.fault(path, "the list is empty; write at least one value")
            for at, item in enumerate(value):
                self._check(item, schema.get("items", {}), f"{path}[{at}]")
        elif isinstance(value, str):
            if len(value) < schema.get("minLength", 0):
                raise self.fault(path, "the text is empty")
        elif not isinstance(value, bool):
            low, high = schema.get("minimum", value), schema.get("maximum", value)
            if not low <= value <= high:
                raise self.fault(path, f"{value} is not from {low} to {high}" if value > high else f"{value} < {low}")

    def _check_table(self, table: dict[str, Any], schema: Schema, path: str) -> None:
        fields = schema.get("properties", {})
        others = schema.get("additionalProperties", {})
        for field, value in table.items():
            place = f"{path}.{field}" if path else field
            if field in fields:
                self._check(value, fields[field], place)
            elif others is False:
                raise self.fault(place, f"no such field{near_miss(field, fields)}")
            else:
                self._check(value, others, place)
        for field in schema.get("required", []):
            if field not in table:
                raise self.fault(path, f"{field} is missing")
