"""What a shell completes: bash reads the script that fairq prints, and is asked."""

import shutil
import subprocess
import sys

import pytest

from fairq.cli.commands import NAMES
from fairq.papers import papers


@pytest.fixture
def offered(process, tmp_path):
    """Gives what bash offers for the last word, in a folder with a scenario and a folder."""
    pytest.importorskip("shtab")
    if shutil.which("bash") is None:
        pytest.skip("SKIPPED: there is no bash")
    done = process("--print-completion", "bash")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "fairq.bash").write_text(done.stdout)
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "mine.toml").write_text("")
    (tmp_path / "place" / "inside").mkdir()

    def ask(*words):
        line = " ".join(f"'{word}'" for word in ("fairq", *words))
        asked = f"source ../fairq.bash; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_fairq"
        done = subprocess.run(
            ["bash", "-c", asked + "; printf '%s\\n' \"${COMPREPLY[@]}\""],
            capture_output=True, text=True, check=True, cwd=tmp_path / "place",
        )  # fmt: skip
        return {word.strip() for word in done.stdout.splitlines() if word.strip()}

    return ask


def test_commands_and_options_are_completed(offered):
    assert offered("re") == {"replay", "report", "reproduce"}
    assert set(NAMES) <= offered("")
    assert {"--quick", "--quiet"} <= offered("reproduce", "--qui")
    assert "pgps" in offered("theory", "")


def test_names_and_files_are_completed(offered):
    assert offered("reproduce", "") >= {*papers.names(), "all"}
    assert "fq_codel" in offered("audit", "fq_")
    assert "mine.toml" in offered("run", "")
    assert offered("run", "x.toml", "--out", "") == {"inside"}
    assert "mine.toml" in offered("sweep", "") & offered("diff", "x.toml", "")
    assert offered("bench", "disc") == {"disciplines"}


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_the_other_shells_have_every_command(process, shell):
    pytest.importorskip("shtab")
    done = process("--print-completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert [command for command in NAMES if command not in done.stdout] == []


def test_without_the_package_it_is_named(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert "pip install shtab" in refused("--print-completion", "bash")


def test_a_shell_that_is_not_known_is_refused(refused):
    assert "did you mean" in refused("--print-completion", "bsh")
