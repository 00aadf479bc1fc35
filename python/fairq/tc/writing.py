"""Writes the tc commands of the nearest Linux configuration, and what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fairq import _native, quantities
from fairq._native import UsageError
from fairq.tc import cake, qdiscs
from fairq.tc.options import FQ_WEIGHT_MIN
from fairq.tc.units import rate_word, time_form

Settings = Mapping[str, Any]
AVPKT = 1000
"""How many bytes a packet has where a limit in packets is to be one in bytes."""
DEVICE = re.compile(r"(?!\.\.?$)[A-Za-z0-9_.@+-]{1,15}", re.ASCII)
"""The name of a device that a shell takes as it is."""


@dataclass(frozen=True)
class Written:
    """The commands of one queue."""

    text: str
    """The queue's text form, or the line of the scenario that has it."""
    commands: list[str]
    """In the order in which they are given."""
    differs: list[dict[str, str]]
    """What is not as here: setting, here, linux."""

    def as_document(self) -> dict[str, Any]:
        """What --json prints."""
        return {"commands": self.commands, "differs": self.differs, "text": self.text}

    def as_lines(self) -> list[str]:
        """What a person reads, and a shell: all but the commands are comments."""
        said = [f"# {row['setting']}: here {row['here']}; Linux: {row['linux']}" for row in self.differs]
        return [*self.commands, *said]


@dataclass
class _Writer:
    dev: str
    rate: float | None
    """Of the line, in bit/s, where it is known."""
    parent: str = "root"
    handle: int = 1
    commands: list[str] = field(default_factory=list)
    differs: list[dict[str, str]] = field(default_factory=list)

    def differ(self, setting: str, here: Any, linux: str) -> None:
        said = here if isinstance(here, str) else "on" if here is True else "off" if here is False else f"{here}"
        self.differs.append({"setting": setting, "here": said, "linux": linux})

    def say(self, *words: str) -> None:
        self.commands.append(" ".join(["tc", *words]))

    def qdisc(self, kind: str, words: Sequence[str] = ()) -> None:
        at = self.parent if self.parent == "root" else f"parent {self.parent}"
        self.say("qdisc", "replace" if self.parent == "root" else "add", "dev", self.dev, at, f"handle {self.handle}:",
                 kind, *words)  # fmt: skip

    def under(self, rate: str) -> None:
        """What follows stands in a class that is the line."""
        self.qdisc("htb", ["default 1"])
        self.klass("", "1", "htb", [f"rate {rate}", f"ceil {rate}"])
        self.parent, self.handle = f"{self.handle}:1", self.handle * 10

    def klass(self, parent: str, number: str, kind: str, words: Sequence[str]) -> None:
        self.say("class add dev", self.dev, f"parent {self.handle}:{parent}", f"classid {self.handle}:{number}", kind,
                 *words)  # fmt: skip

    def filter(self, value: int, mask: int, number: str) -> None:
        for family in ("ip", "ip6"):
            name = "dsfield" if family == "ip" else "priority"
            protocol = "ip" if family == "ip" else "ipv6"
            self.say("filter add dev", self.dev, f"parent {self.handle}: protocol {protocol}",
                     f"u32 match {family} {name} {value:#04x} {mask:#04x} flowid {self.handle}:{number}")  # fmt: skip


def write(text: str, dev: str = "eth0") -> Written:
    """The commands for the queue of a text form on the device `dev`.

    Raises UsageError with what is wrong.
    """
    _check(dev)
    return _written(text, _native_queue(text), _Writer(dev, None))


def _check(dev: str) -> None:
    if not DEVICE.fullmatch(dev):
        raise UsageError(f"tc: {dev!r} is no name of a device; write up to 15 letters, digits and . _ @ + -, as eth0")


def of_scenario(text: str, name: str, dev: str = "eth0") -> Written:
    """The commands for the lines of a scenario, each under a class that has the line's rate.

    A line is the device at its sending end: of several, each command is after a comment that names its line. Raises
    ScenarioError with the place that is wrong.
    """
    _check(dev)
    lines: list[dict[str, Any]] = json.loads(_native.lines(text, name, []))
    chosen: list[dict[str, Any]] = []
    for line in lines:
        # The points of axes have lines in common.
        if line not in chosen:
            chosen.append(line)
    commands: list[str] = []
    differs: list[dict[str, str]] = []
    for line in chosen:
        writer = _Writer(dev, line["rate_bit_per_s"])
        title = _title(line, chosen)
        one = _written(title, line["queue"], writer)
        if line["follows_trace"]:
            writer.differ("trace", "the rate follows it", "its mean")
        if line["delay_s"]:
            writer.differ("delay", f"{line['delay_s']:g} s", "the path's own; netem on another device makes one")
        several = len(chosen) > 1
        commands += [f"# {title}", *one.commands] if several else one.commands
        differs += [{**row, "setting": f"{title}: {row['setting']}"} if several else row for row in one.differs]
    return Written(name, commands, differs)


def _title(line: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> str:
    """What tells a line from the others; of one that the points of axes change, which it is and how."""
    # A name may have any letters, and a title stands in a comment.
    title = " ".join(f"line {line['link']}, {line['direction']}".split())
    alike = [one for one in lines if (one["link"], one["direction"]) == (line["link"], line["direction"])]
    if len(alike) == 1:
        return title
    said = {"rate_bit_per_s": rate_word(line["rate_bit_per_s"]), "delay_s": f"delay {line['delay_s']:g} s",
            "follows_trace": "after a trace" if line["follows_trace"] else "of a rate"}  # fmt: skip
    which = f"{alike.index(line) + 1} of {len(alike)}"
    return ", ".join(
        [title, which, *(word for name, word in said.items() if any(one[name] != line[name] for one in alike))]
    )


def _written(text: str, table: Mapping[str, Any], writer: _Writer) -> Written:
    design, scheduler = table.get("design"), table.get("scheduler") or {"kind": "fifo"}
    part = design or scheduler
    kind, limit = str(part["kind"]), _limit(table.get("limit"))
    if writer.rate is not None and kind != "cake":
        writer.under(rate_word(writer.rate))
    elif writer.rate is not None and part.get("rate") is None:
        part = {**part, "rate": f"{round(writer.rate)} bit/s"}
    early = table.get("buffer")
    if kind == "fifo" and early is not None:
        BUFFERS.get(early["kind"], _unknown_buffer)(writer, early, limit)
    else:
        WRITERS.get(kind, _fair)(writer, part, limit)
        if early is not None and early["kind"] != "tail_drop":
            writer.differ("buffer", str(early["kind"]), "drops what arrives at a full queue")
    for place in ("overflow", "marker"):
        if (other := table.get(place)) is not None:
            writer.differ(place, str(other["kind"]), "nothing like it")
    classifier = (table.get("classifier") or {}).get("kind")
    if classifier not in (None, "port_pair"):
        writer.differ("classifier", str(classifier), "a flow is the five-tuple")
    return Written(text, writer.commands, writer.differs)


def _native_queue(text: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_native.queue(text))
    return table


def _limit(text: str | None) -> tuple[int, str] | None:
    """A limit as number and unit, or None where it is unlimited or not said."""
    if text is None or text == "unlimited":
        return None
    number, unit = text.split()
    return (int(number), "packets") if unit.startswith("packet") else (_bytes(text), "bytes")


def _bytes(text: str) -> int:
    return round(quantities.size(text))


def _us(text: str) -> float:
    return quantities.time(text) * 1e6


def _packets(writer: _Writer, limit: tuple[int, str] | None, default: int) -> list[str]:
    """A limit in packets: what is not said is Linux's own."""
    if limit is None:
        writer.differ("limit", "not said", f"{default} packets")
        return []
    number, unit = limit
    if unit == "bytes":
        writer.differ("limit", f"{number} B", f"packets: {max(1, number // qdiscs.MTU)}")
        return [f"limit {max(1, number // qdiscs.MTU)}"]
    return [f"limit {number}"]


def _in_bytes(writer: _Writer, limit: tuple[int, str] | None, default: int) -> int:
    if limit is None:
        writer.differ("limit", "not said", f"{default} B")
        return default
    number, unit = limit
    if unit == "packets":
        writer.differ("limit", f"{number} packets", f"bytes: {number * AVPKT}, {AVPKT} for each packet")
        return number * AVPKT
    return number


Said = Mapping[str, tuple[str, Callable[[Any], str]]]
"""A setting here, its word in tc and how it is written there."""


def _changed(writer: _Writer, kind: str, part: Settings, known: Said) -> list[str]:
    """The options of settings that are not the default, which are Linux's too."""
    default = _usual(kind)
    words = []
    for name, (word, written) in known.items():
        if part.get(name) is not None and part.get(name) != default.get(name):
            said = written(part[name])
            words.append(f"{word} {said}".strip())
            _say_rounded(writer, name, part[name], written, said)
    return words


def _say_rounded(writer: _Writer, name: str, value: Any, written: Callable[[Any], str], said: str) -> None:
    """Whether tc cannot say the value: its steps are coarser, it has a bound, or its 0 is the default."""
    for unit, step, writes in STEPS:
        if writes is written:
            steps = (_us(value) if isinstance(value, str) else value) / step
            taken = float(said) if writes is not _time else max(1, round(steps)) if steps else 0
            if abs(steps - taken) > 1e-9:
                writer.differ(name, value, f"{said}, in whole {unit}")
            elif not steps and writes in (_sixteenths, _percent):
                writer.differ(name, value, "0 is the default")


@cache
def _usual(kind: str) -> Settings:
    """The settings that a part has where nothing is said."""
    table = _native_queue(f"fifo + {kind}" if kind in BUFFERS else kind)
    part: Settings = table.get("design") or table.get("buffer") or table["scheduler"]
    return part


def _left(writer: _Writer, kind: str, part: Settings, known: Said, *said: str) -> None:
    """What has been changed and has no option in tc."""
    default = _usual(kind)
    for name, value in part.items():
        if name not in (*known, *said, "kind") and value != default.get(name):
            writer.differ(name, value, "no such option")


def _plainly(value: Any) -> str:
    return f"{value}"


def _size(value: Any) -> str:
    return f"{_bytes(value)}"


def _time(value: Any) -> str:
    return time_form(max(1, round(_us(value))) if _us(value) else 0)


def _milliseconds(value: Any) -> str:
    return f"{round(_us(value) / 1000)}"


def _sixteenths(value: Any) -> str:
    return f"{min(32, round(value * 16))}"


def _hundredths(value: Any) -> str:
    return f"{round(value * 100)}"


def _percent(value: Any) -> str:
    return f"{min(99, round(value * 100))}"


def _decimal(value: Any) -> str:
    return f"{round(value)}"


def _rate(value: Any) -> str:
    return rate_word(quantities.rate(value))


STEPS = [
    ("microseconds", 1, _time), ("milliseconds", 1000, _milliseconds), ("sixteenths up to 32", 1 / 16, _sixteenths),
    ("hundredths", 1 / 100, _hundredths), ("hundredths below 100", 1 / 100, _percent), ("numbers", 1, _decimal),
]  # fmt: skip
"""What tc can say of a setting that is written so."""


_CODEL: Said = {"target": ("target", _time), "interval": ("interval", _time), "ce_threshold": ("ce_threshold", _time)}
_FQ_CODEL: Said = {
    "queues": ("flows", _plainly), "quantum": ("quantum", _size), "memory": ("memory_limit", _size), **_CODEL,
    "drop_batch": ("drop_batch", _plainly),
}  # fmt: skip
_PIE: Said = {
    "target": ("target", _time), "update": ("tupdate", _time), "alpha": ("alpha", _sixteenths),
    "beta": ("beta", _sixteenths),
}  # fmt: skip
_FQ: Said = {
    "flow_limit": ("flow_limit", _plainly), "quantum": ("quantum", _size),
    "initial_quantum": ("initial_quantum", _size), "refill_delay": ("refill_delay", _time),
    "maxrate": ("maxrate", _rate), "low_rate_threshold": ("low_rate_threshold", _rate),
    "ce_threshold": ("ce_threshold", _time),
}  # fmt: skip
_SFQ: Said = {
    "quantum": ("quantum", _size), "depth": ("depth", _plainly), "flows": ("flows", _plainly),
    "divisor": ("divisor", _plainly), "headdrop": ("headdrop", lambda on: ""),
}  # fmt: skip


def _ecn(part: Settings) -> list[str]:
    return ["ecn" if part["ecn"] else "noecn"]


def _fifo(writer: _Writer, _: Settings, limit: tuple[int, str] | None) -> None:
    if limit is not None and limit[1] == "bytes":
        writer.qdisc("bfifo", [f"limit {limit[0]}"])
    else:
        writer.qdisc("pfifo", _packets(writer, limit, qdiscs.TXQUEUELEN))


def _head_drop(writer: _Writer, _: Settings, limit: tuple[int, str] | None) -> None:
    writer.qdisc("pfifo_head_drop", _packets(writer, limit, qdiscs.TXQUEUELEN))


def _unknown_buffer(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    if part["kind"] != "tail_drop":
        writer.differ("buffer", str(part["kind"]), "drops what arrives at a full queue")
    _fifo(writer, part, limit)


def _codel(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    writer.qdisc("codel", [*_packets(writer, limit, 1000), *_changed(writer, "codel", part, _CODEL), *_ecn(part)])
    _left(writer, "codel", part, _CODEL, "ecn")


def _law_of_pie(writer: _Writer, part: Settings, known: Said) -> list[str]:
    by_rate = ["dq_rate_estimator"] if part["delay"] == "departure_rate" else []
    words = [*_changed(writer, "pie", part, known), *by_rate, *_ecn(part)]
    _left(writer, "pie", part, known, "ecn", "delay")
    return words


def _pie(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    writer.qdisc("pie", [*_packets(writer, limit, 1000), *_law_of_pie(writer, part, _PIE)])


def _burst(writer: _Writer, least: float, weight: float, packet: int) -> int:
    """The burst, in packets, of which tc makes the weight."""
    first = max(1, -(-round(least) // packet))
    fitting = {burst: _weight(least, burst, packet) for burst in range(first, first + 10_000)}
    burst = min(fitting, key=lambda burst: abs(fitting[burst] - weight))
    if fitting[burst] != weight:
        writer.differ("weight", weight, f"a power of 2, here {fitting[burst]:g}")
    return burst


def _weight(least: float, burst: int, packet: int) -> float:
    try:
        return qdiscs.weight(least, burst, packet)
    except UsageError:
        return 0.0


def _threshold(text: str, packet: int) -> int:
    number, unit = _limit(text) or (0, "packets")
    return number * packet if unit == "packets" else number


def _red_words(writer: _Writer, part: Settings, in_packets: bool) -> list[str]:
    packet = _bytes(part["mean_packet"])
    unit = packet if in_packets else 1
    least, most = (_threshold(part[name], packet) for name in ("min", "max"))
    if part.get("gentle"):
        writer.differ("gentle", True, "drops all above max")
    bandwidth = rate_word(writer.rate) if writer.rate else "10mbit"
    if not writer.rate:
        writer.differ("bandwidth", "the line's", "10mbit, for the time an idle queue forgets; write the device's")
    burst, ecn = _burst(writer, least, part["weight"], packet), ["ecn"] if part["ecn"] else []
    return [f"min {least // unit}", f"max {most // unit}", f"avpkt {packet}", f"burst {burst}",
            f"probability {part['probability']:g}", f"bandwidth {bandwidth}", *ecn]  # fmt: skip


def _red(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    words = _red_words(writer, part, in_packets=False)
    if part["ecn"] and part["hard_drop"]:
        words.append("harddrop")
    writer.qdisc("red", [f"limit {_in_bytes(writer, limit, 400_000)}", *words])
    named = ["min", "max", "weight", "probability", "ecn", "hard_drop", "gentle", "mean_packet"]
    _left(writer, "red", part, {}, *named)


def _choke(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    writer.qdisc("choke", [*(_packets(writer, limit, 1000) or ["limit 1000"]), *_red_words(writer, part, True)])
    _left(writer, "choke", part, {}, "min", "max", "weight", "probability", "ecn", "gentle", "mean_packet")


_SFB: Said = {
    "bin_size": ("target", _plainly), "bin_max": ("max", _plainly), "increment": ("increment", _plainly),
    "decrement": ("decrement", _plainly), "rehash": ("rehash", _milliseconds), "warmup": ("db", _milliseconds),
    "penalty_rate": ("penalty_rate", _plainly), "penalty_burst": ("penalty_burst", _plainly),
}  # fmt: skip


def _sfb(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    words = _changed(writer, "sfb", part, _SFB)
    if len(bins := [word for word in words if word.split()[0] in ("target", "max")]) == 1:
        # What tc is not told of the two follows from the other.
        words = [word for word in words if word not in bins]
        words += [f"target {part['bin_size']}", f"max {part['bin_max']}"]
    writer.qdisc("sfb", [*_packets(writer, limit, qdiscs.TXQUEUELEN), *words])
    _left(writer, "sfb", part, _SFB)


def _fq_codel(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    words = _changed(writer, "fq_codel", part, _FQ_CODEL)
    if part["ce_threshold_mask"]:
        words.append(f"ce_threshold_selector {part['ce_threshold_selector']}/{part['ce_threshold_mask']}")
    writer.qdisc("fq_codel", [*_packets(writer, limit, 10_240), *words, *([] if part["ecn"] else ["noecn"])])
    if part.get("quantum") and _bytes(part["quantum"]) < qdiscs.FQ_CODEL_QUANTUM_MIN:
        writer.differ("quantum", part["quantum"], f"at least {qdiscs.FQ_CODEL_QUANTUM_MIN} B")
    _left(writer, "fq_codel", part, _FQ_CODEL, "ecn", "ce_threshold_mask", "ce_threshold_selector")


def _fq_pie(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    known: Said = {"queues": ("flows", _plainly), "quantum": ("quantum", _size), "memory": ("memory_limit", _size)}
    inner = _law_of_pie(writer, part["pie"], {**_PIE, "ecn_threshold": ("ecn_prob", _percent)})
    words = [*_changed(writer, "fq_pie", part, known), *inner]
    writer.qdisc("fq_pie", [*_packets(writer, limit, 10_240), *words])
    _left(writer, "fq_pie", part, known, "pie")


def _linux_fq(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    bands = []
    if weights := [_bytes(weight) for weight in part["weights"]]:
        if len(weights) == 3 and min(weights) >= FQ_WEIGHT_MIN:
            bands = ["bands 3 priomap", *map(str, part["priomap"]), "weights", *map(str, weights)]
            writer.differ("kernel", "any", "6.7 or later")
        else:
            writer.differ("weights", f"{part['weights']}", f"3 bands with weights from {FQ_WEIGHT_MIN} on")
    writer.qdisc("fq", [*_packets(writer, limit, 10_000), *_changed(writer, "linux_fq", part, _FQ), *bands])
    _left(writer, "linux_fq", part, _FQ, "weights", "priomap")


def _fq_pacing(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    known = {**{name: said for name, said in _FQ.items() if name != "maxrate"}, "rate_max": ("maxrate", _rate)}
    writer.qdisc("fq", [*_packets(writer, limit, 10_000), *_changed(writer, "fq_pacing", part, known)])
    writer.differ(
        "scheduler", "fq_pacing", "fq, which is linux_fq here: it paces by the quantum and makes up for lateness"
    )


def _linux_sfq(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    writer.qdisc("sfq", [*_packets(writer, limit, 127), *_changed(writer, "linux_sfq", part, _SFQ)])


def _fair(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    """Whatever shares by flows and is not in Linux."""
    quantum = part.get("quantum")
    words = [f"quantum {_bytes(quantum)}"] if isinstance(quantum, str) else []
    writer.qdisc("sfq", [*_packets(writer, limit, 127), *words])
    kind = str(part["kind"])
    own = {"drr": "drr", "linux_qfq": "qfq"}.get(kind)
    there = f"{own} wants a class and a filter for each flow" if own else "not there"
    writer.differ("discipline", kind, f"{there}; sfq shares by hashed flows, all with the same weight")


def _bands(writer: _Writer, strict: int, quanta: Sequence[str], places: Sequence[int]) -> None:
    bands = strict + len(quanta)
    priomap = " ".join([str(places[0])] * 16)
    if quanta:
        shares = " ".join(str(_bytes(quantum)) for quantum in quanta)
        writer.qdisc("ets", [f"bands {bands}", f"strict {strict}", f"quanta {shares}", f"priomap {priomap}"])
    else:
        # prio has at least two bands.
        writer.qdisc("prio", [f"bands {max(2, bands)}", f"priomap {priomap}"])
    for precedence, band in enumerate(places):
        writer.filter(precedence << 5, 0xE0, f"{band + 1:x}")


def _ets(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    _bands(writer, part["strict"], part["quanta"], part["map"])
    _for_all(writer, limit)


def _priority(writer: _Writer, _: Settings, limit: tuple[int, str] | None) -> None:
    _bands(writer, 8, [], range(7, -1, -1))
    _for_all(writer, limit)


def _for_all(writer: _Writer, limit: tuple[int, str] | None) -> None:
    """A limit holds for the whole queue here and for each class there."""
    if limit is not None:
        writer.differ(
            "limit", f"{limit[0]} {limit[1]} for all", f"each class has a pfifo of {qdiscs.TXQUEUELEN} packets"
        )


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


def _filters(writer: _Writer, classes: Sequence[Settings], numbers: Mapping[str, str]) -> None:
    for one in classes:
        for point in one.get("dscp") or ():
            writer.filter(point << 2, 0xFC, numbers[one["name"]])


def _htb(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    classes = part["classes"]
    numbers = _numbers(classes)
    r2q = _changed(writer, "htb", part, {"r2q": ("r2q", _plainly)})
    writer.qdisc("htb", [f"default {_default(part, numbers)}", *r2q])
    for one in _from_above(classes):
        if one.get("rate") is None:
            raise UsageError(f"tc: htb: class {one['name']} has no rate, and tc wants one; write rate=1Mbit/s in it")
        rate, ceil = _rate(one["rate"]), one.get("ceil")
        words = [f"rate {rate}", *([f"ceil {_rate(ceil)}"] if ceil is not None else [])]
        words += [f"burst {_bytes(one['burst'])}", f"cburst {_bytes(one['cburst'])}"]
        words += [f"prio {one['priority']}"] if one["priority"] else []
        words += [f"quantum {_bytes(one['quantum'])}"] if one.get("quantum") is not None else []
        words += [f"{name} {one[name]}" for name in ("overhead", "mpu") if one.get(name)]
        words += ["linklayer atm"] if one.get("linklayer") == "atm" else []
        writer.klass(numbers.get(one.get("parent") or "", ""), numbers[one["name"]], "htb", words)
    _filters(writer, classes, numbers)
    _left(writer, "htb", part, {}, "classes", "default", "r2q")
    _for_all(writer, limit)


def _curve(curve: Settings) -> list[str]:
    first = [f"m1 {_rate(curve['m1'])}"] if curve.get("m1") else ["m1 0bit"]
    has_first = curve.get("d") and _us(curve["d"])
    return [*([*first, f"d {_time(curve['d'])}"] if has_first else []), f"m2 {_rate(curve['m2'])}"]


def _hfsc(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    classes = part["classes"]
    numbers = _numbers(classes)
    writer.qdisc("hfsc", [f"default {_default(part, numbers)}"])
    for one in _from_above(classes):
        words = []
        for word, name in (("rt", "real_time"), ("ls", "link_share"), ("ul", "upper_limit")):
            if one.get(name) is not None:
                words += [word, *_curve(one[name])]
        if not words:
            raise UsageError(f"tc: hfsc: class {one['name']} has no curve, and tc wants one; write"
                             " link_share=(m2=1Mbit/s) in it")  # fmt: skip
        writer.klass(numbers.get(one.get("parent") or "", ""), numbers[one["name"]], "hfsc", words)
    _filters(writer, classes, numbers)
    _left(writer, "hfsc", part, {}, "classes", "default")
    _for_all(writer, limit)


def _qfq(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    classes = part.get("classes") or ()
    if not classes:
        _fair(writer, part, limit)
        return
    numbers = _numbers(classes)
    writer.qdisc("qfq")
    for one in classes:
        words = [f"weight {one['weight']}", f"maxpkt {_bytes(one['maxpkt'])}"]
        writer.klass("", numbers[one["name"]], "qfq", words)
    _filters(writer, classes, numbers)
    writer.differ("default", numbers[part.get("default") or classes[0]["name"]], "drops packets of no class")
    _for_all(writer, limit)


def _cbs(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    slopes = [one.get("idle_slope") for one in part["classes"]]
    port = writer.rate or (quantities.rate(slopes[0]) * 2 if slopes and slopes[0] else None)
    slope = quantities.rate(slopes[0]) if slopes and slopes[0] else (port or 0) * part["share"] / max(1, len(slopes))
    if not port or not slope:
        raise UsageError(
            "tc: cbs: neither the line's rate nor an idle_slope is known; write idle_slope=2Mbit/s in a class"
        )
    first = part["classes"][0]
    falls = quantities.rate(first["send_slope"]) if first.get("send_slope") else port - slope
    # IEEE 802.1Q annex L: the credits of one class beside packets of the MTU.
    high, low = qdiscs.MTU * slope / port, qdiscs.MTU * falls / port
    high = quantities.size(first["hi_credit"]) if first.get("hi_credit") else high
    low = quantities.size(first["lo_credit"]) if first.get("lo_credit") else low
    writer.qdisc("cbs", [f"hicredit {round(high)}", f"locredit {-round(low)}", f"sendslope {-round(falls / 1000)}",
                         f"idleslope {round(slope / 1000)}", "offload 0"])  # fmt: skip
    if len(slopes) > 1 or part.get("default") != first["name"]:
        writer.differ("classes", f"{len(slopes)} and what is left", "one; the others are queues of mqprio above it")
    if part.get("paper"):
        writer.differ("paper", part["paper"], "credit grows below zero only")


def _token_bucket(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    rate = part.get("rate")
    if rate is None:
        raise UsageError("tc: token_bucket: no rate, and tc wants one; write token_bucket(rate=1Mbit/s)")
    words = [f"rate {_rate(rate)}", f"burst {_bytes(part['burst'])}"]
    if part.get("peak_rate") is not None and quantities.rate(part["peak_rate"]) <= quantities.rate(rate):
        writer.differ("peak_rate", part["peak_rate"], "left out: it has to be above the rate")
    elif part.get("peak_rate") is not None:
        words += [f"peakrate {_rate(part['peak_rate'])}", f"mtu {_bytes(part.get('mtu') or '1514 B')}"]
    words += [f"{name} {part[name]}" for name in ("overhead", "mpu") if part.get(name)]
    words += ["linklayer atm"] if part.get("linklayer") == "atm" else []
    writer.qdisc("tbf", [*words, f"limit {_in_bytes(writer, limit, qdiscs.TXQUEUELEN * qdiscs.MTU)}"])


_TINS = {here: there for there, here in cake.CAKE_TINS.items() if there != "diffserv"}
_ISOLATION = {here: there for there, here in cake.CAKE_ISOLATION.items()}


def _cake(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    words = [f"bandwidth {_rate(part['rate'])}" if part.get("rate") is not None else "unlimited"]
    preset = part.get("preset")
    if preset == "raw" and part.get("overhead") is not None:
        # After raw tc counts the header beside the overhead.
        preset = None
    words += [str(preset).replace("_", "-")] if preset else []
    words += [f"{name} {part[name]}" for name in ("overhead", "mpu") if part.get(name) is not None]
    words += [{"none": "noatm"}.get(part["framing"], str(part["framing"]))] if part.get("framing") else []
    words += [_TINS[part["tins"]], _ISOLATION[part["isolation"]]]
    if (rtt := part.get("rtt")) is not None:
        words.append(str(rtt) if rtt in cake.CAKE_RTTS else f"rtt {_time(rtt)}")
    words += [f"memlimit {_bytes(part['memory'])}"] if part.get("memory") is not None else []
    filters = {"conservative": ["ack-filter"], "aggressive": ["ack-filter-aggressive"]}
    words += filters.get(part.get("ack_filter") or "none", [])
    words += ["ingress"] if part.get("ingress") else []
    writer.qdisc("cake", words)
    for name in ("target", "interval"):
        if part.get(name) is not None:
            writer.differ(name, part[name], "follows from rtt")
    if limit is not None:
        writer.differ("limit", f"{limit[0]} {limit[1]}", "10240 packets and the memory")
    said = ["rate", "preset", "overhead", "mpu", "framing", "tins", "isolation", "rtt", "memory", "ack_filter",
            "ingress", "target", "interval"]  # fmt: skip
    _left(writer, "cake", part, {}, *said)


def _dualpi2(writer: _Writer, part: Settings, limit: tuple[int, str] | None) -> None:
    known: Said = {"target": ("target", _time), "update": ("tupdate", _time), "step": ("step_thresh", _time),
                   "coupling": ("coupling_factor", _decimal), "alpha": ("alpha", _plainly), "beta": ("beta", _plainly),
                   "classic_share": ("classic_protection", _hundredths)}  # fmt: skip
    early = ["drop_enqueue"] if part["at"] == "enqueue" else []
    writer.qdisc("dualpi2", [*_packets(writer, limit, 10_000), *_changed(writer, "dualpi2", part, known), *early])
    writer.differ("kernel", "any", "6.17 or later")
    _left(writer, "dualpi2", part, known, "at")


WRITERS: dict[str, Callable[[_Writer, Settings, tuple[int, str] | None], None]] = {
    "fifo": _fifo, "ets": _ets, "priority": _priority, "htb": _htb, "hfsc": _hfsc, "linux_qfq": _qfq, "cbs": _cbs,
    "token_bucket": _token_bucket, "linux_fq": _linux_fq, "fq_pacing": _fq_pacing, "linux_sfq": _linux_sfq,
    "fq_codel": _fq_codel, "fq_pie": _fq_pie, "cake": _cake, "dualpi2": _dualpi2,
}  # fmt: skip
BUFFERS: dict[str, Callable[[_Writer, Settings, tuple[int, str] | None], None]] = {
    "codel": _codel, "pie": _pie, "red": _red, "choke": _choke, "sfb": _sfb, "head_drop": _head_drop,
}  # fmt: skip
