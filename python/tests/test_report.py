"""A report of a study: everything inside, numbers as in the store, readable by all."""

import re

import page_checks
import pytest
from sweep_studies import BUFFERS, SCENARIO, STUDY, write_study

from fairq import figures, statistics
from fairq.core import columns
from fairq.reports import page_parts, pictures, readings, rendering
from fairq.reports import study_report as reports
from fairq.reports.sections import Thin
from fairq.studies import summary
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep

KEEP = '\n[keep]\nseries = "2 ms"\npackets = "file.1"\nstates = true\n'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A study of two axes and three seeds that keeps samples and packets, and was run."""
    folder = tmp_path_factory.mktemp("study")
    study = write_study(folder)
    study.write_text(STUDY + KEEP)
    sweep(study, Options(workers=2))
    return study.with_suffix("")


@pytest.fixture(scope="module")
def page(store):
    """Its report."""
    path = store.with_name("page.html")
    path.write_text(reports.report(Results(store), "study.toml"), encoding="utf-8")
    return path


def test_the_file_behind_a_figure_has_the_means_and_intervals_of_the_store(store, page):
    rows = page_checks.files(page.read_text())["flows-throughput_bit_per_s.csv"]
    runs = [row for row in Results(store).rows("flows") if row["buffer"] == "20 packets" and row["queue"] == "fq"]
    by_seed = {}
    for row in runs:
        by_seed.setdefault(row["seed"], []).append(row)

    def means(column):
        return [sum(row[column] for row in both) / 2 for both in by_seed.values()]

    # A throughput has the interval of its share.
    expected = columns.interval(means("throughput_bit_per_s"), "log", means("share"))
    own_scale = statistics.interval(means("throughput_bit_per_s"), "log")
    assert expected.mean == own_scale.mean and expected.low != own_scale.low
    (own,) = [row for row in rows if row["buffer"] == "20 packets" and row["queue"] == "fq"]
    assert own["flow"] == "file" and own["seeds"] == "3"
    got = [float(own[f"throughput_bit_per_s{end}"]) for end in ("", "_low", "_high")]
    assert got == [expected.mean, expected.low, expected.high]


def test_an_axis_called_queue_hides_no_queue(store, page):
    rows = page_checks.files(page.read_text())["queues-utilisation.csv"]
    assert {(row["queue"], row["buffer"], row["link"]) for row in rows} == {
        (queue, buffer, f"line {direction}")
        for queue in ("fifo", "fq") for buffer in BUFFERS for direction in ("forward", "reverse")
    }  # fmt: skip


def test_an_effect_is_the_paired_difference_over_the_seeds(store):
    quantity = summary.Quantity("flows", "throughput_bit_per_s")
    of = summary.values(Results(store), [quantity])[quantity]
    effects = {(each.axis, each.value): each for each in summary.effects(of)}
    a, b = (
        [of.by[(("40 packets", queue), "file")], of.by[(("20 packets", queue), "file")]] for queue in ("fifo", "fq")
    )
    ours, theirs = ([(a[side][seed] + b[side][seed]) / 2 for seed in (1, 2, 3)] for side in (0, 1))
    effect = effects[("buffer", "40 packets")]
    assert effect.against == "20 packets" and effect.found == statistics.paired(ours, theirs, "log")
    assert effects[("buffer", "20 packets")].found is None


def test_every_point_has_its_max_min_share(tmp_path, monkeypatch):
    calls = []
    max_min = readings._native.max_min
    monkeypatch.setattr(readings._native, "max_min", lambda *given: calls.append(given) or max_min(*given))
    rates = [f"{rate} Mbit/s" for rate in range(1, 71)]
    for place in ("study", "scenario"):
        folder = tmp_path / place
        folder.mkdir()
        study = write_study(folder)
        axis = f'\n[[axes]]\nname = "rate"\npath = "links.line.rate"\nvalues = {rates}\n'
        scenario = SCENARIO.replace('"1 s"', '"10 ms"')
        (folder / "line.toml").write_text(scenario + axis * (place == "scenario"))
        study.write_text('[study]\nscenario = "line.toml"\n' + axis * (place == "study"))
        sweep(study, Options(workers=1))
        calls.clear()
        found = readings.shares(Results(study.with_suffix("")))
        assert found == {((rate,), "file"): 5e5 * (at + 1) for at, rate in enumerate(rates)}
        assert len(calls) == {"study": 70, "scenario": 1}[place], "a call has all points of the scenario's own axes"


def test_every_section_is_there_and_every_figure_has_its_data(page):
    text = page.read_text()
    heads = re.findall(r'<h2 id="(\w+)"', text)
    assert heads == ["run", "results", "effects", "time", "delays", "fairness", "losses", "made"]
    assert text.count("<figure>") >= 6
    assert len(page_checks.files(page.read_text())) >= text.count("<figure>")
    page_checks.has_whole_names(page)


def test_a_map_of_shades_is_plotted_for_light_and_for_dark():
    rows = [{"delay": f"{x} ms", "buffer": f"{y} packets", "jain": x / y} for x in (5, 10) for y in (20, 40)]

    def plot(style):
        return figures.of_rows(rows, ["delay", "buffer"], ["jain"], "", style=style)

    elements = pictures.plotted(plot, "f", "shades")
    assert [kind for kind, _ in elements] == ["wide light", "wide dark", "narrow light", "narrow dark"]
    assert not any("var(--" in element for _, element in elements)
    assert "always light" in pictures.shown(elements, narrow=False)


def test_the_same_store_gives_the_same_bytes(store, page):
    assert reports.report(Results(store), "study.toml") == page.read_text()


def test_a_page_that_grows_too_large_is_thinned(store, page, monkeypatch):
    monkeypatch.setattr(rendering, "BYTES_MAX", len(page.read_bytes()) - 1)
    monkeypatch.setattr(reports, "THINNER", (reports.THINNER[0], Thin(2, 3, False)))
    thinner = reports.report(Results(store), "study.toml")
    assert len(thinner.encode()) < rendering.BYTES_MAX
    assert "2 of 4 rows are shown; the file has 2 of them." in thinner
    assert 'class="plot narrow"' not in thinner and 'class="plot always"' in thinner


def test_words_of_the_user_are_text_and_no_elements(tmp_path):
    study = write_study(tmp_path, replications=1)
    evil = "</pre><script>alert(1)</script>"
    values = ", ".join(f'{{ name = "{name}", set = {{ title = "{name}" }} }}' for name in (evil, "&amp;"))
    axis = f'\n[[axes]]\nname = "<b>"\nvalues = [{values}]\n'
    study.write_text(STUDY.replace("replications = 3", "replications = 1") + axis)
    sweep(study, Options(workers=2))
    text = reports.report(Results(study.with_suffix("")))
    assert "<script" not in text and "&lt;script" in text and "<b>" not in text
    assert "One seed shows no spread" in text


def test_what_cannot_be_reported_is_one_line(tmp_path, fairq, store):
    study = write_study(tmp_path)
    assert fairq("report", tmp_path / "nix.toml")[0] == 2
    status, _, said = fairq("report", study)
    assert status == 2 and said.count("\n") == 1 and "there is no store of a study" in said
    sweep(study, Options(workers=1))
    for marker in (tmp_path / "study" / "done").iterdir():
        marker.unlink()
    status, _, said = fairq("report", study)
    assert status == 2 and "no run of the study exists yet; run it by fairq sweep" in said
    status, _, said = fairq("report", store, "--out", tmp_path / "no" / "page.html")
    assert status == 2 and "there is no folder" in said


def test_the_command_says_what_it_wrote(fairq, document, store, tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "report", lambda results, name: f"<p>é {name}")
    path = tmp_path / "page.html"
    said = document("report", store, "--out", path)
    assert said == {"path": str(path), "runs": 12, "bytes": path.stat().st_size}
    status, text, _ = fairq("report", store.with_suffix(".toml"), "--out", path)
    assert status == 0 and text == f"A report of 12 runs.\nWritten: {path}\n"
    assert path.read_text(encoding="utf-8") == "<p>é study.toml"
    assert fairq("report", store, "--quiet")[1] == "A report of 12 runs.\n" and store.with_suffix(".html").is_file()


class TestThePage(page_checks.OfAPage):
    """The page is held to what all pages are."""


def test_axe_would_find_what_cannot_be_read(browser, page):
    browser.open(page, 1280)
    browser.run("document.querySelector('h2').style.color = '#eee'; document.querySelector('svg').ariaLabel = ''")
    rules = {rule for rule, _ in browser.violations()}
    assert {"color-contrast", "svg-img-alt"} <= rules


def test_a_page_is_a_file_of_html(store, refused, tmp_path):
    for name in ("page.pdf", "page", "page.html.gz"):
        assert f"{name}: the name must end in .html" in refused("report", store, "--out", tmp_path / name)
        assert not (tmp_path / name).exists()


def test_a_table_that_is_cut_says_how_many_rows_it_has():
    file = page_parts.csv_file("", "x.csv", [], [])
    few, many = ([("", [["a", str(at)] for at in range(count)])] for count in (9, 36))
    assert page_parts.Shown("means", ["x", "y"], few, file).said == "means"
    assert page_parts.Shown("means", ["x", "y"], many, file, "2 are left out").said == (
        "means. 2 are left out. 36 rows: scroll within the table"
    )
