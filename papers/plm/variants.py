"""What the claims about PLM hang on: the table of papers/plm/README.md, as Markdown.

Each row changes what the text leaves open and runs PLM over FQ again.

    .venv/bin/python papers/plm/variants.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from statistics import fmean

from fairq.papers import SEEDS as SEEDS_PATH
from fairq.papers import Job, load
from fairq.reproduction import Steps, run_job

SEEDS = 5
EXPERIMENTS = ("sessions", "tcp", "misbehaving", "self_similar")

FQ, ROOM, PLM = "fq(on_drop=refund) +", "20 packets", '"plm"'
RATES = '"100 kbit/s", "200 kbit/s", "400 kbit/s"'
EVEN = ", ".join(['"50 kbit/s"'] * 7)
LEAVE = 'leave_latency = "500 ms"'
VARIANTS: dict[str, dict[str, str]] = {
    "as reproduced": {},
    "FQ that charges for drops": {FQ: "fq +"},
    "SCFQ": {FQ: "scfq +"},
    "WF2Q+": {FQ: "wf2q_plus +"},
    "DRR, quantum of a packet": {FQ: "drr(quantum=500B) +"},
    "DRR, quantum of three packets": {FQ: "drr(quantum=1500B) +"},
    "a check of 5 s": {PLM: '"plm(check=5s)"'},
    "a check of 5 s, FQ that charges": {PLM: '"plm(check=5s)"', FQ: "fq +"},
    "room for 60 packets": {ROOM: "60 packets"},
    "room for 60 packets, FQ that charges": {ROOM: "60 packets", FQ: "fq +"},
    "leaving takes no time": {LEAVE: 'leave_latency = "0 s"'},
    "leaving takes 2 s": {LEAVE: 'leave_latency = "2 s"'},
    # RLC cannot have such layers
    "nine layers of 50 kbit/s (8 are right)": {RATES: EVEN, '"rlc"': '"rlm"', '"bursts"': '"constant"'},
}


def table() -> Iterator[str]:
    """The lines of the table: in each experiment layers, changes a minute and packets lost, means of receivers."""
    yield "| | " + " | ".join(name.replace("_", "-") for name in EXPERIMENTS) + " |"
    yield "|---" * (1 + len(EXPERIMENTS)) + "|"
    for name, changes in VARIANTS.items():
        yield f"| {name} | " + " | ".join(cell(experiment, changes) for experiment in EXPERIMENTS) + " |"


def cell(experiment: str, changes: Mapping[str, str]) -> str:
    """One cell: layers, changes a minute, packets lost in two minutes."""
    paper = load("plm")
    job = Job(f"{experiment}.toml", ((SEEDS_PATH, str(SEEDS)),))
    runs = paper.compare.runs_of(run_job(paper, job, 1, Steps(1, None), changes))  # type: ignore[attr-defined]
    each = [receiver for run in runs for receiver in run.receivers["PLM, FQ"].values()]
    return (
        f"{fmean(r.layers for r in each):.2f}, {fmean(r.changes for r in each):.1f}, {fmean(r.lost for r in each):.0f}"
    )


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table())
