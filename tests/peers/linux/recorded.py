"""The comparison as tables for the package: what `compare` and `advise` say of recorded cells.

`compare.py --write` writes them; nothing else does. In `python/fairq/questions/recorded/`:

`linux_cells.csv`, a row for each cell of connections and window:

- `record` 1 or 2 (the newer cells), `kind`, `cell`, `window_s` as `5-20`;
- `queue` tc's name of the discipline, `tc` its line, `text` fairq's text form;
- `controls` fairq's names with their number of flows, as `bbr:1;cubic:1`, sorted; `ecn` 0 or 1;
- `plain` 1: greedy flows of one round trip in one direction over one line without other losses;
- `rate_mbit`, `rtt_ms`, `runs` of the kernel;
- `share_linux`, `share_fairq`: parts of the line, as `bbr=0.2012;cubic=0.7921`: by congestion
  control in the cells of tcp.csv, by the flows' names in those of connections.py;
- `queue_ms_`, `loss_`, `marks_`, `up_queue_ms_`, `up_loss_` and `completion_ms_`, each with `linux`
  and `fairq`; empty: none;
- `verdict` agrees, undecided or differs; `misses` quantities beyond their tolerance, as
  `share;queue`; `rule` the names of the rules that say why, as `a;b`.

`linux_order.csv`, a row for each case of order: `record`, `case`, `kind` (exact, boots: the
kernel's own boots differ, random), `queue`, `text`, `again`, `in_place`, `drops_same`,
`drops_linux`, `drops_fairq`, `wait_ms_linux`, `wait_ms_fairq`, `verdict`, `rule`.

`linux_rules.csv`: `rule`, `what`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "python" / "fairq" / "questions" / "recorded"
SIDES = ("linux", "fairq")
QUANTITIES = {
    "queue": ("queue_ms", 3), "loss": ("loss", 6), "marks": ("marks", 6), "up_queue": ("up_queue_ms", 3),
    "up_loss": ("up_loss", 6), "completion": ("completion_ms", 3),
}  # fmt: skip
"""Of each quantity of a verdict its column and its digits."""
CELLS = [
    "record", "kind", "cell", "window_s", "queue", "tc", "text", "controls", "ecn", "plain", "rate_mbit", "rtt_ms",
    "runs", "share_linux", "share_fairq",
    *(f"{column}_{side}" for column, _ in QUANTITIES.values() for side in SIDES),
    "verdict", "misses", "rule",
]  # fmt: skip
ORDER = [
    "record", "case", "kind", "queue", "text", "again", "in_place", "drops_same", "drops_linux", "drops_fairq",
    "wait_ms_linux", "wait_ms_fairq", "verdict", "rule",
]  # fmt: skip


def write(document: Mapping[str, Any], rules: Mapping[str, str], folder: Path = FOLDER) -> None:
    """Write the tables of a document of compare.py."""
    folder.mkdir(parents=True, exist_ok=True)
    _table(folder / "linux_cells.csv", CELLS, [_cell(row) for row in document["cells"]])
    _table(folder / "linux_order.csv", ORDER, [_case(row) for row in document["order"]])
    named = {rule for row in [*document["cells"], *document["order"]] for rule in row["rules"]}
    some = [{"rule": rule, "what": what} for rule, what in rules.items() if rule in named]
    _table(folder / "linux_rules.csv", ["rule", "what"], some)


def _table(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _cell(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "record": row["record"], "kind": row["group"], "cell": row["cell"], "window_s": row["window"],
        "queue": row["tc"].split()[0], "tc": row["tc"], "text": row["text"],
        "controls": ";".join(f"{name}:{number}" for name, number in sorted(row["controls"].items())),
        "ecn": int(row["ecn"]), "plain": int(row["plain"]), "rate_mbit": f"{row['rate_mbit']:g}",
        "rtt_ms": f"{row['rtt_ms']:g}", "runs": row["runs"], "verdict": row["verdict"],
        "misses": ";".join([*row["misses"], *row["undecided"]]), "rule": ";".join(row["rules"]),
    }  # fmt: skip
    for side in SIDES:
        shares = sorted(row["share"].items())
        found[f"share_{side}"] = ";".join(f"{name}={pair[side]:.4f}" for name, pair in shares)
        for name, (column, digits) in QUANTITIES.items():
            found[f"{column}_{side}"] = f"{row[name][side]:.{digits}f}" if name in row else ""
    return found


def _case(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "record": row["record"], "case": row["case"], "kind": row["kind"], "queue": row["queue"], "text": row["text"],
        "again": f"{row['again']:.4f}", "in_place": f"{row['in_place']:.4f}",
        "drops_same": f"{row['drops_same']:.4f}",
        **{f"drops_{side}": row["drops"][side] for side in SIDES},
        **{f"wait_ms_{side}": f"{row['wait_ms'][side]:.3f}" for side in SIDES},
        "verdict": row["verdict"], "rule": ";".join(row["rules"]),
    }  # fmt: skip
