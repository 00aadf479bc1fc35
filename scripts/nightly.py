"""What takes too long for a run of CI, and the page of its result: docs/design/nightly.md.

    make nightly                                        all parts
    .venv/bin/python scripts/nightly.py wheel fuzz      some parts; the rows of the others stay

A row names the commit that the part ran at, so the checkout must be clean. Exit status 1 if a part
does not pass.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from run_tests import counted, stream

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design" / "nightly.md"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
TIMES = "10"
"""The factor by which tests with random input run longer than usual."""


@dataclass(frozen=True)
class Part:
    """A part of the nightly run: the commands that must pass, and the environment they add."""

    what: str
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()
    runner: str = ""
    """What counts its tests, as run_tests.py names it, if anything does."""


def _fuzz(crate: str, *tests: str) -> tuple[str, ...]:
    return ("cargo", "test", "--release", "-p", crate, *(word for test in tests for word in ("--test", test)))


PARTS = {
    "wheel": Part(
        "`make wheel`, in clean environments",
        ((PYTHON, "-m", "pytest", "python/tests/test_wheel.py"),),
        (("FAIRQ_NIGHTLY", "1"),),
        "pytest",
    ),
    "image": Part(
        "`packaging/Dockerfile`, built on the image that FAIRQ_IMAGE names, with the wheel in dist/",
        ((PYTHON, "-m", "pytest", "python/tests/test_release.py"),),
        (("FAIRQ_NIGHTLY", "1"),),
        "pytest",
    ),
    "clone": Part(
        "`make run` in a clone beside the checkout, twice",
        ((PYTHON, "-m", "pytest", "python/tests/test_fresh_clone.py"),),
        (("FAIRQ_NIGHTLY", "1"),),
        "pytest",
    ),
    "rust": Part(
        "ignored Rust tests: instructions of each discipline by its flows",
        # in the profile that their bounds are for
        (("cargo", "test", "--release", "-p", "fairq-audit", "--test", "work", "--", "--ignored"),),
        (),
        "cargo",
    ),
    "quic": Part(
        "`examples/quic`, a workspace of its own, whose build is most of it",
        (("cargo", "test", "--locked", "--manifest-path", "examples/quic/Cargo.toml", "--target-dir", "target/quic"),),
        (),
        "cargo",
    ),
    "mutants": Part(
        "each method with a default taken out of each wrapper in turn: a test must fail",
        (("cargo", "xtask", "mutants", "--all"),),
    ),
    "fuzz": Part(
        f"tests with random input, {TIMES} times longer",
        (
            (*_fuzz("fairq-experiment", "it"), "--", "fuzz::", "random_networks::"),
            _fuzz("fairq-topologies", "topology_fuzz"),
            _fuzz("fairq-link", "fuzz", "trace_fuzz"),
        ),
        (("FAIRQ_TIMES", TIMES),),
        "cargo",
    ),
    "readers": Part(
        "ten minutes of inputs by a grammar for each reader, of which half are accepted at least",
        ((PYTHON, "scripts/fuzz.py", "--seconds", "600"),),
    ),
    "moments": Part(
        f"commands ended at {4 * int(TIMES)} moments each, sweeps at {20 * int(TIMES)}",
        ((PYTHON, "-m", "pytest", "python/tests/test_moments.py", "python/tests/test_sweep_moments.py"),),
        (("FAIRQ_TIMES", TIMES),),
        "pytest",
    ),
    "failures": Part(
        "each failure of the system in each command that writes, up to ten of a call",
        ((PYTHON, "scripts/failures.py", "--most", "10"),),
    ),
    "figures": Part(
        "every kind of figure, in all sizes, light and dark",
        ((PYTHON, "-m", "pytest", "python/tests/test_figures.py", "-n", "auto"),),
        (("FAIRQ_NIGHTLY", "1"),),
        "pytest",
    ),
    # the table of docs/agreement/index.md is written anew
    "papers": Part("every paper with all seeds, and the counts of its verdicts", ((PYTHON, "scripts/agreement.py"),)),
    # its page and the package's tables are written anew
    "linux": Part("what a Linux kernel did, all cells", ((PYTHON, "tests/peers/linux/compare.py", "--write"),)),
}
ROW = re.compile(r"^\| (\w+) \|.*\|$", re.MULTILINE)


def main() -> int:
    """Run the parts that the command line names, or all, and write the page."""
    names = sys.argv[1:] or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"nightly: {unknown[0]}: no such part; write some of: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    if said("git", "status", "--porcelain"):
        print("nightly: the checkout has changes; commit them, so that the result has a commit", file=sys.stderr)
        return 2
    commit = said("git", "rev-parse", "--short=12", "HEAD")
    results = {}
    for name in names:
        results[name] = run(name, PARTS[name], commit)
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(rows(PAGE.read_text(encoding="utf-8") if PAGE.exists() else "") | results), "utf-8")
    return 1 if any("FAILED" in row for row in results.values()) else 0


def run(name: str, part: Part, commit: str) -> str:
    """Run a part; gives its row of the page."""
    began = time.monotonic()
    os.environ.update(part.environment)
    passed, counts = True, {"passed": 0, "failed": 0, "skipped": 0}
    for command in part.commands:
        status, lines = stream(list(command))
        passed = passed and status == 0
        for kind, number in counted(part.runner, lines) if part.runner else ():
            counts[kind] += number
    for variable, _ in part.environment:
        del os.environ[variable]
    took = time.monotonic() - began
    tests = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    verdict = "passed" if passed else "FAILED"
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return f"| {name} | {part.what} | {verdict} | {tests} | {took:.0f} | {load} | {day} | {commit} |"


def rows(page: str) -> dict[str, str]:
    """The rows of the page by their part."""
    return {match[1]: match[0] for match in ROW.finditer(page) if match[1] in PARTS}


def page(rows: dict[str, str]) -> str:
    """The page, in the order of PARTS."""
    table = "\n".join(rows.get(name, f"| {name} | {part.what} | not run | | | | | |") for name, part in PARTS.items())
    return f"""# Did the last nightly run pass?

`make nightly` runs what takes too long for a run of CI and writes this page. Each row names the
commit that it ran at. Load is the mean number of waiting processes in the last minute of the part:
times at a high load are longer.

| part | runs | verdict | tests | seconds | load | day | commit |
|---|---|---|---|---|---|---|---|
{table}
"""


def said(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
