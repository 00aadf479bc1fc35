"""The README's commands in a fresh clone, and what is said where a tool is missing."""

import os
import re
import shutil
import subprocess
import sys

import pytest


def sh(command, folder, **more):
    done = subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=900, env={**os.environ, **more}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def clone(tmp_path, pytestconfig):
    """A clone of what is committed, built into the target folder of the tree, so that nothing is compiled twice."""
    for tool in ("git", "make", "cargo"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: the README's commands are NOT TESTED in a fresh clone")
    if not (pytestconfig.rootpath / ".git").exists():
        pytest.skip("the tree is no git checkout: the README's commands are NOT TESTED in a fresh clone")
    sh(f"git clone --quiet {pytestconfig.rootpath} clone", tmp_path)
    return tmp_path / "clone"


def test_the_commands_of_the_readme_work_in_a_fresh_clone(clone, pytestconfig):
    target = os.environ.get("CARGO_TARGET_DIR", str(pytestconfig.rootpath / "target"))
    said = sh("make run", clone, CARGO_TARGET_DIR=target)
    assert re.search(r"^680 cells: 5\d\d agrees", said, re.MULTILINE)
    out = clone / "out"
    assert {"report.txt", "verdicts.csv", "figure1.png"} <= {path.name for path in (out / "demers1990").iterdir()}

    (out / "mine").write_text("kept")
    (out / "demers1990" / "old").write_text("")
    sh(".venv/bin/fairq reproduce demers1990 --seeds 2 --out out/demers1990", clone)
    assert not (out / "demers1990" / "old").exists()
    assert {path.name for path in out.iterdir()} == {"demers1990", "mine"}

    readme = (clone / "README.md").read_text()
    commands = re.findall(r"^\$ (fairq .+)$", readme, re.MULTILINE) + re.findall(r"`(fairq [a-z][^`]*)`", readme)
    for command in commands:
        if not any(word in command for word in ("CAPTURE", "SCENARIO", "bench", "reproduce")):
            sh(f".venv/bin/{command}", clone)
    python = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    (clone / "readme.py").write_text(python)
    assert "FQ terminal" in sh(".venv/bin/python readme.py", clone)

    # the whole suite is what this test is part of: only that it would be started
    assert "scripts/run_tests.py" in sh("make --dry-run test", clone, CARGO_TARGET_DIR=target)
    assert sh("git status --porcelain", clone).split() == ["??", "readme.py"]


@pytest.mark.parametrize(
    ("lacking", "package"), [("cargo", "rustup"), ("cc", "gcc"), ("python3", "python3"), ("venv", "python3-venv")]
)
def test_a_missing_tool_is_named_with_debians_package(tmp_path, pytestconfig, lacking, package):
    for tool in ("sh", "cut", "rustc", "cargo", "cc", "python3"):
        # not what the path calls python3: that may be a script with needs of its own
        found = sys.executable if tool == "python3" else shutil.which(tool)
        if found is None and tool != lacking:
            pytest.skip(f"{tool} is not installed here")
        if tool != lacking:
            # a wrapper, not a link: a tool may look for its parts beside itself
            (tmp_path / tool).write_text(f'#!{shutil.which("sh")}\nexec {found} "$@"\n')
            (tmp_path / tool).chmod(0o755)
    if lacking == "venv":
        (tmp_path / "python3").write_text(
            f'#!{shutil.which("sh")}\ncase "$2" in *venv*) exit 1;; esac\nexec {sys.executable} "$@"\n'
        )
    done = subprocess.run(
        [str(tmp_path / "sh"), pytestconfig.rootpath / "scripts" / "check-tools.sh"],
        env={**os.environ, "PATH": str(tmp_path), "PYTHON": "python3"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("fairq: ") and package in lines[0], done.stderr
