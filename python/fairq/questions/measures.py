"""What is measured of groups of flows and queues: meaning, and the scale of its intervals."""

from __future__ import annotations

from typing import NamedTuple

from fairq.statistics import Scale


class Measure(NamedTuple):
    """A quantity: the scale on which it cannot leave its range, and its meaning."""

    scale: Scale
    meaning: str
    is_more_better: bool = False


MEASURES = {
    "goodput_bit_per_s": Measure("log", "Data that arrived for the first time, headers of IP included, in bit/s."),
    "share": Measure("logit", "The goodput as a part of the line's rate in that direction, 0 to 1.", True),
    "share_per_flow": Measure("logit", "The share of one flow of the group, 0 to 1.", True),
    "share_per_host": Measure("logit", "The share of one client of --hosts, 0 to 1; null without --hosts.", True),
    "queueing_s_mean": Measure("log", "Mean queueing delay: the delay less propagation and transmission, in seconds."),
    "queueing_s_p95": Measure("log", "95th percentile of the queueing delay, mean of the flows', in seconds."),
    "queueing_s_p99": Measure("log", "99th percentile of the queueing delay, mean of the flows', in seconds."),
    "loss": Measure("logit", "The part of the packets sent that was dropped or lost, 0 to 1."),
    "in_time": Measure("logit", "The part of the packets sent, 0 to 1, that came within --latency-target.", True),
    "marked_ratio": Measure("logit", "The part of the packets sent that was marked, 0 to 1."),
    "marked": Measure("log", "Packets that were marked."),
    "retransmitted": Measure("log", "Packets sent that had been sent before."),
    "completion_s_mean": Measure("log", "Mean time from a transfer's start to its last acknowledgement, in seconds."),
    "completion_s_p95": Measure("log", "95th percentile of that time, in seconds."),
    "jain": Measure("logit", "Jain's index over the throughput of the flows that take what they can get.", True),
    "jain_hosts": Measure("logit", "The same over the throughput of the clients of --hosts.", True),
    "utilisation": Measure("logit", "The part of the line's capacity that was used, 0 to 1.", True),
    "overtaken": Measure("logit", "The part of the packets before which a packet that arrived later was sent, 0 to 1."),
    "sparse": Measure("log", "Mean number of flows that woke a short while ago, or decay; null but for cake."),
    "bulk": Measure("log", "Mean number of flows that take turns; null but for cake."),
    "unresponsive": Measure("log", "Mean number of flows dropped from at random after overflows; null but for cake."),
}  # fmt: skip
"""By name. A measure is null where no packet, transfer or second flow gives it a value."""

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
OF_CANDIDATE = (*(f"call_{name}" for name in OF_CALL), *OF_LINE, "bulk_queueing_s_mean", "completion_s_mean")
"""What is measured of a call, of a direction of the line, and of a candidate of `fairq advise`."""

WHOSE = {"call_": "Of the call, or of the capture. ", "bulk_": "Of the bulk flows. "}
"""What begins the name of a column that is not of all flows."""


def quantity(column: str) -> str:
    """The measure that a column of a candidate is of."""
    for start in WHOSE:
        column = column.removeprefix(start)
    return column


PAIRED_OF_GROUP = ("share", "queueing_s_mean", "queueing_s_p99", "loss", "completion_s_mean")
PAIRED_OF_QUEUE = ("jain", "jain_hosts", "utilisation", "queueing_s_mean")
"""What is compared on the same seeds."""
