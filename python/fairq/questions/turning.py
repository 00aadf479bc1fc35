"""How far what still moves could go, and whether that could turn a verdict.

A quantity that differs between the halves of the longest run may go on to move. In a longer run
it is taken to be within FURTHER times that difference of its mean. What follows from it, such as
Jain's index from shares, is computed at both ends. Where the times were said by hand, the run may be
short of anything: then all could turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from fairq.questions.measures import jain, mean_of_known

if TYPE_CHECKING:
    from fairq.questions.answers import Point
    from fairq.questions.asked import Group
    from fairq.questions.steady import Steady

FURTHER = 4.0
"""How far a mean may still go, in differences of its halves: so far goes one that decays by a fifth
from each half of the measured time to the next."""

ENDS = (-1.0, 0.0, 1.0)
"""The mean, and the ends of what it could be."""

Place = int | str
"""The number of a group of flows, or a direction of the line."""

Counts = Callable[[float, float], bool]
"""Whether two means differ by as much as counts."""


@dataclass(frozen=True)
class Value:
    """A mean, and how far from it that of a longer run could be."""

    mean: float
    reach: float = 0.0


def sides(one: Value, other: Value, counts: Counts) -> set[int]:
    """Which of two values is or could be the greater: 1 the first, -1 the second, 0 if neither."""
    found = set()
    for end in ENDS:
        a, b = one.mean + end * one.reach, other.mean - end * other.reach
        found.add(0 if not counts(a, b) else 1 if a > b else -1)
    return found


def is_turned(best: str, alike: Sequence[str], values: Mapping[str, Value], counts: Counts, is_more: bool) -> bool:
    """Whether another choice could come to be as good as the best, or better than one like it.

    If all are alike: whether a difference could come to count.
    """
    first, second = (1, -1) if is_more else (-1, 1)
    rest = [name for name in values if name != best and name not in alike]
    if not rest:
        return any(sides(values[best], values[name], counts) != {0} for name in alike)
    return any(
        sides(values[best], values[other], counts) != {first}
        or any(second in sides(values[name], values[other], counts) for name in alike)
        for other in rest
    )


class Reach:
    """How far the quantities of a question's points could go."""

    def __init__(self, groups: Sequence[Group], steady: Steady | None) -> None:
        self._groups = groups
        moves = steady.moves if steady is not None else ()
        self._moves = {(move.of.point, move.of.group, move.of.quantity): move for move in moves}
        self._is_far = steady is not None and not steady.stands and not steady.is_found

    def of(self, point: Point, place: Place, quantity: str) -> float:
        """How far from its mean a quantity of a group of flows or of a direction could be."""
        if self._is_far:
            return math.inf
        if not any(key == point.key for key, _, _ in self._moves):
            return 0.0
        if isinstance(place, int):
            return self._of_group(point, place, quantity)
        if quantity in ("jain", "jain_hosts"):
            return self._of_jain(point, place, by_host=quantity == "jain_hosts")
        if quantity == "utilisation":
            return abs(math.fsum(self._by(point, at, "share") for at in self._on(place)))
        return self._of_wait(point, place)

    def _on(self, way: str) -> list[int]:
        return [at for at, group in enumerate(self._groups) if group.direction == way]

    def _by(self, point: Point, at: int, quantity: str) -> float:
        """By how much a share or a queueing delay of a group could still move, if it goes on as before."""
        move = self._moves.get((point.key, at, quantity))
        return FURTHER * (move.second - move.first) if move is not None else 0.0

    def _part(self, point: Point, at: int, quantity: str) -> float:
        """That movement relative to the mean of both halves."""
        move = self._moves.get((point.key, at, quantity))
        return abs(self._by(point, at, quantity)) * 2 / (move.first + move.second) if move is not None else 0.0

    def _of_group(self, point: Point, at: int, quantity: str) -> float:
        if quantity == "share":
            return abs(self._by(point, at, "share"))
        if quantity == "share_per_flow":
            return abs(self._by(point, at, "share")) / self._groups[at].count
        if quantity.startswith("queueing"):
            part = self._part(point, at, "queueing_s_mean")
        else:
            # Losses and times of transfers follow from what all flows do.
            both = product(range(len(self._groups)), ("share", "queueing_s_mean"))
            part = max(self._part(point, each, name) for each, name in both)
        return part * _mean(point.groups[at], quantity)

    def _of_jain(self, point: Point, way: str, *, by_host: bool) -> float:
        """How far Jain's index could be if the shares of all groups go on as they went."""
        mine = [at for at in self._on(way) if self._groups[at].item.is_greedy]
        found = []
        for end in ENDS:
            shares: dict[object, float] = {}
            owners: dict[object, int] = {}
            for at in mine:
                host = self._groups[at].host_class if by_host else None
                owner, count = (host, host.hosts) if host is not None else (at, self._groups[at].count)
                share = _mean(point.groups[at], "share") + end * self._by(point, at, "share")
                shares[owner] = shares.get(owner, 0.0) + min(max(share, 0.0), 1.0)
                owners[owner] = count
            found.append(jain([(shares[owner] / count, count) for owner, count in owners.items()]) or 1.0)
        return _farthest(found, found[1])

    def _of_wait(self, point: Point, way: str) -> float:
        """How far the queueing delay of a direction could be: the mean over its groups by shares."""
        found = {}
        for ends in product(ENDS, ENDS):
            parts = []
            for at in self._on(way):
                share = _mean(point.groups[at], "share") + ends[0] * self._by(point, at, "share")
                wait = _mean(point.groups[at], "queueing_s_mean") + ends[1] * self._by(point, at, "queueing_s_mean")
                parts.append((max(share, 0.0), max(wait, 0.0)))
            whole = math.fsum(share for share, _ in parts)
            found[ends] = math.fsum(share * wait for share, wait in parts) / whole if whole else 0.0
        return _farthest(list(found.values()), found[0.0, 0.0])


def _farthest(values: Sequence[float], mean: float) -> float:
    return max(abs(value - mean) for value in values)


def _mean(seeds: Sequence[Mapping[str, float | None]], quantity: str) -> float:
    return mean_of_known(seed[quantity] for seed in seeds) or 0.0
