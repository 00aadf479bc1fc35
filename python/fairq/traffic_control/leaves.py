"""The text form of a qdisc with all that stands in its classes, as deep as tc has it.

Source: Linux 6.1, net/sched: a qdisc in a `tbf`, `cbs` or `netem` takes the place of its FIFO and
of the limit (`tbf_graft`); a class without a qdisc has a pfifo of the device's queue length.
"""

from __future__ import annotations

import re

import fairq._native as _native
from fairq.core.errors import UsageError
from fairq.traffic_control import filters, lines, qdiscs, trees
from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.devices import Device, Node
from fairq.traffic_control.qdisc_tables import BY_RATE, CLASSES, QDISCS, Is
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import Id, id_form

BY_FLOW = ("drr", "qfq")
"""Qdiscs that have flows where nothing but ports tells their classes apart."""


def text(device: Device, qdisc: Node, differs: Differs) -> str:
    """The text form; what is not carried over is said by `differs`."""
    if qdisc.kind in trees.FORMS:
        return _tree(device, qdisc, differs)
    _say_of_filters(device, qdisc, differs)
    inside = device.children(qdisc)
    if qdisc.kind == "netem" and inside:
        lines.say_of_netem(qdisc, differs)
        return text(device, inside[-1], differs)
    if qdisc.kind in ("tbf", "cbs") and inside:
        return qdiscs.around(qdisc.kind, qdisc.options, _inside(device, inside[-1], differs), differs)
    if qdisc.kind == "cbs":
        return qdiscs.around("cbs", qdisc.options, f"fifo + {device.queue_length}packets", differs)
    _say_of_children(device, qdisc, differs, f"{qdisc.kind} has no other in it")
    return qdiscs.text(qdisc.kind, qdisc.options, differs)


def _inside(device: Device, qdisc: Node, differs: Differs) -> str:
    """The text form of what stands in a class, whose rows name the class."""
    own = Differs()
    found = text(device, qdisc, own)
    check(found, f"qdisc {qdisc.kind} in class {id_form(qdisc.parent)}")
    for row in own:
        differs.say(f"class {id_form(qdisc.parent)}: {row['setting']}", row["here"], row["linux"])
    return found


def _tree(device: Device, qdisc: Node, differs: Differs) -> str:
    below = device.below(qdisc)
    own = [one for one in device.filters if one.at[0] == qdisc.id[0]]
    ports = [one.to for one in own if one.is_by_port]
    # Filters by port, one for each of classes that are alike, tell flows apart and nothing else.
    is_one_each = len(ports) == len(own) and sorted(ports) == [one.id for one in below] and len(below) > 1
    is_by_flow = qdisc.kind in BY_FLOW and is_one_each and all(one.options == below[0].options for one in below)
    queues: dict[Id, str] = {}
    if is_by_flow:
        _say_of_children(device, qdisc, differs, "a flow has a plain queue")
    else:
        for to in ports:
            said = "left out: classes go by DSCP"
            differs.say(f"filter to {id_form(to)} by port", said, "takes packets of a port")
        queues = {one.parent: _inside(device, one, differs) for one in device.children(qdisc)}
    classes = [trees.Class(one.id, one.parent if one.parent[1] else None, one.options) for one in below]
    targets = filters.targets(own, qdisc.id[0], device.is_inner, differs)
    left = [one for at, one in device.left if at == qdisc.id[0]]
    plain = f"fifo + {device.queue_length}packets"
    tree = trees.Tree(qdisc.id[0], qdisc.options, classes, targets, is_by_flow, left, queues, plain)
    return trees.text(qdisc.kind, tree, differs)


def _say_of_filters(device: Device, qdisc: Node, differs: Differs) -> None:
    for one in device.filters:
        if one.at[0] == qdisc.id[0]:
            differs.say(f"filter to {id_form(one.to)}", f"left out: {qdisc.kind} has no classes", "a queue")


def _say_of_children(device: Device, qdisc: Node, differs: Differs, why: str) -> None:
    """Qdiscs in a place that has none here, and all below them."""
    for node in device.children(qdisc):
        limit = f" limit {node.options['limit']}" if "limit" in node.options else ""
        differs.say(f"qdisc {node.kind} in class {id_form(node.parent)}", f"left out: {why}", f"{node.kind}{limit}")
        _say_of_children(device, node, differs, why)


NAMES = {
    **{one.setting: words.partition("|")[0] for table in (*QDISCS.values(), *CLASSES.values())
       for words, one in table.options.items() if isinstance(one, Is) and one.unit is not BY_RATE},
    "idle_slope": "idleslope", "send_slope": "sendslope", "hi_credit": "hicredit", "lo_credit": "locredit",
}  # fmt: skip
"""What tc calls the settings that a refusal names."""


def _in_words_of_tc(refusal: str) -> str:
    said = re.sub(r"\b\w+\b", lambda found: NAMES.get(found[0], found[0]), refusal)
    return f"no such queue here: {said}"


def check(text: str, what: str) -> None:
    """UsageError, with what the text form is of, if there is no such queue here."""
    try:
        _native.queue(text)
    except UsageError as error:
        raise refused(f"{what}: {_in_words_of_tc(str(error))}") from None
