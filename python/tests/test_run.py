"""`fairq run`, end to end: the table, the document, the folder, and what is refused."""

import csv
import json
import tomllib

import duckdb
import pytest

import fairq as package


def by_name(rows, key="flow"):
    return {row[key]: row for row in rows}


def test_the_table_names_flows_links_and_queues_with_their_units(fairq, dumbbell):
    status, out, err = fairq("run", dumbbell)
    assert (status, err) == (0, "")
    sections = [line for line in out.splitlines() if line in ("Flows", "Links", "Queues")]
    assert sections == ["Flows", "Links", "Queues"]
    assert "throughput" in out and " Mbit/s" in out and "packet-hops" in out.splitlines()[-1]


def test_the_document_has_flows_links_queues_and_one_key_for_the_machine(document, dumbbell):
    found = document("run", dumbbell, "--set", "defaults.queue=fq")
    assert list(by_name(found["flows"])) == ["ftp.1", "ftp.2", "telnet", "blast"]
    assert [(row["link"], row["direction"]) for row in found["links"]] == [
        ("bottleneck", "forward"),
        ("bottleneck", "reverse"),
    ]
    assert [row["discipline"] for row in found["queues"]] == ["fq", "fq"]
    assert found["run_info"]["packet_hops"] > 0


def test_a_field_set_on_the_command_line_is_the_field_of_the_file(document, dumbbell):
    changed = document("run", dumbbell, "--set", "defaults.queue=fq", "--set", "flows.ftp.count=1")
    text = dumbbell.read_text().replace("count = 2", "count = 1").replace("[defaults]", '[defaults]\nqueue = "fq"')
    dumbbell.write_text(text)
    written = document("run", dumbbell)
    del changed["run_info"], written["run_info"]
    assert changed == written


def test_fair_queueing_keeps_a_blast_from_the_others(document, dumbbell):
    fifo, fq = (
        by_name(document("run", dumbbell, "--set", f"defaults.queue={name}")["flows"]) for name in ("fifo", "fq")
    )
    assert fifo["ftp.1"]["throughput_bit_per_s"] < 10_000 < 450_000 < fq["ftp.1"]["throughput_bit_per_s"]
    assert fifo["telnet"]["throughput_packets"] < 5 < 20 < fq["telnet"]["throughput_packets"]


def test_the_number_of_workers_moves_no_byte(process, dumbbell):
    def printed(workers):
        done = process("run", dumbbell, "--set", "measure.replications=6", "--json", "--workers", workers)
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(done.stdout)
        del found["run_info"]
        return json.dumps(found)

    assert printed(1) == printed(2)


def test_the_folder_holds_each_table_as_csv_and_parquet_and_the_whole_result(document, dumbbell, tmp_path):
    out = tmp_path / "out"
    found = document("run", dumbbell, "--set", "measure.replications=3", "--out", out)
    tables = [f"{name}.{kind}" for name in ("flows", "links", "queues") for kind in ("csv", "parquet")]
    assert {path.name for path in out.iterdir()} == {*tables, "result.json", ".fairq"}
    assert json.loads((out / "result.json").read_text()) == found
    for name in ("flows", "links", "queues"):
        with (out / f"{name}.csv").open() as file:
            in_csv = list(csv.DictReader(file))
        in_parquet = duckdb.sql(f"select * from '{out}/{name}.parquet'")
        assert in_parquet.columns == list(found[name][0])
        rows = [dict(zip(in_parquet.columns, row, strict=True)) for row in in_parquet.fetchall()]
        assert rows == found[name]
        assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows] == in_csv


SESSION = """
edition = 1
measure = { duration = "10 s" }
[defaults]
queue = "fq"
[[links]]
name = "trunk"
from = "source"
to = "edge"
rate = "10 Mbit/s"
[[links]]
name = "last"
from = "edge"
to = "home"
rate = "128 kbit/s"
[[sessions]]
name = "lecture"
from = "source"
rates = ["50 kbit/s", "50 kbit/s", "50 kbit/s"]
source = "pairs"
control = "plm"
[[sessions.receivers]]
at = "edge"
target = 3
[[sessions.receivers]]
at = "home"
target = 3
"""


def test_sessions_have_a_table_with_a_row_for_each_receiver(fairq, document, tmp_path):
    path = tmp_path / "session.toml"
    path.write_text(SESSION)
    status, out, err = fairq("run", path, "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "Sessions" in out.splitlines()
    found = document("run", path)["sessions"]
    assert [(row["session"], row["receiver"], row["control"]) for row in found] == [
        ("lecture", "edge", "plm"),
        ("lecture", "home", "plm"),
    ]
    # two layers of 50 kbit/s go through 128 kbit/s, and the third never does
    assert [row["level_end"] for row in found] == [3, 2]
    assert found[0]["target_s"] > 0 and found[1]["target_s"] is None
    with (tmp_path / "out" / "sessions.csv").open() as file:
        assert [row["receiver"] for row in csv.DictReader(file)] == ["edge", "home"]
    in_parquet = duckdb.sql(f"select level_end from '{tmp_path}/out/sessions.parquet'").fetchall()
    assert [row[0] for row in in_parquet] == [3, 2]
    assert [row["level_end"] for row in package.run(path).sessions] == [3, 2]


def test_states_tell_of_each_tin_of_cake_what_it_did(fairq, document, dumbbell, tmp_path):
    cake = ("--set", "defaults.queue=cake(tins=diffserv4)", "--set", "measure.warm_up=0s")
    found = document("run", dumbbell, *cake, "--states", "--out", tmp_path / "out")
    line = [row for row in found["states"] if row["direction"] == "forward"]
    assert {row["discipline"] for row in line} == {"cake"}
    states = {(row["subqueue"], row["quantity"]): row["value"] for row in line}
    tins = ("bulk", "best_effort", "video", "voice")
    sent = {tin: states[tin, "sent_packets"] for tin in tins}
    (link,) = (row for row in found["links"] if row["direction"] == "forward")
    (queue,) = (row for row in found["queues"] if row["direction"] == "forward")
    # The last one that left its tin may still be on the line.
    assert 0 <= sum(sent.values()) - link["packets"] <= 1
    assert sum(states[tin, "dropped"] for tin in tins) == queue["dropped"] > 0
    assert duckdb.sql(f"select count(*) from '{tmp_path}/out/states.parquet'").fetchall() == [(len(found["states"]),)]
    _, out, _ = fairq("run", dumbbell, *cake, "--states")
    assert "States" in out and "delay_peak_s" in out and "voice" in out
    assert document("run", dumbbell, *cake)["states"] == []


def test_samples_have_the_states_too_and_the_screen_shows_those_of_the_end(fairq, document, dumbbell, tmp_path):
    red = ("--set", "defaults.queue=red", "--states")
    _, alone, _ = fairq("run", dumbbell, *red)
    _, sampled, _ = fairq("run", dumbbell, *red, "--series", "500ms", "--out", tmp_path / "out")
    shown = alone.partition("States")[2].partition("\n\n")[0]
    assert "average_queue" in shown and shown in sampled
    found = document("run", dumbbell, *red, "--series", "500ms")
    times = sorted({row["time_s"] for row in found["states"]})
    assert len(times) > 5 and times == sorted({row["time_s"] for row in found["series"]})
    end = [row for row in found["states"] if row["time_s"] == times[-1]]
    assert end == document("run", dumbbell, *red)["states"]
    assert duckdb.sql(f"select count(*) from '{tmp_path}/out/states.parquet'").fetchall() == [(len(found["states"]),)]


def test_transfers_have_a_table_of_their_own_and_a_warning_if_some_are_refused(fairq, document, dumbbell, tmp_path):
    traffic = "flows.ftp.traffic=flow_arrivals(mean_gap=50ms, size=exponential(mean=20kB))"
    status, out, err = fairq("run", dumbbell, "--set", traffic, "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert "Transfers" in out and "Warning: some transfers of ftp found no idle connection" in out
    assert "ftp.1" not in out, "connections of transfers are left out on a screen"
    found = document("run", dumbbell, "--set", traffic)
    assert found["transfers"][0]["size"] == "all" and found["transfers"][0]["refused"] > 0
    assert "ftp.1" in by_name(found["flows"])
    with (tmp_path / "out" / "transfers.csv").open() as file:
        assert [row["size"] for row in csv.DictReader(file)] == [row["size"] for row in found["transfers"]]
    in_parquet = duckdb.sql(f"select completed from '{tmp_path}/out/transfers.parquet'").fetchall()
    assert [row[0] for row in in_parquet] == [row["completed"] for row in found["transfers"]]


def test_parquet_says_what_it_was_made_from(document, dumbbell, tmp_path):
    document("run", dumbbell, "--out", tmp_path / "out")
    said = duckdb.sql(f"select key, value from parquet_kv_metadata('{tmp_path}/out/flows.parquet')").fetchall()
    assert any(b"bottleneck" in bytes(value) for _, value in said)


def test_a_second_run_replaces_its_own_folder_and_nothing_else(fairq, dumbbell, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "beside").write_text("mine")
    assert fairq("run", dumbbell, "--out", out)[0] == 0
    (out / "left from before").write_text("")
    assert fairq("run", dumbbell, "--out", out)[0] == 0
    assert not (out / "left from before").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"beside", "out", "dumbbell.toml"}


def test_a_place_that_is_not_fairqs_is_refused_and_kept(refused, dumbbell, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "full")
    before = sorted(tmp_path.rglob("*"))
    for name in ("full", "file", "link", "file/below"):
        assert str(tmp_path / name) in refused("run", dumbbell, "--out", tmp_path / name)
    # no user writes there, not even the superuser
    refused("run", dumbbell, "--out", "/proc/fairq")
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "full" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(
    ("old", "new", "place", "remedy"),
    [
        ("warm_up", "warm_upp", "measure.warm_upp", "did you mean warm_up?"),
        ('name = "bottleneck"', 'nam = "bottleneck"', "links[0].nam", "did you mean name?"),
        ('transport = "jk"', 'queue = "fqq"', "defaults.queue", "did you mean fq?"),
        ('transport = "jk"', 'queue = "fq(delt=3B)"', "delt", "did you mean delta?"),
        ('"1 Mbit/s"', '"1000000"', "links[0].rate", "1000000 bit/s"),
        ('"1 Mbit/s"', '"0 bit/s"', "links[0].rate", "above zero"),
        ('"20 s"', '"20"', "measure.duration", "20 s"),
        ("count = 2", 'route = ["nowhere"]', "flows[0].route[0]", "bottleneck"),
        ('to = "right"\ntraffic = "ftp"', 'to = "mars"\ntraffic = "ftp"', "flows[0].to", "right"),
        ("count = 2", "weight = nan", "flows[0].weight", "nan"),
        ("count = 2", "weight = 0", "flows[0].weight", "0.001"),
        ('traffic = "ftp"', 'traffic = { kind = "capture", file = "no.pcap" }', "flows[0].traffic", "no.pcap"),
        ("[[links]]", "[[links]", "", "TOML"),
        ("[[flows]]", "[[flow]]", "flow", "did you mean flows?"),
    ],
)
def test_a_wrong_scenario_is_said_with_file_line_field_and_remedy(refused, dumbbell, tmp_path, old, new, place, remedy):
    text = dumbbell.read_text()
    assert old in text
    dumbbell.write_text(text.replace(old, new, 1))
    line = refused("run", dumbbell, "--out", tmp_path / "out")
    assert line.startswith(f"fairq: {dumbbell}:") and place in line and remedy in line
    assert [path.name for path in tmp_path.iterdir()] == ["dumbbell.toml"]


def test_the_api_gives_the_same_tables(dumbbell):
    result = package.run(dumbbell, set={"defaults.queue": "fq", "measure.replications": 2})
    assert by_name(result.flows)["blast"]["dropped"] > 0
    assert len(result.points[0]["seeds"]) == 2
    with pytest.raises(package.ScenarioError, match="did you mean fq"):
        package.run(dumbbell, set={"defaults.queue": "fqq"})


def test_a_field_may_be_set_to_a_table_or_a_list(dumbbell):
    axis = {"name": "policy", "path": "defaults.queue", "values": ["fifo", "fq"]}
    result = package.run(dumbbell, set={"measure": {"duration": "1 s", "seed": 7}, "axes": [axis]}, workers=1)
    assert [point["axes"] for point in result.points] == [{"policy": "fifo"}, {"policy": "fq"}]
    assert result.points[0]["seeds"][0]["seed"] == 7


def test_a_picture_says_how_many_it_leaves_out_and_takes_no_name_for_a_formula(fairq, dumbbell, tmp_path):
    text = dumbbell.read_text().replace("count = 2", "count = 14").replace('name = "telnet"', 'name = "$t$"')
    dumbbell.write_text(text)
    status, _, err = fairq("run", dumbbell, "--plot", tmp_path / "x.svg", "--set", "title=$a and $b")
    assert (status, err) == (0, "")
    drawn = (tmp_path / "x.svg").read_text()
    assert "<!-- ftp.10 -->" in drawn and "<!-- ftp.11 -->" not in drawn
    assert "<!-- and 6 more -->" in drawn and "<!-- $a and $b -->" in drawn
    # the font of formulas
    assert "Oblique" not in drawn


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--series", "0s"], "series: 0 s is no distance"),
        (["--series", ""], "series: ``"),
        (["--series", "30s"], "series: 30 s is longer than the run (25 s); write a shorter time, or auto"),
        (["--packets", ""], "no flow is called"),
        (["--set", r'flows.0.name="a\nb"'], r'"a\nb" holds a control character'),
    ],
)
def test_what_makes_no_sense_is_refused(refused, dumbbell, arguments, said):
    assert said in refused("run", dumbbell, *arguments)


def test_python_is_told_what_is_no_number_of_workers(dumbbell):
    with pytest.raises(package.UsageError, match="workers: -1 is none; write a whole number from 1 up, or None"):
        package.run(dumbbell, workers=-1)


def test_python_runs_a_scenario_of_dicts_as_it_runs_the_file(dumbbell):
    of_file = package.run(dumbbell, set={"defaults.queue": "fq"})
    of_dicts = package.run(tomllib.loads(dumbbell.read_text()), set={"defaults.queue": "fq"}, overlay=True)
    assert of_dicts.flows == of_file.flows
    # what a result says of its scenario is one
    assert package.run(of_file.scenario).flows == of_file.flows
    assert package.max_min(of_file.scenario) == package.max_min(dumbbell)


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"links": [{"naem": "x"}]}, "scenario: links[0].naem: no such field; did you mean name?"),
        ({"measure": {"seed": float("nan")}}, "scenario: measure.seed: nan is no number that a field can have"),
        ({"flows": [{1, 2}]}, "scenario: flows[0]: {1, 2} is a set; write text, a number, a list or a dict"),
        ({"links": [{"rate": 5j}]}, "scenario: links[0].rate: 5j is a complex; write"),
        ({"links": {3: "x"}}, "scenario: links: 3 is no name of a field"),
    ],
)
def test_what_is_wrong_with_dicts_is_told_by_its_path(scenario, said):
    with pytest.raises(package.ScenarioError) as caught:
        package.run(scenario)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_what_is_written_goes_to_a_path_as_well_as_to_a_writer(dumbbell, tmp_path):
    result = package.run(dumbbell, set={"measure.duration": "1 s"}, trace=True)
    pieces = []
    result.write_json(pieces.append)
    result.write_json(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text() == "".join(pieces)
    result.write_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())
    result.flows.write_parquet(tmp_path / "flows.parquet")
    assert (tmp_path / "flows.parquet").read_bytes().startswith(b"PAR1")
    for call in (result.write_json, result.write_trace, result.flows.write_parquet):
        with pytest.raises(package.UsageError, match="3 is a int; write the path of a file"):
            call(3)
    with pytest.raises(package.OutputError, match="there is no folder"):
        result.write_json(tmp_path / "no" / "x.json")


def test_what_is_no_table_of_a_run_is_not_collected(dumbbell):
    made = package.experiment(dumbbell, set={"measure.duration": "1 s"})
    with pytest.raises(package.UsageError, match=r"collect: tables\[0\] is a dict; write what run\.finish"):
        made.collect([{}])
