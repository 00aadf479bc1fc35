"""The budget of a run of CI, a line for each part; and what counts the tests of each wing."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALL_MAX_S = 25 * 60


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


budget = script("budget")
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def test_every_part_that_is_timed_has_a_budget_and_no_other():
    timed = re.findall(r'^(?:if ! )?timed "([^"]+)"', (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    tests = script("run_tests")
    assert {*timed, *tests.PARTS.values(), tests.BUILT} == set(budget.budgets(PAGE))
    assert sum(budget.budgets(PAGE).values()) <= ALL_MAX_S


def test_a_part_over_its_budget_is_a_warning():
    assert doctest.testmod(budget).failed == 0


def test_the_last_run_is_written_into_the_table_and_nothing_else_changes():
    first, *_ = budget.budgets(PAGE)
    page = budget.written(PAGE, {first: 12345})
    changed = [line for line, old in zip(page.splitlines(), PAGE.splitlines(), strict=True) if line != old]
    assert len(changed) == 1 and changed[0].startswith(f"| {first} | ") and "| 12345 |" in changed[0]


def test_every_file_of_a_wing_is_there():
    tests = script("run_tests")
    lost = [name for name in tests.WING_OF if not (ROOT / tests.FOLDERS[Path(name).suffix] / name).is_file()]
    assert lost == []


def test_a_test_counts_for_its_wing(tmp_path):
    tests = script("run_tests")
    assert doctest.testmod(tests).failed == 0
    printed = ["   Doc-tests fairq_sched", "test crates/sched/src/lib.rs - card (line 3) ... ok"]
    printed += ["     Running unittests src/lib.rs (target/debug/deps/fairq-1f)", "test a ... FAILED"]
    printed += ["     Running tests/it.rs (deps/it-1f)", "test work::b - should panic ... ignored"]
    assert tests.rust_tests(printed) == [("sched", "passed"), ("c", "failed"), ("c", "skipped")]
    tests.RECORD = tmp_path / "pytest.xml"
    assert tests.python_tests() == []
    cases = [("python.tests.test_tc", ""), ("python.tests.test_run.TestA", "<error/>"), ("test_tc", "<skipped/>")]
    tests.RECORD.write_text(
        "<a>" + "".join(f'<testcase classname="{name}">{fate}</testcase>' for name, fate in cases) + "</a>"
    )
    assert tests.python_tests() == [("tc", "passed"), ("core", "failed"), ("tc", "skipped")]


@pytest.mark.parametrize("name", ["CITATION.cff", "Cargo.toml"])
def test_the_version_is_the_same_everywhere(name):
    version = re.search(r'^version[:=\s]+"?([\d.]+)"?$', (ROOT / name).read_text(), re.MULTILINE)
    assert version is not None and version[1] == __import__("fairq").__version__
