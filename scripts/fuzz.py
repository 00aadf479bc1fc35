"""Fuzzes what fairq reads, with inputs of grammars that mostly are accepted.

    .venv/bin/python scripts/fuzz.py --seconds 600 --seed 1        ten minutes of each reader
    .venv/bin/python scripts/fuzz.py --only toml,tc --count 1000   a thousand inputs of two readers
    .venv/bin/python scripts/fuzz.py --reproduce toml/1/17         one input, written and read again

The same reader, seed and number give the same input. A line for each reader says how many inputs it
read, how many it accepted, and how many were bad (fuzzing/execution.py says what is); exit status 1
if any was bad, or if less than half of a reader's inputs were accepted. Linux: a reader is a forked
process.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fuzzing import arguments, captures, scenarios, stores, studies, tables, tc, topologies
from fuzzing.drawing import Case, Draw
from fuzzing.execution import Worker

from fairq.cli import program

READERS: dict[str, Callable[[Draw], Case]] = {
    "toml": scenarios.scenario,
    "queues": scenarios.queues,
    "studies": studies.study,
    "derive": studies.derived,
    "tc": tc.tc,
    "topologies": topologies.topology,
    "arguments": arguments.arguments,
    "stores": stores.store,
    "captures": captures.captures,
    "traces": tables.traces,
    "journeys": tables.journeys,
}


def main() -> int:
    """Read inputs, or one again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600, help="how long each reader is tried")
    parser.add_argument("--count", type=int, help="how many inputs each reader gets, in place of --seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(READERS), metavar="READERS")
    parser.add_argument("--refused", action="store_true", help="say what was refused most often")
    parser.add_argument("--reproduce", metavar="READER/SEED/NUMBER", help="write one input into a folder and read it")
    given = parser.parse_args()
    unknown = [name for name in given.only if name not in READERS]
    if unknown:
        parser.error(f"{unknown[0]}: no such reader; write some of: {', '.join(READERS)}")
    if given.reproduce:
        return reproduced(*given.reproduce.split("/"))
    found = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.only:
            found += fuzzed(name, given, Path(temporary))
    return 1 if found else 0


def fuzzed(name: str, given: argparse.Namespace, folder: Path) -> int:
    """Try one reader; gives how many inputs were bad, or 1 if too few were accepted."""
    if name == "stores":
        stores.base()
    worker = Worker(lambda number: READERS[name](Draw(name, given.seed, number)), folder / name)
    ends = time.monotonic() + given.seconds

    def until(number: int) -> bool:
        return bool(time.monotonic() > ends if given.count is None else number >= given.count)

    inputs = accepted = bad = 0
    refused: Counter[str] = Counter()
    slowest = (0.0, 0)
    for outcome in worker.outcomes(0, until):
        inputs += 1
        accepted += outcome.accepted
        if not outcome.accepted:
            refused[outcome.said[:200]] += 1
        slowest = max(slowest, (outcome.seconds, outcome.number))
        if outcome.bad:
            bad += 1
            print(f"{name}/{given.seed}/{outcome.number}: {outcome.bad}: {outcome.said}", flush=True)
    part = accepted / max(inputs, 1)
    print(f"{name}: {inputs} inputs, {100 * part:.0f} % accepted, {bad} bad; the slowest, number {slowest[1]}, took"
          f" {slowest[0]:.1f} s", flush=True)  # fmt: skip
    for said, count in refused.most_common(30 if given.refused else 0):
        print(f"{count:6} {said}")
    return bad or part < 0.5


def reproduced(name: str, seed: str, number: str) -> int:
    """Write one input into a folder, and read it."""
    case = READERS[name](Draw(name, int(seed), int(number)))
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-{number}-"))
    for file, content in case.files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    os.chdir(folder)
    print(f"cd {folder}", flush=True)
    worst, printed = 0, io.StringIO()
    for command in case.commands:
        words = [word.replace("{said}", printed.getvalue()) for word in command]
        print(f"fairq {shlex.join(words)}", flush=True)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                status = program.main(words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
        print(f"{printed.getvalue()}status {status}", flush=True)
        worst = max(worst, status)
        if status == 2:
            break
    return 0 if worst in (0, 1, 2) else 1


if __name__ == "__main__":
    sys.exit(main())
