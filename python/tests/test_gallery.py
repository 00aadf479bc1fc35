"""The scripts of docs/gallery are short, say what is seen, and draw."""

import ast
import re
import runpy
from pathlib import Path

import pytest

from fairq import figures

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_says_what_is_seen_and_draws(script):
    code = script.read_text(encoding="utf-8")
    title, gap, said = (ast.get_docstring(ast.parse(code)) or "").split("\n", 2)
    assert title and not gap and said.count(".") >= 2
    assert code.count("\n") <= 30
    figure = runpy.run_path(str(script))["figure"]
    drawn = figures.drawn(figure, "svg")
    assert drawn.count(b"<path") > 10


def test_the_pages_show_pictures_that_a_script_makes():
    names = {script.stem for script in SCRIPTS}
    for folder in ("background", "lecture"):
        for page in (ROOT / "docs" / folder).glob("*.md"):
            shown = re.findall(r"!\[[^\]]+\]\(\.\./gallery/(\w+)\.svg\)", page.read_text(encoding="utf-8"))
            assert set(shown) <= names
            assert shown or folder == "lecture" or page.stem == "index"
