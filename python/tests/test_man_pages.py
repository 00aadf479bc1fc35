"""The pages of `man`: they are what the declarations say, and readers of man pages read them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import fairq
from fairq.cli import man_pages, reference
from fairq.cli.commands import NAMES
from fairq.cli.program import parser

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging" / "wheel" / "data" / "share" / "man" / "man1"
AGAIN = "run: .venv/bin/python -m fairq.cli.man_pages packaging/wheel/data/share/man/man1"
UNDATED = re.compile(r'WARNING: missing date, using "": TH$|STYLE: input text line longer than 80 bytes')
"""What mandoc may say: the pages have a version and no date, and no bold text is cut at a line's end."""


def test_the_committed_pages_are_those_of_the_declarations():
    committed = {path.name: path.read_text(encoding="ascii") for path in FOLDER.iterdir()}
    made = man_pages.pages()
    assert sorted(made) == sorted(["fairq.1", *(f"fairq-{name}.1" for name in NAMES)])
    stale = sorted(name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name))
    assert stale == [], AGAIN


def test_a_page_of_a_command_that_is_no_more_is_removed_and_others_stay(tmp_path):
    (tmp_path / "fairq-gone.1").write_text("")
    (tmp_path / "other.1").write_text("")
    man_pages.write(tmp_path)
    assert not (tmp_path / "fairq-gone.1").exists() and (tmp_path / "other.1").exists()
    assert len(list(tmp_path.iterdir())) == len(NAMES) + 2


def shown(path):
    """The page as a reader sees it, in one line."""
    done = subprocess.run(["mandoc", "-T", "utf8", path], capture_output=True, text=True, check=True)
    # bold and underlined letters are struck twice on a terminal
    return " ".join(re.sub(".\b", "", done.stdout).split())


@pytest.fixture
def has_mandoc():
    if shutil.which("mandoc") is None:
        pytest.skip("SKIPPED: there is no mandoc, which reads man pages; apt-get install mandoc")


@pytest.mark.usefixtures("has_mandoc")
def test_mandoc_finds_no_fault_in_a_page():
    done = subprocess.run(["mandoc", "-T", "lint", *sorted(FOLDER.iterdir())], capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if not UNDATED.search(line)] == []


@pytest.mark.usefixtures("has_mandoc")
def test_each_option_is_on_its_page_with_what_it_does():
    pages = {path.stem: shown(path) for path in FOLDER.iterdir()}
    specs = [spec for spec in reference.declared(parser()) if spec is not None]
    assert len(specs) >= len(NAMES)
    for spec in specs:
        page = pages[f"fairq-{spec.name.split()[0]}"]
        assert "".join(spec.example.split()) in "".join(page.split()), spec.name
        for option in spec.all():
            typed = ", ".join(reference.typed(option))
            said = " ".join(f"{typed} {reference.does(option, quote='')}".replace("`", "").split())
            assert said in page.replace("\u2010 ", "-"), f"{spec.name} {typed}"
    assert f"fairq {fairq.__version__}" in pages["fairq"]
    assert all(f"fairq-{name}(1)" in pages["fairq"] for name in NAMES)
