"""What is measured of the buffers' paper, and which of its sentences are tested. No simulation happens here.

The paper prints one number, 75 %; all else is said in words. What each word is taken for stands in README.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fairq.papers.paper_tables import Cell, Runs, Table, Tables, by_seed, over_time, seeds, where
from fairq.papers.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.papers.verdicts import Claim
from fairq.theories.processor_sharing import mean_in_progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairq.figures import Style

NAME = "buffers"
TITLE = "Buffer Sizing, High Speed TCP and Fair Queueing (extended abstract)"
SEEDS, QUICK_SEEDS = 5, 5
STARTS = ("together",)
QUANTITIES = {
    "share": "share of what the background leaves",
    "loss": "loss of the background (%)",
    "delay": "delay of the background (ms)",
    "queue": "mean queue (packets)",
    "ratio": "Reno's throughput by HSTCP's",
    "dropped": "drops of the established connection",
    "fair": "its throughput by half of what the background leaves",
    "in progress": "mean in progress",
    "of the model": "1/(1 - load) - 1",
    "refused": "refused, for a hundred were in progress (%)",
    "waiting": "mean waiting (packets)",
    "most waiting": "most waiting (packets)",
}

LINE_BIT_PER_S = 50e6
BUFFERS = ("20", "100", "312", "625")
BUFFERLESS = "2"
"""The packet being sent stands beside the buffer, and of a pair clocked by an acknowledgement the second comes just
before the place of the first is free: two packets is as little as a line without a buffer has."""

QUEUES, TCPS, CONNECTIONS, LOADS = ("FIFO", "FQ"), ("Reno", "HSTCP"), ("1", "2", "4"), ("20 %", "50 %")
ALONE = "no background"

CAPTIONS = {
    ALONE: "permanent connections alone, by buffer in packets",
    "transfers of 20 %": "permanent connections beside transfers of 20 % of the line, by buffer in packets",
    "transfers of 50 %": "permanent connections beside transfers of 50 % of the line, by buffer in packets",
    "packets of 20 %": "one permanent connection beside Poisson packets of 20 % of the line",
    "packets of 50 %": "one permanent connection beside Poisson packets of 50 % of the line",
    "mixed": "Reno beside HSTCP and Poisson packets of 20 %",
    "newcomer": "what another's slow start costs a connection that has the line",
    "progress": "transfers in progress that only the line holds back, by load",
    "schedule": "packets of slow flows in the schedule, by load",
}
"""What is measured; the paper has no table and no figure."""

QUICK = (("measure.warm_up", "10 s"), ("measure.duration", "25 s"))
SAMPLED = "100 ms"
"""How often the queue of figure "evolution" is looked at."""


@dataclass(frozen=True)
class Point:
    """What one seed of one point measured."""

    tcp: Mapping[str, float]
    """bit/s of each permanent connection."""
    dropped: Mapping[str, int]
    background: float
    """bit/s of all of it."""
    loss: float
    delay: float
    """Mean, in seconds; nan without a background."""
    queue: float

    @property
    def share(self) -> float:
        """What the permanent connections get of what the background leaves."""
        return math.fsum(self.tcp.values()) / (LINE_BIT_PER_S - self.background)


Key = tuple[str, ...]
Run = Mapping[Key, Point]
"""One seed: points by the names of the axes, in the order of the file."""


def jobs(setup: Setup) -> dict[str, Job]:
    """Each scenario; in short two of them."""
    if setup.quick:
        return {name: Job(f"{name}.toml", seeds(setup, *QUICK)) for name in ("mixed", "schedule")}
    names = ("alone", "flows", "packets", "mixed", "newcomer", "progress", "schedule")
    found = {name: Job(f"{name}.toml", seeds(setup)) for name in names}
    return found | {"evolution": Job("evolution.toml", seeds(setup), SAMPLED)}


def runs_of(document: Mapping[str, Any]) -> list[Run]:
    """Each seed of a scenario."""
    return by_seed(document, _point)


def _point(seed: Mapping[str, Any]) -> Point:
    flows = seed["flows"]
    permanent = where(flows, traffic="ftp")
    others = [flow for flow in flows if flow["traffic"] != "ftp"]
    sent = sum(flow["sent"] for flow in others)
    came = [(flow["throughput_packets"], flow["delay_s_mean"]) for flow in others if flow["throughput_packets"]]
    packets = sum(count for count, _ in came)
    return Point(
        tcp={flow["flow"]: flow["throughput_bit_per_s"] for flow in permanent},
        dropped={flow["flow"]: flow["dropped"] for flow in permanent},
        background=math.fsum(flow["throughput_bit_per_s"] for flow in others),
        loss=sum(flow["dropped"] for flow in others) / sent if sent else 0.0,
        delay=math.fsum(count * delay for count, delay in came) / packets if packets else math.nan,
        queue=_queue(seed)["waiting_packets_mean"],
    )


def _queue(seed: Mapping[str, Any]) -> Any:
    return where(seed["queues"], direction="forward")[0]


def _transfers(seed: Mapping[str, Any]) -> Any:
    return where(seed["transfers"], size="all")[0]


MEASURES: dict[str, Callable[[Any, str], float]] = {
    "share": lambda point, _room: point.share,
    "loss": lambda point, _room: 100 * point.loss,
    "delay": lambda point, _room: 1000 * point.delay,
    "queue": lambda point, _room: point.queue,
    "ratio": lambda point, _room: _by_hstcp(point),
    "dropped": lambda point, _room: float(point.dropped["established"]),
    "fair": lambda point, _room: _of_fair(point),
    "in progress": lambda row, _load: row["in_progress_mean"],
    "of the model": lambda _row, load: mean_in_progress(float(load)),
    "refused": lambda row, _load: 100 * row["refused"] / (row["completed"] + row["refused"]),
    "waiting": lambda row, _load: row["waiting_packets_mean"],
    "most waiting": lambda row, _load: row["waiting_packets_max"],
}
"""The quantities of a point at a buffer, and of a row of transfers or queues at a load."""


def _cell(policy: str, quantity: str, key: Key) -> Cell:
    return Cell(policy, quantity, key[-1], lambda run, key: MEASURES[quantity](run[key], key[-1]), (key,))


def _grid(item: str, runs: str, quantities: Sequence[str], before: Key = ()) -> Table:
    """Connections, control and queue down, buffers across. The runs' keys begin with `before`."""
    at = len(before)
    return Table(item, runs, lambda runs: [
        _cell(_policy(key[at:-1]), quantity, key) for quantity in quantities for key in runs[0] if key[:at] == before
    ])  # fmt: skip


def _by_load(name: str, quantities: Sequence[str]) -> Table:
    """The loads across, of FQ alone."""
    return Table(name, name, lambda runs: [_cell("FQ", quantity, key) for key in runs[0] for quantity in quantities])


def _policy(key: Key) -> str:
    """Connections, control and queue in words, as in 2 Reno, FIFO; one connection where the scenario has but one."""
    if len(key) == 1:
        return key[0]
    connections, tcp, queue = key if len(key) == 3 else ("1", *key)
    return f"{connections} {tcp}, {queue}"


def _rises(values: Sequence[float], slack: float = 0.0) -> bool:
    return all(after >= before - slack for before, after in pairwise(values))


def _pairs(run: Run) -> Iterator[tuple[Point, Point]]:
    """The points of FIFO, each with that of FQ; the queue is the last axis but one."""
    for key, cell in run.items():
        if key[-2] == "FIFO":
            yield cell, run[(*key[:-2], "FQ", key[-1])]


def _hundred_do(run: Run, load: str, queue: str) -> bool:
    """Whether one Reno has a third more with 100 packets than with 20, and three fifths of what it has with 625."""
    few, some, _, all_of_it = (run[load, "1", "Reno", queue, room].share for room in BUFFERS)
    return some >= 4 / 3 * few and some >= 0.6 * all_of_it


def _loss_of(run: Run, tcp: str) -> float:
    """The background's loss over a FIFO, mean over loads, connections and buffers."""
    return fmean([cell.loss for key, cell in run.items() if key[2:4] == (tcp, "FIFO")])


def _by_hstcp(cell: Point) -> float:
    return cell.tcp["Reno"] / cell.tcp["HSTCP"]


def _of_fair(cell: Point) -> float:
    """What the established connection has of its half of what the background leaves."""
    return 2 * cell.tcp["established"] / (LINE_BIT_PER_S - cell.background)


def _gain_of_four(run: Run, queue: str, room: str) -> float:
    """How much greater the share of four Reno is than that of one."""
    return run["4", "Reno", queue, room].share - run["1", "Reno", queue, room].share


def _drops(cells: Iterable[Point]) -> int:
    return sum(cell.dropped["established"] for cell in cells)


def _distance(flows: Run, packets: Run) -> float:
    """How far the share of one Reno is apart beside transfers and beside packets, mean over the points of both."""
    pairs = (((load, "1", "Reno", *rest), (load, "Reno", *rest)) for load in LOADS for rest in product(QUEUES, BUFFERS))
    return fmean([abs(flows[one].share - packets[other].share) for one, other in pairs])


CLAIMS = (
    Claim(ALONE, "1 Reno, FIFO", "the share grows with the buffer (the larger the buffer, the higher)",
          lambda r: _rises([r["1", "Reno", "FIFO", room].share for room in (BUFFERLESS, *BUFFERS)], 0.01)),
    Claim("transfers", "1 Reno, FIFO, 20 packets", "less than half of what is left, at 20 and 50 %",
          lambda r: all(r[load, "1", "Reno", "FIFO", "20"].share < 0.5 for load in LOADS)),
    Claim("packets", "1 Reno, FIFO, 20 packets", "less than half of what is left, at 20 and 50 %",
          lambda r: all(r[load, "Reno", "FIFO", "20"].share < 0.5 for load in LOADS)),
    Claim("transfers", "1 Reno, FIFO and FQ, 100 packets",
          "4/3 of the share with 20 and 3/5 of that with 625, or more (good performance)",
          lambda r: all(_hundred_do(r, load, queue) for load in LOADS for queue in QUEUES)),
    Claim("transfers", "FQ", "no packet of the background is lost, whatever control, buffer, load, number",
          lambda r: all(fq.loss == 0 for _, fq in _pairs(r))),
    Claim("packets", "FQ", "no packet of the background is lost, whatever control, buffer, load",
          lambda r: all(fq.loss == 0 for _, fq in _pairs(r))),
    Claim("packets", "FQ against FIFO", "the background's delay is less at every point",
          lambda r: all(fq.delay < fifo.delay for fifo, fq in _pairs(r))),
    Claim(ALONE, "FQ against FIFO",
          "four Reno gain more on one, with 20 and 100 packets (their losses are not in step)",
          lambda r: all(_gain_of_four(r, "FQ", room) > _gain_of_four(r, "FIFO", room) for room in ("20", "100"))),
    Claim("transfers", "FIFO and FQ, 20 packets", "the share grows with the connections, 1, 2, 4",
          lambda r: all(_rises([r[load, n, tcp, queue, "20"].share for n in CONNECTIONS])
                        for load, tcp, queue in product(LOADS, TCPS, QUEUES))),
    Claim("transfers", "1 HSTCP, FIFO, 20 packets", "a share below Reno's (behaves very poorly)",
          lambda r: all(r[load, "1", "HSTCP", "FIFO", "20"].share < r[load, "1", "Reno", "FIFO", "20"].share
                        for load in LOADS)),
    Claim(ALONE, "1 HSTCP against Reno, FIFO", "a greater share with 100 and 312 packets (gain in utilisation)",
          lambda r: all(r["1", "HSTCP", "FIFO", room].share > r["1", "Reno", "FIFO", room].share
                        for room in ("100", "312"))),
    Claim("transfers", "HSTCP against Reno, FIFO", "more of the background is lost, mean over all points",
          lambda r: _loss_of(r, "HSTCP") > _loss_of(r, "Reno")),
    Claim("mixed", "FIFO", "Reno gets less than 2/3 of HSTCP's throughput, mean over buffers (quite unfair)",
          lambda r: fmean([_by_hstcp(fifo) for fifo, _ in _pairs(r)]) < 2 / 3),
    Claim("mixed", "FQ, 312 and 625 packets", "Reno gets 0.8 to 1.02 of HSTCP's (fair, slightly inferior)",
          lambda r: all(0.8 <= _by_hstcp(r["FQ", room]) <= 1.02 for room in ("312", "625"))),
    Claim("newcomer", "FQ against FIFO", "the established connection loses fewer packets, buffers together",
          lambda r: _drops(fq for _, fq in _pairs(r)) < _drops(fifo for fifo, _ in _pairs(r))),
    Claim("newcomer", "FQ", "the established connection has 0.9 of its half or more, at every buffer",
          lambda r: all(_of_fair(fq) >= 0.9 for _, fq in _pairs(r))),
    Claim("packets", "1 Reno", "transfers and packets leave the same share, within 0.1, mean over points",
          lambda r: _distance(r[0], r[1]) <= 0.1, "transfers and packets"),
    Claim("evolution", "FQ against FIFO, 4 Reno", "the queue varies less, mean over 100 and 312 packets (smoother)",
          lambda held: fmean([pstdev(held["FQ", room]) for room in ("100", "312")])
          < fmean([pstdev(held["FIFO", room]) for room in ("100", "312")])),
    Claim("progress", "FQ", "at 90 % and below, of a thousand transfers at most one finds a hundred others in progress",
          lambda points: _refused(points[0]) <= 1e-3, "scale"),
    Claim("schedule", "FQ", "at 90 % and below, never more than 500 packets of slow flows in the schedule",
          lambda points: _most_waiting(points[1]) <= 500, "scale"),
)  # fmt: skip


Samples = Mapping[Key, Sequence[float]]
"""One seed of the sampled scenario: packets that waited, by queue and buffer."""


def samples_of(document: Mapping[str, Any]) -> list[Samples]:
    """Each seed of the sampled scenario, its warm-up left out."""
    begin = float(document["scenario"]["measure"]["warm_up"].split()[0])
    rows = [row for row in where(document["series"], direction="forward") if row["time_s"] > begin]
    held = over_time(rows, "held_packets", "seed", "queue", "buffer")
    return [
        {tuple(place): [packets for _, packets in curve] for (of, *place), curve in held.items() if of == seed}
        for seed in dict.fromkeys(of for of, *_ in held)
    ]


def _refused(points: Sequence[Mapping[str, Any]]) -> float:
    """Of the transfers of all points and seeds, the part that found a hundred in progress."""
    rows = [_transfers(seed) for point in points for seed in point["seeds"]]
    return float(sum(row["refused"] for row in rows) / sum(row["refused"] + row["completed"] for row in rows))


def _most_waiting(points: Sequence[Mapping[str, Any]]) -> float:
    rows = [row for point in points for seed in point["seeds"] for row in seed["queues"]]
    return float(max(row["waiting_packets_max"] for row in rows))


TABLES = Tables(
    NAME,
    CAPTIONS,
    {
        "alone": Runs(("alone",), runs_of),
        "transfers": Runs(("flows",), runs_of),
        "packets": Runs(("packets",), runs_of),
        "mixed": Runs(("mixed",), runs_of),
        "newcomer": Runs(("newcomer",), runs_of),
        "progress": Runs(("progress",), lambda document: by_seed(document, _transfers)),
        "schedule": Runs(("schedule",), lambda document: by_seed(document, _queue)),
        "evolution": Runs(("evolution",), samples_of),
        "transfers and packets": Runs(
            ("flows", "packets"), lambda flows, packets: list(zip(runs_of(flows), runs_of(packets), strict=True))
        ),
        "scale": Runs(("progress", "schedule"), lambda progress, schedule: [(progress["points"], schedule["points"])]),
    },
    [
        _grid(ALONE, "alone", ("share", "queue")),
        *(
            _grid(f"{kind} of {load}", kind, ("share", "loss", "delay", "queue"), (load,))
            for kind in ("transfers", "packets")
            for load in LOADS
        ),
        _grid("mixed", "mixed", ("share", "ratio", "loss")),
        _grid("newcomer", "newcomer", ("dropped", "fair")),
        _by_load("progress", ("in progress", "of the model", "refused")),
        _by_load("schedule", ("waiting", "most waiting")),
    ],
    CLAIMS,
    jobs=jobs,
)
captions, needs, lines = TABLES.captions, TABLES.needs, TABLES.lines


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """Shares, losses and delays by buffer; the queue over time; flows in progress by load."""
    from fairq import figures as draw

    for load in LOADS:
        item = f"transfers of {load}"
        groups = {f"{tcp}": [f"{n} {tcp}, {queue}" for queue in QUEUES for n in CONNECTIONS] for tcp in TCPS}
        for quantity, up in (("share", "share of what is left"), ("loss", "loss of the background (%)"),
                             ("delay", "delay of the background (ms)")):  # fmt: skip
            if chosen := where(rows, item=item, quantity=quantity):
                title = f"Permanent connections beside transfers of {load} of the line"
                name = f"{quantity}{load.split()[0]}"
                yield Plotted(name, item, draw.by_source(chosen, groups, "buffer (packets)", up, title, style=style))
    if "evolution" in results:
        yield _queue_figure(draw, results["evolution"]["series"], style)


def _queue_figure(draw: Any, series: Sequence[Mapping[str, Any]], style: Style) -> Plotted:
    by_queue = over_time(
        where(series, seed=series[0]["seed"], direction="forward", buffer="312"), "held_packets", "queue"
    )
    curves = {f"{queue}, buffer of 312 packets": by_queue[queue] for queue in QUEUES}
    figure: Figure = draw.curves_below_each_other(
        curves, "time (s)", "waiting (packets)", "The queue of four Reno connections beside Poisson packets (one seed)",
        style=style,
    )  # fmt: skip
    return Plotted("evolution", "", figure, curve_rows(curves, "queue", "time_s", "waiting_packets"))
