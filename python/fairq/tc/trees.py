"""The text forms of qdiscs that have classes: `prio` and `ets`, `drr`, `qfq`, `htb`, `hfsc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq.errors import UsageError
from fairq.tc.filters import POINTS, Left
from fairq.tc.options import BANDS_MAX
from fairq.tc.qdiscs import form, left
from fairq.tc.quanta import R2Q, clamped
from fairq.tc.refusal import refused
from fairq.tc.tables import CLASSES, MTU, QDISCS, TXQUEUELEN
from fairq.tc.units import Id, id_form, rate_form, time_form
from fairq.tc.words import Differs

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Class:
    """A class with its options."""

    id: Id
    parent: Id | None
    options: Given

    @property
    def name(self) -> str:
        """What it is called here."""
        return f"c{self.id[1]:x}"


@dataclass(frozen=True)
class Tree:
    """A qdisc with its classes and filters."""

    options: Given
    classes: Sequence[Class]
    """In the order of their numbers."""
    targets: Mapping[int, Id]
    """The class of each code point for which there is a filter."""
    is_by_flow: bool
    """Whether the classes are alike, and each has one filter, which looks at a port."""
    left: Sequence[Left] = ()
    """Its filters that are left out here, though they take packets."""

    @property
    def leaves(self) -> list[Class]:
        """Those that hold packets."""
        inner = {one.parent for one in self.classes}
        return [one for one in self.classes if one.id not in inner]

    def default(self) -> Class | None:
        """The leaf that `default` names."""
        return next((one for one in self.leaves if one.id[1] == self.options.get("default")), None)

    def points(self, one: Class) -> list[int]:
        """The code points of a class."""
        return sorted(point for point, target in self.targets.items() if target == one.id)


def _no_class(kind: str, options: str) -> UsageError:
    return refused(f"qdisc {kind}: no class; write class add dev eth0 parent 1: classid 1:1 {kind} {options}")


def _each_its_own(differs: Differs) -> None:
    differs.say("limit", "one for all classes; write it after the text, as + 1000packets",
                f"each class has a pfifo of {TXQUEUELEN} packets")  # fmt: skip


def _otherwise(tree: Tree, differs: Differs, linux: str) -> None:
    """Packets of no class go to the first leaf here; `linux` is what becomes of them there."""
    if len(tree.targets) < 64:
        said = f"packets of no class go to {tree.leaves[0].name}"
        if any(one.takes_all for one in tree.left):
            linux = "no packet is of no class: a filter that is left out here takes them all"
        elif tree.left:
            linux = f"those that no filter takes, nor one that is left out here: {linux}"
        what = tree.options.get("default")
        differs.say("default" if what is None else f"default {what:x}", said, linux)


PRIORITIES = [0, 2, 6, 4]
"""The priority of a router by two bits of the type of service (rt_tos2priority)."""


def priority(point: int) -> int:
    """The priority of a code point, by the two bits above its lowest."""
    return PRIORITIES[point >> 1 & 3]


def _bands(strict: int, quanta: Sequence[int], places: Sequence[int], priomap: Sequence[int] = ()) -> str:
    """The bands by code point, by precedence where its eight are alike, or by priority."""
    if strict + len(quanta) > BANDS_MAX:
        raise refused(f"{strict + len(quanta)} classes; as bands of ets there are at most {BANDS_MAX}")
    sizes = ", ".join(f"{quantum}B" for quantum in quanta)
    alike = all(place == places[point & ~7] for point, place in enumerate(places))
    said = f"priomap={list(priomap)}" if priomap else f"map={list(places[::8] if alike else places)}"
    return f"ets(strict={strict}, quanta=[{sizes}], {said})"


def _by_priority(tree: Tree, strict: int, quanta: Sequence[int], differs: Differs) -> str:
    """Bands of `prio` and `ets`: by filters, else by the priority that a router gives a packet."""
    priomap, bands = tree.options["priomap"], strict + len(quanta)

    def band(point: int) -> int:
        target = tree.targets.get(point)
        if target is None:
            return int(priomap[priority(point)])
        return target[1] - 1 if 1 <= target[1] <= bands else int(priomap[0])

    _each_its_own(differs)
    goes_by_priority = not tree.targets and len(set(priomap)) > 1
    return _bands(strict, quanta, [band(point) for point in POINTS], priomap if goes_by_priority else ())


def prio(tree: Tree, differs: Differs) -> str:
    """Strict bands."""
    left(tree.options, differs, "multiqueue")
    return _by_priority(tree, tree.options["bands"], [], differs)


def ets(tree: Tree, differs: Differs) -> str:
    """Strict bands, and others that share."""
    given = tree.options
    strict, bands = given["strict"], given["bands"]
    quanta = [*given["quanta"], *[MTU] * bands][: bands - strict]
    for at, quantum in given.get("changed", {}).items():
        quanta[at - strict] = quantum
    return _by_priority(tree, strict, quanta, differs)


def _by_flow(differs: Differs) -> None:
    differs.say("filters by port", "a class for each flow", "a class for each port that a filter names")


def drr(tree: Tree, differs: Differs) -> str:
    """Bands of ets that share by their quanta."""
    if not tree.classes:
        raise _no_class("drr", "quantum 1514")
    quanta = [one.options.get("quantum", MTU) for one in tree.classes]
    if tree.is_by_flow:
        _by_flow(differs)
        _each_its_own(differs)
        return form("drr", {"quantum": f"{quanta[0]}B"})
    bands = {one.id: at for at, one in enumerate(tree.classes)}
    _otherwise(tree, differs, "dropped")
    _each_its_own(differs)
    places = [bands[tree.targets[point]] if point in tree.targets else 0 for point in POINTS]
    return _bands(0, quanta, places)


def _classes(tree: Tree, settings: Callable[[Class], Mapping[str, Any]]) -> str:
    names = {one.id: one.name for one in tree.classes}
    rows = []
    for one in tree.classes:
        points = tree.points(one)
        parent = names[one.parent] if one.parent else None
        said = {"name": one.name, "parent": parent, **settings(one), "dscp": points or None}
        rows.append("(" + ", ".join(f"{key}={value}" for key, value in said.items() if value is not None) + ")")
    return f"[{', '.join(rows)}]"


def qfq(tree: Tree, differs: Differs) -> str:
    """Linux's qfq."""
    if not tree.classes:
        raise _no_class("qfq", "weight 1")
    if tree.is_by_flow:
        _by_flow(differs)
        left(tree.classes[0].options, differs, "maxpkt")
        _each_its_own(differs)
        return "linux_qfq"
    _otherwise(tree, differs, "dropped")
    _each_its_own(differs)
    return form("linux_qfq", {"classes": _classes(tree, lambda one: CLASSES["qfq"].text(one.options))})


def htb(tree: Tree, differs: Differs) -> str:
    """HTB."""
    if not tree.classes:
        raise _no_class("htb", "rate 10mbit")
    default = tree.default()
    if default is None:
        _otherwise(tree, differs, "sent at once, not shaped: default names no leaf")
    left(tree.options, differs, *QDISCS["htb"].left.split())
    _each_its_own(differs)

    def settings(one: Class) -> dict[str, Any]:
        # tc lets a class save a packet of its mtu, 1600 B, and what the rate gives in a tick of the clock.
        usual = one.options.get("mtu", 1600)
        there = {"burst": usual, "cburst": usual, **one.options}
        rate, ceil = there["rate"], there.get("ceil")
        if ceil is not None and ceil < rate:
            differs.say(f"rate {rate_form(rate)} of class {id_form(one.id)}", f"{rate_form(ceil)}, its ceil",
                        "more than its ceil lets it send")  # fmt: skip
            # What the higher rate would give as a quantum.
            there = {"quantum": clamped(rate, tree.options.get("r2q") or R2Q), **there, "rate": ceil}
        if "prio" in there:
            # The kernel has eight priorities.
            there["prio"] = min(there["prio"], 7)
        return CLASSES["htb"].text(there)

    classes = _classes(tree, settings)
    return form("htb", {"classes": classes, "default": default and default.name, "r2q": tree.options.get("r2q")})


CURVES = {"rt": "real_time", "ls": "link_share", "ul": "upper_limit"}


def _curve(one: Given) -> str:
    first = {"m1": rate_form(one["m1"]) if one["m1"] else None, "d": time_form(one["d"])} if one["d"] else {}
    said = {**first, "m2": rate_form(one["m2"])}
    return "(" + ", ".join(f"{key}={value}" for key, value in said.items() if value is not None) + ")"


def hfsc(tree: Tree, differs: Differs) -> str:
    """HFSC."""
    if not tree.classes:
        raise _no_class("hfsc", "ls rate 1mbit")
    default = tree.default()
    if default is None:
        _otherwise(tree, differs, "dropped: default names no leaf")
    _each_its_own(differs)
    leaves = {one.id for one in tree.leaves}

    def settings(one: Class) -> dict[str, Any]:
        given = dict(one.options)
        if one.id not in leaves and "rt" in given:
            del given["rt"]
            differs.say(f"rt of class {id_form(one.id)}", "left out: a curve of leaves", "no effect above leaves")
            if "ls" not in given:
                raise refused(f"class hfsc {id_form(one.id)}: only rt, with classes below it; write ls rate 1mbit")
        return {here: _curve(given[there]) for there, here in CURVES.items() if there in given}

    return form("hfsc", {"classes": _classes(tree, settings), "default": default and default.name})


FORMS: Mapping[str, Callable[[Tree, Differs], str]] = {
    "prio": prio, "ets": ets, "drr": drr, "qfq": qfq, "htb": htb, "hfsc": hfsc,
}  # fmt: skip
