"""A scenario as the page takes it: its name, its text and the files that it names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fairq._native as _native
from fairq.core.errors import ScenarioError
from fairq.core.inputs import Scenario, read


def given(scenario: Scenario) -> dict[str, Any]:
    """The scenario, checked: `name`, `text`, and `files`, the text of each file by its name.

    Raises ScenarioError with file, line and field.
    """
    text, name, _ = read(scenario)
    files = {}
    for file in _native.named_files(text, name, []):
        try:
            files[file] = (Path(name).parent / file).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            said = f"{file} is not UTF-8 text, which alone the page reads; write fairq run {name}"
            raise ScenarioError(said, where=name) from None
    return {"name": Path(name).name, "text": text, "files": files}


def as_file(scenario: Scenario) -> bytes:
    """The same as the file that the page asks for."""
    return json.dumps(given(scenario), ensure_ascii=False).encode("utf-8")
