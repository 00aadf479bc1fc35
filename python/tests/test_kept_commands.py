"""What is typed stands as committed text: commands, their options, exit statuses, targets of make.

`kept/commands.txt` has them all; completions follow from the same parser (test_completion.py). The
programs that pages type beside `fairq` are run.
"""

import argparse
import doctest
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import messages
import pytest
from kept import hold

from fairq import schemas
from fairq.cli.program import parser
from fairq.core import exit_status

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("setup", "run", "test", "check", "lab", "docs", "wheel", "release", "nightly", "tools")
SCHEMAS_MIN = 34
"""The schemas that there were before results were declared once; none goes."""


def test_commands_options_and_statuses_are_those_that_are_committed():
    lines = sorted(set(words("fairq", parser())))
    lines += [f"exit status {status}: {meaning}" for status, meaning in exit_status.MEANINGS.items()]
    assert len(schemas.NAMES) >= SCHEMAS_MIN
    hold("commands.txt", lines, "python/tests/test_kept_commands.py")


def words(place, parser):
    """A parser's commands, options and arguments, each a line."""
    yield place
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from words(f"{place} {name}", inner)
            continue
        said = " ".join(action.option_strings) or action.dest
        count = "" if action.nargs is None else f" nargs={action.nargs}"
        default = "" if action.default in (None, argparse.SUPPRESS) else f" default={action.default!r}"
        yield f"{place} {said}{f' {action.metavar}' if action.metavar else ''}{count}{default}"
        yield from (f"{place} {said} is {choice}" for choice in action.choices or ())


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_of_make_is_one_and_is_explained(target):
    planned = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets is not None and set(targets[1].split()) == set(TARGETS)
    if target != "tools":
        assert f"`make {target}`" in (ROOT / "CONTRIBUTING.md").read_text() or target == "nightly"


def program(*words, given=None):
    done = subprocess.run([sys.executable, "-m", *words], input=given, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_measurement_is_a_program_of_its_own():
    text = (ROOT / "scenarios" / "dumbbell.toml").read_text()
    what = {"text": text, "sets": [["measure.duration", '"1 s"']]}
    found = json.loads(program("fairq.benchmarks", "simulate", given=json.dumps(what)))
    assert found["packet_hops"] > 0 and found["cpu_s"] >= 0


def test_the_benchmark_of_sweeps_is_a_program():
    assert re.search(r"\d", program("fairq.benchmarks.sweep", "4", "1"))


def test_the_package_and_its_command_line_are_programs():
    assert program("fairq", "--version") == program("fairq.cli", "--version")


def test_each_scenario_names_its_schema():
    found = sorted((ROOT / "scenarios").glob("*.toml"))
    assert len(found) > 20
    for path in found:
        first = path.read_text().splitlines()[0]
        named = re.fullmatch(r"#:schema (\S+)", first)
        assert named is not None and (path.parent / named[1]).is_file(), path


@pytest.mark.parametrize("module", ["messages", "kept"])
def test_the_examples_of_what_holds_the_lists_are_right(module):
    assert doctest.testmod(import_module(module)).failed == 0


def test_a_message_that_is_reworded_is_found():
    before, now = messages.merged({}, {"a": {"x is 1"}}, set()), messages.merged({}, {"a": {"x was 2"}}, set())
    assert messages.differences(before, now)[:2] == ["- a: x is 1", "+ a: x was 2"]
    assert messages.differences(before, messages.merged(before, {"a": {"x is 3"}}, {"a"}))[0].startswith("python/tests")
