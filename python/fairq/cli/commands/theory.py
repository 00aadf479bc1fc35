"""`fairq theory`: what the papers derive."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from fairq import api, plots
from fairq.cli.commands import SUMMARIES, Command
from fairq.cli.options import FILE, LOOKS, SET, Commands, Parser, declare, plot
from fairq.cli.printing import as_json, look, pairs, picture, save, style, written
from fairq.core import tables
from fairq.core.declared import Option, Spec, options
from fairq.core.rows import Table, plain
from fairq.theories.formulas import WORDS
from fairq.theories.theory_results import Delay, DelayBounds, DelayCurve, Pgps, Sharing, TcpRate

Shown = Callable[[Any, Namespace], str]
"""What a command prints of its result."""


def add(commands_of: Commands) -> None:
    """Add the command, and those inside it."""
    group = commands_of.add_parser("theory", help=SUMMARIES["theory"],
                                   description="Compute what the papers derive.",
                                   epilog="example: fairq theory delay-curve --ftps 3 --delta 1")  # fmt: skip
    results = group.add_subparsers(metavar="RESULT", required=True, parser_class=Parser)
    for spec, shown in RESULTS:
        declare(results, spec, _command(spec, shown))


def _command(spec: Spec, shown: Shown) -> Command:
    result = spec.name.removeprefix("theory ")

    def command(arguments: Namespace) -> str:
        found = api.theory(result, **spec.words(vars(arguments)))
        if isinstance(found, DelayCurve) and arguments.plot:
            _plot(found, arguments)
        return as_json(plain(found), f"theory-{result}") if arguments.json else shown(found, arguments)

    return command


def _explained(rows: Table[Any], meant: str, arguments: Namespace) -> str:
    """A table, and below it what its columns mean."""
    return f"{tables.text(rows, **look(arguments))}\n\n{tables.prose(meant)}"


def delay_bounds(found: DelayBounds, arguments: Namespace) -> str:
    """What `fairq theory delay-bounds` prints."""
    meant = "low: FTPs evenly staggered; high: FTPs in step. Own transmission is not counted."
    return _explained(found.rows, meant, arguments)


def delay(found: Delay, arguments: Namespace) -> str:
    """What `fairq theory delay` prints."""
    short = found.telnet_packet_bytes < found.ftp_packet_bytes
    remark = " The relation is derived for P_T >= P_F where the form is non-preemptive." if short else ""
    return _explained(found.rows, f"share: of the fair share. low and high: with A(P)'s bounds.{remark}", arguments)


CURVE = """\
Queueing delay in packet times. fq has the factor N+1 in its first term that the general relation demands and the
simulation confirms; the printed formula lacks it. share: of the fair share."""
"""What the columns of `fairq theory delay-curve` mean."""


def delay_curve(found: DelayCurve, arguments: Namespace) -> str:
    """What `fairq theory delay-curve` prints."""
    return f"{_explained(found.rows, CURVE, arguments)}{written(arguments, arguments.plot)}"


def _plot(found: DelayCurve, arguments: Namespace) -> None:
    drawing = picture(arguments.plot)
    save(plots.of_delay_curve(found, style(arguments)), drawing)


UNSHARED = """\
share -: the flow meets no limit, or transfers or sessions come and go: how many share is known only after a run."""
"""Why a flow has no max-min share."""


def max_min(shares: Table[Any], arguments: Namespace) -> str:
    """What `fairq theory max-min` prints."""
    text = tables.text(shares, keep=["share_bit_per_s"], **look(arguments))
    is_unshared = any(row.share_bit_per_s is None for row in shares)
    return f"{text}\n\n{tables.prose(UNSHARED)}" if is_unshared else text


def pgps(found: Pgps, arguments: Namespace) -> str:
    """What `fairq theory pgps` prints."""
    total = {name: value for name, value in found.document.items() if name != "hops"}
    return f"{tables.text(found.hops, keep=['latency_s'], **look(arguments))}\n\n{pairs(total, arguments.si)}"


ACKNOWLEDGED = """\
With b = {b} packet{s} for each acknowledgement (--acknowledged): in each round trip without a loss
the window grows by 1/b packets. Linux's hosts acknowledge otherwise: each packet at first and while
the receive window grows, then every second full packet, or after 40 ms. Their window grows by the
packets that are acknowledged, whatever the number of acknowledgements, so that b = 1 describes its
growth.
"""


def tcp(found: Table[TcpRate], arguments: Namespace) -> str:
    """What `fairq theory tcp` prints."""
    said = ACKNOWLEDGED.format(b=arguments.acknowledged, s="" if arguments.acknowledged == 1 else "s")
    return _explained(found, said, arguments)


SHARED = """\
in progress: transfers that share the line. slowdown: mean time over that at the peak rate; the same for every
size. least n: the least with P(N > n) at most that."""
"""What the columns of `fairq theory sharing` mean."""


def sharing(found: Sharing, arguments: Namespace) -> str:
    """What `fairq theory sharing` prints."""
    text = _explained(found.rows, SHARED, arguments)
    return f"{text}\n\n{tables.text(found.distribution, **look(arguments))}" if len(found.distribution) else text


def _spec(result: str, example: str, summary: str, *more: Option) -> Spec:
    taken = (*options(WORDS[result]), *more, *LOOKS)
    return Spec(f"theory {result}", f"fairq theory {result} {example}", taken, summary=summary, functions=("theory",))


RESULTS: tuple[tuple[Spec, Shown], ...] = (
    (_spec("delay-bounds", "--ftps 3 --telnet-packet 40B --ftp-packet 1000B --rate 56kbit/s",
           "compute A(P), the mean extra delay of an isolated packet beside busy FTPs"), delay_bounds),
    (_spec("delay", "--ftps 3 --telnet-packet 40B --ftp-packet 1000B --rho 0.5 --delta 1kB",
           "compute D_N(P), the mean delay of a Poisson source by the general relation"), delay),
    (_spec("delay-curve", "--ftps 3 --delta 1 --plot curve.svg",
           "compute the delay-throughput curve of one Poisson source (figure 1)",
           *plot("draw the curves into FILE")), delay_curve),
    (Spec("theory max-min", "fairq theory max-min papers/demers1990/scenario5.toml", (FILE, SET, *LOOKS),
          summary="compute the max-min fair shares of a scenario's flows", functions=("max_min",)), max_min),
    (_spec("pgps", "--burst 1250B --packet 125B --share 100kbit/s --lines 1Mbit/s,1Mbit/s,1Mbit/s,1Mbit/s",
           "bound the delay of a limited burst over weighted fair queues (PGPS)"), pgps),
    (_spec("tcp", "--rtt 100ms --loss 0.001,0.01 --packet 1000B --timeout 1s",
           "compute TCP's rate at a loss and a round trip (Mathis, Padhye)"), tcp),
    (_spec("sharing", "--load 0.8,0.9 --more-than 100 --rate 50Mbit/s --size 1MB",
           "compute how many transfers share a line, and their times (M/G/1-PS)"), sharing),
)  # fmt: skip
"""Each result as it is declared, and what prints it."""
