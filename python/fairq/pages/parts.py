"""What stands on a page: tables with their rows as a file, and digests of what it is made of."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Shown:
    """A table of the page: its headings and cells, and the same rows as a file."""

    caption: str
    heads: list[str]
    cells: list[list[str]]
    link: str
    """The rows as CSV, in the link itself."""
    file: str
    """The name of that file."""
    left_out: str = ""


def link(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows as CSV in the text of a link."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([row.get(column) for column in columns] for row in rows)
    return "data:text/csv;base64," + base64.b64encode(text.getvalue().encode()).decode("ascii")


def sha(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
