"""Trees of classes for `fairq advise --shared`: a class for each kind of users, a queue in each.

A candidate is `TREE with QUEUE`, as `htb with fq_codel`. What no code point tells goes to the last
kind. `drr` is not among the trees: Linux's drops what no filter names, and `ets` shares as it does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import fairq._native as _native
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.questions import words
from fairq.questions.sharing import Kind

PACKET = 1514
"""The quantum of the kind with the least part, in bytes: a packet of Ethernet, tc's own default."""

LINUX_FIFO = "fifo + 1000packets"
"""What Linux puts into a class that names no queue."""

WITH = " with "
"""What stands between a tree and the queue of its classes."""


def _rate(bit_per_s: float) -> str:
    return f"{round(bit_per_s)}bit/s"


def _quanta(kinds: Sequence[Kind]) -> list[int]:
    """Bytes in proportion to the guaranteed parts."""
    least = min(kind.part for kind in kinds)
    return [round(PACKET * kind.part / least) for kind in kinds]


def _row(**settings: object) -> str:
    return f"({', '.join(f'{name}={value}' for name, value in settings.items())})"


def _points(kind: Kind) -> dict[str, object]:
    return {} if kind.point is None else {"dscp": [kind.point]}


def _above(kinds: Sequence[Kind]) -> str:
    """The name of the class of the whole line, which no kind has."""
    name = "line"
    while any(kind.name == name for kind in kinds):
        name += "_"
    return name


def _htb(kinds: Sequence[Kind], queue: str, rate: float) -> str:
    """Each kind has its part as rate, and borrows up to the line's in proportion to the parts."""
    above, most = _above(kinds), _rate(rate)
    rows = [_row(name=above, rate=most, ceil=most)]
    for kind, quantum in zip(kinds, _quanta(kinds), strict=True):
        own = {"name": kind.name, "parent": above, "rate": _rate(kind.part * rate), "ceil": most}
        rows.append(_row(**own, quantum=f"{quantum}B", **_points(kind), queue=f'"{queue}"'))
    return f"htb(classes=[{', '.join(rows)}], default={kinds[-1].name})"


def _hfsc(kinds: Sequence[Kind], queue: str, rate: float) -> str:
    """Each kind has a link-sharing curve of its part, below an upper limit of the line's rate."""
    above, most = _above(kinds), _row(m2=_rate(rate))
    rows = [_row(name=above, link_share=most, upper_limit=most)]
    for kind in kinds:
        curve = _row(m2=_rate(kind.part * rate))
        rows.append(_row(name=kind.name, parent=above, link_share=curve, **_points(kind), queue=f'"{queue}"'))
    return f"hfsc(classes=[{', '.join(rows)}], default={kinds[-1].name})"


def _bands(kinds: Sequence[Kind]) -> list[int]:
    """The band of each code point: a kind's own, or the last kind's."""
    own = {kind.point: at for at, kind in enumerate(kinds)}
    return [own.get(int(point), len(kinds) - 1) for point in words.POINTS]


def _ets(kinds: Sequence[Kind], queue: str, _: float) -> str:
    """Kinds take turns, each of a quantum in proportion to its part."""
    quanta = ", ".join(f"{quantum}B" for quantum in _quanta(kinds))
    return f"ets(strict=0, quanta=[{quanta}], map={_bands(kinds)}, queues=[{_queues(kinds, queue)}])"


def _priority(kinds: Sequence[Kind], queue: str, _: float) -> str:
    """Each kind goes before those that follow it."""
    return f"ets(strict={len(kinds)}, quanta=[], map={_bands(kinds)}, queues=[{_queues(kinds, queue)}])"


def _queues(kinds: Sequence[Kind], queue: str) -> str:
    return ", ".join(f'"{queue}"' for _ in kinds)


class Tree(NamedTuple):
    """How the kinds share, and whether the tree has the line's rate in itself."""

    text: Callable[[Sequence[Kind], str, float], str]
    shapes: bool


TREES: Mapping[str, Tree] = {
    "htb": Tree(_htb, shapes=True),
    "hfsc": Tree(_hfsc, shapes=True),
    "ets": Tree(_ets, shapes=False),
    "priority": Tree(_priority, shapes=False),
}
"""The trees by name."""

USUAL = (
    "htb with fq_codel", "htb with linux_sfq", "htb with fifo", "hfsc with fq_codel", "ets with fq_codel",
    "priority with fq_codel",
)  # fmt: skip
"""The trees that are ranked where none is named."""

PLAIN = (LINUX_FIFO, "fq_codel", "cake")
"""The queues without classes that are ranked beside them."""


class ForKinds(NamedTuple):
    """A tree with a queue in each class, for kinds of users."""

    name: str
    tree: Tree
    leaf: str
    kinds: Sequence[Kind]

    def text(self, rate: float) -> str:
        """The text form on a line of this rate, in bit/s."""
        return self.tree.text(self.kinds, self.leaf, rate)


def named(name: str, kinds: Sequence[Kind]) -> ForKinds | None:
    """The tree that a name says, or `None` if it is a queue; UsageError without such a tree."""
    tree, is_tree, leaf = (each.strip() for each in name.partition(WITH))
    if not is_tree:
        return None
    if tree not in TREES:
        raise UsageError(f"--queue {name}: {tree} is no tree of classes{near_miss(tree, TREES)}")
    if leaf == "fifo":
        leaf = LINUX_FIFO
    try:
        json.loads(_native.queue(leaf))
    except UsageError as error:
        raise UsageError(error.fault, where=f"--queue {name}") from None
    return ForKinds(name, TREES[tree], leaf, kinds)
