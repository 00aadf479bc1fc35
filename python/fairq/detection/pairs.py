"""The packets of two captures of one path, flow by flow: which end sent them, and which are fragments of one datagram.

The compiled part reads the captures and says which packet of one is which of the other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import fairq._native as _native

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Whole = np.ndarray[Any, np.dtype[np.integer[Any]]]

ALIKE, REPEATED, REPEATED_FIRST, OTHER_LENGTH = 1, 2, 3, 4
"""What became of a packet, by the numbers of the compiled part (`Kind` of crates/link/src/capture/pairing.rs)."""

COLUMN_TYPES = ("<u4", "<f8", "<f8", "<u4", "<i2", "u1", "<u4", "<u4")
"""Types of the compiled part's columns: flow, first, second, bytes, hops, fate, datagram at either end."""

CLOCKS_APART = 1e5
"""Seconds. Clocks that are further apart do not agree, whatever they say of a packet; and sums with so long a time
would cost digits."""

SPREAD = 1.2
"""A line spreads packets: at its far end their smallest distance is greater than at the near end by this factor."""

DIRECTED_MIN = 20
"""Packets below which the distances do not tell in which direction they went."""


@dataclass(frozen=True)
class Pairing:
    """Two captures. `counts` says of each what it holds; `agree` is whether the clocks may agree."""

    flows: list[Ends]
    reverse: list[int | None]
    counts: list[Mapping[str, Any]]
    agree: bool

    @property
    def doubles(self) -> int:
        """The packets that the first capture holds twice within 1 ms."""
        return int(self.counts[0].get("doubles", 0))

    @property
    def cut(self) -> str | None:
        """Where the first capture is cut, if it is."""
        found: str | None = self.counts[0].get("cut")
        return found


def read(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> Pairing:
    """The packets of both captures. Raises CaptureError."""
    about, columns = _native.pair_captures(os.fspath(first), os.fspath(second))
    told = json.loads(about)
    flow, first_s, second_s, length, hops, kind, here, there = (
        np.frombuffer(column, dtype) for column, dtype in zip(columns, COLUMN_TYPES, strict=True)
    )
    agree = abs(told["offset_s"]) <= CLOCKS_APART
    second_s = second_s + (told["offset_s"] if agree else 0.0)
    order = np.argsort(flow, kind="stable")
    starts = np.searchsorted(flow[order], np.arange(len(told["flows"]) + 1))
    flows = []
    for k, name in enumerate(told["flows"]):
        rows = order[starts[k] : starts[k + 1]]
        size = length[rows].astype(np.float64)
        flows.append(Ends(name, first_s[rows], second_s[rows], size, hops[rows], kind[rows], here[rows], there[rows]))
    return Pairing(flows, told["reverse"], told["counts"], agree)


@dataclass(frozen=True)
class Ends:
    """The packets of one flow at the two ends, whichever of them sent."""

    flow: str
    first: Numbers
    second: Numbers
    size: Numbers
    hops: np.ndarray[Any, np.dtype[np.int16]]
    kind: np.ndarray[Any, np.dtype[np.uint8]]
    here: np.ndarray[Any, np.dtype[np.uint32]]
    there: np.ndarray[Any, np.dtype[np.uint32]]
    """Of fragments the number of their datagram in the first and in the second capture."""

    @property
    def pairs(self) -> Flags:
        """Which packets are known at both ends."""
        pairs: Flags = ~np.isnan(self.first) & ~np.isnan(self.second)
        return pairs

    @property
    def is_at_both(self) -> bool:
        """Whether something of the flow is at both ends."""
        return bool(self.pairs.any() or (self.kind != 0).any())

    @property
    def turned(self) -> Ends:
        """These packets with the two ends exchanged."""
        kind = self.kind.copy()
        kind[self.kind == REPEATED], kind[self.kind == REPEATED_FIRST] = REPEATED_FIRST, REPEATED
        return Ends(self.flow, self.second, self.first, self.size, -self.hops, kind, self.there, self.here)


@dataclass(frozen=True)
class Direction:
    """Whether the first capture is the sender's, as far as that is known, and what to say of it."""

    is_forward: bool
    is_told: bool = True
    """Whether anything but the order of the captures says so."""
    doubt: str = ""


def directions(pairing: Pairing) -> list[Direction]:
    """The direction of each flow, by what routers count down, by the flow that answers, by the clocks.

    Received less sent is the delay and what the clocks differ by; the same of a flow that goes the other way is what
    they differ by less its delay. So it is greater of a flow from the first end to the second, whatever the clocks say.
    """
    delays = [(flow.second - flow.first)[flow.pairs] for flow in pairing.flows]
    middle = [float(np.median(some)) if len(some) else None for some in delays]
    found = [_by_hops(flow) for flow in pairing.flows]
    for k, back in enumerate(pairing.reverse):
        if found[k] is not None or back is None or back == k:
            continue
        answer, mine, theirs = found[back], middle[k], middle[back]
        if answer is not None:
            found[k] = Direction(not answer.is_forward)
        elif mine is not None and theirs is not None and mine != theirs:
            found[k] = Direction(mine > theirs)
    known = [(direction, some) for direction, some in zip(found, delays, strict=True) if direction and len(some)]
    forward = [some.min() for direction, some in known if direction.is_forward]
    backward = [some.max() for direction, some in known if not direction.is_forward]
    told = []
    for flow, direction, some in zip(pairing.flows, found, delays, strict=True):
        if direction is not None:
            told.append(direction)
        elif len(some) and forward and backward:
            told.append(Direction(bool(np.median(some) > (min(forward) + max(backward)) / 2)))
        elif len(some) and pairing.agree and some.max() < 0:
            told.append(_by_distances(flow))
        else:
            told.append(Direction(is_forward=True, is_told=False))
    return told


def _by_hops(flow: Ends) -> Direction | None:
    """The direction by the time to live, which routers count down; None without a router in between."""
    hops = flow.hops[flow.pairs]
    middle = float(np.median(hops)) if len(hops) else 0.0
    return Direction(middle > 0) if middle else None


def _by_distances(flow: Ends) -> Direction:
    """The direction by the gaps, which a line spreads, of packets received before they were sent by the clocks."""
    pairs = flow.pairs
    if int(pairs.sum()) < DIRECTED_MIN:
        return Direction(is_forward=True, is_told=False)
    near, far = (_smallest_distance(times[pairs]) for times in (flow.first, flow.second))
    if far >= SPREAD * near:
        return Direction(is_forward=True)
    if near >= SPREAD * far:
        return Direction(is_forward=False)
    return Direction(
        is_forward=True,
        is_told=False,
        doubt="by the clocks all packets were received before they were sent: either the clocks differ or the captures "
        "are in the wrong order",
    )


def _smallest_distance(times: Numbers) -> float:
    """The distance of packets below which few are: the tenth part of them."""
    return float(np.quantile(np.diff(np.sort(times)), 0.1))


@dataclass(frozen=True)
class Sent:
    """Packets in the order in which they were sent; of those that are `unknown` it cannot be said whether they came."""

    sent: Numbers
    received: Numbers
    size: Numbers
    unknown: Flags

    def ordered(self) -> Sent:
        """These packets in the order of sending; those sent at one instant in the order of receipt."""
        order = np.lexsort((self.received, self.sent))
        return Sent(self.sent[order], self.received[order], self.size[order], self.unknown[order])


def whole_datagrams(packets: Sent, pieces: Whole) -> Sent:
    """The packets with the fragments of each datagram as one, sent with the first of them and received with the last.

    `pieces` are the numbers of datagrams, 0 of what is no fragment. Of a datagram that came in part it is not known
    what was sent of it over the bottleneck.
    """
    # what is no fragment is a datagram of its own
    names = np.where(pieces > 0, pieces.astype(np.int64), -1 - np.arange(len(pieces)))
    _, place = np.unique(names, return_inverse=True)
    count = int(place.max()) + 1
    sent, received = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(sent, place, packets.sent)
    np.fmax.at(received, place, packets.received)
    parts, came = np.bincount(place), np.bincount(place, ~np.isnan(packets.received))
    received[came < parts] = np.nan
    unknown = (np.bincount(place, packets.unknown) > 0) | ((came > 0) & (came < parts))
    size = np.bincount(place, packets.size).astype(np.float64)
    return Sent(sent, received, size, unknown).ordered()
