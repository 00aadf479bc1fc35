"""What `fairq detect` gives."""

from __future__ import annotations

from typing import Annotated, Literal

from fairq.core.rows import Row


class Detected(Row):
    """What was found of one flow (fairq.detection.evidence); a number is null if too few packets show it."""

    flow: Annotated[str, "The flow."]
    verdict: Annotated[Literal["fair queueing", "FIFO", "cannot tell"], "What the bottleneck was."]
    confidence: Annotated[float | None, "The share of correct verdicts like this one on test networks."]
    p_fair: Annotated[float | None, "The probability that the bottleneck had a queue for each flow."]
    packets: Annotated[int, "Packets that were sent."]
    pairs: Annotated[int | None, "Packets that came to the bottleneck while their predecessor was there."]
    capacity_bit_per_s: Annotated[float | None, "The rate of the bottleneck in bit/s, by the smallest distances."]
    share_bit_per_s: Annotated[float | None, "What the flow got while its packets waited, in bit/s."]
    follows: Annotated[float | None, "The correlation of the work of others with the time between two sendings."]
    crossing: Annotated[float | None, "The work of others over the time between sendings, at the capacity."]
    close: Annotated[float | None, "The part of the pairs that were sent within a packet's time."]
    close_crossing: Annotated[float | None, "The same as crossing, of close pairs."]
    spread: Annotated[float | None, "The deviation of the times between sendings, in packets at the capacity."]
    unexplained: Annotated[float | None, "The deviation of delays from a fit to own packets, in packets."]
    close_work: Annotated[float | None, "The work of others in close pairs, in long packets."]
    close_time: Annotated[float | None, "The time between the sendings of close pairs, in long packets."]
    far_work: Annotated[float | None, "The work of others in the other pairs, in long packets."]
    far_time: Annotated[float | None, "The time between the sendings of the other pairs, in long packets."]
    crossed: Annotated[float | None, "The part of the pairs sent almost at once between which others came."]
    timing: Annotated[float | None, "Below 0 if the work of others grows with time, above 0 if it comes in turns."]
    timing_range: Annotated[float | None, "How far apart the two are."]
    pieces: Annotated[float | None, "How many pieces of work the timing is from."]
    lean: Annotated[float | None, "The logarithm of the ratio of the two likelihoods."]
    close_timing: Annotated[float | None, "The timing of close pairs, from 0 to 1."]
    firsts: Annotated[int | None, "Packets that found none of the flow's own in the bottleneck."]
    first_wait_max: Annotated[float | None, "Their longest wait, in long packets."]
    slope: Annotated[float | None, "Of the line that fits waits to the flow's own packets before them."]
    intercept: Annotated[float | None, "Of the same line, in long packets."]
    fit: Annotated[float | None, "The correlation of the two."]
    beyond_own: Annotated[float | None, "The median of the waits less the flow's own packets, in long packets."]
    unmatched: Annotated[float, "The part of the packets that was not found at the other end."]
    notes: Annotated[list[str], "Sentences to read before the row is trusted."]
    why: Annotated[str, "Why the verdict is none; empty if there is one."]
