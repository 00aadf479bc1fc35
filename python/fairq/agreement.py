"""How far answers are from a Linux kernel: cells in which both were run, and those that are like a question.

The table `agreement_linux.csv` is written by `tests/peers/linux/compare.py --write`: a row for each recorded cell, with
what the kernel and fairq gave. docs/agreement/linux.md shows all of it.
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

from fairq._native import UsageError
from fairq.near import near_miss
from fairq.questions.words import split

TABLE = "agreement_linux.csv"

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
    """By congestion control: the part of the line in Linux and here."""
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


@cache
def cells() -> tuple[Cell, ...]:
    """The recorded cells."""
    text = (resources.files("fairq") / TABLE).read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(_cell(row) for row in rows)


def _cell(row: Mapping[str, str]) -> Cell:
    def pair(name: str) -> tuple[float, float]:
        return float(row[f"{name}_linux"]), float(row[f"{name}_fairq"])

    linux, ours = (dict(zip(row["controls"].split(";"), map(float, row[name].split(";")), strict=True))
                   for name in ("share_linux", "share_fairq"))  # fmt: skip
    return Cell(
        row["cell"], row["kind"], row["window"], row["plain"] == "1",
        parts(row["queue"]), frozenset(linux), row["ecn"] == "1",
        float(row["rate_bit_per_s"]), float(row["rtt_s"]), {law: (linux[law], ours[law]) for law in linux},
        pair("queueing_s"), pair("loss"), row["verdict"], row["reason"],
    )  # fmt: skip


def parts(queue: str) -> frozenset[str]:
    """The names of a discipline's parts, without those that add nothing to others: `fifo + pie` is `pie`."""
    names = {re.split(r"[\s(]", word.strip(), maxsplit=1)[0] for word in split(queue, "+")}
    return frozenset(names - PLAIN or names)


PLAIN = {"fifo", "port_pair"}


def documented(name: str | None = None) -> dict[str, Any]:
    """The recorded cells with one discipline or congestion control, or a row for each of them; and a sentence."""
    names = _names()
    if name is None:
        summary = [
            {"name": each, "part": part, **_counted([cell for cell in cells() if each in cell.of(part)])}
            for part in ("discipline", "transport")
            for each in names[part]
        ]
        return {"kernel": KERNEL, "name": None, "summary": summary, "cells": [], "text": _whole(cells())}
    known = [*names["discipline"], *names["transport"]]
    if name not in known:
        raise UsageError(f"{name}: nothing was recorded of it in {KERNEL}{near_miss(name, known)}")
    found = [cell for cell in cells() if name in cell.queue | cell.controls]
    text = f"{name} {line(name)}"
    return {"kernel": KERNEL, "name": name, "summary": [], "cells": [cell.row() for cell in found], "text": text}


def _names() -> dict[str, list[str]]:
    """The disciplines and the congestion controls of the cells."""
    parts = ("discipline", "transport")
    return {part: sorted({name for cell in cells() for name in cell.of(part)}) for part in parts}


def line(name: str) -> str | None:
    """How far one discipline or congestion control is from the kernel, in one line; `None` if nothing was recorded."""
    found = [cell for cell in cells() if name in cell.queue | cell.controls]
    return _whole(found) if found else None


def _whole(found: Sequence[Cell]) -> str:
    """How many cells agree, and how far nine of ten of those with endless flows are."""
    count = _counted(found)
    text = f"agrees with {KERNEL} in {count['agrees']} of {count['cells']} recorded cells"
    text += f" ({count['undecided']} undecided)" if count["undecided"] else ""
    if count["share_distance"] is None:
        return f"{text}."
    return (
        f"{text}; nine of ten are within {rounded(100 * max(count['share_distance'], 1e-3))} points of share and "
        f"{rounded(100 * max(count['queueing_distance'], 1e-3))} % of queueing."
    )


def _counted(found: Sequence[Cell]) -> dict[str, Any]:
    """The cells by verdict, and the distances that nine of ten do not exceed."""
    verdicts = [cell.verdict for cell in found]
    far = {name: _ninth([getattr(cell, name) for cell in found]) for name in ("share_distance", "queueing_distance")}
    return {"cells": len(found), **{each: verdicts.count(each) for each in VERDICTS}, **far}


VERDICTS = ("agrees", "undecided", "differs")


def _ninth(values: Sequence[float]) -> float | None:
    """What nine of ten do not exceed."""
    return sorted(values)[math.ceil(0.9 * len(values)) - 1] if values else None


def rounded(value: float) -> str:
    """Two digits, rounded up: what is said holds."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / unit - 1e-9) * unit:.2g}"
