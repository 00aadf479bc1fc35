"""The JSON Schemas of scenarios and of all documents that --json prints, by name.

A schema has the name of its command: "theory-tcp" is that of what `fairq theory tcp --json` prints,
"result" that of `fairq run`. Schemas of documents that Rust makes come from the compiled part, the
others are made here of the types of results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import fairq._native as _native
from fairq.benchmarks.bench_results import Benchmarks
from fairq.core.estimating import Estimate
from fairq.core.records import Given, Named, Record, in_document, metadata
from fairq.core.rows import Row, Table
from fairq.detection.detected import Detected
from fairq.emulation.doctoring import Doctored
from fairq.emulation.emulation_results import Planned
from fairq.laboratory.lab_results import Lab
from fairq.manual.docs_results import Manual
from fairq.papers.verdicts import Judged, Paper
from fairq.questions.agreed import Agreed
from fairq.questions.baseline_results import Baseline
from fairq.questions.question_results import Advice, Alone, Comparison, Effects, LeastBuffer
from fairq.studies.difference import Diff
from fairq.studies.study_results import Found, Left, MissingRun, Page, Sweep
from fairq.theories.theory_results import Delay, DelayBounds, DelayCurve, Pgps, Sharing, TcpRate
from fairq.traffic_control.tc_results import TcCommands, TcRead

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema that the schemas are written in."""

PLAIN: Mapping[Any, str] = {
    str: "string",
    Path: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
"""The types that JSON has."""

DOCUMENTS: Mapping[str, Any] = {
    "advise": Advice,
    "advise-buffer": LeastBuffer,
    "agree": Agreed,
    "baseline": Baseline,
    "compare": Comparison,
    "compare-alone": Alone,
    "estimate": Estimate,
    "emulate-plan": Planned,
    "explain-effects": Effects,
    "reproduce": Table[Judged],
    "lab": Lab,
    "docs": Manual,
    "list-papers": Table[Paper],
    "detect": Table[Detected],
    "doctor": Doctored,
    "tc": TcCommands,
    "tc-read": TcRead,
    "theory-delay-bounds": DelayBounds,
    "theory-delay": Delay,
    "theory-delay-curve": DelayCurve,
    "theory-pgps": Pgps,
    "theory-tcp": Table[TcpRate],
    "theory-sharing": Sharing,
    "bench": Benchmarks,
    "sweep": Sweep,
    "sweep-missing": Table[MissingRun],
    "sweep-left": Left,
    "query": Found,
    "report": Page,
    "diff": Diff,
}
"""The name of a document's schema, which is that of its command, and its type."""

NAMES: Sequence[str] = (*_native.schema_names(), *DOCUMENTS)
"""The names of all schemas."""


def text(name: str) -> str:
    """The schema called `name`, indented."""
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
        said = [text for text in given[1:] if not isinstance(text, Named)]
        return _of(given[0], definitions) | ({"description": str(said[0])} if said else {})
    if origin is Literal:
        return {"enum": list(given)}
    if origin in (Union, UnionType):
        if all(each in PLAIN for each in given):
            return {"type": [PLAIN[each] for each in given]}
        return {"anyOf": [_of(each, definitions) for each in given]}
    if origin in (list, tuple, Sequence, Table):
        return {"type": "array", "items": _of(given[0], definitions)}
    if origin in (dict, Mapping) and given[0] is str:
        return {"type": "object", "additionalProperties": _of(given[1], definitions)}
    if isinstance(kind, type) and (issubclass(kind, Row | Record)):
        name = getattr(kind, "_named", "") or kind.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _fields(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    raise TypeError(f"{kind}: a document cannot have this type")


def _fields(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a class with typed fields."""
    told = {key: hint for key, (_, hint) in in_document(kind).items()}
    about = (kind.__doc__ or "").split("\n\n")[0]
    return {
        "description": " ".join(about.split()),
        "type": "object",
        "properties": {key: _of(hint, definitions) for key, hint in told.items()},
        "required": [key for key, hint in told.items() if not any(isinstance(each, Given) for each in metadata(hint))],
        "additionalProperties": False,
    }
