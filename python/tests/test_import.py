"""`import fairq` loads nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ["matplotlib", "numpy", "rich", "asyncio", "argparse", "fairq.api", "fairq.figures"]


@pytest.mark.parametrize(
    "statement", ["import fairq", "import fairq; fairq.FairqError", "import fairq; fairq.__version__"]
)
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_loads_no_plotting():
    code = "import fairq.cli, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_name_of_the_package_is_there():
    import fairq

    assert all(getattr(fairq, name) is not None for name in fairq.__all__)
    assert callable(fairq.reproduce)
