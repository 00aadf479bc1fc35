"""What commands print with: JSON, sections of tables, pictures, notes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairq import streams, tables
from fairq._native import OutputError, UsageError
from fairq.output import check_file, file
from fairq.results import Result

FLOWS_SHOWN = 20
"""Flows in the tables of a replay, those with most packets, unless all are asked for."""


def as_json(document: Any) -> str:
    """The document as --json prints it; JSON has no infinity and no NaN: they are null, as what does not exist."""
    return json.dumps(_finite(document), indent=1, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def pieces(result: Result) -> Iterator[str]:
    """A result as --json prints it, with the end of a line."""
    pieces: list[str] = []
    result.write_json(pieces.append)
    yield from pieces
    yield "\n"


def sections(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Tables below each other, each under its title; a table without rows is left out."""
    return "\n\n".join(f"{title}\n{tables.text(rows)}" for title, rows in parts.items() if rows)


def pairs(values: Mapping[str, Any]) -> str:
    """A line for each value, behind its name."""
    return "\n".join(f"{tables.heading(key)}: {tables.shown(value)}" for key, value in values.items())


def narrow(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The columns that a screen shows; of several seeds with the ends of the confidence interval beside the mean."""
    shown: dict[str, Any] = {}
    for column in columns:
        if column in row:
            shown[column] = row[column]
        if f"{column}_low" in row and column in ("throughput_bit_per_s", "rtt_s_mean"):
            shown[f"{column}_low"] = row[f"{column}_low"]
            shown[f"{column}_high"] = row[f"{column}_high"]
    return shown


def split(text: str) -> list[str]:
    """Split at the commas that are in no brackets: drr(quantum=1500, x=1),fq."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def tell(notes: Iterable[Mapping[str, Any]]) -> None:
    """Print notes to standard error, one a line."""
    for each in notes:
        streams.note(f"{each['where']}: {each['text']} [{each['code']}]")


def picture(name: str) -> Path:
    """The path of a picture that can be written; what the plotting package has to say becomes a note."""
    path = Path(name)
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise UsageError(f"{path}: the name must end in .svg, .png or .pdf")
    check_file(path)
    streams.listen()
    return path


def save(figure: Any, path: Path) -> None:
    """Write a figure to the path of a picture, whole or not at all."""
    from fairq import figures

    try:
        with file(path) as place:
            figures.save_as(figure, place)
    except ValueError as error:
        raise OutputError(f"{path}: cannot be written: {error}") from None
