"""Tables that people read: no line wider than the terminal, three digits, units and intervals, nothing lost."""

import math
import random
import re
import time
import unicodedata
from pathlib import Path

import pytest

import fairq as package
from fairq.cli import program
from fairq.core import cells, streams, tables

ROOT = Path(__file__).resolve().parents[2]

SCENARIOS = ["dumbbell", "host_queue", "htb", "lossy_link", "multicast", "shared_buffer", "web", "leaf_spine"]
"""Scenarios with axes, several seeds, many links, long names of disciplines, transfers and sessions."""

UNITS = {
    "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12,
    "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12,
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}  # fmt: skip


def wide(line):
    """The columns that a terminal takes for a line, counted letter by letter."""
    accents = sum(unicodedata.combining(letter) != 0 for letter in line)
    return len(line) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in line) - accents


def too_wide(text, width):
    return [line for line in text.splitlines() if wide(line) > width]


def number(cell):
    """What a cell says, in the unit of its column's name."""
    digits, _, unit = cell.partition(" ")
    digits = digits.lstrip("<>").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")).replace("×10", "e")
    return float(digits) * UNITS.get(unit.split(" ± ")[0].split(" (")[0], 1)


def cell(value, name="x_s", low=None, high=None):
    (text,) = tables.read([{name: value, f"{name}_low": low, f"{name}_high": high}], [name])[1][0]
    return text


@pytest.mark.parametrize(
    ("name", "values", "shown"),
    [
        ("throughput_bit_per_s", (16.2e6, 15e6, 17.4e6), "16.2 Mbit/s ± 1.2"),
        ("delay_s_mean", (0.0034, None, None), "3.4 ms"),
        ("delay_s_mean", (0.003412, None, None), "3.41 ms"),
        ("delay_s_mean", (0.010, 0.008, 0.015), "10.0 ms (8.0–15.0)"),
        ("delay_s_mean", (0.010, 0.009999, 0.010001), "10.0 ms ± 0.001"),
        ("delay_s_mean", (6e-15, 6e-15, 6e-15), "0 s"),
        ("waiting_packets_mean", (6e-15, None, None), "0"),
        ("jain", (0.99961, 0.9991, 0.99999), "1.00 (1.00–1.00)"),
        ("dropped", (12, None, None), "12"),
        ("rate_bit_per_s", (56_000, None, None), "56 kbit/s"),
        ("rate_bit_per_s", (999_999_000.0, None, None), "1.00 Gbit/s"),
        ("packet_bytes", (1514, None, None), "1514 B"),
        ("delay_s_max", (math.inf, None, None), "inf"),
        ("delay_s_max", (math.nan, None, None), "-"),
        ("delay_s_max", (-0.0123456, None, None), "-12.3 ms"),
        ("p", (2.04e-10, None, None), "2.04×10⁻¹⁰"),
        ("wait_ps", (1_500_000, None, None), "1.5 µs"),
    ],
)
def test_a_number_is_written_as_it_is_read(name, values, shown):
    assert cell(values[0], name, *values[1:]) == shown


def test_a_column_of_two_decades_has_one_unit_and_its_points_stand_below_each_other():
    rates = (28_004.0, 12_690.12, 1_234_567.0)
    rows = [{"flow": f"f{i}", "throughput_bit_per_s": rate} for i, rate in enumerate(rates)]
    _, _, *lines = tables.text(rows, width=80).splitlines()
    assert [line.split()[-1] for line in lines] == ["Mbit/s"] * 3
    assert len({line.index(".") for line in lines}) == 1 and len({len(line) for line in lines}) == 1


def test_values_that_are_far_apart_have_units_of_their_own():
    far = [{"x_s": 2.51}, {"x_s": 0.00488}, {"x_s": 1.5004e-9}]
    assert [row[0] for row in tables.read(far, ["x_s"])[1]] == ["2.51 s", "4.88 ms", "1.50 ns"]
    held = [{"held_bytes": 1514}, {"held_bytes": 2_000_000}]
    assert [row[0] for row in tables.read(held, ["held_bytes"])[1]] == ["1514 B", "2 MB"]


def test_small_beside_great_is_said_to_be_small():
    assert [row[0] for row in tables.read([{"n": 94.28}, {"n": 4.9e-5}, {"n": -4.9e-5}], ["n"])[1]] == [
        "94.3",
        "<0.0001",
        ">-0.0001",
    ]


def test_an_interval_of_nothing_is_not_shown():
    rows = [{"n": 0.0, "n_low": 0.0, "n_high": 0.0}, {"n": 3.0, "n_low": 2.5, "n_high": 4.0}]
    assert [row[0] for row in tables.read(rows, ["n"])[1]] == ["0", "3.00 (2.50–4.00)"]


def test_instants_stay_apart():
    rows = [{"time_s": 10 + number / 1000, "delay_s": number / 1000} for number in range(3)]
    assert [row[0] for row in tables.read(rows, ["time_s"])[1]] == ["10.000 s", "10.001 s", "10.002 s"]


def test_a_sentence_takes_several_lines_and_loses_no_word():
    claim = "no user gains more than a hundredth by leaving the equilibrium that all have reached together"
    rows = [{"item": "table 1", "claim": claim, "verdict": "agrees"}, {"item": "2", "claim": "b", "verdict": "differs"}]
    text = tables.text(rows, width=60, sentences=["claim"])
    assert too_wide(text, 60) == [] and "…" not in text and "left out" not in text
    assert set(claim.split()) <= set(text.split())


def test_a_long_table_is_laid_out_soon():
    rows = [{"flow": f"{'x' * 60}{number:05d}{'y' * 60}", "delay_s_mean": number * 1e-5} for number in range(5000)]
    began = time.process_time()
    tables.text(rows, width=160)
    assert time.process_time() - began < 10


def test_columns_that_say_nothing_are_left_out_and_wide_has_all():
    rows = [{"flow": "a", "transport": "cubic", "dropped": 0, "lost": None, "x": 1},
            {"flow": "b", "transport": "cubic", "dropped": 0, "lost": None, "x": 2}]  # fmt: skip
    assert tables.text(rows).splitlines() == ["the same in all rows: transport cubic, dropped 0", "flow  x", "----  -",
                                              "a     1", "b     2"]  # fmt: skip
    assert tables.text(rows, wide=True).splitlines()[0].split() == ["flow", "transport", "dropped", "lost", "x"]
    assert tables.text(rows, keep=["dropped"]).splitlines()[1].split() == ["flow", "dropped", "x"]
    assert tables.text(rows[:1]).splitlines()[0].split() == ["flow", "transport", "dropped", "x"]
    assert tables.text([rows[0]] * 2).splitlines()[0].split()[0] == "flow"


@pytest.mark.parametrize("noise", [0, 1e-9])
def test_where_no_number_tells_rows_apart_numbers_stay_columns(noise):
    rows = [{"queue": queue, "flow": "cubic", "share": 0.5, "delay_s_mean": 0.2 + noise * at}
            for at, queue in enumerate(("fifo", "drr"))]  # fmt: skip
    assert tables.text(rows, width=80, keep=["queue"]).splitlines() == [
        "the same in all rows: flow cubic",
        "queue  share  delay mean",
        "-----  -----  ----------",
        "fifo     0.5      200 ms",
        "drr      0.5      200 ms",
    ]


def test_what_is_least_goes_first_and_the_last_line_names_it():
    rows = [{"flow": f"f{i}", "kind": f"k{i}", "a_column": i, "another_column": 10 * i} for i in range(3)]
    lines = tables.text(rows, width=27, minor=["kind"]).splitlines()
    assert lines[0].split() == ["flow", "kind", "a", "column"], "what is less wide than what went may stay"
    assert lines[-1] == "left out: 1; --wide has all"
    lines = tables.text(rows, width=31, minor=["kind"]).splitlines()
    assert lines[0].split() == ["flow", "a", "column", "another", "column"]
    assert lines[-1] == "left out: kind; --wide has all"
    assert tables.text(rows, width=60, minor=["kind"]).count("left out") == 0


def test_a_long_name_is_cut_in_the_middle_and_names_stay_apart():
    rows = [{"flow": f"{'a' * 60}{i}{'b' * 40}", "x": i} for i in range(3)]
    *_, first, second, third = tables.text(rows, width=80).splitlines()
    assert len({first.split()[0], second.split()[0], third.split()[0]}) == 3 and first.startswith("aaaa")
    assert "…" in first and first.split()[0].endswith("bbb") and not too_wide(first, 80)
    assert tables.middle("日本語の長い名前です", 9) == "日本…です"


@pytest.mark.parametrize("width", range(8, 20))
def test_a_cut_name_has_whole_words_or_none(width):
    name = "call(rate=100kbit/s)"
    short = tables.middle(name, width)
    assert len(short) <= width and "100kbit/s" not in short
    assert {*re.findall(r"[\w/]+", short)} <= {"call", "rate"}, "a value is there as a whole or not at all"
    assert "100kbit/s" in tables.middle(name, max(width, 15), 0.75), "where what is in front is the same"


def test_names_with_values_are_cut_so_that_the_values_stay():
    rows = [{"flow": f"call(rate={rate}00kbit/s, start=2s, direction=up)", "x": rate} for rate in range(1, 4)]
    *_, first, second, third = tables.text(rows, width=36).splitlines()
    assert [line.split("…")[0] for line in (first, second, third)] == [
        f"call(rate={n}00kbit/s, start=" for n in (1, 2, 3)
    ]


LETTERS = ["a", "Z", "é", "e\u0301", "日", "本", "ｆ", "ß", "\x1b", "\n", " ", "“", "한"]
NAMES = ["flow", "link", "x", "delay_s_mean", "throughput_bit_per_s", "held_bytes", "waiting_packets_mean", "loss",
         "rate_packets_per_s", "seen", "gap_ps", "a_name_that_has_more_words_than_any_other_column"]  # fmt: skip


def random_value(random_, name):
    sort = random_.randrange(10)
    if name in ("flow", "link", "seen"):
        text = "".join(random_.choice(LETTERS) for _ in range(random_.choice([0, 1, 5, 30, 120])))
        return None if sort == 0 else random_.random() < 0.5 if name == "seen" else text
    if sort < 3:
        return [None, math.nan, math.inf][sort]
    real = random_.choice([-1, 1, 1, 1]) * 10 ** random_.uniform(-16, random_.choice([3, 9, 40]))
    return real if sort < 7 else int(real) if sort < 9 else 0


@pytest.mark.parametrize("seed", range(150))
def test_no_line_of_a_random_table_is_too_wide_and_no_number_is_wrong(seed):
    random_ = random.Random(seed)
    names = random_.sample(NAMES, random_.randint(1, len(NAMES)))
    rows = [{name: random_value(random_, name) for name in names} for _ in range(random_.choice([0, 1, 2, 7]))]
    for name in names:
        if name not in ("flow", "link", "seen") and random_.random() < 0.4:
            for row in rows:
                if row[name] is not None:
                    row[f"{name}_low"] = row[name] - abs(row[name]) * random_.choice([0, 0.1, 1e-8])
                    row[f"{name}_high"] = row[name] + abs(row[name]) * random_.choice([0, 0.1, 0.1, 3])
    width = random_.choice([20, 40, 80, 100, 160])
    for si in (False, True):
        text = tables.text(rows, names, width=width, si=si, minor=random_.sample(names, len(names) // 2))
        assert too_wide(text, width) == []
        assert "\x1b" not in text
    assert not re.search(r"\de[-+]\d", tables.text(rows, names, wide=True))
    heads, lines = tables.read(rows, names)
    assert len(heads) == len(names) and len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        for name, text in zip(names, line, strict=True):
            value = row[name]
            if isinstance(value, bool | str) or value is None or not math.isfinite(value):
                continue
            value *= 1e-12 if name == "gap_ps" else 1
            said = number(text)
            if text.startswith(("<", ">")):
                assert abs(value) < abs(said)
            elif abs(value) < cells.ROUNDING:
                assert said == 0
            else:
                assert said == pytest.approx(value, rel=0.0051), (name, value, text)


@pytest.fixture
def columns(monkeypatch):
    """Sets the width of the terminal, and leaves out what else says how tables look."""

    def be(width):
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        if width:
            monkeypatch.setenv("COLUMNS", str(width))

    return be


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_fits_the_terminal_and_wide_loses_nothing(name, fairq, columns):
    path = ROOT / "scenarios" / f"{name}.toml"
    for width in (80, 160):
        columns(width)
        for option in ([], ["--si"]):
            status, out, _ = fairq("run", path, "--quiet", *option)
            assert status == 0 and too_wide(out, width) == []
            assert option or not re.search(r"\de[-+]\d", out)
    result = package.run(path)
    out = fairq("run", path, "--quiet", "--wide")[1]
    for title in ("Flows", "Links", "Queues", "Transfers", "Sessions"):
        table = getattr(result, title.lower())
        if f"{title}\n" not in out:
            assert title == "Flows" or not len(table)
            continue
        heads = re.split(r"\s{2,}", out.partition(f"{title}\n")[2].partition("\n")[0].strip())
        ends = [each for each in table.columns if each.endswith(tables.ENDS)]
        assert len(heads) == len(table.columns) - len(ends)
    columns(0)
    raw = fairq("run", path, "--quiet", "--wide", "--si")[1]
    assert all(tables.heading(each) in raw for each in result.links.columns)


COMMANDS = [
    ["audit", "fifo", "--quick"],
    ["explain", "cubic", "--scenes"],
    ["explain", "bbr3", "--scenes"],
    ["theory", "delay-bounds", "--rate", "56kbit/s"],
    ["theory", "delay"],
    ["theory", "delay-curve"],
    ["theory", "max-min", str(ROOT / "papers" / "demers1990" / "scenario5.toml")],
    ["theory", "tcp", "--rtt", "100ms", "--loss", "0.001,0.01"],
    ["theory", "sharing", "--load", "0.8,0.9", "--distribution", "20"],
    ["theory", "pgps", "--burst", "1250B", "--packet", "125B", "--share", "100kbit/s", "--lines", "1Mbit/s,2Mbit/s"],
    ["list", "papers"],
    ["list", "disciplines"],
    ["reproduce", "--list"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("width", [80, 160])
def test_a_command_fits_the_terminal(command, width, fairq, columns):
    columns(width)
    for option in ([], ["--si"]):
        status, out, _ = fairq(*command, *option)
        assert status == 0 and too_wide(out, width) == []
        assert option or not re.search(r"\de[-+]\d", out)


@pytest.mark.parametrize("width", [80, 160])
def test_a_replay_fits_the_terminal(width, fairq, columns, capture):
    columns(width)
    status, out, _ = fairq("replay", capture, "--rate", "300kbit/s", "--buffer", "9packets")
    assert status == 0
    assert [line for line in too_wide(out, width) if "fq charges a flow" not in line and "file:" not in line] == []


def test_the_report_of_a_paper_fits_the_terminal_and_its_file_stays(monkeypatch, fairq, columns, demers1990,
                                                                    printed_runs, tmp_path):  # fmt: skip
    monkeypatch.setattr(demers1990.compare, "figures", lambda _rows, _results, _style: iter(()))
    kept = []
    for number, width in enumerate((80, 160, 0)):
        columns(width)
        out = fairq("reproduce", "demers1990", "--quick", "--out", tmp_path / str(number), "--quiet")[1]
        assert too_wide(out, width or 160) == []
        kept.append((tmp_path / str(number) / "report.txt").read_text())
    assert "--wide has all" not in kept[0]
    wide_out = fairq("reproduce", "demers1990", "--quick", "--wide", "--quiet")[1]
    assert "--wide has all" not in wide_out and len(wide_out.splitlines()) == len(kept[0].splitlines())


def test_a_pipe_has_one_width_whatever_the_terminal_is(monkeypatch, columns):
    columns(0)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (40, 24))
    assert streams.screen_width() == 0
    rows = [{f"column_{i}": f"{i} {j}" for i in range(30)} for j in range(2)]
    assert max(map(len, tables.text(rows).splitlines()[:2])) in range(140, tables.WIDTH + 1)


class Terminal:
    """Stands for standard output that is a terminal."""

    def __init__(self, is_terminal):
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "said", "is_coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_that_take_it(monkeypatch, columns, is_terminal, said, is_coloured):
    columns(80)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal(is_terminal))
    assert streams.has_colour() == is_coloured


def test_colour_moves_no_letter(fairq, columns, monkeypatch):
    columns(80)
    command = ("run", ROOT / "scenarios" / "dumbbell.toml", "--quiet")
    plain = fairq(*command)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = fairq(*command)[1]
    assert "\x1b[1m" in coloured and "\x1b" not in plain
    cut = lambda text: re.sub(r"\x1b\[\d+m", "", text).rpartition("\n\n")[0]  # noqa: E731
    assert [line.rstrip() for line in cut(coloured).splitlines()] == cut(plain).splitlines()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in fairq(*command)[1]


def test_verdicts_have_their_colours():
    rows = [{"claim": "a", "verdict": "agrees"}, {"claim": "b", "verdict": "differs"}]
    text = tables.text(rows, colour=True)
    assert "\x1b[32magrees\x1b[0m" in text and "\x1b[31mdiffers\x1b[0m" in text
    assert tables.marked("FQ  28 / 27.9 =  1 / 2 #") == "FQ  28 / 27.9\x1b[32m =\x1b[0m  1 / 2\x1b[31m #\x1b[0m"


def test_what_was_written_is_said(fairq, dumbbell, capture, tmp_path):
    line = ["--rate", "300kbit/s", "--buffer", "9packets"]
    commands = [
        (
            ["run", dumbbell, "--out", tmp_path / "o", "--plot", tmp_path / "p.svg"],
            [tmp_path / "o", tmp_path / "p.svg"],
        ),
        (["replay", capture, *line, "--out", tmp_path / "r"], [tmp_path / "r"]),
        (["topology", "fat_tree(k=4)", "--out", tmp_path / "m.svg"], [tmp_path / "m.svg"]),
        (["theory", "delay-curve", "--plot", tmp_path / "c.svg"], [tmp_path / "c.svg"]),
        (["explain", "reno", "--plot", tmp_path / "s.svg"], [tmp_path / "s.svg"]),
    ]
    for command, places in commands:
        out = fairq(*command)[1]
        assert out.splitlines()[-len(places) :] == [f"Written: {place}" for place in places]
        assert all(place.exists() for place in places)
        assert "Written" not in fairq(*command, "--quiet")[1] and "Written" not in fairq(*command, "--json")[1]


def test_the_commands_that_print_tables_have_both_options():
    for command in ("run", "replay", "detect", "audit", "list", "explain", "reproduce", "topology", "bench"):
        options = program.parser(command)._subparsers._group_actions[0].choices[command]._option_string_actions
        assert {"--wide", "--si"} <= set(options), command


def test_a_name_that_is_cut_keeps_its_first_word():
    """The settings of a queue say little without its name."""
    assert tables.middle("fq_codel(target=20ms,", 14) == "fq_codel(…"
    assert tables.middle("fq_codel(target=20ms,", 16) == "fq_codel(…=20ms,"


def test_a_heading_steers_no_terminal():
    assert "\0" not in tables.text([{"a\0b": 1}, {"a\0b": 3}]) and "\x1b" not in tables.text([{"\x1b": 1}, {"\x1b": 2}])
