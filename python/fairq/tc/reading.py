"""Reads `tc qdisc`, `class` and `filter` commands into the text form of a queue."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairq._native import UsageError
from fairq.near import near_miss
from fairq.tc import qdiscs
from fairq.tc.units import rate_form, whole
from fairq.tc.words import Words

VERBS = ["add", "replace", "change", "link"]
OBJECTS = ["qdisc", "class", "filter"]
LIST = ["show", "list", "ls", "del", "delete", "get"]


@dataclass(frozen=True)
class Read:
    """What the commands are here."""

    text: str
    """The queue's text form, its limit included."""
    rate: str | None
    """The rate of the line, where a class of htb that has no sibling is the line."""
    differs: list[dict[str, str]]
    """What is not as in Linux: setting, here, linux."""


@dataclass
class Node:
    """A qdisc or a class."""

    name: str
    parent: str
    kind: str
    options: Mapping[str, Any]


@dataclass
class Filter:
    """Which packets go to a class: the type-of-service byte under a mask."""

    parent: str
    target: str
    value: int = 0
    mask: int = 0


@dataclass
class Tree:
    """All that the commands say."""

    queues: dict[str, Node] = field(default_factory=dict)
    classes: dict[str, Node] = field(default_factory=dict)
    filters: list[Filter] = field(default_factory=list)
    differs: list[dict[str, str]] = field(default_factory=list)


def read(text: str) -> Read:
    """The queue that tc commands set up, one a line or separated by semicolons.

    Raises UsageError with the word that is wrong.
    """
    tree = Tree()
    for command in commands(text):
        _command(command, tree)
    if not tree.queues:
        raise UsageError("tc: no command sets up a qdisc; write tc qdisc add dev eth0 root fq_codel")
    return _queue(tree)


def commands(text: str) -> list[list[str]]:
    """The words of each command."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(f"tc: {line.strip()!r}: {error}") from None
        # A semicolon may stand at the end of a word.
        one: list[str] = []
        for word in words:
            *ended, last = word.split(";")
            for piece in ended:
                found.append([*one, piece] if piece else one)
                one = []
            if last:
                one.append(last)
        found.append(one)
    return [words for words in found if words]


def _command(given: list[str], tree: Tree) -> None:
    words = [word for at, word in enumerate(given) if not (at < 2 and word in ("sudo", "tc", "/sbin/tc"))]
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-n", "-netns") else 1 :]
    if not words or words[0] not in OBJECTS:
        word = words[0] if words else ""
        raise UsageError(f"tc: {' '.join(given)[:60]}: {word or 'it'} is no object of tc{near_miss(word, OBJECTS)}")
    what, verb, rest = words[0], words[1] if len(words) > 1 else "", Words(words[2:], words[0])
    if verb in LIST:
        return
    if verb not in VERBS:
        raise UsageError(f"tc: {what}: there is no {verb or 'verb'}{near_miss(verb, VERBS)}")
    if what == "filter":
        _filter(rest, tree)
        return
    place = {"parent": "", "handle": "", "classid": ""}
    while rest.peek() in (*place, "dev", "root", "ingress", "clsact"):
        word = rest.next("it")
        if word == "root":
            place["parent"] = "root"
        elif word in ("ingress", "clsact"):
            tree.differs.append({"setting": word, "here": "left out", "linux": "what arrives at the device"})
            rest.rest()
            return
        else:
            value = rest.next(word)
            if word in place:
                place[word] = value
    kind = rest.next(f"the kind of the {what}")
    known = qdiscs.KINDS if what == "qdisc" else qdiscs.CLASSES
    if kind not in known:
        raise UsageError(f"tc: {what}: there is no {what} {kind} here{near_miss(kind, known)}")
    rest.what = f"{what} {kind}"
    options = known[kind](rest)
    if what == "qdisc":
        handle = _handle(place["handle"] or f"auto{len(tree.queues)}:")
        tree.queues[handle] = Node(handle, place["parent"] or "root", kind, options)
    else:
        name = place["classid"]
        if not name:
            raise UsageError(f"tc: class {kind}: no classid; write classid 1:10")
        tree.classes[name] = Node(name, place["parent"], kind, options)


def _handle(text: str) -> str:
    return text if text.endswith(":") else text.split(":")[0] + ":"


def _filter(words: Words, tree: Tree) -> None:
    parent, target, value, mask, others = "", "", 0, 0, []
    while words:
        word = words.next("it")
        if word == "parent":
            parent = words.next(word)
        elif word in ("flowid", "classid"):
            target = words.next(word)
        elif word in ("dev", "protocol", "prio", "pref", "handle"):
            words.next(word)
        elif word == "match":
            _, name = words.next(word), words.next("the match")
            if name in ("tos", "dsfield", "ds"):
                value, mask = whole(words.next(name)), whole(words.next(f"the mask of {name}"))
            else:
                others.append(f"{name} {words.next(name)}")
                if words.peek() not in (None, "match", "flowid", "classid"):
                    words.next("it")
        elif word == "ip_tos":
            given = words.next(word).split("/")
            value, mask = whole(given[0]), whole(given[1]) if len(given) > 1 else 0xFF
        elif word not in ("u32", "flower", "basic", "matchall", "fw", "ip", "root"):
            others.append(word)
    if not target:
        tree.differs.append({"setting": "filter", "here": "left out", "linux": "sends packets to no class"})
        return
    for other in others:
        tree.differs.append(
            {"setting": f"filter {other}", "here": "left out: classes go by DSCP", "linux": "chooses a class"}
        )
    if mask or not others:
        tree.filters.append(Filter(parent or "root", target, value, mask))


def _queue(tree: Tree) -> Read:
    root = next((node for node in tree.queues.values() if node.parent == "root"), None)
    if root is None:
        raise UsageError("tc: no qdisc stands at the root; write tc qdisc add dev eth0 root …")
    rate = None
    leaves = _leaves(tree, root)
    if root.kind == "htb" and len(leaves) == 1:
        # One class is the line.
        line = leaves[0]
        child = next((node for node in tree.queues.values() if node.parent == line.name), None)
        ceil = line.options.get("ceil", line.options.get("rate"))
        if child is not None and ceil is not None:
            rate, root = rate_form(ceil), child
            leaves = _leaves(tree, root)
    inside = {leaf.name for leaf in _below(tree, root)}
    for node in tree.queues.values():
        if node.parent in inside and node.kind not in ("pfifo", "bfifo"):
            what, here = f"qdisc {node.kind} in class {node.parent}", "left out: a class has a plain queue"
            tree.differs.append({"setting": what, "here": here, "linux": node.kind})
    text = qdiscs.text(root.kind, root.options, _classes(tree, root), tree.differs)
    return Read(text, rate, tree.differs)


def _below(tree: Tree, root: Node) -> list[Node]:
    major = root.name.split(":")[0]
    return [node for node in tree.classes.values() if node.name.split(":")[0] == major]


def _leaves(tree: Tree, root: Node) -> list[Node]:
    below = _below(tree, root)
    return [node for node in below if not any(other.parent == node.name for other in below)]


def _classes(tree: Tree, root: Node) -> list[qdiscs.Class]:
    """The classes of the root in the order of their numbers, each with its code points."""
    below = sorted(_below(tree, root), key=lambda node: int(node.name.split(":")[1] or "0", 16))
    names = {node.name for node in below}
    points: dict[str, tuple[int, ...]] = dict.fromkeys(names, ())
    bands: dict[str, list[int]] = {}
    taken: set[int] = set()
    for one in tree.filters:
        if one.parent.split(":")[0] != root.name.split(":")[0]:
            continue
        if root.kind in ("prio", "ets"):
            bands.setdefault(one.target, []).extend(_points(one, taken))
            continue
        if one.target not in names:
            raise UsageError(f"tc: filter: there is no class {one.target}{near_miss(one.target, names)}")
        points[one.target] = (*points[one.target], *_points(one, taken))
    found = [
        qdiscs.Class(node.name, node.parent if node.parent in names else None, node.options, points[node.name])
        for node in below
    ]
    return found or [qdiscs.Class(target, None, {}, tuple(given)) for target, given in bands.items()]


def _points(one: Filter, taken: set[int]) -> list[int]:
    """The code points that a filter takes, and no earlier one has."""
    matching = [point for point in range(64) if point << 2 & one.mask & 0xFC == one.value & one.mask & 0xFC]
    new = [point for point in matching if point not in taken]
    taken.update(new)
    return new


def as_lines(found: Read) -> Iterable[str]:
    """What a person reads."""
    yield found.text
    if found.rate:
        yield f"line: {found.rate}"
    for row in found.differs:
        yield f"differs: {row['setting']}: here {row['here']}; Linux: {row['linux']}"


def as_document(found: Read) -> dict[str, Any]:
    """What --json prints."""
    return {"text": found.text, "rate": found.rate, "differs": found.differs}


__all__: Sequence[str] = ["Read", "as_document", "as_lines", "commands", "read"]
