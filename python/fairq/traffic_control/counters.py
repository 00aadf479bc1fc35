"""What `tc -s` counted of each qdisc and class, and which leaf of the text form each is.

Source: iproute2 6.1, tc/tc_util.c (print_tcstats2_attr); the counters of disciplines in tc/q_*.c.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fairq.traffic_control import trees
from fairq.traffic_control.devices import Device, Node
from fairq.traffic_control.printed import Printed
from fairq.traffic_control.units import ROOT, Id, class_id, size

SENT = re.compile(r"Sent (\d+) bytes (\d+) pkts? \(dropped (\d+), overlimits (\d+)( requeues (\d+))?\)")
BACKLOG = re.compile(r"backlog (\S+b) (\d+)p")
MARKED = re.compile(r"\b(?:ecn_mark|marked) (\d+)|^marks((?: +\d+)+)$")
"""Marks of a discipline, and those of the tins of cake."""
ALL = "all"
"""The leaf of a queue without classes."""


def counted(shown: Sequence[Printed], device: Device, root: Node) -> list[dict[str, Any]]:
    """A row for each qdisc and class that has counters; the text form begins with `root`."""
    found = []
    for one in shown:
        sent = SENT.search(" ".join(one.more))
        if one.what == "filter" or sent is None or (one.dev or device.name) != device.name:
            continue
        lines = "\n".join(one.more)
        backlog = BACKLOG.search(lines)
        found.append({
            "what": f"{one.what} {one.kind} {one.id}",
            "leaf": _leaf(one, device, root),
            "bytes": int(sent[1]), "packets": int(sent[2]), "dropped": int(sent[3]), "overlimits": int(sent[4]),
            "marked": _marked(one.more),
            "backlog_bytes": size(backlog[1]) if backlog else 0,
            "backlog_packets": int(backlog[2]) if backlog else 0,
        })  # fmt: skip
    return found


def _marked(lines: Sequence[str]) -> int | None:
    marks = [match for line in lines if (match := MARKED.search(line)) is not None]
    return sum(sum(int(number) for number in (match[1] or match[2]).split()) for match in marks) if marks else None


def _leaf(one: Printed, device: Device, root: Node) -> str | None:
    """The leaf whose packets an object counts; of a class with a qdisc that is the qdisc."""
    if root.kind not in trees.FORMS:
        return ALL if one.what == "qdisc" and one.parent == "root" else None
    if one.what == "class":
        number = class_id(one.id)
        is_leaf = number[0] in device.qdiscs and device.qdiscs[number[0]].kind in trees.FORMS
        return name(device, root, number) if is_leaf and not _holds(device, number) else None
    node = device.qdiscs.get(one.major)
    if node is None or node.kind in trees.FORMS or node.parent == ROOT:
        return None
    above = device.qdiscs[node.parent[0]]
    return name(device, root, node.parent) if above.kind in trees.FORMS else None


def _holds(device: Device, number: Id) -> bool:
    return device.is_inner(number) or device.child(number) is not None


def name(device: Device, root: Node, of: Id) -> str | None:
    """The path of a class in the text form; `None` of one that is not below `root`."""
    qdisc = device.qdiscs[of[0]]
    own = f"c{of[1]:x}" if qdisc.kind not in ("prio", "ets") else trees.band_name(of[1] - 1)
    above = "" if qdisc is root else _above(device, root, qdisc)
    return None if above is None else f"{above}{own}"


def _above(device: Device, root: Node, qdisc: Node) -> str | None:
    """What stands before the names of a qdisc's classes."""
    if qdisc is root:
        return ""
    if qdisc.parent == ROOT:
        return None
    holder = device.qdiscs[qdisc.parent[0]]
    if holder.kind not in trees.FORMS:
        return _above(device, root, holder)
    found = name(device, root, qdisc.parent)
    return None if found is None else f"{found}/"
