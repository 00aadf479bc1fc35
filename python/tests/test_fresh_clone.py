"""A new user clones, types the README's commands, and has a fairq that works.

`.ci/run` types them in a clean checkout. `make nightly` clones this one beside and tries what is around them; the build
shares this checkout's target folder, so that only the project's own crates are built again.
"""

import os
import re
import shutil
import subprocess
import sys
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


@pytest.mark.nightly
def test_make_run_reproduces_the_paper_and_replaces_only_its_own_folder(clone):
    assert re.search(r"^make run ", (clone / "README.md").read_text(), re.MULTILINE)
    (clone / "out" / "mine").mkdir(parents=True)
    (clone / "out" / "mine" / "notes.txt").write_text("keep")
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    for again in (False, True):
        made = run(["make", "run"], clone, CARGO_TARGET_DIR=target)
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
        assert ("maturin develop" in made.stdout) is not again
        assert re.search(r"680 cells: 5[12]\d agrees", made.stdout), made.stdout[-2000:]
    assert (clone / "out" / "mine" / "notes.txt").read_text() == "keep"
    assert (clone / "out" / "demers1990" / "figure1.png").is_file()
    assert (clone / ".venv" / "bin" / "fairq").exists() and not (clone / ".venv" / "bin" / "pytest").exists()
    assert run(["git", "status", "--porcelain"], clone).stdout == ""


def test_the_commands_of_the_readme_work():
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"`(fairq (?:run|list|explain|theory) [a-z][^`]*)`", readme)
    # The other blocks are those of the guide, whose tests run them.
    commands += re.findall(r"^\$ \.venv/bin/(fairq .+)$", readme, re.MULTILINE)[:1]
    assert len(commands) >= 3
    for command in commands:
        done = run(["sh", "-c", command.replace("fairq", f"{sys.executable} -m fairq", 1)], ROOT)
        assert done.returncode == 0, command + done.stderr
    python = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert python is not None
    assert float(run([sys.executable, "-c", python[1]], ROOT).stdout) > 0


def test_make_test_is_what_the_readme_says(clone):
    assert re.search(r"^make test ", (clone / "README.md").read_text(), re.MULTILINE)
    # Carried out by CI; here it would call itself.
    planned = run(["make", "--dry-run", "test"], clone)
    assert planned.returncode == 0 and "run_tests.py" in planned.stdout


@pytest.mark.parametrize(
    ("lacking", "package"), [("cargo", "rustup"), ("cc", "gcc"), ("python3", "python3"), ("venv", "python3-venv")]
)
def test_a_missing_tool_is_named_with_debians_package(tmp_path, lacking, package):
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
        [str(tmp_path / "sh"), ROOT / "scripts" / "check-tools.sh"],
        env={**os.environ, "PATH": str(tmp_path), "PYTHON": "python3"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("fairq: ") and package in lines[0], done.stderr
