"""How the cost of a packet-hop grows with flows, window, links and buffer: the picture of docs/design/performance.md.

    cargo build --release -p fairq-sim --example workload
    .venv/bin/python scripts/growth.py --out docs/design/growth.svg

Instructions come from callgrind (Debian: valgrind), as the difference of two runs over that of their packet-hops, so
that the start cancels; nanoseconds are CPU time, the least of three runs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from fairq import _native

ROOT = Path(__file__).parents[1]
WORKLOAD = ROOT / "target/release/examples/workload"
QUEUES = ("fifo", "drr(quantum=1500B)", "fq", "fq_codel")
TURNS = 3


@dataclass(frozen=True)
class Growth:
    """One thing that grows: its name, its values, and a scenario for each with the seconds of the longer run."""

    name: str
    values: Sequence[int]
    scenario: Callable[[int, str], tuple[dict[str, Any], float]]


def dumbbell(queue: str, flows: int, window: int, buffer: int, links: int = 1) -> dict[str, Any]:
    """So many windows over a chain of links of 1 Gbit/s; all of a chain but the first have twice the rate."""
    chain = [
        {
            "name": f"l{at}",
            "from": f"n{at}",
            "to": f"n{at + 1}",
            "rate": "1 Gbit/s" if at == 0 else "2 Gbit/s",
            "delay": "1 ms",
            "queue": queue,
            "buffer": f"{buffer} packets",
        }
        for at in range(links)
    ]
    flow = {"name": "f", "from": "n0", "to": f"n{links}", "traffic": "ftp(packet=1500B)", "count": flows}
    access = {"rate": "2 Gbit/s", "delay": "1 ms"}
    return {
        "measure": {"duration": "1 s"},
        "defaults": {"transport": f"fixed_window(window={window})", "access": access, "sink_access": access},
        "links": chain,
        "flows": [flow],
    }


GROWTHS = (
    Growth("flows", (4, 16, 64, 256, 1024, 4096, 16384), lambda n, queue: (dumbbell(queue, n, 8, 10**6), 1.0)),
    Growth("window (packets)", (8, 32, 128, 512, 2048, 8192), lambda n, queue: (dumbbell(queue, 16, n, 10**6), 1.0)),
    Growth("links of the path", (1, 2, 4, 8, 16, 32), lambda n, queue: (dumbbell(queue, 16, 64, 10**6, n), 1.0)),
    Growth("buffer (packets)", (16, 64, 256, 1024, 4096, 16384), lambda n, queue: (reno(queue, n), 1.0)),
)


def reno(queue: str, buffer: int) -> dict[str, Any]:
    """Sixteen Reno connections, which fill the buffer and lose packets when it is full."""
    return dumbbell(queue, 16, 1, buffer) | {
        "defaults": {
            "transport": "reno",
            "access": {"rate": "2 Gbit/s", "delay": "1 ms"},
            "sink_access": {"rate": "2 Gbit/s", "delay": "1 ms"},
        }
    }


def main() -> int:
    """Measure, print the table, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/design/growth.svg", help="the picture")
    arguments = parser.parse_args()
    if not WORKLOAD.is_file():
        print(f"{WORKLOAD}: not there; run cargo build --release -p fairq-sim --example workload", file=sys.stderr)
        return 2
    found = {}
    for growth in GROWTHS:
        for queue in QUEUES:
            for value in growth.values:
                scenario, seconds = growth.scenario(value, queue)
                cost = measured(scenario, seconds)
                found[growth.name, queue, value] = cost
                print(
                    f"{growth.name:18}{queue:20}{value:7}  {cost[0]:7.0f} instructions  {cost[1]:6.1f} ns", flush=True
                )
    draw(found, arguments.out)
    return 0


def measured(scenario: Mapping[str, Any], seconds: float) -> tuple[float, float]:
    """Instructions and nanoseconds of a packet-hop."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        short, long = [counted(path, seconds * part) for part in (0.2, 0.4)]
    instructions = (long[0] - short[0]) / (long[1] - short[1])
    times = []
    for _ in range(TURNS):
        document = json.loads(_native.run(json.dumps(scenario), "growth.json", [], 1))
        info = document["run_info"]
        times.append(1e9 * info["cpu_s"] / info["packet_hops"])
    return instructions, min(times)


def counted(path: Path, seconds: float) -> tuple[int, int]:
    """Instructions and packet-hops of a run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(WORKLOAD), "run", str(path)]
    done = subprocess.run([*command, f"measure.duration={seconds} s"], capture_output=True, text=True, check=True)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    hops = re.search(r"(\d+) packet-hops", done.stdout)
    if instructions is None or hops is None:
        raise RuntimeError(done.stderr)
    return int(instructions[1]), int(hops[1])


def draw(found: Mapping[tuple[str, str, int], tuple[float, float]], out: Path) -> None:
    """A panel for each growth and measure, a line for each discipline."""
    figure, panels = plt.subplots(2, len(GROWTHS), figsize=(13, 6), sharey="row", layout="constrained")
    for growth, column in zip(GROWTHS, panels.T, strict=True):
        for row, (panel, unit) in enumerate(zip(column, ("instructions", "CPU time (ns)"), strict=True)):
            for queue, marker in zip(QUEUES, "osv^", strict=True):
                costs = [found[growth.name, queue, value][row] for value in growth.values]
                panel.plot(growth.values, costs, marker=marker, label=queue)
            panel.set_xscale("log", base=2)
            panel.set_ylim(bottom=0)
            panel.set_xlabel(growth.name)
            if growth is GROWTHS[0]:
                panel.set_ylabel(f"a packet-hop: {unit}")
    panels[0][0].legend(frameon=False)
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
