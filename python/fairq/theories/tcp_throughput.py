"""What a TCP connection sends, given the loss and the round trip that it sees.

Source: Mathis, Semke, Mahdavi and Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 27(3)
(1997), equation 3; Padhye, Firoiu, Towsley and Kurose, "Modeling TCP Throughput", SIGCOMM 1998, equations 29 to 33;
of CUBIC Xu, Ha, Rhee, Goel and Eggert, RFC 9438, section 5.1, figures 5 and 6.
Departs: none; all rates are packets per second, `acknowledged` is their b, the packets that one acknowledgement covers.

They speak of Reno's rule with a loss rate that does not depend on the connection. Behind a queue of its own a
connection makes its losses itself, and the formulas only say again what was measured.
"""

from __future__ import annotations

import math

from fairq.theories.fq_delay import check


def mathis(round_trip: float, loss: float, *, acknowledged: int = 1) -> float:
    """C / (R √p) with C = √(3/2b): losses at equal distances, no timeouts.

    >>> round(1000 * mathis(0.1, 0.01))
    122474
    """
    _check(round_trip, loss, 0.0, acknowledged, math.inf)
    return math.sqrt(1.5 / acknowledged / loss) / round_trip


def padhye(round_trip: float, loss: float, *, timeout: float, acknowledged: int = 1, window: float = math.inf) -> float:
    """The approximate model: timeouts of `timeout` seconds at first, a receive window of `window` packets.

    >>> round(padhye(0.1, 0.01, timeout=1, acknowledged=2), 3)
    70.654
    """
    _check(round_trip, loss, timeout, acknowledged, window)
    b, p = acknowledged, loss
    timeouts = timeout * min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return min(window / round_trip, 1 / (round_trip * math.sqrt(2 * b * p / 3) + timeouts))


def padhye_full(
    round_trip: float, loss: float, *, timeout: float, acknowledged: int = 1, window: float = math.inf
) -> float:
    """The full model.

    >>> round(padhye_full(0.1, 0.01, timeout=1, acknowledged=2), 3)
    69.524
    """
    _check(round_trip, loss, timeout, acknowledged, window)
    check(loss < 1, "the loss must be below 1", "loss")
    b, p = acknowledged, loss
    term = (2 + b) / (3 * b)
    # E[W], the window at the end of a period without timeout
    expected = term + math.sqrt(8 * (1 - p) / (3 * b * p) + term * term)
    is_limited = expected >= window
    reached = window if is_limited else expected
    rounds = b * window / 8 + (1 - p) / (p * window) + 2 if is_limited else b * expected / 2 + 1
    # Q(w), the probability that a loss is found by a timeout
    ends = min(1.0, _some(3, p) * (1 + (1 - p) ** 3 * _some(reached - 3, p)) / _some(reached, p))
    backed_off = 1 + sum(2 ** (k - 1) * p**k for k in range(1, 7))
    packets = (1 - p) / p + reached + ends / (1 - p)
    return float(packets / (round_trip * rounds + ends * timeout * backed_off / (1 - p)))


def cubic(round_trip: float, loss: float, *, scale: float = 0.4, decrease: float = 0.7) -> float:
    """CUBIC's mean window over the round trip: losses at equal distances, no timeouts.

    Its window is not below that of a Reno with the same losses (section 4.3).

    >>> round(0.1 * cubic(0.1, 1e-4))
    187
    """
    _check(round_trip, loss, 0.0, 1, math.inf)
    window = math.pow(scale * (3 + decrease) / (4 * (1 - decrease)), 0.25) * math.pow(round_trip / loss, 0.75)
    return max(window / round_trip, mathis(round_trip, loss))


def _some(packets: float, loss: float) -> float:
    """1 - (1 - p)^n, of small p too: the probability that some of n packets are lost."""
    return -math.expm1(packets * math.log1p(-loss))


def _check(round_trip: float, loss: float, timeout: float, acknowledged: int, window: float) -> None:
    check(0 < round_trip < math.inf, "the round trip must be above 0", "rtt")
    check(0 < loss <= 1, "the loss must be above 0 and at most 1", "loss")
    check(0 <= timeout < math.inf, "the timeout must not be below 0", "timeout")
    check(acknowledged >= 1, "an acknowledgement covers at least one packet")
    check(window >= 1, "the window must be at least one packet")
