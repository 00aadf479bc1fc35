"""What `fairq baseline` gives."""

from __future__ import annotations

from typing import Annotated

from fairq.core.pictured import Pictured
from fairq.core.records import Beside, Record
from fairq.core.results import Result
from fairq.core.rows import Row, Table
from fairq.questions.question_results import Note


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
    Pictured, Record, named="BaselineDocument", told=("control", "series", "phases"),
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
