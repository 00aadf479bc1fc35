"""What tc commands set up: devices with their qdiscs, classes and filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.filters import Filter, Left, Policed
from fairq.traffic_control.qdisc_tables import TXQUEUELEN
from fairq.traffic_control.units import ROOT, Id


@dataclass
class Node:
    """A qdisc, whose number within its handle is 0, or a class."""

    id: Id
    parent: Id
    kind: str
    options: dict[str, Any]


@dataclass
class Device:
    """All that the commands set up on a device."""

    name: str
    qdiscs: dict[int, Node] = field(default_factory=dict)
    classes: dict[Id, Node] = field(default_factory=dict)
    filters: list[Filter] = field(default_factory=list)
    differs: Differs = field(default_factory=Differs)
    left: list[tuple[int, Left]] = field(default_factory=list)
    """The filters of a qdisc that are left out here, though they take packets in Linux."""
    policed: list[tuple[int, Policed]] = field(default_factory=list)
    """The filters that police every packet, by their qdisc."""
    of_filters: list[tuple[int, Differs]] = field(default_factory=list)
    """What is not as in Linux of a qdisc's filters, which goes with it."""

    queue_length: int = TXQUEUELEN
    """How many packets the pfifo of a class holds that has no qdisc."""

    def root(self) -> Node | None:
        """The qdisc at the root."""
        return self.child(ROOT)

    def child(self, parent: Id) -> Node | None:
        """The qdisc that stands in a class."""
        return next((node for node in self.qdiscs.values() if node.parent == parent), None)

    def children(self, qdisc: Node) -> list[Node]:
        """The qdiscs that stand in the classes of another."""
        return [one for one in self.qdiscs.values() if one.parent[0] == qdisc.id[0] and one.parent != ROOT]

    def below(self, qdisc: Node) -> list[Node]:
        """The classes of a qdisc in the order of their numbers."""
        return sorted((one for one in self.classes.values() if one.id[0] == qdisc.id[0]), key=lambda one: one.id)

    def is_inner(self, of: Id) -> bool:
        """Whether a class has others below it."""
        return any(one.parent == of for one in self.classes.values())

    def remove(self, qdisc: Node) -> None:
        """A qdisc goes with its classes, their qdiscs and all filters."""
        del self.qdiscs[qdisc.id[0]]
        for one in self.children(qdisc):
            self.remove(one)
        self.classes = {name: one for name, one in self.classes.items() if name[0] != qdisc.id[0]}
        self.filters = [one for one in self.filters if one.at[0] != qdisc.id[0]]
        self.left = [one for one in self.left if one[0] != qdisc.id[0]]
        self.policed = [one for one in self.policed if one[0] != qdisc.id[0]]
        self.of_filters = [one for one in self.of_filters if one[0] != qdisc.id[0]]
