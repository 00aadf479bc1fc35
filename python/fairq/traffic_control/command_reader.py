"""Reads `tc qdisc`, `class` and `filter` commands, as a shell would give them, into the text form of a queue."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from fairq.core.near import near_miss
from fairq.core.results import Result
from fairq.traffic_control import beside as of_run
from fairq.traffic_control import (
    counters,
    filters,
    leaves,
    lines,
    printed,
    printed_filters,
    printed_words,
    qdisc_options,
    quanta,
)
from fairq.traffic_control.command_words import Differs, Words, shortened
from fairq.traffic_control.devices import Device, Node
from fairq.traffic_control.filters import Left
from fairq.traffic_control.printed import Printed
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.shell import commands
from fairq.traffic_control.tc_results import TcRead
from fairq.traffic_control.units import ROOT, Id, class_id, decimal, id_form, qdisc_id, rate_form

OBJECTS = ["qdisc", "class", "filter"]
VERBS = ["add", "change", "replace", "link", "delete"]
LIST = ["show", "list", "ls", "lst", "get"]
INGRESS = 0xFFFF
FIRST_HANDLE = 0x8001
"""The handle that the kernel gives the first qdisc for which none is said."""
BY_CLASS = ("htb", "hfsc", "drr", "qfq")
"""Qdiscs whose classes are set up one by one."""
BY_BAND = ("prio", "ets")
BEFORE_KIND = ("root", "parent", "handle", "classid", "estimator", "est", "stab", "ingress_block", "egress_block")
WITH_CHILD = ("tbf", "red", "sfb", "cbs", "netem", "mq")
"""Qdiscs in which another may stand, whatever the number."""
AT_ROOT = ("mq", "cake_mq", "noqueue")
"""Qdiscs that the kernel puts into no class (mq_init, qdisc_graft)."""


def read(text: str, dev: str = "eth0", *, beside: Result | Mapping[str, Any] | None = None) -> TcRead:
    """The queue that tc commands set up, one a line or separated by semicolons, or that tc shows.

    Of several devices that is `dev`, or the first that has a qdisc at its root. Raises
    UsageError with the word that is wrong.
    """
    devices: dict[str, Device] = {}
    shown = printed.objects(text) if printed.is_printed(text) else []
    if shown:
        _printed(shown, devices)
    else:
        for command in commands(text):
            _command(command, devices)
    chosen = _chosen(devices, dev)
    for device in devices.values():
        for _, said in device.of_filters:
            device.differs.extend(row for row in said if row not in device.differs)
        root = device.root()
        if device is not chosen and root is not None and root.kind != "noqueue":
            chosen.differs.say(f"dev {device.name}", f"left out: the queue is that of {chosen.name}", root.kind)
        elif device is not chosen and root is None:
            chosen.differs.extend(device.differs)
    found, root = _queue(chosen)
    counted = counters.counted(shown, chosen, root)
    if beside is not None:
        return found._replace(counters=counted, beside=of_run.beside(counted, beside))
    return found._replace(counters=counted)


def _chosen(devices: Mapping[str, Device], dev: str) -> Device:
    """The device whose queue is read: `dev`, or the first that is not without a queue."""
    having = {name: root for name, device in devices.items() if (root := device.root()) is not None}
    if having and dev not in (*having, "eth0"):
        raise refused(f"no qdisc stands at the root of {dev}{near_miss(dev, list(having))}")
    if not having and any(device.qdiscs for device in devices.values()):
        raise refused("no qdisc stands at the root; write tc qdisc add dev eth0 root …")
    if not having:
        raise refused("no command sets up a qdisc; write tc qdisc add dev eth0 root fq_codel")
    queueing = [name for name, root in having.items() if root.kind != "noqueue"]
    return devices[dev if dev in having else next(iter(queueing or having))]


def _printed(shown: list[Printed], devices: dict[str, Device]) -> None:
    """Set up the devices as tc shows them."""
    printed.number(shown)
    for one in printed.in_order(shown):
        name = one.dev or "eth0"
        device = devices.setdefault(name, Device(name))
        if one.what == "filter":
            said = printed_filters.words(one)
        else:
            said = printed_words.words(one, device.differs)
            device.queue_length = printed_words.queue_length(one) or device.queue_length
        if said is not None:
            _DO[one.what](Words(said, one.what), "add", device)
    for device in devices.values():
        for node in (*device.qdiscs.values(), *device.classes.values()):
            printed_words.forget_unsaid(node, device)


def read_words(text: str) -> TcRead:
    """The queue of a qdisc's words alone, also where they stand as settings.

    >>> read_words("cake(bandwidth=10mbit, dual-dsthost)").text
    'cake(rate=10Mbit/s, isolation=dual_destination)'
    """
    said = [word for word in text.translate(_AS_WORDS).split() if word not in ("isolation", "tins")]
    return read(f"qdisc add dev eth0 root {shlex.join(said)}")


_AS_WORDS = str.maketrans("(),=", "    ")


def _command(given: list[str], devices: dict[str, Device]) -> None:
    words = _without_sudo(given)
    if words and (words[0] == "tc" or words[0].endswith("/tc")):
        words = words[1:]
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-n", "-netns") else 1 :]
    what = shortened(words[0], OBJECTS) if words else None
    if what is None:
        word = words[0] if words else ""
        raise refused(f"{' '.join(given)[:60]}: {word or 'it'} is no object of tc{near_miss(word, OBJECTS)}")
    word = words[1] if len(words) > 1 else ""
    verb = shortened(word, VERBS)
    if verb is None:
        if shortened(word, LIST):
            return
        raise refused(f"{what}: there is no {word or 'verb'}{near_miss(word, VERBS)}")
    rest = words[2:]
    # The device may stand anywhere before the kind.
    at = rest.index("dev") + 1 if "dev" in rest else len(rest)
    if at == len(rest):
        raise refused(f"{what}: no device; write dev eth0")
    device = devices.setdefault(rest[at], Device(rest[at]))
    _DO[what](Words([*rest[: at - 1], *rest[at + 1 :]], what), verb, device)


def _without_sudo(given: list[str]) -> list[str]:
    """The words behind sudo and its options, and behind variables that are set for one command."""
    words = given
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] not in ("sudo", "doas"):
        return words
    words = words[1:]
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-u", "-g", "-h", "-p", "-C") else 1 :]
    return words


def _place(words: Words, differs: Differs) -> tuple[Id | None, int | None, Id | None]:
    """Parent, handle and classid, which stand before the kind."""
    parent: Id | None = None
    handle: int | None = None
    name: Id | None = None
    while (word := words.peek()) in BEFORE_KIND:
        words.next("it")
        if word in ("root", "parent") and parent is not None:
            raise words.refused(f"{word} after another parent; write one of them")
        if word == "root":
            parent = ROOT
        elif word == "parent":
            parent = words.value(word, class_id)
        elif word == "handle":
            handle = words.value(word, qdisc_id)
        elif word == "classid":
            name = words.value(word, class_id)
        elif word == "stab":
            said = []
            while words.peek() in ("overhead", "linklayer", "mtu", "mpu", "tsize", "cell_log", "celllog"):
                said += [words.next(word), words.next(word)]
            differs.say("stab", "left out: a packet has its length", " ".join(said))
        else:
            # The kernel estimates rates for its statistics.
            words.next(word)
            if not word.endswith("block"):
                words.next(word)
    return parent, handle, name


def _kind(words: Words, verb: str, known: Mapping[str, qdisc_options.Reader]) -> str:
    """The kind of a qdisc or a class."""
    kind = words.next(f"the kind of the {words.what}")
    if kind not in known:
        if verb == "delete":
            raise words.unknown(kind, [*BEFORE_KIND, *known])
        raise words.refused(f"there is no {words.what} {kind} here{near_miss(kind, known)}")
    return kind


def _qdisc(words: Words, verb: str, device: Device) -> None:
    parent, handle, _ = _place(words, device.differs)
    if words.peek() in ("ingress", "clsact") or parent == (INGRESS, 0xFFF1):
        if verb != "delete":
            device.differs.say(words.peek() or "ingress", "left out", "what arrives at the device")
        return
    if verb == "delete":
        if words:
            # tc reads what stands behind, and does nothing with it
            qdisc_options.KINDS[_kind(words, verb, qdisc_options.KINDS)](words)
        gone = device.child(parent) if parent is not None else device.qdiscs.get(handle or -1)
        if gone is not None:
            device.remove(gone)
        return
    kind = _kind(words, verb, qdisc_options.KINDS)
    words.what = f"qdisc {kind}"
    given = qdisc_options.KINDS[kind](words)
    if parent is None:
        raise words.refused("no parent; write root, or parent 1:1")
    if parent != ROOT:
        if kind in AT_ROOT:
            raise refused(f"{words.what}: parent {id_form(parent)}: {kind} stands at the root of a device only")
        _check_parent(words.what, parent, device)
    there = device.child(parent)
    if there is not None and verb == "add":
        raise words.refused(f"{there.kind} stands at {id_form(parent)} already; write replace")
    is_same = there is not None and there.kind == kind and handle in (None, there.id[0])
    if there is not None and is_same:
        there.options = qdisc_options.changed(kind, there.options, given)
        return
    if verb in ("change", "link"):
        said = f"{there.kind} stands" if there is not None else "nothing stands"
        raise words.refused(f"{verb}, but {said} at {id_form(parent)}; write replace")
    if there is not None:
        device.remove(there)
    if handle is not None and handle in device.qdiscs:
        raise words.refused(f"handle {handle:x}: is that of {device.qdiscs[handle].kind}; write another")
    number = handle or next(one for one in range(FIRST_HANDLE, INGRESS) if one not in device.qdiscs)
    device.qdiscs[number] = Node((number, 0), parent, kind, given)


def _check_parent(what: str, parent: Id, device: Device) -> None:
    """Whether a qdisc may stand there."""
    above = _qdisc_of(f"{what}: parent", parent, device)
    bands = above.options.get("bands", 0)
    if above.kind in BY_BAND and not 1 <= parent[1] <= bands:
        raise refused(f"{what}: parent {id_form(parent)}: {above.kind} has the bands 1 to {bands}")
    if above.kind in BY_CLASS:
        if parent not in device.classes:
            names = [id_form(one) for one in device.classes]
            raise refused(f"{what}: parent {id_form(parent)}: no such class{near_miss(id_form(parent), names)}")
        if device.is_inner(parent):
            raise refused(f"{what}: parent {id_form(parent)} has classes below it; write one of those")
    elif above.kind not in (*BY_BAND, *WITH_CHILD):
        raise refused(f"{what}: parent {id_form(parent)}: {above.kind} has no classes")


def _qdisc_of(what: str, of: Id, device: Device) -> Node:
    """The qdisc of a class; `what` names it in the message where there is none."""
    if of[0] in device.qdiscs:
        return device.qdiscs[of[0]]
    names = ", ".join(f"{one:x}:" for one in device.qdiscs)
    more = f"there are {names}" if names else "write tc qdisc add dev eth0 root handle 1: htb before it"
    raise refused(f"{what} {id_form(of)}: there is no qdisc {of[0]:x}:; {more}")


def _class(words: Words, verb: str, device: Device) -> None:
    parent, _, name = _place(words, device.differs)
    if verb != "delete" or words:
        kind = _kind(words, verb, qdisc_options.CLASSES)
    if verb != "delete":
        words.what = f"class {kind}"
        given = qdisc_options.CLASSES[kind](words)
    what = words.what
    if name is None or not name[1]:
        raise refused(f"{what}: no classid; write classid 1:10")
    root = device.root()
    if not device.qdiscs:
        raise refused("no command sets up a qdisc before a class; write tc qdisc add dev eth0 root handle 1: htb")
    if parent == ROOT and root is not None:
        parent = root.id
    if not name[0]:
        name = (parent[0] if parent else root.id[0] if root else 0, name[1])
    above = _qdisc_of(f"{what}: classid", name, device)
    if parent is not None and parent[0] != name[0]:
        raise refused(f"{what}: classid {id_form(name)} is of another qdisc than parent {id_form(parent)}")
    there = device.classes.get(name)
    if verb == "delete":
        _delete_class(name, there, device)
        return
    if above.kind != kind:
        raise refused(f"{what}: classid {id_form(name)}: the qdisc {name[0]:x}: is {above.kind}")
    if kind == "ets":
        _change_band(what, name, given, above)
        return
    if there is not None:
        if verb == "add":
            raise refused(f"{what}: {id_form(name)} is there already; write change")
        there.options = qdisc_options.changed(kind, there.options, given)
        return
    if verb in ("change", "link"):
        raise refused(f"{what}: {verb}, but there is no {id_form(name)}; write add")
    if parent is None:
        raise refused(f"{what}: no parent; write parent {name[0]:x}:")
    if parent[1] and parent not in device.classes:
        names = [id_form(one.id) for one in device.below(above)]
        raise refused(f"{what}: parent {id_form(parent)}: no such class{near_miss(id_form(parent), names)}")
    # Those of drr and qfq stand side by side, whatever their parent is said to be.
    device.classes[name] = Node(name, parent if kind in ("htb", "hfsc") else above.id, kind, given)
    # A class that gets classes below it loses its queue.
    if parent[1] and kind in ("htb", "hfsc") and (child := device.child(parent)) is not None:
        device.remove(child)


def _delete_class(name: Id, there: Node | None, device: Device) -> None:
    if there is None:
        raise refused(f"class: there is no {id_form(name)} to delete")
    if device.is_inner(name) or any(one.to == name for one in device.filters):
        raise refused(f"class: {id_form(name)} has classes below it or filters; delete those before it")
    if (child := device.child(name)) is not None:
        device.remove(child)
    del device.classes[name]


def _change_band(what: str, name: Id, given: Mapping[str, Any], above: Node) -> None:
    strict, bands = above.options["strict"], above.options["bands"]
    if not strict < name[1] <= bands:
        raise refused(f"{what}: {id_form(name)} is no band that shares; those are {strict + 1} to {bands}")
    changed = {**above.options.get("changed", {}), **({name[1] - 1: given["quantum"]} if given else {})}
    above.options = {**above.options, "changed": changed}


def _filter(words: Words, verb: str, device: Device) -> None:
    root = device.root()
    major = root.id[0] if root is not None else 0
    if verb == "delete":
        _delete_filters(words, device, major)
        return
    said = Differs()
    at, one, policed = filters.read(words, device.filters, major, said)
    device.of_filters.append((at[0], said))
    if policed is not None:
        device.policed.append((at[0], policed))
    if isinstance(one, Left):
        device.left.append((at[0], one))
        return
    if one is None:
        return
    above = _qdisc_of("filter: parent", one.at, device)
    if one.at[1] and one.at not in device.classes:
        raise refused(f"filter: there is no class {id_form(one.at)} for its parent")
    if above.kind in BY_CLASS and one.to not in device.classes:
        names = [id_form(each.id) for each in device.below(above)]
        raise refused(f"filter: there is no class {id_form(one.to)}{near_miss(id_form(one.to), names)}")
    device.filters.append(one)


def _delete_filters(words: Words, device: Device, root: int) -> None:
    at, prio = (root, 0), None
    while words:
        word = words.next("it")
        if word == "parent":
            at = words.value(word, class_id)
        elif word in ("ingress", "egress"):
            at = filters.INGRESS if word == "ingress" else filters.EGRESS
        elif word in ("prio", "pref"):
            prio = words.value(word, decimal)
        elif word == "handle":
            device.differs.say(f"filter delete handle {words.next(word)}", "the filter stays", "deletes it")
            return
    device.filters = [one for one in device.filters if one.at != at or prio not in (None, one.prio)]
    device.left = [one for one in device.left if one[0] != at[0] or prio is not None]
    device.policed = [one for one in device.policed if one[0] != at[0] or prio not in (None, one[1].prio)]


_DO: Mapping[str, Callable[[Words, str, Device], None]] = {"qdisc": _qdisc, "class": _class, "filter": _filter}


def _queue(device: Device) -> tuple[TcRead, Node]:
    """The queue of a device, and the qdisc that its text form begins with."""
    root, rate = device.root(), None
    assert root is not None
    differs = device.differs
    while (held := lines.held(device, root)) is not None:
        root, most = held
        rate = min((each for each in (rate, most) if each is not None), default=None)
    text = _policed(device) + leaves.text(device, root, differs)
    leaves.check(text, f"qdisc {root.kind}")
    said = rate_form(rate) if rate is not None else None
    return TcRead(text, said, list(differs), quanta.warned(device)), root


def _policed(device: Device) -> str:
    """The policer before the queue: of several filters the first."""
    ordered = [one for _, one in sorted(device.policed, key=lambda row: row[1].prio or filters.AUTOMATIC)]
    for other in ordered[1:]:
        device.differs.say("filter police", "left out: one policer stands before a queue", other.policer.text)
    if not ordered:
        return ""
    first = ordered[0]
    at_root = not any(at == 0xFFFF for at, _ in device.policed)
    if device.filters and at_root and first.policer.conforming == "ok" and not first.has_class:
        linux = "ok ends the filters: packets of no other filter before it go to the default class"
        device.differs.say("conform-exceed of police", "packets go on to the filters", linux)
    return f"{first.policer.text} + "
