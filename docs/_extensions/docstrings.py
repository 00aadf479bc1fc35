"""Docstrings are plain text: what is indented behind a colon stays as it is written."""

from __future__ import annotations

from typing import Any


def read(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Make such blocks literal; examples with their prompts are known by these."""
    for at, line in enumerate(lines[:-2]):
        behind = lines[at + 2]
        is_block = line.endswith(":") and not line.endswith("::") and not lines[at + 1].strip()
        if is_block and behind.startswith(" " * (len(line) - len(line.lstrip()) + 2)) and ">>>" not in behind:
            lines[at] = f"{line}:"


def setup(app: Any) -> dict[str, Any]:
    """Add to Sphinx."""
    app.connect("autodoc-process-docstring", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
