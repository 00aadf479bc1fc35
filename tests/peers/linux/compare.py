"""Do disciplines and connections behave as a Linux kernel's? By what one did (truth/).

    python tests/peers/linux/compare.py --quick
    python tests/peers/linux/compare.py --cells '20M.20ms.fq_codel.*' --json
    python tests/peers/linux/compare.py --kinds 'pairs,slow' --cases none

Exit status: 1 if an entry differs and has no reason in reasons.csv, 2 for a mistake of the user's.
With --write, docs/agreement/linux.md (page.py) and the package's tables (recorded.py) are written.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linux import cells, order, page, reasons, recorded, runs, truth
from markdown import markdown
from programs import Fault, ended

QUICK = [
    "20M.20ms.pfifo.4c", "20M.20ms.fq_codel.4c", "20M.20ms.codel.1c", "20M.20ms.pie.4c", "20M.20ms.red.1c",
    "20M.20ms.cake.1c", "20M.20ms.fq.4c", "20M.60ms.fq_codel.4c", "20M.60ms.codel.1c", "10M.20ms.fq_codel.2r2c",
    "20M.20ms.fq_codel.4c.ecn", "20M.20ms.choke.2r2c", "2M.40ms.fq.2r2c", "20M.10ms.red_step.4d.ecn",
    "20M.60ms.fq_codel.cubic_reno", "transfers.20M.20ms.pfifo.20", "lossy.20M.20ms.pfifo.cubic",
    "ecn.20M.20ms.fq_codel", "round_trips.20M.codel.reno", "windows.20M.20ms.pfifo.20",
    "bursts.20M.20ms.pfifo.long", "step.20M.20ms.marked", "two_way.20M.20ms.fq_codel.2M",
    "short.20M.20ms.fq_codel.10", "tails.20M.60ms.3.3", "rtt10.20M.fq_codel.cubic",
]  # fmt: skip
"""Cells that decide quickly: one of each discipline, and one of each kind of connections.py."""
SEEDS, QUICK_SEEDS = 20, 5


def main() -> int:
    """Compare as the command line says."""
    arguments = _parser().parse_args()
    return ended("compare", lambda: _main(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, default=truth.OWN, metavar="DIR", help="the record (the project's own)")
    parser.add_argument("--quick", action="store_true", help=f"all of order, {len(QUICK)} cells, {QUICK_SEEDS} seeds")
    parser.add_argument("--cells", metavar="PATTERNS", help="cells of connections, as '20M.*,*.ecn', or none (all)")
    parser.add_argument("--kinds", metavar="PATTERNS", help="cells of these kinds only, as 'main,pairs' (all)")
    parser.add_argument("--cases", metavar="PATTERNS", help="cases of order, as '*cake*', or none (all)")
    parser.add_argument("--seeds", type=int, help=f"seeds of a cell, over the kernel's runs ({SEEDS})")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="as fairq run has it: try it")
    parser.add_argument("--json", action="store_true", help="print one document of JSON")
    parser.add_argument("--differing", action="store_true", help="print only what does not agree")
    parser.add_argument("--reasons", action="store_true", help="measure each row of reasons.csv anew")
    parser.add_argument("--write", action="store_true", help=f"write {page.PATH.name} and the package's tables")
    return parser


def _main(arguments: argparse.Namespace) -> int:
    folder, seeds = arguments.truth, arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)
    if arguments.reasons:
        return _reasons(folder, seeds)
    if arguments.write and (arguments.quick or arguments.cells or arguments.kinds or arguments.cases or arguments.set):
        raise Fault("--write is of all cells and cases, without --quick, --cells, --kinds, --cases and --set")
    known = reasons.Known(reasons.read())
    ordered = order.together([order.verdict(case) for case in truth.cases(folder, _cases(folder, arguments.cases))])
    settings = dict(_setting(text) for text in arguments.set)
    judged = [verdict(cell, seeds, settings) for cell in _told(_cells(folder, arguments))]
    document = report(ordered, judged, known)
    if arguments.write:
        rules = reasons.rules()
        recorded.write(document, rules)
        page.PATH.write_text(page.page(document, rules, known), encoding="utf-8")
    print(json.dumps(document, indent=1) if arguments.json else tables(document, arguments.differing))
    return 0 if document["summary"]["unexplained"] == 0 else 1


def _setting(text: str) -> tuple[str, str]:
    path, sign, value = text.partition("=")
    if not sign:
        raise Fault(f"--set {text}: write PATH=VALUE, as defaults.connection.pacing=true")
    return path, value


def _told(some: Sequence[truth.Cell | truth.Seen]) -> Iterable[truth.Cell | truth.Seen]:
    """The same, and a terminal says how many are done."""
    for at, cell in enumerate(some):
        if sys.stderr.isatty():
            print(f"\r{at} of {len(some)} cells ", end="", file=sys.stderr)
        yield cell


def _cases(folder: Path, patterns: str | None) -> list[str]:
    return _chosen(truth.names(folder), patterns, "case of order")


def _cells(folder: Path, arguments: argparse.Namespace) -> list[truth.Cell | truth.Seen]:
    """The cells that the command line names."""
    wanted = arguments.cells or (",".join(QUICK) if arguments.quick and not arguments.kinds else None)
    if wanted == "none":
        return []
    found = both(folder)
    names = _chosen([cell.name for cell in found], wanted, "cell")
    kinds = _chosen([cell.group for cell in found], arguments.kinds, "kind of cells")
    return [cell for cell in found if cell.name in names and cell.group in kinds]


def both(folder: Path) -> list[truth.Cell | truth.Seen]:
    """The cells of both tables."""
    return [*truth.cells(folder), *truth.seen(folder)]


def verdict(cell: truth.Cell | truth.Seen, seeds: int, set: Mapping[str, str] | None = None) -> cells.Verdict:
    """Of a cell of either table."""
    return cells.verdict(cell, seeds, set) if isinstance(cell, truth.Cell) else runs.verdict(cell, seeds, set)


def _chosen(names: Sequence[str], patterns: str | None, what: str) -> list[str]:
    """The names that match one of the patterns, in their order."""
    if patterns is None:
        return list(names)
    if patterns == "none":
        return []
    found = set()
    for pattern in (word.strip() for word in patterns.split(",")):
        some = fnmatch.filter(names, pattern)
        if not some:
            raise Fault(f"{pattern}: no {what} is called so; there are {', '.join(list(dict.fromkeys(names))[:6])}, …")
        found.update(some)
    return [name for name in dict.fromkeys(names) if name in found]


def report(ordered: Sequence[order.Verdict], judged: Sequence[cells.Verdict], known: reasons.Known) -> dict[str, Any]:
    """The document that --json prints."""
    order_rows = [_order_row(found, known) for found in ordered]
    cell_rows = [_cell_row(found, known) for found in judged]
    rows = order_rows + cell_rows
    return {
        "order": order_rows,
        "cells": cell_rows,
        "summary": {
            "order": _counts(order_rows, lambda row: (str(row["record"]), row["kind"])),
            "cells": _counts(
                [row for row in cell_rows if row["group"] != "leaf"], lambda row: (str(row["record"]), row["window"])
            ),
            "kinds": _counts(cell_rows, lambda row: (row["group"], row["window"])),
            "unexplained": sum(row["verdict"] == "differs" and not row["rules"] for row in rows),
        },
    }


def _counts(
    rows: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], tuple[str, str]]
) -> dict[str, dict[str, dict[str, int]]]:
    """How many agree, are undecided and differ, by both words of a key."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for row in rows:
        first, second = key(row)
        count = found.setdefault(first, {}).setdefault(second, {"agrees": 0, "undecided": 0, "differs": 0})
        count[row["verdict"]] += 1
    return found


def _order_row(found: order.Verdict, known: reasons.Known) -> dict[str, Any]:
    return {
        "case": found.case, "record": found.record, "kind": found.kind, "queue": found.queue, "text": found.text,
        "again": found.again, "in_place": found.in_place, "drops_same": found.drops_same,
        "marks_same": found.marks_same, "drops": _pair(found.drops), "marks": _pair(found.marks),
        "wait_ms": _pair(found.wait_ms), "agrees": found.agrees, "verdict": "agrees" if found.agrees else "differs",
        "rules": [] if found.agrees else known.rules(found.case),
    }  # fmt: skip


def _cell_row(found: cells.Verdict, known: reasons.Known) -> dict[str, Any]:
    cell = found.of
    return {
        "cell": found.cell, "window": found.window, "record": cell.record, "group": found.group,
        "tc": cells.told(cell), "text": cells.text(cell), "controls": cells.controls(cell), "ecn": cell.ecn,
        "plain": cell.is_plain, "rate_mbit": cell.rate_mbit, "rtt_ms": cell.rtt_ms, "runs": len(cell.runs),
        "share": {law: _pair(pair) for law, pair in found.share.items()},
        **{name: _pair(pair) for name in recorded.QUANTITIES if (pair := getattr(found, name))},
        "misses": list(found.misses), "undecided": list(found.undecided), "agrees": found.agrees,
        "verdict": found.says, "rules": known.rules(f"{found.cell}@{found.window}") if found.misses else [],
    }  # fmt: skip


def _pair(pair: tuple[float, float]) -> dict[str, float]:
    return dict(zip(("linux", "fairq"), pair, strict=True))


def tables(document: Mapping[str, Any], differing: bool) -> str:
    """What is printed without --json: both tables and how many agree."""
    kept = {name: [row for row in document[name] if not differing or not row["agrees"]] for name in ("order", "cells")}
    parts = []
    if kept["order"]:
        parts.append(page.order_table(kept["order"]))
    if kept["cells"]:
        parts.append(page.cell_table(kept["cells"]))
    parts.append(page.counts_table(document))
    if document["cells"]:
        parts.append(page.kind_table(document))
    return "\n\n".join(parts)


def _reasons(folder: Path, seeds: int) -> int:
    rows = reasons.read()
    cases = {case.name: case for case in truth.cases(folder, [row.case for row in rows])}
    known = {f"{cell.name}@{cell.window}": cell for cell in both(folder)}
    lines, status = [["case", "setting", "value", "quantity", "before", "after", ""]], 0
    for reason, before, after in reasons.again(rows, cases, known, lambda *given: verdict(given[0], seeds, *given[1:])):
        is_nearer = after < before
        status = status if is_nearer else 1
        lines.append([
            reason.case, reason.setting, reason.value, reason.quantity, f"{before:.4g}", f"{after:.4g}",
            "nearer" if is_nearer else "not nearer",
        ])  # fmt: skip
    print(markdown(lines))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
