"""What Python can call of emulation; `fairq.api` has it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairq.core.arguments import checked
from fairq.core.declared import picked
from fairq.core.inputs import Commands, Scenario, Settings
from fairq.emulation import doctoring
from fairq.emulation.doctoring import Doctored

if TYPE_CHECKING:
    from fairq.emulation.child import Watch
    from fairq.emulation.emulation_results import Emulated


@checked
def emulate(
    network: Scenario | None = None,
    *,
    set: Settings = (),
    command: str | Sequence[str] | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    delay: str | None = None,
    queue: str | None = None,
    buffer: str | None = None,
    ecn: bool = False,
    loss: str | float | None = None,
    jitter: str | None = None,
    reorder: str | None = None,
    control: str | None = None,
    right: str | None = None,
    on: Commands = (),
    at: str | None = None,
    duration: str | None = None,
    mode: str = "exact",
    spin: bool = False,
    device: str = "auto",
    host_kernel: str | os.PathLike[str] | None = None,
    seed: int = 1,
    series: str | None = None,
    packets: str | None = None,
    capture: str | os.PathLike[str] | None = None,
    beside: bool = False,
    watch: Watch | None = None,
) -> Emulated:
    """Run real programs over a line with any queue, with the TCP of Linux.

    The words are those of `fairq emulate`.
    Two hosts, `left` and `right`, are joined by a line of `rate` (DOWN or DOWN/UP, down is to the
    left) and `rtt`; or `network` is a scenario, whose nodes at ends of flows are hosts, and whose
    flows run there. `command` is a program and its arguments, or a text for a shell; it runs at the
    left, or in the host `at`, and its end is the end. `right` and `on` run others for as long.
    With `beside` the same network is simulated as well. `watch` is told twice a second what is
    under way. Each host is a network namespace of this machine, or with `host_kernel` a user-mode
    Linux kernel in virtual time, and nothing leaves it.

    >>> found = emulate(rate="20Mbit/s", rtt="20ms", queue="fq_codel",
    ...     command=["ping", "-c3", "right"])    # doctest: +SKIP
    >>> found.stamp, found.status    # doctest: +SKIP
    ('valid', 0)

    Raises UsageError that names the word, or says what this machine lacks; ScenarioError.
    """
    given = locals()
    from fairq.emulation import emulated, wish

    asked = wish.ask(network, set=set, command=command, **picked(wish.Emulation, given))
    return emulated.emulate(asked, is_beside=beside, watch=watch)


@checked
def doctor() -> Doctored:
    """What this machine can emulate: a row for each thing that `emulate` may need, with a remedy.

    >>> doctor().rows[0].what    # doctest: +SKIP
    'user namespaces'
    """
    return doctoring.doctor()
