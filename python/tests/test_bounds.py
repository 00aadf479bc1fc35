"""Inputs that are deep, long or large: each is refused in one line, soon.

And is no fault of fairq.
"""

import json
import time

import pytest
from sweep_studies import STUDY, write_study

DEEP = [
    ("x = " + "[" * 800 + "]" * 800, "more than 64 deep"),
    ("x = " + "{a=" * 800 + "1" + "}" * 800, "more than 64 deep"),
    (".".join("a" * 40_000) + " = 1", "more than 32 parts"),
    ("[" + ".".join("a" * 40_000) + "]", "more than 32 parts"),
    ("[" + ".".join(['"a"'] * 100) + "]", "more than 32 parts"),
    (f"{'k' * 2000} = 1", "at most 1000 bytes"),
    ('{"x": ' + "[" * 1200 + "]" * 1200 + "}", "recursion limit"),
    ('{"x": ' * 1200 + "1" + "}" * 1200, "recursion limit"),
    (f"x = {'9' * 5000}", ""),
    (f'{{"x": {"9" * 5000}}}', ""),
]


@pytest.mark.parametrize(("text", "said"), DEEP, ids=range(len(DEEP)))
@pytest.mark.parametrize("words", [["run", "--out", "result"], ["run", "--dry-run"], ["topology"], ["sweep"]])
def test_a_deep_or_long_text_is_one_line_and_soon(tmp_path, monkeypatch, refused, words, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep.toml").write_text(text + "\n")
    command, *options = words
    began = time.process_time()
    line = refused(command, "deep.toml", *options)
    assert said in line and len(line) < 2000
    assert time.process_time() - began < 3


@pytest.mark.parametrize("path", ["a." * 20_000 + "a", "measure" + "[0]" * 10_000])
def test_a_deep_path_of_set_is_one_line(dumbbell, refused, path):
    assert "more than 32 parts" in refused("run", dumbbell, "--set", f"{path}=1")


@pytest.mark.parametrize("value", ["[" * 800 + "]" * 800, "{a=" * 500, '{"a":' * 500])
def test_a_deep_value_of_set_is_one_line(dumbbell, refused, value):
    assert len(refused("run", dumbbell, "--set", f"measure.duration={value}")) < 5000


@pytest.mark.parametrize("written", ["round(n, -100000000)", "n * " * 200 + "n"])
def test_a_derived_value_beyond_the_bounds_is_one_line(tmp_path, refused, written):
    study = write_study(tmp_path)
    axis = '\n[[axes]]\nname = "n"\nvalues = [99999999]\n'
    study.write_text(STUDY + axis + f'\n[derive]\nd = "{written}"\n')
    line = refused("sweep", study, "--dry-run")
    assert "study.toml:" in line and ("at most" in line)


def test_a_header_or_marker_that_is_deep_is_one_line(tmp_path, fairq, refused):
    study = write_study(tmp_path)
    assert fairq("sweep", study)[0] == 0
    root = study.with_suffix("")
    marker = next((root / "done").iterdir())
    marker.write_text("[" * 100_000)
    status, _, err = fairq("sweep", study)
    assert status == 0 and "cannot be read as a marker" in err
    (root / "store.json").write_text("[" * 100_000)
    assert "cannot be read" in refused("sweep", study)


def test_a_result_that_is_deep_is_one_line(tmp_path, refused):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.json").write_text(json.dumps({"a": 1})[:-1] + ', "b": ' + "[" * 100_000)
    assert len(refused("detect", tmp_path / "out")) < 500
