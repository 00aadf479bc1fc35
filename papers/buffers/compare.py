"""What is measured of the buffers' paper, and which of its sentences are tested. No simulation happens here.

The paper prints one number, 75 %; all else is said in words. What each word is taken for stands in README.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fairq.papers import SEEDS as SEEDS_PATH
from fairq.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.processor_sharing import mean_in_progress
from fairq.verdicts import Claim, Line, Published, beyond, claim_line, line

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
OF_CELLS = ("alone", "flows", "packets", "mixed", "newcomer")
"""The scenarios of which each point and seed is a cell."""

QUICK = (("measure.warm_up", "10 s"), ("measure.duration", "25 s"))
SAMPLED = "100 ms"
"""How often the queue of figure "evolution" is looked at."""

REASONS: dict[tuple[str, str], str] = {}
"""Why cells differ, by item and policy, as far as it was tested."""


@dataclass(frozen=True)
class Cell:
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
Run = Mapping[Key, Cell]
"""One seed: cells by the names of the axes, in the order of the file."""


def jobs(setup: Setup) -> dict[str, Job]:
    """Each scenario; in short two of them."""
    seeds = ((SEEDS_PATH, str(setup.seeds)),)
    if setup.quick:
        return {name: Job(f"{name}.toml", (*seeds, *QUICK)) for name in ("mixed", "schedule")}
    names = ("alone", "flows", "packets", "mixed", "newcomer", "progress", "schedule")
    found = {name: Job(f"{name}.toml", seeds) for name in names}
    return found | {"evolution": Job("evolution.toml", seeds, SAMPLED)}


def captions(setup: Setup) -> dict[str, str]:
    """What is measured; the paper has no table and no figure."""
    found = {
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
    return {item: found[item] for item in (jobs(setup) if setup.quick else found)}


def needs(_setup: Setup, item: str) -> Collection[str]:
    """The scenario of each table."""
    of = {ALONE: "alone"}
    for load in LOADS:
        of |= {f"transfers of {load}": "flows", f"packets of {load}": "packets"}
    return [of.get(item, item)]


def lines(_setup: Setup, published: Sequence[Published], results: Results) -> list[Line]:
    """What was measured, the printed number, then the claims."""
    runs = {name: runs_of(results[name]) for name in OF_CELLS if name in results}
    found = []
    if "alone" in runs:
        found += _grid(ALONE, runs["alone"], (), ("share", "queue"), published)
    for name, kind in (("flows", "transfers"), ("packets", "packets")):
        for load in LOADS if name in runs else ():
            found += _grid(f"{kind} of {load}", runs[name], (load,), ("share", "loss", "delay", "queue"), published)
    for name, measure in OTHERS.items():
        if name in runs:
            found += [
                beyond(NAME, name, " ".join(key[:-1]), quantity, key[-1], [of(run[key]) for run in runs[name]])
                for quantity, of in measure.items()
                for key in runs[name][0]
            ]
    for name in ("progress", "schedule"):
        found += _scale(name, results[name]) if name in results else []
    for needs, claim in CLAIMS:
        if all(need in runs for need in needs):
            seeds = zip(*(runs[need] for need in needs), strict=True)
            found.append(claim_line(NAME, claim, seeds, CLAIM_REASONS.get(claim.text, "")))
    if "evolution" in results:
        samples = samples_of(results["evolution"])
        found += [claim_line(NAME, claim, samples, CLAIM_REASONS.get(claim.text, "")) for claim in CLAIMS_OF_SAMPLES]
    if {"progress", "schedule"} <= set(results):
        scaled = [{name: results[name]["points"] for name in ("progress", "schedule")}]
        found += [claim_line(NAME, claim, scaled, "all seeds together") for claim in CLAIMS_OF_SCALE]
    return found


def runs_of(document: Mapping[str, Any]) -> list[Run]:
    """Each seed of a scenario."""
    points = document["points"]
    return [
        {tuple(map(str, point["axes"].values())): _cell(point["seeds"][number]) for point in points}
        for number in range(len(points[0]["seeds"]))
    ]


def _cell(seed: Mapping[str, Any]) -> Cell:
    flows = seed["flows"]
    permanent = [flow for flow in flows if flow["traffic"] == "ftp"]
    others = [flow for flow in flows if flow["traffic"] != "ftp"]
    sent = sum(flow["sent"] for flow in others)
    came = [(flow["throughput_packets"], flow["delay_s_mean"]) for flow in others if flow["throughput_packets"]]
    packets = sum(count for count, _ in came)
    queue = next(each for each in seed["queues"] if each["direction"] == "forward")
    return Cell(
        tcp={flow["flow"]: flow["throughput_bit_per_s"] for flow in permanent},
        dropped={flow["flow"]: flow["dropped"] for flow in permanent},
        background=math.fsum(flow["throughput_bit_per_s"] for flow in others),
        loss=sum(flow["dropped"] for flow in others) / sent if sent else 0.0,
        delay=math.fsum(count * delay for count, delay in came) / packets if packets else math.nan,
        queue=queue["waiting_packets_mean"],
    )


MEASURES: dict[str, Callable[[Cell], float]] = {
    "share": lambda cell: cell.share,
    "loss": lambda cell: 100 * cell.loss,
    "delay": lambda cell: 1000 * cell.delay,
    "queue": lambda cell: cell.queue,
}

OTHERS: dict[str, dict[str, Callable[[Cell], float]]] = {
    "mixed": {
        "share": lambda cell: cell.share,
        "ratio": lambda cell: cell.tcp["Reno"] / cell.tcp["HSTCP"],
        "loss": lambda cell: 100 * cell.loss,
    },
    "newcomer": {
        "dropped": lambda cell: float(cell.dropped["established"]),
        "fair": lambda cell: _of_fair(cell),
    },
}


def _grid(
    item: str, runs: Sequence[Run], before: Key, quantities: Sequence[str], published: Sequence[Published]
) -> list[Line]:
    """A table: connections, control and queue down, buffers across. The runs' keys begin with `before`."""
    printed = {(cell.policy, cell.quantity, cell.source): cell for cell in published if cell.item == item}
    found = []
    for quantity in quantities:
        for key in (key for key in runs[0] if key[: len(before)] == before):
            policy, source = _policy(key[len(before) : -1]), key[-1]
            values = [MEASURES[quantity](run[key]) for run in runs]
            cell = printed.get((policy, quantity, source))
            found.append(
                beyond(NAME, item, policy, quantity, source, values)
                if cell is None
                else line(NAME, cell, values, REASONS.get((item, policy), ""))
            )
    return found


def _policy(key: Key) -> str:
    """Connections, control and queue in words, as in 2 Reno, FIFO; one connection where the scenario has but one."""
    connections, tcp, queue = key if len(key) == 3 else ("1", *key)
    return f"{connections} {tcp}, {queue}"


def _scale(name: str, document: Mapping[str, Any]) -> list[Line]:
    found = []
    for point in document["points"]:
        load = str(point["axes"]["load"])
        if name == "progress":
            of_all = [next(row for row in seed["transfers"] if row["size"] == "all") for seed in point["seeds"]]
            values = {
                "in progress": [row["in_progress_mean"] for row in of_all],
                "of the model": [mean_in_progress(float(load)) for _ in of_all],
                "refused": [100 * row["refused"] / (row["completed"] + row["refused"]) for row in of_all],
            }
        else:
            queues = [next(row for row in seed["queues"] if row["direction"] == "forward") for seed in point["seeds"]]
            values = {
                "waiting": [row["waiting_packets_mean"] for row in queues],
                "most waiting": [row["waiting_packets_max"] for row in queues],
            }
        found += [beyond(NAME, name, "FQ", quantity, load, each) for quantity, each in values.items()]
    return found


def _rises(values: Sequence[float], slack: float = 0.0) -> bool:
    return all(after >= before - slack for before, after in pairwise(values))


def _pairs(run: Run) -> Iterator[tuple[Cell, Cell]]:
    """The cells of FIFO, each with that of FQ; the queue is the last axis but one."""
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


def _by_hstcp(cell: Cell) -> float:
    return cell.tcp["Reno"] / cell.tcp["HSTCP"]


def _of_fair(cell: Cell) -> float:
    """What the established connection has of its half of what the background leaves."""
    return 2 * cell.tcp["established"] / (LINE_BIT_PER_S - cell.background)


def _gain_of_four(run: Run, queue: str, room: str) -> float:
    """How much greater the share of four Reno is than that of one."""
    return run["4", "Reno", queue, room].share - run["1", "Reno", queue, room].share


def _drops(cells: Iterable[Cell]) -> int:
    return sum(cell.dropped["established"] for cell in cells)


def _distance(flows: Run, packets: Run) -> float:
    """How far the share of one Reno is apart beside transfers and beside packets, mean over the points of both."""
    pairs = (((load, "1", "Reno", *rest), (load, "Reno", *rest)) for load in LOADS for rest in product(QUEUES, BUFFERS))
    return fmean([abs(flows[one].share - packets[other].share) for one, other in pairs])


CLAIMS: tuple[tuple[tuple[str, ...], Claim], ...] = (
    (("alone",), Claim(
        ALONE, "1 Reno, FIFO", "the share grows with the buffer (the larger the buffer, the higher)",
        lambda r: _rises([r[0]["1", "Reno", "FIFO", room].share for room in (BUFFERLESS, *BUFFERS)], 0.01))),
    (("flows",), Claim(
        "transfers", "1 Reno, FIFO, 20 packets", "less than half of what is left, at 20 and 50 %",
        lambda r: all(r[0][load, "1", "Reno", "FIFO", "20"].share < 0.5 for load in LOADS))),
    (("packets",), Claim(
        "packets", "1 Reno, FIFO, 20 packets", "less than half of what is left, at 20 and 50 %",
        lambda r: all(r[0][load, "Reno", "FIFO", "20"].share < 0.5 for load in LOADS))),
    (("flows",), Claim(
        "transfers", "1 Reno, FIFO and FQ, 100 packets",
        "4/3 of the share with 20 and 3/5 of that with 625, or more (good performance)",
        lambda r: all(_hundred_do(r[0], load, queue) for load in LOADS for queue in QUEUES))),
    (("flows",), Claim(
        "transfers", "FQ", "no packet of the background is lost, whatever control, buffer, load, number",
        lambda r: all(fq.loss == 0 for _, fq in _pairs(r[0])))),
    (("packets",), Claim(
        "packets", "FQ", "no packet of the background is lost, whatever control, buffer, load",
        lambda r: all(fq.loss == 0 for _, fq in _pairs(r[0])))),
    (("packets",), Claim(
        "packets", "FQ against FIFO", "the background's delay is less at every point",
        lambda r: all(fq.delay < fifo.delay for fifo, fq in _pairs(r[0])))),
    (("alone",), Claim(
        ALONE, "FQ against FIFO", "four Reno gain more on one, with 20 and 100 packets (their losses are not in step)",
        lambda r: all(_gain_of_four(r[0], "FQ", room) > _gain_of_four(r[0], "FIFO", room) for room in ("20", "100")))),
    (("flows",), Claim(
        "transfers", "FIFO and FQ, 20 packets", "the share grows with the connections, 1, 2, 4",
        lambda r: all(
            _rises([r[0][load, n, tcp, queue, "20"].share for n in CONNECTIONS])
            for load, tcp, queue in product(LOADS, TCPS, QUEUES)))),
    (("flows",), Claim(
        "transfers", "1 HSTCP, FIFO, 20 packets", "a share below Reno's (behaves very poorly)",
        lambda r: all(
            r[0][load, "1", "HSTCP", "FIFO", "20"].share < r[0][load, "1", "Reno", "FIFO", "20"].share
            for load in LOADS))),
    (("alone",), Claim(
        ALONE, "1 HSTCP against Reno, FIFO", "a greater share with 100 and 312 packets (gain in utilisation)",
        lambda r: all(
            r[0]["1", "HSTCP", "FIFO", room].share > r[0]["1", "Reno", "FIFO", room].share
            for room in ("100", "312")))),
    (("flows",), Claim(
        "transfers", "HSTCP against Reno, FIFO", "more of the background is lost, mean over all points",
        lambda r: _loss_of(r[0], "HSTCP") > _loss_of(r[0], "Reno"))),
    (("mixed",), Claim(
        "mixed", "FIFO", "Reno gets less than 2/3 of HSTCP's throughput, mean over buffers (quite unfair)",
        lambda r: fmean([_by_hstcp(fifo) for fifo, _ in _pairs(r[0])]) < 2 / 3)),
    (("mixed",), Claim(
        "mixed", "FQ, 312 and 625 packets", "Reno gets 0.8 to 1.02 of HSTCP's (fair, slightly inferior)",
        lambda r: all(0.8 <= _by_hstcp(r[0]["FQ", room]) <= 1.02 for room in ("312", "625")))),
    (("newcomer",), Claim(
        "newcomer", "FQ against FIFO", "the established connection loses fewer packets, buffers together",
        lambda r: _drops(fq for _, fq in _pairs(r[0])) < _drops(fifo for fifo, _ in _pairs(r[0])))),
    (("newcomer",), Claim(
        "newcomer", "FQ", "the established connection has 0.9 of its half or more, at every buffer",
        lambda r: all(_of_fair(fq) >= 0.9 for _, fq in _pairs(r[0])))),
    (("flows", "packets"), Claim(
        "packets", "1 Reno", "transfers and packets leave the same share, within 0.1, mean over points",
        lambda r: _distance(r[0], r[1]) <= 0.1)),
)  # fmt: skip
"""Claims with the scenarios that each needs, of which its test is given one seed, in this order."""


@dataclass(frozen=True)
class Samples:
    """One seed of the sampled scenario: packets that waited, by queue and buffer."""

    waiting: Mapping[Key, Sequence[float]]

    def swing(self, key: Key) -> float:
        """The standard deviation of the queue."""
        return pstdev(self.waiting[key])


def samples_of(document: Mapping[str, Any]) -> list[Samples]:
    """Each seed of the sampled scenario, its warm-up left out."""
    begin = float(document["scenario"]["measure"]["warm_up"].split()[0])
    waiting: dict[int, dict[Key, list[float]]] = {}
    for row in document["series"]:
        if row["time_s"] > begin and row["direction"] == "forward":
            of_seed = waiting.setdefault(row["seed"], {})
            of_seed.setdefault((row["queue"], row["buffer"]), []).append(row["held_packets"])
    return [Samples(by_key) for by_key in waiting.values()]


CLAIMS_OF_SAMPLES = (
    Claim("evolution", "FQ against FIFO, 4 Reno", "the queue varies less, mean over 100 and 312 packets (smoother)",
          lambda s: fmean([s.swing(("FQ", room)) for room in ("100", "312")])
          < fmean([s.swing(("FIFO", room)) for room in ("100", "312")])),
)  # fmt: skip


def _refused(points: Sequence[Mapping[str, Any]]) -> float:
    """Of the transfers of all points and seeds, the part that found a hundred in progress."""
    rows = [row for point in points for seed in point["seeds"] for row in seed["transfers"] if row["size"] == "all"]
    return float(sum(row["refused"] for row in rows) / sum(row["refused"] + row["completed"] for row in rows))


def _most_waiting(points: Sequence[Mapping[str, Any]]) -> float:
    rows = [row for point in points for seed in point["seeds"] for row in seed["queues"]]
    return float(max(row["waiting_packets_max"] for row in rows))


CLAIMS_OF_SCALE = (
    Claim("progress", "FQ", "at 90 % and below, of a thousand transfers at most one finds a hundred others in progress",
          lambda r: _refused(r["progress"]) <= 1e-3),
    Claim("schedule", "FQ", "at 90 % and below, never more than 500 packets of slow flows in the schedule",
          lambda r: _most_waiting(r["schedule"]) <= 500),
)  # fmt: skip

OLD_RECOVERY = "holds with the recovery of Reno (recovery = reno) beside packets over a FIFO: "
CLAIM_REASONS: dict[str, str] = {
    "less than half of what is left, at 20 and 50 %": OLD_RECOVERY + "0.47 and 0.32; NewReno 0.65 and 0.41",
    "4/3 of the share with 20 and 3/5 of that with 625, or more (good performance)": OLD_RECOVERY
    + "1.4 and 2.1 times the share with 20, 0.70 of that with 625",
    "a share below Reno's (behaves very poorly)": OLD_RECOVERY + "0.28 for 0.47, 0.21 for 0.32; with NewReno, too",
    "the share grows with the connections, 1, 2, 4": "means of five seeds grow in all eight cases; of one seed now and"
    " then two are the wrong way round",
    "the established connection loses fewer packets, buffers together": "the longest queue is that of the established"
    " connection, so that it gives way to the newcomer until both are as long; its throughput stays at its half",
}
"""Why claims do not hold, by their text, as far as it was tested (variants.py)."""


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """Shares, losses and delays by buffer; the queue over time; flows in progress by load."""
    from fairq import figures as draw

    for load in LOADS:
        item = f"transfers of {load}"
        mine = [row for row in rows if row["item"] == item]
        groups = {f"{tcp}": [f"{n} {tcp}, {queue}" for queue in QUEUES for n in CONNECTIONS] for tcp in TCPS}
        for quantity, up in (("share", "share of what is left"), ("loss", "loss of the background (%)"),
                             ("delay", "delay of the background (ms)")):  # fmt: skip
            if chosen := [row for row in mine if row["quantity"] == quantity]:
                title = f"Permanent connections beside transfers of {load} of the line"
                name = f"{quantity}{load.split()[0]}"
                yield Plotted(name, item, draw.by_source(chosen, groups, "buffer (packets)", up, title, style=style))
    if "evolution" in results:
        yield _queue_figure(draw, results["evolution"]["series"], style)


def _queue_figure(draw: Any, series: Sequence[Mapping[str, Any]], style: Style) -> Plotted:
    first = series[0]["seed"]
    held = [row for row in series if row["seed"] == first and row["direction"] == "forward" and row["buffer"] == "312"]
    curves = {
        f"{queue}, buffer of 312 packets": [(r["time_s"], r["held_packets"]) for r in held if r["queue"] == queue]
        for queue in QUEUES
    }
    figure: Figure = draw.curves_below_each_other(
        curves, "time (s)", "waiting (packets)", "The queue of four Reno connections beside Poisson packets (one seed)",
        style=style,
    )  # fmt: skip
    return Plotted("evolution", "", figure, curve_rows(curves, "queue", "time_s", "waiting_packets"))
