"""Tables of results as Python holds them: typed rows, Arrow, and what a prompt and a notebook show."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairq
from fairq import _native
from fairq.core import tables
from fairq.core.results import Row, described, row_class

ROOT = Path(__file__).parents[2]
LINK = {"name": "line", "from": "a", "to": "b", "rate": "1 Mbit/s", "queue": "drr(quantum=300B)"}
FLOW = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "count": 3}
SCENARIO = {
    "edition": 2,
    "measure": {"duration": "2 s", "replications": 2},
    "links": [LINK],
    "flows": [FLOW],
    "axes": [{"name": "speed", "path": "links.line.rate", "values": ["1 Mbit/s", "2 Mbit/s"]}],
}


@pytest.fixture(scope="module")
def result() -> fairq.Result:
    return fairq.run(SCENARIO, workers=1, packets="file", series="100 ms", states=True)


def test_a_row_is_a_mapping_and_has_its_columns_as_attributes(result: fairq.Result) -> None:
    row = result.flows[0]
    assert row["flow"] == row.flow == "file.1"
    assert row.from_ == row["from"] == "a"
    assert row.throughput_bit_per_s_low <= row.throughput_bit_per_s <= row.throughput_bit_per_s_high
    assert dict(row) == result.document["flows"][0]
    assert list(row)[:3] == ["speed", "flow", "from"]
    assert isinstance(row, row_class("flows"))
    assert hash(row) == hash(result.flows[0])
    assert pickle.loads(pickle.dumps(row)) == row
    with pytest.raises(AttributeError, match=r"did you mean goodput_packets\?"):
        row.goodput_packet  # noqa: B018
    with pytest.raises(AttributeError, match="cannot be changed"):
        row.flow = "other"


def test_all_tables_say_what_the_document_says(result: fairq.Result) -> None:
    for name in ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states"):
        table = getattr(result, name)
        assert table == result.document[name], name
        assert [dict(row) for row in table[-2:]] == result.document[name][-2:]
    seeds = [seed for point in result.points for seed in point["seeds"]]
    flows = [row for seed in seeds for row in seed["flows"]]
    assert [{key: row[key] for key in flows[0]} for row in result.by_seed("flows")] == flows
    assert result.by_seed("flows")["seed"] == [1, 1, 1, 2, 2, 2] * 2


def test_columns_are_lists(result: fairq.Result) -> None:
    assert result.queues["discipline_settings"] == ["drr(quantum=300 B)"] * 4
    with pytest.raises(KeyError, match=r"did you mean flow\?"):
        result.flows.column("flw")
    with pytest.raises(IndexError):
        result.flows[100]


def test_frames_have_the_same_values(result: fairq.Result) -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = result.packets
    frame = table.to_polars()
    assert frame.columns == list(table.columns) and frame.height == len(table)
    assert frame["received_s"].to_list() == table["received_s"]
    assert polars.DataFrame(table).equals(frame)
    assert table.to_arrow().column("flow").to_pylist() == table["flow"]
    pandas = result.flows.to_pandas()
    assert list(pandas["throughput_bit_per_s"]) == result.flows["throughput_bit_per_s"]


def test_numbers_cross_without_a_copy(result: fairq.Result) -> None:
    pytest.importorskip("polars")
    table = result.packets
    at = table.columns.index("sent_s")
    assert table.to_polars()["sent_s"]._s.as_single_ptr() == table._native.address(at)


def test_polars_takes_text_as_it_is_kept(result: fairq.Result) -> None:
    """And pyarrow gets text that it can compare, sort and group, which it cannot with that of
    polars."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    table = result.by_seed("flows")
    kept = pyarrow.table(table._native.views())
    assert str(kept.schema.field("flow").type) == "string_view"
    assert kept.schema.names == list(table.columns) and kept.column("flow").to_pylist() == table["flow"]
    for given in (table.to_arrow(), pyarrow.table(table)):
        assert str(given.schema.field("flow").type) == "string"
        assert pyarrow.schema(table) == given.schema
        assert given.filter(compute.equal(given["flow"], "file.1")).num_rows == table["flow"].count("file.1") > 0
        assert given.sort_by([("flow", "descending")])["flow"][0].as_py() == "file.3"
    for frame in (table.to_polars(), polars.DataFrame(table)):
        assert frame.schema["flow"] == polars.String and frame.rows() == [tuple(row.values()) for row in table]


def test_text_longer_than_a_view_and_text_that_is_missing_are_kept() -> None:
    polars = pytest.importorskip("polars")
    long = "a flow with a name of more than twelve letters, and an ä"
    flows = [long, None, "short", "", long]
    rows = [{"flow": name, "sent_s": 0.5, "received_s": None, "bytes": 1} for name in flows]
    native = _native.table_of("packets", json.dumps(rows))
    assert native.cells(0, 0, 9) == flows
    for frame in (polars.DataFrame(native.views()), polars.DataFrame(native)):
        assert frame["flow"].to_list() == flows and frame["received_s"].to_list() == [None] * 5


def test_a_table_of_a_duckdb_query(result: fairq.Result) -> None:
    duckdb = pytest.importorskip("duckdb")
    flows = duckdb.from_arrow(result.by_seed("flows").to_arrow())
    found = flows.aggregate("flow, count(*)").order("flow").fetchall()
    assert found == [("file.1", 4), ("file.2", 4), ("file.3", 4)]


def test_a_prompt_fits_the_terminal(result: fairq.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = repr(result.packets).splitlines()
    assert max(map(len, lines)) <= 80 and lines[-1].startswith(f"{len(result.packets)} rows, ")
    assert len(lines) <= 14
    shown = repr(result.flows).splitlines()
    assert max(len(line) for line in shown if not line.startswith("and ")) <= 80


def test_a_notebook_shows_intervals_and_units(result: fairq.Result) -> None:
    html = result.flows._repr_html_()
    assert (
        ">throughput (kbit/s)</th>" in html
        and re.search(r">\d+(\.\d+)? (\(|<span[^>]*>)\d+", html)
        and "_low" not in html
    )
    assert html.count("<tr>") == 1 + 6
    assert result.packets._repr_html_().count("<tr>") == 11


def test_headings_have_the_units_of_the_columns() -> None:
    columns = [column for table in described().values() for column in table["columns"]]
    # What is counted in packets or flows may be called by what became of them: "dropped".
    for column in columns:
        if column["unit"] not in ("", "packets", "flows"):
            assert tables.heading(column["name"]).endswith((f"({column['unit']})", column["unit"])), column["name"]


def test_types_of_rows_are_those_of_the_columns() -> None:
    for name, table in described().items():
        annotations = row_class(name).__annotations__
        names = [column["name"] for column in table["columns"]]
        assert [each.removesuffix("_") for each in annotations if not each.endswith(("_low", "_high"))] == names
        assert issubclass(row_class(name), Row)


def test_rows_of_theory_have_the_columns_that_are_described() -> None:
    result = fairq.run(SCENARIO, workers=1, overlay=True)
    assert result.theory is not None
    # a column without any value has its kind all the same
    columns = described()["theory"]["columns"]
    assert set(result.theory["delay_bound_s"]) == {None}
    assert result.theory._native.kinds[1:] == [column["kind"] for column in columns]
    assert result.theory[0].flow == result.flows[0].flow
    for name, rows in (("theory", result.document["theory"]), ("shares", fairq.max_min(SCENARIO))):
        assert list(rows[0]) == ["speed", *(column["name"] for column in described()[name]["columns"])], name


def test_the_programs_of_the_guide_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "tables.md").read_text(encoding="utf-8")
    programs = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    assert len(programs) == 2
    for number, program in enumerate(programs):
        (tmp_path / f"p{number}.py").write_text(program, encoding="utf-8")
        command = [sys.executable, "-P", str(tmp_path / f"p{number}.py")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout, done.stderr


def test_a_table_without_rows_has_its_columns() -> None:
    result = fairq.run({**SCENARIO, "axes": []}, workers=1)
    assert len(result.transfers) == 0
    assert "completion_s_p99" in result.transfers.columns
    assert result.transfers.to_arrow().num_columns == len(result.transfers.columns)


def test_runs_can_be_sent_away() -> None:
    experiment = fairq.experiment(SCENARIO, series="500 ms")
    runs = experiment.runs()
    assert [(run.axes["speed"], run.seed) for run in runs] == [
        ("1 Mbit/s", 1), ("1 Mbit/s", 2), ("2 Mbit/s", 1), ("2 Mbit/s", 2),
    ]  # fmt: skip
    assert len({run.digest for run in runs}) == 4
    program = (
        "import pickle, sys\n"
        "run = pickle.load(sys.stdin.buffer)\n"
        "flows = run.finish()['flows']\n"
        "print(run.digest, [row.sent for row in flows])"
    )
    away = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(runs[3]), capture_output=True, check=True
    ).stdout.decode()
    tables = [run.finish() for run in runs]
    assert away.strip() == f"{runs[3].digest} {tables[3]['flows']['sent']}"
    assert list(tables[0]) == ["flows", "links", "queues", "transfers", "sessions", "series", "packets", "states"]
    collected = experiment.collect(tables)
    whole = fairq.run(SCENARIO, workers=1, series="500 ms")
    assert collected.flows == whole.flows and collected.series == whole.series
    with pytest.raises(fairq.UsageError, match="fewer tables than runs"):
        experiment.collect(tables[:3])


def test_a_parquet_file_has_the_columns_whatever_they_hold(tmp_path: Path, result: fairq.Result) -> None:
    duckdb = pytest.importorskip("duckdb")
    result.flows.write_parquet(tmp_path / "flows.parquet", "here", 1)
    kinds = dict(duckdb.sql(f"select column_name, column_type from (describe '{tmp_path}/flows.parquet')").fetchall())
    # No link loses packets: the column has no value, and its kind all the same.
    assert kinds["lost"] == "DOUBLE" and kinds["flow"] == "VARCHAR"
    assert set(result.flows["lost"]) == {None}
    with pytest.raises(fairq.OutputError, match="cannot be written"):
        result.flows.write_parquet(tmp_path / "none" / "flows.parquet", "here", 1)


def test_the_version_of_results_is_a_number() -> None:
    assert _native.results_version() >= 1
    assert json.loads(_native.columns())[0]["name"] == "flows"


def test_a_digest_is_the_same_in_every_build() -> None:
    known = (ROOT / "crates" / "experiment" / "tests" / "dumbbell_digest.txt").read_text().strip()
    assert fairq.experiment(ROOT / "scenarios" / "dumbbell.toml").runs()[0].digest == known


def test_a_run_is_found_by_its_digest() -> None:
    experiment = fairq.experiment(SCENARIO)
    run = experiment.runs()[2]
    found = experiment.run_of(run.digest)
    assert (found.seed, found.axes) == (run.seed, run.axes)
    with pytest.raises(
        fairq.UsageError, match=r"^0{32}: no run of this scenario has this digest: .*version of results"
    ):
        experiment.run_of("0" * 32)


def test_a_result_is_read_back_if_it_is_of_this_version(tmp_path: Path, result: fairq.Result) -> None:
    document = result.document
    (tmp_path / "result.json").write_text(json.dumps(document))
    assert fairq.read_result(tmp_path) == fairq.read_result(tmp_path / "result.json") == document
    for version, age in ((document["schema_version"] - 1, "an older"), (document["schema_version"] + 1, "a newer")):
        (tmp_path / "result.json").write_text(json.dumps({**document, "schema_version": version}))
        with pytest.raises(fairq.UsageError, match=rf"result.json: written by {age} fairq .* run its scenario again"):
            fairq.read_result(tmp_path)
    for text in ("", "[]", "{}", '{"schema_version": "2"}'):
        (tmp_path / "result.json").write_text(text)
        with pytest.raises(fairq.UsageError, match=r"result.json: not "):
            fairq.read_result(tmp_path)
    with pytest.raises(fairq.UsageError, match="give a folder that fairq run --out wrote"):
        fairq.read_result(tmp_path / "none")
