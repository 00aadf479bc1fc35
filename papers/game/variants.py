"""What the claims that differ hang on: the tables of papers/game/README.md, as Markdown.

Each row changes a setting and runs the game again: the greatest gain of a control beside another under FQ-CoDel, and
the crowd under FQ.

    .venv/bin/python papers/game/variants.py
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from fairq.papers.papers import SEEDS as SEEDS_PATH
from fairq.papers.papers import Job, load
from fairq.papers.varied import Changes, print_table, run_varied

SEEDS = 6


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


def main() -> None:
    """Print both tables."""
    columns = ["FQ-CoDel", "two Reno", "Reno beside packet pair", "packet pair beside Reno", "greatest gain of any"]
    print_table(columns, ((name, gains(changes)) for name, changes in PAIRS.items()))
    columns = ["FQ", "CUBIC beside seven BBR", "BBR beside one CUBIC", "eight BBR", "numbers at rest, of nine"]
    print_table(columns, ((name, shares(changes)) for name, changes in CROWDS.items()))


def gains(changes: Changes) -> list[str]:
    """What Reno and packet pair have beside each other, and the greatest gain of any."""
    compare: Any = load("game").compare
    runs = compare.pairs_of(seeds_of("pairs", changes))
    pairs = (("Reno", "Reno"), ("Reno", "packet pair"), ("packet pair", "Reno"))
    cells = [fmean(run.of("FQ-CoDel", *pair) for run in runs) for pair in pairs]
    cells.append(fmean(compare.greatest_gain_of(run, "FQ-CoDel") for run in runs))
    return [f"{cell:.3f}" for cell in cells]


def shares(changes: Changes) -> list[str]:
    """What users of the crowd have, and the least and greatest count of numbers at rest."""
    compare: Any = load("game").compare
    crowds = compare.crowds_of(seeds_of("crowd", changes))
    places = ((7, "CUBIC"), (7, "BBR"), (8, "BBR"))
    cells = [fmean(crowd["FQ", number][law] for crowd in crowds) for number, law in places]
    rests = sorted(len(compare.at_rest(crowd, "FQ")) for crowd in crowds)
    return [*(f"{cell:.3f}" for cell in cells), f"{rests[0]} to {rests[-1]}"]


def seeds_of(scenario: str, changes: Changes) -> Any:
    """The flows of each seed, with fields of the scenario changed."""
    compare: Any = load("game").compare
    return compare.points_of(run_varied("game", Job(f"{scenario}.toml"), {SEEDS_PATH: SEEDS, **changes}))


if __name__ == "__main__":
    main()
