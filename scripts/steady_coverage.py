"""How often the interval of a question holds the steady answer, which runs ten times as long give.

    .venv/bin/python scripts/steady_coverage.py            runs what is missing, then prints the table
    .venv/bin/python scripts/steady_coverage.py --table    prints the table of what there is

Each question is asked of 50 groups of ten seeds, with the times that the program finds. The steady
answer is the mean of 40 other seeds over 1050 s after a warm-up of 350 s: as long as ten first runs
and four more. What was run stands in out/steady_coverage.jsonl, and a second start goes on there.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairq.questions import asked
from fairq.questions.asked import Question
from fairq.questions.search import measured
from fairq.statistics import interval

QUESTIONS: dict[str, dict[str, Any]] = {
    "two CUBIC, one Reno": {"rate": "10Mbit/s", "rtt": "30ms", "flows": "cubic:2,reno", "buffer": "1BDP"},
    "CUBIC at 20 and 80 ms": {"rate": "20Mbit/s", "flows": "cubic@20ms,cubic@80ms", "buffer": "100packets"},
    "BBR and CUBIC": {"rate": "10Mbit/s", "rtt": "50ms", "flows": "bbr,cubic", "buffer": "2BDP"},
    "BBRv3 and CUBIC": {"rate": "8Mbit/s", "rtt": "40ms", "flows": "bbr3,cubic", "buffer": "4BDP"},
    "FQ-CoDel or FIFO": {"rate": "15Mbit/s", "rtt": "30ms", "flows": "bbr,cubic:2", "queue": "fifo,fq_codel"},
    "Reno at 20 and 60 ms, CoDel": {"rate": "10Mbit/s", "flows": "reno@20ms,reno@60ms", "queue": "codel"},
    "H-TCP and CUBIC": {"rate": "12Mbit/s", "rtt": "60ms", "flows": "htcp,cubic", "buffer": "1BDP"},
    "Vegas and CUBIC": {"rate": "5Mbit/s", "rtt": "40ms", "flows": "vegas,cubic", "buffer": "60kB"},
    "CUBIC and Reno, PIE": {"rate": "10Mbit/s", "rtt": "50ms", "flows": "cubic,reno", "queue": "pie"},
    "CUBIC and the web": {"rate": "10Mbit/s", "rtt": "40ms", "flows": "cubic,web", "buffer": "1BDP"},
    "BBR and Reno, RED": {"rate": "10Mbit/s", "rtt": "40ms", "flows": "bbr:2,reno:2", "queue": "red"},
    "loss on the way": {"rate": "10Mbit/s", "rtt": "40ms", "flows": "cubic,bbr", "queue": "fq_codel", "loss": "0.5%"},
}
"""By name: the answer that is judged is the share of the first item of --flows, at the first
queue."""

GROUPS, SEEDS, FROM = 50, 10, 10_001
STEADY_WARM_UP, STEADY_DURATION, STEADY_SEEDS, STEADY_FROM = "350 s", "1050 s", 40, 1_000_001
LEAST, MOST, LEAST_OF_ONE = 0.91, 0.98, 0.80
"""The coverage of all groups, and that of a question."""

DONE = Path("out/steady_coverage.jsonl")


def asked_of(name: str, seed: int, seeds: int = SEEDS) -> Question:
    """A question with these seeds."""
    return replace(asked.ask(**QUESTIONS[name], seeds=seeds), seed=seed)


def steady(name: str, workers: int) -> dict[str, Any]:
    """The steady answer of a question, with its interval."""
    long = replace(
        asked_of(name, STEADY_FROM, STEADY_SEEDS), warm_up=STEADY_WARM_UP, duration=STEADY_DURATION
    )  # fmt: skip
    found = interval(_shares(measured([long], workers).answers[0]), "logit")
    return {"question": name, "steady": found.mean, "low": found.low, "high": found.high}


def group(name: str, number: int, workers: int) -> dict[str, Any]:
    """What one group of seeds answers."""
    found = measured([asked_of(name, FROM + number * SEEDS)], workers)
    row = found.answers[0].rows()[0]
    return {
        "question": name,
        "group": number,
        "mean": row["share"],
        "low": row["share_low"],
        "high": row["share_high"],
        "warm_up_s": found.steady.times.warm_up,
        "length_s": found.steady.times.length,
        "stands": found.steady.stands,
    }


def _shares(answers: Any) -> list[float | None]:
    return [seed["share"] for seed in answers.points[0].groups[0]]


def missing(done: Sequence[dict[str, Any]], groups: int) -> Iterator[tuple[str, int | None]]:
    """What is still to be run: a question and a group's number, or none for the steady answer."""
    has = {(row["question"], row.get("group")) for row in done}
    for number in (None, *range(groups)):
        yield from ((name, number) for name in QUESTIONS if (name, number) not in has)


def read() -> list[dict[str, Any]]:
    """What was run so far; a last line that was cut off is run again."""
    lines = DONE.read_text(encoding="utf-8").splitlines(keepends=True) if DONE.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def table(done: Sequence[dict[str, Any]]) -> str:
    """The coverage of each question and of all, as a table of Markdown."""
    heads = ("question", "steady share", "held", "groups", "still moves", "warm-up, s", "run, s")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    held_of_all = of_all = 0
    for name in QUESTIONS:
        rows = [row for row in done if row["question"] == name and "group" in row]
        truth = next((row for row in done if row["question"] == name and "steady" in row), None)
        if truth is None or not rows:
            continue
        held = sum(row["low"] <= truth["steady"] <= row["high"] for row in rows)
        held_of_all, of_all = held_of_all + held, of_all + len(rows)
        moving = sum(not row["stands"] for row in rows)
        warm_ups, lengths = ([row[key] for row in rows] for key in ("warm_up_s", "length_s"))
        share = f"{100 * truth['steady']:.1f} % ({100 * truth['low']:.1f}–{100 * truth['high']:.1f})"
        cells = (name, share, f"{held / len(rows):.0%}", len(rows), moving, _range(warm_ups), _range(lengths))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    if of_all:
        lines.append(f"| all | | {held_of_all / of_all:.1%} | {of_all} | | | |")
    return "\n".join(lines)


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--groups", type=int, default=GROUPS, help=f"groups of seeds (default {GROUPS})")
    arguments = parser.parse_args()
    done = read()
    if not arguments.table:
        DONE.parent.mkdir(parents=True, exist_ok=True)
        DONE.write_text("".join(json.dumps(row) + "\n" for row in done), encoding="utf-8")
        workers = len(os.sched_getaffinity(0))
        with DONE.open("a", encoding="utf-8") as to:
            for name, number in missing(done, arguments.groups):
                row = steady(name, workers) if number is None else group(name, number, workers)
                to.write(json.dumps(row) + "\n")
                to.flush()
                done.append(row)
    print(table(done))


if __name__ == "__main__":
    main()
