"""SQL over a study: the rows of the reader, axes as columns, one line for what is wrong."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from sweep_studies import STUDY, write_study

from fairq.studies.sql import opened, query
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of two axes and three seeds that was run."""
    study = write_study(tmp_path_factory.mktemp("study"), series="100 ms")
    sweep(study, Options(workers=2))
    return study


@pytest.mark.parametrize("table", ["flows", "links", "queues", "series"])
def test_a_view_has_the_rows_of_the_reader_with_the_axes(study, table):
    found = query(opened(study), f"select * from {table}")
    rows = list(Results(study.with_suffix("")).rows(table))
    packets = {"20 packets": 20.0, "40 packets": 40.0}
    assert all(packets[row["buffer"]] == row["buffer_packets"] for row in found.dicts)
    told = found.dicts
    assert list(told[0]) == list(rows[0])
    assert sorted(map(repr, told)) == sorted(map(repr, rows)) and len(rows) >= 12


def test_group_by_all_gives_the_mean_of_each_value_of_an_axis(study):
    found = query(opened(study), "select queue, avg(share) from flows group by all order by all")
    rows = list(Results(study.with_suffix("")).rows("flows"))
    for queue, mean in found.rows:
        own = [row["share"] for row in rows if row["queue"] == queue]
        assert mean == pytest.approx(sum(own) / len(own))
    assert [queue for queue, _ in found.rows] == ["fifo", "fq"]


def test_runs_has_every_run_and_those_that_do_not_exist(tmp_path):
    study = write_study(tmp_path)
    sweep(study, Options(workers=1, part="1/2"))
    found = query(opened(study), "select count(*), count(part), count(distinct digest) from runs")
    assert found.rows == [(12, 6, 12)]
    # what no marker names is no row of a view
    assert query(opened(study), "select count(distinct digest) from flows").rows == [(6,)]


def test_a_table_without_rows_has_its_columns_and_types(study):
    kinds = "select column_name, column_type from (describe transfers) where column_name in ('flow', 'completed')"
    assert query(opened(study), kinds).rows == [("flow", "VARCHAR"), ("completed", "BIGINT")]
    assert query(opened(study), "select * from sessions").rows == []


def test_axes_are_numbers_where_all_of_their_values_are(tmp_path):
    study = write_study(tmp_path, replications=1)
    study.write_text(
        STUDY.replace("replications = 3", "replications = 1")
        + '\n[[axes]]\nname = "n"\nvalues = [1, 2.5]\n'
        + '\n[[axes]]\nname = "it\'s \\"odd\\""\nvalues = [true, false]\n'
        + '[[axes.paired]]\nname = "speed"\npath = "links.line.delay"\nvalues = ["1 ms", "2 ms"]\n'
        + '\n[derive]\ntwice = "2 * n"\n'
    )
    sweep(study, Options(workers=2))
    found = query(opened(study), 'select distinct n, "it\'s ""odd""" from flows where n > 2 order by all')
    assert found.rows == [(2.5, False), (2.5, True)]


def test_columns_of_one_name_are_told_apart(study):
    found = query(opened(study), "select seed, seed, cast(1.5 as decimal(4, 2)) as x, [1, 2] as l from runs limit 1")
    assert found.columns == ["seed", "seed_2", "x", "l"] and found.rows == [(1, 1, 1.5, "[1, 2]")]


def test_csv_and_json_are_the_same_rows(study, fairq, document):
    sql = "select flow, queue, sum(sent) as sent from flows group by all order by all"
    said = document("query", study, sql)
    status, text, _ = fairq("query", study.with_suffix(""), sql, "--csv")
    assert status == 0 and said["columns"] == ["flow", "queue", "sent"]
    assert [{**row, "sent": int(row["sent"])} for row in csv.DictReader(io.StringIO(text))] == said["rows"]
    status, text, _ = fairq("query", study, sql)
    assert status == 0 and text.splitlines()[0].split() == ["flow", "queue", "sent"]


def test_the_questions_of_the_guide_have_answers(study):
    page = (Path(__file__).parents[2] / "docs" / "guide" / "query.md").read_text()
    questions = re.findall(r'fairq query study.toml "([^"]+)"', page)
    assert len(questions) == 4
    for sql in questions:
        assert query(opened(study), sql).rows


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select shar from flows", 'Referenced column "shar" not found'),
        ("selec 1", 'syntax error at or near "selec"'),
        ("select * from packets", "the study keeps no packets; it has runs, flows, links"),
        ("", "the SQL is empty"),
        ("select cast('a' as integer)", "Could not convert string"),
        ("copy (select 1) to 'written.csv'", "COPY is no query"),
        ("attach 'written.db'", "ATTACH is no query"),
        ("export database 'written'", "EXPORT is no query"),
        ("explain analyze copy (select 1) to 'written.csv'", "EXPLAIN is no query"),
        ("drop view flows", "DROP is no query"),
        ("select 1; select 2", "these are 2 queries; write one"),
        ("select * from results", "Table with name results does not exist"),
    ],
)
def test_what_is_no_query_is_one_line_and_writes_nothing(study, fairq, tmp_path, monkeypatch, sql, said):
    monkeypatch.chdir(tmp_path)
    status, text, error = fairq("query", study, sql)
    assert status == 2 and text == "" and said in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_queries_of_other_forms_are_answered(study):
    for sql in ("from runs", "with x as (from runs) from x", "pivot runs on queue using count(*)", "describe flows",
                "show tables", "values (1);"):  # fmt: skip
        assert query(opened(study), sql).rows


def test_the_name_of_a_folder_is_no_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("place=1 [a]*")
    folder.mkdir()
    study = write_study(folder, replications=1)
    sweep(study, Options(workers=2))
    found = query(opened(study), "select * from flows")
    assert "place" not in found.columns and len(found.rows) == 8


@pytest.mark.parametrize("at", [0, 1])
def test_parts_of_a_version_with_other_columns_are_read_together(tmp_path, at):
    """As --mix-versions leaves them: a column that a part does not have is null there."""
    parquet = pytest.importorskip("pyarrow.parquet")
    study = write_study(tmp_path)
    for part in ("1/2", "2/2"):
        sweep(study, Options(workers=1, part=part))
    root = study.with_suffix("")
    part = sorted((root / "parts" / "flows").iterdir())[at]
    parquet.write_table(parquet.read_table(part).drop_columns(["sent"]), part, compression="none")
    marker = root / "done" / f"{part.stem}.json"
    said = json.loads(marker.read_text())
    content = part.read_bytes()
    said["files"]["flows"] |= {"bytes": len(content), "digest": hashlib.sha256(content).hexdigest()}
    marker.write_text(json.dumps(said))
    assert query(opened(study), "select count(*), count(sent) from flows").rows == [(24, 12)]
    assert sum(row["sent"] is None for row in Results(root).rows("flows")) == 12


def test_a_query_of_a_damaged_study_says_so(tmp_path, fairq):
    study = write_study(tmp_path)
    sweep(study, Options(workers=2))
    next((study.with_suffix("") / "parts" / "links").iterdir()).unlink()
    status, text, error = fairq("query", study, "select count(*) from flows", "--csv")
    assert status == 0 and text.splitlines()[1] == "0"
    assert error.count("\n") == 1 and "is gone; its 12 runs are missing" in error


def test_what_is_not_there_is_said(study, fairq, monkeypatch):
    status, _, error = fairq("query", study.with_name("nix.toml"), "select 1")
    assert status == 2 and "there is no store of a study; make one by fairq sweep" in error
    monkeypatch.setitem(sys.modules, "duckdb", None)
    status, _, error = fairq("query", study, "select 1")
    assert status == 2 and "pip install duckdb" in error


def test_an_axis_with_units_can_be_ordered_and_compared(tmp_path):
    study = write_study(tmp_path, replications=1)
    text = study.read_text().replace('["20 packets", "40 packets"]', '["9 packets", "40 packets"]')
    study.write_text(text + "[[axes]]\nname = 'rate'\npath = 'links.line.rate'\nvalues = ['2 Mbit/s', '10 Mbit/s']\n")
    sweep(study, Options(workers=2))
    found = query(opened(study), "select distinct rate, rate_bit_per_s, buffer_packets from flows order by 2, 3")
    assert found.rows == [(rate, bits, buffer) for rate, bits in (("2 Mbit/s", 2e6), ("10 Mbit/s", 1e7))
                          for buffer in (9.0, 40.0)]  # fmt: skip
    assert query(opened(study), "select count(*) from runs where rate_bit_per_s < 5e6").rows == [(4,)]
    rows = list(opened(study).rows("flows", ["share"]))
    assert list(rows[0])[:5] == ["buffer", "queue", "rate", "buffer_packets", "rate_bit_per_s"]
    assert {(row["rate"], row["rate_bit_per_s"]) for row in rows} == {("2 Mbit/s", 2e6), ("10 Mbit/s", 1e7)}


@pytest.mark.parametrize(
    ("select", "heads", "cell"),
    [
        ("count(share) as s from flows", ["s"], "24"),
        ("sum(dropped) as bytes from flows", ["bytes"], None),
        ("count(*) as packets_s from flows", ["packets_s"], "24"),
        ("flow as rtt_s, 3 as delay_s_mean from flows limit 1", ["rtt_s", "delay_s_mean"], "3"),
        ("delay_s_mean from (select 3 as delay_s_mean)", ["delay_s_mean"], "3"),
        ("delay_s_mean from flows f(delay_s_mean)", ["delay_s_mean"], None),
        ("* replace (7 as share) from flows limit 1", None, None),
    ],
)
def test_what_sql_computes_has_no_unit(study, fairq, select, heads, cell):
    status, text, _ = fairq("query", study, f"select {select}")
    assert status == 0 and (heads is None or text.splitlines()[0].split() == heads)
    assert heads is None or not re.search(r"\d (ms|s|kB|B|us|µs)\b", text)
    assert cell is None or cell in text.splitlines()[2].split()


def test_a_column_that_passes_unchanged_has_its_unit(study, fairq):
    for select in ("delay_s_mean", "f.delay_s_mean", "delay_s_mean as delay_s_mean"):
        _, text, _ = fairq("query", study, f"select {select} from flows f limit 1")
        assert text.splitlines()[0].split() == ["delay", "mean"] and text.splitlines()[2].endswith("ms")
    _, text, _ = fairq("query", study, "select * from links l join flows f on l.digest = f.digest limit 1")
    assert "Mbit/s" in text
    _, text, _ = fairq("query", study, "select * replace (7 as delay_s_mean) from flows limit 1")
    assert "delay_s_mean" in text and "delay p50" in text


# What a query may read.

CANARY = "canary-7f3a"


@pytest.fixture
def apart(study, tmp_path, monkeypatch):
    """A fresh home and working folder, and a file with a word that no query may give."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    for ending in ("txt", "csv", "json"):
        (tmp_path / f"canary.{ending}").write_text(f'{{"word": "{CANARY}"}}\n')
    return tmp_path


@pytest.mark.parametrize(
    "asked",
    [
        "select * from read_text('{canary}.txt')",
        "select * from read_blob('{canary}.txt')",
        "select * from '{canary}.csv'",
        "select * from read_csv('{canary}.csv')",
        "select * from read_json('{canary}.json')",
        "select * from read_parquet('{canary}.txt')",
        "select * from glob('{folder}/*')",
        "select * from glob('/etc/*')",
        "select * from read_text('{part}/../../../../../canary.txt')",
        "select * from read_text('{store}/store.json')",
        "select * from sqlite_scan('{canary}.txt', 'x')",
        "select * from read_text('/proc/self/environ')",
        "select * from read_csv('/dev/stdin')",
        "select * from parquet_metadata('{canary}.txt')",
        "select * from 's3://bucket/x.parquet'",
        "select * from query('select * from read_text(''{canary}.txt'')')",
    ],
)
def test_a_query_reads_nothing_outside_its_store(study, refused, apart, asked):
    """docs/guide/query.md: it reads the parts of its store and nothing else."""
    root = study.with_suffix("")
    part = next((root / "parts" / "flows").iterdir())
    sql = asked.format(canary=apart / "canary", folder=apart, part=part, store=root)
    line = refused("query", study, sql)
    assert CANARY not in line
    assert [path for name in ("home", "work") for path in (apart / name).iterdir()] == []


@pytest.mark.parametrize("table", ["'http://127.0.0.1:{port}/x.parquet'", "read_csv('http://127.0.0.1:{port}/x')"])
def test_a_query_asks_no_address(study, refused, apart, table):
    """docs/guide/query.md: it asks no network."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        refused("query", study, f"select * from {table.format(port=server.getsockname()[1])}")
        with pytest.raises(TimeoutError):
            server.accept()
    assert not list((apart / "home").iterdir())


@pytest.mark.parametrize("sql", ["install httpfs", "load httpfs", "set enable_external_access = true", "reset threads"])
def test_a_query_loads_no_extension_and_changes_no_setting(study, refused, apart, sql):
    """docs/guide/query.md: it loads no extension, and its settings are locked."""
    assert "is no query" in refused("query", study, sql)
    assert not list((apart / "home").iterdir())


def test_a_large_query_writes_no_file(study, apart):
    """docs/guide/query.md: it writes nothing, also where memory is short."""
    query(opened(study), "select count(*) from range(3000000) a order by 1")
    assert not list((apart / "home").iterdir()) and not list((apart / "work").iterdir())


def test_a_part_that_is_a_link_is_not_followed(tmp_path, refused):
    study = write_study(tmp_path)
    sweep(study, Options(workers=1))
    part = next((study.with_suffix("") / "parts" / "flows").iterdir())
    elsewhere = part.rename(tmp_path / "elsewhere.parquet")
    part.symlink_to(elsewhere)
    assert "is a link, which a query does not follow" in refused("query", study, "select * from flows")


@pytest.mark.parametrize("place", [0.6, 0.9, 0.97])
def test_a_part_that_duckdb_cannot_read_is_named(study, tmp_path, refused, place):
    shutil.copytree(study.parent, tmp_path, dirs_exist_ok=True)
    (part, *_) = opened(tmp_path / "study").parts("flows")
    whole = part.path.read_bytes()
    at = int(len(whole) * place)
    part.path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
    os.utime(part.path, (part.marker.files["flows"].changed_s,) * 2)
    assert f"{part.path}: cannot be read as a part" in refused("query", tmp_path / "study", "select * from flows")
