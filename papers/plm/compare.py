"""What the text says of PLM, as claims, and what was measured of PLM, RLM and RLC. No simulation happens here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairq.papers.paper_tables import Cell, Runs, Table, Tables, by_seed, fairness_index, over_time, seeds, where
from fairq.papers.papers import SEEDS as SEEDS_PATH
from fairq.papers.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.papers.verdicts import Claim

if TYPE_CHECKING:
    from fairq.figures import Style

NAME = "plm"
TITLE = (
    "Legout and Biersack, Revisiting the Fair Queueing Paradigm for End-to-End Congestion Control (2002), section 3.3"
)
SEEDS, QUICK_SEEDS = 10, 3
STARTS = ("together",)
RIGHT_AFTER, CHANGES, RATE = "right layers after", "changes", "throughput"
QUANTITIES = {RIGHT_AFTER: "right layers after (s)", CHANGES: "changes (1/min)", RATE: "throughput (kbit/s)"}

EXPERIMENTS = {
    "receivers": "one session alone, receivers behind lines of 128, 256 and 512 kbit/s: 2, 3 and 4 layers",
    "sessions": "three sessions on a line of 1350 kbit/s, from 0, 20 and 40 s on: 4 layers each",
    "tcp": "a session and two TCP flows on that line: 4 layers, fair share 450 kbit/s",
    "misbehaving": "a session, a TCP flow, and a source of 2700 kbit/s on that line: 4 layers, fair share 450 kbit/s",
    "self-similar": "a session and two flows of self-similar load of 450 kbit/s on that line: 4 layers",
}
"""Each scenario file's name, and what is in it; the text has no numbers of PLM."""

OVER_TIME = {"receivers over time": "receivers", "sessions over time": "sessions"}
"""One seed of these is looked at over time, for the figures."""

SAMPLED = "250 ms"
"""How often."""

MINUTES = 2.0
"""How long each is measured; `sessions` and what has flows only after a minute."""

CHECK_S = 1.0
"""C, the time between PLM's checks, by default."""

FOUR_LAYERS, FAIR_SHARE = 400.0, 450.0
"""What four layers take, and a third of the shared line, in kbit/s."""

PLM, RLM, RLC = "PLM, FQ", "RLM, FQ", "RLC, FQ"


Received = Mapping[str, Any]
"""What one receiver had: its row of the table of sessions."""

OF_RECEIVER: dict[str, Callable[[Received], float | None]] = {
    "layers": lambda row: row["level_mean"],
    CHANGES: lambda row: row["level_changes"] / MINUTES,
    "loss": lambda row: row["loss"] or 0.0,
    RATE: lambda row: row["goodput_bit_per_s"] / 1000,
    # None if it never had its right layers
    RIGHT_AFTER: lambda row: row["target_s"],
}
"""The quantities of a receiver."""


@dataclass(frozen=True)
class Run:
    """One seed of one experiment: by policy the receivers, the flows (kbit/s) and what crossed the trunk (kbit/s)."""

    receivers: Mapping[str, Mapping[str, Received]]
    flows: Mapping[str, Mapping[str, float]]
    trunk: Mapping[str, float]

    def all(self, quantity: str, policy: str) -> list[Any]:
        """What each receiver had."""
        return [OF_RECEIVER[quantity](row) for row in self.receivers[policy].values()]

    def of(self, policy: str, receiver: str, quantity: str) -> float | None:
        """What one receiver had."""
        return OF_RECEIVER[quantity](self.receivers[policy][receiver])

    def index(self, policy: str) -> float:
        """The fairness index of what all receivers got."""
        return fairness_index(self.all(RATE, policy))

    def slowest(self, policy: str) -> float:
        """When the last receiver had its right layers; infinite if one never had."""
        return max(math.inf if time is None else time for time in self.all(RIGHT_AFTER, policy))

    def changes(self, policy: str) -> float:
        """The changes of layers in a minute of the receiver that had most."""
        return float(max(self.all(CHANGES, policy)))

    def lost(self, policy: str) -> int:
        """Packets that all receivers lost."""
        return sum(row["lost_packets"] for row in self.receivers[policy].values())


def jobs(setup: Setup) -> dict[str, Job]:
    """The five experiments, and one seed of two of them over time."""
    found = {name: Job(_file(name), seeds(setup)) for name in EXPERIMENTS}
    return found | {name: Job(_file(of), ((SEEDS_PATH, "1"),), SAMPLED) for name, of in OVER_TIME.items()}


def _file(experiment: str) -> str:
    return f"{experiment.replace('-', '_')}.toml"


def runs_of(document: Mapping[str, Any]) -> list[Run]:
    """Each seed of an experiment."""
    of_seeds = by_seed(document, _measured, lambda axes: f"{axes['protocol']}, {axes['gateway']}")
    return [Run(*({policy: of[at] for policy, of in seed.items()} for at in range(3))) for seed in of_seeds]


def _measured(seed: Mapping[str, Any]) -> tuple[dict[str, Received], dict[str, float], float]:
    """Receivers, flows, and what crossed the trunk."""
    crossed = sum(row["bytes"] for row in where(seed["links"], link="trunk", direction="forward"))
    flows = {row["flow"]: row["throughput_bit_per_s"] / 1000 for row in seed.get("flows", ())}
    return {row["receiver"]: row for row in seed["sessions"]}, flows, crossed * 8 / 1000 / (60 * MINUTES)


def _table(item: str) -> Table:
    """Of each policy each receiver and flow; of sessions their index, too."""

    def cells(runs: Sequence[Run]) -> Iterator[Cell]:
        for policy, receivers in runs[0].receivers.items():
            for quantity in OF_RECEIVER:
                for name in receivers:
                    if quantity != RIGHT_AFTER or _starts_right(item, name):
                        yield Cell(policy, quantity, name, Run.of, (policy, name, quantity))
            for flow in runs[0].flows[policy]:
                yield Cell(policy, RATE, flow, lambda run, *at: run.flows[at[0]][at[1]], (policy, flow))
            if item == "sessions":
                yield Cell(policy, "fairness index", "all", Run.index, (policy,))

    return Table(item, item, cells)


def _starts_right(item: str, name: str) -> bool:
    """Whether the layers that are right in the end are so from the receiver's start."""
    return item == "receivers" or (item == "sessions" and name != "session 1")


def _has_four_layers(run: Run, policy: str) -> bool:
    return all(rate >= 0.95 * FOUR_LAYERS for rate in run.all(RATE, policy))


def _adapts(run: Run, start: float) -> bool:
    """Whether the receiver that was there first had its share at most two checks after others came."""
    first = run.all(RIGHT_AFTER, PLM)[0]
    return first is not None and start <= first <= start + 2 * CHECK_S


def _better(measure: Callable[[Run, str], float]) -> Callable[[Run], bool]:
    """Whether PLM has less of it than RLM and than RLC."""
    return lambda run: all(measure(run, PLM) < measure(run, other) for other in (RLM, RLC))


QUICKLY = "right layers within two checks, 2 s (quickly converge)"
STABLE = "a change of layers a minute at most (no pathological oscillations)"
NO_LOSS = "no packet lost (no loss induced)"
LOSES_LESS = "loses less than both (PLM outperforms both)"

CLAIMS = (
    Claim("receivers", PLM, QUICKLY, lambda r: r.slowest(PLM) <= 2 * CHECK_S),
    Claim("sessions", PLM, "later sessions have their layers within two checks, the first gives way (quickly converge)",
          lambda r: _adapts(r, 20.0) and all(time is not None and time <= 2 * CHECK_S
                                             for time in r.all(RIGHT_AFTER, PLM)[1:])),
    Claim("tcp", PLM, "the session gives way within two checks, 2 s (quickly converge)", lambda r: _adapts(r, 30.0)),
    *(Claim(item, PLM, STABLE, lambda r: r.changes(PLM) <= 1) for item in EXPERIMENTS),
    Claim("receivers", PLM, NO_LOSS, lambda r: r.lost(PLM) == 0),
    Claim("self-similar", PLM, NO_LOSS + ", self-similar traffic", lambda r: r.lost(PLM) == 0),
    Claim("self-similar", PLM, "mean layers within 0.1 of what its share carries (tracks the available bandwidth)",
          lambda r: abs(r.of(PLM, "session", "layers") - 4) <= 0.1),
    Claim("sessions", PLM, "fairness index > 0.95 and four layers each (fair with other sessions)",
          lambda r: r.index(PLM) > 0.95 and _has_four_layers(r, PLM)),
    Claim("tcp", PLM, "the session has four layers, each TCP 90 % of its share or more (fair with TCP)",
          lambda r: _has_four_layers(r, PLM) and min(r.flows[PLM].values()) >= 0.9 * FAIR_SHARE),
    Claim("misbehaving", PLM, "the session has four layers (robust against misbehaving sources)",
          lambda r: _has_four_layers(r, PLM)),
    Claim("receivers", PLM, "the trunk carries what its fastest receiver takes and 1 % at most (scalable)",
          lambda r: r.trunk[PLM] <= 1.01 * max(r.all(RATE, PLM))),
    Claim("receivers", "PLM against RLM, RLC", "all have their layers sooner than with both (PLM outperforms both)",
          _better(Run.slowest)),
    *(Claim(item, "PLM against RLM, RLC", LOSES_LESS, _better(Run.lost)) for item in EXPERIMENTS),
    Claim("receivers", "PLM against RLM, RLC", "fewer changes of layers than both (PLM outperforms both)",
          _better(Run.changes)),
    Claim("receivers", "RLM, RLC", "each receiver loses packets, though alone (the bottleneck queue must overflow)",
          lambda r: all(row["lost_packets"] > 0 for policy in (RLM, RLC) for row in r.receivers[policy].values())),
)  # fmt: skip
"""What section 3.3 says, in brackets, and how it is read. All numbers in them are our reading."""

TABLES = Tables(
    NAME,
    EXPERIMENTS,
    {name: Runs((name,), runs_of) for name in EXPERIMENTS},
    [_table(name) for name in EXPERIMENTS],
    CLAIMS,
)
captions, needs, lines = TABLES.captions, TABLES.needs, TABLES.lines


def figures(rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """Layers over time, and what it took and cost to come to them."""
    from fairq import figures as draw

    for name, item, gateways, columns, title in (
        ("receivers over time", "receivers", ("FQ",), 1,
         "One session, receivers for whom 4, 3 and 2 layers are right (one seed)"),
        ("sessions over time", "sessions", ("FQ", "FIFO"), 2,
         "Three sessions on one line, 4 layers are right for each (one seed)"),
    ):  # fmt: skip
        if name in results:
            levels = [row for row in results[name]["series"] if row["level"] is not None]
            panels = {
                protocol if len(gateways) == 1 else f"{protocol}, {gateway}":
                    over_time(where(levels, protocol=protocol, gateway=gateway), "level", "receiver")
                for protocol in ("PLM", "RLM", "RLC")
                for gateway in gateways
            }  # fmt: skip
            figure = draw.steps(panels, columns, "time (s)", "layers", title, style=style)
            curves = {f"{panel}, {receiver}": of for panel, found in panels.items() for receiver, of in found.items()}
            data = curve_rows(curves, "receiver", "time_s", "layers")
            yield Plotted(name.replace(" ", "_"), item, figure, data)
    bars = {
        "time to the right layers of one session (s)": _bars(rows, "receivers", RIGHT_AFTER),
        "packets lost (%), over FQ": _losses(rows),
    }
    title = "What it takes to come to the right layers, and what it costs (mean of the seeds)"
    data = [
        {"quantity": quantity, "protocol": protocol, "of": of, "value": value}
        for quantity, by_protocol in bars.items()
        for protocol, by in by_protocol.items()
        for of, value in by.items()
    ]
    yield Plotted("convergence_and_loss", "", draw.bars_of_panels(bars, title, style=style), data)


def _bars(rows: Sequence[Mapping[str, Any]], item: str, quantity: str) -> dict[str, dict[str, float]]:
    """By protocol the bars of one item over FQ."""
    found: dict[str, dict[str, float]] = {}
    for row in where(rows, item=item, quantity=quantity):
        protocol, _, gateway = row["policy"].partition(", ")
        if gateway == "FQ" and row["measured"] is not None:
            found.setdefault(protocol, {})[row["source"]] = row["measured"]
    return found


def _losses(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """By protocol the mean loss of the receivers of each experiment."""
    found: dict[str, dict[str, float]] = {}
    for item in EXPERIMENTS:
        for protocol, bars in _bars(rows, item, "loss").items():
            found.setdefault(protocol, {})[item] = 100 * math.fsum(bars.values()) / len(bars)
    return found
