"""Why an entry does not agree: `reasons.csv` names a rule of `rules.csv` for it.

A row with a setting is tested: the setting moves a quantity nearer to the kernel's. A rule says
what the kernel does, with its file and function, or what was found out so far.
"""

from __future__ import annotations

import csv
import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from linux import cells, order
from linux.truth import Case, Cell, Seen
from programs import Fault

PATH = Path(__file__).resolve().parent / "reasons.csv"
RULES = PATH.with_name("rules.csv")


@dataclass(frozen=True)
class Reason:
    """A row: with `setting` as `value` the distance of `quantity` goes from `before` to `after`."""

    case: str
    """A case, or a cell and its window as `NAME@5-20`; without a setting also a pattern of them."""
    rule: str
    """Its name in rules.csv."""
    setting: str
    """For a case of order `text`, the text form; for a cell a path as `fairq run --set` takes it; empty: none."""
    value: str
    quantity: str
    before: float | None
    after: float | None

    @property
    def tried(self) -> str:
        """In one line."""
        change = f"`{self.setting} = {self.value}`: {self.quantity} is off by {self.after:.2g}, not {self.before:.2g}"
        return f"{self.case}, {change}"


def read(path: Path = PATH) -> list[Reason]:
    """All rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_reason(row) for row in csv.DictReader(file)]


def rules(path: Path = RULES) -> dict[str, str]:
    """What each rule is, by name, in the order of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["rule"]: row["what"] for row in csv.DictReader(file)}


def _reason(row: Mapping[str, str]) -> Reason:
    before, after = (float(row[name]) if row[name] else None for name in ("before", "after"))
    return Reason(row["case"], row["rule"], row["setting"], row["value"], row["quantity"], before, after)


@dataclass(frozen=True)
class Known:
    """The reasons, to be asked by name."""

    rows: Sequence[Reason]

    def rules(self, name: str) -> list[str]:
        """The rules of a case or a cell with its window: by its name, else by the first pattern."""
        exact = [row.rule for row in self.rows if row.case == name]
        others = (row.rule for row in self.rows if fnmatch.fnmatchcase(name, row.case))
        return list(dict.fromkeys(exact or [*islice(others, 1)]))

    def tried(self, rule: str, names: Sequence[str]) -> list[str]:
        """What was tried of a rule in the entries of these names."""
        return [row.tried for row in self.rows if row.rule == rule and row.setting and row.case in names]


def again(
    reasons: Sequence[Reason],
    cases: Mapping[str, Case],
    known: Mapping[str, Cell | Seen],
    verdict: Callable[..., cells.Verdict],
) -> Iterator[tuple[Reason, float, float]]:
    """Each row that has a setting, measured anew: how far the quantity is from the kernel's without and with it."""
    for reason in reasons:
        if not reason.setting:
            continue
        if reason.case in cases:
            case = cases[reason.case]
            plain = order.verdict(case)
            changed = order.verdict(case, replace(order.setup(case), text=reason.value))
            yield reason, _off(plain, reason.quantity), _off(changed, reason.quantity)
        elif reason.case in known:
            cell = known[reason.case]
            usual = verdict(cell)
            other = verdict(cell, {reason.setting: reason.value})
            yield reason, _cell_off(usual, reason.quantity), _cell_off(other, reason.quantity)
        else:
            raise Fault(
                f"{PATH.name}: {reason.case} is neither a case of order nor a cell with its window, as NAME@5-20"
            )


def _off(found: order.Verdict, quantity: str) -> float:
    match quantity:
        case "in_place":
            return 1 - found.in_place
        case "drops_same":
            return 1 - found.drops_same
        case "drops":
            return abs(found.drops[0] - found.drops[1])
        case "wait_ms":
            return abs(found.wait_ms[0] - found.wait_ms[1])
    raise Fault(f"{PATH.name}: {quantity} is no quantity of a case; write in_place, drops_same, drops or wait_ms")


def _cell_off(found: cells.Verdict, quantity: str) -> float:
    match quantity:
        case "share":
            return max(abs(linux - ours) for linux, ours in found.share.values())
        case "queue" | "loss" | "marks" | "up_queue" | "up_loss" | "completion":
            linux, ours = getattr(found, quantity)
            return abs(float(linux) - float(ours))
    raise Fault(
        f"{PATH.name}: {quantity} is no quantity of a cell; write share, queue, loss, marks, up_queue, up_loss or"
        " completion"
    )
