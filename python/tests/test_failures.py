"""A random sample of scripts/failures.py: a call of the system fails in a command that writes.

docs/guide/outputs.md and docs/guide/sweeps.md: the result is whole, or one line names that failure
and its remedy, and nothing is lost.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = os.environ.get("FAIRQ_SEED", "1")
CELLS = 40


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="a cell is a forked process of Linux")
def test_a_call_that_fails_leaves_the_whole_result_or_one_line_with_its_remedy():
    words = [sys.executable, ROOT / "scripts" / "failures.py", "--seed", SEED, "--cells", str(CELLS)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    again = f"again by: scripts/failures.py --seed {SEED} --cells {CELLS}"
    assert done.returncode == 0, f"{again}\n{done.stdout}{done.stderr[-2000:]}"
    assert f"{CELLS} cells, 0 not good" in done.stdout
