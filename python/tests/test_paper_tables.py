"""The language of a paper's tables: which cells are judged, what is left out, and why a line differs."""

import pytest

from fairq.papers import papers
from fairq.papers.paper_tables import Cell, Runs, Table, Tables
from fairq.papers.papers import Job, Reason, Setup
from fairq.papers.varied import print_table
from fairq.papers.verdicts import Claim, Published, read_published

SETUP = Setup(2, "together", 1)
JOBS = {"short": Job("short.toml")}
RESULTS = {"short": [{"FQ": 1.0, "DRR": 2.0}, {"FQ": 1.0, "DRR": 4.0}]}


def losses(runs):
    return [Cell(policy, "loss", "all", lambda run, name: run[name], (policy,)) for policy in runs[0]]


def tables(*claims):
    runs = {name: Runs((name,), lambda document: document) for name in ("short", "long")}
    said = {"table 1": "losses", "table 2": "of long runs"}
    found = [Table("table 1", "short", losses), Table("table 2", "long", losses)]
    return Tables("p", said, runs, found, claims, lambda _setup: JOBS)


@pytest.fixture
def because(monkeypatch):
    """Give the paper these reasons."""
    return lambda *rows: monkeypatch.setattr(papers, "reasons", lambda _paper: [Reason(*row) for row in rows])


def test_a_cell_is_judged_if_it_is_printed_and_else_beyond_the_paper(because):
    because(("table 2", "", "", "", "of another table"), ("table 1", "FQ", "loss", "", "as FQ"))
    printed = Published("table 1", "FQ", "loss", "all", "3", "printed", "loss")
    lines = tables().lines(SETUP, [printed], RESULTS)
    assert [(line.policy, line.measured, line.verdict, line.note) for line in lines] == [
        ("FQ", 1.0, "differs", "as FQ"), ("DRR", 3.0, "beyond", ""),
    ]  # fmt: skip


def test_a_claim_that_fails_has_the_reason_that_begins_as_it_does_or_that_it_computes(because):
    because(("claim", "FQ", "loses no", "", "of another"), ("claim", "FQ", "loses no...", "table 1", "as FQ"))
    said = [Claim("table 1", "FQ", "loses none of 2", lambda run: run["FQ"] == 0),
            Claim("table 1", "FQ", "loses none of 3", lambda run: run["FQ"] == 0, reason=lambda: "computed"),
            Claim("table 1", "DRR", "loses none of 2", lambda run: run["FQ"] == 0),
            Claim("table 1", "FQ", "loses not all", lambda run: run["FQ"] < 2)]  # fmt: skip
    notes = [line.note for line in tables(*said).lines(SETUP, [], RESULTS)[2:]]
    assert notes == ["0 of 2 seeds; as FQ", "0 of 2 seeds; computed", "0 of 2 seeds", "2 of 2 seeds"]


# those of legout2002, whose claims hang on what was run, are in test_legout.py
@pytest.mark.parametrize("name", [name for name in papers.names() if name != "legout2002"])
def test_each_reason_names_a_printed_cell_or_a_claim(name):
    paper = papers.load(name)
    cells = read_published(paper.folder / "published.csv")
    claims = getattr(getattr(paper.compare, "TABLES", None), "claims", ())
    lines = {(cell.item, cell.policy, cell.quantity, cell.source) for cell in cells}
    lines |= {("claim", claim.policy, claim.text, claim.item) for claim in claims}
    found = papers.reasons(name)
    assert found and [each for each in found if not any(each.is_about(*line) for line in lines)] == []


def test_a_table_of_variants_prints_each_row_before_the_next_is_measured(capsys):
    def rows():
        yield "as reproduced", ["1", "2"]
        assert capsys.readouterr().out == "| queue | FIFO | FQ |\n|---|---:|---:|\n| as reproduced | 1 | 2 |\n"
        yield "DRR", ["3", "4"]

    print_table(["queue", "FIFO", "FQ"], rows())
    assert capsys.readouterr().out == "| DRR | 3 | 4 |\n\n"


def test_what_was_not_run_has_neither_caption_nor_lines_nor_claims():
    unrun = Claim("table 2", "FQ", "lossless", lambda run: run["FQ"] == 0)
    assert tables().captions(SETUP) == {"table 1": "losses"}
    assert tables().needs(SETUP, "table 2") == ["long"]
    assert {line.item for line in tables(unrun).lines(SETUP, [], RESULTS)} == {"table 1"}


def test_a_claim_is_about_its_items_runs_or_those_it_names():
    claims = [
        Claim("table 1", "FQ", "loses one", lambda run: run["FQ"] == 1),
        Claim("table 2", "DRR", "loses more", lambda run: run["DRR"] > 1, "short", "in words"),
    ]
    found = tables(*claims).lines(SETUP, [], RESULTS)[2:]
    assert [(line.source, line.verdict, line.note) for line in found] == [
        ("table 1", "agrees", "2 of 2 seeds"), ("table 2", "agrees", "in words"),
    ]  # fmt: skip
    with pytest.raises(KeyError, match="mistyped"):
        tables(Claim("table 1", "FQ", "lossless", bool, "mistyped")).lines(SETUP, [], RESULTS)
