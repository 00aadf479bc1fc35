"""How many numbers and sentences of each paper come out: the table of docs/agreement/index.md.

    .venv/bin/python scripts/agreement.py                          all papers, half an hour
    .venv/bin/python scripts/agreement.py plm                      one paper; the rows of the others stay
    .venv/bin/python scripts/agreement.py --from out/plm plm       of what `fairq reproduce plm --out out/plm` wrote

The counts are kept in docs/agreement/counts.csv, with a digest of what the paper is made of: a test
asks for a new run where it has changed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import fairq
from fairq import _native
from fairq.papers import papers

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "agreement"
COUNTS, PAGE = FOLDER / "counts.csv", FOLDER / "index.md"
VERDICTS = ("agrees", "differs", "undecided", "unreadable")
COLUMNS = ("paper", "of", *VERDICTS, "inputs", "results")
TABLE = re.compile(r"(?<=<!-- counts: scripts/agreement.py -->\n\n).*?(?=\n\n<!-- end of counts -->)", re.DOTALL)


def main() -> None:
    """Run papers, count, and write the file and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help="some of them; else all")
    parser.add_argument("--from", dest="folder", type=Path, help="the folder of a reproduction, of one paper")
    given = parser.parse_args()
    if given.folder and len(given.papers) != 1:
        parser.error("--from: name the one paper that the folder is of")
    rows = {(row["paper"], row["of"]): row for row in kept()}
    for name in given.papers or papers.names():
        lines = written(given.folder) if given.folder else fairq.reproduce(name).rows
        rows = {key: row for key, row in rows.items() if key[0] != name}
        rows |= {(name, row["of"]): row for row in counted(name, lines)}
        write(sorted(rows.values(), key=lambda row: (papers.names().index(row["paper"]), row["of"])))


def written(folder: Path) -> list[dict[str, str]]:
    """The lines of verdicts that a reproduction left in its folder."""
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counted(name: str, lines: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """A row for the numbers in tables, one for points of figures and one for claims, where there are any."""
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        if line["verdict"] in VERDICTS:
            counts.setdefault(kind(line["item"]), Counter())[line["verdict"]] += 1
    about = {"paper": name, "inputs": digest(name), "results": str(_native.results_version())}
    return [about | {"of": of} | {verdict: str(each[verdict]) for verdict in VERDICTS} for of, each in counts.items()]


def kind(item: str) -> str:
    """What a line of verdicts is of: a claim, a point of a figure, or a number of a table."""
    return "claims" if item == "claim" else "points of figures" if item.startswith("figure") else "numbers"


def digest(name: str) -> str:
    """What a paper's verdicts follow from, beside the simulator."""
    folder = papers.load(name).folder
    files = [*sorted(folder.glob("*.toml")), folder / "published.csv", folder / "compare.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def kept() -> list[dict[str, str]]:
    """The rows of the file."""
    if not COUNTS.is_file():
        return []
    with COUNTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """The table of the page; a paper that was not run has a row that says so."""
    lines = [["paper", "of its", *VERDICTS], ["---", "---", *("---:" for _ in VERDICTS)]]
    counted = {name: [row for row in rows if row["paper"] == name] for name in papers.names()}
    for name, mine in counted.items():
        title = (papers.ROOT / name / "README.md").read_text(encoding="utf-8").split("\n")[0].removeprefix("# ")
        cells = [[row["of"], *(row[verdict] for verdict in VERDICTS)] for row in mine]
        for at, each in enumerate(cells or [["not counted yet", *("" for _ in VERDICTS)]]):
            lines.append(["" if at else f"[{title}](papers/{name}.md)", *each])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(rows: list[dict[str, str]]) -> None:
    """Write the file, and the table of the page."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    COUNTS.write_text(text.getvalue(), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: table(rows), page), encoding="utf-8")


if __name__ == "__main__":
    main()
