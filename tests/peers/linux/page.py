"""docs/agreement/linux.md: the comparison of compare.py as a page."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linux import reasons
from markdown import markdown

PATH = Path(__file__).resolve().parents[3] / "docs" / "agreement" / "linux.md"
RECORDS = {"1": "first record", "2": "second record"}
WINDOWS = {"0-20": "from 0 s", "5-20": "from 5 s"}
MORE = {"completion": "completion, ms", "up_queue": "queueing up, ms", "up_loss": "loss up, %"}
"""Quantities of some cells."""
SIDES = ("linux", "fairq")


def counted(count: Mapping[str, int]) -> str:
    """How many agree of how many that the kernel's runs decide."""
    of = count["agrees"] + count["differs"]
    more = f" ({count['undecided']} undecided)" if count["undecided"] else ""
    return f"{count['agrees']} of {of} agree{more}"


def order_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each case of order."""
    lines = [[
        "case", "in place", "same drops", "again", "drops, Linux", "fairq", "mean wait, Linux", "fairq", "", "rule",
    ]]  # fmt: skip
    for row in rows:
        lines.append([
            row["case"], f"{100 * row['in_place']:.2f} %", f"{100 * row['drops_same']:.2f} %",
            f"{100 * row['again']:.2f} %", *(f"{row['drops'][side]}" for side in SIDES),
            *(f"{row['wait_ms'][side]:.1f} ms" for side in SIDES), row["verdict"], ", ".join(row["rules"]),
        ])  # fmt: skip
    return markdown(lines)


def cell_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each cell and window; each quantity as the kernel's / fairq's."""
    head = ["cell", "window", "runs", "share, %", "queueing, ms", "loss, %", "marks, %", "besides", "", "rule"]
    lines = [head]
    for row in rows:
        lines.append([
            row["cell"], f"{row['window']} s", str(row["runs"]),
            "; ".join(f"{law} {_both(pair, 100, 1)}" for law, pair in row["share"].items()),
            _both(row["queue"], 1, 1), _both(row["loss"], 100, 2),
            _both(row["marks"], 100, 2) if any(row["marks"].values()) else "",
            "; ".join(_besides(name, row[name]) for name in MORE if name in row),
            _verdict(row), ", ".join(row["rules"]),
        ])  # fmt: skip
    return markdown(lines)


def _both(pair: Mapping[str, float], factor: float, digits: int) -> str:
    return " / ".join(f"{factor * pair[side]:.{digits}f}" for side in SIDES)


def _verdict(row: Mapping[str, Any]) -> str:
    beyond = row["misses"] or row["undecided"]
    return f"{row['verdict']}: {', '.join(beyond)}" if beyond else str(row["verdict"])


def _besides(name: str, pair: Mapping[str, float]) -> str:
    return f"{MORE[name]} {_both(pair, 100 if name == 'up_loss' else 1, 2)}"


def kind_table(document: Mapping[str, Any]) -> str:
    """How many cells of each kind agree in each window."""
    kinds = document["summary"]["kinds"]
    windows = list(dict.fromkeys(window for some in kinds.values() for window in some))
    record = {row["group"]: str(row["record"]) for row in document["cells"]}
    lines = [["kind", "record", *(f"{window} s" for window in windows)]]
    for kind, some in kinds.items():
        lines.append([kind, record[kind], *(counted(some[window]) if window in some else "" for window in windows)])
    return markdown(lines)


def counts_table(document: Mapping[str, Any]) -> str:
    """How many cases and cells agree in each record."""
    summary = document["summary"]
    lines = [["", *RECORDS.values()]]
    for what, name, words in (("order", "order", KINDS), ("cells", "connections", WINDOWS)):
        for key, word in words.items():
            counts = [summary[what].get(record, {}).get(key) for record in RECORDS]
            if any(counts):
                lines.append([f"{name}, {word}", *(counted(count) if count else "" for count in counts)])
    return markdown(lines)


def rule_list(document: Mapping[str, Any], rules: Mapping[str, str], known: reasons.Known) -> str:
    """Each rule that a row names: what it is, and what was tried."""
    rows = [*document["order"], *document["cells"]]
    named = {rule for row in rows for rule in row["rules"]}
    names = [row["case"] if "case" in row else f"{row['cell']}@{row['window']}" for row in rows if not row["agrees"]]
    parts = []
    for rule, what in rules.items():
        if rule in named:
            tried = known.tried(rule, names)
            text = f"- **{rule}**: {what}" + (f" Tried: {'; '.join(tried)}." if tried else "")
            parts.append(textwrap.fill(text, 100, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(parts)


def page(document: Mapping[str, Any], rules: Mapping[str, str], known: reasons.Known) -> str:
    """The page."""
    order = document["order"]
    kept = [[row for row in document["cells"] if row["record"] == record] for record in (1, 2)]
    return HEAD.format(
        commit=_commit(), said=counts_table(document), first=order_table([row for row in order if row["record"] == 1]),
        second=order_table([row for row in order if row["record"] == 2]), kinds=kind_table(document),
        cells_first=cell_table(kept[0]), cells_second=cell_table(kept[1]), rules=rule_list(document, rules, known),
    ) + HOSTS  # fmt: skip


def _commit() -> str:
    """The commit of this checkout, short."""
    git = ["git", "-C", str(PATH.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


KINDS = {
    "exact": "the same in each boot of the kernel", "boots": "other in each boot", "random": "with random numbers",
}  # fmt: skip

HEAD = """# Does fairq send as Linux does?

A Linux 6.1 kernel under virtual time was given packets at known times, and each packet's fate was
recorded (`tests/peers/linux/truth/`). fairq replays the same packets through what `fairq tc --read`
makes of the same tc commands. The kernel also carried TCP connections, and fairq runs the same
ones.

{said}

What differs names a rule; [the rules](#rules) stand below. The second record is newer: most rules
were written before its cases and cells were known. In the package `fairq agree linux` prints it by
discipline or congestion control.

This page and the package's tables are written by `.venv/bin/python tests/peers/linux/compare.py
--write`, each night and the last time at commit {commit}. CI compares all cases of order and some
cells (`--quick`). One kind of cells: `--kinds pairs --cases none`; some cells: `--cells
'20M.*.cake.*'`; a setting tried: `--set PATH=VALUE`; only what does not agree: `--differing`.

## Order

A case agrees if at least 99.9 % of the packets that both sent have the same rank, 99.9 % of the
drops are the same packets and the mean wait is within a tenth. `again` is how far a second boot of
the kernel did the same, at the least. Where that is below 99.9 % (the discipline draws random
numbers, CAKE rounds a quantum at random, a hash begins at a random number, a tick comes otherwise)
a case agrees if drops, marks and mean wait are within a tenth; of several runs of one that draws,
`NAME.*`, the means are compared.

In `drr.*`, `drr_small.*`, `qfq.*` and `qfq_weights.*` the kernel's filters go by source port, one
class each. Classes here go by code point, so in these cases each flow has a precedence in place of
its port, in the tc commands and in the packets.

{first}

### The second record

`htb_*`, `hfsc_fq_codel`, `prio_*`, `drr*_fq_codel`, `ets_fq_codel` and `tbf_fq_codel` are trees
with a discipline in each leaf.

{second}

## Connections

A cell agrees if each congestion control's share is within 5 % of the line, the mean queueing delay
within 1 ms or 20 %, loss and marks within a factor of 1.5 or both below 0.05 %, and the mean time
of a transfer, or of a burst, within 10 % or a round trip. fairq runs at the starts of each of the
kernel's runs, 20 seeds or more in all, and the means of both are compared: Linux / fairq.

Beyond a tolerance, but by less than two standard errors of the kernel's mean, a cell is
*undecided*: it counts neither way. Queues are as they were recorded: CAKE shapes a fast device, all
others stand under a class of htb. Cells whose names begin with a kind are those of
`tests/peers/linux/connections.py`; those of `leaf` stand behind trees with a discipline in each
leaf.

{kinds}

{cells_first}

### The second record

{cells_second}

## Rules

{rules}
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
