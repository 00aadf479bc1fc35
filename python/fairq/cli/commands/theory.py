"""`fairq theory`: what the papers derive."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fairq import api
from fairq.cli.commands import SUMMARIES
from fairq.cli.options import FILE, LOOKS, SET, Commands, Parser, declare, plot
from fairq.cli.printing import as_json, look, pairs, picture, save, style, written
from fairq.core import tables
from fairq.core.declared import Option, Spec
from fairq.core.errors import UsageError
from fairq.core.quantities import rate, rates, size, time
from fairq.theories import fq_delay, processor_sharing, tcp_throughput
from fairq.theories.delay_bounds import Hop
from fairq.theories.delay_bounds import pgps as pgps_bound

T = TypeVar("T")


def _option(name: str, metavar: str, help: str, kind: str = "str", default: Any = None) -> Option:
    return Option(name, help, metavar, kind, default=default)


def _needed(name: str, metavar: str, help: str, kind: str = "str") -> Option:
    return Option(name, help, metavar, kind, required=True)


FTPS = _option("ftps", "N", "FTPs, always backlogged (default 3)", "int", 3)
PACKETS = (
    FTPS,
    _option("telnet_packet", "SIZE", "P_T (default 40 B)", default="40 B"),
    _option("ftp_packet", "SIZE", "P_F (default 1000 B)", default="1000 B"),
    _option("delta", "SIZE", "the promptness δ (default 0 B)", default="0 B"),
)
IN_SECONDS = _option("rate", "RATE", "show the delays in seconds too, on a line of this rate")

DELAY_BOUNDS = Spec(
    "theory delay-bounds",
    "fairq theory delay-bounds --ftps 3 --telnet-packet 40B --ftp-packet 1000B --rate 56kbit/s",
    (*PACKETS, IN_SECONDS, *LOOKS),
    summary="compute A(P), the mean extra delay of an isolated packet beside busy FTPs",
)
DELAY = Spec(
    "theory delay",
    "fairq theory delay --ftps 3 --telnet-packet 40B --ftp-packet 1000B --rho 0.5 --delta 1kB",
    (
        *PACKETS,
        _option("rho", "LIST", "shares of the fair share, below 1 (default 0.1,0.5,0.9)", "numbers", [0.1, 0.5, 0.9]),
        IN_SECONDS,
        *LOOKS,
    ),
    summary="compute D_N(P), the mean delay of a Poisson source by the general relation",
)
DELAY_CURVE = Spec(
    "theory delay-curve",
    "fairq theory delay-curve --ftps 3 --delta 1 --plot curve.svg",
    (
        FTPS,
        _option("delta", "X", "δ in packets (default 0)", "number", 0.0),
        _option("window", "W", "window of the FTPs under FCFS (default 5)", "int", 5),
        _option("rho", "LIST", "shares of the fair share (default 0.01,0.1,…,0.9)", "numbers",
                [0.01, *(tenths / 10 for tenths in range(1, 10))]),
        *plot("draw the curves into FILE"),
        *LOOKS,
    ),
    summary="compute the delay-throughput curve of one Poisson source (figure 1)",
)  # fmt: skip
MAX_MIN = Spec(
    "theory max-min",
    "fairq theory max-min papers/demers1990/scenario5.toml",
    (FILE, SET, *LOOKS),
    summary="compute the max-min fair shares of a scenario's flows",
    functions=("max_min",),
)
PGPS = Spec(
    "theory pgps",
    "fairq theory pgps --burst 1250B --packet 125B --share 100kbit/s --lines 1Mbit/s,1Mbit/s,1Mbit/s,1Mbit/s",
    (
        _needed("burst", "SIZE", "the burst that the flow may send at once"),
        _needed("packet", "SIZE", "its longest packet"),
        _needed("share", "RATE[,…]", "its guaranteed rate, on all lines or on each"),
        _needed("lines", "RATE[,…]", "the lines of its path, as 1Mbit/s,10Mbit/s"),
        _option("largest", "SIZE", "the longest packet on the lines (default --packet)"),
        _option("rate", "RATE", "its mean rate (default its least share)"),
        _option("propagation", "TIME", "the delay of all lines together (0 s)", default="0 s"),
        *LOOKS,
    ),
    summary="bound the delay of a limited burst over weighted fair queues (PGPS)",
)
TCP = Spec(
    "theory tcp",
    "fairq theory tcp --rtt 100ms --loss 0.001,0.01 --packet 1000B --timeout 1s",
    (
        _needed("rtt", "TIME", "the round trip, queueing included"),
        _needed("loss", "LIST", "the part of packets that is lost", "numbers"),
        _option("packet", "SIZE", "a packet (default 1000 B)", default="1000 B"),
        _option("timeout", "TIME", "the first retransmission timeout (default 1 s)", default="1 s"),
        _option("acknowledged", "B", "packets that an acknowledgement covers (default 1)", "int", 1),
        _option("window", "N", "the receive window in packets (default: no limit)", "int"),
        *LOOKS,
    ),
    summary="compute TCP's rate at a loss and a round trip (Mathis, Padhye)",
)
SHARING = Spec(
    "theory sharing",
    "fairq theory sharing --load 0.8,0.9 --more-than 100 --rate 50Mbit/s --size 1MB",
    (
        _needed("load", "LIST", "the line's load, below 1", "numbers"),
        _option("more_than", "N", "show P(N > this) (default 100)", "whole", 100),
        _option("probability", "P", "show the least n with P(N > n) at most this (default 0.001)", "number", 1e-3),
        _option("rate", "RATE", "the line's rate (default 1 Mbit/s)", default="1 Mbit/s"),
        _option("size", "SIZE", "the size of a transfer, to give its time (default 1 MB)", default="1 MB"),
        _option("peak", "RATE", "the peak rate of a transfer (default: the whole line)"),
        _option("distribution", "N", "show P(N = n) up to this n", "whole"),
        *LOOKS,
    ),
    summary="compute how many transfers share a line, and their times (M/G/1-PS)",
)


def add(commands_of: Commands) -> None:
    """Add the command, and those inside it."""
    group = commands_of.add_parser("theory", help=SUMMARIES["theory"],
                                   description="Compute what the papers derive.",
                                   epilog="example: fairq theory delay-curve --ftps 3 --delta 1")  # fmt: skip
    results = group.add_subparsers(metavar="RESULT", required=True, parser_class=Parser)
    declare(results, DELAY_BOUNDS, delay_bounds)
    declare(results, DELAY, delay_general)
    declare(results, DELAY_CURVE, delay_curve)
    declare(results, MAX_MIN, max_min)
    declare(results, PGPS, pgps)
    declare(results, TCP, tcp)
    declare(results, SHARING, sharing)


FORMS = ("non-preemptive", "preemptive")


UNSHARED = """\
share -: the flow meets no limit, or transfers or sessions come and go: how many share is known only after a run."""
"""Why a flow has no max-min share."""


def delay_bounds(arguments: Namespace) -> str:
    """`fairq theory delay-bounds`: A(P_T - δ), both forms of the algorithm."""
    packet, ftp_packet, delta = _packets(arguments)
    rows = []
    for form in FORMS:
        with _refusals(arguments, "telnet-packet", "ftp-packet", "delta"):
            bounds = fq_delay.extra_delay(arguments.ftps, packet - delta, ftp_packet, preemptive=form == "preemptive")
        rows.append({"form": form, **_both_units(bounds, arguments.rate)})
    if arguments.json:
        return as_json({**_given(arguments), "rows": rows}, "theory-delay-bounds")
    table = tables.text(rows, **look(arguments))
    meant = "low: FTPs evenly staggered; high: FTPs in step. Own transmission is not counted."
    return f"{table}\n\n{tables.prose(meant)}"


def delay_general(arguments: Namespace) -> str:
    """`fairq theory delay`: D_N(P) of a Poisson source."""
    packet, ftp_packet, delta = _packets(arguments)
    rows = []
    for rho in arguments.rho:
        for form in FORMS:
            with _refusals(arguments, "telnet-packet", "ftp-packet", "delta", rho=rho):
                bounds = fq_delay.poisson_general(
                    arguments.ftps, packet, rho, delta, ftp_packet=ftp_packet, preemptive=form == "preemptive"
                )
            rows.append({"share": rho, "form": form, **_both_units(bounds, arguments.rate)})
    if arguments.json:
        return as_json({**_given(arguments), "rows": rows}, "theory-delay")
    short = packet < ftp_packet
    remark = " The relation is derived for P_T >= P_F where the form is non-preemptive." if short else ""
    table = tables.text(rows, **look(arguments))
    meant = tables.prose(f"share: of the fair share. low and high: with A(P)'s bounds.{remark}")
    return f"{table}\n\n{meant}"


def delay_curve(arguments: Namespace) -> str:
    """`fairq theory delay-curve`: FQ as printed and with the factor N+1, and FCFS."""
    n, delta, window = arguments.ftps, arguments.delta, arguments.window
    rows: list[dict[str, float | None]] = []
    for rho in arguments.rho:
        is_below = 0 < rho < 1
        with _refusals(arguments, "delta", rho=rho):
            rows.append(
                {
                    "share": rho,
                    "fq_packets": fq_delay.poisson_delay(n, rho, delta) if is_below else None,
                    "fq_as_printed_packets": fq_delay.poisson_delay(n, rho, delta, as_printed=True)
                    if is_below
                    else None,
                    "fcfs_packets": fq_delay.fcfs_delay(n, window, rho),
                }
            )
    if arguments.plot:
        _plot(arguments)
    if arguments.json:
        return as_json({"ftps": n, "delta_packets": delta, "window": window, "rows": rows}, "theory-delay-curve")
    table = tables.text(rows, **look(arguments))
    return f"{table}\n\n{tables.prose(CURVE)}{written(arguments, arguments.plot)}"


CURVE = """\
Queueing delay in packet times. fq has the factor N+1 in its first term that the general relation demands and the
simulation confirms; the printed formula lacks it. share: of the fair share."""
"""What the columns of `fairq theory delay-curve` mean."""


def max_min(arguments: Namespace) -> str:
    """`fairq theory max-min`."""
    shares = api.max_min(**MAX_MIN.words(vars(arguments)))
    if arguments.json:
        return as_json(shares, "theory-max-min")
    if any(row["share_bit_per_s"] is None for row in shares):
        return f"{tables.text(shares, keep=['share_bit_per_s'], **look(arguments))}\n\n{tables.prose(UNSHARED)}"
    return tables.text(shares, keep=["share_bit_per_s"], **look(arguments))


def pgps(arguments: Namespace) -> str:
    """`fairq theory pgps`: Parekh and Gallager's bound along a path."""
    lines, packet = _read(arguments, "lines", rates), 8 * _read(arguments, "packet", size)
    shares = _read(arguments, "share", rates)
    shares = shares * len(lines) if len(shares) == 1 else shares
    if len(shares) != len(lines):
        raise UsageError(f"--share has {len(shares)} rates and --lines {len(lines)}: one is needed for each or for all")
    largest = packet if arguments.largest is None else 8 * _read(arguments, "largest", size)
    hops = [Hop(line, share, largest) for line, share in zip(lines, shares, strict=True)]
    sent = None if arguments.rate is None else _read(arguments, "rate", rate)
    burst = 8 * _read(arguments, "burst", size)
    with _refusals(arguments, "burst", "packet", "share", "lines", "largest", "rate"):
        bound = pgps_bound(burst, packet, hops, rate=sent)
    propagation = _read(arguments, "propagation", time)
    rows = [
        {"hop": number, "rate_bit_per_s": hop.rate, "share_bit_per_s": hop.share, "latency_s": latency}
        for number, (hop, latency) in enumerate(zip(hops, bound.latencies, strict=True), 1)
    ]
    total = {"burst_s": bound.burst, "propagation_s": propagation, "delay_s_max": bound.delay + propagation}
    if arguments.json:
        return as_json({"hops": rows, **total}, "theory-pgps")
    return f"{tables.text(rows, keep=['latency_s'], **look(arguments))}\n\n{pairs(total, arguments.si)}"


def tcp(arguments: Namespace) -> str:
    """`fairq theory tcp`: Mathis and Padhye."""
    round_trip, timeout = _read(arguments, "rtt", time), _read(arguments, "timeout", time)
    bits = 8 * _read(arguments, "packet", size)
    window = math.inf if arguments.window is None else arguments.window
    rows = []
    for loss in arguments.loss:
        with _refusals(arguments, "rtt", "timeout", loss=loss):
            both = {"timeout": timeout, "acknowledged": arguments.acknowledged, "window": window}
            found = {
                "mathis": tcp_throughput.mathis(round_trip, loss, acknowledged=arguments.acknowledged),
                "padhye": tcp_throughput.padhye(round_trip, loss, **both),
                "padhye full": tcp_throughput.padhye_full(round_trip, loss, **both),
            }
        for model, packets in found.items():
            rows.append(
                {"loss": loss, "model": model, "rate_packets_per_s": packets, "rate_bit_per_s": packets * bits,
                 "window_packets": packets * round_trip}
            )  # fmt: skip
    if arguments.json:
        return as_json(rows, "theory-tcp")
    said = ACKNOWLEDGED.format(b=arguments.acknowledged, s="" if arguments.acknowledged == 1 else "s")
    return f"{tables.text(rows, **look(arguments))}\n\n{tables.prose(said)}"


ACKNOWLEDGED = """\
With b = {b} packet{s} for each acknowledgement (--acknowledged): in each round trip without a loss
the window grows by 1/b packets. Linux's hosts acknowledge otherwise: each packet at first and while
the receive window grows, then every second full packet, or after 40 ms. Their window grows by the
packets that are acknowledged, whatever the number of acknowledgements, so that b = 1 describes its
growth.
"""


def sharing(arguments: Namespace) -> str:
    """`fairq theory sharing`: the number of transfers in progress, and their sojourn."""
    line, bits = _read(arguments, "rate", rate), 8 * _read(arguments, "size", size)
    peak = None if arguments.peak is None else _read(arguments, "peak", rate)
    with _refusals(arguments, "peak", "rate"):
        full = processor_sharing.filled_by(line, peak)
    rows = []
    for load in arguments.load:
        with _refusals(arguments, "probability", load=load):
            slowdown = processor_sharing.slowdown(load, full)
            rows.append(
                {
                    "load": load,
                    "in_progress_mean": processor_sharing.mean_in_progress(load, full),
                    "more_than": arguments.more_than,
                    "p_more": processor_sharing.more_than(arguments.more_than, load, full),
                    "probability": arguments.probability,
                    "least_n": processor_sharing.least_number(arguments.probability, load, full),
                    "slowdown_mean": slowdown,
                    "sojourn_s_mean": slowdown * bits * full / line,
                }
            )
    if arguments.distribution:
        with _refusals(arguments, "distribution"):
            numbers = [
                {"load": load, "transfers": number, "p": processor_sharing.exactly(number, load, full),
                 "p_more": processor_sharing.more_than(number, load, full)}
                for load in arguments.load for number in range(arguments.distribution + 1)
            ]  # fmt: skip
    else:
        numbers = []
    if arguments.json:
        return as_json({"rows": rows, "distribution": numbers}, "theory-sharing")
    meant = (
        "in progress: transfers that share the line. slowdown: mean time over that at the peak rate; the same for every"
        " size. least n: the least with P(N > n) at most that."
    )
    text = f"{tables.text(rows, **look(arguments))}\n\n{tables.prose(meant)}"
    return text + (f"\n\n{tables.text(numbers, **look(arguments))}" if numbers else "")


def _plot(arguments: Namespace) -> None:
    path = picture(arguments.plot)
    from fairq import figures

    curves = Namespace(FTPS=arguments.ftps, WINDOW=arguments.window, DELTAS=figures.deltas(arguments.delta))
    save(figures.delay_curve(curves, [], style=style(arguments)), path)


def _both_units(bounds: fq_delay.Bounds, line_rate: str | None) -> dict[str, float]:
    row = {"low_bytes": bounds.low, "high_bytes": bounds.high}
    if line_rate is not None:
        bits = _named("rate", line_rate, rate)
        row |= {"low_s": bounds.low * 8 / bits, "high_s": bounds.high * 8 / bits}
    return row


def _packets(arguments: Namespace) -> tuple[float, float, float]:
    """P_T, P_F and δ in bytes."""
    packet, ftp_packet = (_read(arguments, name, size) for name in ("telnet-packet", "ftp-packet"))
    return packet, ftp_packet, _read(arguments, "delta", size)


def _given(arguments: Namespace) -> dict[str, float]:
    names = ("telnet_packet_bytes", "ftp_packet_bytes", "delta_bytes")
    return {"ftps": arguments.ftps, **dict(zip(names, _packets(arguments), strict=True))}


def _read(arguments: Namespace, option: str, convert: Callable[[str], T]) -> T:
    """The value of an option; what is wrong with it names the option."""
    return _named(option, getattr(arguments, option.replace("-", "_")), convert)


def _named(option: str, text: str, convert: Callable[[str], T]) -> T:
    try:
        return convert(text)
    except UsageError as error:
        raise UsageError(f"--{option}: {error}") from None


@contextmanager
def _refusals(arguments: Namespace, *options: str, **values: float) -> Iterator[None]:
    """Turn a refusal of the theory into an error of use, which names `values` and those of `options` that are given."""
    try:
        yield
    except fq_delay.NoAnswerError as error:
        given = {name: f"{value:g}" for name, value in values.items()}
        given |= {name: getattr(arguments, name.replace("-", "_")) for name in options}
        shown = {name: f"--{name} {value}" for name, value in given.items() if value is not None}
        # those that it is about alone, if they are options
        about = [said for name, said in shown.items() if name.replace("-", "_") in error.of]
        raise UsageError(str(error), where=", ".join(about or shown.values())) from None
