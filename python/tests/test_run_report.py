"""The report of one run and of an emulation, and what else reads the folder of `--out`."""

import re

import page_checks
import pytest
from test_emulate import FLOW, NETWORK, READY, REPORT, made

import fairq
from fairq import figures
from fairq.emulation.emulation_results import Emulated
from fairq.reports import run_report
from fairq.reports.run_report import Gathered

REASONS = [
    "99.9th percentile of lateness above one packet time (8951 us > 1200 us)",
    "a host had no room for 3 packets",
]
MACHINE = READY | {
    "mtu": 1500, "txqueuelen": 1000, "user_namespace": True,
    "hosts": [{"name": name, "control": control, "ecn": False, "offloads": ["checksum", "tso"], "initcwnd": 10,
               "qdisc": "noqueue"} for name, control in (("left", "cubic"), ("right", "bbr"))],
}  # fmt: skip
BESIDE = [
    {"of": "line reverse", "quantity": "dropped", "emulated": 100, "simulated": 80, "difference": 0.25},
    {"of": "line reverse", "quantity": "jain", "emulated": 1.0, "simulated": None, "difference": None},
]


def saved(folder, result):
    """The folder of `--out`, with its tables."""
    folder.mkdir()
    for name in ("flows", "links", "queues", "series"):
        getattr(result, name).write_parquet(folder / f"{name}.parquet")
    result.write_json(folder / "result.json")
    return folder


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    """The folder of an emulation that is doubtful for two reasons, beside its simulation."""
    _, _, document = made()
    document["emulation"] |= {
        "stamp": {"is_valid": False, "mode": "exact", "verdict": f"doubtful: {'; '.join(REASONS)}",
                  "reasons": [{"of": "lateness", "text": text, "value": 1.0, "limit": 0.0} for text in REASONS]},
        "lateness": REPORT["lateness"] | {"histogram": [[1e-6, 0], [2e-6, 500], [4e-6, 1500], [8e-6, 0]]},
        "machine": MACHINE, "beside": BESIDE,
    }  # fmt: skip
    document["notes"] = [{"code": "machine", "where": "emulation", "text": "no checksum offload"}]
    sample = document["series"][0]
    document["series"] = [sample | {"time_s": step / 10, "rtt_s": 0.05 + step / 1000} for step in range(1, 41)]
    return saved(tmp_path_factory.mktemp("emulated") / "seen", Emulated(document))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """The folder of `fairq run --out`: two points of three seeds, with samples."""
    network = NETWORK | {
        "title": "A <b>line</b>", "measure": {"duration": "2 s", "replications": 3},
        "flows": [FLOW, FLOW | {"name": "two"}],
        "axes": [{"name": "queue", "path": "links.line.queue", "values": ["fq", "fifo"]}],
    }  # fmt: skip
    return saved(tmp_path_factory.mktemp("simulated") / "done", fairq.run(network, series="50ms"))


@pytest.fixture(scope="module")
def page(emulated):
    """The page of the emulation."""
    return fairq.report(emulated).path


def cells(text, caption):
    """The cells of the table called so, as rows."""
    (table,) = re.findall(rf"<caption><span>{caption}</span></caption>(.*?)</table>", text, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]


def test_an_emulation_begins_with_its_stamp_and_every_reason(page, emulated):
    text = page.read_text()
    assert page == emulated.with_suffix(".html")
    first = text[text.index('<h2 id="run"') :]
    (said,) = re.findall(r'<p class="note">(Doubtful: [^<]*)</p>', first)
    assert all(reason.replace(">", "&gt;") in said for reason in REASONS)
    assert "exact mode" in said and "tun" in said
    assert first.index("Doubtful") < first.index("Lines and their queues")
    assert re.findall(r'<h2 id="(\w+)"', text) == ["run", "stamp", "machine", "beside", "results", "time", "made"]
    page_checks.has_whole_names(page)


def test_a_valid_emulation_says_so(tmp_path):
    _, _, document = made()
    text = run_report.report(Gathered(Emulated(document), "seen"))
    assert "<p>Valid: nothing speaks against this run." in text and "Doubtful" not in text
    assert "<h1>seen</h1>" in text and "iperf3 -c right" in text


def test_lateness_machine_and_hosts_are_tables(page):
    text = page.read_text()
    assert cells(text, "2000 packets")[1:] == [
        ["50 %", "10 µs"], ["90 %", "20 µs"], ["99 %", "30 µs"], ["99.9 %", "90 µs"], ["the latest", "200 µs"]
    ]  # fmt: skip
    files = page_checks.files(text)
    late = files["lateness-histogram.csv"]
    assert [(float(row["late_s"]), row["packets"], float(row["packets_percent"])) for row in late] == [
        (2e-6, "500", 25.0), (4e-6, "1500", 75.0)
    ]  # fmt: skip
    facts = dict(cells(text, "Kernel and devices")[1:])
    assert (facts["kernel"], facts["back end"], facts["MTU"]) == ("6.18", "tun", "1500 B")
    assert [row[:4] for row in cells(text, "Hosts")[1:]] == [
        ["left", "cubic", "no", "checksum, tso"], ["right", "bbr", "no", "checksum, tso"]
    ]  # fmt: skip
    assert '<p class="note">emulation: no checksum offload</p>' in text
    assert cells(text, "Emulated and simulated")[1] == ["line reverse", "dropped", "100", "80", "+25.0 %"]


def test_the_tables_of_an_emulation_are_those_of_its_result(page, emulated):
    result = fairq.read_result(emulated)
    files = page_checks.files(page.read_text())
    for name in ("flows", "links", "queues"):
        rows = getattr(result, name)
        assert len(files[f"{name}.csv"]) == len(rows) > 0
        assert list(files[f"{name}.csv"][0]) == list(rows[0])
    assert float(files["flows.csv"][0]["throughput_bit_per_s"]) == result.flows[0]["throughput_bit_per_s"]
    assert len(files["time-rtt_s.csv"]) == 40


def test_a_run_has_intervals_axes_and_curves(simulated, fairq):
    out = simulated.with_name("page.html")
    status, said, _ = fairq("report", simulated, "--out", out)
    assert (status, said) == (0, f"A report of 6 runs.\nWritten: {out}\n")
    text = out.read_text()
    assert re.findall(r'<h2 id="(\w+)"', text) == ["run", "results", "time", "made"]
    assert "A simulation: 2 points, 3 seeds, 2 s each." in text
    assert "<h1>A &lt;b&gt;line&lt;/b&gt;</h1>" in text
    files = page_checks.files(text)
    assert {(row["queue"], row["flow"]) for row in files["flows.csv"]} == {
        (queue, flow) for queue in ("fq", "fifo") for flow in ("bulk", "two")
    }
    row = files["flows.csv"][0]
    assert float(row["throughput_bit_per_s_low"]) <= float(row["throughput_bit_per_s"])
    assert {row["seed"] for row in files["time-throughput_bit_per_s.csv"]} == {"1"}
    assert {row["queue"] for row in files["time-throughput_bit_per_s.csv"]} == {"fq", "fifo"}
    page_checks.has_whole_names(out)


def test_the_same_folder_gives_the_same_bytes(page, emulated):
    again = fairq.report(emulated, out=page.with_name("again.html"))
    assert again.path.read_bytes() == page.read_bytes() and again.runs == 1


def test_a_folder_of_neither_kind_is_one_line_that_names_both(tmp_path, refused):
    (tmp_path / "notes.txt").write_text("x")
    for command in (("report", tmp_path), ("query", tmp_path, "select 1")):
        said = refused(*command)
        assert "neither the store of a study nor the folder of a run" in said and "fairq sweep" in said
    (tmp_path / "result.json").write_text("{}")
    assert "not a result of fairq run" in refused("report", tmp_path)


def test_a_query_reads_an_emulation(emulated):
    pytest.importorskip("duckdb")
    found = fairq.query(emulated, "select flow, count(*), max(rtt_s) from series group by flow")
    assert found.rows == [("left:40000 > right:5201 tcp", 40, pytest.approx(0.09))]
    (row,) = fairq.query(emulated, "select transport, dropped from flows").rows
    assert row == ("tcp", 100)


def test_a_result_of_an_emulation_is_plotted_over_time_and_by_its_means(emulated):
    result = fairq.read_result(emulated)
    over_time = figures.of_result(result)
    assert any(len(line.get_xdata()) == 40 for panel in over_time.axes for line in panel.lines)
    means = figures.of_result(result, samples=False)
    assert any(bar.get_width() == pytest.approx(3.0) for panel in means.axes for bar in panel.patches)


class TestThePage(page_checks.OfAPage):
    """The page is held to what all pages are."""
