"""What of the paper is compared, and which of its sentences are tested. No simulation happens here."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fairq import api
from fairq.papers import SEEDS as SEEDS_PATH
from fairq.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.verdicts import Claim, Line, Published, beyond, claim_line, line

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
EXPERIMENTS = {"experiment 1": "table 1", "experiment 2": "table 2", "experiment 3": "figure 8"}
"""Each experiment with the item that has its fairness index."""

OF_ITEM = {"table 1": "experiment 1", "figure 6": "experiment 1", "table 2": "experiment 2",
           "figure 7": "experiment 2", "figure 8": "experiment 3", "figure 9": "experiment 3"}  # fmt: skip

SAMPLED = "250 ms"
"""How often the queue of figure 9 is looked at."""

FLOWS_OF_MEMORY, FLOWS_MEASURED = 4000, 256
"""Flows at which the text gives the memory, and at which bytes for a flow are measured: more hardly change them."""

WORDS_DESCRIBED = {"V-WFQ": 2, "WFQ": 6}
"""Words for a flow by the data structures as described: two states for V-WFQ (section II.B.1); for WFQ, which is not
described, a queue's first and last packet, a finish number, a weight, and a number and a flow in a heap."""

WORD_BYTES = 4

REASONS = {
    ("table 1", "DropTail", "fairness index"): "the fastest source's own line of 10 Mbit/s brings it into step with the"
    " bottleneck and it gets next to nothing: 0.756 with access lines of 100 Mbit/s; 0.73 with half the jitter, 0.42"
    " with none, 0.39 with random starts; 0.752 in ns-2, whose jitter adds up from packet to packet as ours does not",
    ("table 2", "RED", "fairness index"): "0.077 with a least timeout of 1 s, as ns-2 had at first, but then FRED comes"
    " to 0.47 and V-WFQ to 0.51; delays, access lines, windows, jitter, starts and RED's thresholds and modes give"
    " 0.090 to 0.095, counting bytes 0.066",
    ("table 2", "DropTail", "fairness index"): "0.063 to 0.065 under all that was varied (delays, access lines,"
    " windows, timers, jitter, starts, room in packets), 0.063 in ns-2 itself; the printed value is RED's to the"
    " last digit",
    ("figure 4", "V-WFQ", "memory"): "printed are 22 bits for a flow, as two states of 11; ours has 24 bytes of states,"
    " and the table that finds a flow by its header",
    ("figure 4", "WFQ", "memory"): "printed are 390 bytes for a flow, of which the paper does not say what they hold;"
    " six words of 4 bytes are 96 kB",
}
"""Why cells differ, as far as it was tested; the numbers are in docs/design/miyamura2002.md."""


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
        return {flow: rate / self.ideal(flow) for flow, rate in self.throughput[policy].items()}

    def efficiency(self, policy: str) -> float:
        """The throughput of all flows as a part of the line."""
        return math.fsum(self.throughput[policy].values()) / LINE_BIT_PER_S

    def index(self, policy: str) -> float:
        """The fairness index over measured by ideal, from which the printed numbers come."""
        return _jain(list(self.normalised(policy).values()))

    def index_as_printed(self, policy: str) -> float:
        """The fairness index over ideal by measured, as the formula is printed; 0 if a flow has nothing."""
        shares = list(self.normalised(policy).values())
        return _jain([1 / share for share in shares]) if min(shares) > 0 else 0.0


def _jain(values: Sequence[float]) -> float:
    return math.fsum(values) ** 2 / (len(values) * math.fsum(value * value for value in values))


def jobs(setup: Setup) -> dict[str, Job]:
    """The three experiments, the last with its queue over time."""
    seeds = ((SEEDS_PATH, str(setup.seeds)),)
    return {
        name: Job(f"{name.replace(' ', '')}.toml", seeds, SAMPLED if name == "experiment 3" else None)
        for name in EXPERIMENTS
    }


def captions(_setup: Setup) -> dict[str, str]:
    """The tables and figures; of the figures the scan has the captions alone."""
    return {
        "table 1": "fairness index and efficiency of 16 UDP flows",
        "table 2": "fairness index and efficiency of one misbehaving UDP flow and 15 TCP flows",
        "figure 4": "memory for the states of flows, without packets",
        "figure 6": "throughput of 16 UDP flows, flow i sending i times its fair share",
        "figure 7": "throughput by fair share of 15 TCP flows and a UDP flow that sends 10 Mbit/s",
        "figure 8": "throughput of 5 TCP flows with weights of 1 to 5",
        "figure 9": "queue of 5 TCP flows with weights under V-WFQ and DRR: see the claims and the figure",
    }


def needs(_setup: Setup, item: str) -> Collection[str]:
    """The experiment of each item; the figure of memory is measured without one."""
    return [OF_ITEM[item]] if item in OF_ITEM else []


def lines(_setup: Setup, published: Sequence[Published], results: Results) -> list[Line]:
    """The printed cells and what stands in no table of the paper beside them, then the claims."""
    runs = {name: runs_of(results[name]) for name in EXPERIMENTS if name in results}
    found = []
    for item, experiment in OF_ITEM.items():
        if experiment in runs and item != "figure 9":
            found += _of_experiment(item, runs[experiment], [cell for cell in published if cell.item == item])
    found += _memory_lines([cell for cell in published if cell.item == "figure 4"])
    claims = [
        claim_line(NAME, claim, runs[OF_ITEM[claim.item]], CLAIM_REASONS.get(claim.text, ""))
        for claim in CLAIMS
        if OF_ITEM[claim.item] in runs
    ]
    return [*found, *claims, _memory_claim()]


def runs_of(document: Mapping[str, Any]) -> list[Run]:
    """Each seed of an experiment."""
    waiting: dict[tuple[int, str], list[float]] = {}
    for sample in document.get("series", ()):
        if sample["link"] == "bottleneck" and sample["direction"] == "forward":
            waiting.setdefault((sample["seed"], sample["policy"]), []).append(sample["held_packets"])
    found = []
    for number, seed in enumerate(each["seed"] for each in document["points"][0]["seeds"]):
        points = {str(point["axes"]["policy"]): point["seeds"][number] for point in document["points"]}
        throughput = {
            policy: {str(flow["flow"]): float(flow["throughput_bit_per_s"]) for flow in point["flows"]}
            for policy, point in points.items()
        }
        found.append(Run(throughput, {policy: waiting.get((seed, policy), []) for policy in points}))
    return found


TABLE: dict[str, Callable[[Run, str], float]] = {
    "efficiency": Run.efficiency,
    "fairness index": Run.index,
    "index as printed": Run.index_as_printed,
}
"""The quantities of a table, of all flows together."""


def _of_experiment(item: str, runs: Sequence[Run], printed: Sequence[Published]) -> list[Line]:
    """The lines of one item: of a table each quantity and policy, of a figure each policy and flow."""
    cells = {(cell.policy, cell.quantity, cell.source): cell for cell in printed}
    policies = runs[0].throughput
    if item.startswith("table"):
        return [
            _line(cells, item, policy, quantity, "all flows", [measure(run, policy) for run in runs])
            for quantity, measure in TABLE.items()
            for policy in policies
        ]
    quantity = "normalised throughput" if item == "figure 7" else "throughput"
    return [
        _line(cells, item, policy, quantity, flow, [_of_flow(run, quantity, policy, flow) for run in runs])
        for policy, flows in policies.items()
        for flow in flows
    ]


def _of_flow(run: Run, quantity: str, policy: str, flow: str) -> float:
    rate = run.throughput[policy][flow]
    return rate / 1000 if quantity == "throughput" else rate / run.ideal(flow)


def _line(cells: Mapping[tuple[str, str, str], Published], item: str, policy: str, quantity: str, source: str,
          values: Sequence[float]) -> Line:  # fmt: skip
    cell = cells.get((policy, quantity, source))
    if cell is None:
        return beyond(NAME, item, policy, quantity, source, values)
    return line(NAME, cell, values, REASONS.get((item, policy, quantity), ""))


@cache
def bytes_of_flow() -> dict[str, float]:
    """Bytes for a flow as built, when all were seen and nothing waits."""
    rows = api.bench_disciplines(["vwfq", "wfq"], quick=True)["rows"]
    names = {"vwfq": "V-WFQ", "wfq": "WFQ"}
    return {names[row["discipline"]]: row["idle_flow_bytes"] for row in rows if row["flows"] == FLOWS_MEASURED}


def _memory_lines(printed: Sequence[Published]) -> list[Line]:
    found = []
    for cell in printed:
        built = bytes_of_flow()[cell.policy] * FLOWS_OF_MEMORY / 1000
        found.append(line(NAME, cell, [built], REASONS[cell.item, cell.policy, cell.quantity]))
        described = WORDS_DESCRIBED[cell.policy] * WORD_BYTES * FLOWS_OF_MEMORY / 1000
        found.append(beyond(NAME, cell.item, cell.policy, "memory as described", cell.source, [described]))
    return found


def _memory_claim() -> Line:
    claim = Claim("figure 4", "V-WFQ against WFQ", "a tenth of WFQ's memory or less (much less)",
                  lambda each: 10 * each["V-WFQ"] <= each["WFQ"])  # fmt: skip
    built = bytes_of_flow()
    return claim_line(NAME, claim, [built], f"as built {built['V-WFQ'] / built['WFQ']:.2f} of it, as described"
                      f" {WORDS_DESCRIBED['V-WFQ'] / WORDS_DESCRIBED['WFQ']:.2f}; printed 0.007")  # fmt: skip


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
)  # fmt: skip

CLAIM_REASONS: dict[str, str] = {}
"""Why claims do not hold, by their text, as far as it was tested."""


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """The two tables and figures 4 and 6 to 9."""
    from fairq import figures as draw

    of = {item: [row for row in rows if row["item"] == item] for item in captions(Setup(2, "together", 1))}
    for item, title in (
        ("table 1", "Table I: 16 UDP flows (x measured, z ideal)"),
        ("table 2", "Table II: a UDP flow and 15 TCP flows (x measured, z ideal)"),
    ):
        # the sources across are the policies
        across = [row | {"policy": "", "source": row["policy"]} for row in map(dict, of[item])]
        labels = {"efficiency": "efficiency", "fairness index": "index of x/z", "index as printed": "index of z/x"}
        figure = draw.published_beside_measured(across, title, labels, "discipline", style=style)
        yield Plotted(item.replace(" ", ""), item, figure)
    share = LINE_BIT_PER_S / 16 / 1000
    groups = {"of the paper": IN_PAPER, "beside them": ("CSFQ", "Rainbow FQ", "FQ", "FQ-CoDel")}
    sources = {
        item: list(dict.fromkeys(row["source"] for row in of[item])) for item in ("figure 6", "figure 7", "figure 8")
    }
    yield Plotted("figure4", "figure 4", _memory_figure(draw, style))
    figure = draw.by_source(
        of["figure 6"], groups, "flow i, which sends i fair shares", "throughput (kbit/s)",
        "Figure 6: 16 UDP flows", dict.fromkeys(sources["figure 6"], share), "fair share: 625 kbit/s (printed: 626)",
        style=style,
    )  # fmt: skip
    yield Plotted("figure6", "figure 6", figure)
    figure = draw.by_source(
        of["figure 7"], groups, "TCP flows, and the UDP flow", "throughput / fair share",
        "Figure 7: 15 TCP flows and a UDP flow of 10 Mbit/s", dict.fromkeys(sources["figure 7"], 1.0),
        "fair share (printed: 1.0)", log=True, style=style,
    )  # fmt: skip
    yield Plotted("figure7", "figure 7", figure)
    figure = draw.by_source(
        of["figure 8"], groups, "flow, and its weight", "throughput (kbit/s)",
        "Figure 8: 5 TCP flows with weights", {flow: 1e4 * weight / 15 for flow, weight in WEIGHTS.items()},
        "in proportion to the weights", style=style,
    )  # fmt: skip
    yield Plotted("figure8", "figure 8", figure)
    if "experiment 3" in results:
        yield _queue_figure(draw, results["experiment 3"]["series"], style)


def _queue_figure(draw: Any, series: Sequence[Mapping[str, Any]], style: Style) -> Plotted:
    first = series[0]["seed"]
    held = [s for s in series if s["seed"] == first and s["link"] == "bottleneck" and s["direction"] == "forward"]
    curves = {
        policy: [(s["time_s"], s["held_packets"]) for s in held if s["policy"] == policy] for policy in ("V-WFQ", "DRR")
    }
    figure: Figure = draw.curves_below_each_other(
        curves, "time (s)", "waiting (packets)", "Figure 9: the queue of 5 TCP flows with weights (one seed)",
        style=style,
    )  # fmt: skip
    return Plotted("figure9", "figure 9", figure, curve_rows(curves, "policy", "time_s", "waiting_packets"))


def _memory_figure(draw: Any, style: Style) -> Figure:
    built = bytes_of_flow()
    flows = (100, 100_000)
    curves = {f"{name}, as built": [(n, built[name] * n / 1000) for n in flows] for name in WORDS_DESCRIBED}
    curves |= {
        f"{name}, as described, words of {WORD_BYTES} bytes": [(n, words * WORD_BYTES * n / 1000) for n in flows]
        for name, words in WORDS_DESCRIBED.items()
    }
    printed = {"V-WFQ, published": (FLOWS_OF_MEMORY, 11.0), "WFQ, published": (FLOWS_OF_MEMORY, 1560.0)}
    figure: Figure = draw.curves_and_points(
        curves, printed, "flows", "memory for states of flows (kB)", "Figure 4: memory without packets",
        style=style,
    )  # fmt: skip
    return figure
