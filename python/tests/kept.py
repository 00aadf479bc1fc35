"""Lists and texts that are committed in `kept/`, each held by a test; UPDATE=1 writes them anew."""

import os
from difflib import unified_diff
from pathlib import Path

FOLDER = Path(__file__).parent / "kept"


def hold(name, lines, test):
    """Fail unless the committed file `name` has these lines; `test` is the file of tests to run to
    write it anew."""
    path = FOLDER / name
    if os.environ.get("UPDATE") == "1":
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    committed = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = list(unified_diff(committed, list(lines), "committed", "now", lineterm="", n=0))
    again = f"If that is meant, run: UPDATE=1 .venv/bin/python -m pytest {test}"
    assert not found, "\n".join([f"python/tests/kept/{name} is not what there is now.", *found, again])
