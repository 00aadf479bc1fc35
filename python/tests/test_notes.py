"""What an edition decides, and what held a run back, is told: on standard error, in JSON and in Python."""

import json
import shlex

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


LONG = ["--rate", "1Gbit/s", "--rtt", "200ms", "--duration", "5s"]


def test_a_question_says_that_its_receive_window_held_a_flow_and_takes_a_larger_one(fairq):
    ask = ["compare", *LONG, "--flows", "bbr", "--loss", "0.2%", "--buffer", "1BDP", "--seeds", "1"]
    status, _, err = fairq(*ask)
    assert status == 0
    assert err.startswith("fairq: note: flows.bbr: its receive window, 2112 packets, held it back for ")
    assert err.endswith("% of the time; write a larger --receive-window [window]\n")
    status, out, err = fairq(*ask, "--receive-window", "600MB", "--json")
    assert (status, err) == (0, "") and json.loads(out)["question"]["receive_window"] == "600MB"


def test_one_flow_alone_says_it_too(fairq):
    ask = ["baseline", "bbr3", *LONG]
    status, _, err = fairq(*ask)
    assert status == 0 and "its receive window, 2112 packets, held it back for" in err and "--receive-window" in err
    status, out, err = fairq(*ask, "--receive-window", "400000packets", "--json")
    assert (status, err, json.loads(out)["notes"]) == (0, "", [])


@pytest.mark.parametrize(
    ("text", "window"), [("4000", 4000), ("4000packets", 4000), ("4000 packets", 4000), ("6MB", 4000)]
)
def test_a_receive_window_is_in_packets_or_bytes(text, window):
    asked = package.compare(rate="10Mbit/s", rtt="20ms", flows="cubic", receive_window=text, seeds=1, duration="1s")
    assert f'connection = {{ profile = "linux", receive_window = {window} }}' in asked.scenario
    assert shlex.join(["--receive-window", text]) in asked.document["question"]["command"]


@pytest.mark.parametrize("text", ["0", "6 furlongs", "1B", "2000000000"])
def test_a_receive_window_that_is_none_is_refused(text):
    with pytest.raises(package.UsageError, match=r"^--receive-window .*write|^--receive-window .*packets"):
        package.compare(rate="10Mbit/s", rtt="20ms", flows="cubic", receive_window=text, seeds=1, duration="1s")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ({"rate": "1bit/s"}, "nothing", "no packet passed in the measured time"),
        ({"rtt": "80s"}, "nothing", "its first packet takes 40.000 s to the other end, and the run ends at 6 s"),
        (
            {"queue": "cake(rate=1kbit/s)", "buffer": None, "warm_up": "5s"},
            "nothing",
            "no packet passed in the measured time",
        ),
        ({"duration": "5ms", "warm_up": "0s"}, "nothing", "it starts at a random time in the first second"),
        ({"warm_up": "500ms"}, "start", "write a --warm-up of 1 s or more"),
        ({"flows": "prague"}, "ecn", "write a --queue that marks"),
        ({"flows": "flood(rate=50Mbit/s):2"}, "tie", "write rates that differ a little"),
        ({}, None, ""),
    ],
)
def test_a_question_about_nothing_or_a_tie_is_told(words, code, said):
    asked = {
        "rate": "10Mbit/s",
        "rtt": "20ms",
        "flows": "cubic",
        "buffer": "10packets",
        "duration": "5s",
        "warm_up": "1s",
    }
    notes = [note for note in package.compare(**(asked | words), seeds=1).notes if note["code"] != "buffer"]
    assert [note["code"] for note in notes] == ([code] if code else [])
    assert all(said in note["text"] for note in notes)
