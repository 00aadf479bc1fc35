"""Runs the Rust tests, then the Python tests, and ends with one line that counts them all.

Before that stands a line for each crate and each wing, as `replay: 41 passed`.

What takes minutes is left to `make nightly`: ignored Rust tests, Python tests with the mark
`nightly`. Each is counted as skipped. A line `TIME part: 12 s` says how long each part took
(scripts/budget.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "target" / "pytest.xml"
"""Where pytest writes what became of each test."""
BUILT = "building the Rust tests"
BUILD = ["cargo", "test", "--no-run", "--quiet"]
SUITES = {
    "cargo": ["cargo", "test", "--no-fail-fast"],
    # a process for each core; the tests of a file share what they build, so they stay together, and
    # the files begin in the order of conftest.py
    "pytest": [
        *(sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"),
        f"--junitxml={RECORD}",
    ],
}
PARTS = {"cargo": "Rust tests", "pytest": "Python tests"}
CARGO = re.compile(r"^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored")
# A Rust test that could not do its work here, or a part of it: `fairq_testkit::skip` writes the line.
CARGO_SKIPPED = "SKIPPED: "
PYTEST = re.compile(r"(\d+) (passed|failed|errors?|skipped)")

# The first line of a crate's tests, or of the tests in its pages: which crate's they are.
CRATE = re.compile(r" *(?:Running unittests .*/|Doc-tests )(?:fairq_)?(\w+)")
PROGRAM = re.compile(r" *Running tests/(\w+)\.rs")
RUST_TEST = re.compile(r"test (?:(\w+)::)?.* \.\.\. (ok|FAILED|ignored)")
KINDS = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
FOLDERS = {".rs": "crates/sched/tests", ".py": "python/tests"}
WINGS = {
    "tenants": "new_tenants.rs newcomers.rs policies.rs shared.rs tenants.rs work.rs",
    "tc": "test_quanta.py test_tc.py test_tc_reading.py test_tc_tables.py test_traps.py",
    "detect": "test_detect.py test_evidence.py test_pairs.py",
    "topologies": "test_topology.py",
    "replay": "test_replay.py test_replay_both_ways.py test_replay_marks.py",
    "serve": "test_dispatcher.py test_serve.py",
    "audit": "test_audit.py",
    "lab": "test_lab_command.py test_lab_hand.py test_lab_page.py test_lab_same.py test_lab_scenes.py test_lab_text.py "
    "test_timeline.py",
    "manual": "test_docs_command.py test_site.py test_site_blocks.py",
    "emulation": "test_doctor.py test_emulate.py test_host_kernel.py test_mm_link.py",
    "links": "test_pytest_link.py",
    "papers": "test_buffers.py test_game.py test_legout.py test_miyamura.py test_paper_tables.py "
    "test_papers_page.py test_plm.py test_reproduction.py test_verdicts.py",
    "peers": "test_agreement.py test_linux.py test_linux_oracles.py test_linux_queues.py test_peers.py",
}
"""The files of tests of each wing. A crate that is a wing counts under its own name; a Python file
of no wing counts as core."""
WING_OF = {name: wing for wing, names in WINGS.items() for name in names.split()}


def main() -> int:
    """Run both suites, whatever becomes of the first; 0 if both pass."""
    began = time.monotonic()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    by_wing: Counter[tuple[str, str]] = Counter()
    RECORD.unlink(missing_ok=True)
    # what does not build fails below, and says so there
    timed(BUILT, BUILD)
    for name, command in SUITES.items():
        status, lines = timed(PARTS[name], command)
        before = counts["failed"]
        for kind, number in counted(name, lines):
            counts[kind] += number
        by_wing.update(rust_tests(lines) if name == "cargo" else python_tests())
        if status != 0 and counts["failed"] == before:
            # it did not build, or died before it could count
            counts["failed"] += 1
    for wing in sorted({wing for wing, _ in by_wing}):
        numbers = [f"{by_wing[wing, kind]} {kind}" for kind in counts if by_wing[wing, kind]]
        print(f"{wing}: {', '.join(numbers)}")
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


def rust_tests(lines: list[str]) -> list[tuple[str, str]]:
    """Wing and fate of each test, from what cargo printed.

    >>> rust_tests(["Running unittests src/lib.rs (deps/fairq_sched-0a)", "test work::a ... ok"])
    [('tenants', 'passed')]

    A program of its own has the name of its file.

    >>> rust_tests(["Running unittests src/lib.rs (a/fairq_sched-0a)", "Running tests/work.rs (a)", "test a ... ok"])
    [('tenants', 'passed')]
    """
    found, crate, program = [], "", ""
    for line in lines:
        if match := CRATE.match(line):
            crate, program = {"fairq": "c"}.get(match[1], match[1]), ""
        elif match := PROGRAM.match(line):
            program = match[1]
        elif match := RUST_TEST.match(line):
            wing = WING_OF.get(f"{match[1] or program}.rs") if crate == "sched" else None
            found.append((wing or crate, KINDS[match[2]]))
    return found


def python_tests() -> list[tuple[str, str]]:
    """Wing and fate of each test, from what pytest wrote."""
    found = []
    for case in ElementTree.parse(RECORD).iter("testcase") if RECORD.exists() else ():
        parts = case.get("classname", "").split(".")
        name = next((part for part in parts if part.startswith("test_")), "")
        fates = {"failure": "failed", "error": "failed", "skipped": "skipped"}
        fate = next((fates[note.tag] for note in case if note.tag in fates), "passed")
        found.append((WING_OF.get(f"{name}.py", "core"), fate))
    return found


if __name__ == "__main__":
    sys.exit(main())
