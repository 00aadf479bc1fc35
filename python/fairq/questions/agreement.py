"""How far answers are from a Linux kernel: what was recorded of it, and what fairq gives for the same.

The tables `recorded/linux_*.csv` are written by `tests/peers/linux/compare.py --write`, whose recorded.py says their
columns; docs/agreement/linux.md shows all of them.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.rows import row_of
from fairq.questions.agreed import Agreed
from fairq.questions.words import split

KERNEL = "Linux 6.1"

QUEUEING_MIN_S = 5e-3
"""A queueing delay below this is compared as if it were this long."""


@dataclass(frozen=True)
class Cell:
    """Flows over a discipline, measured in Linux and here in one window of time."""

    name: str
    kind: str
    window: str
    """Seconds, as `5-20`."""
    is_plain: bool
    """Whether its flows are endless, of one direction and without settings of their own: what a question asks."""
    queue: frozenset[str]
    """The names of the discipline's parts (`parts`)."""
    controls: frozenset[str]
    ecn: bool
    rate_bit_per_s: float
    rtt_s: float
    share: Mapping[str, tuple[float, float]]
    """The share of the line in Linux and in fairq, by congestion control."""
    queueing_s: tuple[float, float]
    loss: tuple[float, float]
    verdict: str
    """`agrees`, `differs`, or `undecided`: the kernel's own runs differ by more."""
    reason: str

    @property
    def share_distance(self) -> float:
        """The most that a share differs, in parts of the line."""
        return max(abs(linux - ours) for linux, ours in self.share.values())

    @property
    def queueing_distance(self) -> float:
        """How far the queueing delay differs, in parts of the kernel's."""
        linux, ours = self.queueing_s
        return abs(linux - ours) / max(linux, QUEUEING_MIN_S)

    def of(self, part: str) -> frozenset[str]:
        """The names of its discipline, or of its transports."""
        return self.queue if part == "discipline" else self.controls

    def row(self) -> dict[str, Any]:
        """For `--json`."""
        linux, ours = ({law: pair[side] for law, pair in self.share.items()} for side in (0, 1))
        return {
            "cell": self.name, "kind": self.kind, "window": self.window, "verdict": self.verdict,
            "rate_bit_per_s": self.rate_bit_per_s, "rtt_s": self.rtt_s, "share_linux": linux, "share_fairq": ours,
            "queueing_s_linux": self.queueing_s[0], "queueing_s_fairq": self.queueing_s[1],
            "loss_linux": self.loss[0], "loss_fairq": self.loss[1], "share_distance": self.share_distance,
            "queueing_distance": self.queueing_distance, "reason": self.reason or None,
        }  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Packets that came to a discipline at given times: which left when, and which were dropped."""

    name: str
    kind: str
    """`exact`, `boots`: another order in each boot, or `random`."""
    queue: frozenset[str]
    verdict: str
    reason: str

    def of(self, part: str) -> frozenset[str]:
        """The names of its discipline; it has no transports."""
        return self.queue if part == "discipline" else frozenset()

    def row(self) -> dict[str, Any]:
        """For `--json`."""
        return {"case": self.name, "kind": self.kind, "verdict": self.verdict, "reason": self.reason or None}


@cache
def cells() -> tuple[Cell, ...]:
    """The recorded cells."""
    rules = _rules()
    return tuple(_cell(row, rules) for row in _table("cells"))


@cache
def cases() -> tuple[Case, ...]:
    """The recorded cases of order."""
    rules = _rules()
    return tuple(
        Case(row["case"], row["kind"], parts(row["text"]), row["verdict"], _reason(row["rule"], rules))
        for row in _table("order")
    )


def _table(name: str) -> list[dict[str, str]]:
    text = (resources.files("fairq.questions") / "recorded" / f"linux_{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _rules() -> dict[str, str]:
    """What each rule that tells fairq from the kernel says."""
    return {row["rule"]: row["what"].replace("`", "") for row in _table("rules")}


def _reason(names: str, rules: Mapping[str, str]) -> str:
    return " ".join(rules[name] for name in names.split(";") if name)


def _cell(row: Mapping[str, str], rules: Mapping[str, str]) -> Cell:
    linux, ours = (_shares(row[name]) for name in ("share_linux", "share_fairq"))
    return Cell(
        row["cell"], row["kind"], row["window_s"], row["plain"] == "1" and row["kind"] not in OWN_SETTINGS,
        parts(row["text"]), frozenset(each.split(":")[0] for each in row["controls"].split(";")), row["ecn"] == "1",
        1e6 * float(row["rate_mbit"]), float(row["rtt_ms"]) / 1e3, {name: (linux[name], ours[name]) for name in linux},
        (float(row["queue_ms_linux"]) / 1e3, float(row["queue_ms_fairq"]) / 1e3),
        (float(row["loss_linux"]), float(row["loss_fairq"])), row["verdict"], _reason(row["rule"], rules),
    )  # fmt: skip


def _shares(text: str) -> dict[str, float]:
    return {name: float(share) for name, share in (each.split("=") for each in text.split(";"))}


OWN_SETTINGS = ("variation",)
"""Kinds of cells whose congestion controls have other settings than their defaults."""


def parts(queue: str) -> frozenset[str]:
    """The names of a discipline's parts, without those that add nothing to others: `fifo + pie` is `pie`."""
    names = {re.split(r"[\s(]", word.strip(), maxsplit=1)[0] for word in split(queue, "+")}
    names = {name for name in names if not name[:1].isdigit()}
    return frozenset(names - PLAIN or names)


PLAIN = {"fifo", "port_pair"}


def documented(name: str | None = None) -> Agreed:
    """What was recorded of one discipline or congestion control, or a row for each of them; and a sentence."""
    names = {part: sorted({each for found in _of_part(part) for each in found.of(part)}) for part in PARTS}
    document: dict[str, Any] = {"kernel": KERNEL, "name": name, "summary": [], "cells": [], "orders": []}
    if name is None:
        summary = [{"name": each, "part": part, **_counted(*_with(each))} for part in PARTS for each in names[part]]
        return row_of(Agreed, document | {"summary": summary, "text": f"fairq {_said(cells(), cases())}"})
    known = [each for part in PARTS for each in names[part]]
    if name not in known:
        raise UsageError(f"{name}: nothing was recorded of it in {KERNEL}{near_miss(name, known)}")
    some, orders = _with(name)
    rows = {"cells": [cell.row() for cell in some], "orders": [case.row() for case in orders]}
    return row_of(Agreed, document | rows | {"text": f"{name} {_said(some, orders)}"})


PARTS = ("discipline", "transport")


def _of_part(part: str) -> Sequence[Cell | Case]:
    return [*cells(), *cases()] if part == "discipline" else cells()


def _with(name: str) -> tuple[list[Cell], list[Case]]:
    """The cells and the cases of order with a discipline or congestion control."""
    some = [cell for cell in cells() if name in cell.queue | cell.controls]
    return some, [case for case in cases() if name in case.queue]


def line(name: str) -> str | None:
    """How far one discipline or congestion control is from the kernel, in one line; `None` if nothing was recorded."""
    some, orders = _with(name)
    return _said(some, orders) if some or orders else None


def _said(some: Sequence[Cell], orders: Sequence[Case]) -> str:
    """How many agree, and how far nine of ten cells are."""
    count = _counted(some, orders)
    told = []
    if orders:
        told.append(f"the order of departures in {count['orders_agree']} of {count['orders']} recorded cases")
    if some:
        undecided = f" ({count['undecided']} undecided)" if count["undecided"] else ""
        told.append(f"connections in {count['agrees']} of {count['cells']} recorded cells{undecided}")
    text = f"agrees with {KERNEL}: {', '.join(told)}"
    if some:
        share, queueing = (rounded(100 * max(count[each], 1e-3)) for each in ("share_distance", "queueing_distance"))
        text += f"; nine of ten cells are within {share} points of share and {queueing} % of queueing"
    return f"{text}."


def _counted(found: Sequence[Cell], orders: Sequence[Case]) -> dict[str, Any]:
    """The cells by verdict, the distances that nine of ten do not exceed, and the cases of order."""
    verdicts = [cell.verdict for cell in found]
    far = {name: _ninth([getattr(cell, name) for cell in found]) for name in ("share_distance", "queueing_distance")}
    agree = sum(case.verdict == "agrees" for case in orders)
    counts = {each: verdicts.count(each) for each in VERDICTS}
    return {"orders": len(orders), "orders_agree": agree, "cells": len(found), **counts, **far}


VERDICTS = ("agrees", "undecided", "differs")


def _ninth(values: Sequence[float]) -> float | None:
    """What nine of ten do not exceed."""
    return sorted(values)[math.ceil(0.9 * len(values)) - 1] if values else None


def rounded(value: float) -> str:
    """Two digits, rounded up: what is said holds."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / unit - 1e-9) * unit:.2g}"
