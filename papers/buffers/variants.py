"""What moves the claims that differ: how losses are found, beside Poisson packets over a FIFO.

    .venv/bin/python papers/buffers/variants.py

One line for each recovery, load, control and buffer: the mean share of three seeds.
"""

from __future__ import annotations

import sys
from statistics import fmean
from typing import Any

from fairq.papers.papers import SEEDS, Job, load
from fairq.papers.varied import run_varied

RECOVERIES = ("sack", "newreno", "reno")
SHOWN = ("20", "100", "625")


def main() -> None:
    """Run the scenario with each recovery."""
    compare: Any = load("buffers").compare
    for recovery in RECOVERIES:
        connection = {"recovery": recovery, "receive_window": 5000}
        done = run_varied("buffers", Job("packets.toml"), {SEEDS: 3, "defaults.connection": connection})
        runs = compare.runs_of(done)
        for key in runs[0]:
            if key[2] == "FIFO" and key[3] in SHOWN:
                share = fmean(run[key].share for run in runs)
                sys.stdout.write("\t".join((recovery, *key, f"{share:.3f}")) + "\n")


if __name__ == "__main__":
    main()
