"""RED and what is made of it, `choke`, `gred` and the RED of `sfq`, from tc and to tc.

Source: iproute2 6.1, tc/tc_red.c, q_red.c, q_choke.c, q_sfq.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairq.core.errors import UsageError
from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.draft import AVPKT, Limit, Settings, Writer, in_bytes, left, limit_of, packets
from fairq.traffic_control.qdisc_tables import CHOKE_MAX, QDISCS, bytes_of
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import MOST, form, rate_form, rate_word

Given = Mapping[str, Any]


def weight(least: float, burst: int, packet: int) -> float:
    """RED's weight of a burst, as tc computes it (iproute2, tc_red_eval_ewma).

    Raises UsageError with the option that is to change.
    """
    wanted = burst + 1 - least / packet
    if wanted < 1:
        raise UsageError(f"burst of {burst} packets is below min; write at least {round(least / packet)}")
    for power in range(1, 32):
        tried = 2.0**-power
        if wanted <= (1 - (1 - tried) ** burst) / tried:
            return tried
    raise UsageError(f"burst of {burst} packets is too long for any weight")


def _weight_of(kind: str, least: float, burst: int, packet: int) -> float:
    try:
        return weight(least, burst, packet)
    except UsageError as error:
        raise refused(f"qdisc {kind}: {error}") from None


def _packet(kind: str, given: Given) -> int:
    packet = int(given.get("avpkt", AVPKT))
    if not packet:
        raise refused(f"qdisc {kind}: avpkt 0; write avpkt {AVPKT}")
    return packet


def curve(kind: str, given: Given, differs: Differs) -> Given:
    """What follows from several options; red's thresholds are in bytes, choke's in packets of avpkt."""
    packet = _packet(kind, given)
    unit, length = ("B", 1) if kind == "red" else ("packets", packet)
    most = given.get("max")
    if most is None:
        most = 3 * given["min"] if kind == "red" and "min" in given else given["limit"] // 4
    least = given.get("min", most // 3)
    burst = given.get("burst", (2 * least + most) * length // (3 * packet))
    if "bandwidth" in given:
        differs.say("bandwidth", "the line's rate", rate_form(given["bandwidth"]))
    return {
        "min": f"{least}{unit}", "max": f"{most}{unit}", "weight": _weight_of(kind, least * length, burst, packet),
        "mean_packet": f"{packet}B" if packet != AVPKT else None,
    }  # fmt: skip


def of_sfq(given: Given) -> str:
    """The RED of each queue; what is not said follows from redflowlimit (iproute2, q_sfq.c)."""
    packet = _packet("sfq", given)
    most = given.get("max") or given["redflowlimit"] // 4
    least = given.get("min") or most // 3
    if least >= most:
        raise refused(f"qdisc sfq: min {least} is not below max {most}")
    burst = given.get("burst") or (2 * least + most) // (3 * packet)
    said = {
        "min": f"{least}B", "max": f"{most}B", "probability": given.get("probability", 0.02),
        "weight": _weight_of("sfq", least, burst, packet),
        "ecn": "true" if given.get("ecn") else None, "hard_drop": "true" if given.get("harddrop") else None,
    }  # fmt: skip
    return form("", said)


def burst_of(least: float, weight: float, packet: int) -> tuple[int, float]:
    """The burst in packets of which tc makes the nearest weight, and that weight."""
    first = max(1, -(-round(least) // packet))
    fitting = {burst: _weight(least, burst, packet) for burst in range(first, first + 10_000)}
    burst = min(fitting, key=lambda burst: abs(fitting[burst] - weight))
    return burst, fitting[burst]


def _burst(writer: Writer, least: float, weight: float, packet: int) -> int:
    burst, there = burst_of(least, weight, packet)
    if there != weight:
        writer.differ("weight", weight, f"a power of 2, here {there:g}")
    return burst


def _weight(least: float, burst: int, packet: int) -> float:
    try:
        return weight(least, burst, packet)
    except UsageError:
        return 0.0


def _threshold(text: str, packet: int) -> int:
    number, unit = limit_of(text) or (0, "packets")
    return number * packet if unit == "packets" else number


def _red_words(writer: Writer, part: Settings, in_packets: bool) -> list[str]:
    packet = bytes_of(part["mean_packet"])
    unit = packet if in_packets else 1
    least, most = (_threshold(part[name], packet) for name in ("min", "max"))
    if least // unit >= MOST:
        raise refused(f"red: min is {part['min']}, for which the kernel has no room; write less than 4 GB")
    if part.get("gentle"):
        writer.differ("gentle", True, "drops all above max")
    bandwidth = rate_word(writer.rate) if writer.rate else "10mbit"
    if not writer.rate:
        writer.differ("bandwidth", "the line's", "10mbit, for the time an idle queue forgets; write the device's")
    burst, ecn = _burst(writer, least, part["weight"], packet), ["ecn"] if part["ecn"] else []
    return [f"min {least // unit}", f"max {most // unit}", f"avpkt {packet}", f"burst {burst}",
            f"probability {part['probability']:g}", f"bandwidth {bandwidth}", *ecn]  # fmt: skip


def write_red(writer: Writer, part: Settings, limit: Limit) -> None:
    """A red, whose limit is in bytes."""
    words = _red_words(writer, part, in_packets=False)
    if part["ecn"] and part["hard_drop"]:
        words.append("harddrop")
    writer.qdisc("red", [f"limit {in_bytes(writer, limit, 400_000)}", *words])
    left(writer, "red", part, "gentle", *QDISCS["red"].settings.split())


def write_wred(writer: Writer, part: Settings, limit: Limit) -> None:
    """A gred with equal priorities, which has one average for all its curves."""
    curves = part["curves"]
    rest = next((at for at, one in enumerate(curves) if not one["dscp"]), None)
    room = in_bytes(writer, limit, 400_000)
    flags = [word for name, word in (("ecn", "ecn"), ("hard_drop", "harddrop")) if part[name]]
    # A default that is no queue lets packets of no curve in.
    default = len(curves) if rest is None else rest
    writer.qdisc("gred", [f"setup vqs {max(len(curves), default + 1)} default {default} grio limit {room}", *flags])
    said: list[dict[str, str]] = []
    for at, one in enumerate(curves):
        before = len(writer.differs)
        words = _red_words(writer, {**part, **one, "ecn": False}, in_packets=False)
        writer.say("qdisc change dev", writer.dev, f"handle {writer.handle:x}: {writer.at()} gred limit {room}", *words,
                   f"vq {at} prio 1")  # fmt: skip
        # The same of each curve is said once.
        rows, writer.differs[before:] = writer.differs[before:], []
        said += [row for row in rows if row not in said]
    writer.differs += said
    points = "; ".join(f"{at}: {', '.join(map(str, one['dscp'])) or 'the rest'}" for at, one in enumerate(curves))
    writer.differ("dscp", points, "the low bits of tc_index, which dsmark (up to 6.2) or a program of bpf sets")
    left(writer, "wred", part, "curves", "weight", "gentle", "ecn", "hard_drop", "mean_packet")


def write_choke(writer: Writer, part: Settings, limit: Limit) -> None:
    """A choke, whose limit and thresholds are in packets."""
    words = packets(writer, limit, 1000, most=CHOKE_MAX) or ["limit 1000"]
    writer.qdisc("choke", [*words, *_red_words(writer, part, True)])
    left(writer, "choke", part, "gentle", *QDISCS["choke"].settings.split())


def words_of_sfq(writer: Writer, part: Settings) -> list[str]:
    """The options of the RED of each queue."""
    least, most = bytes_of(part["min"]), bytes_of(part["max"])
    burst = _burst(writer, least, part["weight"], AVPKT)
    flags = [word for name, word in (("ecn", "ecn"), ("hard_drop", "harddrop")) if part[name]]
    # The kernel does not read redflowlimit; tc wants it, not below max.
    return [f"redflowlimit {most}", f"min {least}", f"max {most}", f"avpkt {AVPKT}", f"burst {burst}",
            f"probability {part['probability']:g}", *flags]  # fmt: skip
