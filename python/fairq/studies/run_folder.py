"""The tables of one run as files: the folder of `fairq run --out` or `fairq emulate --out`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fairq.core.results import TABLES

RESULT = "result.json"
"""The file by which such a folder is known."""


class TableFile(NamedTuple):
    """The file of a table."""

    path: Path


class RunFolder:
    """Its tables, as a query takes them."""

    damages: tuple[object, ...] = ()
    other_version: str | None = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        files = {name: self.path / f"{name}.parquet" for name in TABLES}
        self._files = {name: file for name, file in files.items() if file.exists()}

    @property
    def tables(self) -> Mapping[str, Path]:
        """The tables that it has."""
        return self._files

    def parts(self, table: str) -> list[TableFile]:
        """The file of a table."""
        return [TableFile(self._files[table])]


def is_run_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is one of a run and no store of a study."""
    return (Path(path) / RESULT).is_file()
