"""Samples over time in a report: thinned without losing a peak, of bounded size, and said so."""

import re
from pathlib import Path

import page_checks
import pytest
from sweep_studies import SCENARIO, write_study

from fairq import statistics
from fairq.core.results import described
from fairq.figures.over_time import SAMPLED
from fairq.reports import series_sections
from fairq.reports import study_report as reports
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Four points of two axes, two seeds of each, 1000 samples of each flow and queue."""
    study = write_study(tmp_path_factory.mktemp("study"), replications=2, duration="10 s", series="10 ms")
    sweep(study, Options(workers=1))
    return study.with_suffix("")


@pytest.fixture(scope="module")
def samples(store):
    """What is shown of them."""
    return read(Results(store))


def read(results):
    return series_sections.read(results, results.runs())


def study_of(folder, scenario=SCENARIO, *, points=1, keep='series = "10 ms"', duration="1 s"):
    """The results of a study of one seed at each of its points."""
    (folder / "line.toml").write_text(scenario.replace('"1 s"', f'"{duration}"', 1))
    buffers = [f"{20 + at} packets" for at in range(points)]
    axis = f'\n[[axes]]\nname = "buffer"\npath = "defaults.buffer"\nvalues = {buffers}\n' if points > 1 else ""
    path = folder / "study.toml"
    path.write_text(f'[study]\nscenario = "line.toml"\n{axis}\n[keep]\n{keep}\n')
    sweep(path, Options(workers=1))
    return Results(path.with_suffix(""))


def curve(results, point, column, **names):
    """All samples of a column at a point with the first seed, as time and value."""
    rows = [row for row in results.rows("series") if row["seed"] == 1]
    rows = [row for row in rows if all(row[name] == value for name, value in {**point, **names}.items())]
    return [(row["time_s"], row[column]) for row in rows if row[column] is not None]


def test_every_number_of_a_sample_is_shown():
    numbers = [column["name"] for column in described()["series"]["columns"] if column["kind"] != "text"]
    assert sorted(series_sections.COLUMNS) == sorted(set(numbers) - {"time_s"})
    assert set(series_sections.COLUMNS) <= set(SAMPLED)


@pytest.mark.parametrize(
    ("column", "names"),
    [("throughput_bit_per_s", {"flow": "file.2"}), ("window_packets", {"flow": "file.1"}),
     ("rtt_s", {"flow": "file.1"}), ("held_packets", {"link": "line", "direction": "forward"})],
)  # fmt: skip
@pytest.mark.parametrize("most", [series_sections.ROWS_MAX, 100])
def test_a_stretch_has_the_mean_the_least_and_the_greatest_of_its_samples(store, samples, column, names, most):
    point = {"buffer": "40 packets", "queue": "fq"}
    rows = samples.rows(column, most)
    own = [row for row in rows if all(row[name] == value for name, value in {**point, **names}.items())]
    every = curve(Results(store), point, column, **names)
    assert len(rows) <= most and 10 < len(own) < len(every) / 2
    start, seen = 0.0, 0
    for row in own:
        values = [value for time, value in every if start < time <= row["time_s"]]
        assert row[column] == pytest.approx(sum(values) / len(values), rel=1e-12)
        assert (row[f"{column}_min"], row[f"{column}_max"]) == (min(values), max(values))
        start, seen = row["time_s"], seen + len(values)
    assert seen == len(every), "each sample is in a stretch"


def test_samples_that_are_few_are_shown_as_they_are(tmp_path):
    results = study_of(tmp_path, points=2)
    rows = read(results).rows("window_packets")
    own = [row for row in rows if row["buffer"] == "21 packets" and row["flow"] == "file.2"]
    found = [(row["time_s"], row["window_packets"]) for row in own]
    assert found == curve(results, {"buffer": "21 packets"}, "window_packets", flow="file.2")
    assert not any("window_packets_max" in row for row in rows)
    assert "stretch" not in read(results).said()


def test_the_page_has_the_samples_as_files_and_says_which_they_are(store, samples):
    text = reports.report(Results(store))
    (section,) = re.findall(r'<section aria-labelledby="time">.*?</section>', text, re.DOTALL)
    files = {name[len("time-") : -len(".csv")]: rows for name, rows in page_checks.files(section).items()}
    shown = ["throughput_bit_per_s", "window_packets", "flight_packets", "rtt_s", "held_packets"]
    assert list(files) == [*shown, "phases", "warm-up"]
    assert section.count("<figure>") == len(shown) and section.count("aria-label=") >= 2 * len(shown)
    for column in shown:
        rows = samples.rows(column)
        assert [float(row[f"{column}_max"]) for row in files[column]] == [row[f"{column}_max"] for row in rows]
        assert {(row["buffer"], row["queue"], row["seed"]) for row in files[column]} == {
            (buffer, queue, "1") for buffer in ("20 packets", "40 packets") for queue in ("fifo", "fq")
        }
    assert "One run of each point is shown, that of seed 1; those of 1 more seed are not." in section
    assert "the mean over stretches of 70 ms" in section
    spoken = re.search(r'aria-label="(window from [^"]+)"', section)[1]
    most = max(row["window_packets_max"] for row in samples.rows("window_packets"))
    assert f"to {most:.3g} packets (" in spoken


def test_the_first_points_and_flows_are_shown_and_the_rest_is_counted(tmp_path, monkeypatch):
    more = SCENARIO.replace("count = 2", "count = 9") + SCENARIO[SCENARIO.index("[[flows]]") :].replace(
        '"file"', '"other"'
    ).replace("count = 2", "count = 1")
    results = study_of(tmp_path, more, points=8)
    samples = read(results)
    assert [each.run.point for each in samples.curves] == list(range(series_sections.POINTS_MAX))
    assert [name for (name,) in samples.names["flows"]] == ["file.1", "file.2", "file.3", "other.1"]
    said = samples.said()
    assert "Of 8 points the first 6 are shown." in said
    assert "Of 10 flows 4 are shown: the first copies of each entry, in turn." in said
    monkeypatch.setattr(series_sections, "CURVES_MAX", 6)
    samples = read(results)
    assert [name for (name,) in samples.names["flows"]] == ["file.1"]
    assert samples.names["queues"] == [("line", "forward")], "acknowledgements wait less than data"
    assert "Of 2 queues 1 are shown: those that held the most packets." in samples.said()


def test_of_a_point_whose_first_seed_is_missing_the_next_is_shown(store):
    results = Results(store)
    runs = [run for run in results.runs() if (run.point, run.seed) != (1, 1)]
    samples = series_sections.read(results, runs)
    assert [(each.run.point, each.run.seed) for each in samples.curves] == [(0, 1), (1, 2), (2, 1), (3, 1)]
    assert "that of its first seed" in samples.said()
    rows = [row for row in samples.rows("rtt_s") if (row["buffer"], row["queue"]) == ("20 packets", "fq")]
    assert {row["seed"] for row in rows} == {2}
    assert series_sections.read(results, []) is None


def test_the_warm_up_is_that_of_all_samples_and_phases_are_parts_of_them(store, samples):
    rows = samples.warm_ups()
    for row in rows:
        point = {"buffer": row["buffer"], "queue": row["queue"]}
        values = [value for _, value in curve(Results(store), point, "throughput_bit_per_s", flow=row["flow"])]
        cut = statistics.warm_up(values).cut
        assert row["warm_up_s"] == (None if cut is None else pytest.approx(cut * 0.01))
    assert len(rows) == 8 and any(row["warm_up_s"] for row in rows)
    parts = {}
    for row in samples.phases():
        parts.setdefault((row["buffer"], row["queue"], row["flow"]), []).append(row["samples_percent"])
    assert len(parts) == 8 and all(sum(each) == pytest.approx(100) for each in parts.values())


def test_a_study_without_series_has_no_such_section(tmp_path):
    text = reports.report(study_of(tmp_path, keep='tables = ["flows"]'))
    assert 'id="time"' not in text and "Over time" not in text


def test_a_page_of_a_hundred_thousand_samples_is_small_and_has_their_peak(tmp_path):
    results = study_of(tmp_path, keep='tables = ["flows"]\nseries = "1 ms"', duration="25 s")
    assert len(results.table("series")) == 100_000
    text = reports.report(results)
    assert len(text.encode()) < 1_500_000
    most = max(results.table("series", ["window_packets"]).column("window_packets"), key=lambda value: value or 0)
    rows = page_checks.files(text)["time-window_packets.csv"]
    assert 600 < len(rows) <= series_sections.ROWS_MAX
    assert max(float(row["window_packets_max"]) for row in rows) == most
    assert max(float(row["window_packets"]) for row in rows) < most, "a mean does not reach the peak"


def test_receivers_of_sessions_have_their_layers_and_are_told_apart(tmp_path):
    scenario = (Path(__file__).parents[2] / "scenarios" / "multicast.toml").read_text()
    session = scenario[scenario.index("[[sessions]]") : scenario.index("[[flows]]")]
    samples = {}
    for name, more in (("one", ""), ("two", session.replace('"lecture"', '"film"'))):
        (tmp_path / f"{name}.toml").write_text(scenario + more)
        path = tmp_path / f"study-{name}.toml"
        path.write_text(f'[study]\nscenario = "{name}.toml"\n[keep]\nseries = "500 ms"\n')
        sweep(path, Options(workers=1))
        samples[name] = read(Results(path.with_suffix("")))
    rows = samples["one"].rows("level")
    assert {row["receiver"]: row["level"] for row in rows} == {"fast": 5.0, "slow": 2.0, "busy": 2.0}
    assert {row["session"] for row in rows} == {"lecture"}
    assert samples["one"].plotted("level")[1] == ["fast", "slow", "busy"]
    rows, names = samples["two"].plotted("level")
    assert "lecture fast" in names and "film fast" in names and len(names) == 6
    assert {row["receiver"] for row in rows} == set(names)
