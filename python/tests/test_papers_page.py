"""The page of reproduced papers: verdicts as they were judged, and a page like that of a study."""

import csv
import hashlib
import io
import re
from itertools import islice

import page_checks
import pytest

import fairq
from fairq import figures
from fairq.papers import paper_page, reproduction
from fairq.papers.papers import Paper, Plotted, Setup
from fairq.papers.verdicts import COLUMNS, Line
from fairq.reports import rendering


@pytest.fixture(scope="module")
def reproduced(stand_in, demers1990, tmp_path_factory):
    """Two folders of the same reproduction, with the paper's first figure."""
    folder = tmp_path_factory.mktemp("papers")
    plot = demers1990.compare.figures
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demers1990.compare, "figures", lambda *given: islice(plot(*given), 1))
        stand_in(patch, folder)
        for name in ("one", "other"):
            fairq.reproduce("demers1990", quick=True, out=folder / name)
    return folder


@pytest.fixture(scope="module")
def page(reproduced):
    return reproduced / "one" / "index.html"


def test_the_same_reproduction_gives_the_same_bytes(reproduced, page):
    assert page.read_bytes() == (reproduced / "other" / "index.html").read_bytes()
    assert len(page.read_bytes()) < rendering.BYTES_MAX


def test_the_file_behind_each_table_has_the_verdicts(reproduced, page):
    texts = page_checks.texts(page.read_text())
    assert texts.pop("demers1990-verdicts.csv") == (reproduced / "one" / "verdicts.csv").read_text()
    for item in ["figure1", *(f"scenario{number}" for number in range(1, 7))]:
        assert texts.pop(f"demers1990-{item[:-1]}-{item[-1]}.csv") == (reproduced / "one" / f"{item}.csv").read_text()
    rows = list(csv.DictReader(io.StringIO((reproduced / "one" / "verdicts.csv").read_text())))
    listed = {
        "demers1990-claims.csv": [row for row in rows if row["item"] == "claim"],
        "demers1990-cells-that-differ.csv": [
            row for row in rows if row["item"] != "claim" and row["verdict"] == "differs"
        ],
    }
    assert {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()} == listed


def test_a_cell_says_its_verdict_without_colour(reproduced, page):
    text = page.read_text()
    rows = list(csv.DictReader(io.StringIO((reproduced / "one" / "verdicts.csv").read_text())))
    for sign, verdict in paper_page.SIGNS.items():
        judged = sum(row["verdict"] == verdict and row["item"] != "claim" for row in rows)
        said = f' <span aria-hidden="true">{sign}</span><span class="hidden"> {verdict}</span></'
        assert text.count(said) == judged > 0, verdict
        assert len(re.findall(rf'class="number {verdict}">[^<]*{re.escape(said)}', text)) == judged


def test_the_page_says_how_it_was_made(page, reproduced):
    text = page.read_text()
    published = (reproduced / "papers" / "demers1990" / "published.csv").read_bytes()
    assert hashlib.sha256(published).hexdigest() in text
    for said in (
        "fairq reproduce demers1990 --quick --out DIR", "10 seeds (quick; 20 without --quick)",
        f"<code>{fairq._native.results_version()}</code>", "SHA-256 of scenario6.toml",
        "SHA-256 of the digests of all 7 runs", ">How it was made<", ">Cells that differ<", ">Claims<",
    ):  # fmt: skip
        assert said in text, said
    page_checks.has_whole_names(page)


LINES = [
    Line("small", "table 1", "FQ", "loss", "a <b>", 1.0, 1.5, 1.4, 1.6, "differs", "<script>alert(1)</script>"),
    Line("small", "table 2", "FQ", "loss", "b", None, 1.5, 1.4, 1.6, "beyond", ""),
    Line("small", "claim", "FQ", "7 < 8", "table 1", 1.0, 1.0, 0.8, 1.0, "agrees", "2 of 2 seeds"),
]


class Small:
    """A paper with a table that compares, one that does not, and a figure of several tables."""

    TITLE, SEEDS, QUICK_SEEDS, STARTS, QUANTITIES = "Small & others (1999)", 2, 2, ("together",), {}

    @staticmethod
    def captions(_setup):
        return {"table 1": "the first", "table 2": "the second"}

    @staticmethod
    def figures(rows, _results, style):
        curves = {"FQ": [(0, 1), (1, 2), (2, 4), (3, 3)]}
        first = figures.published_beside_measured(rows[:1], "The first", {"loss": "loss"}, style=style)
        other = figures.curves_below_each_other(curves, "time (s)", "packets", "A curve", style=style)
        matrix = {"FQ": [[1.0, 2.0], [3.0, 4.0]]}
        yield Plotted("table1", "table 1", first)
        yield Plotted("curve", "", other, [{"time_s": x, "packets": y} for x, y in curves["FQ"]])
        yield Plotted("map", "table 2", figures.payoffs("A map", matrix, ["a", "b"], 1, style=style))


class Other(Small):
    """Another."""

    TITLE = "Others (2000)"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """What was plotted of two small papers."""
    folder = tmp_path_factory.mktemp("small")
    setup = Setup(2, "together", 1)
    return [
        reproduction.Plots(reproduction.Outcome(Paper(name, folder, of), setup, LINES, {}, lambda: [("seeds", "2")]))
        for name, of in (("small", Small), ("other", Other))
    ]


@pytest.fixture(scope="module")
def several(small, tmp_path_factory):
    """The page of both."""
    path = tmp_path_factory.mktemp("small") / "page.html"
    path.write_text(paper_page.page(small, "fairq reproduce all --out DIR"), encoding="utf-8")
    return path


def test_a_page_of_papers_leads_to_each_and_to_its_parts(several, browser):
    text = several.read_text()
    page_checks.has_whole_names(several)
    lists = re.findall(r'<nav [^>]*aria-label="(\w+)">(.*?)</nav>', text, re.DOTALL)
    assert [(name, re.findall(r'href="#([^"]+)"', inside)) for name, inside in lists] == [
        ("Sections", ["small", "other", "made"]),
        *(
            (name, [f"{name}-{part}" for part in ("table-1", "table-2", "claims", "cells-that-differ", "figures")])
            for name in ("small", "other")
        ),
    ]
    assert "<script" not in text and "a <b>" not in text and "Small &amp; others" in text
    assert text.count(f"<caption><span>{paper_page.UNPUBLISHED}</span></caption>") == 2
    page_checks.can_be_read(browser, several, 390, "dark")


def test_a_figure_has_its_points_or_its_table_beside_it(several):
    files = page_checks.files(several.read_text())
    assert [list(row.values()) for row in files["small-curve.csv"]] == [["0", "1"], ["1", "2"], ["2", "4"], ["3", "3"]]
    assert files["other-verdicts.csv"][0] == {
        name: "" if value is None else str(value) for name, value in zip(COLUMNS, LINES[0].row().values(), strict=True)
    }
    below = several.read_text().split('aria-label="A map. FQ. The table below has all values"')[-1]
    assert re.search(r'download="([^"]+)"', below)[1] == "other-table-2.csv"


def test_a_page_that_grows_too_large_leaves_out_the_figures_of_phones_and_says_so(
    small, several, browser, monkeypatch, tmp_path
):
    whole = several.read_text()
    assert 'class="plot narrow"' in whole and "Figures are those of a wide screen" not in whole
    monkeypatch.setattr(rendering, "BYTES_MAX", len(whole) // 2)
    monkeypatch.setattr(paper_page, "THINNER", (*paper_page.THINNER[:-1], paper_page.Thin(False, 2, False)))
    text = paper_page.page(small, "fairq reproduce all --out DIR")
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    assert "Figures are those of a wide screen" in text and 'class="plot narrow' not in text
    files = page_checks.files(page.read_text())
    assert "A curve, 2 of 4 points" in text and len(files["small-curve.csv"]) == 2
    assert "small-table-1.csv" in files and "small-verdicts.csv" not in files
    page_checks.can_be_read(browser, page, 390, "light")


class TestThePage(page_checks.OfAPage):
    """The page is held to what all pages are."""
