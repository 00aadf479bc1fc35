"""What a report says of an emulation: whether it may be believed, its machine, what is beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairq.core import tables
from fairq.reports.page_parts import Shown, csv_file
from fairq.reports.sections import Item, Pictured, Section, Thin, table_of

LATE = {"p50_s": "50 %", "p90_s": "90 %", "p99_s": "99 %", "p99_9_s": "99.9 %", "max_s": "the latest"}
"""The parts of the packets, by the columns that say how late they were at most."""

HOST = {"name": "host", "control": "congestion control", "ecn": "asks for ECN", "offloads": "offloads",
        "initcwnd": "packets of the first window", "qdisc": "qdisc"}  # fmt: skip
"""Facts of a host, in words."""

EFFORT = {
    "packets": "packets given to hosts",
    "reads": "reads of packets",
    "writes": "writes of packets",
    "wakeups": "wake-ups",
    "late_wakeups": "wake-ups later than the time of a packet",
    "lost_before": "packets lost before the gateway read them",
    "lost_behind": "packets for which a host had no room",
}
"""Counts of the gateway, in words."""

REFUSED = {
    "not_ip": "refused: no IP, or headers that cannot be read",
    "no_route": "refused: for no host of the network",
    "no_room": "refused: no memory for more on the way",
}
"""Packets that no line took, in words."""

MACHINE = {"kernel": "kernel", "back_end": "back end", "user_namespace": "user namespace", "mtu": "MTU",
           "txqueuelen": "packets that a device holds"}  # fmt: skip
"""Facts of the machine, in words."""

BESIDE = ("of", "quantity", "emulated", "simulated", "difference")


def said(emulation: Mapping[str, Any]) -> str:
    """The stamp in words, and how the run was made."""
    stamp, machine = emulation["stamp"], emulation["machine"]
    verdict = stamp["verdict"]
    whole = "Valid: nothing speaks against this run." if stamp["is_valid"] else f"{verdict[:1].upper()}{verdict[1:]}."
    device = f", back end {machine['back_end']}" if machine.get("back_end") else ""
    elapsed = tables.value("elapsed_s", emulation["elapsed_s"])
    return f"{whole} An emulation of {elapsed} with real packets and real hosts, in {stamp['mode']} mode{device}."


def is_doubtful(emulation: Mapping[str, Any] | None) -> bool:
    """Whether something speaks against the run."""
    return emulation is not None and not emulation["stamp"]["is_valid"]


def commands(emulation: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The commands that ran, by their hosts."""
    if emulation is None:
        return []
    return [(f"in {each['host']}", each["command"]) for each in emulation.get("commands", ())]


def sections(page: Pictured, emulation: Mapping[str, Any], thin: Thin) -> Iterator[Section]:
    """Whether it may be believed, on what machine it was, and how far it is from the simulation."""
    yield Section(
        "stamp",
        "May it be believed?",
        "A packet is late by the time at which it was given to its host, less the time at which its line meant to."
        " A run is valid if 99.9 % of its packets are late by at most the time of a packet on its slowest line, here"
        f" {tables.value('packet_time_s', emulation['gateway']['packet_time_s'])}, if departures were overdue by more"
        " than that in at most 1 % of the run, and if no packet was lost outside the queues that were asked for.",
        [*_lateness(page, emulation["lateness"], thin), *_effort(emulation, thin)],
    )
    yield Section("machine", "The machine", "", list(_machine(emulation["machine"], thin)))
    if emulation.get("beside"):
        rows = [dict(row) for row in emulation["beside"]]
        text = "The same network, simulated with hosts like Linux's; the difference is a part of what was simulated."
        table = _as_read(
            [tables.compared(row) for row in rows], BESIDE, rows, BESIDE, "Emulated and simulated", "beside", thin
        )
        yield Section("beside", "Beside the simulated network", text, [Item("Emulated and simulated", "", table)])


def _lateness(page: Pictured, lateness: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    """How late packets were: percentiles, and a histogram."""
    rows = [{"packets": part, "late_s": lateness[name]} for name, part in LATE.items() if lateness[name] is not None]
    if not rows:
        return
    cells = [{**row, "late at most": tables.value("late_s", row["late_s"])} for row in rows]
    caption = f"{lateness['count']} packets"
    table = _as_read(cells, ["packets", "late at most"], rows, ["packets", "late_s"], caption, "lateness", thin)
    yield Item("Lateness", "", table)
    counted = _histogram(lateness)
    if not counted:
        return
    from fairq import figures

    def plot(style: Any) -> Any:
        return figures.bars(counted, ["packets_percent"], ["late"], None, "", style=style)

    most = max(counted, key=lambda row: row["packets"])
    title = "Histogram of lateness"
    yield Item(
        title,
        "Packets by how late they were: a bar has those that are later than the bar above it says",
        table_of(page.base, counted, ["late", "packets", "packets_percent"], title, "lateness-histogram", thin,
                 ["late_s", "packets", "packets_percent"]),
        page.picture(plot, "h", f"{most['packets_percent']:.0f} % of the packets are late by {most['late']}; the"
                     " table below has all", thin),
    )  # fmt: skip


def _histogram(lateness: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The bars from the first one with packets to the last one."""
    bars = [(end, count) for end, count in lateness["histogram"]]
    taken = [at for at, (_, count) in enumerate(bars) if count]
    if not taken:
        return []
    total = sum(count for _, count in bars)
    return [
        {"late": f"at most {tables.value('late_s', end)}", "late_s": end, "packets": count,
         "packets_percent": 100 * count / total}
        for end, count in bars[taken[0] : taken[-1] + 1]
    ]  # fmt: skip


def _effort(emulation: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    """What the gateway did, and what it took."""
    did, refused = emulation["gateway"], emulation["refused"]
    cells = {
        "processor": f"{100 * did['cpu_share']:.3g} % of a core",
        "processor time of a packet": f"{did['cpu_us_per_packet']:.3g} µs",
        "departures overdue by more than the time of a packet": f"{100 * did['behind_share']:.3g} % of the run",
        **{words: tables.shown(did[name]) for name, words in EFFORT.items() if name in did},
        **{words: tables.shown(refused[name]) for name, words in REFUSED.items() if name in refused},
    }
    rows = [{"quantity": name, "value": value} for name, value in did.items()]
    rows += [{"quantity": f"refused_{name}", "value": value} for name, value in refused.items()]
    shown = [{"quantity": words, "value": value} for words, value in cells.items()]
    columns = ["quantity", "value"]
    table = _as_read(shown, columns, rows, columns, "What the gateway did and took", "gateway", thin)
    yield Item("The gateway", "", table)


def _machine(machine: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    """What the machine is, and how each host was made."""
    facts = {MACHINE.get(name, name): value for name, value in machine.items() if not isinstance(value, list | dict)}
    rows: list[dict[str, Any]] = [{"fact": name, "value": tables.shown(value)} for name, value in facts.items()]
    for row in rows:
        row["value"] += " B" if row["fact"] == MACHINE["mtu"] else ""
    columns = ["fact", "value"]
    table = _as_read(rows, columns, rows, columns, "Kernel and devices", "machine", thin)
    yield Item("Kernel and devices", "", table)
    hosts = [{**host, "offloads": ", ".join(host.get("offloads", ())) or None} for host in machine.get("hosts", ())]
    if hosts:
        cells = [{words: host.get(name) for name, words in HOST.items()} for host in hosts]
        table = _as_read(cells, list(HOST.values()), hosts, list(HOST), "Hosts", "hosts", thin)
        yield Item("Hosts", "", table)


def _as_read(
    cells: Sequence[Mapping[str, Any]], heads: Sequence[str], rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str], caption: str, name: str, thin: Thin,
) -> Shown:  # fmt: skip
    """A table of rows with a unit each: `cells` are what is read, `rows` go into its file."""
    shown = [[tables.shown(row[head]) for head in heads] for row in cells[: thin.shown]]
    file = csv_file(caption, f"{name}.csv", rows[: thin.linked], columns)
    left = f"The first {len(shown)} of {len(cells)} rows are shown" if len(shown) < len(cells) else ""
    return Shown(caption, list(heads), [("", shown)], file, left)
