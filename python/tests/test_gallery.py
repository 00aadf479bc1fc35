"""The scripts of docs/gallery are short, say what is seen, and draw."""

import ast
import re
import runpy
from pathlib import Path

import pytest

from fairq import figures, plots

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_says_what_is_seen_and_draws(script):
    code = script.read_text(encoding="utf-8")
    title, gap, said = (ast.get_docstring(ast.parse(code)) or "").split("\n", 2)
    assert title and not gap and said.count(".") >= 2
    assert code.count("\n") <= 30
    figure = runpy.run_path(str(script))["figure"]
    drawn = figures.drawn(getattr(figure, "matplotlib", figure), "svg")
    assert drawn.count(b"<path") > 10
    assert len(drawn) <= (150_000 if script.stem == "bbr_phases" else 300_000), "a page shows all of the figures"


def test_every_kind_of_figure_that_a_command_draws_has_a_script():
    """Each picture of a result, a run and `explain --scenes` is in the gallery."""
    made = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    calls = {
        "Advice": r"figures\.trade_off\(", "Audit": r"fairq\.audit\(.*\.plot", "Baseline": r"figures\.baseline\(",
        "Comparison": r"figures\.compared\(", "DelayCurve": r'theory\("delay-curve".*\.plot',
        "Effects": r"fairq\.effects\(", "Replay": r"fairq\.replay\(", "Timeline": r"figures\.timeline\(",
        "Topology": r"maps\.network\(", "Reproduction": r"reproduce\(.*\.plot", "Sweep": r"fairq\.sweep\(.*\.plot",
        "Serving": r"fairq\.serve\(",
        "scenes": r"figures\.scenes\(", "series": r"series=", "packets": r"packets=", "theory": r"overlay=True",
    }  # fmt: skip
    assert set(plots.KINDS) | set(plots.KEPT) <= set(calls)
    assert [kind for kind, call in calls.items() if not re.search(call, made)] == []


def test_the_pages_show_pictures_that_a_script_makes():
    names = {script.stem for script in SCRIPTS}
    for folder in ("background", "lecture"):
        for page in (ROOT / "docs" / folder).glob("*.md"):
            shown = re.findall(r"!\[[^\]]+\]\(\.\./gallery/(\w+)\.svg\)", page.read_text(encoding="utf-8"))
            assert set(shown) <= names
            assert shown or folder == "lecture" or page.stem == "index"
