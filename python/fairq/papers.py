"""Where the papers are: in `_papers`, a link to papers/ in a source checkout and a folder in an installed wheel."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from fairq._native import UsageError

ROOT = Path(__file__).resolve().parent / "_papers"


@dataclass(frozen=True)
class Paper:
    """A paper's folder and what its compare.py says."""

    name: str
    folder: Path
    compare: ModuleType


def names() -> list[str]:
    """The papers that can be reproduced."""
    return sorted(script.parent.name for script in ROOT.glob("*/compare.py"))


@cache
def load(name: str) -> Paper:
    """The paper of that name; UsageError names those there are."""
    if name not in names():
        raise UsageError(f"{name}: no such paper; write one of: {', '.join(names())}")
    script = ROOT / name / "compare.py"
    spec = importlib.util.spec_from_file_location(f"fairq_paper_{name}", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Paper(name, script.parent, module)
