"""Figures: readable at every size on a light and a dark ground, chosen by the shape of the data."""

import hashlib
import math
import os
import random
import re
from types import SimpleNamespace

import kept
import matplotlib
import numpy as np
import pytest
from matplotlib import colors, rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text

import fairq as package
from fairq import figures
from fairq.cli import options
from fairq.figures import axis_units, chosen, text
from fairq.figures.sheet import GROUND
from fairq.figures.style import COLOURS, COLOURS_DARK

LONG = "a very long name of a queue, fq_codel(target=250us, interval=5ms, quantum=1514B)"
MANY = [f"{LONG} {number}" for number in range(30)]
HARD = ["$x_1$ \\frac", "_hidden", "", "a$b", "<&\"'>", LONG]


def ends(rows, *columns, share=0.1):
    """The rows with the ends of intervals around the columns."""
    for row in rows:
        for column in columns:
            if row[column] is not None:
                row |= {f"{column}_low": row[column] * (1 - share), f"{column}_high": row[column] * (1 + share)}
    return rows


def comparison(queues=("fifo", "fq_codel", "cake"), flows=("cubic", "bbr"), rtts=(0.04,), seeds=10, buffers=("1BDP",)):
    """Rows of a comparison, with zeros, values that do not exist, and small beside large ones."""
    chance = random.Random(1)
    rows = [
        {"queue": queue, "host_queue": None, "buffer": buffer, "rtt_s": rtt, "flow": flow, "seeds": seeds,
         "share": (share := chance.random()), "goodput_bit_per_s": share * 1e8,
         "queueing_s_mean": 0.0 if flow == flows[-1] else chance.random() * 0.03,
         "loss": None if queue == queues[-1] else share * 2e-3}
        for queue in queues for buffer in buffers for rtt in rtts for flow in flows
    ]  # fmt: skip
    return ends(rows, "share", "goodput_bit_per_s", "queueing_s_mean", "loss") if seeds > 1 else rows


def settings(count, flows=("file", "call")):
    known = [("target", ["1ms", "5ms", "20ms", "100ms"]), ("ecn", ["true", "false"]), ("quantum", ["300B", "9000B"])]
    known += [(f"setting_of_a_long_name_{number}", [LONG, "ramp", "step"]) for number in range(20)]
    rows = [
        {"setting": name, "value": value, "flow": flow, "is_default": at == 1, "seeds": 10, "share": 0.5 / (at + 1),
         "queueing_s_mean": 0.003 * (at + 1), "loss": 0.001 * at}
        for name, values in known[:count] for at, value in enumerate(values) for flow in flows
    ]  # fmt: skip
    return ends(rows, "share", "queueing_s_mean", "loss")


def alone(count=300):
    """Samples of a flow by itself, in short phases."""
    phases = (
        "startup",
        "drain",
        "probe_bw_down",
        "probe_bw_cruise",
        "probe_bw_refill",
        "probe_bw_up",
        "probe_rtt",
        None,
    )
    return [
        {"time_s": 0.05 * at, "throughput_bit_per_s": 2e7 * min(1, at / 40), "flight_bytes": 1000 * at,
         "window_bytes": None if at < 3 else 2000 * at, "pacing_bit_per_s": 2.5e7, "rtt_s": 0.1 + 0.001 * (at % 9),
         "phase": phases[at // 20 % len(phases)]}
        for at in range(count)
    ]  # fmt: skip


def packets(disciplines, flows, count):
    chance = random.Random(2)
    return [
        {"discipline": discipline, "flow": flow, "time_s": 0.01 * at,
         "delay_s": None if at % 50 == 3 else (0.001 + 0.05 * chance.random() ** 3) * (turn + 1)}
        for turn, discipline in enumerate(disciplines) for flow in flows for at in range(count)
    ]  # fmt: skip


def candidates(count):
    chance = random.Random(3)
    rows = [{"candidate": f"{queue} {at} BDP", "utilisation": 0.93 + 0.06 * chance.random(),
             "queueing_s_p99": 0.003 + 0.05 * chance.random() ** 2}
            for at in range(count) for queue in [["fifo", "fq_codel", "cake", "codel"][at % 4]]]  # fmt: skip
    return ends(rows, "utilisation", "queueing_s_p99", share=0.01)


def samples(points, flows, seeds=1, count=30):
    chance = random.Random(4)
    none = dict.fromkeys(
        ("flow", "link", "direction", "throughput_bit_per_s", "window_packets", "rtt_s", "held_packets")
    )
    rows = []
    for point in points:
        for seed in range(seeds):
            for at in range(count):
                common = {**none, "policy": point, "seed": seed, "time_s": float(at)}
                rows += [{**common, "flow": flow, "throughput_bit_per_s": 9e5 * chance.random(),
                          "rtt_s": chance.random(),
                          "window_packets": 9 * chance.random()} for flow in flows]  # fmt: skip
                rows += [{**common, "link": "a", "direction": direction, "held_packets": 20 * chance.random()}
                         for direction in ("forward", "reverse")]  # fmt: skip
    return rows


def theory(points, flows):
    return [
        {"policy": point, "flow": flow, "throughput_bit_per_s": 3e5 * (at + 1), "max_min_bit_per_s": 3.1e5 * (at + 1),
         "mathis_bit_per_s": 2e5, "padhye_bit_per_s": None if at else 1e5, "delay_bound_s": 0.5 if at else None,
         "delay_s_mean": 0.1, "delay_s_p99": 0.2, "delay_s_max": 0.4}
        for point in points for at, flow in enumerate(flows)
    ]  # fmt: skip


def journeys(flows, count):
    """Packets of flows that take turns, with drops, marks, and one that waits at the end."""
    rows = []
    for serial in range(count):
        arrived, turn = 0.011 * serial * (1 if serial % 7 else 0.9), serial % 9
        began = None if turn == 4 or serial == count - 1 else 0.012 * serial + 0.05
        rows.append({"serial": serial, "flow": flows[serial % len(flows)], "packet_bytes": 1500, "arrived_s": arrived,
                     "began_s": began, "sent_s": began and began + 0.012, "fluid_s": began and began + 0.02,
                     "start": 1500.0 * serial, "finish": 1500.0 * (serial + 1),
                     "dropped_s": arrived if turn == 4 else None,
                     "marked": int(turn == 6)})  # fmt: skip
    return rows


def fluid(flows, count):
    return [{"time_s": 0.012 * at, "flow": flow, "served_bytes": 1500.0 * at / len(flows)}
            for at in range(count) for flow in flows]  # fmt: skip


def scenes(count):
    return [
        {"scene": f"scene_{scene}", "shows": f"what is sent when nothing is lost, then something is: {LONG}",
         "rounds": [{"round": at, "window_packets": None if scene == 1 else 1 + at % 20,
                     "pace_packets_per_s": 100.0 + at,
                     "rtt_s": 0.1, "sent": at % 20, "lost": int(at % 20 == 0), "marked": int(at % 33 == 0),
                     "threshold_packets": 10 if scene % 2 else None} for at in range(60)]}
        for scene in range(count)
    ]  # fmt: skip


def grid(across, up, flows):
    rows = [{"rate": x, "buffer": y, "flow": flow, "queueing_s_mean": 0.001 * (i + 1) * (j + 1), "seeds": 5}
            for i, x in enumerate(across) for j, y in enumerate(up) for flow in flows]  # fmt: skip
    return ends(rows, "queueing_s_mean")


def cells(policies, sources, quantities):
    chance = random.Random(5)
    rows = []
    for quantity in quantities:
        for policy in policies:
            for at, source in enumerate(sources):
                measured = None if at == 3 else chance.random() * 10 ** (at % 3)
                verdict = ("agrees", "differs", "undecided", "beyond", "unreadable")[at % 5]
                low, high = (None, None) if measured is None else (measured - 2, measured + 2)
                rows.append({"policy": policy, "source": source, "quantity": quantity, "measured": measured, "low": low,
                             "high": high, "published": None if at == 2 else chance.random(),
                             "verdict": verdict})  # fmt: skip
    return rows


def curves(names, count=20):
    return {name: [(float(x), float((x * (at + 1)) % 7)) for x in range(1, count)] for at, name in enumerate(names)}


QUANTITIES = {f"quantity_{at}": f"quantity {at} ({'s' if at == 1 else 'packets'})" for at in range(5)}
PAPER = SimpleNamespace(FTPS=3, WINDOW=5, DELTAS={"FQ delta=0": 0.0, "FQ delta=P": 1.0})
POINT = {"policy": "FQ delta=0", "measured": 2.0, "low": 1.0, "high": 3.0}

KINDS = {
    "comparison": lambda style: figures.compared(comparison(), "What each flow gets", style=style),
    "comparison of many": lambda style: figures.compared(comparison(MANY, MANY[:5]), LONG * 4, style=style),
    "comparison of hard names": lambda style: figures.compared(comparison(HARD, HARD[:3]), "$a and $b", style=style),
    "comparison of 30 flows": lambda style: figures.compared(comparison(["fifo"], MANY), "many flows", style=style),
    "comparison of one seed": lambda style: figures.compared(comparison(seeds=1), "one seed", style=style),
    "comparison over round trips": lambda style: figures.compared(
        comparison(rtts=(0.005, 0.02, 0.08, 0.32), queues=MANY[:3]), "over the round trip", style=style),
    "comparison over buffers": lambda style: figures.compared(
        comparison(buffers=("0.5BDP", "1BDP", "2BDP"), flows=MANY[:9]), "over the buffer", style=style),
    "settings": lambda style: figures.effects(settings(4), "fq_codel: what its settings do", style=style),
    "one setting": lambda style: figures.effects(settings(1, [None]), "one setting", style=style),
    "many settings": lambda style: figures.effects(settings(20, MANY[:2]), LONG, style=style),
    "alone": lambda style: figures.baseline(alone(), "bbr3 on 20 Mbit/s and 100 ms", style=style),
    "alone, without values": lambda style: figures.baseline(
        [{"time_s": 0.1, "throughput_bit_per_s": 0.0}, {"time_s": 0.2, "throughput_bit_per_s": None}], "", style=style),
    "delays": lambda style: figures.delays_over_time(
        packets(("fifo", "fq"), ("call", "file", "web"), 900), ["discipline"], ["flow"], "delays", style=style),
    "delays of many": lambda style: figures.delays_over_time(
        packets(MANY[:9], MANY, 30), ["discipline"], ["flow"], LONG, style=style),
    "distribution": lambda style: figures.distribution(
        packets(("fifo", "fq"), ("call", "file", "web"), 900), ["discipline"], ["flow"], "delays", style=style),
    "distribution of many": lambda style: figures.distribution(
        packets(MANY[:9], MANY, 30), ["discipline"], ["flow"], LONG, style=style),
    "distribution of one": lambda style: figures.distribution(
        [{"delay_s": 0.0}, {"delay_s": None}], [], [], "nearly nothing", style=style),
    "trade-off": lambda style: figures.trade_off(
        candidates(8), "utilisation", "queueing_s_p99", "candidate", "which queue?", least=0.9,
        winner=candidates(8)[2]["candidate"], style=style),
    "trade-off of many": lambda style: figures.trade_off(
        candidates(40), "utilisation", "queueing_s_p99", "candidate", "which queue?", style=style),
    "trade-off of alike": lambda style: figures.trade_off(
        [{"candidate": name, "utilisation": 0.5, "queueing_s_p99": 0.0} for name in HARD], "utilisation",
        "queueing_s_p99", "candidate", "all alike", style=style),
    "over time": lambda style: figures.over_time(samples(("FIFO", "FQ"), ("a", "b"), 3), ["policy"], "t", style=style),
    "over time, one point": lambda style: figures.over_time(samples(("FQ",), ("a", "b")), [], "one point", style=style),
    "over time of many": lambda style: figures.over_time(samples(MANY[:14], MANY, 1, 5), ["policy"], LONG, style=style),
    "stretches over time": lambda style: figures.over_time(
        [{**row, "rtt_s_min": 0.4 * row["rtt_s"], "rtt_s_max": 3 * row["rtt_s"]}
         for row in samples(MANY[:6], ("a", "b", "c"), 1, 100) if row["flow"]], ["policy"], "",
        quantities=["rtt_s"], names=["x", "b"], caption="curve: mean of 1 s; band: least and greatest", style=style),
    "over time and theory": lambda style: figures.over_time(
        samples(("FIFO", "FQ"), MANY[:12]), ["policy"], "t", theory(("FIFO", "FQ"), MANY[:12]), style=style),
    "shares": lambda style: figures.shares(theory(("FIFO", "FQ"), ("a", "b")), ["policy"], "shares", style=style),
    "shares of many": lambda style: figures.shares(theory(MANY[:9], MANY), ["policy"], LONG, style=style),
    "scenes": lambda style: figures.scenes(scenes(5), "cubic, driven alone", style=style),
    "many scenes": lambda style: figures.scenes(scenes(14), LONG, style=style),
    "map": lambda style: figures.of_rows(
        grid(["1Mbit/s", "2 Mbit/s", "50Mbit/s"], ["10ms", "20 ms"], ["a", "b"]), ["rate", "buffer"],
        ["queueing_s_mean"], "a map", series="flow", style=style),
    "map of flows far apart": lambda style: figures.of_rows(
        [{**row, "goodput_bit_per_s": (25e6 if row["flow"] == "upload" else 8e4) * (1 + at % 5)}
         for at, row in enumerate(grid(["1Mbit/s", "2 Mbit/s"], ["10ms", "20 ms", "40ms"], ["upload", "call"]))],
        ["rate", "buffer"], ["goodput_bit_per_s"], "a map", series="flow", style=style),
    "large map": lambda style: figures.of_rows(
        grid([f"{at}Mbit/s" for at in range(1, 40)], list(range(1000, 1030)), MANY), ["rate", "buffer"],
        ["queueing_s_mean"], LONG, series="flow", style=style),
    "zeros and None": lambda style: figures.of_rows(
        [{"q": q, "flow": flow, "loss": 0.0, "queueing_s_mean": None} for q in "ab" for flow in "cd"], ["q"],
        ["loss", "queueing_s_mean"], "nothing", series="flow", style=style),
    "zeros over a number": lambda style: figures.of_rows(
        [{"q": q, "flow": flow, "loss": 0.0, "queueing_s_mean": None} for q in (1, 2, 3) for flow in "cd"], ["q"],
        ["loss", "queueing_s_mean"], "nothing", series="flow", style=style),
    "differences": lambda style: figures.bars(
        [{"pair": name, "difference_bit_per_s": value, "difference_bit_per_s_low": value - 2e6,
          "difference_bit_per_s_high": value + 2e6} for name, value in (("a", -5e6), ("b", 3e6))],
        ["difference_bit_per_s"], ["pair"], None, "below zero", style=style),
    "published": lambda style: figures.published_beside_measured(
        cells([f"JK/FCFS {at}" for at in range(6)], [str(at) for at in range(1, 9)], QUANTITIES), "a table", QUANTITIES,
        style=style),
    "published of long names": lambda style: figures.published_beside_measured(
        cells([""], ["FQ-CoDel", "Rainbow FQ", "DropTail", "V-WFQ", "CSFQ", "SFB", "RED", "FRED"], QUANTITIES),
        "a table", QUANTITIES, "discipline", style=style),
    "by source": lambda style: figures.by_source(
        cells(MANY[:6], [str(at) for at in range(16)], ["share"]), {"one": MANY[:4], "other": MANY[4:6], "none": ["x"]},
        "flow", "share (%)", "a figure", {str(at): 3.0 for at in range(16)}, "ideal", log=True, style=style),
    "by number": lambda style: figures.by_number(
        {f"rate {at} (kbit/s)": {"FQ": cells(["FQ"], ["50", "60", "100", "800"], ["q"])} for at in range(2)},
        "connections", "a figure", "rate 0 (kbit/s)", style=style),
    "delay curve": lambda style: figures.delay_curve(
        PAPER, [POINT | {"source": f"rho {share}"} for share in (0.1, 0.5)], style=style),
    "curves below each other": lambda style: figures.curves_below_each_other(
        curves(["a", LONG]), "time (s)", "waiting (packets)", "a figure", style=style),
    "curves and points": lambda style: figures.curves_and_points(
        curves(["a", LONG, "c"]), {"published": (3.0, 2.0)}, "flows", "memory (kB)", "a figure", style=style),
    "steps": lambda style: figures.steps(
        {f"panel {at}": curves(["a", LONG]) for at in range(5)}, 2, "time (s)", "layers", "a figure", style=style),
    "bars of panels": lambda style: figures.bars_of_panels(
        {"time (s)": {"a": {"slow": 1.0, "fast": 0.0}, "b": {"slow": 9.0}}, "loss (%)": {"a": {"all": 2.0}}},
        "a figure", style=style),
    "choices": lambda style: figures.curves_of_choices(
        "a figure", curves(["a", LONG]), "rate of one (fair shares)", "gain", 1.0, style=style),
    "answers": lambda style: figures.answers(
        curves(["a", LONG]), "of the others", "best rate", "a figure", style=style),
    "payoffs": lambda style: figures.payoffs(
        "a figure", {f"{queue}: throughput": [[0.5, -0.1], [0.2, 1.0]] for queue in "abcdef"}, ["Reno", LONG], 3,
        style=style),
    "timeline": lambda style: figures.timeline(
        journeys(("a", "b"), 24), "packets on a line", fluid=fluid(("a", "b"), 30), names=("b", "a"),
        caption="the first run, seed 1", style=style),
    "timeline of many": lambda style: figures.timeline(
        journeys(MANY, 300), LONG, fluid=fluid(MANY, 100), span=(0.5, 3.0), style=style),
    "timeline of hard names": lambda style: figures.timeline(journeys(HARD, 30), "$a and $b", style=style),
    "timeline of an audit": lambda style: figures.timeline(
        journeys(("flow 0", "flow 1", "flow 2"), 30), "an audit", outlined=(3,), style=style),
    "timeline of one packet": lambda style: figures.timeline(
        [{"flow": "a", "arrived_s": 1.0, "packet_bytes": 40}], "one", style=style),
    "ways": lambda style: figures.ways(
        "a figure", {f"queue {at}": [[(0.1, 0.2), (0.4, 0.3)], [(0.5, 0.1), (0.4, 0.3)]] for at in range(4)}, "one",
        "other", style=style),
}  # fmt: skip

STYLES = {"paper": ("paper", False), "dark page": ("page", True)}
STYLES_AT_NIGHT = {"page": ("page", False), "slide": ("slide", False), "dark paper": ("paper", True)}
"""The sizes and grounds of every figure: each of 80 mm, 1280 pixels, light and dark is seen by day."""


class Drawn:
    """A figure as it is seen: each text with its box, and the picture."""

    def __init__(self, figure, monkeypatch):
        self.figure = figure
        self.texts = []
        draw = Text.draw

        def recorded(one, renderer):
            if one.get_visible() and one.get_text().strip():
                self.texts.append((one, one.get_window_extent(renderer)))
            draw(one, renderer)

        with monkeypatch.context() as patch:
            patch.setattr(Text, "draw", recorded)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
        self.picture = np.asarray(canvas.buffer_rgba())[:, :, :3].astype(np.uint32)

    def overlaps(self):
        """Pairs of texts that touch."""
        found = []
        for at, (one, box) in enumerate(self.texts):
            for other, beside in self.texts[:at]:
                wide = min(box.x1, beside.x1) - max(box.x0, beside.x0)
                high = min(box.y1, beside.y1) - max(box.y0, beside.y0)
                if wide > 0.5 and high > 0.5:
                    found.append((one.get_text(), other.get_text()))
        return found

    def outside(self):
        """Texts that leave the figure."""
        page = self.figure.bbox
        return [one.get_text() for one, box in self.texts
                if box.x0 < -0.5 or box.y0 < -0.5 or box.x1 > page.x1 + 0.5 or box.y1 > page.y1 + 0.5]  # fmt: skip

    def small(self):
        """Texts of less than 6 points."""
        return [one.get_text() for one, _ in self.texts if one.get_size() < 6]

    def pale_texts(self):
        """Texts whose contrast with what is behind them is below 4.5."""
        found = []
        height = self.picture.shape[0]
        packed = self.picture @ np.array([1 << 16, 1 << 8, 1], np.uint32)
        for one, box in self.texts:
            part = packed[
                max(0, height - round(box.y1)) : height - round(box.y0), max(0, round(box.x0)) : round(box.x1)
            ]
            seen, counts = np.unique(part, return_counts=True)
            if len(seen) and figures.contrast(colors.to_hex(one.get_color()), f"#{seen[counts.argmax()]:06x}") < 4.5:
                found.append(one.get_text())
        return found

    def pale_marks(self):
        """Colours of marks whose contrast with the ground is below 4.5; a ground may be pale."""
        ground = colors.to_hex(self.figure.get_facecolor())
        found = set()
        for axes in self.figure.axes:
            of_keys = [one for legend in [axes.get_legend()] if legend for one in legend.legend_handles]
            for one in [*axes.lines, *axes.patches, *axes.collections, *of_keys]:
                # the lines between the colours of a colour bar are a collection of none
                is_empty = isinstance(one, LineCollection) and not one.get_segments()
                if one.get_gid() != GROUND and one.get_visible() and not is_empty:
                    contrasts = [figures.contrast(colour, ground) for colour in _colours(one)]
                    if contrasts and max(contrasts) < 4.5:
                        found.add((type(one).__name__, *_colours(one)))
        return found

    def panels(self):
        return sum(axes.get_visible() and axes.get_label() != "<colorbar>" for axes in self.figure.axes)


def _colours(one):
    """The opaque colours that a mark is seen by."""
    if isinstance(one, LineCollection):
        every = list(one.get_colors())
    elif hasattr(one, "get_edgecolor"):
        every = [*colors.to_rgba_array(one.get_edgecolor()), *colors.to_rgba_array(one.get_facecolor())]
    elif one.get_linestyle() == "None":
        every = [colors.to_rgba(each) for each in (one.get_markeredgecolor(), one.get_markerfacecolor())]
        every = every if one.get_marker() not in ("", "None", None) else []
    else:
        every = [colors.to_rgba(one.get_color())]
    return [colors.to_hex(colour) for colour in every if colour[3] == 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "dark"), STYLES.values(), ids=STYLES)
def test_every_figure_can_be_read(kind, size, dark, monkeypatch):
    can_be_read(kind, figures.style(size, dark=dark), monkeypatch)


def can_be_read(kind, style, monkeypatch):
    figure = KINDS[kind](style)
    drawn = Drawn(figure, monkeypatch)
    assert math.isclose(figure.get_figwidth() * 72, style.width) and drawn.texts
    assert drawn.overlaps() == []
    assert drawn.outside() == []
    assert drawn.small() == []
    assert drawn.pale_texts() == []
    assert drawn.pale_marks() == set()
    assert 1 <= drawn.panels() <= 12


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "dark"), STYLES_AT_NIGHT.values(), ids=STYLES_AT_NIGHT)
def test_every_figure_can_be_read_in_the_other_styles(kind, size, dark, monkeypatch):
    can_be_read(kind, figures.style(size, dark=dark), monkeypatch)


def test_the_checks_of_figures_find_what_is_wrong(monkeypatch):
    figure = Figure(figsize=(4, 3), facecolor="white")
    panel = figure.subplots()
    panel.set_xticks([0, 0.01, 1], ["label one", "label two", "far"])
    panel.plot([0, 1], [0, 1], color="#999999")
    panel.set_title("small and pale", fontsize=5, color="#aaaaaa")
    figure.text(0.95, 0.5, "leaves the figure")
    drawn = Drawn(figure, monkeypatch)
    assert drawn.overlaps() == [("label two", "label one")]
    assert drawn.outside() == ["leaves the figure"]
    assert drawn.small() == ["small and pale"]
    assert drawn.pale_texts() == ["small and pale"]
    assert drawn.pale_marks() == {("Line2D", "#999999")}


def of_axes(*axes):
    """A figure of means over axes of these values."""
    rows = [{}]
    for number, values in enumerate(axes):
        rows = [{**row, f"axis_{number}": value} for row in rows for value in values]
    for at, row in enumerate(rows):
        row["goodput_bit_per_s"] = 1e6 * (at + 1)
    names = [f"axis_{number}" for number in range(len(axes))]
    return figures.of_rows(rows, names, ["goodput_bit_per_s"], "a figure")


def kind_of(figure):
    """Whether a figure is of bars, lines or shades."""
    (panel, *_) = figure.axes
    return "shades" if panel.images else "bars" if panel.patches else "lines"


def test_a_stretch_of_samples_has_a_band_and_its_curve_the_look_of_its_name():
    rows = [{**row, "rtt_s_min": 0.5 * row["rtt_s"], "rtt_s_max": 9.0 if row["time_s"] == 3 else row["rtt_s"]}
            for row in samples([f"{LONG} one", f"{LONG} two"], ["b"]) if row["flow"]]  # fmt: skip
    style = figures.style("paper")
    figure = figures.over_time(rows, ["policy"], "", quantities=["rtt_s"], names=["a", "b"], style=style)
    for panel in figure.axes:
        (band,) = panel.collections
        corners = band.get_paths()[0].vertices
        assert corners[:, 1].max() == 9000 and panel.get_ylim()[1] >= 9000
        assert panel.lines[0].get_color() == style.look(1).colour
        *head, label = panel.get_title(loc="left").splitlines()
        assert head and label == "round trip (ms)", "the label has a line of its own"
    assert [entry.get_text() for entry in figure.axes[1].get_legend().get_texts()] == ["b"]


def test_the_shape_of_the_data_chooses_the_figure():
    names, rates, delays = ["fifo", "fq"], ["1 Mbit/s", "10Mbit/s", "2Mbit/s"], ["10ms", "1 s"]
    assert kind_of(of_axes(names)) == kind_of(of_axes(names, ["a", "b"])) == "bars"
    assert kind_of(of_axes(rates)) == kind_of(of_axes(names, rates)) == kind_of(of_axes([1, 2, 3])) == "lines"
    assert kind_of(of_axes(rates, delays)) == kind_of(of_axes(names, rates, delays)) == "shades"
    # a number that does not vary, and one beside a name, are no axis
    assert kind_of(of_axes(names, ["1 Mbit/s"])) == kind_of(of_axes(["1ms", "auto"])) == "bars"


def test_a_figure_over_numbers_has_them_in_order_and_in_one_unit():
    panel = of_axes(["100 kbit/s", "1Mbit/s", "10 Mbit/s", "2Mbit/s"]).axes[0]
    assert panel.get_xlabel() == "axis 0 (Mbit/s)" and panel.get_title(loc="left") == "goodput (Mbit/s)"
    (line,) = panel.lines
    assert list(line.get_xdata()) == [0.1, 1.0, 2.0, 10.0] and list(line.get_ydata()) == [1.0, 2.0, 4.0, 3.0]
    assert panel.get_xscale() == "log"


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("goodput_bit_per_s", [999_999.0, None], (1e6, "goodput (Mbit/s)")),
        ("goodput_bit_per_s", [0.0], (1.0, "goodput (bit/s)")),
        ("queueing_s_p99", [0.0032], (1e-3, "queueing delay, 99th percentile (ms)")),
        ("rtt_s_mean", [], (1.0, "mean round trip (s)")),
        ("loss", [1e-5], (0.01, "loss (%)")),
        ("jain", [0.9], (1.0, "Jain's index")),
        ("flight_bytes", [15_000], (1e3, "flight (kB)")),
        ("dropped", [7], (1.0, "dropped")),
    ],
)
def test_units_follow_the_largest_value(column, values, expected):
    assert axis_units.scaled(column, values) == expected


def said(figure):
    """All that is written in a figure outside its panels."""
    return " ".join(one.get_text() for one in figure.texts)


def test_the_caption_says_what_is_shown_and_what_is_not():
    assert "mean of 10 seeds; line: its 95 % confidence interval" in said(KINDS["comparison"](figures.PAGE))
    assert "value of one seed, without an interval" in said(KINDS["comparison of one seed"](figures.PAGE))
    assert "mean of 3 seeds; band: least and greatest" in said(KINDS["over time"](figures.PAGE))
    assert "One seed" in said(KINDS["over time, one point"](figures.PAGE))
    assert "20 more curves not shown" in said(figures.lines(
        [{"n": n, "flow": flow, "loss": 0.1} for n in (1, 2) for flow in MANY], ["loss"], "n", ["flow"], [], "t"
    ))  # fmt: skip
    assert "4 more candidates not shown" in said(KINDS["trade-off of many"](figures.PAGE))
    assert "more groups not shown" in said(KINDS["comparison of many"](figures.style("paper")))
    assert "2 more scenes not shown" in said(KINDS["many scenes"](figures.PAGE))


def test_bars_begin_at_zero_and_a_difference_below_zero_is_seen():
    for panel in KINDS["comparison"](figures.PAGE).axes:
        assert panel.get_xlim()[0] == 0
    low, high = KINDS["differences"](figures.PAGE).axes[0].get_xlim()
    assert low < -5 and high > 5


@pytest.mark.parametrize("kind", ["comparison", "over time", "trade-off", "map", "published"])
def test_the_same_table_gives_the_same_bytes(kind):
    for form in ("svg", "png", "pdf"):
        one, other = (figures.drawn(KINDS[kind](figures.style("paper")), form) for _ in range(2))
        assert one == other


KEPT = [name for name in KINDS if not re.search(r"\b(many|large|hard|30|long|alike|far apart)\b", name)]
"""The kinds whose bytes are committed: one of each, and those that look otherwise."""


def test_figures_have_the_bytes_that_are_committed():
    version = f"matplotlib {matplotlib.__version__}"
    committed = (kept.FOLDER / "figures.txt").read_text().splitlines()[0]
    if version != committed and os.environ.get("UPDATE") != "1":
        pytest.skip(f"SKIPPED: the bytes of figures are committed of {committed}, and here is {version}")
    lines = [version, *(f"{digest(kind)} {kind}" for kind in KEPT)]
    kept.hold("figures.txt", lines, "python/tests/test_figures.py -k bytes_that_are_committed")


def digest(kind):
    """Of a figure in SVG. The names of its clipping paths are numbered.

    Matplotlib makes a name of where the solver of the layout puts a panel, and that differs in the
    last bit between processes.
    """
    drawn = figures.drawn(KINDS[kind](figures.style("paper")), "svg").decode()
    names = dict.fromkeys(re.findall(r'<clipPath id="(\w+)"', drawn))
    for at, name in enumerate(names):
        drawn = drawn.replace(f'"{name}"', f'"{at}"').replace(f"(#{name})", f"(#{at})")
    return hashlib.sha256(drawn.encode()).hexdigest()[:32]


def test_a_figure_is_laid_out_once_and_drawn_once_for_each_file(monkeypatch):
    laid, drawn = [], []
    layout, draw = ConstrainedLayoutEngine.execute, Figure.draw
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda engine, figure: laid.append(layout(engine, figure)))
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawn.append(draw(figure, renderer)))
    figure = KINDS["trade-off"](figures.style())
    assert (len(laid), len(drawn)) == (1, 0), "no label had to be thinned"
    png = figures.drawn(figure, "png")
    figures.drawn(figure, "svg")
    figures.svg(figure, "in a page")
    assert (len(laid), len(drawn)) == (1, 2)
    assert figures.drawn(figure, "png") == png, "a file leaves the figure as it was"


def test_a_figure_stands_in_a_page_and_says_what_it_shows():
    from xml.etree import ElementTree

    element = figures.svg(KINDS["comparison"](figures.style(dark=True)), 'shares of "a" & b')
    root = ElementTree.fromstring(element)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("aria-label") == 'shares of "a" & b'
    assert root.get("viewBox") and root.get("width") is None


def simulated(colour, matrix):
    """CIELAB of a colour as an eye without one kind of cone sees it."""
    linear = np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                       for part in colors.to_rgb(colour)])  # fmt: skip
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Machado, Oliveira and Fernandes 2009, severity 1: all cones, none for red, none for green
EYES = [
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
]


@pytest.mark.parametrize(("palette", "dark"), [(COLOURS, False), (COLOURS_DARK, True)])
def test_colours_can_be_told_apart_by_every_eye_and_from_the_ground(palette, dark):
    style = figures.style(dark=dark)
    written = [style.ink, style.faint, *style.verdicts.values()]
    assert all(figures.contrast(colour, style.ground) >= 4.5 for colour in [*palette, *written])
    for matrix in EYES:
        seen = [simulated(colour, matrix) for colour in palette]
        assert min(np.linalg.norm(one - other) for at, one in enumerate(seen) for other in seen[:at]) >= 15


def test_36_looks_are_told_apart_without_colour():
    looks = [figures.PAGE.look(number) for number in range(36)]
    assert len({(look.colour, look.marker) for look in looks}) >= 18
    assert len({(look.colour, str(look.dash)) for look in looks}) == 36
    assert len({(look.marker, str(look.dash)) for look in looks[:6]}) == 6


def test_names_that_are_cut_stay_different():
    short = text.cut_all(MANY, 60, 7)
    assert len(set(short)) == 30 and all(text.width(name, 7) <= 60 for name in short)
    assert text.cut_all(["a", "a", "b"], 60, 7) == ["a", "a", "b"]
    assert text.wrapped("", 60, 7) == []
    assert text.cut("call(rate=100kbit/s)", 60, 7) == "call(rate=…)"


@pytest.mark.parametrize("size", figures.SIZES)
def test_a_title_that_lists_flows_has_whole_items_and_its_line(size):
    """What does not fit is counted, and never cut in its middle."""
    style = figures.style(size)
    flows = ["call(rate=100kbit/s)", "flood(rate=20Mbit/s)", "cubic(size=100kB):4", "bbr:2@80ms"]
    line = "over a line of 10Mbit/s with a round trip of 20ms"
    title = figures.title_of(style, flows, line)
    shown = " ".join(text.wrapped(title, style.width - 1.2 * style.text, style.title, 2))
    assert shown == title and shown.startswith(flows[0]) and shown.endswith(line)
    more = [int(word) for word in title.split() if word.isdigit()]
    assert sum(flow in title for flow in flows) + sum(more) == len(flows)
    assert figures.title_of(style, ["cubic"], line) == f"cubic {line}"


def test_a_size_or_a_ground_without_a_picture_is_refused(refused, dumbbell):
    asked = ["compare", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "cubic"]
    for command in (asked, ["run", dumbbell], ["explain", "cubic"], ["baseline", "cubic"]):
        more = [] if command[0] != "baseline" else ["--rate", "10Mbit/s", "--rtt", "20ms"]
        pictures = ["--plot", "--timeline"] if command[0] == "run" else ["--plot"]
        there, write = " or ".join(pictures), " or ".join(f"{option} FILE" for option in pictures)
        for words in (["--for", "page"], ["--for", "paper"], ["--dark"]):
            line = refused(*command, *more, *words)
            assert line == f"fairq: {' '.join(words)}: there is no picture without {there}; write {write} as well\n"


def test_the_options_name_the_sizes_that_there_are(fairq, dumbbell, tmp_path):
    assert set(options.SIZES) == set(figures.SIZES)
    for size, wide in (("paper", 80 / 25.4 * 72), ("slide", 960), ("page", 960)):
        path = tmp_path / f"{size}.svg"
        status, _, err = fairq(
            "run", dumbbell, "--set", "measure.duration=5 s", "--plot", path, "--for", size, "--dark"
        )
        assert (status, err) == (0, "")
        drawn = path.read_text()
        assert f'width="{wide:.6f}'.rstrip("0").rstrip(".")[:12] in drawn and "#15181d" in drawn


def test_a_plot_without_samples_is_of_means_over_the_axes(fairq, tmp_path):
    from pathlib import Path

    scenario = Path(__file__).resolve().parents[2] / "scenarios" / "dumbbell.toml"
    for more, seen in (((), "mean queueing delay (s)"), (("--series", "1 s"), "packets held")):
        path = tmp_path / "x.svg"
        status, _, err = fairq("run", scenario, "--set", "measure.duration=20 s", "--plot", path, *more)
        assert (status, err) == (0, "")
        drawn = path.read_text()
        assert f"<!-- {seen} -->" in drawn and ("<!-- time (s) -->" in drawn) == bool(more)


def test_packets_that_were_recorded_are_plotted_as_the_distribution_of_their_delays(dumbbell):
    result = package.run(dumbbell, set={"measure.duration": "5 s"}, packets="telnet", series="1s")
    (panel,) = figures.of_result(result).axes
    assert panel.get_xlabel().startswith("delay (")
    assert panel.get_ylim()[1] >= 100
    assert len(figures.of_result(result, samples=True).axes) > 1


def test_what_disciplines_show_is_plotted_over_time_beside_samples():
    link = {"name": "line", "from": "a", "to": "b", "rate": "1 Mbit/s", "queue": "red"}
    flow = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "transport": "reno", "start": "0 s"}
    scenario = {"edition": 2, "measure": {"duration": "5 s"}, "links": [link], "flows": [flow]}
    result = package.run(scenario, workers=1, series="100 ms", states=True)
    held, average = figures.of_result(result, quantities=["held_packets", "average_queue"]).axes
    assert average.get_title(loc="left") == "average queue"
    curve = average.get_lines()[0]
    rows = [row for row in result.states if row.quantity == "average_queue" and row.direction == "forward"]
    assert list(curve.get_xdata()) == [row.time_s for row in rows] and len(rows) == 50
    assert list(curve.get_ydata()) == [row.value for row in rows] and max(curve.get_ydata()) > 0
    assert held.get_lines()


def test_what_each_leaf_of_a_tree_holds_has_a_panel():
    queue = 'ets(strict=2, quanta=[], map=[1, 1, 1, 1, 1, 1, 1, 0], queues=["fq_codel", "fifo + 20packets"])'
    link = {"name": "line", "from": "a", "to": "b", "rate": "1 Mbit/s", "queue": queue}
    flow = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "transport": "reno", "start": "0 s"}
    scenario = {"edition": 2, "measure": {"duration": "5 s"}, "links": [link], "flows": [flow]}
    result = package.run(scenario, workers=1, series="100 ms", states=True)
    panel = next(axes for axes in figures.of_result(result).axes if axes.get_title(loc="left") == "packets")
    most = [max(curve.get_ydata()) for curve in panel.get_lines()]
    assert len(most) == 4 and 10 < most[1] <= 20 and most[0] == 0, "the two bands of both directions"


def test_a_comparison_over_a_number_has_the_curves_of_all_flows_in_one_panel():
    rows = comparison(buffers=("0.5BDP", "1BDP", "2BDP", "4BDP"))
    panels = figures.compared(rows, "asked").axes
    assert len(panels) == len(chosen.COMPARED)
    assert {len(panel.lines) for panel in panels[:3]} == {3 * 2} and len(panels[3].lines) == 2 * 2
    assert {panel.get_xscale() for panel in panels} == {"log"}
    # more curves than have looks: each flow in a panel for its queue
    queues = [f"queue {number}" for number in range(6)]
    many = figures.compared(comparison(queues, buffers=("1BDP", "2BDP", "4BDP")), "", quantities=["share"])
    assert [len(panel.lines) for panel in many.axes] == [2] * 6


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (["5ms", "10ms", "20ms"], "log"),
        ([0.25, 0.5, 1, 2, 4], "log"),
        ([1, 2, 3, 4], "linear"),
        ([1, 8], "linear"),
        ([0, 1, 8], "linear"),
        ([0.175, 0.35, 0.7, 0.85, 0.925], "linear"),
        (list(range(1, 31)), "log"),
    ],
)
def test_values_that_are_evener_by_ratios_have_a_logarithmic_axis(values, scale):
    assert of_axes(values).axes[0].get_xscale() == scale


def test_intervals_have_no_caps_and_marks_beside_each_other_are_said():
    """A cap on the edge of a circle makes it look like a square."""
    rows = comparison(buffers=("1BDP", "2BDP", "4BDP"))
    for figure in (figures.compared(rows, ""), figures.compared(comparison(), ""), figures.effects(settings(1), "")):
        drawn = [container for panel in figure.axes for container in panel.containers if hasattr(container, "has_xerr")]
        assert drawn and not any(container.lines[1] for container in drawn)
    assert "marks at one value stand side by side" in caption(figures.compared(rows, ""))
    assert "side by side" not in caption(
        figures.compared(comparison(["fifo"], ["bbr"], buffers=("1BDP", "2BDP", "4BDP")), "")
    )


def test_effects_begin_with_the_share_and_have_logarithmic_multiples():
    panels = figures.effects(settings(1), "").axes
    assert [panel.get_title(loc="left") for panel in panels] == ["share (%)", "mean queueing delay (ms)", "loss (%)"]
    assert {panel.get_xscale() for panel in panels} == {"log"}


def caption(figure):
    return " ".join(each.get_text() for each in figure.texts)


NOTEBOOK = """
font.family: monospace
savefig.bbox: tight
svg.fonttype: none
axes.formatter.limits: 0,0
xtick.minor.visible: True
"""


def test_no_setting_of_matplotlib_from_the_environment_counts(process, dumbbell, tmp_path):
    (tmp_path / "notebook").mkdir()
    (tmp_path / "notebook" / "matplotlibrc").write_text(NOTEBOOK)
    run = ("run", dumbbell, "--set", "measure.duration=2s", "--plot")
    assert process(*run, tmp_path / "plain.svg").returncode == 0
    notebook = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                "MATPLOTLIBRC": str(tmp_path / "notebook")}  # fmt: skip
    told = process(*run, tmp_path / "other.svg", env=notebook)
    assert (told.returncode, "Traceback" in told.stderr) == (0, False)
    assert (tmp_path / "other.svg").read_bytes() == (tmp_path / "plain.svg").read_bytes()


def test_a_figure_is_the_same_among_the_settings_of_a_program_and_leaves_them(monkeypatch):
    before = figures.drawn(KINDS["comparison"](figures.PAGE), "svg")
    with rc_context({"font.family": "monospace", "savefig.bbox": "tight", "axes.facecolor": "red"}):
        assert figures.drawn(KINDS["comparison"](figures.PAGE), "svg") == before
        assert rcParams["axes.facecolor"] == "red"


ROW = {"queue": "fifo", "flow": "a", "share": 0.5, "rtt_s": 0.02}


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: figures.over_time([], [], ""), "rows: there are none"),
        (lambda: figures.compared([], ""), "rows: there are none"),
        (lambda: figures.of_result([], ["queue"]), "rows: there are none"),
        (lambda: figures.of_result([ROW], ["queues"]), "axes: the rows have no column queues; did you mean queue?"),
        (lambda: figures.of_rows([ROW], ["b"], ["share"], ""), "axes: the rows have no column b; there are queue, f"),
        (lambda: figures.lines([ROW], ["share"], "rtt", [], [], ""), "across: the rows have no column rtt"),
        (lambda: figures.distribution([ROW], [], [], ""), "value: the rows have no column delay_s"),
        (lambda: figures.bars([3], ["share"], [], None, ""), "rows: 3 is no row"),
        (lambda: figures.style("poster"), "size: a figure is for no poster; write paper, slide, page"),
    ],
)
def test_a_figure_names_the_rows_and_columns_that_are_not_there(draw, says):
    with pytest.raises(package.UsageError, match=re.escape(says)):
        draw()


def test_delays_beside_theory_have_one_scale_and_colours_mean_one_thing():
    rows = theory(("FIFO", "FQ"), ("a", "b"))
    for row in rows[2:]:
        row |= {"delay_s_mean": 0.004, "delay_s_p99": 0.008, "delay_s_max": 0.012, "delay_bound_s": 0.02}
    figure = figures.over_time(samples(("FIFO", "FQ"), ("a", "b")), ["policy"], "t", rows)
    panels = [axes for axes in figure.axes if axes.get_visible() and axes.get_xscale() == "log"]
    assert len(panels) == 2 and panels[0].get_xlim() == panels[1].get_xlim()
    colour = {legend.get_texts()[at].get_text(): handle.get_color()
              for axes in figure.axes for legend in axes.findobj(Legend)
              for at, handle in enumerate(legend.legend_handles)}  # fmt: skip
    named = [colour[name] for name in ("a", "b", "a forward", "a reverse")]
    assert len({*named}) == 4


def test_a_curve_over_time_ends_at_a_silence():
    rows = [{"discipline": "fifo", "time_s": at, "delay_s": 0.01} for at in [*range(10), *range(60, 70)]]
    figure = figures.delays_over_time(rows, ["discipline"], [], "silence")
    (line,) = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 10]
    assert np.isnan(line.get_ydata()).sum() == 1
    assert figures.delays_over_time(rows[:10], ["discipline"], [], "").axes[0].lines
    # two bins far apart are no curve, where others have the bins between
    bins = [{"discipline": name, "flow": "all", "time_s": at, "delay_s": 0.01} for name in "ab" for at in range(20)]
    bins += [{"discipline": name, "flow": "one", "time_s": at, "delay_s": 0.01} for name in "ab" for at in (1, 15)]
    figure = figures.delays_over_time(bins, ["discipline"], ["flow"], "t")
    assert [np.isnan(line.get_ydata()).sum() for axes in figure.axes for line in axes.lines] == [0, 0, 1, 1]


def test_panels_of_long_names_are_told_apart():
    flows = [f"10.0.0.{at} port 50000 > 203.0.113.{at} port 443, tcp, a very long name of a flow" for at in (1, 2)]
    rows = [{"discipline": "fifo", "flow": flow, "time_s": at, "delay_s": 0.01} for flow in flows for at in range(9)]
    for size in figures.SIZES:
        figure = figures.delays_over_time(rows, ["discipline"], ["flow"], "t", style=figures.style(size))
        titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
        assert len({*titles}) == 2


@pytest.mark.parametrize(("delays", "scale", "begins"), [
    ([0.001 + 0.00001 * at for at in range(99)] + [0.02], "log", None),
    ([0.1 + 0.00001 * at for at in range(99)], "linear", 0.09),
    ([0.001 * (1 + at % 6) for at in range(99)], "linear", 0),
])  # fmt: skip
def test_a_distribution_is_no_upright_line(delays, scale, begins):
    figure = figures.distribution([{"delay_s": delay} for delay in delays], [], [], "")
    panel = figure.axes[0]
    assert panel.get_xscale() == scale
    assert begins is None or (panel.get_xlim()[0] == 0) == (begins == 0)


def test_rounds_are_whole():
    figure = figures.scenes(scenes(2), "cubic, driven alone")
    for axes in figure.axes:
        assert all(float(tick).is_integer() for tick in axes.get_xticks())


def test_a_bare_figure_leaves_title_and_caption_to_the_text_around(monkeypatch):
    drawn = Drawn(KINDS["comparison"](figures.style("paper", bare=True)), monkeypatch)
    said = " ".join(one.get_text() for one, _ in drawn.texts)
    assert "What each flow gets" not in said and "Bar: mean" not in said and "fq_codel" in said
    assert drawn.figure.get_label() == "What each flow gets" and drawn.overlaps() == [] and drawn.outside() == []


def test_a_map_of_flows_far_apart_has_a_scale_for_each():
    figure = KINDS["map of flows far apart"](figures.PAGE)
    images = [image for axes in figure.axes for image in axes.get_images() if axes.get_label() != "<colorbar>"]
    assert len({image.norm.vmax for image in images}) == 2
    assert all(max(np.nanmax(image.get_array()), 0) == image.norm.vmax for image in images)
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_images()]
    assert any("Mbit/s" in title for title in titles) and any("kbit/s" in title for title in titles)
    alike = KINDS["map"](figures.PAGE)
    assert len({image.norm.vmax for axes in alike.axes for image in axes.get_images()}) == 1
