"""Why an entry does not agree: `reasons.csv`, each row a setting that moves a quantity nearer to the kernel's.

A row without a setting names a rule that no setting has; `rule` says it, with the kernel's file and function.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from linux import cells, order
from linux.truth import Case, Cell, Seen
from programs import Fault

PATH = Path(__file__).resolve().parent / "reasons.csv"


@dataclass(frozen=True)
class Reason:
    """A row: with `setting` as `value` the distance of `quantity` from the kernel's goes from `before` to `after`."""

    case: str
    """A case of order, or a cell and its window as `NAME@5-20`."""
    setting: str
    """For a case of order `text`, the text form; for a cell a path as `fairq run --set` takes it; empty: none."""
    value: str
    quantity: str
    before: float | None
    after: float | None
    rule: str

    @property
    def text(self) -> str:
        """In one line."""
        if not self.setting:
            return self.rule
        change = f"with {self.setting} = {self.value} {self.quantity} is off by {self.after:.4g}, not {self.before:.4g}"
        return f"{self.rule}: {change}"


def read(path: Path = PATH) -> list[Reason]:
    """All rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_reason(row) for row in csv.DictReader(file)]


def _reason(row: Mapping[str, str]) -> Reason:
    before, after = (float(row[name]) if row[name] else None for name in ("before", "after"))
    return Reason(row["case"], row["setting"], row["value"], row["quantity"], before, after, row["rule"])


def by_case(reasons: Sequence[Reason]) -> dict[str, str]:
    """The text for each case or cell."""
    found: dict[str, str] = {}
    for reason in reasons:
        found[reason.case] = f"{found[reason.case]}; {reason.text}" if reason.case in found else reason.text
    return found


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
