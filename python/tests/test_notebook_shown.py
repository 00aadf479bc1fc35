"""What a notebook shows of each result: accessible tables of at most ten columns, sentences above."""

import inspect
import re
import typing

import pytest
from test_kept_results import SCENARIO, kinds  # noqa: F401 - the fixture

import fairq
from fairq import api
from fairq.core import shown
from fairq.core.records import Said
from fairq.core.rows import Row, Table

SHOWN = ("_repr_html_", "_repr_mimebundle_", "_repr_svg_")

PLAIN = {
    "edition": 2,
    "measure": {"duration": "1 s"},
    "links": [{"name": "line", "from": "a", "to": "b", "rate": "1 Mbit/s", "queue": "drr", "buffer": "20 packets"}],
    "flows": [{"name": "file", "from": "a", "to": "b", "traffic": "ftp", "transport": "reno"}],
}


def result_types():
    """The types that the functions of the package give."""
    names = [name for name in fairq.__all__ if inspect.isfunction(getattr(fairq, name))]
    scope = {**vars(typing), **vars(api)}
    for block in re.findall(r"^    from (\S+) import (.+)$", inspect.getsource(api), re.M):
        module = __import__(block[0], fromlist=["it"])
        scope |= {name.strip(): getattr(module, name.strip(), None) for name in block[1].split(",")}
    for name in names:
        said = inspect.unwrap(getattr(fairq, name)).__annotations__.get("return")
        for part in re.findall(r"[A-Z]\w+", str(said)):
            if getattr(scope.get(part), "__module__", "").startswith("fairq"):
                yield name, scope[part]


def test_every_result_of_a_public_function_shows_itself():
    found = dict(result_types())
    assert {"run", "compare", "advise", "sweep", "read_store", "live", "experiment", "topology", "detect"} <= set(found)
    lacking = [f"{name}: {kind}" for name, kind in result_types() if not any(hasattr(kind, each) for each in SHOWN)]
    assert not lacking


@pytest.fixture(scope="module")
def result():
    return fairq.run(SCENARIO, set={"measure.replications": 2})


def heads(html):
    return re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", html)


def test_a_run_is_shown_in_ten_columns_with_what_is_left_out(result):
    html = result._repr_html_()
    assert len(heads(html)) == shown.COLUMNS_MAX
    assert re.search(r"\d+ more columns: \.columns names all", html)
    assert "flow" in heads(html) and any(re.search(r"\(.*s\)", head) for head in heads(html))
    assert "_low" not in html and "<caption" in html


def test_units_are_in_the_head_and_intervals_in_the_cells():
    rows = [{"name": name, "delay_s_mean": mean, "delay_s_mean_low": mean - 0.1, "delay_s_mean_high": mean + 0.1}
            for name, mean in (("a", 1.0), ("b", 2.0))]  # fmt: skip
    html = Table.of(Row, rows)._repr_html_()
    assert heads(html) == ["name", "delay mean (s)"]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html) == ["a", "1.00 ± 0.10", "b", "2.00 ± 0.10"]


def wide_rows(columns):
    """Rows of names, and of numbers with intervals that are not even."""
    numbers = [f"quantity_{at}_of_a_flow_s" for at in range(columns)]
    ends = {"": 1.0, "_low": 0.8, "_high": 1.5}
    rows = [{f"{name}{end}": (at + 1) * 0.0123 * part for name in numbers for end, part in ends.items()}
            for at in range(3)]  # fmt: skip
    return [{"queue": f"fq_codel {at}", "settings": f"fq_codel {at}", "flow": f"call(rate={at}00kbit/s)", **row}
            for at, row in enumerate(rows)]  # fmt: skip


def test_a_table_with_intervals_is_at_most_900_pixels_wide_and_no_number_wraps(result, kinds, browser, tmp_path):  # noqa: F811
    tables = {"run": result, "queues": result.queues, "compare": kinds("compare"), "advise": kinds("advise")}
    tables |= {f"wide {columns}": Table.of(Row, wide_rows(columns)) for columns in (2, 7, 20)}
    page = tmp_path / "tables.html"
    shows = "".join(f"<div>{each._repr_html_()}</div>" for each in tables.values())
    page.write_text(f'<meta charset="utf-8"><style>* {{font: 13px "DejaVu Sans"}}</style>{shows}', encoding="utf-8")
    browser.open(page, 3000)
    widths = browser.run("[...document.querySelectorAll('table')].map(table => table.offsetWidth)")
    browser.open(page, 920)
    cells = "[...document.querySelectorAll('td')].filter(cell => cell.style.textAlign == 'right')"
    heights = browser.run(f"{cells}.map(cell => cell.offsetHeight)")
    assert dict(zip(tables, widths, strict=True)) == {name: pytest.approx(450, abs=450) for name in tables}
    assert max(heights) < 45, "a number, and its interval below it"
    assert len(heads(result._repr_html_())) == shown.COLUMNS_MAX


def test_where_little_has_room_a_column_that_repeats_another_goes_first():
    html = Table.of(Row, wide_rows(9))._repr_html_()
    assert "settings" not in heads(html) and {"queue", "flow"} < set(heads(html))
    assert "small, below a number: its interval" in html and "more columns: .columns names all" in html
    assert re.search(r"<td[^>]*>12\.3 <span[^>]*>9\.8\d*–18\.\d+</span></td>", html)


def test_ten_rows_are_shown_and_how_many_there_are():
    html = Table.of(Row, [{"at": at} for at in range(25)])._repr_html_()
    assert html.count("<tr>") == 11 and "the first 10 of 25 rows" in html
    assert Table.of(Row, [], ["at"])._repr_html_().count("<tr>") == 1


def test_texts_are_escaped_and_long_ones_cut():
    long = "x" * 500
    html = Table.of(Row, [{"name": "<script>"}, {"name": long}])._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert f">{long}<" not in html and f'title="{long}"' in html
    assert "<b>" not in shown.sentence("<b>") and len(shown.sentence("y" * 9999)) < 3000


@pytest.mark.parametrize("name", ["compare", "advise", "baseline", "effects", "replay", "serve", "audit", "topology"])
def test_results_with_a_text_say_it_above(kinds, name):  # noqa: F811
    html = kinds(name)._repr_html_()
    assert html.count("<table") == 1
    assert len(heads(html)) <= shown.COLUMNS_MAX
    if getattr(kinds(name), "text", ""):
        assert html.index("<p") < html.index("<table")


def test_what_is_no_table_is_shown_too():
    held = fairq.live(PLAIN)
    assert "in progress" in held._repr_html_()
    experiment = fairq.experiment(SCENARIO)
    assert f"{len(experiment.runs())} rows" in experiment._repr_html_()
    run = experiment.runs()[0]
    assert run.digest in run._repr_html_() and "<table" in run.finish()._repr_html_()
    assert issubclass(fairq.Reproduction, Said)


def test_the_page_on_notebooks_runs(tmp_path, monkeypatch):
    (tmp_path / "scenarios").symlink_to(SCENARIO.parent)
    monkeypatch.chdir(tmp_path)
    page = (SCENARIO.parents[1] / "docs" / "guide" / "notebook.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope = {}
    for block in blocks:
        exec(block, scope)
    assert len(blocks) == 4 and (tmp_path / "dumbbell.svg").exists()
    assert scope["figure"]._repr_svg_() != scope["means"]._repr_svg_()
