"""The counts of verdicts on the page of agreement: whole, those that were kept, and of the papers
as they are."""

import re
from collections import Counter
from pathlib import Path

import pytest

from fairq.papers import papers
from fairq.papers.verdicts import read_published

LONG = {"buffers", "legout2002"}
"""Papers that take a quarter of an hour and more, so that `make nightly` may not have counted them
yet."""


@pytest.fixture
def agreement(monkeypatch):
    """The script that counts."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "scripts"))
    import agreement

    return agreement


def test_the_page_shows_the_counts_that_were_kept(agreement):
    rows = agreement.kept()
    assert [row["paper"] for row in rows] == sorted((row["paper"] for row in rows), key=papers.names().index)
    assert set(papers.names()) - {row["paper"] for row in rows} <= LONG
    (shown,) = agreement.TABLE.findall(agreement.PAGE.read_text("utf-8"))
    assert shown == agreement.table(rows), "run scripts/agreement.py"


def test_they_are_of_the_papers_as_they_are(agreement):
    """A scenario, a printed number or a claim that changed asks for a new run; `make nightly` has
    all of them."""
    old = {row["paper"] for row in agreement.kept() if row["inputs"] != agreement.digest(row["paper"])}
    assert old == set(), f"run: .venv/bin/python scripts/agreement.py {' '.join(sorted(old))}"


def test_every_number_that_was_printed_is_counted(agreement):
    for name in dict.fromkeys(row["paper"] for row in agreement.kept()):
        rows = {row["of"]: row for row in agreement.kept() if row["paper"] == name}
        printed = Counter(agreement.kind(cell.item) for cell in read_published(papers.ROOT / name / "published.csv"))
        counted = {of: sum(int(row[verdict]) for verdict in agreement.VERDICTS) for of, row in rows.items()}
        assert counted.pop("claims") > 0
        # of an axis that is not run point by point, and of a curve that is computed, there are
        # other points
        printed.pop("points of figures", None), counted.pop("points of figures", None)
        assert counted == printed, name


def test_what_the_readme_of_a_paper_says_is_what_was_counted(agreement):
    said = 0
    for row in agreement.kept():
        text = " ".join((papers.ROOT / row["paper"] / "README.md").read_text("utf-8").split())
        if row["of"] == "claims":
            found = re.findall(r"(\d+) of (\d+) claims hold", text) or re.findall(r"all ((\d+)) claims hold", text)
            assert all(pair[0] == row["agrees"] for pair in found), row["paper"]
            said += len(found)
        if row["of"] == "numbers":
            found = re.findall(r"(\d+) of the (\d+) cells", text)
            assert all(pair[0] == row["agrees"] for pair in found), row["paper"]
            said += len(found)
    assert said >= 5


def test_lines_of_verdicts_are_counted_by_what_they_are_of(agreement):
    lines = [("table 1", "agrees"), ("claim", "agrees"), ("claim", "differs"), ("figure 2", "unreadable"),
             ("table 1", "beyond")]  # fmt: skip
    rows = agreement.counted("plm", [{"item": item, "verdict": verdict} for item, verdict in lines])
    counts = {row["of"]: [row[verdict] for verdict in agreement.VERDICTS] for row in rows}
    assert counts == {"numbers": ["1", "0", "0", "0"], "claims": ["1", "1", "0", "0"],
                      "points of figures": ["0", "0", "0", "1"]}  # fmt: skip
