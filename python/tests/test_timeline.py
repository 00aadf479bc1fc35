"""`--timeline`: the packets of a run, or of an audit, by flow over time, as a picture."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import fairq as package
from fairq import figures, plots

ROOT = Path(__file__).resolve().parents[2]
FQ = ("--set", "axes=[]", "--set", "defaults.queue=fq")


def paths(svg, name):
    """How many lines or bars the group of an SVG has that is called so, and that of short ones."""
    count = 0
    for each in (name, f"short {name}"):
        match = re.search(rf'<g id="{re.escape(each)}">(.*?)\n  *</g>', svg, re.DOTALL)
        inside = re.sub(r"<defs>.*?</defs>", "", match[1], flags=re.DOTALL) if match else ""
        count += len(re.findall(r"<(?:path|use)\b", inside))
    return count


def packet(serial, flow="a", **more):
    return {"serial": serial, "flow": flow, "packet_bytes": 1000, "arrived_s": 0.1 * serial,
            "began_s": 0.1 * serial + 1, "sent_s": 0.1 * serial + 1.1, "start": None, "finish": None,
            "fluid_s": None, "dropped_s": None, "marked": 0} | more  # fmt: skip


def drawn(rows, **more):
    return figures.svg(figures.timeline(rows, "packets", **more), "packets")


def test_each_packet_waits_in_the_lane_of_its_flow_and_is_sent_there_and_on_the_line():
    rows = [packet(0), packet(1), packet(2, "b"), packet(3, "b", began_s=None, sent_s=None)]
    svg = drawn(rows)
    assert [paths(svg, f"waits of {flow}") for flow in "ab"] == [2, 2]
    for place in ("sent", "line", "turns"):
        assert [paths(svg, f"{place} of {flow}") for flow in "ab"] == [2, 1], place


def test_drops_and_marks_have_marks_of_their_own_where_they_were():
    lost = packet(1, began_s=None, sent_s=None, dropped_s=0.1)
    late = packet(2, began_s=None, sent_s=None, dropped_s=0.9)
    figure = figures.timeline([packet(0, marked=1), lost, late], "packets")
    by_name = {line.get_gid(): line for line in figure.axes[0].lines}
    assert list(by_name["dropped of a"].get_xdata()) == [0.1, 0.9]
    assert list(by_name["marked of a"].get_xdata()) == [1.0]
    assert {text.get_text() for text in figure.axes[0].get_legend().get_texts()} == {
        "waits", "is sent", "dropped", "marked"
    }  # fmt: skip
    assert not {"dropped of a", "marked of a"} & {
        line.get_gid() for line in figures.timeline([packet(0)], "").axes[0].lines
    }


def test_packets_that_wait_together_lie_above_each_other():
    figure = figures.timeline([packet(serial) for serial in range(5)], "packets")
    (waits,) = [each for each in figure.axes[0].collections if each.get_gid() == "waits of a"]
    assert len({line[0][1] for line in waits.get_segments()}) == 5
    times = [{"arrived_s": 2.0 * at, "began_s": 2.0 * at + 1, "sent_s": 2.0 * at + 1.5} for at in range(5)]
    apart = figures.timeline([packet(serial, **each) for serial, each in enumerate(times)], "packets")
    (waits,) = [each for each in apart.axes[0].collections if each.get_gid() == "waits of a"]
    assert len({line[0][1] for line in waits.get_segments()}) == 1


def test_the_service_by_packets_meets_that_of_the_fluid_where_each_packet_says():
    """The fluid has served as much when a packet leaves it as the line when that packet is sent."""
    fluid = [{"time_s": 0.5 * at, "flow": "a", "served_bytes": 7000 + 500.0 * at} for at in range(9)]
    rows = [packet(0, began_s=1.0, sent_s=1.5, fluid_s=2.0), packet(1, began_s=2.0, sent_s=2.5, fluid_s=3.0)]
    figure = figures.timeline(rows, "packets", fluid=fluid)
    lines = {line.get_gid(): line for line in figure.axes[2].lines}
    assert list(lines["service of a"].get_xdata()) == [0.0, 1.0, 1.5, 2.0, 2.5, 2.5]
    assert list(lines["service of a"].get_ydata()) == pytest.approx([8, 8, 9, 9, 10, 10])
    assert list(lines["fluid of a"].get_ydata())[:3] == pytest.approx([7, 7.5, 8])


def test_service_is_scaled_to_the_times_that_are_shown():
    fluid = [{"time_s": 1.0 * at, "flow": "a", "served_bytes": 10_000.0 * at} for at in range(101)]
    for span, low, high, label in (((40, 50), 400, 500, "kB"), ((0, 1), 0, 10, "kB"), ((0, 100), 0, 1, "MB")):
        times = {"arrived_s": span[0], "began_s": span[0], "sent_s": span[0] + 0.1, "fluid_s": span[0] + 0.1}
        panel = figures.timeline([packet(0, **times)], "packets", fluid=fluid, span=span).axes[2]
        bottom, top = panel.get_ylim()
        assert bottom <= low <= bottom + 0.1 * (top - bottom) and top - 0.1 * (top - bottom) <= high <= top
        assert panel.get_title(loc="left") == f"service of each flow ({label})"


def test_without_service_a_line_leads_to_where_each_packet_leaves_the_fluid():
    figure = figures.timeline([packet(0, fluid_s=0.7), packet(1, fluid_s=2.0), packet(2)], "", outlined=[1])
    (slants,) = [each for each in figure.axes[0].collections if each.get_gid() == "slants of a"]
    assert [point[0] for line in slants.get_segments() for point in line] == pytest.approx([1.1, 0.7, 1.2, 2.0])
    assert len(figure.axes) == 2
    assert [each.get_gid() for each in figure.axes[0].collections].count("outlined") == 1


def test_numbers_are_written_where_they_fit_and_only_then():
    rows = [packet(0, start=0.0, finish=1000.0), packet(1, start=1000.0, finish=2000.0)]
    texts = {text.get_text() for text in figures.timeline(rows, "").axes[0].texts}
    assert texts == {"0 – 1000", "1000 – 2000"}
    assert not figures.timeline(rows, "", span=(0.0, 100.0)).axes[0].texts


def test_numbers_are_on_a_slide_as_on_a_page_and_none_touches_another():
    """The packets of the guide's page on virtual time: three flows, and seven packets."""
    with package.live(ROOT / "docs" / "background" / "three_flows.toml") as run:
        found = run.timeline("line", from_s=0, until_s=8)
    for size in figures.SIZES:
        figure = figures.timeline(found.packets, "WFQ", fluid=found.fluid, style=figures.style(size))
        texts = figure.axes[0].texts
        assert len(texts) == 7, size
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [text.get_window_extent(renderer) for text in texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), size


def test_numbers_of_packets_that_are_not_shown_do_not_count():
    rows = [packet(0, start=0.0, finish=1.0)]
    rows += [packet(at, arrived_s=50.0, began_s=50.0, sent_s=50.1, start=1.0, finish=2.0) for at in range(1, 9)]
    (text,) = figures.timeline(rows, "", span=(0.0, 2.0)).axes[0].texts
    assert text.get_text() == "0 – 1"


def test_flows_beyond_those_that_can_be_told_apart_are_counted():
    rows = [packet(serial, f"flow {serial % 15}") for serial in range(45)]
    figure = figures.timeline(rows, "")
    assert len([each for each in figure.axes[0].collections if str(each.get_gid()).startswith("waits")]) == 10
    assert any("5 more flows not shown" in text.get_text() for text in figure.texts)


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_run_is_drawn_with_the_service_of_the_fluid(fairq, tmp_path, dumbbell, form):
    file = tmp_path / f"fq.{form}"
    options = ("--timeline", file, "--from", "10s", "--to", "12s")
    status, out, err = fairq("run", dumbbell, *FQ, *options, "--for", "paper")
    assert (status, err) == (0, "") and f"Written: {file}" in out
    assert file.read_bytes().startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[form])
    if form == "svg":
        svg = file.read_text(encoding="utf-8")
        assert {"service of ftp.1", "fluid of ftp.1", "short line of ftp.1"} <= set(re.findall(r'<g id="([^"]+)"', svg))
        again = tmp_path / "again.svg"
        assert fairq("run", dumbbell, *FQ, *("--timeline", again), *options[2:], "--for", "paper")[0] == 0
        assert again.read_bytes() == file.read_bytes()


def test_the_picture_has_the_packets_that_the_run_has(fairq, tmp_path, dumbbell):
    """A second way to count them: the events of the run."""
    file = tmp_path / "fq.svg"
    assert fairq("run", dumbbell, *FQ, "--timeline", file, "--to", "4s", "--link", "bottleneck")[0] == 0
    svg = file.read_text(encoding="utf-8")
    with package.live(dumbbell, set={"axes": [], "defaults.queue": "fq"}) as run:
        events = [event for event in run.events(links=["bottleneck"], of={"arrived", "began"}, until="4 s")
                  if event.direction == "forward"]  # fmt: skip
    for flow in {event.flow for event in events}:
        count = {
            kind: sum(event.flow == flow and event.event == kind for event in events) for kind in ("arrived", "began")
        }
        assert (paths(svg, f"waits of {flow}"), paths(svg, f"line of {flow}")) == (count["arrived"], count["began"])


def test_it_is_the_first_point_of_the_axes(fairq, tmp_path):
    path, drawn_as = ROOT / "scenarios" / "dumbbell.toml", {}
    for name, sets in {"first": [], "fifo": ["axes=[]", "defaults.queue=fifo"], "fq": FQ[1::2]}.items():
        file = tmp_path / f"{name}.svg"
        options = [word for each in (*sets, "measure.duration=1s") for word in ("--set", each)]
        assert fairq("run", path, *options, "--timeline", file, "--to", "9s")[0] == 0
        drawn_as[name] = file.read_text(encoding="utf-8")
    assert "<!-- dumbbell, FIFO: packets on bottleneck -->" in drawn_as["first"]
    assert "<!-- dumbbell: packets on bottleneck -->" in drawn_as["fifo"]
    service = {
        name: re.search(r'<g id="service of file 2">.*?</g>', svg, re.DOTALL)[0] for name, svg in drawn_as.items()
    }
    ways = {name: re.sub(r"url\(.*?\)", "", text) for name, text in service.items()}
    assert ways["first"] == ways["fifo"] != ways["fq"]


def test_too_many_packets_are_refused_with_times_that_fit(refused, fairq, tmp_path, dumbbell):
    file = tmp_path / "fq.svg"
    said = refused("run", dumbbell, *FQ, "--timeline", file)
    assert "--timeline: bottleneck has more than the 2000 packets of a picture from 0 s to 25 s; write --from" in said
    match = re.search(r"write (--from) (\S+s) (--to) (\S+s),", said)
    assert not file.exists()
    assert fairq("run", dumbbell, *FQ, "--timeline", file, *match.groups())[0] == 0 and file.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--from", "3s"], "--from: there is no such picture without --timeline; write --timeline FILE as well"),
        (["--link", "bottleneck"], "--link: there is no such picture without --timeline"),
        (["--dark"], "--dark: there is no picture without --plot or --timeline; write --plot FILE or --timeline FILE"),
        (["--timeline", "a.txt"], "a.txt: the name must end in .svg, .png or .pdf"),
        (["--timeline", "a.svg", "--from", "3"], "--from: "),
        (["--timeline", "a.svg", "--from", "9s", "--to", "9s"], "--from: nothing is between 9 s and 9 s"),
        (["--timeline", "a.svg", "--link", "bottelneck"], "did you mean bottleneck?"),
        (
            ["--timeline", "a.svg", "--from", "0s", "--to", "1ns"],
            "no packet was at the link from 0 s to 1e-09 s",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line(refused, tmp_path, monkeypatch, dumbbell, options, says):
    monkeypatch.chdir(tmp_path)
    assert says in refused("run", dumbbell, *FQ, *options)
    assert not (tmp_path / "a.svg").exists()


def test_an_audit_is_drawn_with_what_came_near_its_bound(fairq, refused, tmp_path):
    file = tmp_path / "sfq.svg"
    status, out, err = fairq("audit", "sfq", "--replay", "returning:0", "--timeline", file)
    assert (status, err) == (0, "") and out.endswith(f"Written: {file}\n")
    svg = file.read_text(encoding="utf-8")
    found = package.audit("sfq", run="returning:0")
    flows = {row["flow"] for row in found.packets}
    assert len(flows) > 1 and all(row["fluid_ps"] is not None for row in found.packets if row["fate"] == "sent")
    for flow in flows:
        count = sum(row["flow"] == flow for row in found.packets)
        assert paths(svg, f"waits of flow {flow}") == paths(svg, f"slants of flow {flow}") == count
    assert svg.count('id="outlined"') == 1
    assert "relative fairness 4500 of 4500 bytes at weight 1" in plots._nearest(found)[0]
    assert "write --replay RUN as well" in refused("audit", "sfq", "--quick", "--timeline", file)


def test_the_latest_packet_of_an_audit_is_the_one_by_which_lateness_is_measured():
    found = package.audit("sfq", run="bursts:1")
    rows = [plots._packet(row) for row in found.packets]
    late = max(row["sent_s"] - row["fluid_s"] for row in rows if row["sent_s"] is not None)
    (measured,) = [row["worst"] for row in found.bounds if row["measure"] == "lateness"]
    sent = next(row for row in rows if row["sent_s"] is not None)
    rate = sent["packet_bytes"] / (sent["sent_s"] - sent["began_s"])
    assert late * rate == pytest.approx(measured, rel=1e-3, abs=1)


def test_a_random_test_network_of_an_audit_has_no_fluid(fairq, tmp_path):
    file = tmp_path / "world.svg"
    assert fairq("audit", "sfq", "--replay", "world:7", "--timeline", file)[0] == 0
    assert "slants of" not in file.read_text()
