"""The lecture: its minutes, figures, scenes, exercises and solutions belong together and are
there."""

import base64
import json
import re
import runpy
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LECTURE = ROOT / "docs" / "lecture"
PAGE = (LECTURE / "index.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+)–(\d+) \| (.*) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def shown():
    """The figures that the script makes."""
    return runpy.run_path(str(LECTURE / "figures.py"))["SHOWN"]


def test_the_minutes_follow_each_other():
    assert [int(begin) for begin, *_ in ROWS] == [0, *(int(end) for _, end, *_ in ROWS[:-1])]
    assert ROWS[-1][1] == "90"


def test_the_figures_of_the_page_are_those_that_the_script_makes(shown):
    named = [name for _, _, _, figures, _ in ROWS for name in re.findall(r"`(\w+)`", figures)]
    assert sorted(named) == sorted(shown)
    assert all((ROOT / "docs" / "gallery" / f"{name}.py").is_file() for name in shown)


def test_the_script_makes_a_slide_on_both_grounds(tmp_path):
    command = [sys.executable, LECTURE / "figures.py", "--only", "max_min", "--out", tmp_path / "slides"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    made = sorted(path.name for path in (tmp_path / "slides").iterdir())
    assert {"max_min-light.png", "max_min-dark.png"} <= set(made)
    assert all((ROOT / line).is_file() for line in done.stdout.splitlines())


def test_each_scene_opens_by_its_link_and_has_the_title_that_is_shown():
    scenes = {path.stem[3:]: tomllib.loads(path.read_text("utf-8")) for path in (ROOT / "page" / "scenes").iterdir()}
    links = dict(re.findall(r"^\[([\w-]+)\]: http://127\.0\.0\.1:8000/#1\.([\w-]+)$", PAGE, re.MULTILINE))
    used = re.findall(r"\[([^\]]+)\]\[([\w-]+)\]", PAGE)
    assert len(used) >= 9 and {name for _, name in used} == set(links)
    for title, name in used:
        state = json.loads(zlib.decompress(base64.urlsafe_b64decode(links[name] + "=" * (-len(links[name]) % 4))))
        assert state == {"v": 1, "scene": name, "panes": []}
        assert scenes[name]["title"] == title


def test_each_exercise_has_its_solution():
    exercises = (LECTURE / "exercises.md").read_text(encoding="utf-8")
    asked = re.findall(r"^(\d)\. \*\*(.*?)\*\*", exercises, re.MULTILINE)
    solutions = (LECTURE / "solutions.md").read_text(encoding="utf-8")
    assert asked == re.findall(r"^\*\*(\d)\. (.*?)\*\*", solutions, re.MULTILINE)
    named = re.findall(r"exercise (\d)", PAGE)
    assert named and set(named) <= {number for number, _ in asked}
