"""The tc commands of qdiscs that have classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fairq.tc.filters import POINTS
from fairq.tc.options import PRIORITIES
from fairq.tc.refusal import refused
from fairq.tc.tables import CLASSES, QDISCS, TXQUEUELEN, as_rate, as_time, bytes_of, us_of
from fairq.tc.writer import Limit, Settings, Writer, changed, left
from fairq.tc.writing_qdiscs import fair


def _bands(
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


def _ets(writer: Writer, part: Settings, limit: Limit) -> None:
    _bands(writer, part["strict"], part["quanta"], part["map"], part.get("priomap") or ())
    _for_all(writer, limit)


def _priority(writer: Writer, _: Settings, limit: Limit) -> None:
    _bands(writer, 8, [], range(7, -1, -1))
    _for_all(writer, limit)


def _for_all(writer: Writer, limit: Limit) -> None:
    """A limit holds for the whole queue here and for each class there."""
    if limit is not None:
        writer.differ("limit", f"{limit[0]} {limit[1]} for all", f"each class has a pfifo of {TXQUEUELEN} packets")


def _numbers(classes: Sequence[Settings]) -> dict[str, str]:
    """The numbers of classes: c10, as a text form made from tc has them, keeps its own."""
    own = [str(one["name"]) for one in classes]
    kept = all(name[:1] == "c" and _is_hexadecimal(name[1:]) for name in own)
    return {name: name[1:] if kept else f"{10 * (at + 1)}" for at, name in enumerate(own)}


def _from_above(classes: Sequence[Settings]) -> list[Settings]:
    """Each class after the one above it, as tc wants them; the kernel's order is that of their numbers."""
    above = {one["name"]: one.get("parent") for one in classes}

    def level(name: str | None) -> int:
        return 0 if name is None else 1 + level(above[name])

    return sorted(classes, key=lambda one: level(one["name"]))


def _is_hexadecimal(text: str) -> bool:
    return 0 < len(text) <= 4 and all(letter in "0123456789abcdef" for letter in text) and int(text, 16) > 0


def _default(part: Settings, numbers: Mapping[str, str]) -> str:
    classes = part["classes"]
    inner = {one.get("parent") for one in classes}
    leaves = [str(one["name"]) for one in classes if one["name"] not in inner]
    return numbers[part.get("default") or leaves[0]]


def _filters(writer: Writer, classes: Sequence[Settings], numbers: Mapping[str, str]) -> None:
    for one in classes:
        for point in one.get("dscp") or ():
            writer.filter(point << 2, 0xFC, numbers[one["name"]])


def _htb(writer: Writer, part: Settings, limit: Limit) -> None:
    classes = part["classes"]
    numbers = _numbers(classes)
    r2q = changed(writer, QDISCS["htb"], part)
    writer.qdisc("htb", [f"default {_default(part, numbers)}", *r2q])
    for one in _from_above(classes):
        if one.get("rate") is None:
            raise refused(f"htb: class {one['name']} has no rate, and tc wants one; write rate=1Mbit/s in it")
        writer.klass(numbers.get(one.get("parent") or "", ""), numbers[one["name"]], "htb", CLASSES["htb"].words(one))
    _filters(writer, classes, numbers)
    left(writer, "htb", part, "classes", "default", "r2q")
    _for_all(writer, limit)


def _curve(curve: Settings) -> list[str]:
    first = [f"m1 {as_rate(curve['m1'])}"] if curve.get("m1") else ["m1 0bit"]
    has_first = curve.get("d") and us_of(curve["d"])
    return [*([*first, f"d {as_time(curve['d'])}"] if has_first else []), f"m2 {as_rate(curve['m2'])}"]


def _hfsc(writer: Writer, part: Settings, limit: Limit) -> None:
    classes = part["classes"]
    numbers = _numbers(classes)
    writer.qdisc("hfsc", [f"default {_default(part, numbers)}"])
    for one in _from_above(classes):
        words = []
        for word, name in (("rt", "real_time"), ("ls", "link_share"), ("ul", "upper_limit")):
            if one.get(name) is not None:
                words += [word, *_curve(one[name])]
        if not words:
            raise refused(f"hfsc: class {one['name']} has no curve, and tc wants one; write"
                             " link_share=(m2=1Mbit/s) in it")  # fmt: skip
        writer.klass(numbers.get(one.get("parent") or "", ""), numbers[one["name"]], "hfsc", words)
    _filters(writer, classes, numbers)
    left(writer, "hfsc", part, "classes", "default")
    _for_all(writer, limit)


def _qfq(writer: Writer, part: Settings, limit: Limit) -> None:
    classes = part.get("classes") or ()
    if not classes:
        fair(writer, part, limit)
        return
    numbers = _numbers(classes)
    writer.qdisc("qfq")
    for one in classes:
        writer.klass("", numbers[one["name"]], "qfq", CLASSES["qfq"].words(one))
    _filters(writer, classes, numbers)
    writer.differ("default", numbers[part.get("default") or classes[0]["name"]], "drops packets of no class")
    _for_all(writer, limit)


WRITERS: Mapping[str, Callable[[Writer, Settings, Limit], None]] = {
    "ets": _ets, "priority": _priority, "htb": _htb, "hfsc": _hfsc, "linux_qfq": _qfq,
}  # fmt: skip
