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

from fairq.papers import SEEDS as SEEDS_PATH
from fairq.papers import Job, Paper, load
from fairq.reproduction import Steps, run_job

SEEDS = 6

CODEL, PAIR_ROOM = "fq_codel(ecn=false)", "80packets"
PAIRS: dict[str, dict[str, str]] = {
    "as reproduced": {},
    "a target of 20 ms": {CODEL: "fq_codel(ecn=false, target=20ms)"},
    "a target of 50 ms": {CODEL: "fq_codel(ecn=false, target=50ms)"},
    "an interval of 400 ms": {CODEL: "fq_codel(ecn=false, interval=400ms)"},
    "DRR with longest-queue drop, no CoDel": {CODEL: "drr + longest_queue_drop"},
    "room for 320 packets": {PAIR_ROOM: "320packets"},
}

BBR, CROWD_ROOM = 'transport" = "bbr"', "320packets"
CROWDS: dict[str, dict[str, str]] = {
    "as reproduced": {},
    "BBR without its pacing margin": {BBR: 'transport" = "bbr(pacing_margin=0)"'},
    "BBR that looks for the round trip in 20 ms": {BBR: 'transport" = "bbr(probe_duration=20ms)"'},
    "both": {BBR: 'transport" = "bbr(pacing_margin=0, probe_duration=20ms)"'},
    "four times the room": {CROWD_ROOM: "1280packets"},
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


def seeds_of(paper: Paper, scenario: str, changes: Mapping[str, str]) -> Any:
    """The flows of each seed, with the text of the scenario changed."""
    job = Job(f"{scenario}.toml", ((SEEDS_PATH, str(SEEDS)),))
    compare: Any = paper.compare
    return compare.points_of(run_job(paper, job, 1, Steps(1, None), changes))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in tables())
