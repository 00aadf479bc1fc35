"""Runs the Rust tests, then the Python tests, and ends with one line that counts them all.

What takes minutes is left to `make nightly`: ignored Rust tests, Python tests with the mark
`nightly`. Each is counted as skipped. A line `TIME part: 12 s` says how long each part took
(scripts/budget.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = "building the Rust tests"
BUILD = ["cargo", "test", "--no-run", "--quiet"]
SUITES = {
    "cargo": ["cargo", "test", "--no-fail-fast"],
    # a process for each core; the tests of a file share what they build, so they stay together
    "pytest": [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile"],
}
PARTS = {"cargo": "Rust tests", "pytest": "Python tests"}
CARGO = re.compile(r"^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored")
# A Rust test that could not do its work here, or a part of it: `fairq_testkit::skip` writes the line.
CARGO_SKIPPED = "SKIPPED: "
PYTEST = re.compile(r"(\d+) (passed|failed|errors?|skipped)")


def main() -> int:
    """Run both suites, whatever becomes of the first; 0 if both pass."""
    began = time.monotonic()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    # what does not build fails below, and says so there
    timed(BUILT, BUILD)
    for name, command in SUITES.items():
        status, lines = timed(PARTS[name], command)
        before = counts["failed"]
        for kind, number in counted(name, lines):
            counts[kind] += number
        if status != 0 and counts["failed"] == before:
            # it did not build, or died before it could count
            counts["failed"] += 1
    parts = [f"{number} {kind}" for kind, number in counts.items() if number or kind != "skipped"]
    print(f"{', '.join(parts)} in {time.monotonic() - began:.0f} s")
    return 1 if counts["failed"] else 0


def timed(part: str, command: list[str]) -> tuple[int, list[str]]:
    """Run a command as `stream` does, then say how long this part took."""
    began = time.monotonic()
    done = stream(command)
    print(f"TIME {part}: {time.monotonic() - began:.0f} s", flush=True)
    return done


def stream(command: list[str]) -> tuple[int, list[str]]:
    """Run a command, show its output as it comes, and give it back with the exit status."""
    lines = []
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    return process.wait(), lines


def counted(name: str, lines: list[str]) -> list[tuple[str, int]]:
    """How many tests passed, failed and were skipped, from what a runner printed."""
    if name == "cargo":
        found = [match for line in lines if (match := CARGO.match(line))]
        kinds = ("passed", "failed", "skipped")
        counts = [(kind, int(number)) for match in found for kind, number in zip(kinds, match.groups(), strict=True)]
        return [*counts, ("skipped", sum(CARGO_SKIPPED in line for line in lines))]
    last = next((line for line in reversed(lines) if " in " in line and PYTEST.search(line)), "")
    return [("failed" if kind.startswith("error") else kind, int(number)) for number, kind in PYTEST.findall(last)]


if __name__ == "__main__":
    sys.exit(main())
