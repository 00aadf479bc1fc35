"""`import fairq` loads nothing heavy."""

import subprocess
import sys

import pytest

from fairq import cli

HEAVY = ["matplotlib", "numpy", "rich", "asyncio", "argparse", "fairq.api", "fairq.figures"]


@pytest.mark.parametrize(
    "statement", ["import fairq", "import fairq; fairq.FairqError", "import fairq; fairq.__version__"]
)
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_starts_without_what_it_does_not_need():
    others = ["matplotlib", "inspect", "tempfile", "fairq.theory"]
    code = f"import fairq.cli, sys; fairq.cli.parser('run'); print([name for name in {others} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_alone_has_the_options_that_it_has_among_all():
    names = list(cli.COMMANDS)
    every = cli.parser()._subparsers._group_actions[0].choices
    assert list(every) == names
    for name in names:
        alone = cli.parser(name)._subparsers._group_actions[0].choices
        assert list(alone) == [name]
        assert alone[name].format_help() == every[name].format_help()


def test_every_name_of_the_package_is_there():
    import fairq

    assert all(getattr(fairq, name) is not None for name in fairq.__all__)
    assert callable(fairq.reproduce)
