"""What the claims that differ hang on: the tables of papers/game/README.md, as Markdown.

Each row changes a setting and runs the game again: the greatest gain of a control beside another under FQ-CoDel, and
the crowd under FQ.

    .venv/bin/python papers/game/variants.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from fairq.core.inputs import pairs
from fairq.papers.papers import SEEDS as SEEDS_PATH
from fairq.papers.papers import Job, Paper, load
from fairq.papers.reproduction import Steps, run_job

SEEDS = 6

Changes = Mapping[str, object]
"""Fields of a scenario and their values."""


def with_queues(room: str, codel: str = "fq_codel(ecn=false)") -> Changes:
    """What gives each policy `room`, and FQ-CoDel the discipline `codel`."""
    disciplines = {"FIFO": "fifo", "FQ-CoDel": f"{codel} + pair", "FQ": "fq(on_drop=refund) + longest_queue_drop"}
    return {
        f"axes.policy.values.{policy}.set": {"links[0].queue": f"{discipline} + {room}"}
        for policy, discipline in disciplines.items()
    }


def with_bbr(transport: str) -> Changes:
    """What makes `transport` of the BBR of the first users, for each number of them."""
    users = {number: [f"flows.{user}.transport" for user in range(1, number + 1)] for number in range(9)}
    return {f"axes.bbr.values.{number}.set": dict.fromkeys(paths, transport) for number, paths in users.items()}


PAIRS: dict[str, Changes] = {
    "as reproduced": {},
    "a target of 20 ms": with_queues("80packets", "fq_codel(ecn=false, target=20ms)"),
    "a target of 50 ms": with_queues("80packets", "fq_codel(ecn=false, target=50ms)"),
    "an interval of 400 ms": with_queues("80packets", "fq_codel(ecn=false, interval=400ms)"),
    "DRR with longest-queue drop, no CoDel": with_queues("80packets", "drr + longest_queue_drop"),
    "room for 320 packets": with_queues("320packets"),
}

CROWDS: dict[str, Changes] = {
    "as reproduced": {},
    "BBR without its pacing margin": with_bbr("bbr(pacing_margin=0)"),
    "BBR that looks for the round trip in 20 ms": with_bbr("bbr(probe_duration=20ms)"),
    "both": with_bbr("bbr(pacing_margin=0, probe_duration=20ms)"),
    "four times the room": with_queues("1280packets"),
}


def tables() -> Iterator[str]:
    """The lines of both tables."""
    paper = load("game")
    compare: Any = paper.compare
    yield "| FQ-CoDel | two Reno | Reno beside packet pair | packet pair beside Reno | greatest gain of any |"
    yield "|---|---|---|---|---|"
    for name, changes in PAIRS.items():
        runs = compare.pairs_of(seeds_of(paper, "pairs", changes))
        pairs = (("Reno", "Reno"), ("Reno", "packet pair"), ("packet pair", "Reno"))
        cells = [fmean(run.of("FQ-CoDel", *pair) for run in runs) for pair in pairs]
        cells.append(fmean(compare.greatest_gain_of(run, "FQ-CoDel") for run in runs))
        yield f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"
    yield ""
    yield "| FQ | CUBIC beside seven BBR | BBR beside one CUBIC | eight BBR | numbers at rest, of nine |"
    yield "|---|---|---|---|---|"
    for name, changes in CROWDS.items():
        crowds = compare.crowds_of(seeds_of(paper, "crowd", changes))
        places = ((7, "CUBIC"), (7, "BBR"), (8, "BBR"))
        shares = [fmean(crowd["FQ", number][law] for crowd in crowds) for number, law in places]
        rests = sorted(len(compare.at_rest(crowd, "FQ")) for crowd in crowds)
        cells_of_shares = " | ".join(f"{share:.3f}" for share in shares)
        yield f"| {name} | {cells_of_shares} | {rests[0]} to {rests[-1]} |"


def seeds_of(paper: Paper, scenario: str, changes: Changes) -> Any:
    """The flows of each seed, with fields of the scenario changed."""
    job = Job(f"{scenario}.toml", tuple(pairs({SEEDS_PATH: SEEDS, **changes})))
    compare: Any = paper.compare
    return compare.points_of(run_job(paper, job, 1, Steps(1, None)))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in tables())
