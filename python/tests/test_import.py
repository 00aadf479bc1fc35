"""`import fairq` loads nothing heavy."""

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import fairq as package
from fairq.cli import program
from fairq.cli.commands import NAMES

HEAVY = ["matplotlib", "numpy", "jinja2", "rich", "asyncio", "argparse", "fairq.api", "fairq.figures"]


@pytest.mark.parametrize(
    "statement", ["import fairq", "import fairq; fairq.FairqError", "import fairq; fairq.__version__"]
)
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_starts_without_what_it_does_not_need():
    others = ["matplotlib", "jinja2", "inspect", "tempfile", "fairq.theories.fq_delay"]
    code = (
        f"import sys; from fairq.cli.program import parser; parser('run'); print([*{{*{others}}} & {{*sys.modules}}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_what_no_command_does_loads_none(argument):
    code = (
        "import sys; from fairq.cli.program import main\n"
        f"try: main([{argument!r}])\n"
        "except SystemExit: print([*{'numpy', 'fairq.api', 'fairq.core.tables'} & {*sys.modules}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_a_command_alone_has_the_options_that_it_has_among_all():
    names = list(NAMES)
    every = program.parser()._subparsers._group_actions[0].choices
    assert list(every) == names
    for name in names:
        alone = program.parser(name)._subparsers._group_actions[0].choices
        assert list(alone) == names
        assert alone[name].format_help() == every[name].format_help()


def test_every_name_of_the_package_is_there():
    import fairq

    assert all(getattr(fairq, name) is not None for name in fairq.__all__)
    assert callable(fairq.reproduce)
    public = {name for name, value in vars(fairq.api).items() if getattr(value, "__module__", "") == "fairq.api"}
    assert {name for name in public if not name.startswith("_")} - {"cores"} <= set(fairq.__all__)


@pytest.mark.parametrize("module", ["fairq", *(found.name for found in walk_packages(package.__path__, "fairq."))])
def test_the_examples_of_the_docstrings_run(module, monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    if not module.endswith("__main__") and not module.startswith("fairq._"):
        assert doctest.testmod(import_module(module)).failed == 0
