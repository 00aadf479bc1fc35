"""Errors are fields, of which the line of text is made; no code takes it apart."""

from __future__ import annotations

import errno
import pickle
import re
from pathlib import Path

import pytest

import fairq
from fairq.core.errors import FairqError, OutputError, ScenarioError, UsageError

PACKAGE = Path(fairq.__file__).parent
LINK = 'edition = 2\n[[links]]\nname = "line"\nfrom = "a"\nto = "b"\nrate = "1 Mbit/s"\n'
FLOW = '[[flows]]\nname = "f"\nfrom = "a"\nto = "b"\ntraffic = "ftp"\n'


def refused(tmp_path, more, **options):
    path = tmp_path / "net.toml"
    path.write_text(LINK + more + FLOW)
    with pytest.raises(FairqError) as caught:
        fairq.run(path, **options)
    return caught.value, path


def test_a_fault_of_a_scenario_has_file_line_path_and_remedy(tmp_path):
    error, path = refused(tmp_path, 'queue = "fq_codl"\n')
    assert isinstance(error, ScenarioError)
    assert (error.where, error.path, error.field) == (f"{path}:7", "links[0].queue", "")
    assert error.fault == f"{error.message}; {error.remedy}"
    assert "fq_codl" in error.message and "fq_codel" in error.remedy
    assert str(error) == f"{path}:7: links[0].queue: {error.fault}"


def test_a_fault_in_what_an_option_sets_is_that_of_the_option(tmp_path):
    error, path = refused(tmp_path, "", set={"links[0].queue.quantumm": "9"})
    assert (error.where, error.path) == (str(path), "--set links[0].queue.quantumm")


def test_a_fault_in_what_an_axis_sets_names_axis_and_field(tmp_path):
    axis = '[[axes]]\nname = "rate"\npath = "links[0].rate"\nvalues = ["1 Mbit/s", "2 parsecs"]\n'
    error, path = refused(tmp_path, axis)
    assert (error.where, error.path, error.field) == (f"{path}:10", "axes[0].values[1]", "links[0].rate")
    assert str(error) == f"{path}:10: axes[0].values[1]: links[0].rate: {error.fault}"


def test_a_fault_of_a_question_keeps_what_is_wrong_and_says_the_option():
    with pytest.raises(UsageError) as caught:
        fairq.compare(rate="10Mbit/s", rtt="20ms", flows="cubic", jitter="2ms", queue="fq_codl")
    assert caught.value.where == "--queue fq_codl" and "fq_codel" in caught.value.remedy


def test_the_number_of_the_systems_error_comes_with_what_cannot_be_written(tmp_path):
    table = fairq.run("scenarios/dumbbell.toml", set={"measure.duration": "1 s"}, workers=1).flows
    with pytest.raises(OutputError) as caught:
        table.write_parquet(tmp_path / "none" / "flows.parquet")
    assert caught.value.errno == errno.ENOENT and "os error" not in str(caught.value)


@pytest.mark.parametrize("kind", FairqError.__subclasses__())
def test_an_error_can_be_pickled(kind):
    error = kind("it is `a; b`; write c", "net.toml:3", "links[0]", "rate", 2)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) == "net.toml:3: links[0]: rate: it is `a; b`; write c"
    assert vars(again) == vars(error)
    assert (again.message, again.remedy) == ("it is `a; b`", "write c")


TAKEN_APART = re.compile(
    r"str\(error\)(\.(r?partition|split\([^)]|removeprefix|replace)|\[)|in str\(error|re\.\w+\([^)]*str\(error"
)


def test_no_code_takes_the_text_of_an_error_apart():
    """What differs: the place that a file is built in is said by the name that was asked for."""
    found = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if TAKEN_APART.search(line)
    ]
    assert found == ["core/output.py: raise OutputError(str(error).replace(str(place), os.fspath(path))) from None"]
