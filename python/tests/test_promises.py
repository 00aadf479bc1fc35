"""What pages promise about loss, time, reading and writing is proved by tests that the pages name.

As a card's Bound names its test, so does a paragraph in a comment that a reader of the page does
not see: `<!-- proved by test_output.py::test_a_file_is_written_whole_or_not_at_all -->`.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {
    "docs/guide/sweeps.md": 7,
    "docs/guide/query.md": 6,
    "docs/guide/emulate.md": 4,
    "docs/guide/mahimahi.md": 1,
    "docs/guide/outputs.md": 7,
    "docs/reference/exit-status.md": 2,
    "README.md": 2,
}
"""The pages, each with how many of its paragraphs, lists and tables promise such things."""

PROOF = re.compile(r"<!-- proved by\s+(.*?)\s+-->", re.DOTALL)
PROMISES = re.compile(
    r"\b(is lost|loses?|killed|interrupted|is refused|one line|set aside|moved to|whole result|replaced only|"
    r"reads? (?:the|every|nothing)|writes? nothing|within a second)\b"
)
"""Words by which a promise is known; a paragraph with one of them names its proof."""


def blocks(page):
    """The paragraphs, lists and tables of a page, without code; a list belongs to its lead."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    return [block for block in text.split("\n\n") if block.strip() and not block.startswith("#")]


@pytest.mark.parametrize("page", PAGES)
def test_each_proof_that_a_page_names_is_a_test(page):
    proofs = [proof.split() for proof in PROOF.findall((ROOT / page).read_text())]
    assert len(proofs) == PAGES[page]
    for name in (name for proof in proofs for name in proof):
        file, _, test = name.partition("::")
        assert f"\ndef {test}(" in (Path(__file__).parent / file).read_text(), name


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_each_promise_of_a_page_names_its_proof(page):
    unproved = [block for block in blocks(page) if PROMISES.search(PROOF.sub("", block)) and not PROOF.search(block)]
    assert unproved == []
