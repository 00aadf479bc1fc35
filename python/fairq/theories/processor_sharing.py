"""How many transfers share a line, and how long they take: processor sharing.

Source: Kleinrock, Queueing Systems II (1976), section 4.4, for M/G/1; for transfers that cannot use more than a part
of the line the state is that of M/M/m, as Bonald and Proutière, "Insensitive Bandwidth Sharing in Data Networks"
(2003), show.
Transfers arrive as a Poisson process, of sizes of any distribution; the line's rate is shared equally.
Departs: `peak` need not divide the rate; the number of transfers that fill the line is then the next whole one, and
the answer lies between those of its neighbours.
"""

from __future__ import annotations

import math

from fairq.theories.fq_delay import check

LEAST = 1e-300
"""Probabilities below this cannot be asked for: the numbers of the machine end there."""


MOST = 100_000
"""Transfers at their peak rate that may fill a line, the number of terms of the sums."""


def mean_in_progress(load: float, full: int = 1) -> float:
    """The mean number of transfers; `full` of them at their peak rate fill the line.

    >>> mean_in_progress(0.9), round(mean_in_progress(0.9, 50), 2)
    (9.000000000000002, 48.27)
    """
    return load * full + waiting(load, full) * load / (1 - load)


def waiting(load: float, full: int = 1) -> float:
    """The probability that the transfers in progress share the line: Erlang's C.

    >>> round(waiting(0.9, 50), 4)
    0.3639
    """
    _check(load, full)
    # Erlang's B by its recursion, which neither overflows nor cancels
    blocked, offered = 1.0, load * full
    for servers in range(1, full + 1):
        blocked = offered * blocked / (servers + offered * blocked)
    return blocked / (1 - load * (1 - blocked))


def more_than(number: int, load: float, full: int = 1) -> float:
    """P(N > number).

    >>> f"{more_than(100, 0.9):.3g}"
    '2.39e-05'
    """
    _check(load, full)
    check(number >= 0, "the number must not be below 0")
    if number + 1 >= full:
        return waiting(load, full) * load ** (number + 1 - full)
    # P(n) ~ A^n/n! below `full`, in logarithms: A^n is soon too large, and the first and the last too small
    offered = load * full
    logs = [state * math.log(offered) - math.lgamma(state + 1) for state in range(full)]
    logs.append(full * math.log(offered) - math.lgamma(full + 1) - math.log1p(-load))
    top = max(logs)
    parts = [math.exp(log - top) for log in logs]
    return math.fsum(parts[number + 1 :]) / math.fsum(parts)


def exactly(number: int, load: float, full: int = 1) -> float:
    """P(N = number)."""
    above = more_than(number, load, full)
    return (1.0 if number == 0 else more_than(number - 1, load, full)) - above


def least_number(probability: float, load: float, full: int = 1) -> int:
    """The least n with P(N > n) <= `probability`.

    >>> least_number(1e-3, 0.9), least_number(1e-6, 0.9)
    (65, 131)
    """
    _check(load, full)
    check(LEAST <= probability < 1, f"the probability must be at least {LEAST:g} and below 1", "probability")
    high = 1
    while more_than(high, load, full) > probability:
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if more_than(middle, load, full) > probability else (low, middle)
    return high


def slowdown(load: float, full: int = 1) -> float:
    """The mean sojourn of a transfer over what it takes at its peak rate: E[N] / (load · full), by Little's theorem.

    >>> round(slowdown(0.9), 6)
    10.0
    """
    return mean_in_progress(load, full) / (load * full)


def filled_by(rate: float, peak: float | None) -> int:
    """How many transfers at their peak rate fill the line; 1 if a transfer can use all of it."""
    if peak is None:
        return 1
    check(peak > 0, "the peak rate must be above 0", "peak")
    return max(1, math.ceil(rate / peak - 1e-9))


def _check(load: float, full: int) -> None:
    check(0 < load < 1, "the load must lie between 0 and 1", "load")
    check(1 <= full <= MOST, f"at most {MOST} transfers may fill the line")
