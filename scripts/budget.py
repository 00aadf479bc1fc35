"""How long each part of a run of CI took, beside its budget in CONTRIBUTING.md.

`python3 scripts/budget.py LOG` prints the parts of a log, from its lines `TIME part: 12 s`, with a
warning for each part over its budget; with `--write` it writes them into the table too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"
TIME = re.compile(r"^TIME ([^:]+): (\d+) s$", re.MULTILINE)
ROW = re.compile(r"^\| (?P<part>[^|]+) \| (?P<budget>\d+) \| (?P<last>\d*) \|(?P<what>.*)$", re.MULTILINE)
"""A row of the table: part, budget and last time in seconds, what it does."""


def main() -> int:
    """Say what the command line asks for; 2 if the log has no times."""
    words = [word for word in sys.argv[1:] if word != "--write"]
    log = Path(words[0]).read_text(encoding="utf-8", errors="replace") if len(words) == 1 else ""
    took = {part: int(seconds) for part, seconds in TIME.findall(log)}
    if not took:
        print(__doc__ if len(words) != 1 else f"{words[0]}: no line says how long a part took", file=sys.stderr)
        return 2
    page = PAGE.read_text(encoding="utf-8")
    print("\n".join(compared(took, budgets(page))))
    if "--write" in sys.argv:
        PAGE.write_text(written(page, took), encoding="utf-8")
    return 0


def budgets(page: str) -> dict[str, int]:
    """The seconds of each part."""
    return {row["part"]: int(row["budget"]) for row in ROW.finditer(page)}


def compared(took: dict[str, int], allowed: dict[str, int]) -> list[str]:
    r"""A line for each part, then the sum.

    >>> print("\n".join(compared({"check": 70, "cost": 20}, {"check": 60, "cost": 60})))
    check: 70 s of 60 s: WARNING: over its budget
    cost: 20 s of 60 s
    all: 90 s of 120 s
    """
    lines = []
    for part, seconds in {**took, "all": sum(took.values())}.items():
        budget = sum(allowed.values()) if part == "all" else allowed.get(part)
        beside = "no budget in CONTRIBUTING.md" if budget is None else f"{seconds} s of {budget} s"
        over = ": WARNING: over its budget" if budget is not None and seconds > budget else ""
        lines.append(f"{part}: {beside}{over}")
    return lines


def written(page: str, took: dict[str, int]) -> str:
    """The page with the times of this run in place of those of the last."""

    def row(match: re.Match[str]) -> str:
        last = took.get(match["part"])
        shown = match["last"] if last is None else last
        return f"| {match['part']} | {match['budget']} | {shown} |{match['what']}"

    return ROW.sub(row, page)


if __name__ == "__main__":
    sys.exit(main())
