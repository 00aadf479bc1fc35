"""The command line: the functions of api.py with the same names.

Standard output carries the result (with --json exactly one document), standard error progress and errors. What the exit
status means is in exit_status.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fairq import api, commands, signals, streams
from fairq._native import FairqError, UsageError, version
from fairq.exit_status import DONE, FAILED, FAULT, INTERRUPTED, NO_READER, REFUSED
from fairq.output import reason

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction["_Parser"]


WHOLE_DIGITS_MAX = 15
"""The most digits of a whole number."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    streams.prepare()
    try:
        with signals.heard():
            return _main(sys.argv[1:] if argv is None else argv)
    except signals.Ended as ended:
        streams.say(f"fairq: {ended}")
        return ended.status
    except KeyboardInterrupt:
        streams.say("fairq: interrupted")
        return INTERRUPTED
    except BaseException as error:
        if (cause := signals.behind(error)) is not None:
            streams.say(f"fairq: {cause}")
            return cause.status
        # a panic of the compiled part is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        import traceback

        streams.say(f"{traceback.format_exc()}fairq: this is a fault of fairq; report the lines above")
        return FAULT


def _main(argv: Sequence[str]) -> int:
    try:
        given = _joined(argv)
        for argument in given:
            if not _is_text(argument):
                return _fail(f"{argument!a} is not UTF-8; give the file another name, or write the value in UTF-8")
        try:
            arguments = parser(given[0] if given else None).parse_args(given)
        except SystemExit:
            # --help and --version
            sys.stdout.flush()
            raise
        status = DONE
        try:
            with streams.quiet(arguments.quiet), streams.told(given[0]):
                text = arguments.command(arguments)
        except commands.Broken as broken:
            text, status = broken.text, FAILED
        if isinstance(text, str):
            text = [text if not text or text.endswith("\n") else text + "\n"]
        sys.stdout.writelines(text)
        sys.stdout.flush()
    except FairqError as error:
        return _fail(" ".join(str(error).split("\n")))
    except BrokenPipeError:
        # the reader has gone (`fairq … | head`): nothing is left to say
        streams.discard(sys.stdout)
        return NO_READER
    except OSError as error:
        streams.discard(sys.stdout)
        return _fail(f"{error.filename or 'output'}: {reason(error)}")
    except MemoryError:
        return _fail("there is not enough memory; ask for less, or run where there is more")
    return status


def parser(name: str | None = None) -> argparse.ArgumentParser:
    """The options of the command called `name`, or of all if none is: that takes as long as Python's start."""
    root = _Parser(
        prog="fairq",
        description="A laboratory for fair queueing and congestion control.",
        epilog="Each command has an example: fairq run --help. An output folder is written whole or not at all.",
    )
    root.add_argument("--version", action="version", version=f"fairq {version()}")
    root.add_argument("--print-completion", action=_Completion, choices=SHELLS, metavar="SHELL",
                      help=f"print what completes fairq's commands and options in {', '.join(SHELLS)}")  # fmt: skip
    commands_of = root.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    for add in [COMMANDS[name]] if name in COMMANDS else COMMANDS.values():
        add(commands_of)
    return root


def _run(commands_of: _Commands) -> None:
    run = _command(commands_of, "run", commands.run, "run a scenario and print its tables",
                   "fairq run scenarios/dumbbell.toml --set defaults.buffer=40packets --out out/dumbbell",
                   "docs/reference/scenario.md has every field of a scenario, docs/guide/measured.md every column."
                   " --overlay predicts by max-min, Mathis, Padhye and PGPS. `fairq detect DIR` reads what"
                   " --packets FLOW --out DIR writes.")  # fmt: skip
    run.add_argument("scenario", metavar="SCENARIO.toml", help="the scenario file; - reads standard input")
    _set(run)
    _workers(run)
    run.add_argument("--series", metavar="TIME",
                     help="sample throughput and queues this often, as 100ms; auto takes 200 samples")  # fmt: skip
    run.add_argument("--packets", metavar="FLOW",
                     help="record when this flow's packets are sent and received (needs --out or --json)")  # fmt: skip
    run.add_argument("--states", action="store_true",
                     help="show what each discipline counts and keeps at the end, as tc -s does")  # fmt: skip
    run.add_argument("--plot", metavar="FILE", help="draw the samples over time (.svg, .png or .pdf)")
    run.add_argument("--overlay", action="store_true",
                     help="add predicted throughput and delay bounds, and the relative difference")  # fmt: skip
    _out(run, "write the tables (CSV and Parquet) and result.json into this folder")


def _reproduce(commands_of: _Commands) -> None:
    reproduce = _command(commands_of, "reproduce", commands.reproduce, "compare a paper's numbers with ours",
                         "fairq reproduce demers1990 --quick --out out/demers1990")  # fmt: skip
    reproduce.add_argument("paper", metavar="PAPER", nargs="?",
                           help="one that --list shows, or all (--out is then out/all if not said)")  # fmt: skip
    reproduce.add_argument("--list", action="store_true", help="list the papers")
    how_many = reproduce.add_mutually_exclusive_group()
    how_many.add_argument("--seeds", type=_count, metavar="N", help="seeds of each scenario (default: the paper's own)")
    how_many.add_argument("--quick", action="store_true",
                          help="use fewer seeds or scenarios: wider intervals, fewer cells decided")  # fmt: skip
    reproduce.add_argument("--start", choices=["together", "drawn"], default="together",
                           help="start as the scenario files say (default), or compare random starts")  # fmt: skip
    _workers(reproduce)
    _out(reproduce, "write the report, tables, figures and index.html into this folder")


def _replay(commands_of: _Commands) -> None:
    replay = _command(commands_of, "replay", commands.replay, "send a packet capture through a gateway",
                      "fairq replay web.pcap --rate 300kbit/s --buffer 40packets --discipline fifo,fq",
                      "--classifier defines the flows of all tables and of each discipline that names no classifier. A"
                      " class of htb (--under class) does not ask a discipline that holds no packet.")  # fmt: skip
    replay.add_argument("capture", metavar="CAPTURE", help="a pcap or pcapng file; - reads standard input")
    replay.add_argument("--rate", required=True, help="rate of the gateway's line, as 300kbit/s")
    replay.add_argument("--buffer", required=True, help="what may wait, as 40packets, 60kB or unlimited")
    replay.add_argument("--discipline", default=",".join(api.REPLAYED), metavar="LIST",
                        help=f"disciplines, one replay each (default {','.join(api.REPLAYED)})")  # fmt: skip
    replay.add_argument("--classifier", help="define a flow by pair, port_pair, source, destination or tos")
    replay.add_argument("--gap-max", default="10 s", metavar="TIME", help="cut longer idle gaps to this (default 10 s)")
    replay.add_argument("--no-fluid", dest="fluid", action="store_false",
                        help="skip the comparison with a fluid: faster, but no lateness")  # fmt: skip
    replay.add_argument("--under", choices=["device", "class"], default="device",
                        help="let the device (default) or a class of htb ask the disciplines for packets")  # fmt: skip
    replay.add_argument("--all", action="store_true", help="show all flows, not only those with most packets")
    _out(replay, "write packets.parquet and capture.pcapng of each discipline into this folder")


def _tc(commands_of: _Commands) -> None:
    tc = _command(commands_of, "tc", commands.tc,
                  "translate a queue to tc commands of Linux, or such commands to a queue",
                  "fairq tc 'fq_codel(target=3ms) + 1000packets' --dev eth1;"
                  " fairq tc --read 'qdisc add dev eth0 root fq_codel limit 1000 target 3ms'",
                  "Prints the nearest configuration, and what differs. --read takes qdisc, class and filter commands,"
                  " separated by semicolons; --read - takes a line each from standard input.")  # fmt: skip
    what = tc.add_mutually_exclusive_group(required=True)
    what.add_argument("queue", metavar="TEXT|SCENARIO", nargs="?",
                      help="a queue's text form, or a scenario file: print its tc commands")  # fmt: skip
    what.add_argument("--read", metavar="COMMANDS",
                      help="print the text form of these tc commands; - reads standard input")  # fmt: skip
    tc.add_argument("--dev", default="eth0", help="the device of the commands (default eth0)")


def _detect(commands_of: _Commands) -> None:
    detect = _command(commands_of, "detect", commands.detect,
                      "tell whether the bottleneck was fair, by packet times at both ends",
                      "fairq detect sent.pcap received.pcap --flow 10.0.0.1",
                      "In place of two captures it takes a folder of fairq run --packets, a folder of fairq replay for"
                      " one discipline, or a .csv table of sent_s, received_s, bytes.")  # fmt: skip
    detect.add_argument("sent", metavar="SENT",
                        help="the capture of the sending end; or, alone, a folder or a .csv table")  # fmt: skip
    detect.add_argument("received", metavar="RECEIVED", nargs="?", help="the capture of the receiving end")
    detect.add_argument("--flow", metavar="TEXT", help="judge only flows with this in their name")
    detect.add_argument("--all", action="store_true", help="show all flows, not only those with most packets")


def _topology(commands_of: _Commands) -> None:
    topology = _command(commands_of, "topology", commands.topology, "describe and draw a topology",
                        "fairq topology 'fat_tree(k=4)' --out map.svg",
                        "Reads GML, GraphML, BRITE, the output of tiers, an edge list in CSV, or a scenario (.toml,"
                        " .json).")  # fmt: skip
    topology.add_argument("file", metavar="WHAT",
                          help="a topology file, a scenario, or a shape by name, as 'fat_tree(k=4)'")  # fmt: skip
    topology.add_argument("--strict", action="store_true", help="refuse what is otherwise warned of")
    topology.add_argument("--default-rate", metavar="RATE",
                          help="the rate of links without one in the file (default 1 Gbit/s)")  # fmt: skip
    topology.add_argument("--default-delay", metavar="TIME",
                          help="the delay of links without delay or coordinates (default 1 ms)")  # fmt: skip
    topology.add_argument("--out", metavar="FILE", help="draw the topology into an SVG, PNG or PDF file")


def _audit(commands_of: _Commands) -> None:
    audit = _command(commands_of, "audit", commands.audit, "check a discipline's invariants and measure its bounds",
                     "fairq audit sfq --quick")  # fmt: skip
    audit.add_argument("discipline", metavar="DISCIPLINE",
                       help="a name of the registry, or parts as 'sfq + red'; see fairq list disciplines")  # fmt: skip
    how_many = audit.add_mutually_exclusive_group()
    how_many.add_argument("--seeds", type=_count, metavar="N", help="seeds of each kind of run (default 200)")
    how_many.add_argument("--quick", action="store_true", help="use 10 seeds of each kind of run")
    how_many.add_argument("--replay", metavar="RUN",
                          help="repeat one run of an audit, as returning:7, and show its packets")  # fmt: skip


def _list(commands_of: _Commands) -> None:
    listing = _command(commands_of, "list", commands.listing, "list what the registry holds",
                       "fairq list disciplines")  # fmt: skip
    listing.add_argument("what", choices=["disciplines", "transports", "traffic", "receivers", "topologies", "papers"])


def _explain(commands_of: _Commands) -> None:
    explain = _command(commands_of, "explain", commands.explain, "print the card of one entry of the registry",
                       "fairq explain fq")  # fmt: skip
    explain.add_argument("name", metavar="NAME")
    explain.add_argument("--scenes", action="store_true", help="drive a transport alone through named scenes"
                         " and print one line a round")  # fmt: skip
    explain.add_argument("--plot", metavar="FILE", help="draw the same scenes into FILE (.svg, .png or .pdf)")


def _schema(commands_of: _Commands) -> None:
    schema = _command(commands_of, "schema", commands.schema, "print a JSON Schema, for editors and checkers",
                      "fairq schema scenario > scenario.schema.json")  # fmt: skip
    schema.add_argument("name", metavar="NAME", nargs="?", choices=api.SCHEMAS, default="scenario",
                        help=f"what it is of: {', '.join(api.SCHEMAS)} (default scenario)")  # fmt: skip


def _bench(commands_of: _Commands) -> None:
    bench = _command(commands_of, "bench", commands.bench, "measure the speed of this machine",
                     "fairq bench --quick")  # fmt: skip
    _quick(bench)
    bench.add_argument("--row", dest="rows", action="append", default=[], metavar="NAME",
                       help="measure only this workload; may be repeated (default: all)")  # fmt: skip
    parts = bench.add_subparsers(metavar="WHAT", parser_class=_Parser)
    disciplines = _command(parts, "disciplines", commands.bench_disciplines,
                           "measure disciplines beside the least work of their kind",
                           "fairq bench disciplines drr fq --mixed", default=argparse.SUPPRESS)  # fmt: skip
    disciplines.add_argument("names", nargs="*", metavar="NAME",
                             help="schedulers, buffer policies (over fifo), designs (default: all)")  # fmt: skip
    disciplines.add_argument("--mixed", action="store_true",
                             help="use weights of 1 to 4 and packets of 64 to 1500 bytes, not equal ones")  # fmt: skip
    _quick(disciplines, default=argparse.SUPPRESS)


def _theory(commands_of: _Commands) -> None:
    """The commands of `fairq theory`."""
    from fairq import theory_commands

    theory = commands_of.add_parser("theory", help="compute what the papers derive",
                                    description="Compute what the papers derive.",
                                    epilog="example: fairq theory delay-curve --ftps 3 --delta 1")  # fmt: skip
    results = theory.add_subparsers(metavar="RESULT", required=True, parser_class=_Parser)

    bounds = _command(
        results,
        "delay-bounds",
        theory_commands.delay_bounds,
        "compute A(P), the mean extra delay of an isolated packet beside busy FTPs",
        "fairq theory delay-bounds --ftps 3 --telnet-packet 40B --ftp-packet 1000B --rate 56kbit/s",
    )
    _ftps(bounds)
    _sizes(bounds)
    bounds.add_argument("--delta", default="0 B", metavar="SIZE", help="the promptness δ (default 0 B)")
    bounds.add_argument("--rate", metavar="RATE", help="show the delays in seconds too, on a line of this rate")

    general = _command(
        results,
        "delay",
        theory_commands.delay_general,
        "compute D_N(P), the mean delay of a Poisson source by the general relation",
        "fairq theory delay --ftps 3 --telnet-packet 40B --ftp-packet 1000B --rho 0.5 --delta 1kB",
    )
    _ftps(general)
    _sizes(general)
    general.add_argument("--delta", default="0 B", metavar="SIZE", help="the promptness δ (default 0 B)")
    general.add_argument("--rho", type=_numbers, default=[0.1, 0.5, 0.9], metavar="LIST",
                         help="shares of the fair share, below 1 (default 0.1,0.5,0.9)")  # fmt: skip
    general.add_argument("--rate", metavar="RATE", help="show the delays in seconds too, on a line of this rate")

    curve = _command(results, "delay-curve", theory_commands.delay_curve,
                     "compute the delay-throughput curve of one Poisson source (figure 1)",
                     "fairq theory delay-curve --ftps 3 --delta 1 --plot curve.svg")  # fmt: skip
    _ftps(curve)
    curve.add_argument("--delta", type=_number, default=0.0, metavar="X", help="δ in packets (default 0)")
    curve.add_argument(
        "--window", type=_count, default=5, metavar="W", help="window of the FTPs under FCFS (default 5)"
    )
    curve.add_argument("--rho", type=_numbers, default=[0.01, *(tenths / 10 for tenths in range(1, 10))],
                       metavar="LIST", help="shares of the fair share (default 0.01,0.1,…,0.9)")  # fmt: skip
    curve.add_argument("--plot", metavar="FILE", help="draw the curves into an SVG, PNG or PDF file")

    shares = _command(results, "max-min", theory_commands.max_min,
                      "compute the max-min fair shares of a scenario's flows",
                      "fairq theory max-min papers/demers1990/scenario5.toml")  # fmt: skip
    shares.add_argument("scenario", metavar="SCENARIO.toml", help="the scenario file; - reads standard input")
    _set(shares)

    _formulas(results)


def _formulas(results: _Commands) -> None:
    """The commands of `fairq theory` that go by no scenario and no paper of fairq's."""
    from fairq import theory_commands

    pgps = _command(
        results,
        "pgps",
        theory_commands.pgps,
        "bound the delay of a limited burst over weighted fair queues (PGPS)",
        "fairq theory pgps --burst 1250B --packet 125B --share 100kbit/s --lines 1Mbit/s,1Mbit/s,1Mbit/s,1Mbit/s",
    )
    pgps.add_argument("--burst", required=True, metavar="SIZE", help="what the flow may send at once")
    pgps.add_argument("--packet", required=True, metavar="SIZE", help="its longest packet")
    pgps.add_argument("--share", required=True, metavar="RATE[,…]", help="what it is guaranteed, of all lines or each")
    pgps.add_argument("--lines", required=True, metavar="RATE[,…]", help="the lines of its path, as 1Mbit/s,10Mbit/s")
    pgps.add_argument("--largest", metavar="SIZE", help="the longest packet on the lines (default --packet)")
    pgps.add_argument("--rate", metavar="RATE", help="what it sends in the long run (default its least share)")
    pgps.add_argument("--propagation", default="0 s", metavar="TIME", help="the delay of all lines together (0 s)")

    tcp = _command(results, "tcp", theory_commands.tcp,
                   "compute TCP's rate at a loss and a round trip (Mathis, Padhye)",
                   "fairq theory tcp --rtt 100ms --loss 0.001,0.01 --packet 1000B --timeout 1s")  # fmt: skip
    tcp.add_argument("--rtt", required=True, metavar="TIME", help="the round trip, queueing included")
    tcp.add_argument("--loss", required=True, type=_numbers, metavar="LIST", help="the part of packets that is lost")
    tcp.add_argument("--packet", default="1000 B", metavar="SIZE", help="a packet (default 1000 B)")
    tcp.add_argument("--timeout", default="1 s", metavar="TIME", help="the first retransmission timeout (default 1 s)")
    tcp.add_argument("--acknowledged", type=_count, default=1, metavar="B",
                     help="packets that an acknowledgement covers (default 1; 2 if they are delayed)")  # fmt: skip
    tcp.add_argument("--window", type=_count, metavar="N", help="the receive window in packets (default: no limit)")

    sharing = _command(
        results,
        "sharing",
        theory_commands.sharing,
        "compute how many transfers share a line, and their times (M/G/1-PS)",
        "fairq theory sharing --load 0.8,0.9 --more-than 100 --rate 50Mbit/s --size 1MB",
    )
    sharing.add_argument("--load", required=True, type=_numbers, metavar="LIST", help="the line's load, below 1")
    sharing.add_argument("--more-than", type=_whole, default=100, metavar="N", help="show P(N > this) (default 100)")
    sharing.add_argument("--probability", type=_number, default=1e-3, metavar="P",
                         help="show the least n with P(N > n) at most this (default 0.001)")  # fmt: skip
    sharing.add_argument("--rate", default="1 Mbit/s", metavar="RATE", help="the line's rate (default 1 Mbit/s)")
    sharing.add_argument("--size", default="1 MB", metavar="SIZE", help="a transfer, for its time (default 1 MB)")
    sharing.add_argument("--peak", metavar="RATE", help="what a transfer uses at most (default: the whole line)")
    sharing.add_argument("--distribution", type=_whole, metavar="N", help="show P(N = n) up to this n")


COMMANDS: dict[str, Callable[[_Commands], None]] = {
    "run": _run,
    "reproduce": _reproduce,
    "replay": _replay,
    "detect": _detect,
    "tc": _tc,
    "topology": _topology,
    "audit": _audit,
    "list": _list,
    "explain": _explain,
    "schema": _schema,
    "theory": _theory,
    "bench": _bench,
}
"""What adds each command, in the order of `fairq --help`."""


FIELDS = {
    "--seed": "measure.seed",
    "--seeds": "measure.replications",
    "--replications": "measure.replications",
    "--duration": "measure.duration",
    "--time": "measure.duration",
    "--warm-up": "measure.warm_up",
    "--queue": "defaults.queue",
    "--discipline": "defaults.queue",
    "--qdisc": "defaults.queue",
    "--buffer": "defaults.buffer",
    "--limit": "defaults.buffer",
    "--transport": "defaults.transport",
    "--rate": "links[0].rate",
    "--delay": "links[0].delay",
}
"""Options that a command with --set does not have, and the field of a scenario for each."""


class _Parser(argparse.ArgumentParser):
    """Errors are one line and exit status 2, like all others; they name what was meant, where that can be known."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As it is there, but a command itself refuses what it does not know: the line names that command."""
        given = list(sys.argv[1:] if args is None else args)
        known, unknown = super().parse_known_args(given, namespace)
        if unknown:
            self._refuse(unknown, given)
        return known, unknown

    def _refuse(self, unknown: Sequence[str], given: Sequence[str]) -> NoReturn:
        option = next((word for word in unknown if word.startswith("-") and word != "-"), None)
        if option is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        name, _, value = option.partition("=")
        behind = given.index(option) + 1 if option in given else len(given)
        value = value or next(iter(given[behind:]), "")
        self.error(f"there is no option {name} here{self._meant(name, '…' if value.startswith('-') else value or '…')}")

    def _meant(self, name: str, value: str) -> str:
        """What to write in place of an option that this command does not have."""
        name = name.replace("_", "-")
        own = [option for option in self._option_string_actions if option.startswith("--")]
        if "--set" in own and name in FIELDS:
            return f"; write --set {FIELDS[name]}={value}"
        if not name.startswith("--"):
            return ""
        from fairq.near import near_miss

        near = near_miss(name, own)
        if "did you mean" in near:
            return near
        others = [command for command in COMMANDS if name in _options_of(command)]
        return f"; {' and '.join(f'fairq {command}' for command in others)} has it" if others else near

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As it is there, with the near miss."""
        if action.choices is not None and value not in action.choices:
            from fairq.near import near_miss

            raise argparse.ArgumentError(action, f"{value!r} is not known{near_miss(str(value), action.choices)}")


SHELLS = ("bash", "zsh", "tcsh")
"""The shells that can complete."""


class _Completion(argparse.Action):
    """Prints a shell's completion of all commands, and ends, as --help does."""

    def __call__(self, root: argparse.ArgumentParser, _namespace: Any, shell: Any, _option: Any = None) -> NoReturn:
        from fairq.completion import completion

        sys.stdout.write(completion(root, shell))
        root.exit()


def _options_of(command: str) -> list[str]:
    """The options of a command, those of its own commands left out."""
    root = _Parser()
    commands_of = root.add_subparsers(parser_class=_Parser)
    COMMANDS[command](commands_of)
    return list(commands_of.choices[command]._option_string_actions)


def _joined(arguments: Sequence[str]) -> list[str]:
    """Arguments with a negative number made part of its option, so that the option and not its absence is refused."""
    joined: list[str] = []
    for argument in arguments:
        negative = argument.startswith("-") and argument[1:].lstrip(".")[:1].isdigit()
        if negative and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _command(
    commands_of: _Commands,
    name: str, function: commands.Command, summary: str, example: str, more: str = "", default: bool | str = False,
) -> argparse.ArgumentParser:  # fmt: skip
    """Add a command: what it does (imperative, under 80 characters), an example, and what else its help should say.

    `default` is that of --json, SUPPRESS for a command inside one that has it: both places count.
    """
    description = f"{summary[0].upper()}{summary[1:]}. {more}".rstrip()
    command = commands_of.add_parser(name, help=summary, description=description, epilog=f"example: {example}")
    command.set_defaults(command=function)
    command.add_argument(
        "--json", action="store_true", default=default, help="print one JSON document and nothing else"
    )
    command.add_argument(
        "--quiet", action="store_true", default=default, help="print results and errors: no progress, no notes"
    )
    return command


def _quick(command: argparse.ArgumentParser, default: bool | str = False) -> None:
    command.add_argument("--quick", action="store_true", default=default, help="use short runs, too short to quote")


def _set(command: argparse.ArgumentParser) -> None:
    command.add_argument("--set", action="append", default=[], type=_assignment, metavar="PATH=VALUE",
                         help="change a field of the scenario, as defaults.queue=fq; may be repeated")  # fmt: skip


def _workers(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workers", type=_count, metavar="N", help="threads (default: all cores); same results")


def _out(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--out", type=_folder, metavar="DIR", help=what)
    command.add_argument("--replace", action="store_true",
                         help="let --out replace the result of another scenario, or of other settings")  # fmt: skip


def _ftps(command: argparse.ArgumentParser) -> None:
    command.add_argument("--ftps", type=_count, default=3, metavar="N", help="FTPs, always backlogged (default 3)")


def _sizes(command: argparse.ArgumentParser) -> None:
    command.add_argument("--telnet-packet", default="40 B", metavar="SIZE", help="P_T (default 40 B)")
    command.add_argument("--ftp-packet", default="1000 B", metavar="SIZE", help="P_F (default 1000 B)")


def _assignment(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not PATH=VALUE, as in defaults.queue=fq")
    return path.strip(), value.strip()


def _folder(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; give that of a folder")
    return text


def _count(text: str) -> int:
    count = _whole(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return count


def _whole(text: str) -> int:
    if text.startswith("-") and text[1:].isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be negative")
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    if len(text) > WHOLE_DIGITS_MAX:
        raise argparse.ArgumentTypeError(f"a number of {len(text)} digits is too great")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / 100 if text.strip().endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _numbers(text: str) -> list[float]:
    return [_number(part) for part in text.split(",")]


def _is_text(argument: str) -> bool:
    """Whether an argument came as UTF-8: other bytes stand in it as halves of pairs, which nothing can print."""
    return not any("\ud800" <= letter <= "\udfff" for letter in argument)


def _fail(message: str) -> int:
    streams.say(f"fairq: {message}")
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
