"""The language of a paper's tables: which cells are judged, and what is left out."""

import pytest

from fairq.papers.paper_tables import Cell, Runs, Table, Tables
from fairq.papers.papers import Job, Setup
from fairq.papers.verdicts import Claim, Published

SETUP = Setup(2, "together", 1)
JOBS = {"short": Job("short.toml")}
RESULTS = {"short": [{"FQ": 1.0, "DRR": 2.0}, {"FQ": 1.0, "DRR": 4.0}]}


def losses(runs):
    return [Cell(policy, "loss", "all", lambda run, name: run[name], (policy,)) for policy in runs[0]]


def tables(*claims):
    runs = {name: Runs((name,), lambda document: document) for name in ("short", "long")}
    said = {"table 1": "losses", "table 2": "of long runs"}
    found = [Table("table 1", "short", losses), Table("table 2", "long", losses)]
    return Tables("p", said, runs, found, claims, lambda cell: f"as {cell.policy}", jobs=lambda _setup: JOBS)


def test_a_cell_is_judged_if_it_is_printed_and_else_beyond_the_paper():
    printed = Published("table 1", "FQ", "loss", "all", "3", "printed", "loss")
    lines = tables().lines(SETUP, [printed], RESULTS)
    assert [(line.policy, line.measured, line.verdict, line.note) for line in lines] == [
        ("FQ", 1.0, "differs", "as FQ"), ("DRR", 3.0, "beyond", ""),
    ]  # fmt: skip


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
