"""What the kernel warns of the quanta of htb's classes, and the quantum that it then takes.

Source: Linux 6.1, sch_htb.c, `htb_change_class`: a class that names no quantum has its rate in
bytes a second over r2q; below 1000 B or above 200,000 B it has that bound, and tc prints a warning.
A class is a leaf when it is made, so that one which gets others below it is warned of, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from fairq.traffic_control.devices import Device
from fairq.traffic_control.units import Id, id_form, rate_form

LEAST, MOST = 1000, 200_000
R2Q = 10
"""What htb has where tc says none (HTB_INIT)."""


def clamped(rate: int, r2q: int) -> int:
    """The quantum of a rate in bit/s."""
    return min(max(rate // 8 // r2q, LEAST), MOST)


def warned(device: Device) -> list[dict[str, str]]:
    """A row for each class whose quantum the kernel changes."""
    found = []
    for qdisc in device.qdiscs.values():
        if qdisc.kind == "htb":
            r2q = int(qdisc.options.get("r2q") or R2Q)
            plain = (one for one in device.below(qdisc) if not one.options.get("quantum"))
            found += [row for one in plain for row in _of_class(one.id, int(one.options["rate"]), r2q)]
    return found


def _of_class(one: Id, rate: int, r2q: int) -> Iterable[dict[str, str]]:
    quantum = rate // 8 // r2q
    if LEAST <= quantum <= MOST:
        return
    size = "small" if quantum < LEAST else "big"
    # What makes of the rate a quantum within the bounds, if a whole number does.
    fitting = rate // 8 // LEAST if size == "small" else -(-(rate // 8) // MOST)
    remedy = f"write quantum {clamped(rate, r2q)}" + (f", or r2q {fitting}" if fitting else "")
    yield {
        "setting": f"class {id_form(one)}",
        "warning": f"sch_htb: quantum of class {one[0] << 16 | one[1]:X} is {size}. Consider r2q change.",
        "why": f"{rate_form(rate)} over r2q {r2q} is {quantum} B; Linux and htb here take {clamped(rate, r2q)} B",
        "remedy": remedy,
    }
