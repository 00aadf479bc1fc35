"""tc's filters: which code points of the type-of-service byte each takes, and to which class a code point comes.

Source: iproute2, tc/f_*.c and tc_filter.c; Linux 6.1, net/sched/cls_api.c (the order in which filters are asked).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fairq.core.errors import UsageError
from fairq.traffic_control.command_words import Differs, Several, Words, options
from fairq.traffic_control.policing import Policer, read_policer
from fairq.traffic_control.units import Id, class_id, decimal, hexadecimal, id_form, whole

POINTS = range(64)
ALL = frozenset(POINTS)
FAMILIES = ("ip", "ipv6")
OF_PROTOCOLS = {"all": FAMILIES, "ip": ("ip",), "ipv4": ("ip",), "0x800": ("ip",), "ipv6": ("ipv6",)}
"""The families of a filter's protocol."""
KINDS = ["u32", "matchall", "flower", "basic", "fw", "flow", "route", "cgroup", "bpf", "tcindex", "rsvp"]
AUTOMATIC = 0xC000
"""The priority of the first filter that names none; each later one comes before it (tcf_auto_prio)."""
ACTIONS = ["action", "police"]
INGRESS: Id = (0xFFFF, 0xFFF2)
EGRESS: Id = (0xFFFF, 0xFFF3)
"""Where packets come and leave, whatever the qdisc (clsact)."""


@dataclass(frozen=True)
class Filter:
    """A filter that looks at nothing but the code point, or at a port."""

    at: Id
    """Its qdisc, or the class whose packets it looks at."""
    to: Id
    prio: int
    families: Sequence[str]
    points: frozenset[int]
    is_by_port: bool = False
    """Whether it looks at a port alone, and `points` is empty."""


@dataclass(frozen=True)
class Left:
    """A filter that is left out here, though it takes packets in Linux."""

    takes_all: bool
    """Whether every packet of its protocol comes to one of its classes."""


@dataclass(frozen=True)
class Policed:
    """A filter that polices every packet of the device."""

    prio: int
    policer: Policer
    has_class: bool
    """Whether it sends what conforms to a class."""


OF_OTHERS = {
    "cgroup": "sends packets to the class of their process's control group",
    "bpf": "sends packets where its program says",
}
"""Filters that need no class of their own."""


PLACE = options({
    "parent": class_id, "root": ("parent", None), "ingress": ("parent", INGRESS), "egress": ("parent", EGRESS),
    "prio|pref|preference|priority": decimal, "protocol": str, "handle": str, "chain": whole,
    "estimator|est": ("", Several(lambda words, of: [words.next(of), words.next(of)])),
})  # fmt: skip
"""What stands before the kind; an estimator is for the kernel's statistics."""


def read(
    words: Words, filters: Sequence[Filter], root: int, differs: Differs
) -> tuple[Id, Filter | Left | None, Policed | None]:
    """Where the filter of a command stands, and it; what is left out is said by `differs`.

    `None` is a filter that takes no packet of this device to a class; the last of the three is what
    polices all packets of the device.
    """
    given = words.take(PLACE, until=KINDS)
    kind = words.next("the kind of the filter")
    words.what = f"filter {kind}"
    at: Id = given.get("parent") or (root, 0)
    found = _Match(kind, at, given.get("prio", 0), given.get("protocol", "all"), given.get("handle", ""))
    _match(words, found, differs)
    if at[0] == 0xFFFF and at != EGRESS:
        differs.say("filter of ingress", "left out", "looks at what arrives at the device")
        return at, None, None
    if given.get("chain"):
        differs.say(f"filter {kind} of chain {given['chain']}", "left out", "is asked where another filter goes there")
        return at, None, None
    policed = _policed(found, root, differs)
    if at == EGRESS and not found.polices:
        differs.say("filter of egress", "left out", "looks at what leaves the device")
    if at == EGRESS or (found.to is None and policed is not None):
        return at, None, policed
    return at, _to_class(found, filters, differs), policed


def _policed(found: _Match, root: int, differs: Differs) -> Policed | None:
    """What the filter polices, if that is every packet of the device."""
    if found.policer is None:
        return None
    if found.points() != ALL or found.at not in (EGRESS, (root, 0)) or not found.is_of_ipv4:
        what = f"filter {found.kind} with police"
        differs.say(what, "left out: a policer takes all packets of the device", "polices those that it takes")
        return None
    if found.protocol != "all":
        differs.say("protocol of police", "IPv4 and IPv6 alike", "IPv4 only")
    return Policed(found.prio, found.policer, found.to is not None)


def _to_class(found: _Match, filters: Sequence[Filter], differs: Differs) -> Filter | Left | None:
    """The filter as one that takes packets to a class."""
    kind, at, to = found.kind, found.at, found.to
    if kind == "flow":
        differs.say("filter flow", "left out: classes go by DSCP", _of_hash(found, to or (at[0], 1), at))
        return Left(takes_all=found.is_of_ipv4)
    if to is None and kind in OF_OTHERS:
        differs.say(f"filter {kind}", "left out: classes go by DSCP", OF_OTHERS[kind])
        return Left(takes_all=False)
    if to is None:
        differs.say(f"filter {kind}", "left out", "sends packets to no class")
        return None
    name = f"filter {kind} to {id_form(to)}"
    families = OF_PROTOCOLS.get(found.protocol)
    if families is None:
        said = f"{name} of protocol {found.protocol}"
        differs.say(said, "left out: all packets are of IP", "looks at other packets")
        return None
    found.family = families[0] if len(families) == 1 else None
    if kind == "fw":
        found.others.append(f"mark {found.handle or 'as the class'}")
    points = found.points()
    if points is None and not found.is_by_port:
        differs.say(name, "left out: classes go by DSCP", f"looks at {', '.join(found.others)}")
        return Left(takes_all=False)
    if found.ecn:
        differs.say(f"{name} with a mask of ECN bits", "ECN bits may be any", "looks at those, too")
    given = [one.prio for one in filters if one.at == at and one.prio >= 0x8000]
    prio = found.prio or min(given, default=AUTOMATIC + 1) - 1
    return Filter(at, to, prio, found.of_families(families), points or frozenset(), points is None)


@dataclass
class _Match:
    """A filter as its command has it, and what it looks at; all of that has to be so."""

    kind: str
    at: Id
    prio: int
    protocol: str
    handle: str
    to: Id | None = None
    policer: Policer | None = None
    polices: bool = False
    """Whether it polices, in a way that is like a policer here or not."""
    bytes: list[tuple[str | None, int, int]] = field(default_factory=list)
    """A family, or None where either is meant, the type-of-service byte's value and mask."""
    others: list[str] = field(default_factory=list)
    ports: int = 0
    family: str | None = None

    @property
    def is_of_ipv4(self) -> bool:
        return "ip" in OF_PROTOCOLS.get(self.protocol, ())

    @property
    def is_by_port(self) -> bool:
        return self.ports == 1 and len(self.others) == 1 and not self.bytes

    @property
    def ecn(self) -> bool:
        return any(mask & 3 for _, _, mask in self.bytes)

    def of_families(self, families: Sequence[str]) -> Sequence[str]:
        """The families of the protocol whose header the matches name."""
        named = {family for family, _, _ in self.bytes if family is not None}
        return [one for one in families if not named or one in named]

    def points(self) -> frozenset[int] | None:
        """The code points that are taken, None where something else decides, too."""
        if self.others:
            return None
        taken = set(ALL)
        for family, value, mask in self.bytes:
            # The low bits are ECN's, which no class here looks at.
            if (self.family and family and family != self.family) or value & mask & 3 or (mask and not mask & 0xFC):
                self.others.append(f"the byte {value:#04x} under {mask:#04x}")
                return None
            taken &= {point for point in POINTS if point << 2 & mask & 0xFC == value & mask & 0xFC}
        return frozenset(taken)


def _match(words: Words, found: _Match, differs: Differs) -> None:
    """The class, what is looked at, and what polices, of the words after the kind."""
    while words:
        word = words.next("it")
        if word in ("flowid", "classid", "baseclass"):
            found.to = words.value(word, class_id)
        elif word == "police" or (word == "action" and words.peek() == "police"):
            if word == "action":
                words.next(word)
            found.polices = True
            found.policer = read_policer(Words(_until_class(words), words.what), differs)
        elif word in ACTIONS:
            differs.say(f"filter {word}", "left out", " ".join([word, *_until_class(words)]))
        elif word == "match" and found.kind == "u32":
            _selector(words, found)
        elif word == "ip_tos" and found.kind == "flower":
            value, slash, mask = words.next(word).partition("/")
            one = Words([value, mask], words.what)
            found.bytes.append((None, one.value(word, _decimal_first), one.value(word, _byte) if slash else 0xFF))
        elif word not in ("ip", "skip_hw", "skip_sw"):
            said = [word, *_until_class(words)]
            if looks_at_nothing(*said):
                found.bytes.append(NOTHING)
            else:
                found.others.append(" ".join(said))
    if found.kind in ("route", "cgroup", "bpf", "tcindex", "rsvp"):
        found.others.append(found.kind)


NOTHING: tuple[str | None, int, int] = (None, 0, 0)
"""A match under a mask of zeros: every packet has it, of either family."""

EVERY_ADDRESS = ("any", "all", "default")
"""What iproute2 reads as 0.0.0.0/0 or ::/0 (get_prefix)."""

EMATCH = re.compile(r"u(8|16|32)\((u(8|16|32) )?\S+ (?P<mask>\S+)( at .*)?\)|cmp\(.* mask (?P<of_cmp>\S+) eq 0(x0+)?\)")
"""A match of the filter basic, with its mask."""


def looks_at_nothing(name: str, *value: str) -> bool:
    """Whether a match looks at no bit: a mask of zeros, a prefix of no length, any address.

    `value` is a value and its mask, or a value with the mask behind a slash.

    >>> looks_at_nothing("dst", "0.0.0.0/0"), looks_at_nothing("dport", "80", "0x0000")
    (True, True)
    """
    ematch = EMATCH.fullmatch(" ".join([name, *value]).removeprefix("match "))
    if ematch is not None:
        return _is_null(ematch["mask"] or ematch["of_cmp"])
    if len(value) == 2:
        return _is_null(value[1])
    if len(value) != 1:
        return False
    is_address = name in ("src", "dst", "src_ip", "dst_ip")
    _, slash, mask = value[0].partition("/")
    return (is_address and value[0] in EVERY_ADDRESS) or (bool(slash) and _is_null(mask))


def _is_null(mask: str) -> bool:
    """Whether a mask or a length of a prefix has no bit: 0, 0x00, 0.0.0.0, ::, 00:00:00."""
    return bool(mask) and not re.sub(r"0[xX]|[.:]", "", mask).strip("0")


def _of_hash(found: _Match, first: Id, at: Id) -> str:
    """What a flow filter does: a hash modulo the divisor counts from the base class on."""
    words = " ".join(found.others).split()
    count = int(words[words.index("divisor") + 1]) if "divisor" in words[:-1] and words[-1].isdigit() else None
    keys = words[words.index("keys") + 1] if "keys" in words[:-1] else words[-1] if words else "its keys"
    base = (first[0] or at[0], first[1] or 1)
    if count is None:
        return f"sends packets to classes from {id_form(base)} on by {keys}"
    last = (base[0], base[1] + count - 1)
    return f"sends packets to classes {id_form(base)} to {id_form(last)} by a hash of {keys}"


def _until_class(words: Words) -> list[str]:
    taken = []
    while words.peek() not in (None, "flowid", "classid", "baseclass", "match", "ip_tos", *ACTIONS):
        taken.append(words.next("it"))
    return taken


def _selector(words: Words, found: _Match) -> None:
    """A match of u32; numbers are as C writes them, masks hexadecimal."""
    header = words.next("match")
    name = words.next(f"match {header}") if header in ("ip", "ip6", "tcp", "udp", "icmp", "ether") else ""
    said = f"{header} {name}".strip()
    if said in ("ip nofrag", "ip firstfrag", "ip df", "ip mf"):
        found.others.append(said)
        return
    if said in ("ip tos", "ip dsfield", "ip ds", "ip precedence", "ip6 priority"):
        value, mask = words.value(said, whole), words.value(f"the mask of {said}", _byte)
        found.bytes.append(("ip" if header == "ip" else "ipv6", value, mask) if mask else NOTHING)
    elif header in ("u32", "u16", "u8"):
        value, mask = words.value(said, whole), words.value(f"the mask of {said}", hexadecimal)
        offset = 0
        if words.peek() == "at":
            words.next("it")
            # From the next header on, or not from a plain number: somewhere else than in the header of IP.
            place = words.next("at")
            offset = int(place) if re.fullmatch(r"\d{1,4}", place, re.ASCII) else -1
            if place == "nexthdr+":
                words.next("at")
        _at(found, int(header[1:]), value, mask, offset, said)
    else:
        word = words.next(said)
        is_address = name in ("src", "dst") and header in ("ip", "ip6", "ether")
        mask_word = "" if is_address else words.next(f"the mask of {said}")
        if words.peek() == "at":
            words.next("it")
            words.next("at")
        if looks_at_nothing(name, *(each for each in (word, mask_word) if each)):
            found.bytes.append(NOTHING)
            return
        found.others.append(f"{said} {word}")
        found.ports += name in ("sport", "dport", "src", "dst") and mask_word.lower() in ("0xffff", "ffff")


def _at(found: _Match, bits: int, value: int, mask: int, offset: int, said: str) -> None:
    """A match of 8, 16 or 32 bits somewhere in the packet: of nothing, of the type-of-service byte, or of others."""
    shift = {(8, 1): 0, (16, 0): 0, (32, 0): 16}.get((bits, offset))
    if mask == 0:
        found.bytes.append(NOTHING)
    elif shift is not None and mask >> shift <= 0xFF and mask == (mask >> shift) << shift:
        found.bytes.append(("ip", value >> shift & 0xFF, mask >> shift))
    else:
        found.others.append(f"{said} {value:#x} at {offset}")


def _byte(word: str) -> int:
    value = hexadecimal(word)
    if value > 0xFF:
        raise UsageError(f"{word!r} is more than a byte; a mask is hexadecimal, as fc")
    return value


def _decimal_first(word: str) -> int:
    return int(word) if re.fullmatch(r"\d{1,3}", word, re.ASCII) and int(word) <= 0xFF else _byte(word)


def targets(
    filters: Sequence[Filter], root: int, inner: Callable[[Id], bool], differs: Differs
) -> Mapping[int, Id]:  # fmt: skip
    """The class of each code point that filters send somewhere: those of the qdisc, then of inner classes they name."""
    found = {family: _of_family([one for one in filters if family in one.families], root, inner) for family in FAMILIES}
    ip, ipv6 = (found[family] for family in FAMILIES)
    if ip != ipv6:
        one = "IPv4 only" if not ipv6 else "IPv6 only" if not ip else "IPv4 and IPv6, each its own"
        differs.say("protocol of the filters", "IPv4 and IPv6 alike", one)
    return {**ipv6, **ip}


def _of_family(filters: Sequence[Filter], root: int, inner: Callable[[Id], bool]) -> dict[int, Id]:
    found = {}
    for point in POINTS:
        at: Id = (root, 0)
        asked = {at}
        while True:
            matching = [one for one in filters if one.at == at and point in one.points]
            to = min(matching, key=lambda one: one.prio).to if matching else None
            if to is None or not inner(to):
                break
            at = to
            if at in asked:
                to = None
                break
            asked.add(at)
        if to is not None:
            found[point] = to
    return found
