"""What changed between two studies, and whether that changed their results."""

import pytest
from sweep_studies import SCENARIO, STUDY, write_study

from fairq import statistics
from fairq.studies.difference import diff
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep


def run(folder, study=STUDY, scenario=SCENARIO):
    """A study in a folder, run; its path."""
    folder.mkdir()
    path = write_study(folder)
    (folder / "line.toml").write_text(scenario)
    path.write_text(study)
    sweep(path, Options(workers=2))
    return path


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A study, and the same over a faster line with one queue more."""
    folder = tmp_path_factory.mktemp("studies")
    faster = SCENARIO.replace("10 Mbit/s", "12 Mbit/s")
    return run(folder / "a"), run(folder / "b", STUDY.replace('"fq"]', '"fq", "drr"]'), faster)


def results(path):
    return Results(path.with_suffix(""))


def test_a_change_names_its_field_and_both_values(studies):
    found = diff(*map(results, studies))
    assert [tuple(change) for change in found.changes] == [
        ("axes", "queue", ["fifo", "fq"], ["fifo", "fq", "drr"]),
        ("scenario", "links[line].rate", "10 Mbit/s", "12 Mbit/s"),
    ]
    assert found.runs == (12, 18) and found.same_runs == 0


def test_a_difference_is_paired_by_seed(studies):
    a, b = map(results, studies)
    (row,) = [
        row for row in diff(a, b).rows
        if row.quantity.column == "throughput_bit_per_s" and row.axes == {"buffer": "40 packets", "queue": "fq"}
    ]  # fmt: skip
    by_seed = [{}, {}]
    for side, each in zip(by_seed, (a, b), strict=True):
        for own in each.rows("flows", ["flow", "throughput_bit_per_s"]):
            if own["buffer"] == "40 packets" and own["queue"] == "fq":
                side.setdefault(own["seed"], []).append(own["throughput_bit_per_s"])
    ours, theirs = ([sum(side[seed]) / 2 for seed in (1, 2, 3)] for side in by_seed)
    assert row.found == statistics.paired(theirs, ours, "log") and row.group == "file"
    assert row.found.difference > 0


def test_a_study_does_not_differ_from_itself(studies, fairq):
    a = results(studies[0])
    found = diff(a, a)
    assert found.changes == [] and found.same_runs == 12
    assert found.rows and all(row.found.difference == 0 and not row.found.decided for row in found.rows)
    status, said, _ = fairq("diff", studies[0], studies[0])
    assert status == 0 and "Nothing: both studies have the same scenario" in said
    assert "12 of 12 and 12 runs are the same; 0 of" in said


def test_what_cannot_be_matched_is_said(studies, tmp_path, document, fairq):
    more = run(
        tmp_path / "more", STUDY + '\n[[axes]]\nname = "gap"\npath = "links[0].delay"\nvalues = ["5 ms", "9 ms"]\n'
    )
    said = document("diff", studies[0], more)
    assert said["rows"] == [] and "alone has the axis gap" in said["notes"][0]
    later = run(tmp_path / "later", STUDY.replace("replications = 3", "replications = 3\nseed = 100"))
    said = document("diff", studies[0], later)
    assert "no seed in common" in said["notes"][0] and said["rows"][0]["difference"] is None
    status, _, error = fairq("diff", studies[0], tmp_path / "nix")
    assert status == 2 and "there is no store of a study" in error


def test_an_axis_that_is_called_as_a_column_of_the_table_is_shown(tmp_path, fairq):
    study = run(tmp_path / "of", STUDY.replace('name = "queue"', 'name = "of"'))
    status, said, _ = fairq("diff", study, study)
    assert status == 0 and said.count("axis of") > 1


def test_the_table_says_what_changed_and_whether_it_is_decided(studies, fairq, document):
    status, said, _ = fairq("diff", *studies)
    assert status == 0 and "links[line].rate" in said and "differences are decided" in said
    rows = document("diff", *studies)["rows"]
    assert rows[0]["axes"] == {"buffer": "20 packets", "queue": "fifo"}
    assert {"a", "b", "difference", "low", "high", "decided", "more_seeds"} <= set(rows[0])
