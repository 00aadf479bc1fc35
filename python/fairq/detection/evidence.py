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

from fairq.detection.journeys import Journey
from fairq.detection.pairs import Flags, Numbers

FEWEST = 20
"""Packets behind their predecessor below which nothing is said."""

CLUSTER, PART = 1.1, 0.03
"""The smallest distance counts if this part of all lies within this factor of it."""


LONG = 12_000.0
"""Bits of a long packet, in which the work of others and waits are counted: one's own may be short."""

NOISE, LEAST = 0.03, 80.0
"""The part of the distances that are below those at the capacity because stamps were late: no more than these is the
work of others. And bits that no packet is below."""

INSTANT = 0.02
"""Long packets' times that are added to each time between two sendings: what was sent at once was not quite."""


AT_ONCE, A_PIECE = 0.11, 0.3
"""Pairs sent within this were sent almost at once, those of a host ten times as fast among them; others came between
them if they brought more than this."""

FIRST_MIN = 3
"""Packets that found none of one's own below which their waits are not looked at."""


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

    The rest is in long packets at the capacity, and counts no work that late stamps could be. `close_work` and
    `close_time` are the work of others in close pairs and the time between their sendings, `far_work` and `far_time`
    the same of the other pairs; `crossed` is the part of pairs sent almost at once between which others came.
    `timing` says when the work of others came: below 0 if in proportion to the time between two sendings, as in a
    FIFO, above 0 if as much in each pair, as in turns; `timing_range` is how far apart the two are, `pieces` how many
    pieces of work say it, and `lean` the logarithm of the ratio of the likelihoods. `close_timing` is from 0 to 1 the
    same of close pairs. `first_wait_max` is the longest wait of the `firsts`, packets that found none of one's own.
    The line that fits waits best to one's own packets before them has the `slope` and the `intercept`, `fit` is the
    correlation of the two, and `beyond_own` the median of the waits less these packets.
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
    close_work: float
    close_time: float
    far_work: float
    far_time: float
    crossed: float
    timing: float
    timing_range: float
    pieces: float
    lean: float
    close_timing: float
    firsts: int
    first_wait_max: float
    slope: float
    intercept: float
    fit: float
    beyond_own: float


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
    # in long packets from here on
    late = max(0.0, -float(np.quantile(others / per_bit, NOISE)))
    work = np.where(others / per_bit > late + LEAST, others / per_bit, 0.0) / LONG
    time = np.maximum(between, 0.0) / (LONG * per_bit)
    all_pairs, close_pairs = when(work, time), when(work[is_close], time[is_close])
    wait = received - sent - bits * per_bit
    wait = (wait - wait.min()) / (LONG * per_bit)
    before = (backlog - bits) / LONG
    is_first, is_at_once = before <= 0, time < AT_ONCE
    intercept, slope = growth(before, wait)
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
        close_work=float(work[is_close].sum()),
        close_time=float(time[is_close].sum()),
        far_work=float(work[~is_close].sum()),
        far_time=float(time[~is_close].sum()),
        crossed=float((work[is_at_once] > A_PIECE).mean()) if is_at_once.any() else 0.0,
        timing=all_pairs.timing,
        timing_range=all_pairs.apart,
        pieces=all_pairs.pieces,
        lean=all_pairs.lean,
        close_timing=close_pairs.from_fifo,
        firsts=int(is_first.sum()),
        first_wait_max=float(wait[is_first].max()) if is_first.sum() >= FIRST_MIN else 0.0,
        slope=slope,
        intercept=intercept,
        fit=correlation(before, wait),
        beyond_own=float(np.median(wait - before)),
    )


@dataclass(frozen=True)
class When:
    """Where the times of other flows' work lie between those of a FIFO and those of per-flow turns.

    `seen`, `in_fifo` and `in_turns` are means of log(mean time / time) over that work, as measured and under either
    discipline; `pieces` is the number of pieces of work.
    """

    seen: float
    in_fifo: float
    in_turns: float
    pieces: float

    @property
    def apart(self) -> float:
        """How far FIFO and turns are apart: 0 if all times are the same."""
        return self.in_turns - self.in_fifo

    @property
    def from_fifo(self) -> float:
        """0 in a FIFO, towards 1 in turns."""
        return (self.seen - self.in_fifo) / (self.apart + APART)

    @property
    def timing(self) -> float:
        """Below 0 in a FIFO, above 0 in turns, 0 if both predict the same."""
        return (self.seen - self.in_fifo - self.apart / 2) / (self.apart + APART)

    @property
    def lean(self) -> float:
        """The logarithm of the ratio of the likelihoods, above 0 for turns."""
        return self.pieces * (self.seen - (self.in_fifo + self.in_turns) / 2)


def when(work: Numbers, time: Numbers) -> When:
    """When the work of others came in these pairs.

    If work comes by chance at a constant rate, a pair has its part by the time between its
    sendings; if queues take turns, by the number of sendings. Weighted by the work, the mean of
    log(mean time / time) is the logarithm of the ratio of the two likelihoods for each piece of
    work, and has a known mean under either; the sizes say how many there are.
    """
    total = float(work.sum())
    if len(work) <= MOMENTS_MIN or total <= 0:
        return When(0.0, 0.0, 0.0, 0.0)
    time = time + INSTANT
    far = np.log(time.mean() / time)
    pieces = total * total / float((work * work).sum())
    return When(float((work * far).sum()) / total, float((time * far).sum() / time.sum()), float(far.mean()), pieces)


MOMENTS_MIN = 5
"""Pairs at or below which nothing is said of when the work of others came."""

APART = 0.3
"""How far what a FIFO and turns would give are apart before the difference counts in full."""


def growth(before: Numbers, wait: Numbers) -> tuple[float, float]:
    """Intercept and slope of the line that fits waits best to one's own packets before them."""
    line = np.column_stack([np.ones(len(wait)), before])
    intercept, slope = np.linalg.lstsq(line, wait, rcond=None)[0]
    return float(intercept), float(np.clip(slope, *SLOPES))


SLOPES = (-5.0, 20.0)
"""No flow sees more turns in a few packets, nor waits less by more."""


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
