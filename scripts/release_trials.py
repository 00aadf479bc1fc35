"""What is tried of an installed fairq: an environment that holds nothing else, and an empty folder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
WAIT_MAX = 120
"""Seconds after which a command that serves is killed."""
SCENARIO = ROOT / "scenarios" / "dumbbell.toml"


class Failed(Exception):  # noqa: N818 - what failed is the trial
    """A trial that did not give what it should; `output` is what the command said."""

    def __init__(self, what: str, output: str = "") -> None:
        super().__init__(what)
        self.output = output or what


@dataclass(frozen=True)
class Environment:
    """An environment of a Python with one file installed, and the folder that commands run in."""

    prefix: Path
    empty: Path

    @classmethod
    def made(cls, folder: Path, python: str, file: Path) -> Self:
        """Make it and install the file."""
        made = cls(folder / "venv", folder / "empty")
        made.empty.mkdir()
        made.run(python, "-m", "venv", str(made.prefix))
        made.python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(file))
        return made

    def run(self, *command: str) -> str:
        """What a command prints; Failed with all that it said if its status is not 0."""
        done = subprocess.run(command, cwd=self.empty, env=clean(), capture_output=True, text=True)
        if done.returncode != 0:
            typed = " ".join(command).replace(str(self.prefix), "…")
            raise Failed(f"{typed}: status {done.returncode}", done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def python(self, *arguments: str) -> str:
        """What its Python prints."""
        return self.run(str(self.prefix / "bin" / "python"), *arguments)

    def fairq(self, *arguments: str) -> str:
        """What its fairq prints."""
        return self.run(str(self.prefix / "bin" / "fairq"), *arguments)


def clean() -> dict[str, str]:
    """The environment without what says where modules are."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def holds(claim: object, what: str, output: str) -> None:
    """Failed unless the claim holds."""
    if not claim:
        raise Failed(what, output)


def version(environment: Environment) -> None:
    """The version is that of its metadata, and the metadata has what an index shows."""
    ask = "import importlib.metadata as m; print(m.metadata('fairq').as_string())"
    told = environment.python("-c", ask)
    (own,) = re.findall(r"^Version: (\S+)$", told, re.MULTILINE)
    holds(environment.fairq("--version") == f"fairq {own}\n", "fairq --version is not that of the metadata", told)
    for field in ("Keywords", "Classifier", "Project-URL", "License-Expression", "Description-Content-Type"):
        holds(re.search(f"^{field}: .", told, re.MULTILINE), f"the metadata has no {field}", told)


def run(environment: Environment) -> None:
    """A run prints a table, and writes one that the same run reads again."""
    shown = environment.fairq("run", str(SCENARIO), "--out", "run")
    holds("FQ" in shown and (environment.empty / "run" / "result.json").is_file(), "fairq run", shown)


IMPORTED = """
import sys, fairq
result = fairq.run(sys.argv[1], set={"measure.duration": "1 s"})
assert len(result.flows) > 0
try:
    import polars
except ImportError:
    try:
        result.flows.to_polars()
    except fairq.UsageError as error:
        assert "pip install polars" in str(error), error
        print("polars is missing, and named")
else:
    print(result.flows.to_polars().height)
"""


def imported(environment: Environment) -> None:
    """Python runs a scenario; a table goes to polars, or the error says how to get it."""
    environment.python("-W", "error", "-c", IMPORTED, str(SCENARIO))


def paper(environment: Environment) -> None:
    """The first paper is reproduced, with its figure."""
    shown = environment.fairq("reproduce", "demers1990", "--quick", "--out", "paper")
    holds(re.search(r"^680 cells: 5\d\d agrees", shown, re.MULTILINE), "fairq reproduce demers1990 --quick", shown)
    holds((environment.empty / "paper" / "figure1.png").is_file(), "figure1.png is missing", shown)


def lab(environment: Environment) -> None:
    """The lab serves its page and its simulator, until Ctrl-C."""
    serves(environment, "lab", {"": b"<!doctype html>", "fairq_lab.wasm": b"\0asm"})


def docs(environment: Environment) -> None:
    """The documentation is served with what searches it, and words find a page of it."""
    serves(environment, "docs", {"": b"<!doctype html>", "searchindex.js": b"search.setindex("})
    found = json.loads(environment.fairq("docs", "phase", "effect", "--path", "--json"))
    holds("phase" in found["page"] and Path(found["path"]).is_file(), "fairq docs phase effect", str(found))


def serves(environment: Environment, name: str, files: Mapping[str, bytes]) -> None:
    """A command serves files until Ctrl-C, each with its first bytes in small letters."""
    command = [str(environment.prefix / "bin" / "fairq"), name, "--no-browser", "--json"]
    with subprocess.Popen(command, cwd=environment.empty, env=clean(), stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        # one that says nothing, or does not hear Ctrl-C, is no reason to wait for ever
        end = threading.Timer(WAIT_MAX, served.kill)
        end.start()
        try:
            lines = []
            for line in served.stdout:
                lines.append(line)
                if line.rstrip() == "}":
                    break
            holds(lines and lines[-1] == "}\n", f"fairq {name} --no-browser --json", f"it said {lines}")
            address = json.loads("".join(lines))["address"]
            for file, begins in files.items():
                with urllib.request.urlopen(address + file, timeout=30) as answer:
                    holds(answer.read(len(begins)).lower() == begins, f"fairq {name} does not serve {file}", address)
        finally:
            served.send_signal(signal.SIGINT)
            status = served.wait()
            end.cancel()
    holds(status == 130, f"fairq {name}: Ctrl-C ended it with status {status}", address)


def man(environment: Environment) -> None:
    """The pages of man are where man looks for them beside a program, and go with the package."""
    pages = environment.prefix / "share" / "man" / "man1"
    holds((pages / "fairq.1").is_file() and (pages / "fairq-compare.1").is_file(), "no page for man", str(pages))
    environment.python("-m", "pip", "uninstall", "--quiet", "--yes", "fairq")
    left = [str(path) for path in environment.prefix.rglob("*fairq*") if "__pycache__" not in path.parts]
    holds(not left, "pip uninstall leaves files", "\n".join(left))


TRIALS: dict[str, Callable[[Environment], None]] = {
    "version": version,
    "import": imported,
    "run": run,
    "paper": paper,
    "lab": lab,
    "docs": docs,
    "man": man,
}
"""By name, in their order: the last one uninstalls."""
