"""Where one shaper holds one queue, the shaper is the line, and the queue is what it holds.

Source: Linux 6.1, net/sched: `mq` is a queue for each ring of the device; a class of `htb` or
`hfsc` that is alone sends all packets.
"""

from __future__ import annotations

from fairq.traffic_control import filters
from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.devices import Device, Node
from fairq.traffic_control.units import id_form


def held(device: Device, shaper: Node) -> tuple[Node, int | None] | None:
    """The one queue that a shaper holds, and the most that it may send; `None` of several."""
    if shaper.kind == "netem":
        inside = device.children(shaper)
        if not inside:
            return None
        say_of_netem(shaper, device.differs)
        return inside[-1], None
    if shaper.kind == "mq":
        return _of_rings(device, shaper)
    if shaper.kind in ("htb", "hfsc"):
        return _of_class(device, shaper)
    return None


def say_of_netem(qdisc: Node, differs: Differs) -> None:
    """A `netem` with a queue in it is the queue."""
    said = " ".join(["netem", *qdisc.options.get("given", [])])
    differs.say("qdisc netem", "left out: delay, loss and the like are written on the link", said)


def _of_rings(device: Device, shaper: Node) -> tuple[Node, int | None] | None:
    """The queue of a ring, if all rings that have one have the same; a device here has one ring."""
    rings = device.children(shaper)
    if not rings:
        return None
    others = sorted({node.kind for node in rings} - {rings[0].kind})
    linux = f"a queue for each ring, {len(rings)} of them as said" + (f": {', '.join(others)} too" if others else "")
    differs = device.differs
    differs.say("qdisc mq", f"one ring, with the {rings[0].kind} of {id_form(rings[0].parent)}", linux)
    return rings[0], None


def _of_class(device: Device, shaper: Node) -> tuple[Node, int | None] | None:
    """The queue of the one class that holds packets."""
    leaves = [one for one in device.below(shaper) if not device.is_inner(one.id)]
    child = device.child(leaves[0].id) if len(leaves) == 1 else None
    if child is None:
        return None
    most = _most(device, leaves[0]) if shaper.kind == "htb" else _upper_limit(device, leaves[0])
    if most is None:
        return None
    _say_of_line(device, shaper, leaves[0])
    return child, most


def _upper_limit(device: Device, one: Node) -> int | None:
    """The least upper limit of a class of hfsc and those above it; `None` where there is none."""
    above = device.classes.get(one.parent)
    limits = [int(one.options["ul"]["m2"])] if "ul" in one.options else []
    limits += [limit for limit in [_upper_limit(device, above)] if limit is not None] if above is not None else []
    return min(limits, default=None)


def _most(device: Device, one: Node) -> int:
    """The most that a class may send with what it borrows (htb_class_mode); at the top its rate."""
    rate = int(one.options["rate"])
    above = device.classes.get(one.parent)
    most = max(rate, _most(device, above)) if above is not None else rate
    return min(int(one.options.get("ceil", rate)), most)


def _say_of_line(device: Device, root: Node, line: Node) -> None:
    """What of the class that is the line has no like here."""
    differs = device.differs
    for name in ("burst", "cburst", "overhead", "mpu", "linklayer"):
        if line.options.get(name):
            differs.say(f"{name} of class {id_form(line.id)}", "left out: it is the line", line.options[name])
    own = [one for one in device.filters if one.at[0] == root.id[0]]
    targets = filters.targets(own, root.id[0], device.is_inner, differs)
    takes_all = any(one.takes_all for at, one in device.left if at == root.id[0])
    if root.options.get("default") != line.id[1] and len(targets) < 64 and not takes_all:
        linux = "sent at once, not shaped" if root.kind == "htb" else "dropped"
        differs.say("default", "all packets go to the one class", f"packets of no class are {linux}")
