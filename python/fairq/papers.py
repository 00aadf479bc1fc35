"""Where the papers are: beside the package in a source checkout, inside it in an installed wheel."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from fairq._native import UsageError


@dataclass(frozen=True)
class Paper:
    """A paper's folder and what its compare.py says."""

    name: str
    folder: Path
    compare: ModuleType


def names() -> list[str]:
    """The papers that can be reproduced."""
    return sorted(entry.parent.name for root in _roots() for entry in root.glob("*/compare.py"))


@cache
def load(name: str) -> Paper:
    """The paper of that name; UsageError names those there are."""
    for root in _roots():
        script = root / name / "compare.py"
        if name in names() and script.is_file():
            spec = importlib.util.spec_from_file_location(f"fairq_paper_{name}", script)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return Paper(name, script.parent, module)
    raise UsageError(f"{name}: no such paper; write one of: {', '.join(names())}")


def _roots() -> list[Path]:
    """The first folder of papers that exists, in a list; empty if there is none."""
    package = Path(__file__).resolve().parent
    checkout = package.parent.parent / "papers"
    roots = [package / "papers", checkout]
    return [root for root in roots if root.is_dir()][:1]
