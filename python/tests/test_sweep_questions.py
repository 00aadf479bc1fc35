"""A question of `compare` as a study: its runs, its times, what is wrong with it."""

import pytest

import fairq


@pytest.fixture
def study(tmp_path):
    """Where the study of a test is written."""
    return tmp_path / "study.toml"


QUESTION = """[study]
replications = 2
[study.compare]
rate = "20 Mbit/s"
rtt = ["20 ms", "40 ms"]
flows = "cubic:2"
queue = ["fifo", "fq_codel"]
duration = "1 s"
warm_up = "500 ms"
"""


def test_a_question_of_compare_is_a_study(study, document):
    study.write_text(QUESTION)
    assert document("sweep", study)["ran"] == 8
    results = fairq.read_store(study.with_suffix(""))
    assert results.axes == ("queue", "rtt")
    assert {row["queue"] for row in results.rows("flows")} == {"fifo", "fq_codel"}


STEADY = """[study]
replications = 2
compare = { rate = "10 Mbit/s", flows = "cubic@10ms,cubic@100ms", queue = "fifo", buffer = "200packets" }
[[axes]]
name = "heavy"
path = "flows[0].weight"
values = [1, 2]
"""


def test_a_question_without_times_finds_them_once(study, document, monkeypatch):
    """Its store keeps them, also if the study gets more values: the runs that exist stay."""
    study.write_text(STEADY)
    cost = document("sweep", study, "--dry-run")
    assert cost["missing"] == 4 and cost["longest_times"] > 1
    assert document("sweep", study)["ran"] == 4
    kept = fairq.read_store(study.with_suffix("")).study.scenario.text
    assert 'warm_up = "5 s"' not in kept and 'warm_up = "' in kept
    searched = []
    monkeypatch.setattr("fairq.sweeps.sweeping.Search", lambda *given, **more: searched.append(given))
    assert document("sweep", study)["ran"] == 0
    study.write_text(STEADY.replace("[1, 2]", "[1, 2, 3]"))
    assert document("sweep", study)["ran"] == 2 and not searched
    assert document("sweep", study, "--dry-run")["longest_times"] == 1


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("rtt =", "rt =", ":5: study.compare.rt: no such option; did you mean"),
        ('rate = "20 Mbit/s"\n', "", "study.compare: rate is missing"),
        ("cubic:2", "cubicc:2", ":3: study.compare: --flows cubicc:2: cubicc is no congestion control"),
        ("queue = [", "queue = [[", "not TOML"),
        ('"20 Mbit/s"', "20", ":3: study.compare: rate: 20 is an int; write text"),
        ('"cubic:2"', "[2]", ":3: study.compare: flows: [2] is a list; write text"),
        ('"1 s"', "1", ":3: study.compare: duration: 1 is an int; write text"),
    ],
)
def test_a_question_that_is_none_is_refused_with_its_line(study, refused, old, new, line):
    study.write_text(QUESTION.replace(old, new))
    assert line in refused("sweep", study)
