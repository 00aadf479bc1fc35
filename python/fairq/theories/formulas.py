"""The results of `fairq theory`: the words that each takes, and what the formulas give for them.

A class has the words of a result (`declared.word`), quantities as the texts that were given, and
its `answer`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fairq.core import arguments
from fairq.core.declared import NUMBERS, word
from fairq.core.errors import UsageError
from fairq.core.inputs import Whole
from fairq.core.near import near_miss
from fairq.core.quantities import rate, rates, size, time
from fairq.core.rows import Table
from fairq.theories import delay_bounds, fq_delay, processor_sharing, tcp_throughput
from fairq.theories.theory_results import Delay, DelayBounds, DelayCurve, Pgps, Sharing, TcpRate

T = TypeVar("T")

Answer: TypeAlias = Delay | DelayBounds | DelayCurve | Pgps | Sharing | Table[TcpRate]
"""What is given for words."""

FORMS = ("non-preemptive", "preemptive")
"""The forms of the algorithm of 1990."""


def answer(result: str, words: Mapping[str, Any]) -> Answer:
    """The result of this name for these words; UsageError if one makes no sense."""
    if result not in WORDS:
        raise UsageError(f"{result}: theory has no such result{near_miss(result, [*WORDS, 'max-min'])}")
    return arguments.read(WORDS[result], f"theory {result}", words).answer()


class Words(ABC):
    """What the words of all results have."""

    @abstractmethod
    def answer(self) -> Answer:
        """The result."""

    def read(self, name: str, convert: Callable[[str], T]) -> T:
        """The value of a word; what is wrong with it names the option."""
        try:
            return convert(getattr(self, name))
        except UsageError as error:
            raise UsageError(f"{_flag(name)}: {error}") from None

    @contextmanager
    def refusals(self, *names: str, **values: float) -> Iterator[None]:
        """Turn a refusal of the theory into an error of use.

        The error names `values` and the words `names` that are given.
        """
        try:
            yield
        except fq_delay.NoAnswerError as error:
            given = {name: f"{value:g}" for name, value in values.items()}
            given |= {name: getattr(self, name) for name in names}
            shown = {name: f"{_flag(name)} {value}" for name, value in given.items() if value is not None}
            # those that it is about alone, if they are words
            about = [said for name, said in shown.items() if name in error.of]
            raise UsageError(str(error), where=", ".join(about or shown.values())) from None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _in_seconds() -> Any:
    return word("show the delays in seconds too, on a line of this rate", "RATE")


@dataclass(frozen=True)
class PacketWords(Words):
    """The packets of the sources of a delay."""

    ftps: int = word("FTPs, always backlogged (default 3)", "N", "int", default=3)
    telnet_packet: str = word("P_T (default 40 B)", "SIZE", default="40 B")
    ftp_packet: str = word("P_F (default 1000 B)", "SIZE", default="1000 B")
    delta: str = word("the promptness δ (default 0 B)", "SIZE", default="0 B")

    def sizes(self) -> tuple[float, float, float]:
        """P_T, P_F and δ in bytes."""
        packet, ftp_packet, delta = (self.read(name, size) for name in ("telnet_packet", "ftp_packet", "delta"))
        return packet, ftp_packet, delta


@dataclass(frozen=True)
class DelayBoundsWords(PacketWords):
    """The words of delay-bounds."""

    rate: str | None = _in_seconds()

    def answer(self) -> DelayBounds:
        """A(P_T - δ), both forms of the algorithm."""
        packet, ftp_packet, delta = self.sizes()
        rows = []
        for form in FORMS:
            with self.refusals("telnet_packet", "ftp_packet", "delta"):
                bounds = fq_delay.extra_delay(self.ftps, packet - delta, ftp_packet, preemptive=form == "preemptive")
            rows.append({"form": form, **_both_units(bounds, self)})
        return DelayBounds(self.ftps, packet, ftp_packet, delta, rows)


@dataclass(frozen=True)
class DelayWords(PacketWords):
    """The words of delay."""

    rho: Sequence[float] = word(
        "shares of the fair share, below 1 (default 0.1,0.5,0.9)", "LIST", NUMBERS, default=(0.1, 0.5, 0.9)
    )
    rate: str | None = _in_seconds()

    def answer(self) -> Delay:
        """D_N(P) of a Poisson source."""
        packet, ftp_packet, delta = self.sizes()
        rows = []
        for rho in self.rho:
            for form in FORMS:
                with self.refusals("telnet_packet", "ftp_packet", "delta", rho=rho):
                    bounds = fq_delay.poisson_general(
                        self.ftps, packet, rho, delta, ftp_packet=ftp_packet, preemptive=form == "preemptive"
                    )
                rows.append({"share": rho, "form": form, **_both_units(bounds, self)})
        return Delay(self.ftps, packet, ftp_packet, delta, rows)


def _both_units(bounds: fq_delay.Bounds, words: DelayBoundsWords | DelayWords) -> dict[str, float]:
    """Bounds in bytes, and with a rate in seconds."""
    row = {"low_bytes": bounds.low, "high_bytes": bounds.high}
    if words.rate is not None:
        bits = words.read("rate", rate)
        row |= {"low_s": bounds.low * 8 / bits, "high_s": bounds.high * 8 / bits}
    return row


@dataclass(frozen=True)
class DelayCurveWords(Words):
    """The words of delay-curve."""

    ftps: int = word("FTPs, always backlogged (default 3)", "N", "int", default=3)
    delta: float = word("δ in packets (default 0)", "X", "float", default=0.0)
    window: int = word("window of the FTPs under FCFS (default 5)", "W", "int", default=5)
    rho: Sequence[float] = word(
        "shares of the fair share (default 0.01,0.1,…,0.9)", "LIST", NUMBERS,
        default=(0.01, *(tenths / 10 for tenths in range(1, 10))),
    )  # fmt: skip

    def answer(self) -> DelayCurve:
        """FQ as printed and with the factor N+1, and FCFS."""
        rows = []
        for rho in self.rho:
            with self.refusals("delta", rho=rho):
                rows.append(self._row(rho))
        return DelayCurve(self.ftps, self.delta, self.window, rows)

    def _row(self, rho: float) -> dict[str, float | None]:
        def fq(*, as_printed: bool) -> float | None:
            if not 0 < rho < 1:
                return None
            return fq_delay.poisson_delay(self.ftps, rho, self.delta, as_printed=as_printed)

        return {
            "share": rho,
            "fq_packets": fq(as_printed=False),
            "fq_as_printed_packets": fq(as_printed=True),
            "fcfs_packets": fq_delay.fcfs_delay(self.ftps, self.window, rho),
        }


@dataclass(frozen=True)
class PgpsWords(Words):
    """The words of pgps."""

    burst: str = word("the burst that the flow may send at once", "SIZE", required=True)
    packet: str = word("its longest packet", "SIZE", required=True)
    share: str = word("its guaranteed rate, on all lines or on each", "RATE[,…]", required=True)
    lines: str = word("the lines of its path, as 1Mbit/s,10Mbit/s", "RATE[,…]", required=True)
    largest: str | None = word("the longest packet on the lines (default --packet)", "SIZE")
    rate: str | None = word("its mean rate (default its least share)", "RATE")
    propagation: str = word("the delay of all lines together (0 s)", "TIME", default="0 s")

    def answer(self) -> Pgps:
        """Parekh and Gallager's bound along a path."""
        packet = 8 * self.read("packet", size)
        hops = self._hops(packet)
        sent = None if self.rate is None else self.read("rate", rate)
        burst = 8 * self.read("burst", size)
        with self.refusals("burst", "packet", "share", "lines", "largest", "rate"):
            bound = delay_bounds.pgps(burst, packet, hops, rate=sent)
        propagation = self.read("propagation", time)
        rows = [
            {"hop": number, "rate_bit_per_s": hop.rate, "share_bit_per_s": hop.share, "latency_s": latency}
            for number, (hop, latency) in enumerate(zip(hops, bound.latencies, strict=True), 1)
        ]
        return Pgps(rows, bound.burst, propagation, bound.delay + propagation)

    def _hops(self, packet: float) -> list[delay_bounds.Hop]:
        lines, shares = self.read("lines", rates), self.read("share", rates)
        shares = shares * len(lines) if len(shares) == 1 else shares
        if len(shares) != len(lines):
            each = "one is needed for each or for all"
            raise UsageError(f"--share has {len(shares)} rates and --lines {len(lines)}: {each}")
        largest = packet if self.largest is None else 8 * self.read("largest", size)
        return [delay_bounds.Hop(line, share, largest) for line, share in zip(lines, shares, strict=True)]


@dataclass(frozen=True)
class TcpWords(Words):
    """The words of tcp."""

    rtt: str = word("the round trip, queueing included", "TIME", required=True)
    loss: Sequence[float] = word("the part of packets that is lost", "LIST", NUMBERS, required=True)
    packet: str = word("a packet (default 1000 B)", "SIZE", default="1000 B")
    timeout: str = word("the first retransmission timeout (default 1 s)", "TIME", default="1 s")
    acknowledged: int = word("packets that an acknowledgement covers (default 1)", "B", "int", default=1)
    window: int | None = word("the receive window in packets (default: no limit)", "N", "int")

    def answer(self) -> Table[TcpRate]:
        """Mathis and Padhye."""
        round_trip, timeout = self.read("rtt", time), self.read("timeout", time)
        bits = 8 * self.read("packet", size)
        window = math.inf if self.window is None else self.window
        both: Mapping[str, Any] = {"timeout": timeout, "acknowledged": self.acknowledged, "window": window}
        rows = []
        for loss in self.loss:
            with self.refusals("rtt", "timeout", loss=loss):
                found = {
                    "mathis": tcp_throughput.mathis(round_trip, loss, acknowledged=self.acknowledged),
                    "padhye": tcp_throughput.padhye(round_trip, loss, **both),
                    "padhye full": tcp_throughput.padhye_full(round_trip, loss, **both),
                }
            rows += [
                {"loss": loss, "model": model, "rate_packets_per_s": packets, "rate_bit_per_s": packets * bits,
                 "window_packets": packets * round_trip}
                for model, packets in found.items()
            ]  # fmt: skip
        return Table.of(TcpRate, rows)


@dataclass(frozen=True)
class SharingWords(Words):
    """The words of sharing."""

    load: Sequence[float] = word("the line's load, below 1", "LIST", NUMBERS, required=True)
    more_than: Whole = word("show P(N > this) (default 100)", "N", "Whole", default=100)
    probability: float = word("show the least n with P(N > n) at most this (default 0.001)", "P", "float", default=1e-3)
    rate: str = word("the line's rate (default 1 Mbit/s)", "RATE", default="1 Mbit/s")
    size: str = word("the size of a transfer, to give its time (default 1 MB)", "SIZE", default="1 MB")
    peak: str | None = word("the peak rate of a transfer (default: the whole line)", "RATE")
    distribution: Whole | None = word("show P(N = n) up to this n", "N", "Whole")

    def answer(self) -> Sharing:
        """The number of transfers in progress, and their sojourn."""
        line, bits = self.read("rate", rate), 8 * self.read("size", size)
        peak = None if self.peak is None else self.read("peak", rate)
        with self.refusals("peak", "rate"):
            full = processor_sharing.filled_by(line, peak)
        rows = []
        for load in self.load:
            with self.refusals("probability", load=load):
                slowdown = processor_sharing.slowdown(load, full)
                rows.append(
                    {
                        "load": load,
                        "in_progress_mean": processor_sharing.mean_in_progress(load, full),
                        "more_than": self.more_than,
                        "p_more": processor_sharing.more_than(self.more_than, load, full),
                        "probability": self.probability,
                        "least_n": processor_sharing.least_number(self.probability, load, full),
                        "slowdown_mean": slowdown,
                        "sojourn_s_mean": slowdown * bits * full / line,
                    }
                )
        return Sharing(rows, self._distribution(full))

    def _distribution(self, full: int) -> list[dict[str, float]]:
        if not self.distribution:
            return []
        with self.refusals("distribution"):
            return [
                {"load": load, "transfers": number, "p": processor_sharing.exactly(number, load, full),
                 "p_more": processor_sharing.more_than(number, load, full)}
                for load in self.load for number in range(self.distribution + 1)
            ]  # fmt: skip


WORDS: Mapping[str, type[Words]] = {
    "delay-bounds": DelayBoundsWords,
    "delay": DelayWords,
    "delay-curve": DelayCurveWords,
    "pgps": PgpsWords,
    "tcp": TcpWords,
    "sharing": SharingWords,
}
"""The results by name, but for max-min, which is of a scenario and not of words."""
