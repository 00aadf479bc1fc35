"""Puts the real output below each command in the pages of the documentation; with --check only compares.

A block that begins with ```console holds commands, each on a line `$ …`, and what they print. They run in the root of
the tree with .venv/bin on the path. A CPU time is the machine's own and is not compared.

    .venv/bin/python scripts/paste_outputs.py [--check]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MACHINE = re.compile(r"in [\d.]+ CPU seconds")


def main() -> int:
    """Paste or compare all pages; 1 if a page is stale."""
    is_check = "--check" in sys.argv[1:]
    stale = 0
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = BLOCK.sub(lambda block: f"```console\n{run_all(block[1])}```", old)
        if MACHINE.sub("", new) == MACHINE.sub("", old):
            continue
        stale += 1
        print(f"{page.relative_to(ROOT)}: {'shows another output than its commands print' if is_check else 'written'}")
        if not is_check:
            page.write_text(new, encoding="utf-8")
    if is_check and stale:
        print("run: .venv/bin/python scripts/paste_outputs.py")
    return int(is_check and stale > 0)


def run_all(block: str) -> str:
    """The commands of a block, each with what it prints now."""
    return "".join(f"{line}\n{run(line[2:])}" for line in block.splitlines() if line.startswith("$ "))


def run(command: str) -> str:
    """What a command prints, without spaces at the ends of lines."""
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


if __name__ == "__main__":
    sys.exit(main())
