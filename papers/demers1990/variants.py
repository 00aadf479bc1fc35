"""What moves the cells that differ: the tables of docs/design/demers1990.md, as Markdown.

Each row changes a parameter that the paper leaves open, runs scenarios again and judges them as the reproduction does.

    .venv/bin/python papers/demers1990/variants.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairq.core.runs import cores
from fairq.papers.papers import Setup, load
from fairq.papers.reproduction import verdicts
from fairq.papers.varied import Changes, print_table, run_varied
from fairq.papers.verdicts import Line

SEEDS = 20

JK: dict[str, Changes] = {
    "as reproduced": {},
    "no fast retransmit": {"duplicates": 0},
    "fast retransmit after 1 duplicate": {"duplicates": 1},
    "after 2": {"duplicates": 2},
    "2 deviations": {"timeout": {"deviations": 2.0}},
    "3 deviations": {"timeout": {"deviations": 3.0}},
    "6 deviations": {"timeout": {"deviations": 6.0}},
    "deviation floor 0": {"timeout": {"deviation_floor": "0 s"}},
    "deviation floor 0.5 s": {"timeout": {"deviation_floor": "500 ms"}},
    "deviation floor 2 s": {"timeout": {"deviation_floor": "2 s"}},
    "deviation floor 3 s": {"timeout": {"deviation_floor": "3 s"}},
    "least timeout 0.5 s": {"timeout": {"floor": "500 ms"}},
    "least timeout 2 s": {"timeout": {"floor": "2 s"}},
    "least timeout 3 s": {"timeout": {"floor": "3 s"}},
    "first timeout 1 s": {"timeout": {"first": "1 s"}},
    "first timeout 6 s": {"timeout": {"first": "6 s"}},
    "gain 1/4": {"timeout": {"gain": 0.25}},
    "gain 1/16": {"timeout": {"gain": 0.0625}},
    "backoff without limit": {"timeout": {"backoff_limit": 0}},
    "none, deviation floor 0.5 s": {"duplicates": 0, "timeout": {"deviation_floor": "500 ms"}},
    "after 1, deviation floor 2 s": {"duplicates": 1, "timeout": {"deviation_floor": "2 s"}},
    "after 2, deviation floor 3 s": {"duplicates": 2, "timeout": {"deviation_floor": "3 s"}},
    "after 2, 2 deviations": {"duplicates": 2, "timeout": {"deviations": 2.0}},
    "2 deviations, deviation floor 0": {"timeout": {"deviations": 2.0, "deviation_floor": "0 s"}},
    "2 deviations, deviation floor 2 s": {"timeout": {"deviations": 2.0, "deviation_floor": "2 s"}},
}
"""Settings of JK in scenarios 2 and 4."""

ACCESS_MS = (0, 50, 70, 71, 72, 73, 74, 76, 77, 78, 79, 80, 100)
"""Delays of the access lines in scenario 6; 75 in the reproduction."""

FIFTH_MS = (145, 149, 151, 155)
"""Delays of source 5's access lines in scenario 6; 150 in the reproduction."""

ENDS = ("access", "sink_access")

BUFFERS = (16, 17, 18, 22, 23, 24, 25)
"""Packets that may wait at each line of scenario 6; 20 in the reproduction."""


def main() -> None:
    """Print both tables."""
    columns = ["JK", "scenario 2 JK/FQ: agree, differ, undecided", "rtt 1", "rtt 5", "rtt 6", "dropped 3", "dropped 5",
               "retransmitted", "scenario 4 FCFS throughput", "agree there"]  # fmt: skip
    print_table(columns, ((name, jk_row(judged(with_jk(settings)))) for name, settings in JK.items()))
    columns = ["scenario 6", "G/FCFS throughput 4", "DEC/FQbit rtt 1", "rtt 4", "rtt 5", "differ, all policies"]
    print_table(columns, ((name, sixth_row(lines)) for name, lines in sixth()))


def sixth() -> Iterator[tuple[str, list[Line]]]:
    """The variants of scenario 6."""
    yield "as reproduced", judged({"6": {}})
    for ms in ACCESS_MS:
        yield f"access lines of {ms} ms", judged({"6": {f"defaults.{end}.delay": f"{ms} ms" for end in ENDS}})
    for ms in FIFTH_MS:
        yield f"source 5's of {ms} ms", judged({"6": {f"flows.5.{end}.delay": f"{ms} ms" for end in ENDS}})
    for packets in BUFFERS:
        yield f"buffers of {packets} packets", judged({"6": {"defaults.buffer": f"{packets} packets"}})
    yield "random starts in the first second", judged({"6": {}}, start="drawn")


def with_jk(settings: Mapping[str, object]) -> dict[str, Changes]:
    """What gives JK these settings in scenarios 2 and 4."""
    jk = {"kind": "jk", **settings}
    of_second = {
        f"axes.policy.values.JK/{name}.set": {"defaults.transport": jk, "defaults.queue": queue}
        for name, queue in (("FCFS", "fcfs"), ("FQ", "fq"))
    }
    return {"2": of_second, "4": {"flows.3.transport": jk, "flows.4.transport": jk}}


def judged(scenarios: Mapping[str, Changes], start: str = "together") -> list[Line]:
    """The cells of some scenarios, each with fields of it changed."""
    paper = load("demers1990")
    setup = Setup(SEEDS, start, cores())
    results = {}
    for item, job in paper.compare.jobs(setup).items():
        changes = scenarios.get(item.removeprefix("scenario "))
        if changes is not None:
            results[item] = run_varied("demers1990", job, changes)
    return [line for line in verdicts(paper, setup, results) if line.item != "claim"]


def jk_row(lines: Sequence[Line]) -> list[str]:
    """The cells of one row of the table of JK."""
    mine = [line for line in lines if (line.item, line.policy) == ("scenario 2", "JK/FQ")]
    fcfs = [line for line in lines if (line.item, line.policy) == ("scenario 4", "FCFS")]
    resent = sum(line.measured or 0 for line in mine if line.quantity == "retransmitted" and line.source in "123456")
    shared = " ".join(shown(line) for line in fcfs if line.quantity == "throughput")
    return [
        " ".join(str(sum(line.verdict == verdict for line in mine)) for verdict in ("agrees", "differs", "undecided")),
        cell(mine, "rtt", "1"), cell(mine, "rtt", "5"), cell(mine, "rtt", "6"), cell(mine, "dropped", "3"),
        cell(mine, "dropped", "5"), f"{resent:.0f}", shared,
        f"{sum(line.verdict == 'agrees' for line in fcfs)} of {len(fcfs)}",
    ]  # fmt: skip


def sixth_row(lines: Sequence[Line]) -> list[str]:
    """The cells of one row of the table of scenario 6."""
    fcfs = [line for line in lines if line.policy == "G/FCFS"]
    bit = [line for line in lines if line.policy == "DEC/FQbit"]
    return [
        cell(fcfs, "throughput", "4"),
        cell(bit, "rtt", "1"),
        cell(bit, "rtt", "4"),
        cell(bit, "rtt", "5"),
        str(differing(lines)),
    ]


def cell(lines: Sequence[Line], quantity: str, source: str) -> str:
    """What was measured, in bold where it differs."""
    line = next(line for line in lines if (line.quantity, line.source) == (quantity, source))
    return f"**{shown(line)}**" if line.verdict == "differs" else shown(line)


def shown(line: Line) -> str:
    """A round trip to hundredths, a count to one."""
    if line.measured is None:
        return "-"
    return f"{line.measured:.2f}" if line.quantity == "rtt" else f"{line.measured:.0f}"


def differing(lines: Sequence[Line]) -> int:
    """How many cells differ."""
    return sum(line.verdict == "differs" for line in lines)


if __name__ == "__main__":
    main()
