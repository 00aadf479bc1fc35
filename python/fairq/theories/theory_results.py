"""What `fairq theory` gives."""

from __future__ import annotations

from typing import Annotated, Literal

from fairq.core.pictured import Pictured
from fairq.core.records import Given, Record
from fairq.core.rows import Row, Table


class BoundsRow(Row):
    """Both bounds of the extra delay under one form of the algorithm."""

    form: Annotated[Literal["non-preemptive", "preemptive"], "The form of the algorithm."]
    low_bytes: Annotated[float, "The delay with FTPs evenly staggered, in bytes of the line."]
    high_bytes: Annotated[float, "The delay with FTPs in step, in bytes of the line."]
    low_s: Annotated[float, Given("The same in seconds; there with --rate.")]
    high_s: Annotated[float, Given("The same in seconds; there with --rate.")]


class DelayRow(BoundsRow):
    """Both bounds of the delay of a Poisson source at one share."""

    share: Annotated[float, "The source's rate as a part of the fair share."]


class Packets(Record, places=("ftps", "telnet_packet_bytes", "ftp_packet_bytes", "delta_bytes")):
    """The sources of a delay."""

    ftps: Annotated[int, "FTPs, always backlogged."]
    telnet_packet_bytes: Annotated[float, "P_T in bytes."]
    ftp_packet_bytes: Annotated[float, "P_F in bytes."]
    delta_bytes: Annotated[float, "The promptness δ in bytes."]


class DelayBounds(Packets, places=(*Packets._fields, "rows"), told=("rows",)):
    """A(P), the extra delay of an isolated packet."""

    rows: Table[BoundsRow]


class Delay(Packets, places=(*Packets._fields, "rows"), told=("rows",)):
    """D_N(P), the delay of a Poisson source."""

    rows: Table[DelayRow]


class CurveRow(Row):
    """A point of the delay-throughput curve; null from the fair share on, where delay has no bound."""

    share: Annotated[float, "The source's rate as a part of the fair share."]
    fq_packets: Annotated[float | None, "Queueing delay under FQ by the general relation, in packet times."]
    fq_as_printed_packets: Annotated[float | None, "The same by the printed formula."]
    fcfs_packets: Annotated[float | None, "Queueing delay under FCFS, in packet times."]


class DelayCurve(Pictured, Record, places=("ftps", "delta_packets", "window", "rows"), told=("rows",)):
    """The delay-throughput curve of a Poisson source."""

    ftps: Annotated[int, "FTPs, always backlogged."]
    delta_packets: Annotated[float, "The promptness δ in packets."]
    window: Annotated[int, "Window of the FTPs under FCFS, in packets."]
    rows: Table[CurveRow]


class Hop(Row):
    """A line of a path."""

    hop: Annotated[int, "Its number, from 1."]
    rate_bit_per_s: Annotated[float, "Its rate in bit/s."]
    share_bit_per_s: Annotated[float, "What the flow is guaranteed there, in bit/s."]
    latency_s: Annotated[float, "What it adds to the bound, in seconds."]


class Pgps(Record, places=("hops", "burst_s", "propagation_s", "delay_s_max"), told=("hops", "delay_s_max")):
    """Parekh and Gallager's bound along a path."""

    hops: Table[Hop]
    burst_s: Annotated[float, "The time of the burst at the least share, in seconds."]
    propagation_s: Annotated[float, "The delay of all lines together, in seconds."]
    delay_s_max: Annotated[float, "The bound of a packet's delay, in seconds."]


class TcpRate(Row):
    """The rate of TCP at a loss, by one model; null if it has no limit."""

    loss: Annotated[float, "The part of the packets that is lost."]
    model: Annotated[Literal["mathis", "padhye", "padhye full"], "The formula."]
    rate_packets_per_s: Annotated[float | None, "The rate in packets a second."]
    rate_bit_per_s: Annotated[float | None, "The rate in bit/s."]
    window_packets: Annotated[float | None, "The mean window in packets."]


class SharingRow(Row):
    """Transfers on a line at one load."""

    load: Annotated[float, "The load of the line."]
    in_progress_mean: Annotated[float, "Mean number of transfers in progress."]
    more_than: Annotated[int, "The number n of p_more."]
    p_more: Annotated[float, "The probability that more than n transfers are in progress."]
    probability: Annotated[float, "The probability of least_n."]
    least_n: Annotated[int, "The least number n so that more are in progress with at most this probability."]
    slowdown_mean: Annotated[float, "Mean time of a transfer over its time at the peak rate."]
    sojourn_s_mean: Annotated[float, "Mean time of a transfer in seconds."]


class Number(Row):
    """The probability of a number of transfers at a load."""

    load: Annotated[float, "The load of the line."]
    transfers: Annotated[int, "A number of transfers in progress."]
    p: Annotated[float, "The probability of that number."]
    p_more: Annotated[float, "The probability of more."]


class Sharing(Record, places=("rows", "distribution"), told=("rows", "distribution")):
    """Transfers that share a line."""

    rows: Table[SharingRow]
    distribution: Annotated[Table[Number], "For each load, the numbers from 0 on; empty without --distribution."]
