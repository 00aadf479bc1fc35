"""What moves the claims that differ: how losses are found, beside Poisson packets over a FIFO.

    .venv/bin/python papers/buffers/variants.py

One line for each recovery, load, law and buffer: the mean share of three seeds.
"""

from __future__ import annotations

import json
import sys
from statistics import fmean

from fairq import _native
from fairq.papers import SEEDS, load

RECOVERIES = ("sack", "newreno", "reno")
SHOWN = ("20", "100", "625")


def main() -> None:
    """Run the scenario with each recovery."""
    paper = load("buffers")
    path = paper.folder / "packets.toml"
    for recovery in RECOVERIES:
        connection = f'{{ recovery = "{recovery}", receive_window = 5000 }}'
        sets = [(SEEDS, "3"), ("defaults.connection", connection)]
        document = json.loads(_native.run(path.read_text(encoding="utf-8"), str(path), sets, 2))
        runs = paper.compare.runs_of(document)  # type: ignore[attr-defined]
        for key in runs[0]:
            if key[2] == "FIFO" and key[3] in SHOWN:
                share = fmean(run[key].share for run in runs)
                sys.stdout.write("\t".join((recovery, *key, f"{share:.3f}")) + "\n")


if __name__ == "__main__":
    main()
