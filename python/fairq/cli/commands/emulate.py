"""`fairq emulate`: real programs over a line with any queue, and what became of their packets."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairq.cli.commands import Broken
from fairq.cli.commands.run import write_result
from fairq.cli.options import DRY_RUN, LOOKS, SCENARIO, SET, out
from fairq.cli.printing import as_json, columns, look, paragraphs, save_text, sections, tell
from fairq.cli.watching import Watching
from fairq.core import streams, tables
from fairq.core.declared import Spec, argument, options, picked, switch, typed_only
from fairq.core.output import check, check_file, folder
from fairq.emulation import emulated
from fairq.emulation import wish as wishes
from fairq.emulation.emulation_results import Emulated
from fairq.emulation.wish import Emulation

SPEC = Spec(
    "emulate",
    "fairq emulate --rate 20Mbit/s --rtt 80ms --queue fq_codel --right 'iperf3 -s -1' -- iperf3 -c right",
    (
        argument("network", "a scenario, whose nodes at ends of flows are hosts", "SCENARIO.toml", "Scenario",
                 nargs="?"),
        SET,
        *options(Emulation),
        switch("beside", "simulate the same network as well, and print both"),
        *typed_only(switch("watch", "show queues, rates and delays in the terminal while it runs")),
        SCENARIO,
        *LOOKS,
        DRY_RUN._replace(help="say what would be made, and end"),
        *typed_only(*out("write the tables (CSV and Parquet) and result.json into this folder")),
    ),
    "COMMAND stands behind --, and runs in the host left; without one, and without flows, a shell does. Its exit"
    " status is the command's. Standard output is then the command's alone: tables go to standard error, and with"
    " --json what the command says does. Nothing reaches the Internet. `fairq doctor` says what this machine can.",
    functions=("emulate",),
    beside=("command", "watch"),
    command="runs at the terminal",
)  # fmt: skip


SHOWN = {
    "flows": ("flow", "transport", "throughput_bit_per_s", "share", "queueing_s_mean", "queueing_s_p99",
              "rtt_s_mean", "retransmitted", "dropped", "lost", "marked"),
    "queues": ("link", "direction", "discipline", "limit", "utilisation", "waiting_packets_mean",
               "waiting_packets_max", "dropped", "marked", "jain"),
}  # fmt: skip
"""The columns on a screen; --wide, --json and --out have all."""

MINOR = {"flows": ("marked", "lost", "rtt_s_mean", "transport"), "queues": ("limit", "marked", "waiting_packets_max")}
"""The columns that go first where a screen is too narrow."""

ROWS_SHOWN = 30
"""The most flows on a screen, those with most packets, and the most queues, the busiest."""


def emulate(arguments: Namespace) -> str:
    """`fairq emulate`."""
    if arguments.scenario:
        check_file(arguments.scenario)
    asked = ask(arguments)
    described = emulated.describe(asked)
    work = {"job": asked.job(described)}
    if arguments.out:
        check(arguments.out, of=work, replace=arguments.replace)
    if arguments.scenario:
        save_text(asked.text, arguments.scenario)
    if arguments.dry_run:
        if arguments.json:
            return as_json(emulated.planned(described), "emulate-plan")
        return paragraphs(made(described, asked, arguments), arguments, arguments.scenario)
    with Watching(arguments.watch) as watch:
        result = emulated.emulate(
            asked, is_beside=arguments.beside, watch=watch, described=described,
            output=streams.error_descriptor() if arguments.json else None,
        )  # fmt: skip
    if arguments.out:
        with folder(arguments.out, wrote="fairq emulate", of=work, replace=arguments.replace) as inside:
            write_result(inside, result)
    places = (arguments.out, arguments.scenario, arguments.capture)
    return ended(result, arguments, shown(result, arguments), *places)


def ask(arguments: Namespace) -> Emulation:
    """What was asked for."""
    given = picked(Emulation, vars(arguments))
    return wishes.ask(
        arguments.network, set=arguments.set, command=arguments.behind or None, has_shell=True, **given
    )  # fmt: skip


def ended(result: Emulated, arguments: Namespace, parts: Iterable[str] | None, *places: str | None) -> str:
    """What goes to standard output in the end; `Broken` where the command's status is not zero.

    With a command, standard output is the command's, and the `parts` of ours go to standard error.
    """
    tell(result.notes)
    text = ""
    if arguments.json:
        text = as_json(result.document, "result")
    elif parts is not None:
        said = paragraphs(parts, arguments, *places)
        if not result.emulation["commands"]:
            text = said
        elif not arguments.quiet:
            streams.say(said)
    if result.status:
        raise Broken(text, result.status)
    return text


def shown(result: Emulated, arguments: Namespace) -> Iterator[str]:
    """The tables, and whether they may be believed."""
    flows = sorted(result.flows, key=lambda row: -row["throughput_packets"])[:ROWS_SHOWN]
    busiest = sorted(result.queues, key=lambda row: -(row["utilisation"] or 0.0))[:ROWS_SHOWN]
    queues = list(result.queues) if len(result.queues) <= ROWS_SHOWN else busiest
    rows: Mapping[str, Any] = {"flows": flows, "queues": queues}
    kept = {"flows": ("throughput_bit_per_s",), "queues": ()}
    yield sections({
        name: tables.text(each, columns(each, SHOWN[name], arguments), minor=MINOR[name], keep=kept[name],
                          **look(arguments))
        for name, each in rows.items() if each
    })  # fmt: skip
    if left := len(result.flows) - len(flows) + len(result.queues) - len(queues):
        yield f"and {left} flows and queues with fewer packets; --json and --out have all"
    if len(result.beside):
        names = ("of", "quantity", "emulated", "simulated", "difference")
        compared = result.beside.plain() if arguments.si else [tables.compared(row) for row in result.beside]
        yield f"beside the simulated network\n{tables.text(compared, names, keep=names, **look(arguments))}"
    yield tables.prose(_stamp(result))


def _stamp(result: Emulated) -> str:
    """The line that says whether the run may be believed."""
    said, machine = result.emulation, result.emulation["machine"]
    late, mode = said["lateness"]["p99_9_s"], said["stamp"]["mode"]
    how = (
        [f"Linux {machine['kernel']} in each host"]
        if mode == "virtual"
        else [f"{mode} mode", str(machine.get("back_end", ""))]
    )
    how += [] if late is None else [f"99.9 % of packets at most {tables.value('x_s', late)} late"]
    how += [f"{100 * said['gateway']['cpu_share']:.0f} % of a core"] if mode != "virtual" else []
    return f"Emulation {result.stamp}. {', '.join(filter(None, how))}."


def made(described: Mapping[str, Any], asked: Emulation, arguments: Namespace) -> Iterator[str]:
    """What would be made, as tables."""
    hosts = [
        {"host": each["host"], "addresses": " ".join(each["addresses"]), "control": each["control"] or "cubic"}
        for each in described["hosts"]
    ]
    lines = [each for each in described["lines"] if not each["is_access"]]
    commands = [
        {"host": each["host"], "command": each["command"], "until": "its end ends the run" if each["ends_run"] else
         "the run ends"} for each in described["commands"]
    ]  # fmt: skip
    end = described["ends_s"]
    parts = {
        "hosts": tables.text(hosts, keep=("host", "addresses", "control"), **look(arguments)),
        "lines": tables.text(lines, columns(lines, LINES, arguments), keep=LINES[:2], **look(arguments)),
        "flows": tables.text(described["flows"], columns(described["flows"], FLOWS, arguments), **look(arguments))
        if described["flows"] else "",
        "commands": tables.text(commands, keep=("host", "command"), **look(arguments)) if commands else "",
    }  # fmt: skip
    yield sections(parts)
    how = f"Back end: {asked.device}; mode: {asked.mode}; "
    yield (how if asked.host_kernel is None else "Hosts are kernels in virtual time; ") + (
        "it ends with its command." if end is None else f"it ends after {tables.value('x_s', end)}."
    )


LINES = ("link", "direction", "from", "to", "rate_bit_per_s", "delay_s", "discipline_settings", "limit", "loss",
         "jitter_s", "reorder")  # fmt: skip
FLOWS = ("flow", "from", "to", "protocol", "control", "bytes", "packet_bytes", "start_s", "stop_s")
"""The columns of `--dry-run`."""
