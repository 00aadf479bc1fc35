"""The documents that Python makes for --json: a type for each, which its JSON Schema is made of.

A new document is a type here and a line in DOCUMENTS; `python -m fairq.schemas schema` then writes
the file of its schema. A field's text says its meaning and its unit. Documents that Rust makes are
in crates/py/src/schemas.rs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from fairq.estimating import Estimate
from fairq.questions.documents import Advised, Compared, ComparedAlone, EffectsOfSettings, LeastBuffers, Verdict
from fairq.verdicts import Line


class Paper(TypedDict):
    """A paper whose numbers are reproduced."""

    name: Annotated[str, "Its name, as fairq reproduce takes it."]
    title: Annotated[str, "Authors, title, place and year."]
    seeds: Annotated[int, "Seeds of each scenario."]
    quick_seeds: Annotated[int, "Seeds of each scenario with --quick."]


class Detected(TypedDict):
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


class Difference(TypedDict):
    """A setting that is not the same in Linux."""

    setting: Annotated[str, "The setting."]
    here: Annotated[str, "Its value or meaning in fairq."]
    linux: Annotated[str, "Its value or meaning in Linux."]


class TcCommands(TypedDict):
    """The tc commands of a queue."""

    commands: Annotated[list[str], "The commands in the order in which they are given."]
    differs: Annotated[list[Difference], "What is not the same in Linux."]
    text: Annotated[str, "The queue's text form, or the line of the scenario that has it."]


class TcWarning(TypedDict):
    """A warning that tc would print, and what the kernel then does."""

    setting: Annotated[str, "The class."]
    warning: Annotated[str, "The kernel's words."]
    why: Annotated[str, "The number that it warns of, and the one that is taken."]
    remedy: Annotated[str, "What to write to be warned no more."]


class TcRead(TypedDict):
    """The queue that tc commands make."""

    text: Annotated[str, "The queue's text form, its limit included."]
    rate: Annotated[str | None, "The rate of the line, with its unit; null if no class of htb is the line."]
    differs: Annotated[list[Difference], "What is not the same in Linux."]
    warns: Annotated[list[TcWarning], "What the kernel would warn of."]


class BoundsRow(TypedDict):
    """Both bounds of the extra delay under one form of the algorithm."""

    form: Annotated[Literal["non-preemptive", "preemptive"], "The form of the algorithm."]
    low_bytes: Annotated[float, "The delay with FTPs evenly staggered, in bytes of the line."]
    high_bytes: Annotated[float, "The delay with FTPs in step, in bytes of the line."]
    low_s: NotRequired[Annotated[float, "The same in seconds; there with --rate."]]
    high_s: NotRequired[Annotated[float, "The same in seconds; there with --rate."]]


class DelayRow(BoundsRow):
    """Both bounds of the delay of a Poisson source at one share."""

    share: Annotated[float, "The source's rate as a part of the fair share."]


class Packets(TypedDict):
    """The sources of a delay."""

    ftps: Annotated[int, "FTPs, always backlogged."]
    telnet_packet_bytes: Annotated[float, "P_T in bytes."]
    ftp_packet_bytes: Annotated[float, "P_F in bytes."]
    delta_bytes: Annotated[float, "The promptness δ in bytes."]


class DelayBounds(Packets):
    """A(P), the extra delay of an isolated packet."""

    rows: list[BoundsRow]


class Delay(Packets):
    """D_N(P), the delay of a Poisson source."""

    rows: list[DelayRow]


class CurveRow(TypedDict):
    """A point of the delay-throughput curve; null from the fair share on, where delay has no bound."""

    share: Annotated[float, "The source's rate as a part of the fair share."]
    fq_packets: Annotated[float | None, "Queueing delay under FQ by the general relation, in packet times."]
    fq_as_printed_packets: Annotated[float | None, "The same by the printed formula."]
    fcfs_packets: Annotated[float | None, "Queueing delay under FCFS, in packet times."]


class DelayCurve(TypedDict):
    """The delay-throughput curve of a Poisson source."""

    ftps: Annotated[int, "FTPs, always backlogged."]
    delta_packets: Annotated[float, "The promptness δ in packets."]
    window: Annotated[int, "Window of the FTPs under FCFS, in packets."]
    rows: list[CurveRow]


class Hop(TypedDict):
    """A line of a path."""

    hop: Annotated[int, "Its number, from 1."]
    rate_bit_per_s: Annotated[float, "Its rate in bit/s."]
    share_bit_per_s: Annotated[float, "What the flow is guaranteed there, in bit/s."]
    latency_s: Annotated[float, "What it adds to the bound, in seconds."]


class Pgps(TypedDict):
    """Parekh and Gallager's bound along a path."""

    hops: list[Hop]
    burst_s: Annotated[float, "The time of the burst at the least share, in seconds."]
    propagation_s: Annotated[float, "The delay of all lines together, in seconds."]
    delay_s_max: Annotated[float, "The bound of a packet's delay, in seconds."]


class TcpRate(TypedDict):
    """The rate of TCP at a loss, by one model; null if it has no limit."""

    loss: Annotated[float, "The part of the packets that is lost."]
    model: Annotated[Literal["mathis", "padhye", "padhye full"], "The formula."]
    rate_packets_per_s: Annotated[float | None, "The rate in packets a second."]
    rate_bit_per_s: Annotated[float | None, "The rate in bit/s."]
    window_packets: Annotated[float | None, "The mean window in packets."]


class SharingRow(TypedDict):
    """Transfers on a line at one load."""

    load: Annotated[float, "The load of the line."]
    in_progress_mean: Annotated[float, "Mean number of transfers in progress."]
    more_than: Annotated[int, "The number n of p_more."]
    p_more: Annotated[float, "The probability that more than n transfers are in progress."]
    probability: Annotated[float, "The probability of least_n."]
    least_n: Annotated[int, "The least number n so that more are in progress with at most this probability."]
    slowdown_mean: Annotated[float, "Mean time of a transfer over its time at the peak rate."]
    sojourn_s_mean: Annotated[float, "Mean time of a transfer in seconds."]


class Number(TypedDict):
    """The probability of a number of transfers at a load."""

    load: Annotated[float, "The load of the line."]
    transfers: Annotated[int, "A number of transfers in progress."]
    p: Annotated[float, "The probability of that number."]
    p_more: Annotated[float, "The probability of more."]


class Sharing(TypedDict):
    """Transfers that share a line."""

    rows: list[SharingRow]
    distribution: Annotated[list[Number], "For each load, the numbers from 0 on; empty without --distribution."]


class Workload(TypedDict):
    """A workload on this machine: the run in the middle by time, of those that were measured."""

    row: Annotated[str, "Its name."]
    about: Annotated[str, "What it runs."]
    flows: NotRequired[Annotated[int, "Flows of a run."]]
    packet_hops: NotRequired[Annotated[int, "Packets sent, on each line counted, acknowledgements included."]]
    data_packets: NotRequired[Annotated[int, "Data packets that reached their sinks."]]
    packets: NotRequired[Annotated[int, "Packets of the capture."]]
    rows: NotRequired[Annotated[int, "Rows of the table."]]
    dropped: NotRequired[Annotated[int, "Data packets that queues dropped."]]
    simulated_s: NotRequired[Annotated[float, "Simulated time of all runs, in seconds."]]
    cpu_s: NotRequired[Annotated[float, "CPU time of the run alone, in seconds."]]
    cpu_s_min: NotRequired[Annotated[float, "The least CPU time of those measured, in seconds."]]
    cpu_s_max: NotRequired[Annotated[float, "The greatest CPU time of those measured, in seconds."]]
    wall_s: NotRequired[Annotated[float, "Time on the wall, in seconds."]]
    wall_s_min: NotRequired[Annotated[float, "The least time on the wall of those measured, in seconds."]]
    wall_s_max: NotRequired[Annotated[float, "The greatest time on the wall of those measured, in seconds."]]
    million_packet_hops_per_cpu_s: NotRequired[Annotated[float, "Millions of packet-hops a second of CPU time."]]
    simulated_s_per_cpu_s: NotRequired[Annotated[float, "Simulated seconds a second of CPU time."]]
    million_packets_per_cpu_s: NotRequired[Annotated[float, "Millions of packets a second of CPU time."]]
    peak_memory_bytes: NotRequired[Annotated[int | None, "Greatest memory of the program in bytes; null if unknown."]]
    ratio: NotRequired[Annotated[float, "The time of two programs with half of the runs each, over that of one."]]
    note: NotRequired[Annotated[str, "What else was seen."]]


class Machine(TypedDict):
    """What was measured, and on what."""

    version: Annotated[str, "The version of fairq."]
    commit: Annotated[str | None, "The commit of the checkout; null if it is none."]
    machine: Annotated[str, "The processor."]
    cores: Annotated[int | None, "Its cores."]
    load: Annotated[float | None, "The load of the system over the last minute."]


class Benchmarks(TypedDict):
    """The speed of this machine."""

    rows: list[Workload]
    run_info: Machine


class BaselineSample(TypedDict):
    """The flow at an instant, and its throughput in the interval that ends there."""

    time_s: Annotated[float, "The time from the start of the run, in seconds."]
    throughput_bit_per_s: Annotated[float, "What reached the receiver in the interval, headers included, in bit/s."]
    flight_bytes: Annotated[int | None, "Bytes in flight, as the sender counts them; null if it counts none."]
    window_bytes: Annotated[float | None, "The congestion window in bytes; null if there is none."]
    pacing_bit_per_s: Annotated[float | None, "The rate at which packets are spread, in bit/s; null if they are not."]
    rtt_s: Annotated[float | None, "The smoothed round trip in seconds; null before the first sample."]
    phase: Annotated[str | None, "The phase, in the words of the control's source; null without congestion control."]


class BaselinePhase(TypedDict):
    """All stretches of one phase: means over their samples."""

    phase: Annotated[str, "The phase, in the words of the control's source."]
    begins: Annotated[int, "How often it began, as the samples show it."]
    duration_s: Annotated[float, "How long it lasted in all, in seconds."]
    throughput_bit_per_s: Annotated[float, "What reached the receiver, headers included, in bit/s."]
    flight_bytes: Annotated[float | None, "Bytes in flight; null if the sender counts none."]
    window_bytes: Annotated[float | None, "The congestion window in bytes; null if there is none."]
    rtt_s: Annotated[float | None, "The smoothed round trip in seconds; null if none was sampled."]


class BaselineFlow(TypedDict):
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


class BaselineNote(TypedDict):
    """What limited the flow that may not have been meant (docs/guide/notes.md)."""

    code: Annotated[str, "What kind of note it is."]
    where: Annotated[str, "The part of the scenario that it is about."]
    text: Annotated[str, "What was found, and what to write."]


class BaselineSteady(TypedDict):
    """What the flow does once its throughput and its round trip stand still."""

    from_s: Annotated[float, "From when on they do, in seconds."]
    throughput_bit_per_s: Annotated[float, "Its mean throughput from then on, in bit/s."]
    rtt_s: Annotated[float | None, "The mean of its smoothed round trips from then on, in seconds; null without one."]


class BaselineDocument(TypedDict):
    """A congestion control alone on an ideal line."""

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
    phases: list[BaselinePhase]
    notes: list[BaselineNote]
    series: list[BaselineSample]


class Swept(TypedDict):
    """What has become of the runs of a study: done, failed and missing are all of them."""

    done: Annotated[int, "Runs that exist."]
    failed: Annotated[int, "Runs that do not exist, and failed when they were tried."]
    missing: Annotated[int, "The other runs that do not exist."]
    skipped: Annotated[int, "Of the missing, those that are left to another part or another process."]
    ran: Annotated[int, "Runs that came to their end by this command, well or not."]
    store: Annotated[str, "The folder that holds them."]
    errors: Annotated[dict[str, str], "Why runs have failed, by their digests."]
    damages: Annotated[list[str], "Parts that were not as their markers say: they were set aside."]
    unreached: Annotated[int, "Points at which the condition of --until does not hold."]


class MissingRun(TypedDict):
    """A run of a study that does not exist."""

    digest: Annotated[str, "What its tables depend on, as 32 hexadecimal digits."]
    seed: Annotated[int, "Its seed."]
    axes: Annotated[dict[str, str | int | float | bool], "The values of the axes and what is derived of them."]


class Left(TypedDict):
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


class Queried(TypedDict):
    """The rows that `fairq query` gives."""

    columns: Annotated[list[str], "The columns in their order; of one name the second has _2 behind."]
    rows: Annotated[list[dict[str, Scalar]], "The rows; a list or struct of SQL is JSON in text."]


class Reported(TypedDict):
    """What `fairq report` wrote."""

    path: Annotated[str, "The path of the page."]
    runs: Annotated[int, "The runs that it is of."]
    bytes: Annotated[int, "Its size."]


class Changed(TypedDict):
    """A field that differs between two studies."""

    what: Annotated[Literal["version", "axes", "study", "scenario"], "Where the field is."]
    field: Annotated[str, "Its name or path."]
    a: Annotated[Scalar | list[Scalar], "What the first study has; null if it has none."]
    b: Annotated[Scalar | list[Scalar], "What the second study has."]


class Differing(TypedDict):
    """A quantity of a group, as a flow, at one point of both studies."""

    axes: Annotated[dict[str, Scalar], "The point: the axes that both studies have."]
    table: Annotated[str, "The table of the quantity."]
    quantity: Annotated[str, "Its column, with its unit."]
    of: Annotated[str, "The group: a flow, a direction of a link, a receiver."]
    a: Annotated[float | None, "The mean of the first study, over the seeds that both have."]
    b: Annotated[float | None, "The mean of the second study."]
    difference: Annotated[float | None, "The mean of b - a over these seeds; null if there is none."]
    low: Annotated[float | None, "The lower end of its 95 % interval; null of fewer than two seeds."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]
    decided: Annotated[bool, "Whether 0 is outside of the interval."]
    more_seeds: Annotated[
        int | None, "How many more seeds would decide it, if it stays what it is; null if none would."
    ]
    count: Annotated[int, "The seeds that both have."]
    left_out: Annotated[int, "The seeds of which a study has no value."]


class Diffed(TypedDict):
    """What changed from one study to another."""

    changes: Annotated[list[Changed], "The fields that differ."]
    rows: Annotated[list[Differing], "The results at the points of both."]
    runs: Annotated[list[int], "The runs of each study that exist."]
    same_runs: Annotated[int, "The runs that both have, whose results are the same."]
    notes: Annotated[list[str], "What could not be compared, and damaged parts."]


class AgreedName(TypedDict):
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


class AgreedCell(TypedDict):
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


class AgreedOrder(TypedDict):
    """Packets that came to a discipline at given times."""

    case: Annotated[str, "Its name."]
    kind: Annotated[str, "exact: nothing is random in it; random: counts are compared."]
    verdict: Annotated[Literal["agrees", "undecided", "differs"], "Whether both agree."]
    reason: Annotated[str | None, "The rule of a miss; null if it agrees, or no rule is known."]


class Agreed(TypedDict):
    """How far fairq is from a real kernel."""

    kernel: Annotated[str, "The kernel."]
    name: Annotated[str | None, "The discipline or congestion control; null: all of them."]
    summary: Annotated[list[AgreedName], "A row for each name; empty if one was given."]
    cells: Annotated[list[AgreedCell], "The cells of the name; empty without one."]
    orders: Annotated[list[AgreedOrder], "The cases of order of the name; empty without one."]
    text: Annotated[str, "The same in a sentence."]


DOCUMENTS: Mapping[str, Any] = {
    "advise": Advised,
    "advise-buffer": LeastBuffers,
    "agree": Agreed,
    "baseline": BaselineDocument,
    "compare": Compared,
    "compare-alone": ComparedAlone,
    "estimate": Estimate,
    "explain-effects": EffectsOfSettings,
    "reproduce": list[Line],
    "list-papers": list[Paper],
    "detect": list[Detected],
    "tc": TcCommands,
    "tc-read": TcRead,
    "theory-delay-bounds": DelayBounds,
    "theory-delay": Delay,
    "theory-delay-curve": DelayCurve,
    "theory-pgps": Pgps,
    "theory-tcp": list[TcpRate],
    "theory-sharing": Sharing,
    "bench": Benchmarks,
    "sweep": Swept,
    "sweep-missing": list[MissingRun],
    "sweep-left": Left,
    "query": Queried,
    "report": Reported,
    "diff": Diffed,
}
"""The name of a document's schema, which is that of its command, and its type."""
