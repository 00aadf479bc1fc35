"""`fairq audit`: what holds is said to hold, what is broken ends with status 1 and one line that replays it."""

import json

import pytest

from fairq import _native, api
from fairq.cli import program


def test_an_audit_shows_laws_and_bounds(capsys):
    assert program.main(["audit", "sfq", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "conservation" in out and "relative fairness" in out
    assert out.endswith("All laws and bounds that are claimed hold.\n")


def test_a_bound_is_given_where_one_is_claimed():
    rows = api.audit("sfq", seeds=3).bounds
    claimed = [row for row in rows if row["measure"] == "relative fairness"]
    assert claimed[0]["ratio"] == pytest.approx(claimed[0]["worst"] / claimed[0]["bound"])
    assert 0.5 < claimed[0]["ratio"] <= 1.001
    assert all(row["bound"] is None for row in rows if row["measure"] == "lateness")


def test_the_cost_of_each_part_is_shown_as_claimed_and_who_counts_it(capsys):
    found = api.audit("sfq + red", run="bursts:3")
    assert [row["part"] for row in found.costs] == ["sfq", "red", "longest_queue_drop"]
    assert found.costs[0]["cost"] == "O(log N) a packet, also when flows come and go."
    assert [row["part"] for row in api.audit("fq_codel", run="bursts:3").costs] == ["fq_codel"]
    assert program.main(["audit", "sfq", "--replay", "bursts:3"]) == 0
    assert "Not measured here; instructions are counted by:\ncargo test" in capsys.readouterr().out


def test_an_exemption_is_shown_with_a_run_that_shows_it(capsys):
    found = api.audit("token_bucket", seeds=3)
    law = next(row for row in found.laws if row["law"] == "work conservation")
    assert found.passed and law["verdict"] == "broken as the registry says"
    assert program.main(["audit", "token_bucket", "--replay", law["run"]]) == 0
    assert law["example"] in capsys.readouterr().out


def test_a_run_is_replayed_with_its_packets():
    found = api.audit("fq", run="bursts:3")
    assert len(found.packets) == found.document["packets"] > 100
    assert {packet["fate"] for packet in found.packets} == {"sent"}


def test_parts_and_buffer_policies_are_audited_too():
    assert api.audit("sfq + red + 12 packets", seeds=2).passed
    assert api.audit("longest_queue_drop", seeds=2).passed
    assert api.audit("fq_codel", seeds=2).passed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sfqq"], "did you mean sfq?"),
        (["pair"], "names no scheduler"),
        (["sfq", "--replay", "wrold:1"], "KIND:SEED"),
        (["sfq", "--seeds", "0"], "whole number"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(capsys, arguments, says):
    assert program.main(["audit", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and says in said.err and said.err.count("\n") == 1


def test_something_broken_ends_with_status_1_and_the_command_that_replays_it(capsys, monkeypatch):
    document = json.loads(_native.audit("fifo", json.dumps({"seeds": 1})))
    document["violations"] = [{"of": "limit", "message": "13 packets: over the limit", "run": "world:3"}]
    monkeypatch.setattr(_native, "audit", lambda *_: json.dumps(document))
    assert program.main(["audit", "fifo"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert "BROKEN limit: 13 packets: over the limit; fairq audit fifo --replay world:3\n" in said.out
    assert program.main(["audit", "fifo", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["violations"] == document["violations"]
