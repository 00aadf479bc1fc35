"""`.plot()` of results: the picture of the command, whatever the user's matplotlib is set to."""

import subprocess
import sys

import pytest
from sweep_studies import write_study
from test_kept_results import SCENARIO, kinds  # noqa: F401 - the fixture

import fairq
from fairq import plots


@pytest.fixture(scope="module")
def result():
    return fairq.run(SCENARIO, set={"measure.replications": 1})


@pytest.mark.parametrize(
    "name", ["compare", "advise", "baseline", "effects", "replay", "serve", "run", "delay_curve", "topology"]
)
def test_each_result_with_a_picture_gives_it(kinds, name):  # noqa: F811
    figure = kinds(name).plot()
    assert figure._repr_svg_().lstrip().startswith("<?xml") and "</svg>" in figure._repr_svg_()


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """The results of a study that keeps flows alone, and of one that keeps all that there is."""
    found = []
    every = 'series = "100 ms"\npackets = "file"\nstates = true'
    for name, keep in (("plain", 'tables = ["flows"]'), ("all", every)):
        folder = tmp_path_factory.mktemp(name)
        study = write_study(folder, replications=1, duration="300 ms")
        study.write_text(f"{study.read_text()}\n[keep]\n{keep}\n")
        found.append(fairq.read_store(fairq.sweep(study).store))
    return found


def svg_of(figure):
    return "".join(figure._repr_svg_().split())


def test_a_study_has_the_picture_of_a_quantity(tmp_path):
    swept = fairq.sweep(write_study(tmp_path))
    results = fairq.read_store(swept.store)
    assert svg_of(swept.plot()) == svg_of(results.plot())
    # the columns of its [draw] or else the usual ones come first
    assert svg_of(results.plot("flows.delay_s_mean")) != svg_of(results.plot("flows.throughput_bit_per_s"))
    with pytest.raises(fairq.UsageError, match="no_such"):
        results.plot("flows.no_such")


@pytest.mark.parametrize("what", ["series", "series.held_packets", "packets.delay_s", "states", "states.value"])
def test_what_a_study_has_no_figure_of_is_said_with_what_keeps_it(studies, what):
    name = what.partition(".")[0]
    for results, says in zip(
        studies, (f"have {name} with {plots.KEPT_BY[name]} in \\[keep\\]", f"have its {name}$"), strict=True
    ):
        with pytest.raises(fairq.UsageError, match=says) as error:
            results.plot(what)
        assert (
            str(error.value).startswith(f"what: {what}: a figure of a study is of means")
            and len(str(error.value)) < 220
        )


def test_a_table_that_a_study_does_not_keep_is_said_with_what_keeps_it(studies):
    plain, _ = studies
    with pytest.raises(fairq.UsageError, match=r"does not keep queues; add it to tables of \[keep\], and run it"):
        plain.plot("queues.dropped")
    for what, says in (
        ("means", "leave it out"),
        ("theory", "overlay=True"),
        ("flows.no_such", "^what: flows.no_such"),
    ):
        with pytest.raises(fairq.UsageError, match=says):
            plain.plot(what)


def test_the_packets_of_a_link_and_of_an_audited_run_have_a_picture():
    with fairq.live(SCENARIO, set={"axes": "[]"}) as run:
        packets = run.timeline(until_s=2.0)
    assert len(packets.packets) and "</svg>" in packets.plot()._repr_svg_()
    whole = fairq.audit("sfq", quick=True)
    with pytest.raises(fairq.UsageError, match='run="RUN"'):
        whole.plot()
    alone = fairq.audit("sfq", run=whole.bounds[0]["run"])
    assert isinstance(alone.plot(), fairq.Figure)


def test_a_figure_is_written_by_the_name_of_its_file(result, tmp_path):
    figure = result.plot()
    for name, start in (("it.svg", b"<?xml"), ("it.png", b"\x89PNG"), ("it.pdf", b"%PDF")):
        figure.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    for name in ("it.gif", "it"):
        with pytest.raises(fairq.UsageError, match=r"\.svg, a \.png or a \.pdf"):
            figure.save(tmp_path / name)
    with pytest.raises(fairq.OutputError, match="there is no folder"):
        figure.save(tmp_path / "none" / "it.svg")


def test_sizes_and_grounds_differ(result):
    page = result.plot()._repr_svg_()
    assert page == result.plot("means")._repr_svg_()
    assert len({page, result.plot(dark=True)._repr_svg_(), result.plot(size="slide")._repr_svg_()}) == 3
    with pytest.raises(fairq.UsageError, match="slide"):
        result.plot(size="slid")


@pytest.mark.parametrize(
    ("what", "says"), [("series", 'series="auto"'), ("packets", "packets="), ("theory", "overlay=True")]
)
def test_what_was_not_kept_is_said_with_its_option(result, what, says):
    with pytest.raises(fairq.UsageError, match=says) as error:
        result.plot(what)
    assert "\n" not in str(error.value)


def test_an_unknown_picture_is_told_with_the_near_one(result, kinds):  # noqa: F811
    with pytest.raises(fairq.UsageError, match="means"):
        result.plot("mean")
    with pytest.raises(fairq.UsageError, match="one picture"):
        kinds("compare").plot("series")


def test_a_users_settings_change_no_figure_and_stay(result):
    import matplotlib

    before = result.plot()._repr_svg_()
    hostile = {"text.usetex": True, "font.size": 40, "axes.facecolor": "red", "svg.fonttype": "none"}
    with matplotlib.rc_context(hostile):
        after = result.plot()._repr_svg_()
        assert {name: matplotlib.rcParams[name] for name in hostile} == hostile
    assert after == before


WITHOUT = f"""
import sys
for name in ("matplotlib", "numpy"):
    sys.modules[name] = None
import fairq
result = fairq.run({str(SCENARIO)!r}, set={{"measure.replications": 1}})
assert "<table" in result._repr_html_()
try:
    result.plot()
except fairq.UsageError as error:
    print(error)
"""


def test_without_the_plotting_package_tables_are_shown_and_what_to_install_is_said():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=100, check=True)
    assert "pip install matplotlib" in done.stdout and done.stdout.count("\n") == 1
