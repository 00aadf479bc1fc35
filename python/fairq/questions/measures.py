"""What is measured of groups of flows and queues: meaning, and the scale of its intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fairq.core import columns
from fairq.core.columns import Facts
from fairq.statistics import Scale


class Measure(NamedTuple):
    """A quantity: the facts of its column, and its meaning."""

    facts: Facts
    meaning: str

    @property
    def scale(self) -> Scale:
        """The scale on which it cannot leave its range."""
        return self.facts.scale

    @property
    def is_more_better(self) -> bool:
        """Whether the greatest value is the best."""
        return self.facts.better == "higher"


def _measure(column: str, meaning: str) -> Measure:
    facts = columns.facts(column)
    assert facts is not None, column
    return Measure(facts, meaning)


LIKE = {"goodput_bit_per_s": "throughput_bit_per_s", "in_time": "call_in_time"}
"""Measures that are not what a run calls so, and the column that has their facts."""

MEANINGS = {
    "goodput_bit_per_s": "Data that arrived for the first time, headers of IP included, in bit/s.",
    "share": "The goodput as a part of the line's rate in that direction, 0 to 1.",
    "share_per_flow": "The share of one flow of the group, 0 to 1.",
    "share_per_host": "The share of one client of --hosts, 0 to 1; null without --hosts.",
    "queueing_s_mean": "Mean queueing delay: the delay less propagation and transmission, in seconds.",
    "queueing_s_p95": "95th percentile of the queueing delay, mean of the flows', in seconds.",
    "queueing_s_p99": "99th percentile of the queueing delay, mean of the flows', in seconds.",
    "loss": "The part of the packets sent that was dropped or lost, 0 to 1.",
    "in_time": "The part of the packets sent, 0 to 1, that came within --latency-target.",
    "marked_ratio": "The part of the packets sent that was marked, 0 to 1.",
    "marked": "Packets that were marked.",
    "retransmitted": "Packets sent that had been sent before.",
    "completion_s_mean": "Mean time from a transfer's start to its last acknowledgement, in seconds.",
    "completion_s_p95": "95th percentile of that time, in seconds.",
    "jain": "Jain's index over the throughput of the flows that take what they can get.",
    "jain_hosts": "The same over the throughput of the clients of --hosts.",
    "utilisation": "The part of the line's capacity that was used, 0 to 1.",
    "guarantee_kept": "The part of its guarantee that a kind of users gets, 0 to 1; null without --shared.",
    "overtaken": "The part of the packets before which a packet that arrived later was sent, 0 to 1.",
    "sparse": "Mean number of flows that woke a short while ago, or decay; null but for cake.",
    "bulk": "Mean number of flows that take turns; null but for cake.",
    "unresponsive": "Mean number of flows dropped from at random after overflows; null but for cake.",
}  # fmt: skip
"""What each measure means. A measure is null if no packet, transfer or second flow gives it a value."""

MEASURES = {name: _measure(LIKE.get(name, name), meaning) for name, meaning in MEANINGS.items()}
"""The measures by name."""

OF_GROUP = (
    "goodput_bit_per_s", "share", "share_per_host", "queueing_s_mean", "queueing_s_p95", "queueing_s_p99", "loss",
    "marked_ratio", "marked", "retransmitted", "completion_s_mean", "completion_s_p95",
)  # fmt: skip
"""The columns of a group of flows."""

FLOW_KINDS = ("sparse", "bulk", "unresponsive")
"""How many flows of each of CAKE's kinds there are."""

OF_QUEUE = ("jain", "jain_hosts", "utilisation", "queueing_s_mean", "overtaken", *FLOW_KINDS)
"""The columns of a queue."""

OF_EFFECT = ("queueing_s_mean", "queueing_s_p99", "share", "loss", "marked_ratio")
"""The columns of a group of flows where one setting is varied."""

OF_CALL = ("queueing_s_p99", "queueing_s_mean", "loss", "in_time")
OF_LINE = ("utilisation", "queueing_s_mean", "jain")
OF_KIND = ("guarantee_kept", "alone_utilisation")
OF_CANDIDATE = (
    *(f"call_{name}" for name in OF_CALL), *OF_LINE, "bulk_queueing_s_mean", "completion_s_mean", *OF_KIND,
)  # fmt: skip
"""What is measured of a call, of a direction of the line, of a kind of users, and of a candidate of
`fairq advise`."""

WHOSE = {
    "call_": "Of the call, or of the capture. ", "bulk_": "Of the bulk flows. ",
    "alone_": "While one kind of users is alone; null without --shared. ",
}  # fmt: skip
"""What begins the name of a column that is not of all flows."""


def quantity(column: str) -> str:
    """The measure that a column of a candidate is of."""
    for start in WHOSE:
        column = column.removeprefix(start)
    return column


def intervals(of: Iterable[str], seeds: Sequence[Mapping[str, float | None]]) -> dict[str, Any]:
    """The mean of each column over the seeds and the ends of its interval; `None` if unknown."""
    row: dict[str, Any] = {}
    for column in of:
        facts = MEASURES[quantity(column)].facts
        ratio = [seed.get(facts.of_ratio) for seed in seeds] if facts.of_ratio else []
        found = columns.interval([seed[column] for seed in seeds], facts.scale, ratio)
        row |= {column: found.mean, f"{column}_low": found.low, f"{column}_high": found.high}
    return row


PAIRED_OF_GROUP = ("share", "queueing_s_mean", "queueing_s_p99", "loss", "completion_s_mean")
PAIRED_OF_QUEUE = ("jain", "jain_hosts", "utilisation", "queueing_s_mean")
"""What is compared on the same seeds."""


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are known."""
    return [value for value in values if value is not None]


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; `None` if there are none."""
    found = known(values)
    return math.fsum(found) / len(found) if found else None


def jain(shares: Sequence[tuple[float, int]]) -> float | None:
    """Jain's index of shares, each with how many have it; `None` if none got anything."""
    squares = math.fsum(count * share * share for share, count in shares)
    whole = math.fsum(count * share for share, count in shares)
    return whole**2 / (sum(count for _, count in shares) * squares) if squares else None
