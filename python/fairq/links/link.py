"""A line that a test puts between two ends: sockets of this machine, or hosts in namespaces."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import fairq._native as _native
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.questions.losses import losses
from fairq.questions.rates import of_ways
from fairq.questions.words import split

if TYPE_CHECKING:
    from fairq.emulation.emulation_results import Emulated

WORDS = ("rate", "delay", "queue", "buffer", "loss", "jitter", "seed")
"""What a link is made of; `fairq emulate` has the same words."""

CHANGED = ("rate", "delay", "loss", "jitter", "up")
"""What can change while packets are on the link."""


class Link:
    """A line in both directions, with a queue at each end.

    `rate` and `queue` are of both directions or DOWN/UP, as "50Mbit/s/10Mbit/s": up is to the
    target, down is back. `delay` and `jitter` are of one way, each way. `buffer` is the limit of a
    queue that names none, "100packets" or "60kB"; `loss` is a part of the packets, as 0.01, "1%" or
    in bursts as "2%@burst=5".

    >>> with Link(rate="10Mbit/s", delay="20ms", queue="fq_codel") as link:
    ...     host, port = link.relay(("127.0.0.1", 8080))    # connect here in place of port 8080
    ...     link.stats()["stamp"]
    'valid'

    A wrong word is a UsageError in one line.
    """

    def __init__(self, **words: Any) -> None:
        _known("a link", words, WORDS)
        self._words = {name: value for name, value in words.items() if value is not None}
        seed = self._words.get("seed", 1)
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError(f"seed: {seed}: write a whole number from 0 on")
        ways = _ways({name: value for name, value in self._words.items() if name != "seed"})
        self._relay = _native.Relay(json.dumps({"ways": ways, "seed": seed}))

    def relay(self, target: tuple[str, int], protocol: str = "tcp") -> tuple[str, int]:
        """Open a way to `target`, a TCP or UDP port of this machine; where its clients go instead.

        All relays of a link share its line. No rights are needed, and nothing leaves the machine.
        """
        try:
            host, port = target
            whole = int(port)
        except (TypeError, ValueError):
            raise UsageError(f'target: {target!r}: write an address and a port, as ("127.0.0.1", 8080)') from None
        if not isinstance(host, str) or not 0 < whole < 65536:
            raise UsageError(f"target: {target!r}: write an address and a port from 1 to 65535")
        return self._relay.open(protocol, host, whole)

    def run(self, command: str | Sequence[str], *, right: str | Sequence[str] | None = None, **words: Any) -> Emulated:
        """Run a command at one end of such a line and `right` at the other: hosts with Linux's TCP.

        The far host is called `right`. `words` are others of `fairq.emulate`, which this calls: it
        needs namespaces, and says in one line what the machine lacks.
        """
        # Looked up when called: it is above this room, and may not be there.
        emulate: Any = getattr(import_module("fairq"), "emulate", None)
        if emulate is None:
            raise UsageError("this fairq has no emulation; use link.relay, which works everywhere")
        if right is not None and not isinstance(right, str):
            right = shlex.join(right)
        delay = {} if "rtt" in words else {"delay": "0ms"}
        given: dict[str, Any] = delay | self._words | words
        found: Emulated = emulate(command=command, right=right, **given)
        return found

    def change(self, **words: Any) -> None:
        """Change rate, delay, loss or jitter from now on, or `up`: whether the line sends at all.

        Packets that wait stay. If a value is wrong, no direction takes it.
        """
        _known("change", words, CHANGED)
        given = {name: value for name, value in words.items() if value is not None}
        up = given.pop("up", None)
        if up is not None and not isinstance(up, bool):
            raise UsageError(f"up: {up}: write True or False")
        changes = [way | ({} if up is None else {"up": up}) for way in _ways(given)]
        self._relay.change(json.dumps(changes))
        self._words |= given

    def stats(self) -> dict[str, Any]:
        """What passed the link's relays up to now.

        `flows` has a row for each direction of each conversation, `queues` one for each direction
        of the line; times are those of the line's clock, as a simulation has them. `lateness` says
        how much later the machine handed packets over, and `stamp` whether that was in time:
        "valid", or "doubtful: " and why.
        """
        document: dict[str, Any] = json.loads(self._relay.stats())
        return document

    def close(self) -> None:
        """End it: the relays' connections are closed."""
        self._relay.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Link({', '.join(f'{name}={value!r}' for name, value in self._words.items())})"


def _known(of: str, words: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in words:
        if name not in known:
            raise UsageError(f"{of}: there is no word {name}{near_miss(name, known)}")


def _ways(words: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of both directions: to the target, and back."""
    for name, value in words.items():
        if not isinstance(value, str) and not (name == "loss" and isinstance(value, int | float)):
            raise UsageError(f"{name}: {value!r}: write text, as {_EXAMPLES[name]!r}")
    both = {name: words[name] for name in ("delay", "buffer", "jitter") if name in words}
    if "loss" in words:
        found = losses(words["loss"])
        if len(found) > 1:
            raise UsageError(f"--loss {words['loss']}: a line has one loss; write one")
        both |= {"loss": found[0].part, "burst": found[0].burst}
    up, down = dict(both), dict(both)
    if "rate" in words:
        down["rate"], up["rate"] = of_ways(words["rate"])
    if "queue" in words:
        parts = split(words["queue"], "/")
        if len(parts) not in (1, 2) or not all(parts):
            raise UsageError(f"queue: {words['queue']}: write one queue for both directions, or DOWN/UP")
        down["queue"], up["queue"] = parts[0], parts[-1]
    return [up, down]


_EXAMPLES = {
    "rate": "10Mbit/s",
    "delay": "20ms",
    "queue": "fq_codel",
    "buffer": "100packets",
    "loss": "1%",
    "jitter": "2ms",
}
