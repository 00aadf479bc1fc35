"""The filters that tc prints, as the words that it takes.

Source: iproute2 6.1, tc/f_u32.c, f_fw.c, f_flower.c, f_basic.c, f_matchall.c and m_police.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairq.traffic_control.filters import KINDS
from fairq.traffic_control.printed import Printed
from fairq.traffic_control.printed_words import plain

ALONE = ("terminal", "skip_hw", "skip_sw", "in_hw", "not_in_hw")
WITH_VALUE = ("fh", "order", "bkt")
"""Words that say nothing of what a filter does."""
STATISTICS = ("index", "Sent", "backlog", "Action", "installed", "ref", "rate", "random", "cookie", "eth_type", *ALONE)
"""With what lines begin that say nothing of it."""
RULE_HITS = re.compile(r"\(rule hit \d+( success \d+)?\)|\(success \d+ ?\)")
RAW = re.compile(r"match ([0-9a-f]{8})/([0-9a-f]{8}) at (nexthdr\+)?(-?\d+)")
PRETTY = re.compile(r"match (?:IP )?(\w+) ([^\s,]+)")
MASKS = {"dsfield": ["0xff"], "protocol": ["0xff"], "ihl": ["0xf"], "sport": ["0xffff"], "dport": ["0xffff"]}
"""Of what is printed by name with `-p`."""


def words(one: Printed) -> list[str] | None:
    """The words of the command that adds a filter; `None` of a line that only begins several."""
    said = RULE_HITS.sub("", " ".join(one.words)).split()
    place, kind, said = _place(one, said)
    if kind == "" or "divisor" in said or not {"fh", "handle"} & set(said):
        return None
    protocol = place[place.index("protocol") + 1] if "protocol" in place else "all"
    place += _handle(kind, said)
    found = [*place, kind, *_options(said)]
    for line in one.more:
        found += _further(RULE_HITS.sub("", line).strip(), kind, protocol)
    return found


def _place(one: Printed, said: list[str]) -> tuple[list[str], str, list[str]]:
    """What stands before the kind, the kind, and what stands behind."""
    at = next((at for at, word in enumerate(said) if word in KINDS), len(said))
    place = [one.parent] if one.parent in ("root", "ingress", "egress") else ["parent", one.parent]
    kind = said[at] if at < len(said) else ""
    behind = said[at + 1 :]
    chain = behind[behind.index("chain") + 1] if "chain" in behind[:-1] else "0"
    return [*(place if one.parent else []), *said[:at], *(["chain", chain] if chain != "0" else [])], kind, behind


def _handle(kind: str, said: list[str]) -> list[str]:
    """The mark of a `fw`, which stands before the kind in a command."""
    return ["handle", said[said.index("handle") + 1]] if kind == "fw" and "handle" in said[:-1] else []


def _options(said: list[str]) -> Iterator[str]:
    """What stands behind the kind, without what numbers the filter."""
    left = 0
    for at, word in enumerate(said):
        if left:
            left -= 1
        elif word in (*WITH_VALUE, "chain", "handle"):
            left = 1
        elif said[at : at + 2] == ["key", "ht"]:
            left = 2
        elif word not in ALONE:
            yield word.removeprefix("*")


def _further(line: str, kind: str, protocol: str) -> list[str]:
    """The words of a further line."""
    said = line.split()
    if not said or said[0] in STATISTICS:
        return []
    if said[0] == "match" and kind == "u32":
        return _selector(line, protocol)
    if "police" in said[:5]:
        return _police(said[said.index("police") + 1 :])
    if said[:2] == ["action", "order"]:
        return ["action", *said[3:]]
    return ["match", line] if kind == "basic" else said


def _selector(line: str, protocol: str) -> list[str]:
    """A match of u32, of 32 bits somewhere or by name."""
    raw = RAW.match(line)
    if raw is None:
        return [word for name, value in PRETTY.findall(line) for word in _by_name(name, value)]
    value, mask, place = int(raw[1], 16), int(raw[2], 16), f"{raw[3] or ''}{raw[4]}"
    if protocol == "ipv6" and place == "0" and mask and not mask & ~0x0FF00000:
        return ["match", "ip6", "priority", f"{value >> 20:#x}", f"{mask >> 20:#x}"]
    if protocol in ("ip", "all") and place == "20" and mask in (0xFFFF, 0xFFFF0000):
        name, port = ("dport", value) if mask == 0xFFFF else ("sport", value >> 16)
        return _by_name(name, f"{port}")
    return ["match", "u32", f"{value:#x}", f"{mask:#x}", "at", place]


def _by_name(name: str, value: str) -> list[str]:
    return ["match", "ip", name, value, *MASKS.get(name, [])]


def _police(said: list[str]) -> list[str]:
    """The policer of `0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop/pipe overhead 0b`."""
    found = ["action", "police"]
    for name, value in zip(said[1::2], said[2::2], strict=False):
        found += ["conform-exceed" if name == "action" else name, plain(value)]
    return found
