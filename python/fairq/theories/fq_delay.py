"""The delay results of the fair queueing paper, as functions.

Source: Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", Internetworking: Research
and Experience 1 (1990), section Performance. One gateway, line rate 1, N FTP sources always backlogged with packets of
size P_F, one Telnet source with packets of size P_T. Delays are queueing delays, without the packet's own
transmission, in the unit of the packet sizes (bytes in, bytes out; divide by the rate for seconds).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """What a delay lies between, over all synchronisations of the FTPs."""

    low: float
    high: float


def extra_delay(ftps: int, packet: float, ftp_packet: float = 1.0, *, preemptive: bool = False) -> Bounds:
    """A(P): the mean delay of an isolated packet, one that finds nothing of its own conversation in the gateway.

    The low bound is attained by evenly staggered FTPs, the high one by FTPs in step. With δ > 0 the argument is P - δ;
    an argument below 0 means a bid before everything that waits and is taken as 0.

    >>> extra_delay(3, 0.5)
    Bounds(low=0.5, high=0.6666666666666666)

    Raises ValueError if `ftps` < 1 or a size is out of range.
    """
    check(ftps >= 1, "there must be at least one FTP")
    check(ftp_packet > 0 and math.isfinite(ftp_packet), "the FTP packet must be larger than 0", "ftp_packet")
    check(not math.isnan(packet), "the packet's size must be a number")
    n, p = ftps, max(packet, 0.0) / ftp_packet
    late = n * (p - 0.5)
    if p >= 1:
        return Bounds(late * ftp_packet, late * ftp_packet)
    if preemptive:
        high = n * p * p / 2
        if p >= (1 + 1 / n) / 2:
            low = late
        elif p >= (1 - 1 / n) / 2:
            low = (0.5 + late) ** 2 / 2
        else:
            low = 0.0
    else:
        # P = P_F (k + ε)/N with whole k and 0 <= ε < 1
        k = math.floor(n * p)
        epsilon = n * p - k
        high = 0.5 * (1 + (k * k + k * (2 * epsilon - 1)) / n)
        low = late if p >= (1 + 1 / n) / 2 else 0.5
    return Bounds(low * ftp_packet, high * ftp_packet)


def delay(
    ftps: int,
    packet: float,
    delta: float,
    *,
    alone: Callable[[float], float],
    idle: Callable[[float, float], float],
    horizon: float,
    extra: Callable[[float], float],
) -> float:
    """D_N(P): the mean delay beside N FTPs, by the paper's general relation.

    D_N(P) = D_0[(N+1)P] + A(P) - ∫ I_0[(N+1)P, t] {A(P) - A[P - min(t/N, δ)]} dt

    `alone(size)` is D_0; `idle(size, t)` is I_0, the density of arrivals that find the gateway idle since t; `extra`
    is A; `horizon` is where the integral is cut, far beyond the mean of t. The relation was derived for the preemptive
    form and holds for the non-preemptive one if P >= P_F. For P < P_F the simulator stays below it under load (by up to
    6 % at half the fair share): a packet that waits behind its like can begin before the fluid begins it.
    """
    size = (ftps + 1) * packet

    def saved(t: float) -> float:
        return idle(size, t) * (extra(packet) - extra(packet - min(t / ftps, delta)))

    # beyond t = N δ the braces no longer change, and before it they bend: integrate the two parts apart
    knee = min(ftps * delta, horizon)
    return alone(size) + extra(packet) - _integral(saved, 0.0, knee) - _integral(saved, knee, horizon)


def poisson_general(
    ftps: int, packet: float, rho: float, delta: float, *, ftp_packet: float = 1.0, preemptive: bool = False
) -> Bounds:
    """D_N(P) for a Poisson source that uses the share `rho` of its fair share: the low and the high A(P) put in.

    D_0[s] = λ s² / 2(1 - λ s) is the wait of M/D/1 and I_0[s, t] = (1 - λ s) λ exp(-λ t).

    Raises ValueError unless 0 < rho < 1.
    """
    check(ftps >= 1, "there must be at least one FTP")
    check(0 < rho < 1, "rho must lie between 0 and 1", "rho")
    check(delta >= 0, "delta must not be negative", "delta")
    check(packet > 0, "the packet must be larger than 0")
    rate = rho / (packet * (ftps + 1))

    def with_extra(extra: Callable[[float], float]) -> float:
        return delay(
            ftps,
            packet,
            delta,
            alone=lambda size: rate * size * size / (2 * (1 - rate * size)),
            idle=lambda size, t: (1 - rate * size) * rate * math.exp(-rate * t),
            horizon=40 / rate,
            extra=extra,
        )

    return Bounds(
        with_extra(lambda p: extra_delay(ftps, p, ftp_packet, preemptive=preemptive).low),
        with_extra(lambda p: extra_delay(ftps, p, ftp_packet, preemptive=preemptive).high),
    )


def poisson_delay(ftps: int, rho: float, delta: float, *, as_printed: bool = False) -> float:
    """The closed form for P_T = P_F = 1, evenly staggered FTPs, non-preemptive; `delta` in packets.

    The printed first term, ρ/2(1-ρ), lacks a factor N+1 that the paper's own general relation demands, D_0 being taken
    at (N+1)P; the simulation agrees with the factor. `as_printed` leaves it out.

    >>> round(poisson_delay(3, 0.5, 0.0), 4), round(poisson_delay(3, 0.5, 0.0, as_printed=True), 4)
    (3.5, 2.0)

    Raises ValueError unless 0 < rho < 1: the delay grows without limit as rho nears 1.
    """
    check(ftps >= 1, "there must be at least one FTP")
    check(0 < rho < 1, "rho must lie between 0 and 1", "rho")
    check(delta >= 0, "delta must not be negative", "delta")
    n = ftps
    first = rho / (2 * (1 - rho)) * (1 if as_printed else n + 1)
    reach = min(delta, (1 - 1 / n) / 2)
    saved = (n + 1) / (n * rho) * -math.expm1(-rho * n / (n + 1) * reach)
    return first + n * rho / 2 + n * (1 - rho) * (0.5 - saved)


def fcfs_delay(ftps: int, window: int, rho: float) -> float:
    """FCFS: N windows always in the queue, P_T = P_F = 1; near (NW - 1/2)/(1 - r) + r/2(1 - r), r = ρ/(N+1).

    Finite up to ρ = N+1: an ill-behaved source can take as much of the line as it likes. The paper gives the limit
    ρ -> 0; the rest is our approximation, within 1.5 % of what was simulated.

    >>> fcfs_delay(3, 5, 0.0)
    14.5

    Raises ValueError unless 0 <= rho < N+1.
    """
    check(ftps >= 1 and window >= 1, "there must be at least one FTP and a window of one packet")
    check(0 <= rho < ftps + 1, f"rho must lie between 0 and {ftps + 1}", "rho")
    load = rho / (ftps + 1)
    return (ftps * window - 0.5) / (1 - load) + load / (2 * (1 - load))


class NoAnswerError(ValueError):
    """What is asked has no answer; `of` names the arguments that it is about."""

    def __init__(self, remedy: str, of: tuple[str, ...] = ()) -> None:
        super().__init__(remedy)
        self.of = of


def check(holds: bool, remedy: str, *of: str) -> None:
    """Refuse what has no answer: ValueError with the remedy, which is about the arguments `of`."""
    if not holds:
        raise NoAnswerError(remedy, of)


def _integral(f: Callable[[float], float], low: float, high: float, steps: int = 4000) -> float:
    """Simpson's rule."""
    if high <= low:
        return 0.0
    width = (high - low) / steps
    inner = math.fsum((4 if i % 2 else 2) * f(low + i * width) for i in range(1, steps))
    return (f(low) + inner + f(high)) * width / 3
