"""What of the paper is compared, and which of its sentences are tested. No simulation happens here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from fairq.core.inputs import pairs
from fairq.papers.paper_tables import Cell, Runs, Table, Tables, by_seed, fairness_index, seeds, where
from fairq.papers.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.papers.verdicts import Claim, Line, Published, beyond

if TYPE_CHECKING:
    from fairq.figures import Style

NAME = "legout2002"
TITLE = "Legout and Biersack, Revisiting the Fair Queueing Paradigm for End-to-End Congestion Control (2002)"
SEEDS, QUICK_SEEDS = 5, 2
STARTS = ("together",)
QUANTITIES = {
    "mean throughput": "mean (kbit/s)",
    "standard deviation": "deviation (kbit/s)",
    "minimum throughput": "minimum (kbit/s)",
    "mean by FIFO's": "FQ's mean / FIFO's",
    "deviation by FIFO's": "FQ's deviation / FIFO's",
    "minimum by FIFO's": "FQ's minimum / FIFO's",
}

CONNECTIONS, QUICK_CONNECTIONS = (50, 100, 200, 400, 600, 800, 1000, 1300, 1600), (50, 100)
"""Numbers of connections: the text names 50, 1000 and 1600."""

BUFFERS, QUICK_BUFFERS = ("500", "50"), ("50",)

POLICIES = ("FQ", "FIFO")
PAIRED = "FQ against FIFO"
"""The policy of what is taken over both in the same repetition, on the same network with the same connections."""

QUICK_DURATION = "10 s"
SAME_AT, SAME_BUFFER = 400, "50"
"""Where a further set of repetitions has one network: how much of the spread is that of the networks?"""

MANS, LANS = 20, 9
"""Metropolitan networks, and local networks at each: connections join random ones of these."""

PACKET_BITS = 8000

Place = tuple[int, str, str]
"""Connections, places of a buffer, policy."""


@dataclass(frozen=True)
class Repetition:
    """One repetition: bit/s of each connection by place."""

    goodput: Mapping[Place, Sequence[float]]

    @property
    def sizes(self) -> list[tuple[int, str]]:
        """Connections and buffers that were run, few connections first."""
        found = [(k, buffer) for k, buffer, policy in self.goodput if policy == POLICIES[0]]
        return sorted(found, key=lambda size: size[0])

    def of(self, quantity: str, k: int, buffer: str, policy: str) -> float:
        """A quantity of the figures in kbit/s; of PAIRED, the ratio of FQ's to FIFO's."""
        if policy == PAIRED:
            over = RATIOS[quantity]
            return self.of(over, k, buffer, "FQ") / max(self.of(over, k, buffer, "FIFO"), 1e-9)
        return OVER_CONNECTIONS[quantity](self.goodput[k, buffer, policy]) / 1000

    def gain(self, quantity: str, k: int, buffer: str) -> float:
        """By how much FQ's quantity is above FIFO's, in kbit/s."""
        return self.of(quantity, k, buffer, "FQ") - self.of(quantity, k, buffer, "FIFO")


OVER_CONNECTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean throughput": fmean,
    "standard deviation": stdev,
    "minimum throughput": min,
}
RATIOS = {
    "mean by FIFO's": "mean throughput",
    "deviation by FIFO's": "standard deviation",
    "minimum by FIFO's": "minimum throughput",
}
FIGURES = {
    "figure 2": ("mean throughput", "mean by FIFO's"),
    "figure 3": ("standard deviation", "minimum throughput", "deviation by FIFO's", "minimum by FIFO's"),
}


def jobs(setup: Setup) -> dict[str, Job]:
    """The grid of each repetition, the repetitions on one network, and the small experiments."""
    repetitions = range(1, setup.seeds + 1)
    if setup.quick:
        short = {"measure.duration": QUICK_DURATION}
        found = {f"drawn {each}": large(QUICK_CONNECTIONS, QUICK_BUFFERS, each, short) for each in repetitions}
    else:
        found = {f"drawn {each}": large(CONNECTIONS, BUFFERS, each) for each in repetitions}
        found["same"] = on_one_network(repetitions)
    return found | {name: Job(f"{name.replace(' ', '_')}.toml", seeds(setup)) for name in SMALL}


def large(
    numbers: Sequence[int], buffers: Sequence[str], repetition: int, more: Mapping[str, object] | None = None
) -> Job:
    """The grid over the network of the repetition, the longest runs first, so that two workers end together."""
    runs = {str(k): {"flows": connections(k, repetition)} for k in sorted(numbers)[::-1]}
    return _grid(runs, buffers, {"topology.seed": repetition, "measure.seed": repetition, **(more or {})})


def on_one_network(repetitions: Sequence[int]) -> Job:
    """The connections and start times of each repetition, all over the network of the first."""
    runs = {str(each): {"flows": connections(SAME_AT, each), "measure.seed": each} for each in repetitions}
    return _grid(runs, [SAME_BUFFER], {})


def _grid(runs: Mapping[str, object], buffers: Sequence[str], more: Mapping[str, object]) -> Job:
    """The network's scenario with these values of its axes *run* and *buffer*, each of *run* with what it sets."""
    of_run = [{"name": name, "set": sets} for name, sets in runs.items()]
    of_buffer = [{"name": each, "set": {"defaults.buffer": f"{each} packets"}} for each in buffers]
    sets = pairs({"axes[0].values": of_run, "axes[1].values": of_buffer, **more})
    return Job("network.toml", tuple(sets), keep=kept)


def connections(k: int, repetition: int) -> list[dict[str, str]]:
    """Connections between pairs of different local networks, as the scenario's flows.

    They are generated one after another: those of a smaller number are the first of a greater.
    """
    drawn = random.Random(f"{NAME}/{repetition}")
    every = [f"lan{man}.{lan}" for man in range(1, MANS + 1) for lan in range(1, LANS + 1)]
    flows = []
    for number in range(1, k + 1):
        source = int(drawn.random() * len(every))
        sink = int(drawn.random() * (len(every) - 1))
        sink += sink >= source
        flows.append({"name": str(number), "from": every[source], "to": every[sink], "traffic": "ftp"})
    return flows


def kept(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of a large run what each connection's receiver got, in bit/s, and how many packets crossed a line."""
    seconds = float(document["scenario"]["measure"]["duration"].removesuffix(" s"))
    goodput = {
        (int(point["axes"]["run"]), str(point["axes"]["buffer"]), str(point["axes"]["policy"])): [
            flow["goodput_packets"] * PACKET_BITS / seconds for flow in point["seeds"][0]["flows"]
        ]
        for point in document["points"]
    }
    return {"goodput": goodput, "packet_hops": document["run_info"]["packet_hops"]}


def drawn_repetitions(results: Results) -> list[Repetition]:
    """The repetitions with a random network for each."""
    return [Repetition(result["goodput"]) for name, result in results.items() if name.startswith("drawn")]


def repetitions_on_one_network(results: Results) -> list[Repetition]:
    """The repetitions that all have the same network."""
    if "same" not in results:
        return []
    by_repetition: dict[int, dict[Place, Sequence[float]]] = {}
    for (repetition, buffer, policy), rates in results["same"]["goodput"].items():
        by_repetition.setdefault(repetition, {})[SAME_AT, buffer, policy] = rates
    return [Repetition(cells) for cells in by_repetition.values()]


def captions(setup: Setup) -> dict[str, str]:
    """The figures, the table, and what stands beside them."""
    short = f" ({QUICK_DURATION} each, which is too short to judge)" if setup.quick else ""
    found = {
        "figure 1": "satisfaction of three receivers under WFQ, in lines",
        "figure 2": f"mean throughput{short}; intervals are those of the mean",
        "figure 3": f"standard deviation and minimum of the throughput{short}",
        "networks": f"{SAME_AT} connections, {SAME_BUFFER} packets: a network for each repetition, or one for all",
        "table 1": "small experiments for the properties of the paradigms: see the claims",
    }
    return {item: caption for item, caption in found.items() if item != "networks" or not setup.quick}


def needs(setup: Setup, _item: str) -> list[str]:
    """All: most items are of all repetitions."""
    return list(jobs(setup))


def lines(setup: Setup, published: Sequence[Published], results: Results) -> list[Line]:
    """The tables, then the claims; short runs are not judged by the printed figures."""
    printed = [cell for cell in published if not setup.quick or cell.item not in FIGURES]
    drawn = drawn_repetitions(results)
    runs = {
        "drawn": Runs((), lambda: drawn),
        "both": Runs((), lambda: [(drawn, repetitions_on_one_network(results))]),
        "small": Runs((), lambda: small_runs(results)),
    }
    claims = [*(claims_of(drawn) if drawn else ()), *SMALL_CLAIMS]
    return Tables(NAME, {}, runs, TABLES, claims).lines(setup, printed, results)


def _policies(quantity: str) -> Sequence[str]:
    return [PAIRED] if quantity in RATIOS else POLICIES


def _figure(item: str) -> Table:
    return Table(item, "drawn", lambda drawn: [
        Cell(f"{policy}, {buffer} packets", quantity, str(k), Repetition.of, (quantity, k, buffer, policy))
        for quantity in FIGURES[item]
        for k, buffer in drawn[0].sizes
        for policy in _policies(quantity)
    ], "mean")  # fmt: skip


def _networks(runs: Sequence[tuple[Sequence[Repetition], Sequence[Repetition]]]) -> Iterator[Line]:
    """Means and standard deviations over repetitions, with a network for each and with one for all."""
    for kind, repetitions in zip(("drawn for each", "the same for all"), runs[0], strict=True):
        having = [each for each in repetitions if (SAME_AT, SAME_BUFFER) in each.sizes]
        for quantity in ("mean throughput", "mean by FIFO's", "deviation by FIFO's", "minimum by FIFO's"):
            for policy in _policies(quantity) if len(having) > 1 else ():
                values = [each.of(quantity, SAME_AT, SAME_BUFFER, policy) for each in having]
                yield beyond(NAME, "networks", policy, quantity, kind, values, "mean")
                yield Line(NAME, "networks", policy, f"spread of {quantity}", kind, None, stdev(values), None, None,
                           "beyond", "standard deviation over repetitions")  # fmt: skip


# ---- Figure 1 and Table 1 ----

SMALL = ("figure1", "selfish", "round trips", "flood", "users")
SENDING = {"all": ("all send", ("R1", "R2", "R3")), "S2 stopped": ("S2 has stopped", ("R1", "R3"))}
LINE_BIT_PER_S = {"figure1": 1e6, "selfish": 1e6, "round trips": 10e6, "flood": 10e6, "users": 10e6}
USERS, TCPS = 8, 9
"""Users of `selfish`, all but one of them alike, and connections beside the flood."""

PRICE = 0.5
"""What a bit that is lost costs a selfish user, in bits received: sending in vain gains nothing."""

ROUNDS = 12
"""So often all selfish users choose anew, each the best rate against what the others sent last."""

Axes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Small:
    """One seed of the small experiments: by experiment and place on its axes, flows in parts of the line."""

    flows: Mapping[str, Mapping[Axes, Mapping[str, float]]]

    def rates(self, experiment: str, **axes: str) -> Mapping[str, float]:
        """What each flow got, in parts of the line."""
        return self.flows[experiment][tuple(sorted(axes.items()))]

    def satisfaction(self, policy: str, others: str, own: str) -> float:
        """What a selfish user is left with, in fair shares: what arrives less the price of what is lost."""
        got = self.rates("selfish", policy=policy, others=others, own=own)["own"] * USERS
        return got - PRICE * max(float(own) - got, 0.0)

    @property
    def choices(self) -> list[str]:
        """The rates a selfish user may choose, in fair shares."""
        return sorted({dict(axes)["own"] for axes in self.flows["selfish"]}, key=float)

    def best(self, policy: str, others: str) -> str:
        """The best choice against others that all send at one rate."""
        return max(self.choices, key=lambda own: self.satisfaction(policy, others, own))

    def course(self, policy: str, first: str) -> list[str]:
        """The rates of all, round by round, when each answers what the others did last."""
        found = [first]
        for _ in range(ROUNDS):
            found.append(self.best(policy, found[-1]))
        return found

    def comes_to_rest(self, policy: str) -> bool:
        """Whether all courses end at one rate, and stay there."""
        ends = {tuple(self.course(policy, first)[-3:]) for first in self.choices}
        return len(ends) == 1 and len(set(next(iter(ends)))) == 1

    def ends_with(self, policy: str) -> float:
        """A user's satisfaction over the last half of all courses, in fair shares."""
        late = [each for first in self.choices for each in self.course(policy, first)[ROUNDS // 2 :]]
        return fmean(self.satisfaction(policy, each, each) for each in late)

    def index(self, policy: str) -> float:
        """The fairness index of the two round trips."""
        return fairness_index(list(self.rates("round trips", policy=policy).values()))

    def tcp_share(self, policy: str) -> float:
        """What TCP gets beside the flood, in fair shares."""
        rates = self.rates("flood", policy=policy)
        return fmean(rate for flow, rate in rates.items() if flow != "flood") * (TCPS + 1)

    def used(self, users: str, policy: str) -> float:
        """The part of the line that arrives, of `users` connections together."""
        return math.fsum(self.rates("users", users=users, policy=policy).values())

    @property
    def numbers_of_users(self) -> list[str]:
        """How many connections there are in `users`."""
        return sorted({dict(axes)["users"] for axes in self.flows["users"]}, key=int)


def small_runs(results: Results) -> list[Small]:
    """Each seed of the small experiments, if all were run."""
    if not set(SMALL) <= set(results):
        return []
    of_seeds = zip(
        *(by_seed(results[name], partial(_rates, LINE_BIT_PER_S[name]), _axes) for name in SMALL), strict=True
    )
    return [Small(dict(zip(SMALL, seed, strict=True))) for seed in of_seeds]


def _axes(axes: Mapping[str, Any]) -> Axes:
    return tuple(sorted((axis, str(value)) for axis, value in axes.items()))


def _rates(line: float, seed: Mapping[str, Any]) -> dict[str, float]:
    return {str(flow["flow"]): flow["throughput_bit_per_s"] / line for flow in seed["flows"]}


def _table_1(runs: Sequence[Small]) -> Iterator[Cell]:
    """What the small experiments for Table 1 measured."""
    for policy in POLICIES:
        for quantity, unit, measure in (
            ("stability: part of seeds at rest", "", Small.comes_to_rest),
            ("efficiency: satisfaction in the end", " (shares)", Small.ends_with),
            ("fairness: index of round trips", "", Small.index),
            ("robustness: TCP beside a flood", " (shares)", Small.tcp_share),
        ):
            yield Cell(quantity, f"measured{unit}", policy, measure, (policy,))
        for users in runs[0].numbers_of_users:
            yield Cell(f"scalability: {users} users", "measured (lines)", policy, Small.used, (users, policy))


TABLES = [
    Table("figure 1", "small", lambda _: [
        Cell("WFQ", said, flow, lambda run, sending, flow: run.rates("figure1", sending=sending)[flow], (sending, flow))
        for sending, (said, receivers) in SENDING.items() for flow in receivers]),
    *map(_figure, FIGURES),
    Table("networks", "both", _networks),
    Table("table 1", "small", _table_1),
]  # fmt: skip


# ---- Claims ----


def claims_of(drawn: Sequence[Repetition]) -> list[Claim]:
    """The sentences on Figures 2 and 3 that can be tested with the connections and buffers that were run."""
    sizes = drawn[0].sizes
    found = []
    of_buffer = {buffer: sorted(k for k, each in sizes if each == buffer) for _, buffer in sizes}
    for buffer, numbers in sorted(of_buffer.items()):
        every = f"at every k of {', '.join(map(str, numbers))}"
        found += [
            Claim(item, f"FQ against FIFO, {buffer} packets", text, _gains(quantity, tried, buffer, sign))
            for item, text, quantity, tried, sign in (
                ("figure 2", f"k = {FEW}: FIFO's mean is higher (few flows, not significant)", "mean throughput",
                 [FEW], -1),
                ("figure 2", f"k = {MANY}: FQ's mean is higher", "mean throughput", [MANY], 1),
                ("figure 3", f"the deviation is lower {every}", "standard deviation", numbers, -1),
                ("figure 3", f"the minimum is higher {every}", "minimum throughput", numbers, 1),
            )
            if set(tried) <= set(numbers)
        ]  # fmt: skip
    both = sorted(set.intersection(*map(set, of_buffer.values())))
    if len(of_buffer) == 2 and both:
        text = f"the larger buffer has the higher mean at every k of {', '.join(map(str, both))}"
        found.append(Claim("figure 2", "FIFO, FQ", text, _more_with_room(both, *sorted(of_buffer, key=int))))
    return found


def _gains(quantity: str, numbers: Sequence[int], buffer: str, sign: int) -> Callable[[Repetition], bool]:
    """Whether FQ has more of it than FIFO at each number of connections (sign 1), or less (-1)."""
    return lambda run: all(sign * run.gain(quantity, k, buffer) > 0 for k in numbers)


def _more_with_room(numbers: Sequence[int], less: str, more: str) -> Callable[[Repetition], bool]:
    return lambda run: all(
        run.of("mean throughput", k, more, policy) > run.of("mean throughput", k, less, policy)
        for k in numbers
        for policy in POLICIES
    )


FEW, MANY = 50, 1000
"""Connections that the text calls a small number (the least of the figure), and those of its example."""

BETTER, EVEN = "FQ +, TCP-friendly -", "neither +"
"""What Table 1 says of a property."""

SMALL_CLAIMS = (
    Claim("table 1", BETTER, "stability: selfish users come to rest under FQ and not under FIFO",
          lambda r: r.comes_to_rest("FQ") and not r.comes_to_rest("FIFO")),
    Claim("table 1", BETTER, "efficiency: selfish users end with > 0.9 of a share under FQ, < 0.5 under FIFO",
          lambda r: r.ends_with("FQ") > 0.9 and r.ends_with("FIFO") < 0.5),
    Claim("table 1", BETTER, "fairness: index of round trips of 20 and 200 ms > 0.95 under FQ, < 0.8 under FIFO",
          lambda r: r.index("FQ") > 0.95 and r.index("FIFO") < 0.8),
    Claim("table 1", BETTER, "robustness: TCP beside a flood has > 0.8 of its share under FQ, < 0.2 under FIFO",
          lambda r: r.tcp_share("FQ") > 0.8 and r.tcp_share("FIFO") < 0.2),
    Claim("table 1", EVEN, "scalability: 4 to 256 connections have > 0.9 of the line under both",
          lambda r: all(r.used(users, policy) > 0.9 for users in r.numbers_of_users for policy in POLICIES)),
)  # fmt: skip
"""Table 1 as far as it can be measured; feasibility is no matter of simulation."""


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """Figures 2 and 3, and the answers of selfish users for Table 1."""
    from fairq import figures as draw

    for item, quantities, whole in (
        ("figure 2", {"mean throughput (kbit/s)": "mean throughput", "FQ's mean / FIFO's": "mean by FIFO's"},
         "FQ's mean / FIFO's"),
        ("figure 3", {"standard deviation (kbit/s)": "standard deviation",
                      "minimum throughput (kbit/s)": "minimum throughput"}, None),
    ):  # fmt: skip
        if mine := where(rows, item=item):
            panels = {up: _curves(mine, quantity) for up, quantity in quantities.items()}
            title = f"{item.capitalize()}. TCP connections over 225 nodes: mean and 95 % interval of the repetitions"
            figure = draw.by_number(panels, "connections", title, whole=whole, style=style)
            yield Plotted(item.replace(" ", ""), item, figure)
    runs = small_runs(results)
    if runs:
        curves = {
            policy: [(float(each), float(runs[0].best(policy, each))) for each in runs[0].choices]
            for policy in POLICIES
        }
        figure = draw.answers(
            curves, "what the other seven send, each (fair shares)", "best rate of a selfish user (fair shares)",
            "Table 1, stability: what is best against what the others do", style=style,
        )  # fmt: skip
        yield Plotted("table1", "table 1", figure, curve_rows(curves, "policy", "others", "best"))


def _curves(rows: Sequence[Mapping[str, Any]], quantity: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in where(rows, quantity=quantity):
        found.setdefault(row["policy"], []).append(row)
    return found
