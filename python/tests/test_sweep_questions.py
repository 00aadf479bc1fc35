"""A question of `compare` as a study: its runs, its times, what is wrong with it.

And the examples of the schema of studies, one of which is a question.
"""

import json
from pathlib import Path

import pytest
from sweep_studies import SCENARIO

import fairq
from fairq import schemas
from fairq.studies.study import read_study


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
    monkeypatch.setattr("fairq.studies.sweeping.Search", lambda *given, **more: searched.append(given))
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


def test_the_examples_of_the_schema_are_studies(tmp_path):
    definitions = json.loads(schemas.text("study"))["$defs"]
    of = {
        name: {field: said["examples"][0] for field, said in schema.get("properties", {}).items() if "examples" in said}
        for name, schema in definitions.items()
    }
    subject = of["Subject"]
    compare = subject.pop("compare")
    network = (Path(__file__).parents[2] / "scenarios" / "dumbbell.toml").read_text().partition("[[axes]]")[0]
    (tmp_path / "dumbbell.toml").write_text(network.replace("file 1", "file"))
    written = {
        "study": subject,
        "axes": [
            {**of["Axis"], "paired": [of["Paired"]]},
            {"name": "queue", "values": ["fifo"]},
            {"name": "rate", "values": ["10 Mbit/s"]},
        ],
        "derive": {"room": of["Derived"]},
        "keep": of["Keep"],
        "draw": of["Draw"],
    }
    study = tmp_path / "study.toml"
    study.write_text(json.dumps(written))
    said = read_study(study)
    assert said.name == "buffers" and set(said.axes) >= {"policy", "rtt", "queue", "rate", "room"}
    assert [len(point.digests) for point in said.points] == [10] * len(said.points)
    assert said.keep.names == ("flows", "queues", "series", "packets", "states")
    study.write_text(json.dumps({"study": {"compare": compare}}))
    assert read_study(study).axes == ("queue",)


@pytest.mark.parametrize("paired", ["[[axes.paired]]", "group = 'a'\n[[axes]]\ngroup = 'a'"])
def test_axes_vary_together_in_a_study_and_in_a_scenario(tmp_path, paired):
    axes = "[[axes]]\nname = 'rate'\npath = 'links[0].rate'\nvalues = ['1 Mbit/s', '2 Mbit/s']\n"
    axes += f"{paired}\nname = 'room'\npath = 'links[0].buffer'\nvalues = ['9 packets', '9 packets']\n"
    together = [{"rate": "1 Mbit/s", "room": "9 packets"}, {"rate": "2 Mbit/s", "room": "9 packets"}]
    study = tmp_path / "study.toml"
    (tmp_path / "line.toml").write_text(SCENARIO)
    study.write_text(f"[study]\nscenario = 'line.toml'\n{axes}")
    assert [point.axes for point in read_study(study).points] == together
    scenario = tmp_path / "own.toml"
    scenario.write_text(SCENARIO + axes)
    result = fairq.run(scenario, workers=1)
    assert [axis["name"] for axis in result.scenario["axes"]] == ["rate", "room"]
    assert [
        {axis: row[axis] for axis in ("rate", "room")} for row in result.links if row["direction"] == "forward"
    ] == (together)
