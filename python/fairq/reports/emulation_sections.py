"""What a report says of an emulation: whether it may be believed, its machine, and what is beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairq.core import tables
from fairq.emulation.emulation_results import compared
from fairq.reports.page_parts import Shown, csv_file
from fairq.reports.sections import Item, Pictured, Section, Thin, table_of

LATE = {"p50_s": "50 %", "p90_s": "90 %", "p99_s": "99 %", "p99_9_s": "99.9 %", "max_s": "all"}
"""The parts of the packets, by the columns that say how late they were at most."""

HOST = ("host", "control", "ecn", "offloads", "initcwnd", "qdisc")
"""The columns of the table of hosts."""

EFFORT = ("cpu_share", "cpu_us_per_packet", "packets", "reads", "writes", "wakeups", "late_wakeups", "lost_before",
          "lost_behind", "behind_share", "packet_time_s")  # fmt: skip
"""What is shown of the gateway's work."""

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
        f" A run is valid if 99.9 % of its packets are late by at most the time of one, here"
        f" {tables.value('packet_time_s', emulation['gateway']['packet_time_s'])}, and no packet was lost outside"
        " the queues that were asked for.",
        [*_lateness(page, emulation["lateness"], thin), *_effort(page, emulation, thin)],
    )
    yield Section("machine", "The machine", "", list(_machine(page, emulation["machine"], thin)))
    if emulation.get("beside"):
        rows = [dict(row) for row in emulation["beside"]]
        text = "The same network, simulated with hosts like Linux's; the difference is a part of what was simulated."
        table = _as_read([compared(row) for row in rows], rows, BESIDE, "Emulated and simulated", "beside", thin)
        yield Section("beside", "Beside the simulated network", text, [Item("Emulated and simulated", "", table)])


def _lateness(page: Pictured, lateness: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    rows = [{"of_packets": part, "late_s": lateness[name]} for name, part in LATE.items() if lateness[name] is not None]
    if not rows:
        return
    caption = f"How late packets were at most, of {lateness['count']}"
    yield Item("Lateness", "", table_of(page.base, rows, ["of_packets", "late_s"], caption, "lateness", thin,
                                        ["of_packets", "late_s"]))  # fmt: skip
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


def _effort(page: Pictured, emulation: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    known = {**emulation["gateway"], **{f"refused_{name}": count for name, count in emulation["refused"].items()}}
    names = [name for name in (*EFFORT, *(name for name in known if name.startswith("refused_"))) if name in known]
    cells = [{"quantity": tables.words(name)[0], "value": tables.value(name, known[name])} for name in names]
    rows = [{"quantity": name, "value": known[name]} for name in names]
    table = _as_read(cells, rows, ("quantity", "value"), "What the gateway did and used", "gateway", thin)
    yield Item("The gateway", "", table)


def _machine(page: Pictured, machine: Mapping[str, Any], thin: Thin) -> Iterator[Item]:
    facts = [
        {"fact": name.replace("_", " "), "value": tables.shown(value)}
        for name, value in machine.items() if not isinstance(value, list | dict)
    ]  # fmt: skip
    yield Item("Kernel and devices", "", _as_read(facts, facts, ("fact", "value"), "Kernel and devices", "machine",
                                                  thin))  # fmt: skip
    rows = [
        {**host, "host": host.get("name"), "offloads": ", ".join(host.get("offloads", ())) or None}
        for host in machine.get("hosts", ())
    ]
    if rows:
        table = table_of(page.base, rows, HOST, "Hosts", "hosts", thin, HOST)
        yield Item("Hosts", "", table)


def _as_read(
    cells: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], columns: Sequence[str], caption: str,
    name: str, thin: Thin,
) -> Shown:  # fmt: skip
    """A table whose rows have each a unit of its own: `cells` are what is read, `rows` go into its file."""
    shown = [[tables.shown(row[column]) for column in columns] for row in cells[: thin.linked]]
    file = csv_file(caption, f"{name}.csv", rows[: thin.linked], columns)
    left = f"the first {len(shown)} of {len(cells)} rows are shown" if len(shown) < len(cells) else ""
    return Shown(caption, [tables.heading(column) for column in columns], [("", shown)], file, left)
