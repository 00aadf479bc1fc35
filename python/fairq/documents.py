"""The documents that Python makes for --json: a type for each, which its JSON Schema is made of.

A new document is a type here and a line in DOCUMENTS (fairq.schemas). A field's text says its
meaning and its unit. Documents that Rust makes are in crates/py/src/schemas.rs. What questions give
is in questions/documents.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from fairq.core.records import Beside, Document, Given, Named, Record
from fairq.core.results import Result
from fairq.core.rows import Row, Table
from fairq.questions.question_results import Note, Verdict


class Paper(Row):
    """A paper whose numbers are reproduced."""

    name: Annotated[str, "Its name, as fairq reproduce takes it."]
    title: Annotated[str, "Authors, title, place and year."]
    seeds: Annotated[int, "Seeds of each scenario."]
    quick_seeds: Annotated[int, "Seeds of each scenario with --quick."]


class Detected(Row):
    """What was found of one flow (fairq.evidence); a number is null if too few packets show it."""

    flow: Annotated[str, "The flow."]
    verdict: Annotated[Literal["fair queueing", "FIFO", "cannot tell"], "What the bottleneck was."]
    confidence: Annotated[float | None, "The share of correct verdicts like this one on test networks."]
    p_fair: Annotated[float | None, "The probability that the bottleneck had a queue for each flow."]
    packets: Annotated[int, "Packets that were sent."]
    pairs: Annotated[int | None, "Packets that came to the bottleneck while their predecessor was there."]
    capacity_bit_per_s: Annotated[float | None, "The rate of the bottleneck in bit/s, by the smallest distances."]
    share_bit_per_s: Annotated[float | None, "What the flow got while its packets waited, in bit/s."]
    follows: Annotated[float | None, "The correlation of the work of others with the time between two sendings."]
    crossing: Annotated[float | None, "The work of others over the time between sendings, at the capacity."]
    close: Annotated[float | None, "The part of the pairs that were sent within a packet's time."]
    close_crossing: Annotated[float | None, "The same as crossing, of close pairs."]
    spread: Annotated[float | None, "The deviation of the times between sendings, in packets at the capacity."]
    unexplained: Annotated[float | None, "The deviation of delays from a fit to own packets, in packets."]
    close_work: Annotated[float | None, "The work of others in close pairs, in long packets."]
    close_time: Annotated[float | None, "The time between the sendings of close pairs, in long packets."]
    far_work: Annotated[float | None, "The work of others in the other pairs, in long packets."]
    far_time: Annotated[float | None, "The time between the sendings of the other pairs, in long packets."]
    crossed: Annotated[float | None, "The part of the pairs sent almost at once between which others came."]
    timing: Annotated[float | None, "Below 0 if the work of others grows with time, above 0 if it comes in turns."]
    timing_range: Annotated[float | None, "How far apart the two are."]
    pieces: Annotated[float | None, "How many pieces of work the timing is from."]
    lean: Annotated[float | None, "The logarithm of the ratio of the two likelihoods."]
    close_timing: Annotated[float | None, "The timing of close pairs, from 0 to 1."]
    firsts: Annotated[int | None, "Packets that found none of the flow's own in the bottleneck."]
    first_wait_max: Annotated[float | None, "Their longest wait, in long packets."]
    slope: Annotated[float | None, "Of the line that fits waits to the flow's own packets before them."]
    intercept: Annotated[float | None, "Of the same line, in long packets."]
    fit: Annotated[float | None, "The correlation of the two."]
    beyond_own: Annotated[float | None, "The median of the waits less the flow's own packets, in long packets."]
    unmatched: Annotated[float, "The part of the packets that was not found at the other end."]
    notes: Annotated[list[str], "Sentences to read before the row is trusted."]
    why: Annotated[str, "Why the verdict is none; empty if there is one."]


class Difference(Row):
    """A setting that is not the same in Linux."""

    setting: Annotated[str, "The setting."]
    here: Annotated[str, "Its value or meaning in fairq."]
    linux: Annotated[str, "Its value or meaning in Linux."]


class TcCommands(Row):
    """The tc commands of a queue."""

    commands: Annotated[list[str], "The commands in the order in which they are given."]
    differs: Annotated[Table[Difference], "What is not the same in Linux."]
    text: Annotated[str, "The queue's text form, or the line of the scenario that has it."]


class TcWarning(Row):
    """A warning that tc would print, and what the kernel then does."""

    setting: Annotated[str, "The class."]
    warning: Annotated[str, "The kernel's words."]
    why: Annotated[str, "The number that it warns of, and the one that is taken."]
    remedy: Annotated[str, "What to write to be warned no more."]


class TcRead(Row):
    """The queue that tc commands make."""

    text: Annotated[str, "The queue's text form, its limit included."]
    rate: Annotated[str | None, "The rate of the line, with its unit; null if no class of htb is the line."]
    differs: Annotated[Table[Difference], "What is not the same in Linux."]
    warns: Annotated[Table[TcWarning], "What the kernel would warn of."]


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


class Packets(Row):
    """The sources of a delay."""

    ftps: Annotated[int, "FTPs, always backlogged."]
    telnet_packet_bytes: Annotated[float, "P_T in bytes."]
    ftp_packet_bytes: Annotated[float, "P_F in bytes."]
    delta_bytes: Annotated[float, "The promptness δ in bytes."]


class DelayBounds(Packets):
    """A(P), the extra delay of an isolated packet."""

    rows: Table[BoundsRow]


class Delay(Packets):
    """D_N(P), the delay of a Poisson source."""

    rows: Table[DelayRow]


class CurveRow(Row):
    """A point of the delay-throughput curve; null from the fair share on, where delay has no bound."""

    share: Annotated[float, "The source's rate as a part of the fair share."]
    fq_packets: Annotated[float | None, "Queueing delay under FQ by the general relation, in packet times."]
    fq_as_printed_packets: Annotated[float | None, "The same by the printed formula."]
    fcfs_packets: Annotated[float | None, "Queueing delay under FCFS, in packet times."]


class DelayCurve(Row):
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


class Pgps(Row):
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


class Sharing(Row):
    """Transfers that share a line."""

    rows: Table[SharingRow]
    distribution: Annotated[Table[Number], "For each load, the numbers from 0 on; empty without --distribution."]


class Workload(Row):
    """A workload on this machine: the run in the middle by time, of those that were measured."""

    row: Annotated[str, "Its name."]
    about: Annotated[str, "What it runs."]
    flows: Annotated[int, Given("Flows of a run.")]
    packet_hops: Annotated[int, Given("Packets sent, on each line counted, acknowledgements included.")]
    data_packets: Annotated[int, Given("Data packets that reached their sinks.")]
    packets: Annotated[int, Given("Packets of the capture.")]
    rows: Annotated[int, Given("Rows of the table.")]
    dropped: Annotated[int, Given("Data packets that queues dropped.")]
    simulated_s: Annotated[float, Given("Simulated time of all runs, in seconds.")]
    cpu_s: Annotated[float, Given("CPU time of the run alone, in seconds.")]
    cpu_s_min: Annotated[float, Given("The least CPU time of those measured, in seconds.")]
    cpu_s_max: Annotated[float, Given("The greatest CPU time of those measured, in seconds.")]
    wall_s: Annotated[float, Given("Time on the wall, in seconds.")]
    wall_s_min: Annotated[float, Given("The least time on the wall of those measured, in seconds.")]
    wall_s_max: Annotated[float, Given("The greatest time on the wall of those measured, in seconds.")]
    million_packet_hops_per_cpu_s: Annotated[float, Given("Millions of packet-hops a second of CPU time.")]
    simulated_s_per_cpu_s: Annotated[float, Given("Simulated seconds a second of CPU time.")]
    million_packets_per_cpu_s: Annotated[float, Given("Millions of packets a second of CPU time.")]
    peak_memory_bytes: Annotated[int | None, Given("Greatest memory of the program in bytes; null if unknown.")]
    ratio: Annotated[float, Given("The time of two programs with half of the runs each, over that of one.")]
    note: Annotated[str, Given("What else was seen.")]


class Machine(Row):
    """What was measured, and on what."""

    version: Annotated[str, "The version of fairq."]
    commit: Annotated[str | None, "The commit of the checkout; null if it is none."]
    machine: Annotated[str, "The processor."]
    cores: Annotated[int | None, "Its cores."]
    load: Annotated[float | None, "The load of the system over the last minute."]


class Benchmarks(Document):
    """The speed of this machine."""

    rows: Table[Workload]
    run_info: Machine


class BaselineSample(Row):
    """The flow at an instant, and its throughput in the interval that ends there."""

    time_s: Annotated[float, "The time from the start of the run, in seconds."]
    throughput_bit_per_s: Annotated[float, "What reached the receiver in the interval, headers included, in bit/s."]
    flight_bytes: Annotated[int | None, "Bytes in flight, as the sender counts them; null if it counts none."]
    window_bytes: Annotated[float | None, "The congestion window in bytes; null if there is none."]
    pacing_bit_per_s: Annotated[float | None, "The rate at which packets are spread, in bit/s; null if they are not."]
    rtt_s: Annotated[float | None, "The smoothed round trip in seconds; null before the first sample."]
    phase: Annotated[str | None, "The phase, in the words of the control's source; null without congestion control."]


class BaselinePhase(Row):
    """All stretches of one phase: means over their samples."""

    phase: Annotated[str, "The phase, in the words of the control's source."]
    begins: Annotated[int, "How often it began, as the samples show it."]
    duration_s: Annotated[float, "How long it lasted in all, in seconds."]
    throughput_bit_per_s: Annotated[float, "What reached the receiver, headers included, in bit/s."]
    flight_bytes: Annotated[float | None, "Bytes in flight; null if the sender counts none."]
    window_bytes: Annotated[float | None, "The congestion window in bytes; null if there is none."]
    rtt_s: Annotated[float | None, "The smoothed round trip in seconds; null if none was sampled."]


class BaselineFlow(Row):
    """The flow over the whole run, as the table of flows of fairq run has it."""

    throughput_bit_per_s: Annotated[float, "What reached the receiver, headers included, in bit/s."]
    goodput_packets: Annotated[int, "Data packets that reached the receiver for the first time."]
    sent: Annotated[int, "Data packets sent, each transmission counted."]
    retransmitted: Annotated[int, "Of these, packets that had been sent before."]
    dropped: Annotated[int, "Data packets that the queue dropped."]
    marked: Annotated[int, "Data packets that the queue marked."]
    rtt_s_mean: Annotated[float | None, "Mean round trip in seconds, of the samples of the sender's estimator."]
    queueing_s_mean: Annotated[float | None, "Mean queueing delay of data packets in seconds."]
    queueing_s_p99: Annotated[float | None, "99th percentile of that delay in seconds, within 0.8 %."]


class BaselineNote(Note):
    """What limited the flow that may not have been meant (docs/guide/notes.md)."""


class BaselineSteady(Row):
    """What the flow does once its throughput and its round trip stand still."""

    from_s: Annotated[float, "From when on they do, in seconds."]
    throughput_bit_per_s: Annotated[float, "Its mean throughput from then on, in bit/s."]
    rtt_s: Annotated[float | None, "The mean of its smoothed round trips from then on, in seconds; null without one."]


class Baseline(
    Record, named="BaselineDocument", told=("control", "series", "phases"),
    places=("control", "series", "phases", "notes", "document", "result", "scenario"),
):  # fmt: skip
    """A congestion control alone on an ideal line.

    `series` are its samples, `phases` their means by phase, `result` the run.
    """

    schema_version: Annotated[int, "The version of this document."]
    command: Annotated[str, "The command that gives it."]
    control: Annotated[str, "The congestion control, with its settings."]
    rate: Annotated[str, "The rate of the line, as it was said."]
    rate_bit_per_s: Annotated[int, "That in bit/s; of a rate that changes the nominal one."]
    utilisation: Annotated[float, "The part that was used, 0 to 1, of what the line could carry."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    product_bytes: Annotated[float, "The bandwidth-delay product in bytes."]
    buffer: Annotated[str, "The room of the line's queue."]
    queue: Annotated[str, "The queue of the line."]
    profile: Annotated[str, "The system of the hosts."]
    receive_window: Annotated[str | None, "The receive window; null: the profile's."]
    duration_s: Annotated[float, "How long the flow ran, in seconds."]
    flow: BaselineFlow
    steady: Annotated[BaselineSteady | None, "Null if it does not stand still, or the line's rate changes."]
    phases: Table[BaselinePhase]
    notes: Table[BaselineNote]
    series: Table[BaselineSample]
    result: Annotated[Result, Beside("The run.")]
    scenario: Annotated[str, Beside("What was run, as a file in TOML.")]


class Sweep(
    Record, named="Swept",
    places=("done", "failed", "missing", "skipped", "ran", "errors", "damages", "store", "unreached"),
):  # fmt: skip
    """What has become of the runs of a study: done, failed and missing are all of them.

    `skipped` is how many of the missing are left to others: another part's, or claimed by another
    process. `damages` are parts that were set aside, whose runs were run again.
    """

    done: Annotated[int, "Runs that exist."]
    failed: Annotated[int, "Runs that do not exist, and failed when they were tried."]
    missing: Annotated[int, "The other runs that do not exist."]
    skipped: Annotated[int, "Of the missing, those that are left to another part or another process."]
    ran: Annotated[int, "Runs that came to their end by this command, well or not."]
    store: Annotated[str, "The folder that holds them."]
    errors: Annotated[dict[str, str], "Why runs have failed, by their digests."]
    damages: Annotated[list[str], "Parts that were not as their markers say: they were set aside."]
    unreached: Annotated[int, "Points at which the condition of --until does not hold."] = 0


class MissingRun(Row):
    """A run of a study that does not exist."""

    digest: Annotated[str, "What its tables depend on, as 32 hexadecimal digits."]
    seed: Annotated[int, "Its seed."]
    axes: Annotated[dict[str, str | int | float | bool], "The values of the axes and what is derived of them."]


class Left(Row):
    """What is left to run of a study."""

    points: Annotated[int, "Points of its axes."]
    runs: Annotated[int, "Its runs."]
    missing: Annotated[int, "Those that do not exist, of the part that was asked for."]
    workers: Annotated[int, "Threads that would run them."]
    time_s: Annotated[
        float | None, "About how long they would take, in seconds; null where a run needs too much memory to be tried."
    ]
    longest_times: Annotated[float, "How many times as much it may take until what is measured stands still."]


Scalar = str | int | float | bool | None
"""A value of an axis, or of a cell of a query."""


class Found(Record, named="Queried", places=("columns", "rows")):
    """The rows that `fairq query` gives.

    Columns of the same name are told apart by _2, _3 and so on.
    """

    columns: Annotated[list[str], "The columns in their order; of one name the second has _2 behind."]
    dicts: Annotated[list[dict[str, Scalar]], Named("rows"), "The rows; a list or struct of SQL is JSON in text."]
    rows: Annotated[list[tuple[Any, ...]], Beside("The rows as tuples.")]


class Page(Record, named="Reported", places=("path", "runs", "bytes")):
    """What `fairq report` wrote."""

    path: Annotated[Path, "The path of the page."]
    runs: Annotated[int, "The runs that it is of."]
    bytes: Annotated[int, "Its size."]


class AgreedName(Row):
    """A discipline or congestion control that was recorded."""

    name: Annotated[str, "Its name."]
    part: Annotated[Literal["discipline", "transport"], "What it is."]
    orders: Annotated[int, "Recorded cases of the order in which it sends packets."]
    orders_agree: Annotated[int, "Those in which it sends and drops as the kernel."]
    cells: Annotated[int, "The recorded cells with it; each window of time counts."]
    agrees: Annotated[int, "Those where both agree."]
    undecided: Annotated[int, "Those where the runs of the kernel differ among themselves by more."]
    differs: Annotated[int, "The others."]
    share_distance: Annotated[float | None, "What a share differs by at most in nine of ten, in parts of the line."]
    queueing_distance: Annotated[float | None, "The same of queueing, in parts of the kernel's, or of 5 ms if longer."]


class AgreedCell(Row):
    """A recorded cell."""

    cell: Annotated[str, "Its name."]
    kind: Annotated[str, "Its kind, as docs/agreement/linux.md groups them."]
    window: Annotated[str, "The time that is measured, in seconds, as 5-20."]
    verdict: Verdict
    rate_bit_per_s: Annotated[float, "The line's rate, in bit/s."]
    rtt_s: Annotated[float, "The round trip of a packet alone, in seconds."]
    share_linux: Annotated[dict[str, float], "The part of the line of each congestion control in the kernel."]
    share_fairq: Annotated[dict[str, float], "The same here."]
    queueing_s_linux: Annotated[float, "The mean queueing delay in the kernel, in seconds."]
    queueing_s_fairq: Annotated[float, "The same here."]
    loss_linux: Annotated[float, "The part of the packets that the kernel drops."]
    loss_fairq: Annotated[float, "The same here."]
    share_distance: Annotated[float, "The most that a share differs, in parts of the line."]
    queueing_distance: Annotated[float, "How far queueing differs, in parts of the kernel's, or of 5 ms if longer."]
    reason: Annotated[str | None, "The rule of a miss; null if it agrees, or no rule is known."]


class AgreedOrder(Row):
    """Packets that came to a discipline at given times."""

    case: Annotated[str, "Its name."]
    kind: Annotated[str, "exact: nothing is random in it; random: counts are compared."]
    verdict: Annotated[Literal["agrees", "undecided", "differs"], "Whether both agree."]
    reason: Annotated[str | None, "The rule of a miss; null if it agrees, or no rule is known."]


class Agreed(Document):
    """How far fairq is from a real kernel."""

    kernel: Annotated[str, "The kernel."]
    name: Annotated[str | None, "The discipline or congestion control; null: all of them."]
    summary: Annotated[Table[AgreedName], "A row for each name; empty if one was given."]
    cells: Annotated[Table[AgreedCell], "The cells of the name; empty without one."]
    orders: Annotated[Table[AgreedOrder], "The cases of order of the name; empty without one."]
    text: Annotated[str, "The same in a sentence."]
