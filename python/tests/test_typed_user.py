"""A user's program that uses each type of a result passes strict checkers of types, and runs."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ip_packet, pcap
from sweep_studies import write_study

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "python" / "tests" / "typed_user.py"


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mypy_finds_nothing():
    pytest.importorskip("mypy")
    run("-m", "mypy", "--strict", PROGRAM)


@pytest.mark.skipif(importlib.util.find_spec("basedpyright") is None, reason="basedpyright is not installed")
def test_pyright_finds_nothing(tmp_path):
    settings = {"include": [str(PROGRAM)], "typeCheckingMode": "strict", "extraPaths": [str(ROOT / "python")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run("-m", "basedpyright", "--pythonpath", sys.executable, "--project", tmp_path)


def test_it_runs(tmp_path):
    capture, times = tmp_path / "tiny.pcap", tmp_path / "times.csv"
    capture.write_bytes(pcap([(1_000_000 + 10 * at, ip_packet(1 + at % 2, 9, 1000)) for at in range(40)]))
    rows = [f"1,1000,{0.001 * at:.4f},{0.01 + 0.002 * at:.4f}" for at in range(400)]
    times.write_text("\n".join(["flow,bytes,sent_s,received_s", *rows]) + "\n")
    study = write_study(tmp_path, replications=2, duration="200 ms")
    scenario, cities = ROOT / "scenarios" / "dumbbell.toml", ROOT / "docs" / "guide" / "four_cities.gml"
    told = run(PROGRAM, scenario, study, capture, times, cities, tmp_path)
    assert "'share'" in told and (tmp_path / "rows.csv").read_text().startswith("queue,")
