"""A cell of `tcp.csv` in fairq, at the starts of each of the kernel's runs.

The line, discipline and connections are the same, and both sides' runs are compared by their means.
A quantity beyond its tolerance whose distance is less than two standard errors of the kernel's mean
is undecided: the kernel's runs are too few to say.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from typing import Any

from linux.order import made_before
from linux.truth import Cell, Run, Seen
from programs import Fault

import fairq
from fairq import traffic_control as tc

RED = "limit 400000 min 20000 max 60000 avpkt 1000 burst 34 probability 0.1 bandwidth 20mbit"
QUEUES = {
    "cake": "cake bandwidth {rate}mbit",
    "choke": "choke limit 400 min 15 max 45 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit",
    "codel": "codel",
    "codel_ecn": "codel ecn",
    "fq": "fq",
    "fq_codel": "fq_codel",
    "fq_pie": "fq_pie",
    "fq_shared": "fq limit 400 flow_limit 400",
    "pfifo": "pfifo limit 100",
    "pie": "pie",
    "pie_ecn": "pie ecn",
    "red": f"red {RED}",
    "red_ecn": f"red {RED} ecn",
    "red_step": "red limit 400000 min 30000 max 30001 avpkt 1500 burst 21 probability 1.0 bandwidth 20mbit ecn",
}
"""tc's line of each discipline as it was recorded; `tcp.csv` names them only."""

SHAPES = {"cake"}
"""Disciplines that were the root of a fast device, and are the line themselves."""
FAST_MBIT = 10_000
"""The rate of that device."""

MADE_BEFORE_MS = 200
"""The qdiscs were made so long before time zero (guest.py: the links come up)."""

LAWS = {"highspeed": "hstcp", "westwood": "westwood_plus"}
"""Congestion controls that fairq calls otherwise."""

SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "nohystart": {"slow_start": "standard"},
    "nofriendly": {"reno_friendly": False},
}
"""What a cell's last word switches off, on both sides."""

FRAME = 1514
CERTAIN = 2.0
"""Standard errors of the kernel's mean, from which on a distance is no chance."""
SHARE, QUEUE_MS, QUEUE, FACTOR, FLOOR, COMPLETION = 0.05, 1.0, 0.2, 1.5, 0.0005, 0.1
"""Tolerances: of the line; milliseconds or a part of the kernel's; a factor, and what counts as no
loss or no marks; a part of the kernel's, or a round trip."""


@dataclass(frozen=True)
class Verdict:
    """A cell on both sides; each quantity as (Linux, fairq)."""

    of: Cell | Seen
    share: Mapping[str, tuple[float, float]]
    """By congestion control, or by a flow's name, its part of the line."""
    queue: tuple[float, float]
    """The mean wait in milliseconds."""
    loss: tuple[float, float]
    marks: tuple[float, float]
    up_queue: tuple[float, float] | None
    """The mean wait and the loss of what goes against the others, if anything does."""
    up_loss: tuple[float, float] | None
    completion: tuple[float, float] | None
    """The mean time of a transfer in milliseconds, if there are transfers."""
    misses: tuple[str, ...]
    """The quantities that are beyond their tolerance, and that the kernel's runs decide."""
    undecided: tuple[str, ...]
    """The quantities beyond their tolerance that the kernel's runs don't decide."""

    @property
    def cell(self) -> str:
        """The cell's name."""
        return self.of.name

    @property
    def window(self) -> str:
        """Its window of time in seconds, as `5-20`."""
        return self.of.window

    @property
    def group(self) -> str:
        """The kind of the cell."""
        return self.of.group

    @property
    def says(self) -> str:
        """`agrees`, `undecided` or `differs`."""
        return "differs" if self.misses else "undecided" if self.undecided else "agrees"

    @property
    def agrees(self) -> bool:
        """Whether all are within."""
        return self.says == "agrees"


def scenario(cell: Cell, seeds: range, starts_s: Sequence[float]) -> dict[str, Any]:
    """The cell as a scenario whose flows begin at the starts of a run."""
    switch: Mapping[str, Any] = next((SWITCHES[word] for word in cell.name.split(".") if word in SWITCHES), {})
    flows = [
        {
            "name": f"{law}_{at}",
            "from": "sender",
            "to": "receiver",
            "start": f"{start_s:.9f} s",
            "traffic": {"kind": "ftp", "packet": f"{FRAME} B"},
            "transport": _law(law, switch, cell.ecn),
        }
        for at, (law, start_s) in enumerate(zip(cell.flows, starts_s, strict=True))
    ]
    line = {
        "name": "line", "from": "sender", "to": "receiver", "rate": f"{_line_mbit(cell):g} Mbit/s",
        "delay": f"{_delay_ms(cell):g} ms", "queue": queue(cell.queue, cell.rate_mbit),
        "reverse_queue": "fifo + unlimited",
    }  # fmt: skip
    return document(cell.name, cell.window, seeds, [line], flows)


def document(
    title: str, window: str, seeds: range, links: list[dict[str, Any]], flows: list[dict[str, Any]]
) -> dict[str, Any]:
    """A scenario of flows between hosts like the kernel's, measured in a window, as `5-20`."""
    begin, end = (int(word) for word in window.split("-"))
    return {
        "edition": 2,
        "title": title,
        "measure": {
            "warm_up": f"{begin} s",
            "duration": f"{end - begin} s",
            "seed": seeds[0],
            "replications": len(seeds),
        },
        "defaults": {"access": {"rate": "unlimited"}, "acknowledgement": "66 B", "connection": "linux"},
        "links": links,
        "flows": flows,
    }


def _line_mbit(cell: Cell) -> float:
    """The rate of the device below the discipline."""
    return FAST_MBIT if cell.queue in SHAPES else cell.rate_mbit


def _transmission_ms(cell: Cell) -> float:
    return FRAME * 8 / (_line_mbit(cell) * 1e3)


def _delay_ms(cell: Cell) -> float:
    """How long a bit travels: a packet leaves the guest's class whole when its transmission begins.

    The round trip of a packet alone is netem's delay there, and here the delays and its transmission.
    """
    return (cell.rtt_ms - _transmission_ms(cell)) / 2


@cache
def queue(name: str, rate_mbit: float) -> str:
    """The text form of the discipline that a cell calls `name`, for a line of a rate."""
    if name not in QUEUES:
        raise Fault(f"tcp.csv: the discipline {name} is not known; there are {', '.join(QUEUES)}")
    commands = f"qdisc add dev r1 root {QUEUES[name].format(rate=f'{rate_mbit:g}')}"
    return made_before(tc.read(commands).text, MADE_BEFORE_MS)


def _law(law: str, switch: Mapping[str, Any], ecn: bool) -> dict[str, Any] | str:
    name = LAWS.get(law, law)
    settings = dict(switch) if law == "cubic" else {}
    if ecn and law != "dctcp":
        settings["ecn"] = True
    return {"kind": name, **settings} if settings else name


Quantities = Mapping[str, float | None]
"""Of a run: `queue`, `loss`, `marks` and the others by name, and `share.NAME` for each share."""


def verdict(cell: Cell, seeds: int, set: Mapping[str, str] | None = None) -> Verdict:
    """Run a cell at the kernel's starts, `seeds` times in all or more, and compare the means."""
    return judged(cell, run_by_run(cell, seeds, lambda run, some: _ours(cell, run, some, set or {})))


def run_by_run(cell: Cell | Seen, seeds: int, ours: Callable[[Run, range], Quantities]) -> list[Quantities]:
    """What fairq does at the starts of each run of the kernel, each with seeds of its own."""
    number = ceil(seeds / len(cell.runs))
    try:
        return [ours(run, range(1 + at * number, 1 + (at + 1) * number)) for at, run in enumerate(cell.runs)]
    except fairq.FairqError as error:
        raise Fault(f"{cell.name}: {error}") from None


def _ours(cell: Cell, run: Run, seeds: range, set: Mapping[str, str]) -> Quantities:
    result = fairq.run(scenario(cell, seeds, run.starts_s), set=set)
    rate = cell.rate_mbit * 1e6
    begin, end = (int(word) for word in cell.window.split("-"))
    share = dict.fromkeys(cell.flows, 0.0)
    for law, row in zip(cell.flows, result.flows, strict=True):
        share[law] += row["goodput_packets"] * FRAME * 8 / (end - begin) / rate
    sent, dropped, marked = (sum(row[name] for row in result.flows) for name in ("sent", "dropped", "marked"))
    arrived = sum(row["throughput_packets"] for row in result.flows)
    delay = sum(row["throughput_packets"] * (row["delay_s_mean"] or 0.0) for row in result.flows) / max(arrived, 1)
    waited = 1e3 * delay - _transmission_ms(cell) - _delay_ms(cell)
    return {
        **{f"share.{law}": part for law, part in share.items()},
        "queue": waited, "loss": dropped / sent, "marks": marked / sent,
    }  # fmt: skip


def linux(cell: Cell | Seen, run: Run) -> Quantities:
    """What the kernel did in a run."""
    rates = {law: cell.rate_mbit for law in run.goodput_mbit}
    if isinstance(cell, Seen):
        rates = {flow.name: cell.cell.rate(flow) / 1e6 for flow in cell.cell.flows}
    return {
        **{f"share.{name}": got / rates[name] for name, got in run.goodput_mbit.items()},
        "queue": run.queue_ms, "loss": run.loss, "marks": run.marks, "up_queue": run.up_queue_ms,
        "up_loss": run.up_loss, "completion": run.completion_ms,
    }  # fmt: skip


def judged(cell: Cell | Seen, ours: Sequence[Quantities]) -> Verdict:
    """The verdict by the tolerances on what fairq did in each run."""
    theirs = [linux(cell, run) for run in cell.runs]
    pairs: dict[str, tuple[float, float]] = {}
    misses: dict[str, None] = {}
    undecided: dict[str, None] = {}
    for name in theirs[0]:
        values, mine = _known(theirs, name), _known(ours, name)
        if not values or not mine:
            continue
        pairs[name] = (statistics.mean(values), statistics.mean(mine))
        if not _is_near(name, *pairs[name], cell.rtt_ms):
            is_sure = abs(pairs[name][0] - pairs[name][1]) >= CERTAIN * _standard_error(values)
            (misses if is_sure else undecided)[name.partition(".")[0]] = None
    share = {name.partition(".")[2]: pair for name, pair in pairs.items() if name.startswith("share.")}
    return Verdict(
        cell, share, pairs["queue"], pairs["loss"], pairs["marks"], pairs.get("up_queue"), pairs.get("up_loss"),
        pairs.get("completion"), tuple(misses), tuple(undecided),
    )  # fmt: skip


def told(cell: Cell | Seen) -> str:
    """Its discipline, as tc has it."""
    return QUEUES.get(cell.queue, cell.queue).format(rate=f"{cell.rate_mbit:g}")


def text(cell: Cell | Seen) -> str:
    """Its discipline, in fairq's text form."""
    if isinstance(cell, Cell):
        return queue(cell.queue, cell.rate_mbit)
    return read_text(cell.queue)


def read_text(queue: str) -> str:
    """The text form of a queue of connections.py, whose commands may be several."""
    commands = f"qdisc add dev r1 root handle 10: {queue.replace('DEV', 'r1')}"
    return made_before(tc.read(commands).text, MADE_BEFORE_MS)


def controls(cell: Cell | Seen) -> dict[str, int]:
    """The congestion controls by fairq's names, each with its number of flows."""
    return {LAWS.get(law, law): number for law, number in cell.controls.items()}


def _known(runs: Sequence[Quantities], name: str) -> list[float]:
    return [value for run in runs if (value := run.get(name)) is not None]


def _standard_error(values: Sequence[float]) -> float:
    """Of the mean of runs; of one run nothing is known."""
    return statistics.stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def _is_near(name: str, linux: float, ours: float, rtt_ms: float) -> bool:
    match name.partition(".")[0]:
        case "share":
            return abs(linux - ours) <= SHARE
        case "queue" | "up_queue":
            return abs(linux - ours) <= max(QUEUE_MS, QUEUE * linux)
        case "completion":
            return abs(linux - ours) <= max(rtt_ms, COMPLETION * linux)
    return max(linux, ours) < FLOOR or max(linux, ours) <= FACTOR * min(linux, ours)
