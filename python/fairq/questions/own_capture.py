"""The packets of a capture as flows of a question: each comes at its recorded time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

import numpy as np

from fairq.core.errors import UsageError
from fairq.detection import pairs
from fairq.questions.words import RECORDED, Item

FLOWS_MAX = 8
"""Flows of a direction that stay apart, those with most packets; the others are one."""

HOSTS_SHOWN = 3
"""Hosts of a capture that an error names."""

WHOLE_MAX = 1514
"""The longest packet of a line: a longer one was cut by the card that sent it."""

LENGTH_MIN_S = 1.0
"""A capture is at least this long."""

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Flow:
    """The packets of a flow of a direction."""

    name: str
    direction: str
    times: pairs.Numbers
    """Seconds after the first packet of the user."""
    sizes: pairs.Numbers

    @property
    def packets(self) -> int:
        """How many they are."""
        return len(self.times)


@dataclass(frozen=True)
class Capture:
    """The user's packets."""

    path: str
    me: str
    flows: tuple[Flow, ...]
    length_s: float
    """Time from the user's first packet to the last."""
    whole_s: float
    """Time from the first to the last packet of the user in the whole file, which begins with these packets."""
    doubles: int = 0
    """Packets that the file holds twice."""
    broken: str | None = None
    """Where the file is cut, if it is."""

    @property
    def packets(self) -> int:
        """How many they are."""
        return sum(flow.packets for flow in self.flows)

    def until(self, seconds: float) -> Capture:
        """Its first seconds."""
        flows = []
        for flow in self.flows:
            within = flow.times < seconds
            if within.any():
                flows.append(Flow(flow.name, flow.direction, flow.times[within], flow.sizes[within]))
        return Capture(
            self.path, self.me, tuple(flows), min(self.length_s, seconds), self.whole_s, self.doubles, self.broken
        )

    def notes(self) -> list[dict[str, str]]:
        """What a reader should know of it."""
        said = {"open-loop": "its packets come at their recorded times: they do not react to delay and loss"}
        if self.length_s < self.whole_s:
            said["cut"] = (
                f"its first {self.length_s:.4g} s of {self.whole_s:.4g} s are taken; write a longer --duration for more"
            )
        for way in ("down", "up"):
            if all(flow.direction != way for flow in self.flows):
                said["one-way"] = f"no packet of it goes {way}"
        longest = max(float(flow.sizes.max()) for flow in self.flows)
        if longest > WHOLE_MAX:
            said["offload"] = (
                f"packets of up to {longest:.0f} B were captured before the card cut them; capture without offload "
                "(ethtool -K DEV tso off gso off gro off)"
            )
        if self.doubles:
            said["doubles"] = (
                f"{self.doubles} packets of it are there twice within 1 ms, as a capture of all interfaces, of a bridge"
                " or of a mirror records them, and load the line twice: capture on one interface, or take them out by"
                " editcap -D 50"
            )
        if self.broken:
            said["broken"] = f"{self.broken}; the packets before are taken"
        return [{"code": code, "where": f"--capture {self.path}", "text": text} for code, text in said.items()]

    def write(self, path: Path) -> None:
        """The packets as a table that the simulator reads: lines of time, flow and bytes."""
        with path.open("w", encoding="utf-8") as file:
            file.write("time,flow,bytes\n")
            for number, flow in enumerate(self.flows):
                for time, size in zip(flow.times.tolist(), flow.sizes.tolist(), strict=True):
                    file.write(f"{time:.9f},{number},{size:.0f}\n")

    def items(self, path: Path, start: str) -> list[Item]:
        """An item for each flow, which reads the table at `path` and begins at `start`."""
        return [
            Item(
                flow.name, RECORDED, called=flow.name,
                options={"direction": flow.direction, "start": start, "file": str(path), "flow": f"{number}"},
            )
            for number, flow in enumerate(self.flows)
        ]  # fmt: skip


def read(path: str | os.PathLike[str], me: str) -> Capture:
    """The packets of a capture from and to the addresses `me`.

    Raises CaptureError, and UsageError if `me` is no address or the capture does not have it.
    """
    name = os.fspath(path)
    mine = networks(me)
    # Paired with itself, a capture gives all its flows.
    whole = pairs.read(name, name)
    flows = [(flow, _direction(flow.flow, mine)) for flow in whole.flows]
    ways = {way: [flow for flow, of in flows if of == way and len(flow.first)] for way in ("down", "up")}
    times = [flow.first for found in ways.values() for flow in found]
    if not times:
        hosts = _hosts(flow for flow, _ in flows)
        raise UsageError(f"--me {me}: no packet of {name} goes to or from there; it has packets of {hosts}")
    first, last = min(float(each.min()) for each in times), max(float(each.max()) for each in times)
    merged = [flow for way, found in ways.items() for flow in _merged(found, way, first)]
    length_s = max(last - first, LENGTH_MIN_S)
    return Capture(name, me, tuple(merged), length_s, length_s, whole.doubles, whole.cut)


def networks(me: str) -> list[Network]:
    """The addresses and networks of --me."""
    found = []
    for word in me.split(","):
        try:
            found.append(ip_network(word.strip(), strict=False))
        except ValueError:
            raise UsageError(
                f"--me {word.strip()!r} is no address; write yours as 192.168.1.7, or 192.168.1.0/24"
            ) from None
    return found


def _merged(flows: Sequence[pairs.Ends], direction: str, first: float) -> Iterator[Flow]:
    """The flows with most packets, and the others as one."""
    order = sorted(flows, key=lambda flow: -len(flow.first))
    for flow in order[:FLOWS_MAX]:
        yield _flow(f"{direction}: {flow.flow}", direction, [flow], first)
    if rest := order[FLOWS_MAX:]:
        yield _flow(f"{direction}: {len(rest)} other flows", direction, rest, first)


def _flow(name: str, direction: str, flows: Sequence[pairs.Ends], first: float) -> Flow:
    times = np.concatenate([flow.first for flow in flows]) - first
    sizes = np.concatenate([flow.size for flow in flows])
    known = ~np.isnan(times)
    order = np.argsort(times[known], kind="stable")
    return Flow(name, direction, times[known][order], sizes[known][order])


def _direction(flow: str, mine: Sequence[Network]) -> str | None:
    """The direction of a flow: up from the user or down to the user; `None` between others."""
    source, _, target = flow.partition(" > ")
    is_from, is_to = (_is_in(end, mine) for end in (source, target))
    return None if is_from == is_to else "up" if is_from else "down"


def _is_in(end: str, mine: Sequence[Network]) -> bool:
    address = _address(end)
    return address is not None and any(address in network for network in mine)


def _address(end: str) -> IPv4Address | IPv6Address | None:
    """The address of an end, before its port."""
    try:
        return ip_address(end.split()[0])
    except (ValueError, IndexError):
        return None


def _hosts(flows: Iterable[pairs.Ends]) -> str:
    """The hosts with most packets."""
    count: dict[str, int] = {}
    for flow in flows:
        for end in flow.flow.split(" > "):
            if (address := _address(end)) is not None:
                count[str(address)] = count.get(str(address), 0) + len(flow.first)
    order = sorted(count, key=lambda host: -count[host])
    more = f" and {len(order) - HOSTS_SHOWN} more" if len(order) > HOSTS_SHOWN else ""
    return f"{', '.join(order[:HOSTS_SHOWN])}{more}" if order else "no address"
