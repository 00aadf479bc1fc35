"""What a sweep costs beside its simulations.

`python -m fairq.benchmarks.sweep [RUNS] [SIMULATED_SECONDS]` prints it.

The goals: of two cores' time 90 % is simulation with runs of 50 ms, a run costs at most 5 ms of
overhead, a finished study of 10,000 runs is resumed in a second, and memory is flat. CPU time
counts, which other programs hardly change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fairq.core.memory import peak_memory
from fairq.studies.sweeping import Options, open_study, sweep

POINTS = 100
"""Points of the study; each has its share of the runs as seeds."""

STUDY = """[study]
scenario = "small.toml"
replications = {replications}
set = {{ "measure.duration" = "{seconds} s" }}

[[axes]]
name = "rate"
path = "links.bottleneck.rate"
values = [{rates}]
"""


def measure(runs: int, seconds: int, workers: int = 2) -> dict[str, Any]:
    """Run a study of `runs` runs, each of as many simulated seconds as said, and resume it."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")
        Path(folder, "small.toml").write_text(scenario, encoding="utf-8")
        points = min(POINTS, runs)
        rates = ", ".join(f'"{5 + number} Mbit/s"' for number in range(points))
        study = Path(folder, "study.toml")
        study.write_text(STUDY.format(replications=runs // points, seconds=seconds, rates=rates), encoding="utf-8")
        return {**_measured(study, workers), "resume": _resumed(study)}


def _measured(study: Path, workers: int) -> dict[str, Any]:
    cpu_s, began = time.process_time(), time.monotonic()
    half_way = 0

    def show(_: str) -> None:
        nonlocal half_way
        half_way = half_way or (peak_memory() or 0) * (time.monotonic() - began > 1)

    state = sweep(study, Options(workers=workers, show=show))
    cpu_s, wall_s = time.process_time() - cpu_s, time.monotonic() - began
    store = open_study(study, Options()).store
    cost_s = sum(store.done[digest].runs[digest] for digest in store.done)
    return {
        "runs": state.done,
        "run_cpu_s": cost_s / state.done,
        "simulation_of_cpu": cost_s / cpu_s,
        "simulation_of_cores": cost_s / wall_s / workers,
        "overhead_s_per_run": (cpu_s - cost_s) / state.done,
        "parts": len(list((store.root / "done").iterdir())),
        "store_bytes": sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file()),
        "peak_memory_bytes_after_a_second": half_way,
        "peak_memory_bytes": peak_memory(),
        "load": os.getloadavg()[0],
    }


def _resumed(study: Path) -> dict[str, float]:
    """What a command takes that finds everything done, from the start of Python on."""
    command = [sys.executable, "-m", "fairq", "sweep", os.fspath(study), "--json"]
    before, began = os.times(), time.monotonic()
    found = subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    ran: int = json.loads(found.stdout)["ran"]
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return {"cpu_s": cpu_s, "wall_s": time.monotonic() - began, "ran": ran}


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    json.dump(measure(*(given or [1000, 25])), sys.stdout, indent=1)
    sys.stdout.write("\n")
