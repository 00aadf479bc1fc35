"""Measures how the cost of a packet-hop grows with flows, window, links and buffer; draws target/growth.svg.

    cargo build --release -p fairq-bench --example workload
    .venv/bin/python scripts/growth.py

Instructions and misses of a cache of 1 MiB are cachegrind's (Debian: valgrind), as the difference of two runs over that
of their packet-hops, so that the start cancels. They repeat; times on a shared machine do not.
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

ROOT = Path(__file__).parents[1]
QUEUES = {"DRR": "drr(quantum=1500B)", "FQ": "fq"}
MUCH = 10**6
"""Packets of buffer that no run fills."""


def windows(packets: int) -> str:
    """A transport with a fixed number of packets under way."""
    return f"fixed_window(window={packets})"


def chain(queue: str, flows: int, transport: str, buffer: int, links: int = 1) -> dict[str, Any]:
    """Flows over links one behind the other, of which the first is the slowest."""
    access = {"rate": "2 Gbit/s", "delay": "1 ms"}
    return {
        "defaults": {"start": "0 s", "transport": transport, "access": access, "sink_access": access},
        "edition": 1,
        "links": [
            {
                "name": f"l{at}",
                "from": f"n{at}",
                "to": f"n{at + 1}",
                "rate": "1 Gbit/s" if at == 0 else "2 Gbit/s",
                "delay": "1 ms",
                "queue": QUEUES[queue],
                "buffer": f"{buffer} packets",
            }
            for at in range(links)
        ],
        "flows": [{"name": "f", "from": "n0", "to": f"n{links}", "traffic": "ftp(packet=1500B)", "count": flows}],
    }


@dataclass(frozen=True)
class Growth:
    """One thing that grows: its name, its values, a scenario for each, and the seconds of the two runs."""

    name: str
    values: Sequence[int]
    scenario: Callable[[str, int], dict[str, Any]]
    seconds: tuple[float, float]


GROWTHS = (
    # until every packet has been round the longest queue
    Growth("flows", (4, 64, 1024, 8192), lambda q, n: chain(q, n, windows(8), MUCH), (1.0, 1.2)),
    Growth("window (packets)", (8, 64, 512, 4096), lambda q, n: chain(q, 16, windows(n), MUCH), (1.0, 1.2)),
    Growth("links of the path", (1, 2, 4, 8, 16), lambda q, n: chain(q, 16, windows(64), MUCH, n), (0.1, 0.2)),
    # Reno fills every buffer and loses packets when it is full
    Growth("buffer (packets)", (16, 256, 4096), lambda q, n: chain(q, 16, "reno", n), (2.0, 2.3)),
)

Cost = tuple[float, float]
"""Instructions and misses of a packet-hop."""


def main() -> int:
    """Measure, print the table, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", type=Path, default=ROOT / "target/release/examples/workload", help="the program")
    parser.add_argument("--out", type=Path, default=ROOT / "target/growth.svg", help="the picture")
    arguments = parser.parse_args()
    if not arguments.workload.is_file():
        print(f"{arguments.workload}: no such file; cargo build --release -p fairq-bench --example workload makes it")
        return 2
    found: dict[tuple[str, str, int], Cost] = {}
    print("| | | instructions | misses |\n|---|---|---|---|")
    for growth in GROWTHS:
        for queue in QUEUES:
            for value in growth.values:
                cost = measured(arguments.workload, growth.scenario(queue, value), growth.seconds)
                found[growth.name, queue, value] = cost
                print(f"| {growth.name} {value} | {queue} | {cost[0]:.0f} | {cost[1]:.1f} |", flush=True)
    draw(found, arguments.out)
    return 0


def measured(workload: Path, scenario: Mapping[str, Any], seconds: tuple[float, float]) -> Cost:
    """What a packet-hop costs between the ends of the two runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        short, long = (counted(workload, path, each) for each in seconds)
    hops = long[2] - short[2]
    return (long[0] - short[0]) / hops, (long[1] - short[1]) / hops


def counted(workload: Path, scenario: Path, seconds: float) -> tuple[int, int, int]:
    """Instructions, misses and packet-hops of a run."""
    command = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=yes",
        "--LL=1048576,16,64",
        "--cachegrind-out-file=/dev/null",
    ]
    run = [str(workload), "run", str(scenario), f"measure.duration={seconds} s"]
    done = subprocess.run([*command, *run], capture_output=True, text=True, check=True)
    texts = (r"I +refs: +([\d,]+)", r"LLd misses: +([\d,]+)", r"([\d,]+) packet-hops")
    counts = [re.search(text, done.stderr + done.stdout) for text in texts]
    instructions, misses, hops = (int(count[1].replace(",", "")) if count else 0 for count in counts)
    return instructions, misses, hops


def draw(found: Mapping[tuple[str, str, int], Cost], out: Path) -> None:
    """A panel for each growth and measure, a line for each discipline."""
    plt.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none"}
    figure, panels = plt.subplots(2, len(GROWTHS), figsize=(12, 6), sharey="row", layout="constrained")
    for growth, column in zip(GROWTHS, panels.T, strict=True):
        for row, (panel, unit) in enumerate(zip(column, ("instructions", "misses of 1 MiB"), strict=True)):
            for queue, marker in zip(QUEUES, "os", strict=True):
                costs = [found[growth.name, queue, value][row] for value in growth.values]
                panel.plot(growth.values, costs, marker=marker, label=queue)
            panel.set_xscale("log", base=2)
            panel.set_xlabel(growth.name)
            panel.grid(alpha=0.3)
            if growth is GROWTHS[0]:
                panel.set_ylabel(f"{unit} of a packet-hop")
    for row in panels:
        row[0].set_ylim(0, 1.05 * row[0].get_ylim()[1])
    panels[0][0].legend(frameon=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
