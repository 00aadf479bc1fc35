"""Judging published numbers: one printed value against the runs of one cell.

A published value is one run, so it is compared with the 95 % prediction interval of one run, widened by a tolerance
that is fixed before the comparison and is the same for all cells of a quantity.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from fairq._native import prediction_interval

Verdict = Literal["agrees", "differs", "undecided", "unreadable"]

Run = Mapping[str, Mapping[str, Mapping[str, float | None]]]
"""The cells of one run of one scenario: policy, then quantity, then source; None where nothing was measured."""

RELATIVE_TOLERANCE = 0.05
COUNT_TOLERANCE = 3.0
TIME_QUANTITIES = frozenset({"rtt"})
"""Quantities in seconds; all others are counts of packets."""

COLUMNS = (
    "paper", "item", "policy", "quantity", "source", "published", "measured", "low", "high", "verdict", "note",
)  # fmt: skip
"""The columns of a table of verdicts; their order is part of the interface."""


@dataclass(frozen=True)
class Published:
    """One printed cell.

    `text` is as printed ("0.083", its digits matter), empty where there is a dash or nothing can be read; `flag` is
    printed, repaired or unreadable.
    """

    scenario: str
    policy: str
    quantity: str
    source: str
    text: str
    flag: str

    @property
    def value(self) -> float | None:
        """The number, None for a dash or what cannot be read."""
        return float(self.text) if self.text else None

    @property
    def tolerance(self) -> float:
        """5 % of the value, at least half the last printed digit of a time or 3 packets of a count."""
        if not self.text:
            return 0.0
        if self.quantity in TIME_QUANTITIES:
            exponent = Decimal(self.text).as_tuple().exponent
            assert isinstance(exponent, int)
            least = float(Decimal(5).scaleb(exponent - 1))
        else:
            least = COUNT_TOLERANCE
        return max(RELATIVE_TOLERANCE * abs(float(self.text)), least)


@dataclass(frozen=True)
class Interval:
    """What one further run is expected to show: mean and 95 % prediction interval, None where nothing was measured."""

    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Line:
    """One line of the table of verdicts."""

    paper: str
    item: str
    policy: str
    quantity: str
    source: str
    published: float | None
    measured: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    note: str

    def row(self) -> dict[str, Any]:
        """As a row of a table, with the columns of COLUMNS."""
        return asdict(self)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, tested on the cells of one run.

    `seeds_in_ten` is in how many of ten seeds an independent simulation saw it hold.
    """

    scenario: str
    policy: str
    text: str
    seeds_in_ten: int
    holds: Callable[[Run], bool]


def read_published(path: Path) -> list[Published]:
    """The published cells of a paper: columns scenario, policy, quantity, source, value, flag."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Published(row["scenario"], row["policy"], row["quantity"], row["source"], row["value"], row["flag"])
            for row in csv.DictReader(file)
        ]


def interval(values: Sequence[float | None]) -> Interval:
    """The prediction interval of the values that exist, if at least half of the runs have one."""
    seen = [value for value in values if value is not None]
    if not seen or 2 * len(seen) < len(values):
        return Interval(None, None, None)
    return Interval(*prediction_interval(seen))


def judge(cell: Published, measured: Interval, *, by_hand: bool, is_telnet: bool) -> Verdict:
    """The verdict on one cell; `by_hand` says that the paper's list calls it undecided beforehand."""
    if cell.flag == "unreadable":
        return "unreadable"
    if by_hand:
        return "undecided"
    if cell.value is None:
        return "agrees" if measured.mean is None else "differs"
    if measured.mean is None or measured.low is None or measured.high is None:
        return "differs"
    if is_too_wide(cell, measured.low, measured.high, is_telnet=is_telnet):
        return "undecided"
    return "agrees" if measured.low - cell.tolerance <= cell.value <= measured.high + cell.tolerance else "differs"


def is_too_wide(cell: Published, low: float, high: float, *, is_telnet: bool) -> bool:
    """Whether the interval would accept nearly anything.

    Half its width, the low end cut at 0, is above 30 % of the published value, and for a count above 10 packets, and
    for a Telnet's throughput above 3.5 √published (a Poisson count is that wide by nature).
    """
    assert cell.value is not None
    half = (high - max(low, 0.0)) / 2
    limits = [0.3 * cell.value]
    if cell.quantity not in TIME_QUANTITIES:
        limits.append(10.0)
        if is_telnet and cell.quantity == "throughput":
            limits.append(3.5 * math.sqrt(cell.value))
    return half > max(limits)


def rank(published: Run, run: Run, policy: str, groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Which source of `run` stands for which published source, under one policy.

    The sources of a group are interchangeable: the best of the run stands for the best of the published run, and so
    on, by throughput, equal ones in order of number. Where a published throughput cannot be read the group is left.
    """
    stands = {source: source for source in run[policy]["throughput"]}
    for group in groups:
        printed = published[policy]["throughput"]
        if any(printed.get(source) is None for source in group):
            continue
        order = _by_throughput(printed, group)
        stands.update(zip(order, _by_throughput(run[policy]["throughput"], group), strict=True))
    return stands


def ranked(published: Run, run: Run, groups: Sequence[Sequence[str]]) -> Run:
    """The run with its sources renamed rank by rank; all quantities of a source move together."""
    return {
        policy: {
            quantity: {source: sources[whose] for source, whose in rank(published, run, policy, groups).items()}
            for quantity, sources in quantities.items()
        }
        for policy, quantities in run.items()
    }


def judge_claim(paper: str, claim: Claim, published: Run, runs: Sequence[Run]) -> Line:
    """The line of one claim: how many seeds fulfil it, beside the published run and an independent simulation.

    It agrees if it holds in at least as many seeds in ten as there, less two, and in some seed at all.
    """
    held = sum(claim.holds(run) for run in runs)
    needed = max(claim.seeds_in_ten - 2, 1) / 10
    share = held / len(runs)
    in_print = claim.holds(published)
    note = f"{held} of {len(runs)} seeds; an independent simulation: {claim.seeds_in_ten} of 10"
    return Line(
        paper, "claim", claim.policy, claim.text, f"scenario {claim.scenario}", float(in_print), share, needed, 1.0,
        "agrees" if share >= needed else "differs",
        note if in_print else note + "; not true of the published run",
    )  # fmt: skip


def _by_throughput(throughput: Mapping[str, float | None], group: Sequence[str]) -> list[str]:
    return sorted(group, key=lambda source: -(throughput[source] or 0.0))
