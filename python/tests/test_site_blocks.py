"""Every block of Python on the site is run: here, in the test that a table names."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("start", "guide", "background", "lecture", "agreement", "reference")
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

ELSEWHERE = {
    "guide/link-in-tests": "test_pytest_link.py",
    "guide/log-to-policy": "test_serve.py",
    "guide/notebook": "test_notebook_shown.py",
    "guide/own-control": "test_pages.py",
    "guide/own-discipline": "test_pages.py",
    "guide/network-in-python": "test_pages_of_networks.py",
    "guide/from-ns": "test_pages_of_networks.py",
    "guide/from-tc": "test_pages_of_networks.py",
}
"""Pages whose blocks another file of tests runs."""

NIGHTLY = {"guide/advise", "guide/shared-line", "guide/targets"}
"""Pages whose blocks take a minute or more: `make nightly` runs them."""

BEFORE = {
    "guide/advise": "import fairq",
    "guide/shared-line": "import fairq",
    "guide/targets": "import fairq",
}
"""What a reader of the page has typed before."""


def pages():
    """The pages with blocks of Python, by name."""
    found = [page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("**/*.md"))]
    blocks = {page.relative_to(ROOT / "docs").with_suffix("").as_posix(): page for page in found}
    return {name: those for name, page in blocks.items() if (those := BLOCK.findall(page.read_text("utf-8")))}


HERE = [name for name in pages() if name not in ELSEWHERE]


def test_a_page_that_is_tested_elsewhere_is_named_there():
    for name, test in ELSEWHERE.items():
        path = Path(__file__).with_name(test)
        if path.is_file():
            assert name.split("/")[1] in path.read_text(), f"{test} does not run {name}"


def test_there_are_blocks_to_run():
    assert len(HERE) >= 6


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in NIGHTLY else []) for name in HERE]
)
def test_the_blocks_of_a_page_run_and_give_what_is_shown(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    known = {"__name__": "page"}
    exec(BEFORE.get(name, ""), known)
    session = ""
    for at, (kind, text) in enumerate(pages()[name]):
        if kind == "python":
            exec(compile(text, f"{name}, block {at + 1}", "exec"), known)
        else:
            session += text
    if session:
        test = doctest.DocTestParser().get_doctest(session, known, name, None, 0)
        done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
        assert done.attempted > 0 and done.failed == 0
