"""tc's action `police`, from tc and to tc.

Source: iproute2 6.1, tc/m_police.c; Linux 6.1, act_police.c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairq.core import quantities
from fairq.core.errors import UsageError
from fairq.traffic_control.command_words import Differs, Words
from fairq.traffic_control.draft import Settings, Writer
from fairq.traffic_control.qdisc_tables import CELLED, DECIMAL, LINKLAYER, MTU, NUMBER, RATE, SIZE, Is, Table, bytes_of
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import form

VERDICTS = {
    "drop": "drop", "shot": "drop", "ok": "ok", "pass": "ok", "pipe": "pipe", "continue": "continue",
    "reclassify": "reclassify",
}  # fmt: skip
"""What becomes of a packet, by tc's words."""

CELLS = 255
"""Cells of the table of rates, beyond which no packet conforms (act_police.c: 255 << cell_log)."""
TABLE = 2047
"""The longest packet for which tc makes a table where no mtu is said."""

LONGEST = 65_535
"""A packet of IP is no longer: such an mtu bounds nothing."""


@dataclass(frozen=True)
class Policer:
    """What a filter does with the packets that it takes."""

    text: str
    """The part of the text form."""
    conforming: str
    """The verdict on a packet that conforms."""


def _verdicts(word: str) -> tuple[str, str]:
    """`drop/pipe`: what becomes of a packet that exceeds, and of one that does not."""
    exceeds, _, conforms = word.partition("/")
    for one in (exceeds, conforms or "ok"):
        if one not in VERDICTS:
            raise UsageError(f"{one!r} is no verdict; write drop, ok, pipe, continue or reclassify")
    return VERDICTS[exceeds], VERDICTS[conforms or "ok"]


POLICE = Table({
    "rate": Is("rate", RATE), "burst|buffer|maxburst": Is("burst", CELLED), "peakrate": Is("peak_rate", RATE),
    "mtu|minburst": Is("mtu", CELLED), "mpu": SIZE, "avrate": RATE, "overhead": DECIMAL, "linklayer": LINKLAYER,
    "index": NUMBER, "conform-exceed": replace(NUMBER, read=_verdicts),
    **{word: ("exceeds", verdict) for word, verdict in VERDICTS.items()},
}, "police", beside={"rate": "burst 15k", "peakrate": f"mtu {MTU}"})  # fmt: skip


def read_policer(words: Words, differs: Differs) -> Policer | None:
    """The policer of the words behind `police`; `None`, with a row, if none is like it here."""
    words.what = f"{words.what}: police"
    said = words.rest()
    given = POLICE.read(Words(said, words.what))
    exceeds, conforms = given.get("conform-exceed", (given.get("exceeds", "reclassify"), "ok"))
    _check(given, words.what)
    linux = " ".join(["police", *said])
    if "rate" not in given or "avrate" in given:
        differs.say("filter police", "left out: a policer goes by a rate and a burst", linux)
        return None
    if exceeds != "drop" or conforms == "drop":
        differs.say("filter police", "left out: a policer drops what exceeds", f"{exceeds} what exceeds")
        return None
    for name in ("overhead", "mpu", "linklayer"):
        if given.get(name):
            differs.say(f"{name} of police", "left out: a packet has its length", given[name])
    if "mtu" not in given:
        longest = CELLS << max(0, (TABLE // (CELLS + 1)).bit_length())
        differs.say("mtu of police", "none", f"drops packets above {longest} B, super-packets among them")
    elif given["mtu"] >= LONGEST:
        del given["mtu"]
    return Policer(form("police", POLICE.text(given)), conforms)


def _check(given: Mapping[str, Any], what: str) -> None:
    """What tc refuses, and a policer that would drop every full packet."""
    if "burst" in given and "rate" not in given and "avrate" not in given:
        raise refused(f"{what}: burst without rate; write rate 10mbit")
    for name, more in (("burst", "burst 15k"), ("mtu", f"mtu {MTU}")):
        refuse_below_a_packet(what, name, given.get(name, MTU), more)


def refuse_below_a_packet(what: str, name: str, size: int, more: str) -> None:
    """UsageError if a `name` of this size would drop every full packet, as Linux counts them."""
    if size < MTU:
        raise refused(
            f"{what}: {name} {size} is below a packet of {MTU} B: every such packet would be dropped; write {more}"
        )


def police(writer: Writer, part: Settings) -> None:
    """The commands of a policer before the queue: a filter where packets leave the device."""
    if part.get("rate") is None:
        raise refused("police: no rate, and tc wants one; write police(rate=10Mbit/s)")
    burst, mtu = bytes_of(part["burst"]), bytes_of(part["mtu"]) if part.get("mtu") is not None else LONGEST
    refuse_below_a_packet("police", "burst", burst, "burst=15kB")
    refuse_below_a_packet("police", "mtu", mtu, f"mtu={MTU}B")
    has_peak = part.get("peak_rate") is not None and quantities.rate(part["peak_rate"]) > 0
    # Without an mtu tc would have 2040 B, and drop super-packets.
    words = POLICE.words({**part, "peak_rate": part["peak_rate"] if has_peak else None, "mtu": f"{mtu} B"})
    writer.say("qdisc replace dev", writer.dev, "clsact")
    writer.say("filter replace dev", writer.dev, "egress prio 1 handle 1 matchall action police", *words,
               "conform-exceed drop/ok")  # fmt: skip
