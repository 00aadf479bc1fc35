"""Do disciplines and connections behave as a Linux kernel's? By what one did under virtual time (truth/).

    python tests/peers/linux/compare.py --quick
    python tests/peers/linux/compare.py --cells '20M.20ms.fq_codel.*' --json

Exit status: 1 if an entry neither agrees nor has a reason in reasons.csv, 2 for a mistake of the user's.
docs/agreement/linux.md is what it writes with --write.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linux import cells, order, reasons, runs, truth
from markdown import markdown
from programs import Fault

PAGE = Path(__file__).resolve().parents[3] / "docs" / "agreement" / "linux.md"
QUICK = [
    "20M.20ms.pfifo.4c", "20M.20ms.fq_codel.4c", "20M.20ms.codel.1c", "20M.20ms.pie.4c", "20M.20ms.red.1c",
    "20M.20ms.cake.1c", "20M.20ms.fq.4c", "20M.60ms.fq_codel.4c", "20M.60ms.codel.1c", "10M.20ms.fq_codel.2r2c",
    "20M.20ms.fq_codel.4c.ecn", "20M.20ms.choke.2r2c", "transfers.20M.20ms.pfifo.20", "lossy.20M.20ms.pfifo.cubic",
    "ecn.20M.20ms.fq_codel", "round_trips.20M.pfifo.cubic", "windows.20M.20ms.pfifo.20", "bursts.20M.20ms.pfifo.long",
    "step.20M.20ms.marked", "two_way.20M.20ms.fq_codel.2M",
]  # fmt: skip
"""Cells that decide quickly: one of each discipline, and one of each kind of connections.py."""
SEEDS, QUICK_SEEDS = 20, 5
MORE = {"completion": "completion, ms", "up_queue": "queueing up, ms", "up_loss": "loss up, %"}
"""Quantities of some cells."""


def main() -> int:
    """Compare as the command line says."""
    arguments = _parser().parse_args()
    try:
        return _main(arguments)
    except Fault as fault:
        print(f"compare: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, default=truth.OWN, metavar="DIR", help="the record (the project's own)")
    parser.add_argument("--quick", action="store_true", help=f"all of order, {len(QUICK)} cells, {QUICK_SEEDS} seeds")
    parser.add_argument("--cells", metavar="PATTERNS", help="cells of connections, as '20M.*,*.ecn', or none (all)")
    parser.add_argument("--cases", metavar="PATTERNS", help="cases of order, likewise (all)")
    parser.add_argument("--seeds", type=int, help=f"seeds of a cell ({SEEDS})")
    parser.add_argument("--json", action="store_true", help="print one document of JSON")
    parser.add_argument("--reasons", action="store_true", help="measure each row of reasons.csv anew")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    return parser


def _main(arguments: argparse.Namespace) -> int:
    folder, seeds = arguments.truth, arguments.seeds or (QUICK_SEEDS if arguments.quick else SEEDS)
    if arguments.reasons:
        return _reasons(folder, seeds)
    known = reasons.by_case(reasons.read())
    cases = _chosen(truth.names(folder), arguments.cases, "case of order")
    ordered = [order.verdict(case) for case in truth.cases(folder, cases)]
    wanted = arguments.cells or (",".join(QUICK) if arguments.quick else None)
    found = [] if wanted == "none" else _both(folder)
    names = _chosen([cell.name for cell in found], wanted, "cell") if found else []
    judged = []
    for at, cell in enumerate(cell for cell in found if cell.name in names):
        if sys.stderr.isatty():
            print(f"\r{at} cells ", end="", file=sys.stderr)
        judged.append(verdict(cell, seeds))
    document = report(ordered, judged, known)
    if arguments.write:
        PAGE.write_text(page(document), encoding="utf-8")
    print(json.dumps(document, indent=1) if arguments.json else tables(document))
    return 0 if document["summary"]["unexplained"] == 0 else 1


def _both(folder: Path) -> list[truth.Cell | truth.Seen]:
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


def report(
    ordered: Sequence[order.Verdict], judged: Sequence[cells.Verdict], known: Mapping[str, str]
) -> dict[str, Any]:
    """The document that --json prints."""
    order_rows = [
        {
            "case": found.case, "text": found.text, "in_place": found.in_place, "drops_same": found.drops_same,
            "marks_same": found.marks_same, "drops": _pair(found.drops), "wait_ms": _pair(found.wait_ms),
            "agrees": found.agrees, "reason": None if found.agrees else known.get(found.case),
        }
        for found in ordered
    ]  # fmt: skip
    cell_rows = [
        {
            "cell": found.cell, "window": found.window, "group": found.group,
            "share": {law: _pair(pair) for law, pair in found.share.items()},
            **{name: _pair(getattr(found, name)) for name in ("queue", "loss", "marks")},
            **{name: _pair(pair) for name in MORE if (pair := getattr(found, name))},
            "misses": list(found.misses), "agrees": found.agrees,
            "reason": None if found.agrees else known.get(f"{found.cell}@{found.window}"),
        }
        for found in judged
    ]  # fmt: skip
    rows = order_rows + cell_rows
    return {
        "order": order_rows,
        "cells": cell_rows,
        "summary": {
            "order": len(order_rows),
            "order_agrees": sum(row["agrees"] for row in order_rows),
            "cells": len(cell_rows),
            "cells_agree": {
                window: [sum(row["agrees"] for row in some), len(some)]
                for window in dict.fromkeys(row["window"] for row in cell_rows)
                if (some := [row for row in cell_rows if row["window"] == window])
            },
            "groups_agree": {
                group: [sum(row["agrees"] for row in some), len(some)]
                for group in dict.fromkeys(row["group"] for row in cell_rows)
                if (some := [row for row in cell_rows if row["group"] == group])
            },
            "unexplained": sum(not row["agrees"] and not row["reason"] for row in rows),
        },
    }


def _pair(pair: tuple[float, float]) -> dict[str, float]:
    return dict(zip(("linux", "fairq"), pair, strict=True))


def tables(document: Mapping[str, Any]) -> str:
    """What is printed without --json: both tables and how many agree."""
    summary = document["summary"]
    parts = []
    if document["order"]:
        parts += [order_table(document), f"{summary['order_agrees']} of {summary['order']} cases agree"]
    if document["cells"]:
        parts.append(cell_table(document))
        parts += [
            f"{agree} of {of} cells agree from {window} s" for window, (agree, of) in summary["cells_agree"].items()
        ]
    return "\n\n".join(parts)


def order_table(document: Mapping[str, Any]) -> str:
    """A line for each case of order."""
    lines = [["case", "in place", "same drops", "drops, Linux", "fairq", "mean wait, Linux", "fairq", "", "reason"]]
    for row in document["order"]:
        lines.append([
            row["case"], f"{100 * row['in_place']:.2f} %", f"{100 * row['drops_same']:.2f} %",
            *(f"{row['drops'][side]}" for side in ("linux", "fairq")),
            *(f"{row['wait_ms'][side]:.1f} ms" for side in ("linux", "fairq")),
            "agrees" if row["agrees"] else "differs", row["reason"] or "",
        ])  # fmt: skip
    return markdown(lines)


def cell_table(document: Mapping[str, Any]) -> str:
    """A line for each cell and window."""
    head = ["share, Linux", "fairq", "queueing, Linux", "fairq", "loss, Linux", "fairq", "marks, Linux", "fairq"]
    lines = [["cell", "window", *head, "besides, Linux / fairq", "", "reason"]]
    for row in document["cells"]:
        shares = [
            "; ".join(f"{law} {100 * pair[side]:.1f} %" for law, pair in row["share"].items())
            for side in ("linux", "fairq")
        ]
        lines.append([
            row["cell"], f"{row['window']} s", *shares,
            *(f"{row['queue'][side]:.1f} ms" for side in ("linux", "fairq")),
            *(f"{100 * row['loss'][side]:.2f} %" for side in ("linux", "fairq")),
            *(f"{100 * row['marks'][side]:.2f} %" for side in ("linux", "fairq")),
            "; ".join(_besides(name, row[name]) for name in MORE if name in row),
            "agrees" if row["agrees"] else "differs: " + ", ".join(row["misses"]), row["reason"] or "",
        ])  # fmt: skip
    return markdown(lines)


def _besides(name: str, pair: Mapping[str, float]) -> str:
    factor = 100 if name == "up_loss" else 1
    return f"{MORE[name]} {factor * pair['linux']:.2f} / {factor * pair['fairq']:.2f}"


def _reasons(folder: Path, seeds: int) -> int:
    rows = reasons.read()
    cases = {case.name: case for case in truth.cases(folder, [row.case for row in rows])}
    known = {f"{cell.name}@{cell.window}": cell for cell in _both(folder)}
    lines, status = [["case", "setting", "value", "quantity", "before", "after", ""]], 0
    for reason, before, after in reasons.again(rows, cases, known, lambda *given: verdict(given[0], seeds, *given[1:])):
        is_nearer = after < before
        status = status if is_nearer else 1
        lines.append(
            [
                reason.case,
                reason.setting,
                reason.value,
                reason.quantity,
                f"{before:.4g}",
                f"{after:.4g}",
                "nearer" if is_nearer else "not nearer",
            ]
        )
    print(markdown(lines))
    return status


def page(document: Mapping[str, Any]) -> str:
    """The page of the guide."""
    summary = document["summary"]
    drawn = {case.name for case in truth.cases(truth.OWN) if case.draws}
    exact = [row for row in document["order"] if row["case"] not in drawn]
    counts = [row for row in document["order"] if row["case"] in drawn]
    text = HEAD.format(
        commit=_commit(),
        exact=len(exact), exact_agree=sum(row["agrees"] for row in exact), drawn=len(counts),
        drawn_agree=sum(row["agrees"] for row in counts), order=order_table(document),
    )  # fmt: skip
    if document["cells"]:
        agree = "; ".join(f"{some} of {of} from {window} s" for window, (some, of) in summary["cells_agree"].items())
        kinds = "; ".join(f"`{group}` {some} of {of}" for group, (some, of) in summary["groups_agree"].items())
        text += CELLS.format(agree=agree, kinds=kinds, cells=cell_table(document)) + HOSTS
    return text


def _commit() -> str:
    """The commit of this checkout, short."""
    git = ["git", "-C", str(PAGE.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


HEAD = """# Does fairq send as Linux does?

A Linux 6.1 kernel under virtual time was given packets at known times, and each packet's fate was recorded
(`tests/peers/linux/truth/`). fairq replays the same packets through what `fairq tc --read` makes of the same tc
commands. A case agrees if at least 99.9 % of the packets that both sent have the same rank, 99.9 % of the drops are
the same packets and the mean wait is within a tenth; where the discipline draws random numbers, if drops and mean wait
are within a tenth.

In `drr.*`, `drr_small.*`, `qfq.*` and `qfq_weights.*` the kernel's filters go by source port, one class each. Classes
here go by code point, so in these cases each flow has a precedence in place of its port, in the tc commands and in the
packets.

**{exact_agree} of {exact} cases without random numbers agree, and {drawn_agree} of {drawn} with them.** A case that
differs names the rule.

This page is written by `.venv/bin/python tests/peers/linux/compare.py --write`, the last time at commit {commit};
a test holds the table of orders.

## Order

{order}
"""

CELLS = """
## Connections

{agree}. By kind: {kinds}.

A cell agrees if each congestion control's share is within 5 % of the line, the mean queueing delay within 1 ms
or 20 %, loss and marks within a factor of 1.5 or both below 0.05 %, and the mean time of a transfer, or of a burst,
within 10 % or a round trip. Three runs of the kernel, 20 seeds here. Cells whose names begin with a kind are those of
`tests/peers/linux/connections.py`.

{cells}
"""

HOSTS = """
## Many connections of one host behind CAKE

A host with 16 CUBIC connections and two with one each over 20 Mbit/s: the busy host's part of the
line behind `cake`, 20 seeds, 30 s after 5 s (`fairq compare --rate 20Mbit/s --rtt 40ms --flows
cubic --hosts 1x16,2x1 --queue cake --seeds 20`; a flood is `traffic = { kind = "cbr", rate = "20
Mbit/s" }` without a transport in the file of `--scenario`).

| who sends                                | 20 ms  | 40 ms  |
|------------------------------------------|--------|--------|
| CUBIC on all hosts                       | 34.8 % | 41.0 % |
| floods in place of the single ones       | 34.2 % | 36.9 % |
| floods in place of the 16                | 33.5 % | 36.4 % |
| floods on all hosts                      | 33.3 % | 33.3 % |

A Linux kernel was seen to give it 33.7 to 35.7 %; neither rate nor round trip were noted, and no
such run is in the record. Here it has 33.9 % at 10 ms, 34.8 to 35.6 % at 20 ms (10 to 50 Mbit/s),
38.5 to 41.0 % at 40 ms (10 to 100 Mbit/s) and 43.4 % at 60 ms.

Two things add up. A single CUBIC connection does not fill its third with a target of 5 ms and 40 ms
of round trip, and the line gives the rest to whom has packets (with a target of 20 ms the busy host
has 33.4 %); alone it fills 93 % of 20 Mbit/s at 60 ms, here and in the kernel (`20M.60ms.cake.1c`).
And the kernel counts only the flows of a host that are bulk: one that is empty and still in debt is
not (`CAKE_SET_SPARSE_WAIT`), so that connections with a packet now and then get more together than
one that always has some.

What left and in what order is the kernel's rule: the 61,446 packets that came to the line in a run
at 40 ms, given to the rules as `tests/peers/linux/rules/cake.py` tells them, leave as here, all
58,060 in the same place and the same dropped; with quanta rounded at random, two draws, the busy
host has 41.4 and 41.5 % in place of 41.5. Shaped to 5 Mbit/s, with dual-dsthost, likewise: 14,565
of 14,565. So a kernel that gives 35 % at 40 ms was sent other packets.
"""


if __name__ == "__main__":
    raise SystemExit(main())
