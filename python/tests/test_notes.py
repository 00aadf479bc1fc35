"""What an edition decides, and what held a run back, is told: on standard error, in JSON and in Python."""

import json

import duckdb
import pytest

import fairq as package

LINK = {"name": "line", "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "1 BDP"}
FLOW = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "start": "0 s"}
MEASURE = {"warm_up": "1 s", "duration": "3 s"}


def scenario(**more):
    return {"measure": MEASURE, "links": [LINK], "flows": [FLOW], **more}


def as_toml(table, edition):
    """A file of the same scenario, in one line a table."""

    def inline(row):
        return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in row.items()) + " }"

    return (
        f"{edition}\nmeasure = {inline(table['measure'])}\nlinks = [{inline(table['links'][0])}]\n"
        f"flows = [{inline(table['flows'][0])}]\n"
    )


def test_a_scenario_of_dicts_has_an_edition_and_its_result_names_it():
    one, two, latest = (package.run(scenario(**more), workers=1) for more in ({"edition": 1}, {"edition": 2}, {}))
    assert [found.scenario["edition"] for found in (one, two, latest)] == [1, 2, 2]
    assert [found.flows[0]["transport"] for found in (one, two, latest)] == ["generic", "cubic", "cubic"]
    assert two.flows == latest.flows and one.flows != two.flows
    assert [note["code"] for note in one.notes] == ["window"]
    assert list(two.notes) == []
    (note,) = latest.notes
    assert (note["code"], note["where"]) == ("edition", "edition")
    assert "cubic with connection linux for file; packets of 1500 B; acknowledgements" in note["text"]
    # what a result says of its scenario is a scenario, with the same result and nothing left to tell
    again = package.run(latest.scenario, workers=1)
    assert again.flows == latest.flows and list(again.notes) == []
    assert package.run(scenario(), set={"edition": 1}, workers=1).flows == one.flows


@pytest.mark.parametrize("edition", [0, 3, "2", True, 1.5])
def test_another_edition_is_refused_with_the_remedy(edition):
    with pytest.raises(package.ScenarioError, match=r"^scenario: edition: an edition is .*write edition = ") as raised:
        package.run(scenario(edition=edition), workers=1)
    assert "\n" not in str(raised.value)


def test_notes_go_to_standard_error_and_into_the_document(fairq, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(as_toml(scenario(), ""))
    status, out, err = fairq("run", path)
    assert status == 0 and out.startswith("Flows") and "note" not in out
    assert err.startswith("fairq: note: edition: edition 2, as the scenario names none: ")
    assert err.endswith("[edition]\n") and err.count("\n") == 1
    status, out, err = fairq("run", path, "--json")
    document = json.loads(out)
    assert [note["code"] for note in document["notes"]] == ["edition"] and err.count("\n") == 1
    path.write_text(as_toml(scenario(), "edition = 2"))
    status, out, err = fairq("run", path, "--json")
    assert (status, err, json.loads(out)["notes"]) == (0, "", [])


def test_a_table_in_parquet_says_of_which_edition_it_is(fairq, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(as_toml(scenario(), ""))
    assert fairq("run", path, "--out", tmp_path / "out")[0] == 0
    said = duckdb.sql(f"select key, value from parquet_kv_metadata('{tmp_path}/out/flows.parquet')").fetchall()
    (source,) = (json.loads(value) for key, value in said if bytes(key) == b"fairq.source")
    assert source["edition"] == 2 and source["flows"][0]["traffic"]["packet"] == "1500 B"


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("--series", "1s", "--json"),
        ("--packets", "file", "--json"),
        ("--series", "1s", "--out"),
        ("--packets", "file", "--plot"),
    ],
)
def test_samples_with_nowhere_to_go_are_told(fairq, tmp_path, option, value, kept):
    path = tmp_path / "x.toml"
    path.write_text(as_toml(scenario(), "edition = 2"))
    status, _, err = fairq("run", path, option, value)
    assert status == 0 and err.startswith(f"fairq: note: {option}: these rows go nowhere; write ")
    assert err.endswith("[samples]\n") and err.count("\n") == 1
    place = {"--json": [], "--out": [tmp_path / "out"], "--plot": [tmp_path / "p.svg"]}[kept]
    assert fairq("run", path, option, value, kept, *place)[2] == ""
