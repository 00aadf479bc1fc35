"""What `tc qdisc show`, `class show` and `filter show` print, as the commands that would set it up.

With or without `-s` and `-d`, of one device or of several, with the prompts around it. A line of an
object begins with its name and kind; those behind it, indented, are more of it.

Source: iproute2 6.1, tc/tc_qdisc.c, tc_class.c, tc_filter.c and the print functions of tc/q_*.c.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fairq.traffic_control.refusal import refused

HEAD = re.compile(
    r"qdisc \S+ [0-9a-f]*:(\s|$)|class \S+ [0-9a-f]*:[0-9a-f]* |filter (dev|root|parent|protocol|ingress|egress|pref) "
)
"""The beginning of an object; a command has a verb behind its first word."""
IN_MEMORY = re.compile(r" ?\[[0-9a-f]{8}\]")
"""A number as the kernel has it, which `-r` adds."""
PROMPT = re.compile(r"\btc\b.*\b(qdisc|class|filter)\b")
"""A command that was pasted with what it printed."""
MORE = re.compile(
    r"(Sent|\(dropped|backlog|rate|lended:|tokens:|period|deficit|maxpacket|new_flows?_|count|prob|pkts|marked|earlydrop|maxqlen"
    r"|flows|gc|requeues|allot|drop|memory|capacity|min/max|active|average|Bulk|Tin|thresh|target|interval|..?_delay"
    r"|bytes|way_|marks|ack_drop|.._flows|max_len|quantum|match|action|index|ref|police|linklayer|overhead|forced_mark"
    r"|delayed|queues:|eth_type|ip_|dst_|src_|not_in_hw|in_hw|skip_|ecn_mark|credit|Action|installed)"
)
"""With what a further line of an object may begin, if a paste has lost its indent."""
AUTOMATIC = 0x8001
"""A number for the first qdisc of which the kernel prints 0:, as those that it makes of itself."""
WITH_CLASSES = ("htb", "hfsc", "drr", "qfq")


@dataclass
class Printed:
    """A qdisc, a class or a filter as it is printed."""

    what: str
    kind: str
    id: str
    """The handle or the number; empty of a filter."""
    dev: str
    parent: str = ""
    leaf: str = ""
    """The handle of the qdisc in a class."""
    words: list[str] = field(default_factory=list)
    """Its options."""
    more: list[str] = field(default_factory=list)
    """The lines behind the first."""

    @property
    def major(self) -> int:
        """The number of the qdisc, which a filter has not."""
        return int(self.id.partition(":")[0] or "0", 16)


def is_printed(text: str) -> bool:
    """Whether a text is what tc shows, and no commands."""
    if text.lstrip().startswith("[{"):
        raise refused("that is JSON of tc -j; write what tc qdisc show and tc class show print without -j")
    return any(HEAD.match(line) for line in _lines(text))


def _lines(text: str) -> list[str]:
    return IN_MEMORY.sub("", textwrap.dedent(text)).splitlines()


def objects(text: str) -> list[Printed]:
    """All objects, each with its device.

    Raises UsageError with the line that is none.
    """
    found: list[Printed] = []
    dev = ""
    for number, line in enumerate(_lines(text), 1):
        if HEAD.match(line):
            found.append(_object(line, dev))
        elif (prompt := PROMPT.search(line)) is not None:
            dev = _device_of(prompt[0])
        elif line.strip() and not line.lstrip().startswith("#"):
            if not found or not (line[0].isspace() or MORE.match(line)):
                said = line.strip()[:40]
                raise refused(f"line {number}: {said!r} is no line of tc qdisc, class or filter show; leave it out")
            found[-1].more.append(line.strip())
    return _of_devices(found)


def _device_of(command: str) -> str:
    words = command.split()
    return words[words.index("dev") + 1] if "dev" in words[:-1] else ""


def _object(line: str, dev: str) -> Printed:
    words = line.split()
    what = words.pop(0)
    kind, name = (words.pop(0), words.pop(0)) if what != "filter" else ("", "")
    found = Printed(what, kind, name, dev)
    while words:
        word = words.pop(0)
        if word == "dev" and words:
            found.dev = words.pop(0)
        elif word in ("root", "ingress", "egress") and not found.parent:
            found.parent = word
        elif word == "parent" and words:
            found.parent = words.pop(0)
        elif word == "leaf" and what == "class" and words:
            found.leaf = words.pop(0)
        elif word in ("refcnt", "ingress_block", "egress_block") and words:
            words.pop(0)
        elif word != "offloaded":
            found.words = [word, *words]
            break
    return found


def _of_devices(found: list[Printed]) -> list[Printed]:
    """Objects without a device are of the one that has their qdisc: classes are printed without."""
    for one in found:
        if one.what != "qdisc" and not one.dev:
            of = int((one.id or one.parent).partition(":")[0] or "0", 16) if (one.id or ":" in one.parent) else None
            fitting = [each.dev for each in found if each.what == "qdisc" and of in (None, each.major)]
            one.dev = fitting[0] if fitting else ""
    return found


def number(found: list[Printed]) -> None:
    """Give qdiscs that the kernel prints as 0: a number, and it to their children."""
    for dev in dict.fromkeys(one.dev for one in found):
        own = [one for one in found if one.dev == dev]
        taken = {one.major for one in own if one.what == "qdisc"}
        free = (each for each in range(AUTOMATIC, 0xFFFF) if each not in taken)
        root = next((one for one in own if one.what == "qdisc" and one.parent == "root"), None)
        for one in own:
            if one.what == "qdisc" and not one.major:
                one.id = f"{next(free):x}:"
        for one in own:
            major, colon, minor = one.parent.partition(":")
            if colon and not int(major or "0", 16) and root is not None:
                one.parent = f"{root.major:x}:{minor}"


def in_order(found: list[Printed]) -> Iterator[Printed]:
    """Each object behind what it stands in: qdiscs, classes and then filters.

    Raises UsageError if a qdisc's classes are not there.
    """
    kinds = {(one.dev, f"{one.major:x}:"): one.kind for one in found if one.what == "qdisc"}
    _check_classes(found, kinds)
    waiting = [one for one in found if one.what == "qdisc" or (one.what == "class" and one.kind in WITH_CLASSES)]
    waiting = [one for one in waiting if one.what == "qdisc" or not one.id.endswith(":")]
    known: set[tuple[str, str]] = set()
    while waiting:
        ready = [one for one in waiting if _stands(one, known, kinds)]
        # Of what stands nowhere the reader of commands says what is missing.
        for one in ready or waiting[:1]:
            known.add((one.dev, one.id))
            yield one
        done = {id(one) for one in ready or waiting[:1]}
        waiting = [one for one in waiting if id(one) not in done]
    yield from (one for one in found if one.what == "filter")


def _check_classes(found: list[Printed], kinds: Mapping[tuple[str, str], str]) -> None:
    """Whether the classes of each qdisc are there, and the qdisc of each class."""
    having = {(one.dev, f"{one.major:x}:") for one in found if one.what == "class"}
    for one in found:
        place, dev = (one.dev, f"{one.major:x}:"), one.dev or "eth0"
        if one.what == "qdisc" and one.kind in WITH_CLASSES and place not in having:
            raise refused(f"qdisc {one.kind} {one.id} has no class here; add what tc class show dev {dev} prints")
        if one.what == "class" and one.kind in WITH_CLASSES and place not in kinds:
            raise refused(f"class {one.kind} {one.id}: its qdisc is not here; add what tc qdisc show dev {dev} prints")


def _stands(one: Printed, known: set[tuple[str, str]], kinds: Mapping[tuple[str, str], str]) -> bool:
    """Whether what an object stands in is known."""
    if one.what == "qdisc" and one.parent == "root":
        return True
    major = f"{one.major:x}:" if one.parent == "root" else f"{one.parent.partition(':')[0]}:"
    if (one.dev, major) not in known:
        return False
    is_free = one.what == "qdisc" and kinds[one.dev, major] not in WITH_CLASSES
    return one.parent == "root" or is_free or (one.dev, one.parent) in known
