"""The game of users that choose their own rates, or their own congestion control, at one line.

Source: Shenker, "Making Greed Work in Networks: A Game-Theoretic Analysis of Switch Service Disciplines", SIGCOMM 1994.
Users send at rates r into a line of rate 1. The congestion c of a user is the mean number of his packets there. A
discipline shares out the whole number g(sum of r): FIFO in proportion to the rates, fair share so that a user that
sends more than another does not enter the other's part. The paper was not at hand: the two rules are from memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Line = Callable[[float], float]
"""The mean number of packets at a line under a load."""
Discipline = Callable[[Sequence[float], Line], list[float]]
"""The congestion of each user, by the rates of all."""
Utility = Callable[[float, float], float]
"""How content a user is with his rate and his congestion."""
Matrix = NDArray[np.float64]

FLOOR = 1e-9
"""The width that a search ends with, and what counts as nothing in a delay or a probability."""
STEP_MIN = 1e-6
"""The last step of a climb: a smaller one would change a utility by less than what doubles can tell."""
BETTER = 1e-14
"""A utility must grow by more than this: less is rounding, which would let a climb go round in a circle."""


def exponential(load: float) -> float:
    """The number at an M/M/1 line.

    >>> exponential(0.5)
    1.0
    """
    return load / (1 - load) if load < 1 else math.inf


def deterministic(load: float) -> float:
    """The number at an M/D/1 line, whose packets have one length.

    >>> deterministic(0.5)
    0.75
    """
    return load + load * load / (2 * (1 - load)) if load < 1 else math.inf


def fifo(rates: Sequence[float], line: Line) -> list[float]:
    """Shares in proportion to the rates, for all wait alike.

    >>> [round(c, 6) for c in fifo([0.1, 0.2, 0.3], exponential)]
    [0.25, 0.5, 0.75]
    """
    load = math.fsum(rates)
    return [rate * line(load) / load if rate else 0.0 for rate in rates]


def fair_share(rates: Sequence[float], line: Line) -> list[float]:
    """Serial shares: what a user adds to the load of those below it is shared with those that send as much or more.

    >>> [round(c, 6) for c in fair_share([0.1, 0.2, 0.9], exponential)]
    [0.142857, 0.428571, inf]
    """
    congestion = [0.0] * len(rates)
    before, below, total = 0.0, 0.0, 0.0
    for place, user in enumerate(sorted(range(len(rates)), key=lambda user: rates[user])):
        users = len(rates) - place
        number = line(below + users * rates[user])
        total = math.inf if math.isinf(number) else total + (number - before) / users
        congestion[user] = total
        before, below = number, below + rates[user]
    return congestion


def linear(cost: float) -> Utility:
    """A packet waiting costs `cost`: r - cost · c."""
    return lambda rate, congestion: rate - cost * congestion


def bounded(delay: float) -> Utility:
    """As much as can be had within a delay: r up to it, and beyond it the less the later.

    >>> bounded(2.0)(0.25, 0.5), bounded(2.0)(0.25, 0.75)
    (0.25, -1.0)
    """

    def utility(rate: float, congestion: float) -> float:
        late = congestion / rate - delay if rate else 0.0
        # by Little's theorem c / r is the delay; rounding must not make it late
        return rate if late <= FLOOR else -late

    return utility


def utilities(rates: Sequence[float], of: Sequence[Utility], discipline: Discipline, line: Line) -> list[float]:
    """How content each user is."""
    return [u(r, c) for u, r, c in zip(of, rates, discipline(rates, line), strict=True)]


def hill_climb(
    start: Sequence[float], of: Sequence[Utility], discipline: Discipline, line: Line, step: float = 0.02
) -> list[list[float]]:
    """The way of selfish users: in turn each tries a step up and a step down and keeps what is better for him.

    When no user finds a better rate the step is halved. Gives the rates after each round; the last are where it ends.
    """
    rates, way = list(start), [list(start)]
    while step > STEP_MIN:
        for user, utility in enumerate(of):
            best = utility(rates[user], discipline(rates, line)[user]) + BETTER
            for rate in (rates[user] + step, max(rates[user] - step, 0.0)):
                tried = [*rates[:user], rate, *rates[user + 1 :]]
                value = utility(rate, discipline(tried, line)[user])
                if value > best:
                    best, rates = value, tried
        if rates == way[-1]:
            step /= 2
        else:
            way.append(list(rates))
    return way


def best_response(
    user: int, rates: Sequence[float], utility: Utility, discipline: Discipline, line: Line, most: float = 1.0
) -> float:
    """The rate up to `most` that is best for the user while the others stay, if his utility has one peak."""

    def value(rate: float) -> float:
        return utility(rate, discipline([*rates[:user], rate, *rates[user + 1 :]], line)[user])

    low, high = 0.0, most
    while high - low > FLOOR:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        # an overload is as bad everywhere: then the peak is to the left
        if value(left) >= value(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def best_responses(
    start: Sequence[float], of: Sequence[Utility], discipline: Discipline, line: Line, rounds: int
) -> list[list[float]]:
    """All users answer at once, each with the best rate against the last rates of the others."""
    way = [list(start)]
    for _ in range(rounds):
        way.append([best_response(user, way[-1], utility, discipline, line) for user, utility in enumerate(of)])
    return way


def fifo_load(users: int, cost: float) -> float:
    """The load R of the Nash equilibrium of identical linear users at an M/M/1 line with FIFO.

    No user gains by another rate where 1 - R + R/N = (1 - R)²/cost, a quadratic equation of s = 1 - R.

    >>> round(fifo_load(2, 0.25), 6), round(fifo_load(10, 0.25), 6)
    (0.578465, 0.693448)
    """
    # s²/cost - (1 - 1/N) s - 1/N = 0
    linear_part, constant = 1 - 1 / users, 1 / users
    return 1 - cost * (linear_part + math.sqrt(linear_part**2 + 4 * constant / cost)) / 2


def efficient_load(cost: float) -> float:
    """The load of the greatest total utility of linear users of one cost at an M/M/1 line: g'(R) = 1/cost.

    >>> efficient_load(0.25)
    0.5
    """
    return 1 - math.sqrt(cost)


def equilibria(first: Matrix, second: Matrix) -> list[tuple[Matrix, Matrix]]:
    """All Nash equilibria of a game of two whose mixtures have supports of equal size, which others have only in ties.

    `first[i, j]` is what the first player gets if he plays i and the second j, `second[i, j]` what the second gets. A
    pair of supports is an equilibrium if a mixture makes the other indifferent on his, and nothing outside is better.

    >>> [(list(map(float, x)), list(map(float, y))) for x, y in equilibria(np.eye(2) * 2, np.eye(2) * 2)]
    [([1.0, 0.0], [1.0, 0.0]), ([0.0, 1.0], [0.0, 1.0]), ([0.5, 0.5], [0.5, 0.5])]
    """
    found = []
    for size in range(1, min(first.shape) + 1):
        for rows in combinations(range(first.shape[0]), size):
            for columns in combinations(range(first.shape[1]), size):
                y = _indifferent(first, rows, columns)
                x = _indifferent(second.T, columns, rows)
                if x is not None and y is not None:
                    found.append((x, y))
    return found


def _indifferent(payoff: Matrix, mine: Sequence[int], theirs: Sequence[int]) -> Matrix | None:
    """The mixture of the other on `theirs` under which each of `mine` is a best answer."""
    size = len(mine)
    equations = np.zeros((size + 1, size + 1))
    equations[:size, :size] = payoff[np.ix_(mine, theirs)]
    equations[:size, size] = -1
    equations[size, :size] = 1
    try:
        solution = np.linalg.solve(equations, np.eye(size + 1)[size])
    except np.linalg.LinAlgError:
        return None
    mixture = np.zeros(payoff.shape[1])
    mixture[list(theirs)] = solution[:size]
    is_mixture = min(solution[:size]) > FLOOR
    is_best = max(payoff @ mixture) <= solution[size] + FLOOR
    return mixture if is_mixture and is_best else None


def greatest_gain(payoff: Matrix) -> float:
    """The most that a player can gain by changing what he plays, whatever he and the other play."""
    return float(max(payoff.max(axis=0) - payoff.min(axis=0)))
