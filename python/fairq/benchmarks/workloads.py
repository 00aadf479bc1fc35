"""What this machine does on the reference workloads: `fairq bench`.

Each measurement is a program of its own, so that its memory is known and nothing is warm that a user would find cold.
"""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import fairq._native as _native
from fairq.benchmarks.bench_results import Benchmarks
from fairq.benchmarks.capture import write_capture
from fairq.core.errors import UsageError
from fairq.core.progress import Tell
from fairq.core.rows import row_of

HERE = Path(__file__).parent
ROUNDS = 5
"""How often each is measured: the median counts."""

Found = TypeVar("Found")

Measure = Callable[[bool], dict[str, Any]]
"""Measures once, quickly or not."""


@dataclass(frozen=True)
class Row:
    """One workload."""

    name: str
    about: str
    measure: Measure


@dataclass(frozen=True)
class Simulated:
    """A scenario on one core: packet-hops, what became of packets, CPU time of the run alone, memory of the program."""

    scenario: Callable[[], str]
    sets: Mapping[str, str] = field(default_factory=dict)
    quick: Mapping[str, str] = field(default_factory=dict)
    series: str | None = None

    def __call__(self, is_quick: bool) -> dict[str, Any]:
        """Measure it in a program of its own."""
        sets = {**self.sets, **(self.quick if is_quick else {})}
        found = _child("simulate", {"text": self.scenario(), "sets": list(sets.items()), "series": self.series})
        hops, cpu_s = found["packet_hops"], found["cpu_s"]
        return {
            **found,
            "million_packet_hops_per_cpu_s": hops / cpu_s / 1e6,
            "simulated_s_per_cpu_s": found["simulated_s"] / cpu_s,
        }


def rows() -> list[Row]:
    """All workloads, in the order of their table."""
    dumbbell, fast, many = _file("dumbbell"), _file("fast"), _file("many")
    short = {"measure.replications": "1", "measure.duration": "20 s"}
    brief = {"measure.duration": "20 ms"}
    few = {"flows[0].count": "1000", "measure.duration": "1100 ms"}
    windows = {"defaults.transport": "fixed_window(window=8)"}
    fifo, fq = {"defaults.queue": "fifo"}, {"defaults.queue": "fq"}
    queue = "links[0].queue"
    return [
        Row("dumbbell-drr", "16 Reno, 10 Mbit/s, DRR", Simulated(dumbbell, quick=short)),
        Row("dumbbell-fifo", "16 Reno, 10 Mbit/s, FIFO", Simulated(dumbbell, fifo, short)),
        Row("windows-fifo", "16 fixed windows, 10 Mbit/s, FIFO", Simulated(dumbbell, windows | fifo, short)),
        Row("windows-fq", "16 fixed windows, 10 Mbit/s, FQ", Simulated(dumbbell, windows | fq, short)),
        Row("fast-fq_codel", "1000 CUBIC, 100 Gbit/s, FQ-CoDel", Simulated(fast, quick=brief)),
        Row("fast-fq", "1000 CUBIC, 100 Gbit/s, FQ", Simulated(fast, {queue: "fq + longest_queue_drop"}, brief)),
        Row("network", "1600 Reno, 225 nodes, FQ + longest-queue drop",
            Simulated(_file("network"), {"flows": _connections(1600)}, {"measure.duration": "2 s"})),
        Row("many", "100000 Reno, 10 Gbit/s, FQ", Simulated(many, quick=few)),
        Row("many-series", "the same with samples of each flow and link", Simulated(many, quick=few, series="1 s")),
        Row("replications", "1000 runs, 2 workers, by two programs with 500 each", _replications),
        Row("start", "fairq run of a millisecond", _start),
        Row("compare", "fairq compare: 2 CUBIC and 2 BBR at 100 Mbit/s, three queues, ten seeds", _compare),
        Row("import", "import fairq; fairq.run, in a fresh interpreter", _import),
        Row("table-polars", "a million packets' rows to polars", _table),
        Row("replay", "10 million packets of a capture through FQ", _replay),
    ]  # fmt: skip


def chosen(names: Sequence[str]) -> list[Row]:
    """The rows called so, all if none is named; UsageError if there is none of a name."""
    every = {row.name: row for row in rows()}
    for name in names:
        if name not in every:
            near = get_close_matches(name, every, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(every)}"
            raise UsageError(f"{name}: there is no such workload; {hint}")
    return [every[name] for name in names] or list(every.values())


def run(chosen: Sequence[Row], *, quick: bool = False, progress: Tell | None = None) -> Benchmarks:
    """Measure each row so often; `rows` has the medians, and of CPU time and speed the least and the greatest, too."""
    rounds = 1 if quick else ROUNDS
    found = []
    for at, row in enumerate(chosen):
        times = []
        for turn in range(rounds):
            times.append(row.measure(quick))
            if progress:
                progress((at + (turn + 1) / rounds) / len(chosen), 0.0, 0)
        found.append({"row": row.name, "about": row.about} | _median(times))
    return row_of(Benchmarks, {"rows": found, "run_info": machine()})


def machine() -> dict[str, Any]:
    """What was measured, and on what."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {"version": _native.version(), "commit": _commit(), "machine": model, "cores": os.cpu_count(), "load": load}


def _commit() -> str | None:
    """The commit of the checkout that this is, if it is one."""
    try:
        command = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--exclude=*"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _median(times: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The measurement in the middle, by time, and how far the others are from it.

    What could not be measured has no time, only a note.
    """
    if "cpu_s" not in times[0] and "wall_s" not in times[0]:
        return dict(times[0])
    by = "cpu_s" if "cpu_s" in times[0] else "wall_s"
    of = sorted(times, key=lambda one: one[by])
    spread = {f"{by}_min": of[0][by], f"{by}_max": of[-1][by]} if len(of) > 1 else {}
    return {**of[(len(of) - 1) // 2], **spread}


def _file(name: str) -> Callable[[], str]:
    return lambda: (HERE / f"{name}.toml").read_text(encoding="utf-8")


def _connections(count: int) -> str:
    """Connections between local networks of the large network, chosen at random, as the scenario's list of flows."""
    drawn = random.Random("network")
    lans = [f"lan{man}.{lan}" for man in range(1, 21) for lan in range(1, 10)]
    pairs = [drawn.sample(lans, 2) for _ in range(count)]
    flows = [f'{{ name = "{at}", from = "{a}", to = "{b}", traffic = "ftp" }}' for at, (a, b) in enumerate(pairs)]
    return f"[{', '.join(flows)}]"


def _replications(is_quick: bool) -> dict[str, Any]:
    """A thousand runs on two workers, beside two programs at a time with half of them each."""
    count = 20 if is_quick else 1000
    text = _file("small")()

    def share(runs: int, workers: int) -> dict[str, Any]:
        sets = [("measure.replications", str(runs)), ("measure.duration", "10 s")]
        return {"text": text, "sets": sets, "workers": workers}

    together, took = _timed(lambda: _child("simulate", share(count, 2)))
    with ThreadPoolExecutor(2) as both:
        _, alone = _timed(lambda: list(both.map(lambda half: _child("simulate", half), [share(count // 2, 1)] * 2)))
    return {"wall_s": took, "packet_hops": together["packet_hops"], "ratio": alone / took}


def _start(is_quick: bool) -> dict[str, Any]:
    """From the command to its end."""
    # It is the same, quick or not.
    del is_quick
    command = [
        sys.executable,
        "-m",
        "fairq",
        "run",
        "--quiet",
        str(HERE / "small.toml"),
        "--set",
        "measure.duration=1 ms",
    ]
    _, took = _timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    return {"wall_s": took}


IMPORT = """
import time
began, cpu = time.perf_counter(), time.process_time()
import fairq
alone = time.perf_counter() - began
fairq.run
print(time.process_time() - cpu, time.perf_counter() - began, alone)
"""
"""Functions are loaded when they are asked for: to import the package alone is less than a user pays."""


def _import(is_quick: bool) -> dict[str, Any]:
    """What a script pays before its first run."""
    # It is the same, quick or not.
    del is_quick
    done = subprocess.run([sys.executable, "-c", IMPORT], stdout=subprocess.PIPE, text=True, check=True)
    cpu_s, wall_s, alone = map(float, done.stdout.split())
    return {"cpu_s": cpu_s, "wall_s": wall_s, "note": f"import fairq alone: {alone * 1000:.0f} ms on the wall"}


def _compare(is_quick: bool) -> dict[str, Any]:
    """A question from the command to its answer, on all cores."""
    few = ["--seeds", "1", "--duration", "1s"] if is_quick else []
    _, took = _timed(lambda: subprocess.run([*COMPARE, *few], stdout=subprocess.DEVNULL, check=True))
    return {"wall_s": took}


COMPARE = [
    sys.executable, "-m", "fairq", "compare", "--rate", "100Mbit/s", "--rtt", "40ms", "--flows", "cubic:2,bbr:2",
    "--queue", "fifo,fq_codel,cake",
]  # fmt: skip
"""The first question of docs/guide/compare.md."""


def _table(is_quick: bool) -> dict[str, Any]:
    """A table of packets as a polars data frame: what crosses is the address of its columns."""
    if find_spec("polars") is None:
        return {"note": "not measured; write: pip install polars"}
    return _child("table", {"text": _file("table")(), "sets": [("measure.duration", "1 s")] if is_quick else []})


def _replay(is_quick: bool) -> dict[str, Any]:
    """A capture of 256 flows at 8 Gbit/s through a line of 10 Gbit/s."""
    packets = 100_000 if is_quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "capture.pcap"
        write_capture(capture, packets)
        found = _child("replay", {"capture": str(capture)})
    return {**found, "packets": packets, "million_packets_per_cpu_s": packets / found["cpu_s"] / 1e6}


def _child(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a program of its own finds."""
    command = [sys.executable, "-m", "fairq.benchmarks", what]
    done = subprocess.run(command, input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _timed(do: Callable[[], Found]) -> tuple[Found, float]:
    """What it finds, and how many seconds it takes on the wall."""
    began = time.perf_counter()
    found = do()
    return found, time.perf_counter() - began
