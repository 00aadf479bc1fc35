"""Every message that a test provokes, held to one committed list: `kept/messages.txt`.

A plugin of pytest. It records what a command says on standard error and what an exception of fairq
says that a test expects. At the end of the session it compares them with the list, so that a
message that is reworded fails no test of behaviour: the session fails, and says which message and
how to write the list anew. A line of the list is the test's file and the message; its numbers are
an example and are not compared, for some differ between machines, and neither are lists of all
names that there are. Messages that pages show are in the list too, with the page.

Rust's own tests hold their messages themselves: `crates/experiment/tests/bad_input/cases.rs`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).parent / "kept" / "messages.txt"
DATA = os.environ.get("FAIRQ_DATA", "")
"""The folder of real data, which not everyone has: messages about its files are left out."""
RANDOM = {"test_fuzz", "test_moments", "test_sweep_moments"}
"""Files of tests whose inputs or moments are random."""
LENGTH_MAX = 400
"""Letters of a message that are kept."""

UPDATE = "UPDATE=1 .venv/bin/python -m pytest -n auto --dist loadfile"


class Plugin:
    """Records the messages of a session, and compares them when it ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.running: pytest.Item | None = None
        self.told: dict[str, set[str]] = defaultdict(set)
        self.passed: set[str] = set()
        self.incomplete: set[str] = set()
        self.findings: list[str] = []
        if any("::" in argument for argument in config.args):
            self.incomplete.add("*")

    def record(self, text: str) -> None:
        """Keep what the running test provoked."""
        item = self.running
        if item is None or item.get_closest_marker("nightly") or item.path.stem in RANDOM:
            return
        if DATA and DATA in text:
            return
        base = self.config._tmp_path_factory.getbasetemp()
        if message := plain(text, str(base)):
            self.told[item.path.stem].add(message)

    def record_lines(self, text: str) -> None:
        """Keep the lines that a command wrote to standard error in its own name."""
        for line in text.splitlines():
            if line.startswith("fairq: "):
                self.record(line)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.running = item

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        self.running = None

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.incomplete.update(item.path.stem for item in items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        stem = Path(report.nodeid.split("::")[0]).stem
        if report.when == "call" and report.passed:
            self.passed.add(stem)
        elif not report.passed and "nightly" not in report.keywords:
            self.incomplete.add(stem)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take what a worker of pytest-xdist recorded."""
        output = getattr(node, "workeroutput", {})
        for stem, told in output.get("messages", {}).items():
            self.told[stem].update(told)
        self.incomplete.update(output.get("incomplete", ["*"]))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        is_cut = session.shouldfail or session.shouldstop or exitstatus == pytest.ExitCode.INTERRUPTED
        if is_cut:
            self.incomplete.add("*")
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["messages"] = {stem: sorted(told) for stem, told in self.told.items()}
            output["incomplete"] = sorted(self.incomplete)
            return
        if not self.passed:
            return
        whole = set() if "*" in self.incomplete else self.passed - self.incomplete
        committed = read()
        now = merged(committed, self.told | of_pages(), whole | not_tests(committed))
        if os.environ.get("UPDATE") == "1":
            LIST.write_text("".join(f"{line}\n" for line in sorted(now.values())), encoding="utf-8")
        elif now.keys() != committed.keys():
            self.findings = differences(committed, now)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.findings:
            terminalreporter.section("messages", sep="=", red=True)
            terminalreporter.write("\n".join(self.findings) + "\n")


def plain(text: str, base: str) -> str:
    """A message as it stands in the list: without paths of this machine and digests.

    >>> plain("/tmp/base/test_a0/net.toml:14: rate: 1.5 Mbit is no rate", "/tmp/base")
    'TMP/net.toml:14: rate: 1.5 Mbit is no rate'
    """
    text = re.sub(re.escape(base) + r"(/popen-gw\d+)?/[^/\s:;,'\"]*", "TMP", text)
    text = text.replace(str(ROOT), "ROOT")
    text = " ".join(re.sub(r"\b(?=[a-f]*\d)[0-9a-f]{16,}\b", "DIGEST", text).split())
    return text if len(text) <= LENGTH_MAX else text[:LENGTH_MAX] + "…"


def key(line: str) -> str:
    """What of a line is compared: no number, and no list of the names that there are.

    >>> key("test_a: net.toml:14: rate: 1.5 Mbit is no rate")
    'test_a: net.toml:0: rate: 0 Mbit is no rate'
    >>> key("test_a: `x` is none; there are cubic, d-c, reno; write one")
    'test_a: `x` is none; there are NAMES; write one'
    """
    line = re.sub(r"\b(there are|another of) ([\w.+-]+, )+[\w.+-]*", r"\1 NAMES", line)
    return re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "0", line)


def of_pages() -> dict[str, set[str]]:
    """The messages that pages show, each with all its lines up to a blank one or the end of the
    block."""
    found: dict[str, set[str]] = {}
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        for match in re.finditer(r"^fairq: (?:(?!^```|^$|^fairq: |^\$ ).*\n)+", page.read_text("utf-8"), re.MULTILINE):
            found.setdefault(page.relative_to(ROOT).as_posix(), set()).add(plain(match[0], "/"))
    return found


def not_tests(committed: dict[str, str]) -> set[str]:
    """What the list names and is no file of tests: a page, or a file that was removed."""
    stems = {line.split(": ")[0] for line in committed.values()}
    return {stem for stem in stems if not (Path(__file__).parent / f"{stem}.py").exists()}


def read() -> dict[str, str]:
    """The lines of the list by their keys."""
    lines = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    return {key(line): line for line in lines}


def merged(committed: dict[str, str], told: dict[str, set[str]], whole: set[str]) -> dict[str, str]:
    """The list with what was told; of a file of tests that ran whole it has nothing else.

    >>> before = {key(line): line for line in ("a: 1 x", "a: y", "b: z")}
    >>> sorted(merged(before, {"a": {"2 x", "w"}}, whole={"a"}).values())
    ['a: 1 x', 'a: w', 'b: z']
    >>> sorted(merged(before, {"a": {"w"}}, whole=set()).values())
    ['a: 1 x', 'a: w', 'a: y', 'b: z']
    """
    lines = sorted(f"{stem}: {message}" for stem, texts in told.items() for message in texts)
    new = {key(line): line for line in reversed(lines)}
    kept = {at: line for at, line in committed.items() if at in new or line.split(": ")[0] not in whole}
    return new | kept


def differences(committed: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is not as in the list, and what to do about it."""
    gone = sorted(line for at, line in committed.items() if at not in now)
    new = sorted(line for at, line in now.items() if at not in committed)
    stems = sorted({line.split(": ")[0] for line in [*gone, *new]})
    files = [f"python/tests/{stem}.py" for stem in stems if (Path(__file__).parent / f"{stem}.py").exists()]
    files = files or ["python/tests/test_pages.py"]
    return [
        *(f"- {line}" for line in gone),
        *(f"+ {line}" for line in new),
        f"python/tests/kept/messages.txt is not what tests and pages provoke ({len(gone)} gone, {len(new)} new).",
        f"If that is meant, run: {UPDATE} {' '.join(files)}",
    ]
