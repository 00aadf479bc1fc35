"""A new user clones, types the README's command, and has a fairq that works. The build shares this checkout's target
folder, so that only the project's own crates are built again."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(command, folder, **environment):
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("SKIPPED: no git checkout to clone")
    place = tmp_path_factory.mktemp("fresh") / "fairq"
    cloned = run(["git", "clone", "--quiet", str(ROOT), str(place)], ROOT)
    assert cloned.returncode == 0, cloned.stderr
    return place


def test_make_run_reproduces_the_paper_and_replaces_only_its_own_folder(clone):
    assert re.search(r"^make run ", (clone / "README.md").read_text(), re.MULTILINE)
    (clone / "out" / "mine").mkdir(parents=True)
    (clone / "out" / "mine" / "notes.txt").write_text("keep")
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    for _ in range(2):
        made = run(["make", "run"], clone, CARGO_TARGET_DIR=target)
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
        assert re.search(r"680 cells: 5[12]\d agrees", made.stdout), made.stdout[-2000:]
    assert (clone / "out" / "mine" / "notes.txt").read_text() == "keep"
    assert (clone / "out" / "demers1990" / "figure1.png").is_file()
    shown = run([".venv/bin/fairq", "run", "scenarios/dumbbell.toml"], clone)
    assert shown.returncode == 0 and "terminal" in shown.stdout
    assert run(["git", "status", "--porcelain"], clone).stdout == ""


def test_make_test_is_what_the_readme_says(clone):
    assert re.search(r"^make test ", (clone / "README.md").read_text(), re.MULTILINE)
    # Carried out by CI; here it would call itself.
    planned = run(["make", "--dry-run", "test"], clone)
    assert planned.returncode == 0 and "run_tests.py" in planned.stdout


@pytest.mark.parametrize(("missing", "package"), [("cargo", "rust"), ("cc", "gcc"), ("python3", "python3")])
def test_what_is_missing_is_named_with_what_installs_it(clone, tmp_path, missing, package):
    tools = tmp_path / "bin"
    tools.mkdir()
    needed = [
        "sh",
        "cargo",
        "rustc",
        "cc",
        "gcc",
        "python3",
        "make",
        "sed",
        "grep",
        "cut",
        "head",
        "tr",
        "awk",
        "uname",
    ]
    for tool in needed:
        found = shutil.which(tool)
        if found and tool != missing:
            (tools / tool).symlink_to(found)
    checked = run(["sh", "scripts/check-tools.sh"], clone, PATH=str(tools))
    assert checked.returncode == 2, checked.stdout + checked.stderr
    assert missing in checked.stdout + checked.stderr and package in (checked.stdout + checked.stderr).lower()
