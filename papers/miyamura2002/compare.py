"""What of the paper is compared, and which of its sentences are tested. No simulation happens here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fairq import api
from fairq.papers.paper_tables import Cell, Runs, Table, Tables, by_seed, fairness_index, over_time, seeds, where
from fairq.papers.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.papers.verdicts import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairq.figures import Style

NAME = "miyamura2002"
TITLE = "Miyamura et al., Active Queue Control Scheme for Achieving Approximately Fair Bandwidth Allocation (2002)"
SEEDS, QUICK_SEEDS = 10, 3
STARTS = ("together",)
QUANTITIES = {"throughput": "throughput (kbit/s)", "memory": "memory (kB)", "memory as described": "described (kB)"}

LINE_BIT_PER_S = 10e6
WEIGHTS = {str(number): float(number) for number in range(1, 6)}
"""The weights of experiment 3."""

IN_PAPER = ("V-WFQ", "DRR", "FRED", "RED", "DropTail")
CAPTIONS = {
    "table 1": "fairness index and efficiency of 16 UDP flows",
    "table 2": "fairness index and efficiency of one misbehaving UDP flow and 15 TCP flows",
    "figure 4": "memory for the states of flows, without packets",
    "figure 6": "throughput of 16 UDP flows, flow i sending i times its fair share",
    "figure 7": "throughput by fair share of 15 TCP flows and a UDP flow that sends 10 Mbit/s",
    "figure 8": "throughput of 5 TCP flows with weights of 1 to 5",
    "figure 9": "queue of 5 TCP flows with weights under V-WFQ and DRR: see the claims and the figure",
}
"""The tables and figures; of the figures the scan has the captions alone."""

EXPERIMENTS = ("experiment 1", "experiment 2", "experiment 3")

SAMPLED = "250 ms"
"""How often the queue of figure 9 is looked at."""

FLOWS_OF_MEMORY, FLOWS_MEASURED = 4000, 256
"""Flows at which the text gives the memory, and at which bytes for a flow are measured: more hardly change them."""

WORDS_DESCRIBED = {"V-WFQ": 2, "WFQ": 6}
"""Words for a flow by the data structures as described: two states for V-WFQ (section II.B.1); for WFQ, which is not
described, a queue's first and last packet, a finish number, a weight, and a number and a flow in a heap."""

WORD_BYTES = 4


@dataclass(frozen=True)
class Run:
    """One seed of one experiment: bit/s by policy and flow, packets that waited by policy and time."""

    throughput: Mapping[str, Mapping[str, float]]
    waiting: Mapping[str, Sequence[float]]

    def ideal(self, flow: str) -> float:
        """The flow's fair share in bit/s: of equal flows, or in proportion to the weights of experiment 3."""
        flows = next(iter(self.throughput.values()))
        weights = WEIGHTS if set(flows) == set(WEIGHTS) else dict.fromkeys(flows, 1.0)
        return LINE_BIT_PER_S * weights[flow] / math.fsum(weights.values())

    def normalised(self, policy: str) -> dict[str, float]:
        """Each flow's throughput in fair shares."""
        return {flow: self.in_fair_shares(policy, flow) for flow in self.throughput[policy]}

    def in_fair_shares(self, policy: str, flow: str) -> float:
        """The flow's throughput by its fair share."""
        return self.throughput[policy][flow] / self.ideal(flow)

    def efficiency(self, policy: str) -> float:
        """The throughput of all flows as a part of the line."""
        return math.fsum(self.throughput[policy].values()) / LINE_BIT_PER_S

    def index(self, policy: str) -> float:
        """The fairness index over measured by ideal, from which the printed numbers come."""
        return fairness_index(list(self.normalised(policy).values()))

    def index_as_printed(self, policy: str) -> float:
        """The fairness index over ideal by measured, as the formula is printed; 0 if a flow has nothing."""
        shares = list(self.normalised(policy).values())
        return fairness_index([1 / share for share in shares]) if min(shares) > 0 else 0.0


def jobs(setup: Setup) -> dict[str, Job]:
    """The three experiments, the last with its queue over time."""
    sampled = {"experiment 3": SAMPLED}
    return {name: Job(f"{name.replace(' ', '')}.toml", seeds(setup), sampled.get(name)) for name in EXPERIMENTS}


def runs_of(document: Mapping[str, Any]) -> list[Run]:
    """Each seed of an experiment."""
    held = over_time(_bottleneck(document), "held_packets", "seed", "policy")
    numbers = [seed["seed"] for seed in document["points"][0]["seeds"]]
    rates = by_seed(document, _rates, lambda axes: str(axes["policy"]))
    return [
        Run(by_policy, {policy: [packets for _, packets in held.get((number, policy), ())] for policy in by_policy})
        for number, by_policy in zip(numbers, rates, strict=True)
    ]


def _bottleneck(document: Mapping[str, Any]) -> list[Any]:
    return where(document.get("series", ()), link="bottleneck", direction="forward")


def _rates(seed: Mapping[str, Any]) -> dict[str, float]:
    return {str(flow["flow"]): float(flow["throughput_bit_per_s"]) for flow in seed["flows"]}


TABLE: dict[str, Callable[[Run, str], float]] = {
    "efficiency": Run.efficiency,
    "fairness index": Run.index,
    "index as printed": Run.index_as_printed,
}
"""The quantities of a table, of all flows together."""


def _of_all(item: str, runs: str) -> Table:
    return Table(item, runs, lambda runs: [
        Cell(each, name, "all flows", of, (each,)) for name, of in TABLE.items() for each in runs[0].throughput
    ])  # fmt: skip


def _of_each(quantity: str, measure: Callable[[Run, str, str], float]) -> Callable[[Sequence[Run]], list[Cell]]:
    """A cell for each policy and flow."""
    return lambda runs: [
        Cell(policy, quantity, flow, measure, (policy, flow))
        for policy, flows in runs[0].throughput.items()
        for flow in flows
    ]


KBIT_PER_S = _of_each("throughput", lambda run, policy, flow: run.throughput[policy][flow] / 1000)


@cache
def bytes_of_flow() -> dict[str, float]:
    """Bytes for a flow as built, when all were seen and nothing waits."""
    rows = api.bench_disciplines(["vwfq", "wfq"], quick=True)["rows"]
    names = {"vwfq": "V-WFQ", "wfq": "WFQ"}
    return {names[row["discipline"]]: row["idle_flow_bytes"] for row in rows if row["flows"] == FLOWS_MEASURED}


BYTES_DESCRIBED = {policy: words * WORD_BYTES for policy, words in WORDS_DESCRIBED.items()}


def _memory_reason() -> str:
    built, described = bytes_of_flow(), BYTES_DESCRIBED
    return (
        f"as built {built['V-WFQ'] / built['WFQ']:.2f} of it, as described"
        f" {described['V-WFQ'] / described['WFQ']:.2f}; printed 0.007"
    )


ALMOST_IDEAL = 0.926
"""The least index that the paper calls almost ideal (V-WFQ in Table II)."""


def _near_ideal(run: Run, policy: str) -> bool:
    return all(abs(share - 1) <= 0.05 for share in run.normalised(policy).values())


def _spread_of_flows(run: Run, policy: str) -> float:
    """The most that a flow gets over the least."""
    rates = run.throughput[policy].values()
    return max(rates) / max(min(rates), 1.0)


def _protects(run: Run, policy: str) -> bool:
    shares = run.normalised(policy)
    return shares["UDP"] < 3 and min(shares.values()) > 0.5


def _swing(run: Run, policy: str) -> float:
    """By how much the queue swings, as a part of its mean; the first fifth of the run is left out."""
    waiting = run.waiting[policy][len(run.waiting[policy]) // 5 :]
    return pstdev(waiting) / fmean(waiting)


def _is_from_measured_by_ideal(run: Run, policy: str, printed: float) -> bool:
    return abs(run.index(policy) - printed) < abs(run.index_as_printed(policy) - printed)


CLAIMS = (
    Claim("table 1", "RED, DropTail", "the fastest sources get > 8 times what the slowest gets (complete failure)",
          lambda r: all(_spread_of_flows(r, p) > 8 for p in ("RED", "DropTail"))),
    Claim("table 1", "DRR", "every source within 5 % of its share (almost ideal)", lambda r: _near_ideal(r, "DRR")),
    Claim("table 1", "V-WFQ against DRR", "index within 0.01 of DRR's (same performance)",
          lambda r: abs(r.index("V-WFQ") - r.index("DRR")) <= 0.01),
    Claim("table 1", "V-WFQ against FRED", "index higher by > 0.1 (much better)",
          lambda r: r.index("V-WFQ") > r.index("FRED") + 0.1),
    Claim("table 1", "RED", "our reading: 0.766 comes from measured / ideal, not from ideal / measured as printed",
          lambda r: _is_from_measured_by_ideal(r, "RED", 0.766)),
    Claim("table 2", "RED", "our reading: 0.0778 comes from measured / ideal, not from ideal / measured as printed",
          lambda r: _is_from_measured_by_ideal(r, "RED", 0.0778)),
    Claim("table 2", "RED, DropTail", "the UDP source has > 80 % of the line (no fair share for TCP)",
          lambda r: all(r.throughput[p]["UDP"] > 0.8 * LINE_BIT_PER_S for p in ("RED", "DropTail"))),
    Claim("table 2", "DRR, V-WFQ", "every TCP has > half its share, UDP < 3 times its own (TCP is protected)",
          lambda r: all(_protects(r, p) for p in ("DRR", "V-WFQ"))),
    Claim("table 2", "V-WFQ against FRED", "index higher by > 0.1 (much better)",
          lambda r: r.index("V-WFQ") > r.index("FRED") + 0.1),
    Claim("table 2", "DRR against V-WFQ", "DRR is fairer", lambda r: r.index("DRR") > r.index("V-WFQ")),
    Claim("figure 8", "V-WFQ, DRR", "index at least 0.926, as in Table II (almost ideal)",
          lambda r: min(r.index("V-WFQ"), r.index("DRR")) >= ALMOST_IDEAL),
    Claim("figure 8", "RED, DropTail", "index below 0.8 (no fair share; flows that are all equal have 0.71)",
          lambda r: max(r.index("RED"), r.index("DropTail")) < 0.8),
    Claim("figure 9", "V-WFQ against DRR", "mean queue less than half of DRR's (much shorter)",
          lambda r: fmean(r.waiting["V-WFQ"]) < fmean(r.waiting["DRR"]) / 2),
    Claim("figure 9", "V-WFQ against DRR", "queue swings > 1.5 times as much by its mean (fluctuates greatly)",
          lambda r: _swing(r, "V-WFQ") > 1.5 * _swing(r, "DRR")),
    Claim("figure 9", "DRR", "mean queue above half of the room of 128 packets (stable at high occupancy)",
          lambda r: fmean(r.waiting["DRR"]) > 64),
    Claim("figure 4", "V-WFQ against WFQ", "a tenth of WFQ's memory or less (much less)",
          lambda r: 10 * r["memory"]["V-WFQ"] <= r["memory"]["WFQ"], reason=_memory_reason),
)  # fmt: skip

TABLES = Tables(
    NAME,
    CAPTIONS,
    {name: Runs((name,), runs_of) for name in EXPERIMENTS}
    | {"memory": Runs((), lambda: [{"memory": bytes_of_flow(), "memory as described": BYTES_DESCRIBED}])},
    [
        _of_all("table 1", "experiment 1"),
        Table("figure 6", "experiment 1", KBIT_PER_S),
        _of_all("table 2", "experiment 2"),
        Table("figure 7", "experiment 2", _of_each("normalised throughput", Run.in_fair_shares)),
        Table("figure 8", "experiment 3", KBIT_PER_S),
        Table("figure 9", "experiment 3"),
        Table("figure 4", "memory", lambda runs: [
            Cell(policy, quantity, f"{FLOWS_OF_MEMORY} flows", lambda run, of, p: run[of][p] * FLOWS_OF_MEMORY / 1000,
                 (quantity, policy)) for policy in WORDS_DESCRIBED for quantity in runs[0]]),
    ],
    CLAIMS,
)  # fmt: skip
captions, needs, lines = TABLES.captions, TABLES.needs, TABLES.lines


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """The two tables and figures 4 and 6 to 9."""
    from fairq import figures as draw

    of = {item: where(rows, item=item) for item in CAPTIONS}
    for item, above in (
        ("table 1", "Table I: 16 UDP flows (x measured, z ideal)"),
        ("table 2", "Table II: a UDP flow and 15 TCP flows (x measured, z ideal)"),
    ):
        # the sources across are the policies
        turned = [row | {"policy": "", "source": row["policy"]} for row in map(dict, of[item])]
        labels = {"efficiency": "efficiency", "fairness index": "index of x/z", "index as printed": "index of z/x"}
        figure = draw.published_beside_measured(turned, above, labels, "discipline", style=style)
        yield Plotted(item.replace(" ", ""), item, figure)
    groups = {"of the paper": IN_PAPER, "beside them": ("CSFQ", "Rainbow FQ", "FQ", "FQ-CoDel")}
    yield Plotted("figure4", "figure 4", _memory_figure(draw, of["figure 4"], style))
    share = LINE_BIT_PER_S / 16 / 1000
    for item, title, across, up, ideal, said, log in (
        ("figure 6", "16 UDP flows", "flow i, which sends i fair shares", "throughput (kbit/s)",
         {row["source"]: share for row in of["figure 6"]}, "fair share: 625 kbit/s (printed: 626)", False),
        ("figure 7", "15 TCP flows and a UDP flow of 10 Mbit/s", "TCP flows, and the UDP flow",
         "throughput / fair share", {row["source"]: 1.0 for row in of["figure 7"]}, "fair share (printed: 1.0)", True),
        ("figure 8", "5 TCP flows with weights", "flow, and its weight", "throughput (kbit/s)",
         {flow: 1e4 * weight / 15 for flow, weight in WEIGHTS.items()}, "in proportion to the weights", False),
    ):  # fmt: skip
        above = f"{item.capitalize()}: {title}"
        figure = draw.by_source(of[item], groups, across, up, above, ideal, said, log=log, style=style)
        yield Plotted(item.replace(" ", ""), item, figure)
    if "experiment 3" in results:
        yield _queue_figure(draw, _bottleneck(results["experiment 3"]), style)


def _queue_figure(draw: Any, held: Sequence[Mapping[str, Any]], style: Style) -> Plotted:
    by_policy = over_time(where(held, seed=held[0]["seed"]), "held_packets", "policy")
    curves = {policy: by_policy[policy] for policy in ("V-WFQ", "DRR")}
    figure: Figure = draw.curves_below_each_other(
        curves, "time (s)", "waiting (packets)", "Figure 9: the queue of 5 TCP flows with weights (one seed)",
        style=style,
    )  # fmt: skip
    return Plotted("figure9", "figure 9", figure, curve_rows(curves, "policy", "time_s", "waiting_packets"))


def _memory_figure(draw: Any, rows: Sequence[Mapping[str, Any]], style: Style) -> Figure:
    built = bytes_of_flow()
    flows = (100, 100_000)
    curves = {f"{name}, as built": [(n, built[name] * n / 1000) for n in flows] for name in WORDS_DESCRIBED}
    curves |= {
        f"{name}, as described, words of {WORD_BYTES} bytes": [(n, words * WORD_BYTES * n / 1000) for n in flows]
        for name, words in WORDS_DESCRIBED.items()
    }
    printed = {
        f"{row['policy']}, published": (FLOWS_OF_MEMORY, row["published"]) for row in where(rows, quantity="memory")
    }
    figure: Figure = draw.curves_and_points(
        curves, printed, "flows", "memory for states of flows (kB)", "Figure 4: memory without packets",
        style=style,
    )  # fmt: skip
    return figure
