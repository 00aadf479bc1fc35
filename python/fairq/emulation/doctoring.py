"""What this machine can emulate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from fairq.core.errors import FairqError
from fairq.core.records import Record
from fairq.core.rows import Row, Table

CODE = "import sys; sys.path.insert(0, sys.argv[1]); import fairq._native as n; print(n.doctor())"
"""What a fresh interpreter runs: a process that enters a namespace has one thread."""


class Ability(Row):
    """Something that an emulation may need."""

    what: Annotated[str, "What it is."]
    state: Annotated[Literal["ok", "lacking"], "Whether this user has it here."]
    found: Annotated[str, "What was found."]
    remedy: Annotated[str, "How to get it; empty if it is there."]


class Doctored(Record, places=("rows", "text"), told=("rows", "text")):
    """What this machine can emulate."""

    rows: Annotated[Table[Ability], "A row for each thing that was tried."]
    text: Annotated[str, "What that means, in a sentence."]


def doctor() -> Doctored:
    """Try what an emulation needs."""
    if not sys.platform.startswith("linux"):
        missing = {"what": "Linux", "state": "lacking", "found": sys.platform, "remedy": "emulate on a Linux machine"}
        return Doctored(rows=[missing], text="Nothing can be emulated here.")
    import subprocess

    folder = str(Path(__file__).resolve().parents[2])
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CODE, folder], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    if ran.returncode != 0:
        last = (ran.stderr.strip().splitlines() or [f"status {ran.returncode}"])[-1]
        raise FairqError(f"what this machine can was not found out: {last}")
    rows = [
        {"what": each["name"], "state": "ok" if each["is_fine"] else "lacking", "found": each["found"],
         "remedy": each["remedy"] or ""}
        for each in json.loads(ran.stdout)
    ]  # fmt: skip
    lacking = ", ".join(row["what"] for row in rows if row["state"] != "ok")
    text = f"All is well but: {lacking}." if lacking else "All that an emulation may need is here."
    return Doctored(rows=rows, text=text)
