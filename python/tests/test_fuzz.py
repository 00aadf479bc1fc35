"""A sample of scripts/fuzz.py: inputs of grammars, most of which every reader accepts.

docs/reference/exit-status.md: broken input is status 2 and one line. Half of the inputs are to be
accepted, else what stands behind the parsers is not reached.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEED = os.environ.get("FAIRQ_SEED", "1")
COUNTS = {"toml": 150, "queues": 60, "studies": 60, "derive": 80, "tc": 150, "topologies": 100, "arguments": 80,
          "stores": 40, "captures": 150, "traces": 120, "journeys": 120}  # fmt: skip
"""Inputs of each reader: some seconds of each."""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="a reader is a forked process of Linux")
@pytest.mark.parametrize("reader", COUNTS)
def test_what_a_grammar_makes_is_read_or_refused_in_one_line(reader):
    words = ["scripts/fuzz.py", "--seed", SEED, "--only", reader, "--count", str(COUNTS[reader]), "--refused"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, f"again by: {' '.join(words)}\n{done.stdout}{done.stderr[-2000:]}"
    assert re.search(rf"^{reader}: {COUNTS[reader]} inputs, .* 0 bad", done.stdout, re.MULTILINE)


def test_every_reader_has_its_sample():
    source = (ROOT / "scripts" / "fuzz.py").read_text()
    assert set(re.findall(r'^    "(\w+)": \w+\.\w+,$', source, re.MULTILINE)) == set(COUNTS)
