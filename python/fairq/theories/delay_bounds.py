"""The delay bounds of packet-by-packet generalised processor sharing (PGPS, which is weighted fair queueing).

Source: Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow Control in Integrated Services
Networks", IEEE/ACM Transactions on Networking 1 (1993) for one node, 2 (1994) for several. A node that is never behind
the fluid by more than the longest packet of its line adds L/g + Lmax/r to what the slowest share makes of the burst;
this per-node form is that of Stiliadis and Varma, "Latency-Rate Servers", Infocom 1996, and is the bound of 1994 if all
shares are equal.
Departs: propagation is counted where a hop says one.

Bits and seconds throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairq.theories.fq_delay import check


@dataclass(frozen=True)
class Hop:
    """One line of a path.

    `rate` is that of the line, `share` what the flow is guaranteed of it (its weight over all weights, times the rate),
    `largest` the longest packet of any flow on it (0 if there is no other flow), `propagation` its delay.
    """

    rate: float
    share: float
    largest: float
    propagation: float = 0.0


@dataclass(frozen=True)
class Bound:
    """The greatest delay from the arrival of a packet to its last bit's at the end, and what it is made of.

    `burst` is what the burst takes at the least share, `latencies` what each hop adds, propagation included.
    """

    delay: float
    burst: float
    latencies: tuple[float, ...]


def pgps(burst: float, packet: float, hops: Sequence[Hop], *, rate: float | None = None) -> Bound:
    """The bound for a flow that in any time t sends at most `burst` + `rate` · t bits, in packets up to `packet` bits.

    Without `rate` it is what the flow is guaranteed: the least of its shares. With K hops of equal share g this is
    (burst + (K - 1) packet)/g + the sum of largest/rate.

    >>> ten = Hop(rate=1e6, share=1e5, largest=1000)
    >>> round(pgps(10_000, 1000, [ten]).delay, 6), round(pgps(10_000, 1000, [ten] * 4).delay, 6)
    (0.101, 0.134)

    Raises ValueError if there is no hop, a share exceeds its line, or the flow sends more than it is guaranteed.
    """
    check(len(hops) > 0, "a path has at least one line")
    check(0 < packet <= burst and math.isfinite(burst), "the burst must be at least one packet, and that above 0",
          "burst", "packet")  # fmt: skip
    for hop in hops:
        check(0 < hop.share <= hop.rate, "a share must be above 0 and at most the rate of its line", "share")
        check(hop.largest >= 0 and hop.propagation >= 0, "neither a packet nor a propagation can be below 0",
              "largest", "propagation")  # fmt: skip
    share = min(hop.share for hop in hops)
    check(rate is None or 0 < rate <= share, f"the flow must send above 0 and at most {share:g} bit/s, its least share",
          "rate", "share")  # fmt: skip
    latencies = [packet / hop.share + hop.largest / hop.rate + hop.propagation for hop in hops]
    # the packet itself is within the burst: it is not counted at the slowest share and once more at the hops
    waits = (burst - packet) / share
    return Bound(waits + sum(latencies), waits, tuple(latencies))
