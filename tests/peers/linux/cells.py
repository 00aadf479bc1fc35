"""A cell of `tcp.csv` in fairq: the same line, discipline and connections, 20 seeds, and how near the means are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from linux.order import made_before
from linux.truth import Cell, Seen
from programs import Fault

import fairq
from fairq import tc

QUEUES = {
    "cake": "cake unlimited",
    "choke": "choke limit 1000 min 15 max 45 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit",
    "codel": "codel",
    "codel_ecn": "codel ecn",
    "fq": "fq",
    "fq_codel": "fq_codel",
    "fq_pie": "fq_pie",
    "fq_shared": "fq limit 400 flow_limit 400",
    "pfifo": "pfifo limit 100",
    "pie": "pie",
    "pie_ecn": "pie ecn",
    "red": "red limit 400000 min 20000 max 60000 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit",
    "red_ecn": "red limit 400000 min 20000 max 60000 avpkt 1000 burst 25 probability 0.1 bandwidth 20mbit ecn",
    "red_step": "red limit 400000 min 30000 max 30001 avpkt 1500 burst 21 probability 1.0 bandwidth 20mbit ecn",
}
"""tc's line of each discipline. `tcp.csv` names them only; red's and choke's numbers are those of the order cases, and
the step at 30 kB is as DCTCP's authors set one up."""

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
SHARE, QUEUE_MS, QUEUE, FACTOR, FLOOR, COMPLETION = 0.05, 1.0, 0.2, 1.5, 0.0005, 0.1
"""Tolerances: of the line; milliseconds or a part of the kernel's; a factor, and what counts as no loss or no marks; a
part of the kernel's, or a round trip."""


@dataclass(frozen=True)
class Verdict:
    """A cell on both sides; each quantity as (Linux, fairq)."""

    cell: str
    window: str
    group: str
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
    """The quantities that are beyond their tolerance."""

    @property
    def agrees(self) -> bool:
        """Whether all are within."""
        return not self.misses


def scenario(cell: Cell, seeds: int) -> dict[str, Any]:
    """The cell as a scenario."""
    begin, end = (int(word) for word in cell.window.split("-"))
    switch: Mapping[str, Any] = next((SWITCHES[word] for word in cell.name.split(".") if word in SWITCHES), {})
    flows = [
        {
            "name": f"{law}_{at}",
            "from": "sender",
            "to": "receiver",
            "traffic": {"kind": "ftp", "packet": f"{FRAME} B"},
            "transport": _law(law, switch, cell.ecn),
        }
        for at, law in enumerate(cell.flows)
    ]
    line = {
        "name": "line", "from": "sender", "to": "receiver", "rate": f"{cell.rate_mbit:g} Mbit/s",
        "delay": f"{_delay_ms(cell):g} ms", "queue": queue(cell.queue), "reverse_queue": "fifo + unlimited",
    }  # fmt: skip
    return {
        "edition": 2,
        "title": cell.name,
        "measure": {"warm_up": f"{begin} s", "duration": f"{end - begin} s", "replications": seeds},
        "defaults": {"access": {"rate": "unlimited"}, "acknowledgement": "66 B", "connection": "linux"},
        "links": [line],
        "flows": flows,
    }


def _delay_ms(cell: Cell) -> float:
    """How long a bit travels: a packet leaves the guest's class whole when its transmission begins.

    The round trip of a packet alone is netem's delay there, and here the delays and its transmission.
    """
    return (cell.rtt_ms - FRAME * 8 / (cell.rate_mbit * 1e3)) / 2


@cache
def queue(name: str) -> str:
    """The text form of the discipline that a cell calls `name`."""
    if name not in QUEUES:
        raise Fault(f"tcp.csv: the discipline {name} is not known; there are {', '.join(QUEUES)}")
    return made_before(tc.read(f"qdisc add dev r1 root {QUEUES[name]}").text, MADE_BEFORE_MS)


def _law(law: str, switch: Mapping[str, Any], ecn: bool) -> dict[str, Any] | str:
    name = LAWS.get(law, law)
    settings = dict(switch) if law == "cubic" else {}
    if ecn and law != "dctcp":
        settings["ecn"] = True
    return {"kind": name, **settings} if settings else name


def verdict(cell: Cell, seeds: int, set: Mapping[str, str] | None = None) -> Verdict:
    """Run a cell and compare its means with the kernel's."""
    try:
        result = fairq.run(scenario(cell, seeds), set=set or {})
    except fairq.FairqError as error:
        raise Fault(f"{cell.name}: {error}") from None
    rate = cell.rate_mbit * 1e6
    begin, end = (int(word) for word in cell.window.split("-"))
    share = dict.fromkeys(cell.flows, 0.0)
    for law, row in zip(cell.flows, result.flows, strict=True):
        share[law] += row["goodput_packets"] * FRAME * 8 / (end - begin) / rate
    sent, dropped, marked = (sum(row[name] for row in result.flows) for name in ("sent", "dropped", "marked"))
    arrived = sum(row["throughput_packets"] for row in result.flows)
    delay = sum(row["throughput_packets"] * (row["delay_s_mean"] or 0.0) for row in result.flows) / max(arrived, 1)
    waited = 1e3 * (delay - FRAME * 8 / rate) - _delay_ms(cell)
    shares = {law: (cell.goodput_mbit[law] * 1e6 / rate, ours) for law, ours in share.items()}
    return judged(cell, shares, (cell.queue_ms, waited), (cell.loss, dropped / sent), (cell.marks, marked / sent))


def judged(
    cell: Cell | Seen,
    share: Mapping[str, tuple[float, float]],
    queue: tuple[float, float],
    loss: tuple[float, float],
    marks: tuple[float, float],
    up_queue: tuple[float, float] | None = None,
    up_loss: tuple[float, float] | None = None,
    completion: tuple[float, float] | None = None,
) -> Verdict:
    """The verdict by the tolerances."""
    near = {
        "share": all(abs(linux - ours) <= SHARE for linux, ours in share.values()),
        "queue": _waits_as_long(*queue),
        "loss": _near(*loss),
        "marks": _near(*marks),
        "up_queue": up_queue is None or _waits_as_long(*up_queue),
        "up_loss": up_loss is None or _near(*up_loss),
        "completion": completion is None
        or abs(completion[0] - completion[1]) <= max(cell.rtt_ms, COMPLETION * completion[0]),
    }
    misses = tuple(name for name, is_near in near.items() if not is_near)
    return Verdict(cell.name, cell.window, cell.group, share, queue, loss, marks, up_queue, up_loss, completion, misses)


def _waits_as_long(linux: float, ours: float) -> bool:
    return abs(linux - ours) <= max(QUEUE_MS, QUEUE * linux)


def _near(linux: float, ours: float) -> bool:
    return max(linux, ours) < FLOOR or max(linux, ours) <= FACTOR * min(linux, ours)
