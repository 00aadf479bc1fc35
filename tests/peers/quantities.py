"""What is compared: the scenarios, their runs on both sides in the same terms, and the quantities of a run."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Literal

import legout
from programs import HERE


@dataclass(frozen=True)
class Scenario:
    """A scenario file of fairq, and the peer's script that is the same network.

    `spread` is the seconds in which starts are random; `shares` the ideal throughput of each flow in kbit/s, if the
    scenario has any. `access_delay` is the range in milliseconds of the random delay of the access lines, where
    there is no other chance.
    """

    name: str
    peer: Literal["ns2", "ns3"]
    file: str
    script: str
    spread: float
    arguments: Mapping[str, str] = field(default_factory=dict)
    shares: Sequence[float] = ()
    access_delay: tuple[float, float] | None = None

    @property
    def apart(self) -> int:
        """By how many microseconds each access line takes longer than the one before.

        It is in place of what the file says against ties: packets of two connections then never come at the same time,
        on either side.
        """
        return int(self.arguments.get("apart", "0"))

    @property
    def own_name(self) -> str:
        """What it is called in the table."""
        return self.file.removesuffix(".toml") + ("_apart" if self.apart else "")

    @property
    def names(self) -> list[str]:
        """What it is asked for by: the name of all of its kind, its own."""
        return [self.name, self.own_name]

    def path(self, folder: Path) -> Path:
        """The scenario file, or one in `folder` where there is none."""
        if self.script != "legout" and not self.apart:
            return HERE / "scenarios" / self.file
        path = folder / f"{self.own_name}.json"
        path.write_text(json.dumps(self.read()), encoding="utf-8")
        return path

    def read(self) -> dict[str, Any]:
        """The scenario file; the large network has none, it stands in tables."""
        if self.script == "legout":
            return legout.scenario(int(self.arguments["connections"]), 50, list(legout.QUEUES))
        said = tomllib.loads((HERE / "scenarios" / self.file).read_text(encoding="utf-8"))
        access = [link for link in said["links"] if self.apart and link["name"].startswith("access")]
        for at, link in enumerate(access):
            link["delay"] = f"{1000 * float(link['delay'].removesuffix(' ms')) + at * self.apart} us"
            link["jitter"] = "0 s"
        return said


REASONS = {"RED": "what `RED as in` has on"}
"""Why the points of these names may differ: each has a point beside it that has what the peer adds."""

FAIR = [625.0] * 16
WEIGHTED = [10000 * i / 15 for i in range(1, 6)]
SCENARIOS = [
    Scenario("dumbbell", "ns2", "dumbbell.toml", "dumbbell", 0.1),
    Scenario("vwfq", "ns2", "vwfq1.toml", "vwfq", 1.0, {"experiment": "1"}, FAIR),
    Scenario("vwfq", "ns2", "vwfq1_jitter.toml", "vwfq", 1.0, {"experiment": "1", "jitter": "1"}, FAIR),
    Scenario(
        "vwfq",
        "ns2",
        "vwfq1_jitter_access.toml",
        "vwfq",
        1.0,
        {"experiment": "1", "jitter": "1", "access": "100Mb"},
        FAIR,
    ),
    Scenario("vwfq", "ns2", "vwfq2.toml", "vwfq", 1.0, {"experiment": "2"}, FAIR),
    Scenario("vwfq", "ns2", "vwfq3.toml", "vwfq", 1.0, {"experiment": "3"}, WEIGHTED),
    Scenario(
        "vwfq",
        "ns2",
        "vwfq3_processing.toml",
        "vwfq",
        1.0,
        {"experiment": "3", "overhead": "0.0008"},
        WEIGHTED,
    ),
    Scenario("vwfq", "ns2", "vwfq3.toml", "vwfq", 1.0, {"experiment": "3", "apart": "137"}, WEIGHTED),
    Scenario("buffers", "ns2", "buffers.toml", "buffers", 1.0),
    Scenario(
        "legout",
        "ns2",
        "legout.toml",
        "legout",
        1.0,
        {"connections": "50", "data": str(legout.DATA)},
    ),
    Scenario(
        "legout_1600",
        "ns2",
        "legout_1600.toml",
        "legout",
        1.0,
        {"connections": "1600", "data": str(legout.DATA)},
    ),
    Scenario("dumbbell", "ns3", "dumbbell_ns3.toml", "dumbbell", 0.1, {"connections": "16"}),
    Scenario("vwfq", "ns3", "vwfq1_ns3.toml", "vwfq", 1.0, {"experiment": "1"}, FAIR),
    Scenario(
        "vwfq",
        "ns3",
        "vwfq1_ns3_jitter_access.toml",
        "vwfq",
        1.0,
        {"experiment": "1", "jitter": "1", "access": "100Mbps"},
        FAIR,
    ),
    Scenario("vwfq", "ns3", "vwfq2_ns3.toml", "vwfq", 1.0, {"experiment": "2"}, FAIR),
    Scenario(
        "vwfq",
        "ns3",
        "vwfq2_ns3_jitter_access.toml",
        "vwfq",
        1.0,
        {"experiment": "2", "jitter": "1", "access": "100Mbps"},
        FAIR,
    ),
    Scenario("vwfq", "ns3", "vwfq2_ns3.toml", "vwfq", 1.0, {"experiment": "2", "apart": "47"}, FAIR),
    Scenario("vwfq", "ns3", "vwfq3_ns3.toml", "vwfq", 1.0, {"experiment": "3"}, WEIGHTED),
    Scenario("vwfq", "ns3", "vwfq3_ns3.toml", "vwfq", 1.0, {"experiment": "3", "apart": "137"}, WEIGHTED),
    Scenario("buffers", "ns3", "buffers_ns3.toml", "buffers", 1.0, {"connections": "1"}, access_delay=(4.5, 5.5)),
]


@dataclass(frozen=True)
class Run:
    """What one run counted in the measured time, the same on both sides; lists have one number for each flow.

    Drops and packets sent are those of the bottleneck, of all lines where there is none.
    """

    duration_s: float
    packet_bits: Sequence[int]
    goodput_packets: Sequence[int]
    retransmitted: Sequence[int]
    dropped: int
    sent: int
    bottleneck: Bottleneck | None


@dataclass(frozen=True)
class Bottleneck:
    """What the one line counted on which all depends."""

    line_bit_per_s: float
    sent_bytes: int
    queue_mean: float


def draw_starts(scenario: Scenario, seed: int) -> list[float]:
    """When each flow starts; the same on both sides."""
    draw = random.Random(f"{scenario.script} {seed}")
    return [round(draw.uniform(0.0, scenario.spread), 6) for _ in scenario.read()["flows"]]


def draw_access_delay(scenario: Scenario, seed: int) -> str | None:
    """The delay of each access line as text, if it is random; the same on both sides."""
    if scenario.access_delay is None:
        return None
    draw = random.Random(f"{scenario.script} access {seed}")
    return f"{round(draw.uniform(*scenario.access_delay), 3)} ms"


def of_peer(scenario: Scenario, document: Mapping[str, Any]) -> Run:
    """A run of the peer."""
    duration, bits, line = _fixed(scenario.read())
    goodput, again = document["goodput"], document["retransmitted"]
    if line is None:
        return Run(duration, bits, goodput, again, document["dropped"], document["hops"], None)
    bottleneck = Bottleneck(line, document["bottleneck_bytes"], document["queue_mean"])
    return Run(duration, bits, goodput, again, document["bottleneck_dropped"], document["bottleneck_sent"], bottleneck)


def of_fairq(scenario: Scenario, tables: Mapping[str, Any]) -> Run:
    """A run of fairq at one point of the axes."""
    duration, bits, line = _fixed(scenario.read())
    links, queues = tables["links"], tables["queues"]
    goodput = [row["goodput_packets"] for row in tables["flows"]]
    again = [row["retransmitted"] for row in tables["flows"]]
    if line is None:
        dropped, sent = sum(row["dropped"] for row in queues), sum(row["packets"] for row in links)
        return Run(duration, bits, goodput, again, dropped, sent, None)
    bottleneck = Bottleneck(line, links[0]["bytes"], queues[0]["waiting_packets_mean"])
    return Run(duration, bits, goodput, again, queues[0]["dropped"], links[0]["packets"], bottleneck)


def measured(scenario: Scenario, run: Run) -> dict[str, float]:
    """The quantities of a run that are compared, by their names in the table."""
    counted = zip(run.goodput_packets, run.packet_bits, strict=True)
    throughput = [packets * bits / run.duration_s / 1000 for packets, bits in counted]
    found = {"throughput mean (kbit/s)": fmean(throughput)}
    if len(throughput) > 1:
        found["throughput min (kbit/s)"] = min(throughput)
        found["throughput max (kbit/s)"] = max(throughput)
        found["throughput std among flows (kbit/s)"] = pstdev(throughput)
    if scenario.shares:
        found["fairness to the ideal"] = fairness(throughput, scenario.shares)
    for bits in sorted(set(run.packet_bits)) if len(set(run.packet_bits)) > 1 else []:
        these = [one for one, own in zip(throughput, run.packet_bits, strict=True) if own == bits]
        found[f"throughput of {bits // 8} B flows (kbit/s)"] = fmean(these)
    found["loss"] = run.dropped / (run.dropped + run.sent)
    if run.bottleneck is None:
        found["packet-hops"] = float(run.sent)
    else:
        found["utilisation"] = run.bottleneck.sent_bytes * 8 / run.duration_s / run.bottleneck.line_bit_per_s
        found["queue mean (packets)"] = run.bottleneck.queue_mean
    if any(run.retransmitted):
        found["retransmitted"] = float(sum(run.retransmitted))
    return found


def fairness(throughput: Sequence[float], shares: Sequence[float]) -> float:
    """Jain's index of measured over ideal throughput."""
    parts = [one / share for one, share in zip(throughput, shares, strict=True)]
    squares = sum(part * part for part in parts)
    return sum(parts) ** 2 / len(parts) / squares if squares else 0.0


def _fixed(scenario: Mapping[str, Any]) -> tuple[float, list[int], float | None]:
    """Measured seconds, the bits of a packet of each flow, and the rate of the bottleneck if there is one."""
    duration = float(scenario["measure"]["duration"].removesuffix(" s"))
    bits = [4000 if isinstance(flow["traffic"], dict) else 8000 for flow in scenario["flows"]]
    first = scenario["links"][0]
    line = float(first["rate"].removesuffix(" Mbit/s")) * 1e6 if first["name"] == "bottleneck" else None
    return duration, bits, line
