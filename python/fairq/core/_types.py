"""Types of rows, from the table of columns (crates/experiment/src/columns.rs).

Generated: cargo xtask generate.

A column that a mean has beside it, `<column>_low` and `<column>_high`, is there with several
seeds only; so are the columns of axes, by their names.
"""

from __future__ import annotations

from fairq.core.results import Row


class Flow(Row):
    """A row of `flows`.

    What has a row: a flow.
    """

    __slots__ = ()

    flow: str
    """The flow's name; copies of an entry are numbered: `name.1`, `name.2`, …"""

    from_: str
    """The node that sends the data."""

    to: str
    """The node that receives them."""

    traffic: str
    """The traffic source."""

    transport: str
    """The transport, which is the congestion control for TCP."""

    weight: float
    """The flow's weight."""

    throughput_packets: float
    """Data packets that reached the sink, repeated ones too."""
    throughput_packets_low: float | None
    throughput_packets_high: float | None

    throughput_bit_per_s: float
    """Their bits on the line, headers included, over the measured time."""
    throughput_bit_per_s_low: float | None
    throughput_bit_per_s_high: float | None

    goodput_packets: float
    """Data packets that reached the sink for the first time."""
    goodput_packets_low: float | None
    goodput_packets_high: float | None

    in_time: float | None
    """Of these, packets that came by their deadline. None if the flow has no deadline."""
    in_time_low: float | None
    in_time_high: float | None

    sent: float
    """Data packets sent, each transmission counted."""
    sent_low: float | None
    sent_high: float | None

    retransmitted: float
    """Of these, packets that had been sent before."""
    retransmitted_low: float | None
    retransmitted_high: float | None

    dropped: float
    """Data packets that a queue dropped."""
    dropped_low: float | None
    dropped_high: float | None

    lost: float | None
    """Data packets that a link lost on the way. None if no link loses packets."""
    lost_low: float | None
    lost_high: float | None

    marked: float
    """Data packets that a queue marked with congestion experienced."""
    marked_low: float | None
    marked_high: float | None

    rtt_s_mean: float | None
    """Mean round-trip time, of the samples of the sender's estimator. None if the sender took
    no sample.
    """
    rtt_s_mean_low: float | None
    rtt_s_mean_high: float | None

    delay_s_mean: float | None
    """Mean time from the sending of a data packet to its arrival. None if no packet reached
    the sink.
    """
    delay_s_mean_low: float | None
    delay_s_mean_high: float | None

    delay_s_p50: float | None
    """Median of that time, within 0.8 %. None if no packet reached the sink."""
    delay_s_p50_low: float | None
    delay_s_p50_high: float | None

    delay_s_p95: float | None
    """95th percentile of that time, within 0.8 %. None if no packet reached the sink."""
    delay_s_p95_low: float | None
    delay_s_p95_high: float | None

    delay_s_p99: float | None
    """99th percentile of that time, within 0.8 %. None if no packet reached the sink."""
    delay_s_p99_low: float | None
    delay_s_p99_high: float | None

    delay_s_max: float | None
    """Greatest such time. None if no packet reached the sink."""
    delay_s_max_low: float | None
    delay_s_max_high: float | None

    queueing_s_mean: float | None
    """Mean queueing delay: the delay of a data packet without propagation and its own
    transmission on each line of its path. Jitter counts as queueing, and so does the wait
    for an opportunity of a delivery trace. None if no packet reached the sink.
    """
    queueing_s_mean_low: float | None
    queueing_s_mean_high: float | None

    queueing_s_p50: float | None
    """Median queueing delay, within 0.8 %. None if no packet reached the sink."""
    queueing_s_p50_low: float | None
    queueing_s_p50_high: float | None

    queueing_s_p95: float | None
    """95th percentile of the queueing delay, within 0.8 %. None if no packet reached the sink."""
    queueing_s_p95_low: float | None
    queueing_s_p95_high: float | None

    queueing_s_p99: float | None
    """99th percentile of the queueing delay, within 0.8 %. None if no packet reached the sink."""
    queueing_s_p99_low: float | None
    queueing_s_p99_high: float | None

    queueing_s_max: float | None
    """Greatest queueing delay. None if no packet reached the sink."""
    queueing_s_max_low: float | None
    queueing_s_max_high: float | None

    share: float | None
    """The goodput as a part of the rate of the slowest line of its path, 0 to 1. None if no
    line of the path has a rate.
    """
    share_low: float | None
    share_high: float | None


class Link(Row):
    """A row of `links`.

    What has a row: a direction of a link.
    """

    __slots__ = ()

    link: str
    """The link's name."""

    direction: str
    """`forward` is from the link's `from` to its `to`, `reverse` the other way."""

    rate_bit_per_s: int | None
    """The link's rate; of one that changes, the mean of its trace or the middle of its walk.
    None if the rate is unlimited.
    """

    delay_s: float
    """Its propagation delay."""

    packets: float
    """Packets sent on it."""
    packets_low: float | None
    packets_high: float | None

    bytes: float
    """Their bytes, with the header of the link layer."""
    bytes_low: float | None
    bytes_high: float | None

    lost: float | None
    """Of these packets, those that were lost on the way. None if no link loses packets."""
    lost_low: float | None
    lost_high: float | None

    utilisation: float | None
    """The part that was used, 0 to 1, of what it could send in the measured time. None if the
    rate is unlimited.
    """
    utilisation_low: float | None
    utilisation_high: float | None


class Queue(Row):
    """A row of `queues`.

    What has a row: the queue before a direction of a link.
    """

    __slots__ = ()

    link: str
    """The link's name."""

    direction: str
    """`forward` is from the link's `from` to its `to`, `reverse` the other way."""

    discipline: str
    """The discipline: its parts by name."""

    discipline_settings: str
    """The discipline with those of its settings that are not their defaults."""

    limit: str
    """How much may wait."""

    dropped: float
    """Packets that it dropped."""
    dropped_low: float | None
    dropped_high: float | None

    marked: float
    """Packets that it marked with congestion experienced."""
    marked_low: float | None
    marked_high: float | None

    waiting_packets_mean: float
    """Mean over time of the packets that waited."""
    waiting_packets_mean_low: float | None
    waiting_packets_mean_high: float | None

    waiting_packets_max: float
    """The most packets that waited."""
    waiting_packets_max_low: float | None
    waiting_packets_max_high: float | None

    utilisation: float | None
    """The part of its line's capacity that was used, 0 to 1. None if the rate is unlimited."""
    utilisation_low: float | None
    utilisation_high: float | None

    overtaken: float | None
    """The part of the packets sent, 0 to 1, before which a packet that arrived later was sent;
    zero for FIFO. None if no packet was sent.
    """
    overtaken_low: float | None
    overtaken_high: float | None

    jain: float | None
    """Jain's index of fairness over the throughput per weight of the flows whose data crossed
    it, 1 when all are equal. Flows that do not always have data to send are left out where
    others do. None if no data of a flow crossed it.
    """
    jain_low: float | None
    jain_high: float | None

    sparse: float | None
    """Mean over time of the flows that woke a short while ago, or decay (CAKE). None if its
    flows are of no such kinds.
    """
    sparse_low: float | None
    sparse_high: float | None

    bulk: float | None
    """Mean over time of the flows that take turns (CAKE). None if its flows are of no such
    kinds.
    """
    bulk_low: float | None
    bulk_high: float | None

    unresponsive: float | None
    """Mean over time of the flows that went on to overflow and are dropped from at random
    (CAKE). None if its flows are of no such kinds.
    """
    unresponsive_low: float | None
    unresponsive_high: float | None


class Transfer(Row):
    """A row of `transfers`.

    What has a row: the transfers of a flow of all sizes, and of each decade of bytes that occurred.
    """

    __slots__ = ()

    flow: str
    """The flow's entry."""

    traffic: str
    """The traffic source."""

    transport: str
    """The transport."""

    size: str
    """`all`, or a decade of bytes such as `1 kB to 10 kB`, its upper end excluded."""

    completed: float
    """Transfers that came to their end."""
    completed_low: float | None
    completed_high: float | None

    completed_bytes: float
    """Their bytes."""
    completed_bytes_low: float | None
    completed_bytes_high: float | None

    completion_s_mean: float | None
    """Mean time from a transfer's beginning to its last acknowledgement. None if no transfer
    came to its end.
    """
    completion_s_mean_low: float | None
    completion_s_mean_high: float | None

    completion_s_p50: float | None
    """Median of that time, within 0.1 %. None if no transfer came to its end."""
    completion_s_p50_low: float | None
    completion_s_p50_high: float | None

    completion_s_p95: float | None
    """95th percentile of that time, within 0.1 %. None if no transfer came to its end."""
    completion_s_p95_low: float | None
    completion_s_p95_high: float | None

    completion_s_p99: float | None
    """99th percentile of that time, within 0.1 %. None if no transfer came to its end."""
    completion_s_p99_low: float | None
    completion_s_p99_high: float | None

    slowdown_mean: float | None
    """Mean of that time over the least that the path allows. None if no transfer came to its
    end.
    """
    slowdown_mean_low: float | None
    slowdown_mean_high: float | None

    slowdown_p50: float | None
    """Median slowdown. None if no transfer came to its end."""
    slowdown_p50_low: float | None
    slowdown_p50_high: float | None

    slowdown_p95: float | None
    """95th percentile of the slowdown. None if no transfer came to its end."""
    slowdown_p95_low: float | None
    slowdown_p95_high: float | None

    slowdown_p99: float | None
    """99th percentile of the slowdown. None if no transfer came to its end."""
    slowdown_p99_low: float | None
    slowdown_p99_high: float | None

    in_time: float | None
    """Of those completed, transfers that took no longer than their deadline. None if the flow
    has no deadline.
    """
    in_time_low: float | None
    in_time_high: float | None

    refused: float | None
    """Transfers for which no connection was idle. None if the row is of one size."""
    refused_low: float | None
    refused_high: float | None

    in_progress_mean: float | None
    """Mean over time of the transfers in progress. None if the row is of one size."""
    in_progress_mean_low: float | None
    in_progress_mean_high: float | None


class Session(Row):
    """A row of `sessions`.

    What has a row: a receiver of a multicast session.
    """

    __slots__ = ()

    session: str
    """The session's name."""

    receiver: str
    """The receiver's name."""

    at: str
    """The node at which it is."""

    control: str
    """How it chooses its layers."""

    layers: int
    """Layers of the session."""

    level_mean: float
    """Mean over time of the layers that it took."""
    level_mean_low: float | None
    level_mean_high: float | None

    level_end: float
    """Layers that it took at the end."""
    level_end_low: float | None
    level_end_high: float | None

    level_changes: float
    """How often it took or left a layer."""
    level_changes_low: float | None
    level_changes_high: float | None

    goodput_bit_per_s: float
    """Of its layers, what reached it, over the measured time."""
    goodput_bit_per_s_low: float | None
    goodput_bit_per_s_high: float | None

    packets: float
    """Packets of its layers that reached it."""
    packets_low: float | None
    packets_high: float | None

    lost_packets: float
    """Packets of its layers that did not."""
    lost_packets_low: float | None
    lost_packets_high: float | None

    loss: float | None
    """The part of the packets of its layers that did not reach it, 0 to 1. None if none was
    sent to it.
    """
    loss_low: float | None
    loss_high: float | None

    target_s: float | None
    """Time from its start until it first took as many layers as its target. None if it has no
    target, or did not reach it.
    """
    target_s_low: float | None
    target_s_high: float | None


class Sample(Row):
    """A row of `series`.

    What has a row: a sample of a flow, a queue or a receiver.
    """

    __slots__ = ()

    time_s: float
    """The end of the interval, from the start of the run."""

    flow: str | None
    """The flow that was sampled. None if the row is of something else."""

    link: str | None
    """The link whose queue was sampled. None if the row is of something else."""

    direction: str | None
    """The direction of that link. None if the row is of something else."""

    throughput_bit_per_s: float | None
    """What reached the flow's sink in the interval. None if the row is of something else."""

    window_packets: float | None
    """The sender's congestion window at the end of the interval. None if the transport has no
    window.
    """

    flight_packets: int | None
    """Packets in flight, as the sender counts them, at the end of the interval. None if the
    transport counts none.
    """

    rtt_s: float | None
    """The sender's smoothed round-trip time at the end of the interval. None if the sender has
    taken no sample.
    """

    pacing_bit_per_s: float | None
    """The rate at which the sender spreads its packets, at the end of the interval. None if it
    does not pace.
    """

    phase: str | None
    """The phase of its congestion control at the end of the interval, in the words of the
    control's source: `slow start`, `ProbeBW_UP`; `recovery` while losses are repaired. None
    if the transport has no congestion control.
    """

    held_packets: int | None
    """Packets in the queue, that in transmission included. None if the row is of something
    else.
    """

    session: str | None
    """The multicast session of the receiver. None if the row is of something else."""

    receiver: str | None
    """The receiver that was sampled. None if the row is of something else."""

    level: int | None
    """Layers that it takes. None if the row is of something else."""


class Packet(Row):
    """A row of `packets`.

    What has a row: a data packet of the flow that was asked for.
    """

    __slots__ = ()

    flow: str
    """The flow's name."""

    sent_s: float
    """When it was sent, from the start of the run."""

    received_s: float | None
    """When it arrived. None if it was dropped or lost."""

    bytes: int
    """Its length."""


class State(Row):
    """A row of `states`.

    What has a row: a number that a discipline shows, as `tc -s` does, at the end or at a sample.
    """

    __slots__ = ()

    time_s: float
    """When it was read, from the start of the run: the end of the run, or of a sample's
    interval.
    """

    link: str
    """The link's name."""

    direction: str
    """The direction of the link."""

    discipline: str
    """The discipline: its parts by name."""

    quantity: str
    """What the number is of."""

    subqueue: str
    """The queue, class, tin or flow of the discipline; empty if the number is of all of it."""

    unit: str
    """The unit of the number; empty if it has none."""

    value: float
    """The number: since the start of the run if it is a count."""


class Stretch(Row):
    """A row of `course`.

    What has a row: a flow in a stretch of the run.
    """

    __slots__ = ()

    time_s: float
    """The end of the stretch."""

    flow: str
    """The flow's name."""

    packets: int
    """Packets that reached the sink."""

    goodput_bit_per_s: float
    """Data that arrived for the first time, headers included."""

    queueing_s_mean: float | None
    """Mean queueing delay of these packets. None if no packet reached the sink."""


class Waiting(Row):
    """A row of `waiting`.

    What has a row: a packet that waits or is being sent at the present instant.
    """

    __slots__ = ()

    link: str
    """The link's name."""

    direction: str
    """The direction of the link."""

    place: int
    """Its place in its queue, from 1; 0 is the packet being sent."""

    queue_number: int | None
    """The number of its queue in the discipline. None if if it is being sent."""

    flow: str
    """The flow's name."""

    packet: int
    """Its name while it is under way, by which it can be dropped, marked or held."""

    sequence: int
    """Its number in its flow; an acknowledgement has that of the packet it answers."""

    packet_bytes: int
    """Its bytes on the link."""

    arrived_s: float
    """When it came to the queue."""

    ends_s: float | None
    """When its transmission ends. None if if it waits."""

    start: float | None
    """Its start tag S, in bytes of a flow of weight 1. None if if its scheduler gives none."""

    finish: float | None
    """Its finish tag F, as S. None if if its scheduler gives none."""

    rank: float | None
    """The rank by which it leaves, the least first. None if if its scheduler gives none."""


class Passage(Row):
    """A row of `timeline`.

    What has a row: a packet that came to a link.
    """

    __slots__ = ()

    link: str
    """The link's name."""

    direction: str
    """The direction of the link."""

    serial: int
    """Its number among those that came to the link, from 0."""

    flow: str
    """The flow's name."""

    sequence: int
    """Its number in its flow; an acknowledgement has that of the packet it answers."""

    packet_bytes: int
    """Its bytes on the link."""

    arrived_s: float
    """When it came."""

    began_s: float | None
    """When its transmission began. None if if it has not begun."""

    sent_s: float | None
    """When its transmission ended. None if if it has not ended."""

    start: float | None
    """Its start number S in the fluid, in bytes of a flow of weight 1. None if if it was
    refused, or the link has no fluid.
    """

    finish: float | None
    """Its finish number F, as S. None if if it was refused, or the link has no fluid."""

    fluid_s: float | None
    """When it left the fluid. None if if it has not."""

    fate: str
    """What became of it: `sent`, `dropped`, or `waits` still."""

    dropped_s: float | None
    """When it was dropped. None if if it was not."""

    reason: str | None
    """Why it was dropped. None if if it was not."""

    marked: int
    """1 if it was marked here, else 0."""


class Served(Row):
    """A row of `fluid`.

    What has a row: a flow at an instant at which the shares of the fluid changed.
    """

    __slots__ = ()

    time_s: float
    """When."""

    flow: str
    """The flow's name."""

    served_bytes: float
    """What the fluid had served since the run began; linear between two instants."""


class Theory(Row):
    """A row of `theory`.

    What has a row: a flow, with what theory says of it.
    """

    __slots__ = ()

    flow: str
    """The flow's name."""

    throughput_bit_per_s: float
    """As in `flows`."""

    max_min_bit_per_s: float | None
    """Its max-min fair share. None if the theory does not speak of the flow."""

    max_min_gap: float | None
    """Throughput over that, less one. None if the theory does not speak of the flow."""

    delay_s_mean: float | None
    """As in `flows`. None if no packet reached the sink."""

    delay_s_p99: float | None
    """As in `flows`. None if no packet reached the sink."""

    delay_s_max: float | None
    """The greatest delay over all seeds. None if no packet reached the sink."""

    delay_bound_s: float | None
    """The bound of Parekh and Gallager on its delay. None if the theory does not speak of the
    flow.
    """

    delay_bound_gap: float | None
    """Greatest delay over that, less one. None if the theory does not speak of the flow."""

    mathis_bit_per_s: float | None
    """Throughput by Mathis and others. None if the theory does not speak of the flow."""

    mathis_gap: float | None
    """Throughput over that, less one. None if the theory does not speak of the flow."""

    padhye_bit_per_s: float | None
    """Throughput by Padhye and others. None if the theory does not speak of the flow."""

    padhye_gap: float | None
    """Throughput over that, less one. None if the theory does not speak of the flow."""


class Share(Row):
    """A row of `shares`.

    What has a row: a flow, with its max-min fair share.
    """

    __slots__ = ()

    flow: str
    """The flow's name."""

    weight: float
    """The flow's weight."""

    demand_bit_per_s: float | None
    """What its traffic offers. None if it sends as much as it can."""

    share_bit_per_s: float | None
    """Its share, the mean over the measured time. None if the traffic is transfers, or there
    are sessions.
    """


SEED = "seed"
"""The column of the seed, where rows are of one run."""
