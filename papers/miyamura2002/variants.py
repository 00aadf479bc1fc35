"""What moves the numbers of the V-WFQ paper: the tables of docs/design/miyamura2002.md, as Markdown.

Each row changes a parameter that the paper leaves open, or one that it states, and runs the experiments again.

    .venv/bin/python papers/miyamura2002/variants.py
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from statistics import fmean

from fairq import api
from fairq.papers import SEEDS as SEEDS_PATH
from fairq.papers import Job, load
from fairq.reproduction import Steps, run_job

SEEDS = 5
EXPERIMENTS = ("experiment 1", "experiment 2", "experiment 3")

TIMER = 'timeout = { floor = "200 ms", first = "3 s", granularity = "10 ms" }'
ACCESS = 'access = { rate = "10 Mbit/s", delay = "5 ms" } #'
ROOM = "fifo + 128kB"
RED = "red(ecn=false, wait=true)"
FRED = "fred(probability=0.1)"

NETWORK: dict[str, dict[str, str]] = {
    "as reproduced": {},
    "access lines of 100 Mbit/s": {ACCESS: ACCESS.replace("10 M", "100 M")},
    "bottleneck of 1 ms": {'delay = "10 ms"': 'delay = "1 ms"'},
    "bottleneck of 30 ms": {'delay = "10 ms"': 'delay = "30 ms"'},
    "random starts in the first second": {'start = "0 s" ': 'start = "drawn" '},
    "no jitter": {", jitter = 1.0": ""},
    "jitter of half a gap": {"jitter = 1.0": "jitter = 0.5"},
    "hosts answer at once": {'processing = "100 us"': 'processing = "0 s"'},
    "windows of 20 packets": {"receive_window = 5000": "receive_window = 20"},
    "least timeout 1 s, in steps of 0.1 s": {
        TIMER: 'timeout = { floor = "1 s", first = "3 s", granularity = "100 ms" }'
    },
    "room for 128 packets": {ROOM: "fifo + 128packets"},
}
"""Changes of the network and of the sources; what an experiment does not say is left."""

VWFQ: dict[str, str] = {
    "as reproduced": "rate_min=MGR",
    "no guaranteed rate": "",
    "figure's reading": "rate_min=MGR, reading=figure",
    "figure's reading, no guaranteed rate": "reading=figure",
    "window 1 s": "rate_min=MGR, window=1s",
    "interval 10 ms": "rate_min=MGR, interval=10ms",
    "interval 100 ms": "rate_min=MGR, interval=100ms",
    "thresholds 16 and 96 kB": "rate_min=MGR, queue_min=16kB, queue_max=96kB",
    "thresholds 64 and 96 kB": "rate_min=MGR, queue_min=64kB, queue_max=96kB",
    "average of gain 0.1": "rate_min=MGR, gain=0.1",
    "average of gain 0.002": "rate_min=MGR, gain=0.002",
}
"""Settings of V-WFQ."""

OTHERS: dict[str, dict[str, str]] = {
    "FRED": {
        "as reproduced": FRED,
        "probability 0.02": "fred(probability=0.02)",
        "4 packets of each flow spared": "fred(probability=0.1, flow_min=4)",
        "between 8 and 16 packets": "fred(probability=0.1, min=8packets, max=16packets)",
        "between 10 and 30 packets": "fred(probability=0.1, min=10packets, max=30packets)",
        "between 32 and 64 packets": "fred(probability=0.1, min=32packets, max=64packets)",
    },
    "RED": {
        "as reproduced": RED,
        "no gaps between drops": "red(ecn=false)",
        "not gentle": "red(ecn=false, wait=true, gentle=false)",
        "probability 0.02": "red(ecn=false, wait=true, probability=0.02)",
        "between 32 and 64 packets": "red(ecn=false, wait=true, min=32packets, max=64packets)",
        "counting bytes": "red(ecn=false, wait=true, byte_mode=true)",
        "a packet that finds nothing joins": "red(ecn=false, wait=true, spare_empty=true)",
    },
}
"""Settings of the other disciplines, each with the policy they are of."""


def main() -> None:
    """Print the tables."""
    policies = ("V-WFQ", "DRR", "FRED", "RED", "DropTail")
    for experiment in EXPERIMENTS:
        head(f"{experiment}: index of x/z", policies)
        for name, changes in NETWORK.items():
            said = {old: new for old, new in changes.items() if old in text_of(experiment)}
            if len(said) == len(changes):
                measured = measure(experiment, said)
                row(name, [f"{measured[policy][1]:.3f}" for policy in policies])
    columns = [f"{experiment}: {what}" for experiment in EXPERIMENTS for what in ("efficiency", "index")]
    head("V-WFQ", columns)
    for name, settings in VWFQ.items():
        row(name, each_experiment("V-WFQ", "vwfq(rate_min={mgr})", f"vwfq({settings})"))
    for policy, variants in OTHERS.items():
        head(policy, columns)
        for name, settings in variants.items():
            row(name, each_experiment(policy, variants["as reproduced"], settings))


def each_experiment(policy: str, old: str, new: str) -> list[str]:
    """Efficiency and index of one policy in each experiment, with other settings."""
    cells = []
    for experiment in EXPERIMENTS:
        rate = "667kbit/s" if experiment == "experiment 3" else "625kbit/s"
        changes = {old.format(mgr=rate): new.replace("MGR", rate)} | without_others(experiment, policy)
        measured = measure(experiment, changes)[policy]
        cells += [f"{value:.3f}" for value in measured]
    return cells


def measure(experiment: str, changes: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Efficiency and index of each policy, means over the seeds."""
    paper = load("miyamura2002")
    job = Job(f"{experiment.replace(' ', '')}.toml", ((SEEDS_PATH, str(SEEDS)),))
    runs = paper.compare.runs_of(run_job(paper, job, api.cores(), Steps(1, None), changes))  # type: ignore[attr-defined]
    return {
        policy: (fmean(run.efficiency(policy) for run in runs), fmean(run.index(policy) for run in runs))
        for policy in runs[0].throughput
    }


def without_others(experiment: str, policy: str) -> dict[str, str]:
    """The changes that leave one policy."""
    lines = text_of(experiment).splitlines(keepends=True)
    return {line: "" for line in lines if line.startswith("    { name = ") and f'"{policy}"' not in line}


def text_of(experiment: str) -> str:
    """An experiment's file."""
    path = load("miyamura2002").folder / f"{experiment.replace(' ', '')}.toml"
    return path.read_text(encoding="utf-8")


def head(what: str, columns: Sequence[str]) -> None:
    """The first lines of a table."""
    sys.stdout.write(f"\n| {what} | " + " | ".join(columns) + " |\n|---" + "|---:" * len(columns) + "|\n")


def row(name: str, cells: Sequence[str]) -> None:
    """One line of a table."""
    sys.stdout.write(f"| {name} | " + " | ".join(cells) + " |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
