"""What earlier commits wrote is read: a study, its store and a folder of `fairq run --out`.

`kept/of_eff86cc` was written by results of version 1, `kept/of_7bb8dab` by version 2, which is that
of the commit before results in Python were declared once (issue 51). Results are of version 3 since
intervals are on the scale of their column and a utilisation is never above 1: neither store is
continued without `--mix-versions`, and both are read.
"""

import shutil
from pathlib import Path

import pytest

import fairq as package
from fairq import _native
from fairq.studies.study import read_study

KEPT = Path(__file__).parent / "kept"
VERSIONS = {"of_eff86cc": 1, "of_7bb8dab": 2}


@pytest.fixture(params=list(VERSIONS))
def old(request, tmp_path, monkeypatch):
    """A copy of what a commit wrote, which is the working folder; gives the version of its
    results."""
    shutil.copytree(KEPT / request.param, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return VERSIONS[request.param]


def test_a_study_that_was_written_before_is_one(old):
    study = read_study("study.toml")
    assert [run.point for run in study.runs()] == [0, 1] and study.axes == ("queue",)


def test_a_store_that_was_written_before_is_read(old):
    store = package.read_store("study")
    assert [run.part is not None for run in store.runs()] == [True, True]
    assert store.damages == [] and (store.other_version is None) == (old == _native.results_version())
    flows = store.table("flows")
    assert sorted(flows["flow"]) == ["file.1", "file.1", "file.2", "file.2"]
    assert {row["queue"] for row in store.rows("flows")} == {"fifo", "fq"}
    assert min(row.throughput_bit_per_s for row in flows) > 1e5


def test_a_store_that_was_written_before_answers_queries_reports_and_differences(old, tmp_path):
    pytest.importorskip("duckdb")
    found = package.query("study.toml", "select queue, count(*) from flows group by queue order by queue")
    assert found.rows == [("fifo", 2), ("fq", 2)]
    assert package.report("study.toml", out=tmp_path / "page.html").runs == 2
    differences = package.diff("study", KEPT / "of_7bb8dab" / "study")
    assert {row.axes["queue"] for row in differences.rows} == {"fifo", "fq"}
    assert ("results" in [change.field for change in differences.changes]) == (old != VERSIONS["of_7bb8dab"])


def test_a_store_of_another_version_is_not_continued_unless_that_is_said(old, refused):
    assert "--mix-versions" in refused("sweep", "study.toml")
    assert package.sweep("study.toml", mix_versions=True).missing == 0


def test_the_version_of_results_has_risen_once_at_most():
    assert _native.results_version() == 3


def test_a_folder_of_a_run_that_was_written_before_is_read_and_replaced(old, fairq):
    document = package.read_result("out")
    assert [row["flow"] for row in document["flows"]] == ["file.1", "file.2"]
    assert {"axes", "seeds", "flows", "links", "queues"} <= set(document["points"][0])
    status, out, _ = fairq("run", "line.toml", "--out", "out")
    assert status == 0 and out.endswith("Written: out\n")
