"""What is to be emulated, as it was asked: its words checked, and the scenario that they make."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import fairq._native as _native
from fairq.core import declared, inputs, toml_text
from fairq.core.arguments import read
from fairq.core.declared import PATH, word
from fairq.core.errors import FairqError, UsageError
from fairq.core.inputs import Text
from fairq.questions import rates, words
from fairq.questions.losses import Loss, losses
from fairq.questions.network import marking

LINE, LEFT, RIGHT = "line", "left", "right"
"""The link of a network that words make, and its two hosts: the command runs at the left."""

DEVICES = ("auto", "tun", "packet")
MODES = ("exact", "fast")

SHELL = ("/bin/sh", "-c")
"""What runs a command that is said as one text."""

STEP_MS = 100
"""The distance of the samples of `series="auto"`."""


def _time(flag: str, given: str) -> str:
    """A time, checked; it stays its text, which a scenario takes."""
    words.quantity(flag, "time", given)
    return given


def _late(flag: str, given: str) -> str:
    words.part_at(flag, given)
    return given


def _loss(flag: str, given: str | float) -> Loss:
    found = losses(given)
    if len(found) > 1:
        raise UsageError(f"{flag} {given}: a line has one loss; write one")
    return found[0]


def ways(flag: str, given: str) -> tuple[str, str]:
    """The values down and up of `DOWN[/UP]`; a stroke in parentheses splits nothing."""
    parts = words.split(given, "/")
    if len(parts) > 2 or not all(parts) or not parts:
        raise UsageError(f"{flag} {given}: write one value for both directions, or DOWN/UP")
    return parts[0], parts[-1]


def _one_of(choices: Sequence[str]) -> Any:
    def read_choice(flag: str, given: str) -> str:
        if given not in choices:
            raise UsageError(f"{flag} {given}: there is none called so; write {' or '.join(choices)}")
        return given

    return read_choice


@dataclass(frozen=True, kw_only=True)
class Emulation:
    """Hosts, the lines between them, and what runs there."""

    # fmt: off
    rate: str | None = word(
        "the line's rate, as 50Mbit/s/10Mbit/s or trace:FILE; down is from right to left", "DOWN[/UP]",
        at=("links[0].rate", "links[0].reverse_rate", "links[0].trace", "links[0].reverse_trace")
    )
    rtt: str | None = word("round trip without queueing, as 40ms", "TIME", read=_time, at=("links[0].delay",))
    delay: str | None = word("delay of one way, each way, in place of --rtt", "TIME", read=_time)
    queues: tuple[str, str] = word(
        "queue of the line (default fifo), of each direction as fq_codel/fifo", "DOWN[/UP]", name="queue",
        value=("fifo", "fifo"), read=ways, at=("links[0].queue", "links[0].reverse_queue")
    )
    buffer: str | None = word(
        "buffer of the line's queue, as 1BDP or 60kB (default: Linux's limits)", "SIZE",
        read=lambda _, given: words.buffers([given])[0], at=("links[0].buffer",)
    )
    ecn: bool = word("hosts ask for ECN, and queues mark in place of dropping", kind="bool", default=False)
    loss: Loss | None = word(
        "lose this part of the packets, as 1% or in bursts as 2%@burst=5", "PART", declared.PART, read=_loss,
        at=("links[0].loss",)
    )
    jitter: str | None = word(
        "delay each packet by a random time up to this, without reordering", "TIME", read=_time,
        at=("links[0].jitter",)
    )
    reorder: str | None = word(
        "send this part of the packets late, as 1%@5ms", "PART@TIME", read=_late, at=("links[0].reorder",)
    )
    controls: tuple[str, str] | None = word(
        "congestion control of the hosts, as bbr, or of right/left (default cubic)", "DOWN[/UP]",
        name="control", read=ways
    )
    right: str | None = word("run this in the host right, as 'iperf3 -s'", "COMMAND")
    on: tuple[tuple[str, str], ...] = word(
        "run this in a host, as server='iperf3 -s'; may be repeated", "HOST=COMMAND", "Commands", default=(),
        read=lambda _, given: tuple(inputs.pairs(given))
    )
    at: str | None = word("the host of COMMAND (default left, or the first host of a scenario)", "HOST")
    duration: str | None = word("end it after this time (default: when COMMAND ends)", "TIME", read=_time)
    mode: str = word(
        "exact: a write for each packet; fast: segments of a flow within 100 us are one", choices=MODES,
        default="exact", read=_one_of(MODES)
    )
    spin: bool = word("spin before each departure: less late, at the cost of a core", kind="bool", default=False)
    device: str = word("how packets reach hosts (default auto: tun if it can be opened)", choices=DEVICES,
                       default="auto", read=_one_of(DEVICES))
    host_kernel: str | None = word("run each host as this user-mode Linux kernel, in virtual time", "PATH", PATH)
    seed: int = word("seed of losses, jitter and reordering", "N", "int", default=1)
    series: str | None = word("sample throughput and queues this often, as 100ms", "TIME")
    packets: str | None = word("record each packet of this flow", "FLOW")
    capture: str | None = word("write what came to and left each line into this folder (pcapng)", "DIR", PATH,
                               is_written=True)
    # fmt: on
    network: Text | None = None
    """The scenario, if there is one."""
    sets: tuple[tuple[str, str], ...] = ()
    """Fields of it that are set."""
    command: tuple[str, ...] = ()
    """What runs at the terminal; its end is the end."""
    has_shell: bool = False
    """Whether a shell runs where there is neither a command nor a flow."""

    ends: bool = False
    """Whether it ends at the scenario's time, though no flow says so."""

    @cached_property
    def text(self) -> str:
        """The scenario, in TOML."""
        if self.network is not None:
            return self.network.text
        end = {"duration": self.duration} if self.duration else {}
        measure = {**end, **({"seed": self.seed} if self.seed != 1 else {})}
        return "\n\n".join([
            toml_text.table("", {"edition": 2, "title": "emulate"}),
            *([toml_text.table("[measure]", measure)] if measure else []),
            toml_text.table("[defaults]", {"connection": "linux"}),
            toml_text.table("[[links]]", self._link()),
        ]) + "\n"  # fmt: skip

    @property
    def name(self) -> str:
        """The scenario's name, for messages."""
        return "emulate" if self.network is None else self.network.name

    def _link(self) -> dict[str, Any]:
        assert self.rate is not None, "it was checked"
        down, up = rates.of_ways(self.rate)
        link: dict[str, Any] = {"name": LINE, "from": RIGHT, "to": LEFT} | rates.fields(down)
        link |= rates.fields(up, "reverse_") if up != down else {}
        link["delay"] = f"{self.delay_ps} ps"
        link["queue"], up_queue = map(self._queue, self.queues)
        link |= {"reverse_queue": up_queue} if up_queue != link["queue"] else {}
        link |= {"buffer": self.buffer} if self.buffer else {}
        link |= {"loss": self.loss.value} if self.loss is not None and self.loss.part else {}
        link |= {"jitter": self.jitter} if self.jitter else {}
        if self.reorder is not None:
            part, delay = words.part_at("--reorder", self.reorder)
            link["reorder"] = {"probability": part, "delay": delay}
        return link

    def _queue(self, queue: str) -> str:
        """A queue of the line, on which connections are told apart by their ports."""
        try:
            return _native.by_ports(marking(queue) if self.ecn else queue)
        except UsageError:
            # The scenario says what is wrong with it, and where.
            return queue

    @property
    def delay_ps(self) -> int:
        """The delay of one way."""
        if self.delay is not None:
            return round(words.quantity("--delay", "time", self.delay) * 1e12)
        return round(words.quantity("--rtt", "time", self.rtt or "0 s") * 1e12) // 2

    @property
    def back(self) -> list[dict[str, Any]]:
        """The commands beside the one of the terminal."""
        given = [*([(RIGHT, self.right)] if self.right is not None else []), *self.on]
        return [{"host": host, "argv": [*SHELL, command]} for host, command in given]

    def job(self, described: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the gateway is told; of hosts that are not `described` yet, none has the command."""
        front = None
        if described is not None and (argv := self.argv(described)):
            front = {"host": self.front_host(described), "argv": list(argv)}
        elif self.command and self.at is not None:
            front = {"host": self.at, "argv": list(self.command)}
        job: dict[str, Any] = {"text": self.text, "name": self.name, "sets": [list(each) for each in self.sets]}
        if self.network is not None and self.seed != 1:
            job["sets"].append(["measure.seed", str(self.seed)])
        if self.controls is not None:
            down, up = self.controls
            job |= {"control": down} if down == up else {"controls": {RIGHT: down, LEFT: up}}
        job |= {
            "front": front,
            "back": self.back,
            "mode": self.mode,
            "spin": self.spin,
            "ecn": self.ecn,
            "device": self.device,
        }
        job |= {"series": self.series, "packets": self.packets}
        if self.host_kernel is not None:
            job["host_kernel"] = str(Path(self.host_kernel).absolute())
        return job

    def argv(self, described: Mapping[str, Any]) -> Sequence[str]:
        """The command of the terminal; empty: there is none."""
        if self.command or not self.has_shell or self.host_kernel is not None or described["flows"] or self.duration:
            return self.command
        return (shell(),)

    def front_host(self, described: Mapping[str, Any]) -> str:
        """The host of the terminal's command."""
        hosts = [host["host"] for host in described["hosts"]]
        first: str = described["flows"][0]["from"] if described["flows"] else hosts[0]
        return self.at or (LEFT if LEFT in hosts else first)

    def by_words(self, error: FairqError) -> FairqError:
        """An error of the scenario that the words made as one of them: its place becomes a word."""
        if self.network is not None:
            return error
        for option, texts in declared.said(self):
            if option.at and error.path.startswith(option.at):
                flag, said = option.flag, texts
                if option.name == "rtt" and self.delay is not None:
                    flag, said = "--delay", [self.delay]
                first = "/".join(dict.fromkeys(said)) if isinstance(said, list) else ""
                return UsageError(error.fault, f"{flag} {first}".rstrip())
        return UsageError(error.fault) if not error.path else error


def shell() -> str:
    """The shell of the user."""
    return os.environ.get("SHELL") or "/bin/sh"


def ask(
    network: inputs.Scenario | None = None,
    *,
    set: inputs.Settings = (),
    command: str | Sequence[str] | None = None,
    has_shell: bool = False,
    **given: Any,
) -> Emulation:
    """What the words of `Emulation` ask for; UsageError names a wrong word and what to write."""
    asked = read(Emulation, "emulate", given)
    text = None if network is None else inputs.read(network)
    asked = replace(
        asked, network=text, sets=tuple(inputs.pairs(set)), command=tuple(argv_of(command)), has_shell=has_shell
    )
    _check(asked)
    return asked


def argv_of(command: str | Sequence[str] | None) -> Sequence[str]:
    """A program and its arguments; one text is run by a shell."""
    if command is None:
        return ()
    if isinstance(command, str):
        if not command.strip():
            raise UsageError("command: it is empty; write a program and its arguments")
        return (*SHELL, command)
    return command


OF_LINE = ("rate", "rtt", "delay", "queue", "buffer", "loss", "jitter", "reorder", "right")
"""Words that make a network of two hosts, which a scenario has itself."""


OF_MACHINE = ("mode", "spin", "device")
"""Words of hosts that share this machine's kernel and clock."""


def _check(asked: Emulation) -> None:
    if asked.host_kernel is not None:
        for field, option, _ in declared.words(Emulation):
            if option.name in OF_MACHINE and getattr(asked, field) != Emulation.__dataclass_fields__[field].default:
                raise UsageError(f"{option.flag}: virtual time has no such choice; leave it out with --host-kernel")
    if asked.network is not None:
        for field, option, _ in declared.words(Emulation):
            default = Emulation.__dataclass_fields__[field].default
            if option.name in OF_LINE and getattr(asked, field) != default:
                what = "run its command by --on" if option.name == "right" else "write it there, or use --set"
                raise UsageError(f"{option.flag}: the scenario says its hosts and lines; {what}")
        if asked.duration is not None:
            raise UsageError("--duration: the scenario has one; write --set measure.duration=…")
        return
    if asked.sets:
        raise UsageError("--set: there is no scenario to change; write the words of the line, as --rate")
    if asked.rate is None:
        raise UsageError("there is no network; write --rate and --rtt, or the file of a scenario")
    rates.of_ways(asked.rate)
    if asked.rtt is not None and asked.delay is not None:
        raise UsageError("--delay: --rtt says the same, for both ways together; leave one of them out")
    if asked.rtt is None and asked.delay is None:
        raise UsageError("there is no --rtt; write the round trip without queueing, as --rtt 40ms")
    for host, _ in asked.on:
        if host not in (LEFT, RIGHT):
            raise UsageError(f"--on {host}: there are the hosts {LEFT} and {RIGHT}; write one of them")
    if asked.at is not None and asked.at not in (LEFT, RIGHT):
        raise UsageError(f"--at {asked.at}: there are the hosts {LEFT} and {RIGHT}; write one of them")


def shown_command(argv: Sequence[str]) -> str:
    """A command as a user types it."""
    if tuple(argv[:2]) == SHELL and len(argv) == 3:
        return argv[2]
    return shlex.join(argv)


def as_json(job: Mapping[str, Any]) -> str:
    """A job as the compiled part reads it."""
    return json.dumps(job)
