"""What moves the numbers of the V-WFQ paper: the tables of docs/design/miyamura2002.md, as Markdown.

Each row changes a parameter that the paper leaves open, or one that it states, and runs the experiments again.

    .venv/bin/python papers/miyamura2002/variants.py
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from fairq.papers.papers import SEEDS as SEEDS_PATH
from fairq.papers.papers import Job, load
from fairq.papers.varied import Changes, print_table, run_varied

SEEDS = 5
EXPERIMENTS = ("experiment 1", "experiment 2", "experiment 3")
CONSTANT_RATE = {"experiment 1": [str(number) for number in range(1, 17)], "experiment 2": ["UDP"]}
"""The sources of constant rate, by experiment."""
OF_TCP = ("experiment 2", "experiment 3")

DROP_TAIL = "axes.policy.values.DropTail.set"


def in_all(changes: Changes, experiments: Sequence[str] = EXPERIMENTS) -> dict[str, Changes]:
    """The same changes of some experiments."""
    return dict.fromkeys(experiments, changes)


def with_jitter(part: float) -> dict[str, Changes]:
    """What gives the sources of constant rate this jitter."""
    return {
        experiment: {f"flows.{name}.traffic.jitter": part for name in names}
        for experiment, names in CONSTANT_RATE.items()
    }


NETWORK: dict[str, dict[str, Changes]] = {
    "as reproduced": in_all({}),
    "access lines of 100 Mbit/s": in_all({"defaults.access.rate": "100 Mbit/s"}),
    "bottleneck of 1 ms": in_all({"links.bottleneck.delay": "1 ms"}),
    "bottleneck of 30 ms": in_all({"links.bottleneck.delay": "30 ms"}),
    "random starts in the first second": in_all({"defaults.start": "drawn"}),
    "no jitter": with_jitter(0.0),
    "jitter of half a gap": with_jitter(0.5),
    "hosts answer at once": in_all({"defaults.connection.processing": "0 s"}, OF_TCP),
    "windows of 20 packets": in_all({"defaults.connection.receive_window": 20}, OF_TCP),
    "least timeout 1 s, in steps of 0.1 s": in_all(
        {"defaults.connection.timeout": {"floor": "1 s", "first": "3 s", "granularity": "100 ms"}}, OF_TCP
    ),
    "room for 128 packets": in_all({DROP_TAIL: {"links[0].queue": "fifo + 128packets"}}),
}
"""Changes of the network and of the sources, by experiment: those that have what is changed."""

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
        "as reproduced": "fred(probability=0.1)",
        "probability 0.02": "fred(probability=0.02)",
        "4 packets of each flow spared": "fred(probability=0.1, flow_min=4)",
        "between 8 and 16 packets": "fred(probability=0.1, min=8packets, max=16packets)",
        "between 10 and 30 packets": "fred(probability=0.1, min=10packets, max=30packets)",
        "between 32 and 64 packets": "fred(probability=0.1, min=32packets, max=64packets)",
    },
    "RED": {
        "as reproduced": "red(ecn=false, wait=true)",
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
        rows = (
            (name, [f"{measure(experiment, changes[experiment])[policy][1]:.3f}" for policy in policies])
            for name, changes in NETWORK.items()
            if experiment in changes
        )
        print_table([f"{experiment}: index of x/z", *policies], rows)
    columns = [f"{experiment}: {what}" for experiment in EXPERIMENTS for what in ("efficiency", "index")]
    of_vwfq = {name: f"vwfq({settings})" for name, settings in VWFQ.items()}
    for policy, variants in {"V-WFQ": of_vwfq, **OTHERS}.items():
        rows = ((name, each_experiment(policy, settings)) for name, settings in variants.items())
        print_table([policy, *columns], rows)


def each_experiment(policy: str, discipline: str) -> list[str]:
    """Efficiency and index of one policy in each experiment, with this discipline over a FIFO."""
    cells = []
    for experiment in EXPERIMENTS:
        rate = "667kbit/s" if experiment == "experiment 3" else "625kbit/s"
        queue = f"fifo + {discipline.replace('MGR', rate)} + 128kB"
        only = {"axes.policy.values": [{"name": policy, "set": {"links[0].queue": queue}}]}
        measured = measure(experiment, only)[policy]
        cells += [f"{value:.3f}" for value in measured]
    return cells


def measure(experiment: str, changes: Changes) -> dict[str, tuple[float, float]]:
    """Efficiency and index of each policy, means over the seeds."""
    compare: Any = load("miyamura2002").compare
    job = Job(f"{experiment.replace(' ', '')}.toml")
    runs = compare.runs_of(run_varied("miyamura2002", job, {SEEDS_PATH: SEEDS, **changes}))
    return {
        policy: (fmean(run.efficiency(policy) for run in runs), fmean(run.index(policy) for run in runs))
        for policy in runs[0].throughput
    }


if __name__ == "__main__":
    main()
