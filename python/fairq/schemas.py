"""The JSON Schemas of scenarios and of all documents that --json prints, by name.

A schema has the name of its command: "theory-tcp" is that of what `fairq theory tcp --json` prints,
"result" that of `fairq run`. Schemas of documents that Rust makes come from the compiled part, the
others are made here of the types in documents.py. Run as a program, the module writes the latter
into a folder: `python -m fairq.schemas schema`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from fairq import _native
from fairq.documents import DOCUMENTS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema that the schemas are written in."""

PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
"""The types that JSON has."""

NAMES: Sequence[str] = (*_native.schema_names(), *DOCUMENTS)
"""The names of all schemas."""


def text(name: str) -> str:
    """The schema called `name`, to the byte the file in schema/ without the end of its line."""
    return json.dumps(of(DOCUMENTS[name]), indent=2, ensure_ascii=False) if name in DOCUMENTS else _native.schema(name)


def of(kind: Any) -> dict[str, Any]:
    """The schema of a type: texts, numbers, lists, maps, and classes with fields, which are closed.

    Raises TypeError for a type that JSON does not have.
    """
    definitions: dict[str, Any] = {}
    schema = {"$schema": DIALECT, **_of(kind, definitions)}
    return schema | {"$defs": dict(sorted(definitions.items()))} if definitions else schema


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; those of classes go into `definitions`."""
    origin, given = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if origin is Annotated:
        return {**_of(given[0], definitions), "description": given[1]}
    if origin is Literal:
        return {"enum": list(given)}
    if origin in (Union, UnionType):
        if all(each in PLAIN for each in given):
            return {"type": [PLAIN[each] for each in given]}
        return {"anyOf": [_of(each, definitions) for each in given]}
    if origin in (list, Sequence):
        return {"type": "array", "items": _of(given[0], definitions)}
    if origin in (dict, Mapping) and given[0] is str:
        return {"type": "object", "additionalProperties": _of(given[1], definitions)}
    if is_typeddict(kind) or hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields"):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}
            definitions[kind.__name__] = _fields(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    raise TypeError(f"{kind}: a document cannot have this type")


def _fields(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a class with typed fields."""
    required, properties = [], {}
    for name, field in get_type_hints(kind, include_extras=True).items():
        is_required = get_origin(field) is not NotRequired
        properties[name] = _of(field if is_required else get_args(field)[0], definitions)
        required += [name] if is_required else []
    about = (kind.__doc__ or "").split("\n\n")[0]
    return {
        "description": " ".join(about.split()),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def write(folder: Path) -> None:
    """Write the file of each schema that is made here."""
    for name in DOCUMENTS:
        (folder / f"{name}.schema.json").write_text(text(name) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
