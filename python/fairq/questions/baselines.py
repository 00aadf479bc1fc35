"""One flow alone on an ideal line: what its congestion control does over time.

The line has a rate, a delay and a queue, and nothing else is on it: hosts send and answer at once,
no packet is lost on the way. What is seen is the control's own doing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import fairq._native as _native
from fairq.core import quantities, tables
from fairq.core.declared import command_line, said, word
from fairq.core.errors import FairqError, ScenarioError, UsageError
from fairq.core.inputs import Text
from fairq.core.results import Result
from fairq.core.runs import Experiment
from fairq.questions import rates, words
from fairq.questions import receive_window as windows
from fairq.questions.baseline_results import Baseline
from fairq.questions.steady import BANDS, MEASURED_ROUND_TRIPS_MIN

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of the document that `fairq baseline --json` prints."""

BUFFER, QUEUE, DURATION, PROFILE = "1 BDP", "fifo", "30 s", "linux"
"""What a baseline has where it says nothing; the duration is the least."""

LONGER, PARTS = 8, 40
"""How many times as long a run may be until it stands still, and into how many parts it is divided
to find out from when on it does."""

PACKET = 1500
"""Bytes of a packet on the line."""

SAMPLES_MIN, PACKETS_MIN, SAMPLES_IN_ROUND = 200, 20, 4
"""Samples: four in a round trip, so that no phase of one is missed, but no fewer than 200 in all.
None is so short that fewer than 20 packets pass: one more or less would be a jump of throughput."""

Sample = Mapping[str, Any]
"""The flow at an instant (baseline_results.BaselineSample)."""

SAMPLES_MAX = 10_000
"""The most samples, unless their distance is given."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A control and the line that it has for itself; quantities are text with units."""

    # fmt: off
    control: str = word(
        "the congestion control, as bbr3 or cubic(decrease=0.8)", "CONTROL", is_argument=True, required=True
    )
    rate: str = word("the rate of the line, as 20Mbit/s, 30Mbit/s..130Mbit/s, or trace:FILE", required=True)
    rtt: str = word("the round trip without queueing, as 100ms", "TIME", required=True)
    buffer: str = word(
        f"the buffer of the line's queue, as 2BDP or 60kB (default {BUFFER})", "ROOM", default=BUFFER
    )
    queue: str = word(f"the queue of the line (default {QUEUE})", default=QUEUE)
    duration: str | None = word(
        f"run this long (default: until it stands still, at least {DURATION})", "TIME"
    )
    profile: str = word(f"the system of the hosts (default {PROFILE})", "NAME", default=PROFILE)
    receive_window: str | None = word(
        "the receive window, as 6MB or 4000packets (default: the profile's)", "SIZE"
    )
    series: str | None = word("sample this often (default: four times in a round trip)", "TIME")
    # fmt: on

    @property
    def length(self) -> str:
        """How long it runs: what was said, or the least."""
        return self.duration or DURATION

    @property
    def command(self) -> str:
        """The command that asks it."""
        unusual = [(option, texts) for option, texts in said(self) if texts != [option.default]]
        return command_line("fairq baseline", unusual)


def scenario(question: Question) -> Text:
    """The scenario in TOML, checked: UsageError names the word of the question that cannot be."""
    _check_control(question.control)
    rtt, duration = _above_zero("--rtt", "time", question.rtt), _above_zero("--duration", "time", question.length)
    _line_rate(question)
    if duration <= rtt:
        raise UsageError(
            f"--duration {question.length}: the first answer comes after a round trip, {question.rtt}; write some "
            f"hundred round trips, as {100 * rtt:g}s"
        )
    try:
        made = Text(_text(question, _connection(question)), "baseline")
        Experiment(made)
    except ScenarioError as error:
        raise _by_words(question, error) from None
    return made


def _quoted(text: str | int) -> str:
    return json.dumps(text, ensure_ascii=False)


def _connection(question: Question) -> str:
    """The profile, and what the control needs beside it, as TOML."""
    more = list(words.beside(_name(question.control)).items())
    if question.receive_window is not None:
        more.insert(0, ("receive_window", windows.packets(question.receive_window)))
    return f"{{ {', '.join(f'{key} = {_quoted(value)}' for key, value in [('profile', question.profile), *more])} }}"


def _name(control: str) -> str:
    return control.partition("(")[0].strip()


def _text(question: Question, connection: str) -> str:
    return f"""\
# {question.command}
edition = 2
title = {_quoted(f"{question.control} alone")}

[measure]
duration = {_quoted(question.length)}

[defaults]
start = "0 s"
connection = {connection}

[[links]]
name = "line"
from = "sender"
to = "receiver"
{_fields(rates.fields(question.rate))}
delay = "{_time(quantities.time(question.rtt) / 2)}"
queue = {_quoted(question.queue)}
buffer = {_quoted(question.buffer)}
reverse_queue = "fifo"

[[flows]]
name = "flow"
from = "sender"
to = "receiver"
traffic = "ftp(packet={PACKET}B)"
transport = {_quoted(question.control)}
"""


def _fields(fields: Mapping[str, str]) -> str:
    return "\n".join(f"{name} = {_quoted(value)}" for name, value in fields.items())


def experiment(question: Question, trace: bool = False) -> Experiment:
    """The run of the question, ready: UsageError names the word that cannot be."""
    made = scenario(question)
    try:
        return Experiment(made, (), _interval(question), trace=trace)
    except UsageError as error:
        # Too many samples.
        raise UsageError(error.fault, where=f"--series {question.series}") from None


def baseline(question: Question, trace: bool = False, progress: Tell | None = None) -> Baseline:
    """Run the flow; without a duration again and twice as long until it stands still.

    On a line whose rate changes nothing ever does.
    """
    is_once = question.duration is not None or rates.is_moving(question.rate)
    longest = _duration(question) * (1 if is_once else LONGER)
    while True:
        found = of_result(question, experiment(question, trace).run(1, progress))
        length = 2 * _duration(question)
        if found.steady is not None or length > longest:
            return found
        question = replace(question, duration=f"{length:g} s")


def _steady(series: Sequence[Sample], rate: float, rtt: float) -> dict[str, Any] | None:
    """What the flow does once throughput and round trip stand still; `None` if they never do.

    They do where the halves of what is left differ by less than counts, in at least half of the run.
    What is left has at least five round trips. Medians count as well: the overshoot of a slow start
    can make the mean of a half as great as that of the other, while the round trip still grows.
    """
    for part in range(PARTS // 2 + 1):
        first = len(series) * part // PARTS
        middle = (first + len(series)) // 2
        left, halves = series[first:], (series[first:middle], series[middle:])
        if len(left) * series[0]["time_s"] < MEASURED_ROUND_TRIPS_MIN * rtt:
            return None
        before, after = (_means(half) for half in halves)
        if _stands(before, after, rate) and _is_same_trip(*(_median_trip(half) for half in halves)):
            throughput, trip = _means(left)
            from_s = series[first - 1]["time_s"] if first else 0.0
            return {"from_s": from_s, "throughput_bit_per_s": throughput or 0.0, "rtt_s": trip}
    return None


def _means(samples: Sequence[Sample]) -> tuple[float | None, float | None]:
    return _mean([each["throughput_bit_per_s"] for each in samples]), _mean([each["rtt_s"] for each in samples])


def _stands(one: tuple[float | None, float | None], other: tuple[float | None, float | None], rate: float) -> bool:
    throughputs, trips = zip(one, other, strict=True)
    before, after = ((value or 0.0) / rate for value in throughputs)
    return abs(before - after) <= BANDS["share"].least and _is_same_trip(*trips)


def _is_same_trip(one: float | None, other: float | None) -> bool:
    return one is None or other is None or abs(one - other) <= BANDS["queueing_s_mean"].least * max(one, other)


def _median_trip(samples: Sequence[Sample]) -> float | None:
    known = [each["rtt_s"] for each in samples if each["rtt_s"] is not None]
    return median(known) if known else None


def _interval(question: Question) -> str:
    """The distance of samples, as text."""
    if question.series is not None:
        _above_zero("--series", "time", question.series)
        return question.series
    rate, rtt, duration = _line_rate(question), quantities.time(question.rtt), _duration(question)
    least = max(PACKETS_MIN * PACKET * 8 / rate, duration / SAMPLES_MAX)
    return _time(min(max(rtt / SAMPLES_IN_ROUND, least), duration / SAMPLES_MIN))


def of_result(question: Question, result: Result) -> Baseline:
    """What the run of the question says."""
    series = [_sample(row) for row in result.series if row["flow"] is not None]
    rate, rtt = _line_rate(question), quantities.time(question.rtt)
    phases, flow, notes = _phases(series), result.flows[0], [windows.in_words(note) for note in result.notes]
    document = {
        "schema_version": SCHEMA_VERSION,
        "command": question.command,
        "control": question.control,
        "rate": question.rate,
        "rate_bit_per_s": round(rate),
        "utilisation": result.links[0].utilisation or 0.0,
        "rtt_s": rtt,
        "product_bytes": rate * rtt / 8,
        "buffer": question.buffer,
        "queue": question.queue,
        "profile": question.profile,
        "receive_window": question.receive_window,
        "duration_s": _duration(question),
        "flow": {
            "throughput_bit_per_s": flow.throughput_bit_per_s,
            "goodput_packets": round(flow.goodput_packets),
            "sent": round(flow.sent),
            "retransmitted": round(flow.retransmitted),
            "dropped": round(flow.dropped),
            "marked": round(flow.marked),
            "rtt_s_mean": flow.rtt_s_mean,
            "queueing_s_mean": flow.queueing_s_mean,
            "queueing_s_p99": flow.queueing_s_p99,
        },
        "steady": None if rates.is_moving(question.rate) else _steady(series, rate, rtt),
        "phases": phases,
        "notes": [{"code": note["code"], "where": note["where"], "text": note["text"]} for note in notes],
        "series": series,
    }
    return Baseline(document=document, result=result, scenario=scenario(question).text)


def title(found: Baseline) -> str:
    """What a picture of it is called."""
    rate, rtt = _rate_said(found), _said("rtt_s", found.rtt_s)
    return f"{found.control} alone: {rate}, {rtt}, {found.queue}, buffer {found.buffer}"


def sentence(found: Baseline) -> str:
    """What the flow got, and what it did to the line."""
    flow, rate, rtt = found.flow, found.rate_bit_per_s, found.rtt_s
    throughput, queueing = flow.throughput_bit_per_s, flow.queueing_s_mean
    flight = _mean([sample["flight_bytes"] for sample in found.series])
    of = f"of {_rate_said(found)} ({throughput / rate:.1%})"
    if rates.is_moving(found.rate):
        of = f"on a line of {_rate_said(found)}, {found.utilisation:.1%} of what it could carry"
    parts = [f"{_said('rate_bit_per_s', throughput)} {of}"]
    if flight is not None:
        parts.append(f"{flight / found.product_bytes:.2f} bandwidth-delay products in flight")
    if queueing is not None:
        parts.append(
            f"{_said('queueing_s', queueing)} of queueing on average beside a round trip of {_said('rtt_s', rtt)}"
        )
    counts = {"dropped": flow.dropped, "marked": flow.marked, "retransmitted": flow.retransmitted}
    parts += [f"{count} packets {name}" for name, count in counts.items() if count]
    return f"{found.control}: {', '.join(parts)}. {_steady_said(found)}"


def _rate_said(found: Baseline) -> str:
    """The line's rate in words."""
    if not rates.is_moving(found.rate):
        return _said("rate_bit_per_s", found.rate_bit_per_s)
    return f"{found.rate}, nominally {_said('rate_bit_per_s', found.rate_bit_per_s)}"


def _steady_said(found: Baseline) -> str:
    """The sentence on when the flow becomes steady, and what it does from then on."""
    if rates.is_moving(found.rate):
        return f"The line's rate changes, so that nothing stands still; it ran for {_said('x_s', found.duration_s)}."
    steady, rate = found.steady, found.rate_bit_per_s
    if steady is None:
        return f"It does not stand still within {_said('x_s', found.duration_s)}; write a longer --duration."
    throughput = steady.throughput_bit_per_s
    trip = "" if steady.rtt_s is None else f", a round trip of {_said('rtt_s', steady.rtt_s)}"
    said = f"{_said('rate_bit_per_s', throughput)} ({throughput / rate:.1%}){trip}"
    return f"It stands still from {_said('x_s', steady.from_s)} on, of {_said('x_s', found.duration_s)}: {said}."


def _said(name: str, value: float) -> str:
    return tables.value(name, value)


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    flight, window = row["flight_packets"], row["window_packets"]
    return {
        "time_s": row["time_s"],
        "throughput_bit_per_s": row["throughput_bit_per_s"],
        "flight_bytes": None if flight is None else flight * PACKET,
        "window_bytes": None if window is None else window * PACKET,
        "pacing_bit_per_s": row["pacing_bit_per_s"],
        "rtt_s": row["rtt_s"],
        "phase": row["phase"],
    }


def _phases(series: Sequence[Sample]) -> list[dict[str, Any]]:
    """The phases in the order in which they first come."""
    of: dict[str, list[Sample]] = {}
    begins: dict[str, int] = {}
    before = None
    for sample in series:
        phase = sample["phase"]
        if phase is not None:
            of.setdefault(phase, []).append(sample)
            begins[phase] = begins.get(phase, 0) + (phase != before)
        before = phase
    step = series[0]["time_s"] if series else 0.0
    return [
        {
            "phase": phase,
            "begins": begins[phase],
            "duration_s": step * len(samples),
            "throughput_bit_per_s": _mean([sample["throughput_bit_per_s"] for sample in samples]) or 0.0,
            "flight_bytes": _mean([sample["flight_bytes"] for sample in samples]),
            "window_bytes": _mean([sample["window_bytes"] for sample in samples]),
            "rtt_s": _mean([sample["rtt_s"] for sample in samples]),
        }
        for phase, samples in of.items()
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _check_control(control: str) -> None:
    """Refuse what is no transport by its kind: a receiver of a session, a discipline."""
    name = _name(control)
    if _is_in("transports", name):
        return
    for kind, what in (
        ("receivers", "it chooses the layers of a multicast session at the receiver, and has no sender of its own; "
         "docs/guide/multicast.md has a session"),
        ("disciplines", f"it is a discipline of a queue; write --queue {name}, and a congestion control in its place"),
        ("traffic", "it is a source of traffic; a baseline always has data to send"),
    ):  # fmt: skip
        if _is_in(kind, name):
            raise UsageError(f"{name}: {what}; fairq list transports has the congestion controls")


def _is_in(kind: str, name: str) -> bool:
    """Whether a list of the registry has an entry of this name."""
    return any(name in (entry["name"], *entry["aliases"]) for entry in json.loads(_native.listing(kind)))


def _duration(question: Question) -> float:
    return quantities.time(question.length)


def _line_rate(question: Question) -> float:
    """The line's nominal rate."""
    return rates.nominal("--rate:", question.rate) or _above_zero("--rate", "rate", question.rate)


def _above_zero(option: str, kind: str, text: str) -> float:
    try:
        value = quantities.rate(text) if kind == "rate" else quantities.time(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None
    if value <= 0:
        example = "20Mbit/s" if kind == "rate" else "40ms"
        raise UsageError(f"{option} {text}: it is above 0; write for example {example}")
    return value


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e12)} ps" if seconds < 1e-6 else f"{round(seconds * 1e9)} ns"


def _by_words(question: Question, error: FairqError) -> FairqError:
    """An error of the scenario as one of the question: its place is the wrong word."""
    words = {
        "measure.duration": f"--duration {question.length}",
        "defaults.connection": f"--profile {question.profile}",
        "links[0].rate": f"--rate {question.rate}",
        "links[0].trace": f"--rate {question.rate}",
        "links[0].delay": f"--rtt {question.rtt}",
        "links[0].queue": f"--queue {question.queue}",
        "links[0].buffer": f"--buffer {question.buffer}",
        "flows[0].transport": question.control,
        "flows[0]": question.control,
    }
    fault = error.fault.removesuffix(" (for flow flow)")
    if error.path == "flows[0].transport" and _is_in("transports", _name(question.control)):
        # it is known, and unfit for this traffic; a scenario may say other traffic, and a baseline may not
        fault = f"{error.message}; write cubic, or bbr3"
    where = next((said for start, said in words.items() if error.path.startswith(start)), None)
    return error if where is None else UsageError(fault, where)
