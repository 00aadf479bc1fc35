"""list, explain, theory and bench on the real module; and Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairq import UsageError, api
from fairq.cli.program import parser

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("what", ["disciplines", "transports", "traffic", "receivers", "topologies"])
def test_the_list_names_each_entry_with_its_card(document, what):
    entries = document("list", what)
    assert {"name", "aliases", "source", "cost", "bound"} <= set(entries[0])
    names = [entry["name"] for entry in entries]
    assert len(set(names)) == len(names)
    assert all(entry["name"] == entry["name"].lower() and " " not in entry["name"] for entry in entries)


def test_the_family_of_the_paper_is_there(document):
    names = {entry["name"] for entry in document("list", "disciplines")}
    assert {"fifo", "round_robin", "fq", "virtual_clock", "token_bucket"} <= names
    assert {"tail_drop", "longest_queue_drop", "decbit", "selective_decbit", "fq_bit"} <= names
    assert {"generic", "jk", "decbit", "uncontrolled"} <= {entry["name"] for entry in document("list", "transports")}


def test_every_entry_and_alias_is_explained(fairq, document):
    for what in ("disciplines", "transports", "traffic", "receivers", "topologies"):
        for entry in document("list", what):
            for name in [entry["name"], *entry["aliases"]]:
                status, card, err = fairq("explain", name)
                assert (status, err) == (0, "")
                assert "Use when: " in card and "Source:" in card and ".rs" not in card


def test_a_card_is_fields_for_a_program_and_text_for_a_reader(document):
    explained = document("explain", "fq")
    (card,) = explained["cards"]
    assert explained["card"].startswith("fq (scheduler)\n\n" + card["what"].split(":")[0])
    assert card["use_when"] and "laws" not in card["bound"]
    assert {setting["name"]: setting["default"] for setting in card["settings"]}["delta"] == "0 B"
    assert set(card["settings"][0]) == {"name", "type", "required", "default", "doc"}
    assert [card["part"] for card in document("explain", "decbit")["cards"]] == ["marker", "transport"]
    assert document("explain", "linux")["cards"] == []


@pytest.mark.parametrize("columns", [40, 80, 110])
def test_a_card_and_a_list_fit_the_terminal(fairq, document, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("fq", "cake", "file", "linux"):
        text = fairq("explain", name)[1]
        wide = [line for line in text.splitlines() if len(line) > columns and " " in line.strip()]
        # the value of a setting is one piece
        assert not [line for line in wide if " = " not in line], (name, wide)
        assert max(map(len, text.splitlines())) > columns - 15
    for what in ("disciplines", "transports", "topologies"):
        lines = fairq("list", what)[1].splitlines()
        assert max(map(len, lines)) <= columns
        for entry in document("list", what):
            assert sum(line.split()[:1] == [entry["name"]] and line.startswith("  ") for line in lines) == 1, entry


def test_a_list_that_goes_to_a_file_has_whole_sentences(fairq, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = fairq("list", "disciplines")[1].splitlines()
    assert lines[0] == "scheduler" and "…" not in "".join(lines)
    (drr,) = [line for line in lines if line.startswith("  drr  ")]
    assert drr.startswith("  drr                 Deficit round robin: ") and drr.endswith("carries over.")


def test_a_card_needs_some_columns():
    with pytest.raises(UsageError, match="width: 19 columns; write 20 or more"):
        api.explain("fq", width=19)


def test_an_unknown_name_is_refused_with_the_near_miss(refused):
    assert "did you mean fq?" in refused("explain", "fqx")
    assert "did you mean fq?" in refused("explain", "FQ")


def test_the_scenes_of_a_law_are_tables_a_document_and_a_figure(fairq, document, tmp_path):
    played = document("explain", "cubic", "--scenes")
    by_name = {scene["scene"]: scene["rounds"] for scene in played}
    # a loss of 320 in flight leaves 0.7 of them
    after = by_name["one_loss"][5]
    assert (after["sent"], after["lost"], after["threshold_packets"]) == (320, 1, 224.0)
    status, out, err = fairq("explain", "cubic", "--scenes")
    assert (status, err) == (0, "") and all(name in out for name in by_name)
    file = tmp_path / "scenes.svg"
    status, out, err = fairq("explain", "cubic", "--plot", str(file))
    assert (status, err) == (0, "") and str(file) in out
    assert file.read_text().count('id="axes_') == len(played)


@pytest.mark.parametrize("name", ["decbit", "fixed_rate", "fixed_window", "generic", "jk", "rap", "tfrc"])
def test_a_transport_with_rules_of_its_own_plays_every_scene(document, fairq, name, tmp_path):
    played = document("explain", name, "--scenes")
    assert len(played) == 10 and all(row["sent"] > 0 for scene in played for row in scene["rounds"])
    file = tmp_path / "scenes.svg"
    assert fairq("explain", name, "--plot", str(file))[0] == 0
    assert file.read_text().count('id="axes_') == len(played)


def test_what_is_no_law_has_no_scenes(refused):
    assert "fq is not a transport with scenes; there are " in refused("explain", "fq", "--scenes")
    assert "uncontrolled is not a transport with scenes" in refused("explain", "uncontrolled", "--scenes")
    assert "did you mean cubic?" in refused("explain", "cubik", "--scenes")


def test_the_schema_of_scenarios_is_the_file_for_editors(fairq, document):
    committed = (ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8")
    assert fairq("schema") == fairq("schema", "scenario") and fairq("schema")[0] == 0
    assert api.schema() == document("schema") == json.loads(committed)
    with pytest.raises(UsageError, match=r"did you mean scenario\?"):
        api.schema("scenarios")


@pytest.mark.parametrize(
    "arguments",
    [
        ["delay-bounds", "--rate", "56kbit/s"],
        ["delay", "--rate", "56kbit/s", "--delta", "1kB"],
        ["delay-curve", "--delta", "1"],
        ["max-min", "papers/demers1990/scenario5.toml"],
    ],
)
def test_theory_prints_a_table_or_a_document(fairq, document, arguments, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    status, out, err = fairq("theory", *arguments)
    assert (status, err) == (0, "") and "--" in out
    assert document("theory", *arguments)


def test_the_quick_bench_measures_every_workload(document):
    found = document("bench", "--quick")
    rows = {row["row"]: row for row in found["rows"]}
    simulated = [row for row in rows.values() if "data_packets" in row]
    assert len(simulated) == 9 and {"replications", "start", "compare", "import", "table-polars", "replay"} < set(rows)
    for row in simulated:
        # six lines for a packet and its acknowledgement on a dumbbell, more on the large network
        assert row["packet_hops"] >= 5 * row["data_packets"] > 0, row
        assert row["million_packet_hops_per_cpu_s"] == pytest.approx(row["packet_hops"] / row["cpu_s"] / 1e6)
        assert row["peak_memory_bytes"] > 10_000_000, row
    assert rows["many"]["flows"] == 1000 and rows["network"]["flows"] == 1600
    assert rows["replay"]["packets"] == 100_000 and rows["start"]["wall_s"] > 0 and rows["compare"]["wall_s"] > 0
    assert {"version", "commit", "machine", "cores"} <= set(found["run_info"])


def test_the_bench_measures_an_import_and_says_what_it_lacks_for_a_table(document, monkeypatch):
    from fairq.benchmarks import workloads

    (row,) = document("bench", "--quick", "--row", "import")["rows"]
    alone = float(re.search(r"import fairq alone: (\d+) ms", row["note"])[1]) / 1000
    assert 0 < alone <= row["wall_s"] + 0.001 and row["cpu_s"] > 0
    monkeypatch.setattr(workloads, "find_spec", lambda name: None)
    (row,) = document("bench", "--quick", "--row", "table-polars")["rows"]
    assert row["note"] == "not measured; write: pip install polars" and "cpu_s" not in row


def test_the_growth_of_memory_is_that_of_what_was_done():
    from fairq.core.memory import growth

    kept = []
    more = growth(lambda: kept.append(bytearray(b"x" * 50_000_000)))
    if more is None:
        pytest.skip("SKIPPED: this system does not tell the memory of a program")
    assert 50_000_000 <= more <= 120_000_000 and len(kept[0]) == 50_000_000


def test_the_bench_measures_what_it_is_told_and_names_what_there_is(fairq, document):
    assert [row["row"] for row in document("bench", "--quick", "--row", "start")["rows"]] == ["start"]
    status, out, err = fairq("bench", "--row", "strat")
    assert (status, out, err.count("\n")) == (2, "", 1) and "did you mean start?" in err


def test_the_capture_of_the_bench_is_what_it_says(tmp_path, document):
    from fairq.benchmarks.capture import write_capture

    capture = tmp_path / "capture.pcap"
    write_capture(capture, 5000)
    line = ["--rate", "10Gbit/s", "--buffer", "100packets", "--classifier", "port_pair"]
    found = document("replay", str(capture), *line, "--discipline", "fq", "--all")
    told = found["capture"]
    assert (told["packets"], told["bytes"], told["flows"]) == (5000, 5_000_000, 256), told
    assert told["duration_s"] == pytest.approx(0.004999)


def test_the_bench_of_disciplines_has_a_row_for_each_of_the_registry_beside_its_floor(document):
    found = document("bench", "disciplines", "--quick")
    listed = {e["name"] for e in document("list", "disciplines") if e["part"] in ("scheduler", "buffer", "design")}
    assert {row["discipline"] for row in found["rows"]} == listed
    assert {row["floor"] for row in found["floors"]} == {"A", "B"}
    measured = [row for row in found["rows"] if not row["note"]]
    for row in measured:
        assert row["floor"] in ("A", "B"), row
        assert row["idle_flow_bytes"] >= 0 and row["backlogged_flow_bytes"] > 0, row
    by_name = {(row["discipline"], row["flows"]): row for row in measured}
    assert by_name["fq", 256]["floor"] == "B" and by_name["fifo", 256]["floor"] == "A"
    # two descriptors of 48 bytes for each flow at least
    assert by_name["fifo", 256]["backlogged_flow_bytes"] >= 96
    assert by_name["round_robin", 16]["unfairness_packets"] == 1


def test_unequal_weights_show_who_serves_by_them(document):
    rows = document("bench", "disciplines", "round_robin", "fq", "--mixed", "--quick")["rows"]
    unfairness = {row["discipline"]: row["unfairness_packets"] for row in rows if row["flows"] == 16}
    assert unfairness["fq"] < 3 < unfairness["round_robin"]


def test_the_bench_refuses_what_is_no_discipline_with_the_near_miss(fairq):
    before = json.loads(fairq("bench", "--json", "--quick", "disciplines", "round_robin")[1])
    assert {row["discipline"] for row in before["rows"]} == {"round_robin"}
    status, out, err = fairq("bench", "disciplines", "round_robbin")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and "did you mean round_robin" in err
    status, _, err = fairq("bench", "discipline")
    assert status == 2 and err.count("\n") == 1


def interrupted(arguments, after):
    """Starts a command, sends Ctrl-C to it, and gives its status, standard output and standard error."""
    # a shell that starts a job in the background has it ignore the signal: undo that
    run = subprocess.Popen(
        [sys.executable, "-m", "fairq", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(after)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    return run.returncode, out, err


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_ctrl_c_ends_a_long_run_with_one_line_and_leaves_nothing(dumbbell, tmp_path, json_too):
    arguments = ["run", dumbbell, "--set", "measure.duration=1000 h", "--out", tmp_path / "out", *json_too]
    assert interrupted(arguments, after=2.0) == (130, "", "fairq: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["dumbbell.toml"]


def test_ctrl_c_ends_a_question_with_one_line():
    arguments = ["compare", "--rate", "1Gbit/s", "--rtt", "40ms", "--flows", "cubic:8", "--duration", "100s"]
    assert interrupted(arguments, after=2.0) == (130, "", "fairq: interrupted\n")


def test_ctrl_c_ends_a_replay_with_one_line_and_leaves_nothing(capture, tmp_path):
    header, record = capture.read_bytes()[:24], capture.read_bytes()[24 : 24 + 16 + 1000]
    # a packet cut to its headers, many times over
    short = record[:8] + (42).to_bytes(4, "little") + record[12:16] + record[16 : 16 + 42]
    capture.write_bytes(header + short * 1_500_000)
    # one replay alone may be over before the signal comes
    many = "fifo,fq,wfq,scfq,sfq,wf2q,wf2q_plus,drr,qfq,srr,virtual_clock,round_robin"
    arguments = ["replay", capture, "--rate", "1Gbit/s", "--buffer", "40packets", "--out", tmp_path / "out"]
    arguments += ["--discipline", many]
    assert interrupted(arguments, after=1.0) == (130, "", "fairq: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.pcap"]


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_ctrl_c_ends_the_description_of_a_large_topology(tmp_path, json_too):
    # a ring, in which no node can be left out of the search for the diameter
    path = tmp_path / "ring.csv"
    path.write_text("from,to\n" + "".join(f"{at},{(at + 1) % 60_000}\n" for at in range(60_000)))
    began = time.monotonic()
    assert interrupted(["topology", path, *json_too], after=3.0) == (130, "", "fairq: interrupted\n")
    # a second, on a machine that may have other work
    assert time.monotonic() - began < 3.0 + 3.0


def test_a_document_is_all_there_is_on_standard_output(process, dumbbell, capture):
    commands = [
        ["run", dumbbell],
        ["run", dumbbell, "--dry-run"],
        ["compare", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--duration", "1s"],
        ["replay", capture, "--rate", "1Mbit/s", "--buffer", "4packets"],
        ["list", "disciplines"],
        ["explain", "fq"],
        ["audit", "fq", "--quick"],
        ["theory", "delay-bounds"],
        ["reproduce", "demers1990", "--seeds", "2"],
        ["bench", "--quick", "--row", "start"],
        ["bench", "disciplines", "fifo", "--quick"],
    ]
    for arguments in commands:
        done = process(*arguments, "--json")
        assert (done.returncode, done.stderr) == (0, ""), arguments
        json.loads(done.stdout)


ASKED = ("compare", "--rate", "5Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--queue", "fifo", "--seeds", 1,
         "--duration", "1s", "--warm-up", "1s", "--quiet")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*ASKED, "--plot", ""], "--plot: the name is empty"),
        ([*ASKED, "--scenario", " "], "--scenario: the name is empty"),
        ([*ASKED, "--plot", "s.svg", "--scenario", "./s.svg"], "s.svg: that of --plot is the same file"),
        ([*ASKED, "--plot", "dangling.svg"], "dangling.svg: leads to nowhere/x.svg, and there is no folder"),
        (["run", "s.toml", "--trace", "s.toml"], "--trace s.toml: what is read is the same file"),
        (["run", "s.toml", "--trace", "a.json", "--out", "a.json"], "--out a.json: that of --trace is the same file"),
        (["topology", "fat_tree(k=2)", "--out", ""], "--out: the name is empty"),
        (["report", "s.toml", "--out", ""], "--out: the name is empty"),
        (["baseline", "reno", "--rate", "1Mbit/s", "--rtt", "20ms", "--trace", ""], "--trace: the name is empty"),
    ],
)
def test_a_target_is_checked_the_same_way_by_all_commands(refused, dumbbell, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(dumbbell.read_text())
    (tmp_path / "dangling.svg").symlink_to("nowhere/x.svg")
    assert said in refused(*options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling.svg", "dumbbell.toml", "s.toml"]


def test_the_ending_of_a_picture_may_be_in_capitals(fairq, tmp_path):
    for name, begins in (("X.SVG", b"<?xml"), ("X.Png", b"\x89PNG")):
        assert fairq("theory", "delay-curve", "--plot", tmp_path / name)[0] == 0
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_two_dashes_are_no_value_of_any_option():
    """argparse of Python 3.11 makes an empty list of `--option=--`."""
    commands = next(action for action in parser()._actions if isinstance(action.choices, dict)).choices
    tried = 0
    for command in commands.values():
        for action in command._actions:
            if action.option_strings and action.nargs is None:
                try:
                    found = command.parse_args([f"{action.option_strings[-1]}=--"])
                except UsageError as error:
                    found = str(error)
                assert "'--' is no value" in found, action
                tried += 1
    assert tried > 100
