"""An emulation from its words to its tables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fairq._native as _native
from fairq.core.errors import ScenarioError, UsageError
from fairq.emulation import child, reported, simulated
from fairq.emulation import wish as wishes
from fairq.emulation.emulation_results import Emulated
from fairq.emulation.wish import Emulation

INSIDE = "FAIRQ_EMULATION"
"""The variable that commands in hosts have: the second number of their addresses."""

PREFIX = 77
"""The second number of the addresses of an emulation that is in no other."""


def describe(asked: Emulation) -> dict[str, Any]:
    """What would be made: hosts with addresses, lines with queues, flows, commands."""
    try:
        job = asked.job() | {"prefix": prefix()}
        found: dict[str, Any] = json.loads(_native.emulation(wishes.as_json(job)))
    except ScenarioError as error:
        raise asked.by_words(error) from None
    if not found["hosts"]:
        raise UsageError("links: there is no host; write a link between two nodes")
    host = asked.front_host(found)
    if host not in [each["host"] for each in found["hosts"]]:
        names = ", ".join(each["host"] for each in found["hosts"])
        raise UsageError(f"--at {host}: no host is called so; there are {names}")
    argv = asked.argv(found)
    found["commands"] = [
        *([{"host": host, "command": wishes.shown_command(argv), "ends_run": True}] if argv else []),
        *(
            {"host": each["host"], "command": wishes.shown_command(each["argv"]), "ends_run": False}
            for each in asked.back
        ),
    ]
    found["ends_s"] = found["duration_s"] if found["flows"] or asked.duration or asked.ends else None
    if asked.host_kernel is not None and found["flows"]:
        raise UsageError("--host-kernel: its hosts run commands only; leave the flows of the scenario out")
    if asked.host_kernel is not None and not found["commands"]:
        raise UsageError("--host-kernel: its hosts have no input, and so no shell; write -- COMMAND")
    if not found["commands"] and found["ends_s"] is None:
        raise UsageError("nothing runs in it; write -- COMMAND, or a scenario with flows")
    return found


def planned(described: Mapping[str, Any]) -> dict[str, Any]:
    """What would be made, as `--dry-run --json` prints it."""
    found = {name: described[name] for name in ("hosts", "lines", "flows", "commands", "ends_s")}
    found["flows"] = [{name: value for name, value in flow.items() if name != "is_endless"} for flow in found["flows"]]
    return found


def prefix() -> int:
    """The second number of addresses: the next one inside another emulation."""
    outer = os.environ.get(INSIDE, "")
    return int(outer) + 1 if outer.isascii() and outer.isdigit() and int(outer) < 254 else PREFIX


def emulate(
    asked: Emulation,
    *,
    is_beside: bool = False,
    watch: child.Watch | None = None,
    output: int | None = None,
    described: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Emulated:
    """Run it to its end.

    `watch` is told what is under way twice a second; commands write to the descriptor `output` in
    place of standard output. UsageError says why it cannot be, and what to do.
    """
    described = describe(asked) if described is None else described
    if asked.host_kernel is not None and watch is not None:
        raise UsageError("--watch: virtual time is over at once; leave it out with --host-kernel")
    if asked.capture is not None:
        Path(asked.capture).mkdir(parents=True, exist_ok=True)
    job = asked.job(described) | {
        "duration_s": described["ends_s"],
        "watch": watch is not None,
        "capture": None if asked.capture is None else str(Path(asked.capture).absolute()),
        "series": f"{wishes.STEP_MS} ms" if asked.series == "auto" else asked.series,
        "prefix": prefix(),
        **(more or {}),
    }
    with TemporaryDirectory(prefix="fairq-", ignore_cleanup_errors=True) as temporary:
        if asked.host_kernel is not None:
            job |= {"temporary": temporary, "folder": str(Path.cwd())}
        answer = child.run(job, watch=watch, output=output)
    document = reported.document(described, answer.report, answer.ready)
    document["emulation"] |= {"commands": described["commands"], "status": answer.status}
    if is_beside:
        found = simulated.simulate(asked, described, document)
        document["emulation"]["beside"] = simulated.differences(document, found)
    return Emulated(document, answer.status)
