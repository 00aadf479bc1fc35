"""What the times of one's own packets at both ends say of the bottleneck between them: a few numbers.

Source: Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991, for pairs behind fair queueing; Carter and
Crovella, "Measuring Bottleneck Link Speed in Packet-Switched Networks" (1996), for the smallest distance. The rest is
ours.

Of interest are packets that came to the bottleneck while their predecessor was still there. In a FIFO only what others
sent between the two stands between them: the later the second was sent, the more, and nothing if it was sent at once.
In a fair queue all others have a turn between the two: it is the same, however close together they were sent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairq.journeys import Journey
from fairq.pairs import Flags, Numbers

FEWEST = 20
"""Packets behind their predecessor below which nothing is said."""

CLUSTER, PART = 1.1, 0.03
"""The smallest distance counts if this part of all lies within this factor of it."""


@dataclass(frozen=True)
class Evidence:
    """What was seen of one flow.

    `pairs` of its `packets` were behind their predecessor. `capacity` is from their smallest distance at the receiver
    that comes often, `share` from their mean distance, both in bit/s. What a distance is above that at the capacity is
    the work of others in between. `follows` is its correlation with the time between the two sendings, `crossing` its
    sum over the sum of these times, `close_crossing` the same of pairs that were sent within the time that the capacity
    needs for a packet, `close` the part of pairs that were. `spread` is the deviation of the times between sendings:
    without any there is nothing that could be followed. `unexplained` is the deviation of delays from the line that
    fits them best to one's own packets in the bottleneck; both are in packets at the capacity.
    """

    packets: int
    pairs: int
    capacity: float
    share: float
    follows: float
    crossing: float
    close: float
    close_crossing: float
    spread: float
    unexplained: float


def of(journey: Journey) -> Evidence | None:
    """The evidence of one flow; None if too few packets were behind their predecessor."""
    came = ~np.isnan(journey.received)
    sent, received, bits = journey.sent[came], journey.received[came], 8 * journey.size[came]
    if len(sent) <= FEWEST:
        return None
    # when it came to the bottleneck, if the fastest packet waited nowhere
    arrived = sent + np.min(received - sent)
    is_behind = (arrived[1:] < received[:-1]) & (received[1:] > received[:-1]) & is_known_between(journey)
    if int(is_behind.sum()) < FEWEST:
        return None
    distance, between = np.diff(received)[is_behind], np.diff(sent)[is_behind]
    own = bits[1:][is_behind]
    # of short packets time stamps are too coarse
    is_long = own >= 0.5 * own.max()
    per_bit = smallest((distance / own)[is_long if is_long.sum() >= FEWEST else slice(None)])
    unit = per_bit * float(np.median(own))
    # below zero where time stamps were late; in sums that cancels
    others = distance - per_bit * own
    is_close = between < per_bit * own
    delay, backlog = received - arrived, own_backlog(arrived, received, bits)
    line = np.column_stack([np.ones(len(delay)), backlog])
    left = delay - line @ np.linalg.lstsq(line, delay, rcond=None)[0]
    return Evidence(
        packets=len(journey.sent),
        pairs=int(is_behind.sum()),
        capacity=1 / per_bit,
        share=float(own.sum() / distance.sum()),
        follows=correlation(others / unit, between / unit),
        crossing=max(0.0, float(others.sum() / (between.sum() + 1e-3 * unit))),
        close=float(is_close.mean()),
        close_crossing=float((max(0.0, others[is_close].sum()) + unit) / (between[is_close].sum() + unit)),
        spread=float(np.std(between)) / unit,
        unexplained=float(np.std(left)) / unit,
    )


def is_known_between(journey: Journey) -> Flags:
    """Of each two packets that came, one after the other, whether nothing else of one's own may have come in between.

    Packets of which it is not known whether they came may have, and such as were received and not seen when sent.
    """
    came = np.flatnonzero(~np.isnan(journey.received))
    received = journey.received[came]
    places = np.searchsorted(journey.strangers, received, side="right")
    is_known: Flags = places[1:] <= places[:-1]
    if journey.unknown is not None:
        unknown = np.cumsum(journey.unknown)
        is_known &= unknown[came[1:]] == unknown[came[:-1]]
    return is_known


def smallest(distances: Numbers) -> float:
    """The middle of the lowest cluster of distances that holds a fair part of them."""
    ordered = np.sort(distances)
    ends = np.searchsorted(ordered, CLUSTER * ordered, side="right")
    sizes = ends - np.arange(len(ordered))
    begin = int(np.argmax(sizes >= max(3, PART * len(ordered))))
    # time stamps that are late blur the cluster: its middle is where most are, a little further up
    end = int(np.searchsorted(ordered, CLUSTER * CLUSTER * ordered[begin], side="right"))
    place = begin + int(np.argmax(sizes[begin:end]))
    return float(np.median(ordered[place : ends[place]]))


def own_backlog(arrived: Numbers, received: Numbers, bits: Numbers) -> Numbers:
    """What of one's own, each packet included, was in the bottleneck or on its way out when the packet came to it."""
    total = np.concatenate([[0.0], np.cumsum(bits)])
    # packets come out in their order, but for those that were passed: a running maximum sets these right
    gone = np.searchsorted(np.maximum.accumulate(received), arrived, side="right")
    left: Numbers = total[1:] - total[np.minimum(gone, np.arange(len(bits)))]
    return left


def correlation(first: Numbers, second: Numbers) -> float:
    """Pearson's; 0 if one of the two, in packets, varies by no more than what rounding does to it."""
    if min(np.ptp(first), np.ptp(second)) < 1e-6:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
