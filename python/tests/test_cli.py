"""The command line: one line for what the user can mend, one document for --json."""

import argparse
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairq import _native
from fairq.cli import program
from fairq.cli.commands import NAMES
from fairq.cli.printing import as_json
from fairq.core import tables
from fairq.core.progress import Bar, status

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "dumbbell.toml"

PGPS = ["theory", "pgps", "--burst", "1kB", "--packet", "125B", "--share", "1Mbit/s", "--lines", "1Mbit/s"]
"""A command that is right; of an option that is given twice the last counts."""


def refused(capsys, *arguments):
    assert program.main(list(arguments)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("fairq: ") and said.err.count("\n") == 1
    return said.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["run"],
        ["run", "no-such.toml"],
        ["run", ".", "--set", "nonsense"],
        ["run", "."],
        ["run", "\0"],
        ["run", "x.toml", "--workers", "0"],
        ["run", "x.toml", "--out", ""],
        ["bench", "--row", "network", "disciplines", "drr"],
        ["list", "planets"],
        ["schema", "planets"],
        ["topology", "-"],
        ["reproduce", "nobody1066"],
        ["reproduce", "../demers1990"],
        ["reproduce", "demers1990", "--seeds", "1"],
        ["replay", "x.pcap"],
        ["detect"],
        ["detect", "no-such.csv"],
        ["detect", "no-such.pcap"],
        ["detect", "no-such.pcap", "neither.pcap"],
        ["detect", "."],
        ["theory"],
        ["theory", "delay-bounds", "--ftps", "0"],
        ["theory", "delay-bounds", "--telnet-packet", "40"],
        ["theory", "delay-bounds", "--ftp-packet", "0 B"],
        ["theory", "delay-bounds", "--rate", "0 bit/s"],
        ["theory", "delay", "--telnet-packet", "0 B"],
        ["theory", "delay", "--rho", "1"],
        ["theory", "delay-curve", "--rho", "nan"],
        ["theory", "delay-curve", "--rho", "4"],
        ["theory", "delay-curve", "--plot", "curve.txt"],
        ["theory", "max-min", "no-such.toml"],
        ["theory", "pgps", "--burst", "1kB"],
        [*PGPS, "--burst", "10B"],
        [*PGPS, "--share", "2Mbit/s"],
        [*PGPS, "--share", "1Mbit/s,1Mbit/s"],
        [*PGPS, "--lines", "fast"],
        ["theory", "tcp", "--rtt", "100ms"],
        ["theory", "tcp", "--rtt", "100", "--loss", "0.1"],
        ["theory", "tcp", "--rtt", "100ms", "--loss", "0"],
        ["theory", "tcp", "--rtt", "100ms", "--loss", "nan"],
        ["theory", "tcp", "--rtt", "100ms", "--loss", "1"],
        ["theory", "sharing", "--load", "1"],
        ["theory", "sharing", "--load", "0.5", "--probability", "0"],
        ["theory", "sharing", "--load", "0.5", "--more-than", "-1"],
        ["theory", "sharing", "--load", "0.5", "--peak", "0bit/s"],
        ["theory", "sharing", "--load", "0.5", "--rate", "1Tbit/s", "--peak", "1bit/s"],
        ["theory", "delay-curve", "--plot", "no/such/folder/curve.svg"],
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys, arguments):
    refused(capsys, *arguments)


def test_text_that_is_not_utf8_is_named_with_its_line(capsys, tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    assert f"{path}:2: " in refused(capsys, "run", str(path))


def test_an_output_folder_is_refused_before_the_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(_native, "Experiment", lambda *_: pytest.fail("the run was begun"))
    (tmp_path / "x.toml").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    assert "thesis.tex" in refused(capsys, "run", str(tmp_path / "x.toml"), "--out", str(tmp_path / "full"))


def test_theory_says_how_long_a_telnet_packet_waits(capsys):
    assert program.main(["theory", "delay-bounds", "--rate", "56kbit/s", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["low_s"] == pytest.approx(0.0714, abs=5e-5)


def test_a_curve_can_be_drawn(tmp_path):
    assert program.main(["theory", "delay-curve", "--delta", "1", "--plot", str(tmp_path / "c.svg")]) == 0
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")


def test_ctrl_c_ends_with_one_line(capsys, tmp_path, monkeypatch):
    def run(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_native, "Experiment", run)
    (tmp_path / "x.toml").write_text("")
    assert program.main(["run", str(tmp_path / "x.toml")]) == 130
    assert capsys.readouterr().err == "fairq: interrupted\n"


def test_a_reader_that_has_gone_is_no_error():
    command = f"{sys.executable} -m fairq theory delay-curve --json | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize("result", ["delay-bounds", "delay", "delay-curve", "max-min", "pgps", "tcp", "sharing"])
def test_help_of_each_result_shows_an_example(capsys, result):
    with pytest.raises(SystemExit):
        program.main(["theory", result, "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    example = printed.partition("example: fairq ")[2]
    assert example.startswith(f"theory {result}")
    if "toml" not in example and "plot" not in example:
        assert program.main(example.split()) == 0, "the example runs"


@pytest.mark.parametrize(
    "command", ["run", "reproduce", "replay", "detect", "audit", "list", "explain", "schema", "theory", "bench"]
)
def test_help_shows_an_example(capsys, command):
    with pytest.raises(SystemExit) as caught:
        program.main([command, "--help"])
    assert caught.value.code == 0
    assert f"example: fairq {command}" in capsys.readouterr().out


def helps(parser, path="fairq"):
    """Where each help text of a parser and of those inside it stands, whether it is a command's, and the text."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((f"{path} {choice.dest}", True, choice.help) for choice in action._choices_actions)
            for name, inner in action.choices.items():
                yield from helps(inner, f"{path} {name}")
        elif action.help:
            yield f"{path} {'/'.join(action.option_strings) or action.dest}", False, action.help


def test_a_help_text_is_one_line():
    assert [where for where, _, text in helps(program.parser()) if len(text) >= 80] == []


def test_a_command_is_described_in_the_imperative():
    verbs = {
        *(
            "bound",
            "check",
            "compare",
            "compute",
            "describe",
            "draw",
            "list",
            "measure",
            "open",
            "print",
            "run",
            "send",
        ),
        *("rank", "show", "tell", "translate"),
    }
    found = {where: text.split()[0] for where, is_command, text in helps(program.parser()) if is_command}
    assert {where for where, first in found.items() if first not in verbs} == set()
    assert len(found) > len(NAMES)


def test_headings_carry_their_units():
    assert tables.heading("delay_s_p95") == "delay p95 (s)"
    assert tables.heading("throughput_bit_per_s") == "throughput (bit/s)"
    assert tables.heading("packets") == "packets"
    assert tables.heading("throughput_packets") == "throughput (packets)"
    assert tables.text([{"flow": "a", "x": 1.5}, {"flow": "bb", "x": None}]).splitlines()[2:] == [
        "a     1.5",
        "bb    -",
    ]


def test_progress_says_what_is_left():
    assert status("run", 0.25, 500.0, 3_000_000, 1.5) == "run  25 %  500 s simulated  2.0 million packets/s  4 s left"


def test_a_long_name_leaves_room_for_the_progress(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def fileno(self):
            return 1

    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((40, 24)))
    terminal = Terminal()
    Bar("a" * 60, terminal)(0.5, 10.0, 0)
    (line,) = terminal.getvalue().split("\r")[1:]
    assert len(line) <= 39 and line.startswith("aaa") and line.endswith("…  50 %  10 s simulated")


def test_what_json_has_no_number_for_is_null():
    rate = {"loss": 0.5, "model": "mathis"}
    numbers = {"rate_packets_per_s": math.inf, "rate_bit_per_s": math.nan, "window_packets": 1.5}
    assert json.loads(as_json((rate | numbers,), "theory-tcp")) == [
        rate | {"rate_packets_per_s": None, "rate_bit_per_s": None, "window_packets": 1.5}
    ]


def test_a_name_does_not_steer_the_terminal():
    assert tables.shown("café\x1b[2J\n") == r"café\x1b[2J\n"


@pytest.mark.parametrize(
    "arguments", [["run", "caf\udce9.toml"], ["explain", "f\udce9"], ["run", "a", "--out", "q\udce9"]]
)
def test_an_argument_that_is_not_utf8_is_refused(capsys, arguments):
    assert "is not UTF-8" in refused(capsys, *arguments)


def test_what_the_output_cannot_write_is_escaped():
    command = [sys.executable, "-m", "fairq", "explain", "fq"]
    found = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)
    assert found.stderr == b"" and b"\\u" in found.stdout


def test_a_picture_that_cannot_be_written_is_refused_before_the_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("fairq.api.run", lambda *_, **__: pytest.fail("it ran"))
    for name in (tmp_path / "no" / "x.svg", tmp_path / "x.gif"):
        assert str(name) in refused(capsys, "run", "any.toml", "--plot", str(name))


def test_numbers_of_very_many_digits_are_refused(capsys):
    said = refused(capsys, "theory", "tcp", "--rtt", "100ms", "--loss", "0.1", "--window", "9" * 400)
    assert "400 digits" in said


def test_a_field_that_an_axis_varies_is_not_set_beside_it(capsys):
    dumbbell = Path(__file__).resolve().parents[2] / "scenarios" / "dumbbell.toml"
    said = refused(capsys, "run", str(dumbbell), "--set", "defaults.queue=drr")
    assert "axes[0] varies this field" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runn"], "argument COMMAND: 'runn' is not known; did you mean run?; see fairq --help"),
        (["list", "transport"], "'transport' is not known; did you mean transports?; see fairq list --help"),
        (["list", "queues"], "'queues' is not known; did you mean disciplines?"),
        (["schema", "scenarios"], "'scenarios' is not known; did you mean scenario?; see fairq schema --help"),
        (["theory", "pgp"], "'pgp' is not known; did you mean pgps?; see fairq theory --help"),
        (
            ["run", "x", "--seed", "3"],
            "there is no option --seed here; write --set measure.seed=3; see fairq run --help",
        ),
        (["run", "--seed=3", "x"], "write --set measure.seed=3; see fairq run --help"),
        (["run", "x", "--duration", "5s"], "write --set measure.duration=5s; see fairq run --help"),
        (["run", "x", "--warm_up", "5s"], "write --set measure.warm_up=5s; see fairq run --help"),
        (["theory", "max-min", "x", "--queue", "fq"], "--set defaults.queue=fq; see fairq theory max-min --help"),
        (["run", "x", "-v"], "there is no option -v here; see fairq run --help"),
        (["run", "x", "--strict"], "there is no option --strict here; fairq topology has it; see fairq run --help"),
        (["explain", "cubic", "--effects", "--warm-up", "3s"], "; fairq compare and fairq advise have it; see"),
        (["replay", "x", "--rate", "1Mbit/s", "--buffer", "9packets", "--gap_max", "1s"], "did you mean --gap-max?"),
        (["explain", "fq", "--scene", "--plots", "x"], "did you mean --plot?; see fairq explain --help"),
        (["theory", "sharing", "--load", "1.2"], "--load 1.2: the load must lie between 0 and 1"),
        ([*PGPS, "--share", "2Mbit/s"], "--share 2Mbit/s: a share must be above 0 and at most the rate of its line"),
        ([*PGPS, "--packet", "125"], '--packet: `125`: a size needs a unit, as in "125 B"'),
        ([*PGPS, "--burst", "-1kB"], "--burst: `-1kB`: a size cannot be negative"),
        ([*PGPS, "--lines", "5mbit"], '--lines: `5mbit`: write "5 Mbit/s"'),
        (["theory", "tcp", "--rtt", "100ms", "--loss", "100%"], "--loss 1: the loss must be below 1"),
        (["theory", "delay", "--rho", "1.5"], "--rho 1.5: "),
        (["theory", "delay-curve", "--rho", "9"], "--rho 9"),
        (["replay", "x.pcap", "--rate", "-5Mbit/s", "--buffer", "9packets"], "`-5Mbit/s`: a rate cannot be negative"),
        (["run", str(SCENARIO), "--series", "-1s"], "`-1s`: a time cannot be negative"),
        (["audit", "fq", "--seeds", "-3"], "--seeds: '-3' cannot be negative; see fairq audit --help"),
        (["detect", str(SCENARIO)], "dumbbell.toml: not a capture; give captures of both ends"),
        (["detect", str(SCENARIO), str(SCENARIO)], "is the same file as"),
    ],
)
def test_what_was_meant_is_named(capsys, arguments, said):
    assert said in refused(capsys, *arguments)


def test_a_part_may_be_said_in_percent(capsys):
    def rows(loss):
        assert program.main(["theory", "tcp", "--rtt", "100ms", "--loss", loss, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert rows("1%, 0.5 %") == rows("0.01,0.005")


def test_papers_can_be_listed(capsys):
    assert program.main(["list", "papers"]) == 0
    assert "demers1990" in capsys.readouterr().out


def test_a_scenario_comes_from_standard_input(capsys):
    command = [sys.executable, "-m", "fairq", "run", "-", "--set", "measure.duration=1 s", "--json", "--workers", "1"]
    given = SCENARIO.read_text(encoding="utf-8")
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert program.main([*command[3:4], str(SCENARIO), *command[5:]]) == 0
    own, of_file = (json.loads(text) for text in (done.stdout, capsys.readouterr().out))
    assert own["flows"] == of_file["flows"] and own["flows"]
    wrong = subprocess.run(command[:5], input="a = 1\nb =", capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("fairq: standard input:2: not TOML")


def test_a_capture_comes_from_standard_input(capture):
    command = [sys.executable, "-m", "fairq", "replay", "-", "--rate", "1Mbit/s", "--buffer", "30packets", "--json"]
    with capture.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=True)
    piped = subprocess.run(command, input=capture.read_bytes(), capture_output=True, check=True)
    tables = [[each["flows"] for each in json.loads(out)["disciplines"]] for out in (done.stdout, piped.stdout)]
    assert tables[0] == tables[1] and tables[0][0]


def test_the_result_of_another_scenario_is_replaced_only_if_that_is_said(capsys, tmp_path):
    out, other = tmp_path / "out", tmp_path / "other.toml"
    other.write_text(SCENARIO.read_text(encoding="utf-8").replace("# ", "#  "), encoding="utf-8")
    short = ("--set", "measure.duration=1 s", "--workers", "1", "--out", str(out))
    assert program.main(["run", str(SCENARIO), *short]) == 0
    # the same scenario, whatever its file is called and its comments say
    assert program.main(["run", str(other), *short]) == 0
    capsys.readouterr()
    longer = ("--set", "measure.duration=2 s", *short[2:])
    before = (out / "result.json").read_bytes()
    assert "--replace" in refused(capsys, "run", str(SCENARIO), *longer)
    assert (out / "result.json").read_bytes() == before
    assert program.main(["run", str(SCENARIO), *longer, "--replace"]) == 0
    assert (out / "result.json").read_bytes() != before


def test_a_map_that_cannot_be_written_leaves_the_good_one(capsys, tmp_path, monkeypatch):
    path = tmp_path / "map.svg"
    path.write_text("good")

    def full(_, place):
        place.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairq.figures.save_as", full)
    for arguments in (
        ["topology", "fat_tree(k=2)", "--out"],
        ["theory", "delay-curve", "--plot"],
        ["explain", "reno", "--plot"],
        ["run", str(SCENARIO), "--set", "measure.duration=5 s", "--plot"],
    ):
        assert f"{path}: cannot be written: no space left on device" in refused(capsys, *arguments, str(path))
        assert path.read_text() == "good" and [p.name for p in tmp_path.iterdir()] == ["map.svg"]


def test_help_and_the_version_are_there_by_the_words_of_other_programs(capsys):
    for words, begins in ((["help"], "usage: fairq [-h]"), (["help", "run"], "usage: fairq run"), (["-V"], "fairq ")):
        with pytest.raises(SystemExit) as ended:
            program.main(words)
        assert ended.value.code == 0 and capsys.readouterr().out.startswith(begins)
