"""Qdiscs that have classes, from tc and to tc: `prio` and `ets`, `drr`, `qfq`, `htb`, `hfsc`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.draft import Limit, Settings, Writer, changed, left
from fairq.traffic_control.filters import POINTS, Left
from fairq.traffic_control.qdisc_tables import (
    CLASSES,
    MTU,
    PRIORITIES,
    QDISCS,
    TXQUEUELEN,
    bytes_of,
)
from fairq.traffic_control.qdiscs import fair
from fairq.traffic_control.quanta import R2Q, clamped
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import Id, form, id_form, quoted, rate_form

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

    id: int
    """The number of the qdisc."""
    options: Given
    classes: Sequence[Class]
    """In the order of their numbers."""
    targets: Mapping[int, Id]
    """The class of each code point for which there is a filter."""
    is_by_flow: bool
    """Whether the classes are alike, and each has one filter, which looks at a port."""
    left: Sequence[Left] = ()
    """Its filters that are left out here, though they take packets."""
    queues: Mapping[Id, str] = field(default_factory=dict)
    """The text forms of what stands in classes."""
    plain: str = f"fifo + {TXQUEUELEN}packets"
    """What the kernel makes of itself for a class."""

    def queue(self, of: Id) -> str:
        """What holds the packets of a class, as a value of a setting."""
        return quoted(self.queues.get(of, self.plain))

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


PRIORITY_BANDS = 8
"""Of `priority` here, one for each precedence."""


def band_name(number: int, kind: str = "ets") -> str:
    """What a band is called here, the first 0."""
    return f"band_{number}" if kind == "priority" else f"band{number}"


OF_TOS = [0, 2, 6, 4]
"""The priority of a router by two bits of the type of service (rt_tos2priority)."""


def priority(point: int) -> int:
    """The priority of a code point, by the two bits above its lowest."""
    return OF_TOS[point >> 1 & 3]


def _bands(tree: Tree, strict: int, quanta: Sequence[int], places: Sequence[int], priomap: Sequence[int] = ()) -> str:
    """The bands by code point, by precedence where its eight are alike, or by priority."""
    sizes = ", ".join(f"{quantum}B" for quantum in quanta)
    alike = all(place == places[point & ~7] for point, place in enumerate(places))
    said = f"priomap={list(priomap)}" if priomap else f"map={list(places[::8] if alike else places)}"
    queues = ", ".join(tree.queue((tree.id, band + 1)) for band in range(strict + len(quanta)))
    return f"ets(strict={strict}, quanta=[{sizes}], {said}, queues=[{queues}])"


def _by_priority(tree: Tree, strict: int, quanta: Sequence[int], differs: Differs) -> str:
    """Bands of `prio` and `ets`: by filters, else by the priority that a router gives a packet."""
    priomap, bands = tree.options["priomap"], strict + len(quanta)

    def band(point: int) -> int:
        target = tree.targets.get(point)
        if target is None:
            return int(priomap[priority(point)])
        return target[1] - 1 if 1 <= target[1] <= bands else int(priomap[0])

    goes_by_priority = not tree.targets and len(set(priomap)) > 1
    return _bands(tree, strict, quanta, [band(point) for point in POINTS], priomap if goes_by_priority else ())


def prio(tree: Tree, differs: Differs) -> str:
    """Strict bands."""
    differs.leave(tree.options, *QDISCS["prio"].left.split())
    return _by_priority(tree, tree.options["bands"], [], differs)


def ets(tree: Tree, differs: Differs) -> str:
    """Strict bands, and others that share."""
    given = tree.options
    strict, bands = given["strict"], given["bands"]
    quanta = [*given["quanta"], *[MTU] * bands][: bands - strict]
    for at, quantum in given.get("changed", {}).items():
        quanta[at - strict] = quantum
    return _by_priority(tree, strict, quanta, differs)


def _by_flow(tree: Tree, differs: Differs) -> Given:
    """The options of the classes, which are alike."""
    differs.say("filters by port", "a class for each flow", "a class for each port that a filter names")
    differs.say("limit", "one for all flows; write it after the text, as + 1000packets",
                f"each class has a pfifo of {TXQUEUELEN} packets")  # fmt: skip
    differs.leave(tree.classes[0].options, "maxpkt")
    return tree.classes[0].options


def drr(tree: Tree, differs: Differs) -> str:
    """Deficit round robin."""
    if tree.is_by_flow:
        return form("drr", {"quantum": f"{_by_flow(tree, differs).get('quantum', MTU)}B"})
    _otherwise(tree, differs, "dropped")
    return form("drr", {"classes": _classes(tree, lambda one: CLASSES["drr"].text({"quantum": MTU, **one.options}))})


def _classes(tree: Tree, settings: Callable[[Class], Given]) -> str:
    names, leaves = {one.id: one.name for one in tree.classes}, {one.id for one in tree.leaves}
    rows = []
    for one in tree.classes:
        points = tree.points(one)
        parent = names[one.parent] if one.parent else None
        queue = tree.queue(one.id) if one.id in leaves else None
        said = {"name": one.name, "parent": parent, **settings(one), "dscp": points or None, "queue": queue}
        rows.append(form("", said))
    return f"[{', '.join(rows)}]"


def qfq(tree: Tree, differs: Differs) -> str:
    """Linux's qfq."""
    if tree.is_by_flow:
        _by_flow(tree, differs)
        return "linux_qfq"
    _otherwise(tree, differs, "dropped")
    return form("linux_qfq", {"classes": _classes(tree, lambda one: CLASSES["qfq"].text(one.options))})


def _with_default(kind: str, tree: Tree, differs: Differs, otherwise: str, settings: Callable[[Class], Given]) -> str:
    """A qdisc that may name a default; `otherwise` is what becomes there of packets of no class."""
    default = tree.default()
    if default is None:
        _otherwise(tree, differs, f"{otherwise}: default names no leaf")
    differs.leave(tree.options, *QDISCS[kind].left.split())
    said = {"classes": _classes(tree, settings), "default": default and default.name}
    return form(kind, {**said, **QDISCS[kind].text(tree.options)})


def htb(tree: Tree, differs: Differs) -> str:
    """HTB."""

    def settings(one: Class) -> Given:
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

    return _with_default("htb", tree, differs, "sent at once, not shaped", settings)


def hfsc(tree: Tree, differs: Differs) -> str:
    """HFSC."""
    leaves = {one.id for one in tree.leaves}

    def settings(one: Class) -> Given:
        given = dict(one.options)
        if one.id not in leaves and "rt" in given:
            del given["rt"]
            differs.say(f"rt of class {id_form(one.id)}", "left out: a curve of leaves", "no effect above leaves")
            if "ls" not in given:
                raise refused(f"class hfsc {id_form(one.id)}: only rt, with classes below it; write ls rate 1mbit")
        return CLASSES["hfsc"].text(given)

    return _with_default("hfsc", tree, differs, "dropped", settings)


FORMS: Mapping[str, Callable[[Tree, Differs], str]] = {
    "prio": prio, "ets": ets, "drr": drr, "qfq": qfq, "htb": htb, "hfsc": hfsc,
}  # fmt: skip
FIRST_CLASS = {"drr": "quantum 1514", "qfq": "weight 1", "htb": "rate 10mbit", "hfsc": "ls rate 1mbit"}
"""What to write where no class is said, for a kind that has none of itself."""


def text(kind: str, tree: Tree, differs: Differs) -> str:
    """The text form of a qdisc with its classes."""
    if kind in FIRST_CLASS and not tree.classes:
        said = f"class add dev eth0 parent 1: classid 1:1 {kind} {FIRST_CLASS[kind]}"
        raise refused(f"qdisc {kind}: no class; write {said}")
    return FORMS[kind](tree, differs)


def _write_bands(
    writer: Writer, strict: int, quanta: Sequence[str], places: Sequence[int], priomap: Sequence[int] = ()
) -> None:
    """The bands, and filters where they do not go by the priority that a router gives a packet."""
    bands = strict + len(quanta)
    points = list(places) if len(places) == len(POINTS) else [places[point >> 3] for point in POINTS]
    words = f"priomap {' '.join(map(str, priomap or [places[0]] * PRIORITIES))}"
    if quanta:
        shares = " ".join(str(bytes_of(quantum)) for quantum in quanta)
        writer.qdisc("ets", [f"bands {bands}", f"strict {strict}", f"quanta {shares}", words])
    else:
        # prio has at least two bands.
        writer.qdisc("prio", [f"bands {max(2, bands)}", words])
    for first in [] if priomap else range(0, len(POINTS), 8):
        of_precedence = points[first : first + 8]
        is_one = len(set(of_precedence)) == 1
        for at, band in enumerate(of_precedence[:1] if is_one else of_precedence):
            writer.filter(first + at << 2, 0xE0 if is_one else 0xFC, f"{band + 1:x}")


def _write_ets(writer: Writer, part: Settings, limit: Limit) -> None:
    _write_bands(writer, part["strict"], part["quanta"], part["map"], part.get("priomap") or ())
    _write_queues(writer, part, limit)


def _write_priority(writer: Writer, part: Settings, limit: Limit) -> None:
    _write_bands(writer, PRIORITY_BANDS, [], range(PRIORITY_BANDS - 1, -1, -1))
    _write_queues(writer, part, limit)


def _write_queues(writer: Writer, part: Settings, limit: Limit) -> None:
    queues = part.get("queues") or ()
    _for_all(writer, limit, bool(queues))
    for number, queue in enumerate(queues):
        writer.leaf(f"{number + 1:x}", band_name(number, str(part["kind"])), queue)


def _for_all(writer: Writer, limit: Limit, has_queues: bool) -> None:
    """A limit holds for the whole queue here and for each class there."""
    if limit is not None:
        linux = "the limits of the classes alone" if has_queues else f"each class has a pfifo of {TXQUEUELEN} packets"
        writer.differ("limit", f"{limit[0]} {limit[1]} for all", linux)


def _numbers(classes: Sequence[Settings]) -> dict[str, str]:
    """The numbers of classes: c10, as a text form made from tc has them, keeps its own."""
    own = [str(one["name"]) for one in classes]
    kept = all(name[:1] == "c" and _is_hexadecimal(name[1:]) for name in own)
    step = "{}0" if len(own) < 1000 else "{:x}"
    return {name: name[1:] if kept else step.format(at + 1) for at, name in enumerate(own)}


def _from_above(classes: Sequence[Settings]) -> list[Settings]:
    """Each class after the one above it, as tc wants them; the kernel's order is that of their numbers."""
    above = {one["name"]: one.get("parent") for one in classes}

    def level(name: str | None) -> int:
        return 0 if name is None else 1 + level(above[name])

    return sorted(classes, key=lambda one: level(one["name"]))


def _is_hexadecimal(text: str) -> bool:
    return 0 < len(text) <= 4 and all(letter in "0123456789abcdef" for letter in text) and int(text, 16) > 0


def _first_leaf(classes: Sequence[Settings]) -> str:
    inner = {one.get("parent") for one in classes}
    return next(str(one["name"]) for one in classes if one["name"] not in inner)


WANTED = {
    "htb": ("rate", ["rate"], "rate=1Mbit/s"),
    "hfsc": ("curve", list(CLASSES["hfsc"].rows()), "link_share=(m2=1Mbit/s)"),
}
"""What tc wants of a class: its name in a message, the settings of which one is enough, and what to write."""


def _write_classes(writer: Writer, part: Settings, limit: Limit) -> None:
    kind = str(part["kind"])
    word = kind.removeprefix("linux_")
    classes = part.get("classes") or ()
    if not classes:
        fair(writer, part, limit)
        return
    numbers = _numbers(classes)
    default = part.get("default") or _first_leaf(classes)
    has_default = "default" in QDISCS[word].options
    said = [f"default {numbers[default]}"] if has_default else []
    writer.qdisc(word, [*said, *changed(writer, QDISCS[word], part)])
    what, names, example = WANTED.get(word, ("", [], ""))
    for one in _from_above(classes):
        if names and all(one.get(name) is None for name in names):
            raise refused(f"{word}: class {one['name']} has no {what}, and tc wants one; write {example} in it")
        writer.klass(numbers.get(one.get("parent") or "", ""), numbers[one["name"]], word, CLASSES[word].words(one))
    for one in classes:
        for point in one.get("dscp") or ():
            writer.filter(point << 2, 0xFC, numbers[one["name"]])
    left(writer, kind, part, "classes", "default", *QDISCS[word].rows())
    if not has_default:
        writer.differ("default", numbers[default], "drops packets of no class")
    _for_all(writer, limit, any(one.get("queue") is not None for one in classes))
    for one in classes:
        writer.leaf(numbers[one["name"]], str(one["name"]), one.get("queue"))


WRITERS: Mapping[str, Callable[[Writer, Settings, Limit], None]] = {
    "ets": _write_ets,
    "priority": _write_priority,
    **dict.fromkeys(["drr", "htb", "hfsc", "linux_qfq"], _write_classes),
}
