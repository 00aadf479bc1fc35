"""Standard error is never worth the result; what other packages say is one line of fairq."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairq import figures
from fairq.core import streams

SAYS = [
    ["list", "disciplines"],
    ["run", "s.toml"],
    ["run", "s.toml", "--json"],
    ["run", "s.toml", "--out", "o", "--series", "auto"],
    ["run", "s.toml", "--plot", "p.svg"],
    ["replay", "c.pcap", "--rate", "1Mbit/s", "--buffer", "20packets", "--out", "o"],
    ["audit", "fifo", "--quick"],
    ["topology", "fat_tree(k=4)", "--out", "p.png"],
    ["run", "MISSING.toml"],
    ["explain", "MISSING"],
]


def closed():
    os.close(2)


def all_closed():
    os.close(0)
    os.close(2)


def full():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 2)


def without_reader():
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, 2)


def read_only():
    os.dup2(os.open(os.devnull, os.O_RDONLY), 2)


def without_times(said, is_json):
    if is_json:
        return {name: value for name, value in json.loads(said).items() if name != "run_info"}
    return [line for line in said.splitlines() if b"CPU time" not in line]


STATES = [closed, all_closed, full, without_reader, read_only]


@pytest.fixture
def scene(tmp_path, dumbbell, capture):
    """A scenario with a note, so that there is something to say, and a capture."""
    (tmp_path / "s.toml").write_text(dumbbell.read_text().replace("edition = 1\n", ""))
    capture.rename(tmp_path / "c.pcap")
    return tmp_path


@pytest.mark.parametrize("words", SAYS, ids=" ".join)
def test_a_standard_error_that_cannot_be_written_changes_nothing(scene, words):
    def run(prepare):
        for name in ("o", "p.svg", "p.png"):
            subprocess.run(["rm", "-rf", scene / name], check=True)
        # standard error is there, for `prepare` to take away
        done = subprocess.run(
            [sys.executable, "-m", "fairq", *words], cwd=scene, capture_output=True, preexec_fn=prepare
        )
        written = sorted(str(one.relative_to(scene)) for one in scene.rglob("*"))
        return done.returncode, without_times(done.stdout, "--json" in words), written

    expected = run(None)
    for state in STATES:
        assert run(state) == expected, state.__name__


def test_no_output_gets_the_number_of_a_stream_that_is_closed(scene):
    """Else what a library writes to standard error by its number would stand in the output."""
    code = (
        "import os, sys; from fairq.core import streams; streams.prepare();"
        " f = open('x', 'w'); os.write(2, b'noise'); sys.exit(f.fileno())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=scene, preexec_fn=all_closed)
    assert done.returncode > 2 and (scene / "x").read_bytes() == b""


@pytest.mark.parametrize("words", [["list", "disciplines"], ["run", "s.toml", "--json"], ["--help"], ["--version"]])
def test_a_standard_output_that_is_full_is_refused_in_one_line(scene, words):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "fairq", *words], cwd=scene, stdout=output, stderr=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if ": note: " not in line]
    assert (done.returncode, lines) == (2, ["fairq: output: no space left on device; make room on its disk"])


HARD = {
    "underscore": "_hidden",
    "underscores": "__",
    "only an underscore": "_",
    "formula": "$x_1$ \\frac",
    "half a formula": "a$b",
    "letters that the font lacks": "日本語の流れ",
    "long": "long name " * 500,
    "right to left": "תעבורה",
    "mark": "<&\"'>",
}


@pytest.mark.parametrize("name", HARD.values(), ids=HARD)
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_figure_says_at_most_one_line_and_is_drawn(scene, name, suffix):
    """Of any name; the scenario has a flow and a gateway of it."""
    text = (scene / "s.toml").read_text().replace('name = "blast"', f"name = '''{name}'''")
    (scene / "s.toml").write_text("edition = 1\n" + text.replace('name = "bottleneck"', f"name = '''{name}'''"))
    words = ["run", "s.toml", "--plot", f"p.{suffix}", "--overlay"]
    done = subprocess.run([sys.executable, "-m", "fairq", *words], cwd=scene, capture_output=True, text=True)
    foreign = [line for line in done.stderr.splitlines() if not line.startswith("fairq: note: ")]
    of_figures = [line for line in done.stderr.splitlines() if line.endswith(("[glyphs]", "[warning]"))]
    assert done.returncode == 0 and not foreign and len(of_figures) <= 1, done.stderr
    assert (scene / f"p.{suffix}").stat().st_size > 1000
    assert bool(of_figures) == (name == HARD["letters that the font lacks"]), done.stderr


def rows_of(point, flows, links=("line",)):
    flow = {"link": None, "direction": None, "held_packets": None, "throughput_bit_per_s": 1000.0}
    gateway = {"flow": None, "direction": "forward", "held_packets": 1, "throughput_bit_per_s": None}
    rows = [{"seed": 0, "x": point, "time_s": at, "flow": name, **flow} for at in (0.0, 1.0) for name in flows]
    return rows + [
        {"seed": 0, "x": point, "time_s": at, "link": name, **gateway} for at in (0.0, 1.0) for name in links
    ]


def key(figure, row, columns):
    return [text.get_text() for text in figure.axes[row * columns + columns - 1].get_legend().get_texts()]


def test_the_key_of_a_figure_has_every_flow_that_is_drawn():
    """Of every column, once each, and the same look everywhere."""
    rows = rows_of("a", ["_one", "two", "_"]) + rows_of("b", ["three", "_one"], ["_line"])
    figure = figures.over_time(rows, ["x"], "title")
    assert key(figure, 0, 2) == ["_one", "two", "_", "three"]
    assert key(figure, 1, 2) == ["line forward", "_line forward"]
    of_one = [figure.axes[0].get_lines()[0].get_color(), figure.axes[1].get_lines()[1].get_color()]
    assert of_one[0] == of_one[1]
    looks = {(line.get_color(), line.get_linestyle()) for axes in figure.axes[:2] for line in axes.get_lines()}
    assert len(looks) == 4


def test_the_key_says_how_many_flows_are_not_drawn_and_cuts_long_names():
    many = [f"_{number}" for number in range(25)]
    figure = figures.over_time(rows_of("a", many) + rows_of("b", many[5:]), ["x"], "title")
    assert key(figure, 0, 2) == [*many[:15], "and 10 more"]
    looks = {(line.get_color(), line._linestyle, str(line._dash_pattern))
             for axes in figure.axes[:2] for line in axes.get_lines()}  # fmt: skip
    assert len(looks) == 15
    (long,) = key(figures.over_time(rows_of("a", ["begin" + 5000 * "x" + "end"]), ["x"], "title"), 0, 1)
    assert long.startswith("begin") and long.endswith("end") and len(long) < 60


def test_warnings_of_other_packages_become_one_note(capsys):
    import warnings

    with pytest.warns(UserWarning, match="outside") as outside:
        with streams.told("here"):
            warnings.simplefilter("always")
            for letter in "日本日":
                warnings.warn(f"Glyph {ord(letter)} (X) missing from font(s) F.", stacklevel=1)
            for number in range(3):
                warnings.warn(f"too\nmany {number}", RuntimeWarning, stacklevel=1)
        warnings.warn("outside", stacklevel=1)
    assert len(outside) == 1
    assert capsys.readouterr().err.splitlines() == [
        "fairq: note: here: the font of figures lacks 日本 (2): boxes stand there [glyphs]",
        "fairq: note: here: too many 0; and 2 more of the kind [warning]",
    ]


def test_what_matplotlib_logs_is_a_note_too(scene):
    """Its folder for fonts cannot be written, as in a container without a home."""
    environment = {**os.environ, "MPLCONFIGDIR": "/proc/none", "HOME": "/proc/none"}
    words = ["theory", "delay-curve", "--plot", "p.svg"]
    done = subprocess.run(
        [sys.executable, "-m", "fairq", *words], cwd=scene, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0
    assert done.stderr.startswith("fairq: note: theory: ") and done.stderr.count("\n") == 1, done.stderr


def test_columns_stay_below_each_other_where_the_encoding_is_ascii(process, dumbbell):
    run = ("run", dumbbell, "--set", "measure.replications=3", "--set", "measure.duration=2s")
    told = process(*run, env={**os.environ, "PYTHONIOENCODING": "ascii"}).stdout
    whole = process(*run, env={**os.environ, "PYTHONIOENCODING": "utf-8"}).stdout
    assert told.isascii() and "\\u" not in told and not whole.isascii()
    assert [len(line) for line in told.splitlines()[:9]] == [len(line) for line in whole.splitlines()[:9]]
