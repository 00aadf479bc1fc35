"""The words of Mahimahi's mm-link as an emulation, and the heads of its logs.

A packet takes an opportunity for each 1500 bytes of IP. Mahimahi's has 1504 bytes, and counts four
bytes of a TUN header with each packet: a full packet takes one opportunity in both. The logs have
Mahimahi's numbers: four bytes more for each packet, and opportunities of 1504.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fairq._native as _native
from fairq.core import toml_text
from fairq.core.declared import PATH, word
from fairq.core.errors import UsageError
from fairq.core.inputs import Text
from fairq.emulation import wish as wishes
from fairq.emulation.emulated import INSIDE
from fairq.emulation.wish import LEFT, LINE, RIGHT, Emulation, shell

WAYS = {"uplink": "reverse", "downlink": "forward"}
"""The direction of the line for each of Mahimahi's links: the command runs in the left host."""

NUMBER = re.compile(r"\d+(?:\.\d+)?")

MILLISECONDS = ("target", "interval", "qdelay_ref", "max_burst")
"""Words of Mahimahi that are numbers of milliseconds."""

NAMES = {"qdelay_ref": "target", "max_burst": "burst"}
"""Settings that have another name here."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """What mm-link is told."""

    # fmt: off
    uplink: str = word("the trace of what the command sends: a millisecond a line", "UPLINK", PATH, required=True,
                       is_argument=True)
    downlink: str = word("the trace of what it receives", "DOWNLINK", PATH, required=True, is_argument=True)
    uplink_queue: str = word("infinite, droptail, drophead, codel, pie, or any queue of fairq", "QUEUE",
                             default="infinite")
    downlink_queue: str = word("the same of the way down", "QUEUE", default="infinite")
    uplink_queue_args: str = word("settings, as 'packets=100, target=5': bytes, packets, times in ms", "ARGS",
                                  default="")
    downlink_queue_args: str = word("the same of the way down", "ARGS", default="")
    uplink_log: str | None = word("write arrivals, opportunities and departures there, as Mahimahi does", "FILE", PATH,
                                  is_written=True)
    downlink_log: str | None = word("the same of the way down", "FILE", PATH, is_written=True)
    once: bool = word("end when the shorter trace does", kind="bool", default=False)
    delay: str | None = word("the delay of each way, in place of an mm-delay around it", "TIME")
    right: str | None = word("run this in the outer host, whose address is $MAHIMAHI_BASE", "COMMAND")
    # fmt: on
    command: Sequence[str] = ()

    def queues(self) -> dict[str, str]:
        """The queue of each link, in fairq's words."""
        given = {
            "uplink": (self.uplink_queue, self.uplink_queue_args),
            "downlink": (self.downlink_queue, self.downlink_queue_args),
        }
        return {name: queue(f"--{name}-queue", *each) for name, each in given.items()}

    def logs(self) -> dict[str, str]:
        """The log of each link that has one, by the direction of the line."""
        named = {"uplink": self.uplink_log, "downlink": self.downlink_log}
        return {name: os.fspath(path) for name, path in named.items() if path is not None}

    def emulation(self) -> Emulation:
        """The same as an emulation."""
        traces = {name: _trace(name, os.fspath(getattr(self, name))) for name in WAYS}
        queues = self.queues()
        link = {
            "name": LINE,
            "from": RIGHT,
            "to": LEFT,
            "trace": traces["downlink"],
            "reverse_trace": traces["uplink"],
            "delay": self.delay or "0 s",
            "queue": queues["downlink"],
            "reverse_queue": queues["uplink"],
        }
        text = "\n\n".join([
            toml_text.table("", {"edition": 2, "title": "mm-link"}),
            *([toml_text.table("[measure]", {"duration": f"{self.ends_ms(traces)} ms"})] if self.once else []),
            toml_text.table("[defaults]", {"connection": "linux"}),
            toml_text.table("[[links]]", link),
        ]) + "\n"  # fmt: skip
        on = [(RIGHT, self.right)] if self.right else []
        command = list(self.command) or [shell()]
        return replace(wishes.ask(Text(text, "mm-link"), command=command, on=on, at=LEFT), ends=self.once)

    def ends_ms(self, traces: Mapping[str, str]) -> int:
        """When the shorter trace ends."""
        return min(_last(path) for path in traces.values())


def queue(option: str, kind: str, args: str) -> str:
    """A queue of Mahimahi, or of fairq, with its settings, in fairq's words."""
    settings = _settings(option, args)
    limits = [f"{settings.pop(unit)}{unit if unit == 'packets' else 'B'}"
              for unit in ("packets", "bytes") if unit in settings]  # fmt: skip
    if len(limits) > 1:
        raise UsageError(f"{option}-args {args}: a queue has one limit; write packets or bytes")
    if kind == "infinite" and (settings or limits):
        raise UsageError(f"{option}-args {args}: an infinite queue has no settings; leave them out")
    if kind in ("droptail", "drophead") and not limits:
        raise UsageError(f"{option} {kind}: it has a limit; write {option}-args=packets=100")
    ours = {"infinite": "fifo", "droptail": "fifo", "drophead": "fifo + head_drop"}.get(kind, kind)
    said = [f"{NAMES.get(name, name)}={_value(name, value)}" for name, value in settings.items()]
    if said and ours.startswith("fifo"):
        raise UsageError(f"{option}-args {args}: {kind} has packets or bytes and no other setting")
    if said:
        if "(" in ours:
            raise UsageError(f"{option}-args {args}: {kind} has its settings in parentheses; write all of them there")
        name, plus, rest = ours.partition("+")
        ours = f"{name.strip()}({', '.join(said)}){f' + {rest.strip()}' if plus else ''}"
    limits = limits or (["unlimited"] if kind in ("infinite", "codel", "pie") else [])
    text = " + ".join([ours, *limits])
    try:
        _native.queue(text)
    except UsageError as error:
        raise UsageError(f"{option} {kind}: {error}") from None
    return text


def _settings(option: str, args: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in args.split(","))):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value:
            raise UsageError(f"{option}-args {args}: {part} is not NAME=NUMBER, as packets=100")
        if name in found:
            raise UsageError(f"{option}-args {args}: {name} is there twice; write it once")
        found[name] = value
    return found


def _value(name: str, value: str) -> str:
    """A setting's value with the unit that it has in Mahimahi."""
    return f"{value}ms" if name in MILLISECONDS and NUMBER.fullmatch(value) else value


def _trace(name: str, path: str) -> str:
    if not Path(path).is_file():
        raise UsageError(f"{name} {path}: there is no such file; give a trace, a millisecond a line")
    return str(Path(path).absolute())


def _last(path: str) -> int:
    """The last millisecond of a trace, which the compiled part has checked or will."""
    lines = [line for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines() if line.strip()]
    return int(lines[-1]) if lines and lines[-1].strip().isdigit() else 1


def heads(link: Link) -> dict[str, str]:
    """By file, what stands before the events of a log."""
    found = {}
    for name, path in link.logs().items():
        lines = [f"# mahimahi mm-link ({name.capitalize()}) [{getattr(link, name)}] > {path}", "# base timestamp: 0"]
        if (before := os.environ.get("MAHIMAHI_SHELL_PREFIX")) is not None:
            lines.append(f"# mahimahi config: {before}")
        found[path] = "\n".join(lines) + "\n"
    return found


def job(link: Link, described: Mapping[str, Any]) -> dict[str, Any]:
    """What the gateway is told beside an emulation's job."""
    addresses = {host["host"]: host["addresses"][0] for host in described["hosts"]}
    before = os.environ.get("MAHIMAHI_SHELL_PREFIX", "")
    return {
        "logs": {f"{LINE}/{WAYS[name]}": str(Path(path).absolute()) for name, path in link.logs().items()},
        "outer": RIGHT if INSIDE in os.environ else None,
        "environment": {"MAHIMAHI_BASE": addresses[RIGHT], "MAHIMAHI_SHELL_PREFIX": f"{before}[link] "},
    }
