"""The command line: one line for what the user can mend, one document for --json."""

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairq import _native, cli, tables
from fairq.commands import as_json
from fairq.progress import Bar, status

PGPS = ["theory", "pgps", "--burst", "1kB", "--packet", "125B", "--share", "1Mbit/s", "--lines", "1Mbit/s"]
"""A command that is right; of an option that is given twice the last counts."""


def refused(capsys, *arguments):
    assert cli.main(list(arguments)) == 2
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
    monkeypatch.setattr(_native, "run", lambda *_: pytest.fail("the run was begun"))
    (tmp_path / "x.toml").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    assert "thesis.tex" in refused(capsys, "run", str(tmp_path / "x.toml"), "--out", str(tmp_path / "full"))


def test_theory_says_how_long_a_telnet_packet_waits(capsys):
    assert cli.main(["theory", "delay-bounds", "--rate", "56kbit/s", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["low_s"] == pytest.approx(0.0714, abs=5e-5)


def test_a_curve_can_be_drawn(tmp_path):
    assert cli.main(["theory", "delay-curve", "--delta", "1", "--plot", str(tmp_path / "c.svg")]) == 0
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")


def test_ctrl_c_ends_with_one_line(capsys, tmp_path, monkeypatch):
    def run(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_native, "run", run)
    (tmp_path / "x.toml").write_text("")
    assert cli.main(["run", str(tmp_path / "x.toml")]) == 130
    assert capsys.readouterr().err == "fairq: interrupted\n"


def test_a_reader_that_has_gone_is_no_error():
    command = f"{sys.executable} -m fairq.cli theory delay-curve --json | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize("result", ["delay-bounds", "delay", "delay-curve", "max-min", "pgps", "tcp", "sharing"])
def test_help_of_each_result_shows_an_example(capsys, result):
    with pytest.raises(SystemExit):
        cli.main(["theory", result, "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    example = printed.partition("example: fairq ")[2]
    assert example.startswith(f"theory {result}")
    if "toml" not in example and "plot" not in example:
        assert cli.main(example.split()) == 0, "the example runs"


@pytest.mark.parametrize(
    "command", ["run", "reproduce", "replay", "detect", "audit", "list", "explain", "theory", "bench"]
)
def test_help_shows_an_example(capsys, command):
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert f"example: fairq {command}" in capsys.readouterr().out


def test_headings_carry_their_units():
    assert tables.heading("delay_s_p95") == "delay p95 (s)"
    assert tables.heading("throughput_bit_per_s") == "throughput (bit/s)"
    assert tables.heading("packets") == "packets"
    assert tables.heading("throughput_packets") == "throughput (packets)"
    assert tables.text([{"flow": "a", "x": 1.5}, {"flow": "bb", "x": None}]).splitlines()[2:] == [
        "a     1.5",
        "bb      -",
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
    assert json.loads(as_json({"rows": [(1.5, math.inf)], "x": math.nan})) == {"rows": [[1.5, None]], "x": None}


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
