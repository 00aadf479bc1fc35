"""A study says its runs; the store has each once, whatever ends or shares the work."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sweep_studies import BUFFERS, SCENARIO, STUDY, digests_of, rows_of, write_study

import fairq
from fairq.core.errors import OutputError, ScenarioError, UsageError
from fairq.studies import claims, dask, enough, store, sweeping, threads, work
from fairq.studies.claims import Owner
from fairq.studies.stored_runs import Results
from fairq.studies.study import read_study
from fairq.studies.sweeping import Options, open_study, sweep


@pytest.fixture
def study(tmp_path):
    """A study of two axes and three seeds: twelve runs."""
    return write_study(tmp_path)


@pytest.fixture
def said(document):
    """Runs a command with --json that has nothing to do with notes; gives the document."""
    return document


def test_a_study_is_run_once(study, document):
    first = document("sweep", study)
    assert {name: first[name] for name in ("done", "failed", "missing", "skipped", "ran")} == {
        "done": 12, "failed": 0, "missing": 0, "skipped": 0, "ran": 12,
    }  # fmt: skip
    assert first["store"] == str(study.with_suffix(""))
    again = document("sweep", study)
    assert (again["done"], again["ran"]) == (12, 0)


def test_tables_are_those_of_fairq_run(study):
    sweep(study, Options(workers=2))
    results = Results(study.with_suffix(""))
    own = study.with_name("own.toml")
    axes = f'[[axes]]\nname="buffer"\npath="defaults.buffer"\nvalues={json.dumps(BUFFERS)}\n'
    axes += '[[axes]]\nname="queue"\npath="defaults.queue"\nvalues=["fifo", "fq"]\n'
    own.write_text(SCENARIO.replace("[measure]", "[measure]\nreplications = 3") + axes)
    whole = fairq.run(own, workers=1)
    for table in ("flows", "links", "queues"):
        beside = {"digest", *results.in_base_units}
        ours = [{name: value for name, value in row.items() if name not in beside} for row in results.rows(table)]
        theirs = [dict(row) for row in whole.by_seed(table)]
        assert sorted(ours, key=order) == sorted(theirs, key=order)


def order(row):
    return json.dumps([row["buffer"], row["queue"], row["seed"], row.get("flow"), row.get("direction")])


def test_runs_have_the_digests_of_an_experiment(study):
    said = read_study(study)
    point = said.points[3]
    experiment = fairq.Experiment(said.scenario, [*point.sets, ("measure.replications", "3")])
    assert [run.digest for run in experiment.runs()] == point.digests


def test_an_axis_that_is_renamed_and_a_value_that_is_added_run_only_what_is_new(study, document):
    document("sweep", study)
    text = study.read_text().replace('name = "buffer"', 'name = "room"').replace('"fq"]', '"fq", "drr"]')
    study.write_text(text)
    assert document("sweep", study)["ran"] == 6
    rows = Results(study.with_suffix("")).runs()
    assert len(rows) == 18 and set(rows[0].axes) == {"room", "queue"} and all(row.part for row in rows)


def test_points_with_the_same_scenario_share_their_runs(study, document):
    label = '\n[[axes]]\nname = "label"\nvalues = ["one", "two"]\n'
    study.write_text(STUDY + label + "[derive]\nis_first = \"label == 'one'\"\n")
    found = document("sweep", study)
    assert found["done"] == found["ran"] == 12
    results = Results(study.with_suffix(""))
    assert len(results.runs()) == 24
    assert len(list(results.rows("links"))) == 2 * len(results.table("links"))


def test_more_tables_are_kept_by_running_again(study, document):
    document("sweep", study)
    study.write_text(STUDY + '\n[keep]\ntables = ["flows"]\n')
    assert document("sweep", study)["ran"] == 0
    study.write_text(STUDY + '\n[keep]\ntables = ["flows"]\nseries = "100 ms"\n')
    assert document("sweep", study)["ran"] == 12
    results = Results(study.with_suffix(""))
    assert results.tables == ("flows", "series")
    assert {row["digest"] for row in results.table("series")} == {run.digest for run in results.runs()}
    assert rows_of(results, "flows") == rows_of_another(study, "flows")


@pytest.mark.parametrize("tables", ["[]", "['links']", "['links', 'links']"])
def test_a_study_that_keeps_no_flows_is_run_and_shown(study, fairq, refused, tables):
    pytest.importorskip("jinja2")
    study.write_text(f"{STUDY}[keep]\ntables = {tables}\n")
    lines = []
    sweep(study, Options(workers=1, show=lines.append))
    assert lines
    status, out, err = fairq("sweep", study)
    assert (status, err) == (0, "") and out.startswith(f"{study.with_suffix('')}: 12 done")
    assert "keeps no flows; see [keep]" in refused("sweep", study, "--until", "throughput half-width < 1%")
    assert fairq("report", study)[0] == 0
    assert len(read_store(study).tables) == ("links" in tables)


def test_replications_that_the_study_takes_back_are_not_run(study, document):
    study.write_text(STUDY.replace("replications = 3", "replications = 50"))
    assert document("sweep", study, "--part", "1/100")["missing"] == 198
    study.write_text(STUDY)
    assert document("sweep", study)["done"] == 12


@pytest.mark.parametrize(
    "used",
    [
        "[derive]\nroom = '1 if not n > 1 else max(1, -2)'\n",
        "[derive]\nroom = { value = 'buffer * n', path = 'links.line.delay', unit = 'ms' }\n",
        # a label of the values of another axis
        "[[axes.paired]]\nname = 'reverse'\npath = 'links.line.reverse_rate'\nvalues = ['1 Mbit/s', '2 Mbit/s']\n",
        "group = 'g'\n[[axes]]\ngroup = 'g'\nname = 'seconds'\npath = 'measure.duration'\nvalues = ['1 ms', '2 ms']\n",
    ],
)
def test_an_axis_without_a_field_is_taken_if_its_values_have_an_effect(study, document, used):
    study.write_text(f"{STUDY}[[axes]]\nname = 'n'\nvalues = [1, 2]\n{used}")
    assert document("sweep", study, "--dry-run")["points"] == 8
    conditions = STUDY.replace("replications = 3", "replications = 3\nconditions = ['buffer > 20 or n == 1']")
    study.write_text(f"{conditions}[[axes]]\nname = 'n'\nvalues = [1, 2]\n")
    assert document("sweep", study, "--dry-run")["points"] == 6


def test_a_worker_of_a_cluster_runs_what_lacks_a_table(study):
    """As the engine of Dask calls it: the worker opens the store by itself."""
    sweep(study, Options())
    study.write_text(STUDY + "\n[keep]\nstates = true\n")
    opened = open_study(study, Options())
    todo = work.tasks(opened.study, opened.mine())
    assert len(todo) == 12
    counts = dask._bundle(job_of(opened), todo, False)
    assert counts == (12, 0, 0)
    assert dask._bundle(job_of(opened), todo, False) == (0, 0, 12)
    opened.store.scan()
    assert opened.mine() == []


def test_the_same_runs_as_a_part_that_was_set_aside_are_seen(study):
    """The new marker has the name of the one that was moved."""
    sweep(study, Options(workers=1))
    marker = next((study.with_suffix("") / "done").iterdir())
    cut(marker)
    again = sweep(study, Options(workers=1))
    assert (again.done, again.ran) == (12, 12) and marker.exists()


def rows_of_another(study, table):
    """The rows of the same study in a store of its own."""
    other = study.parent / "another"
    sweep(study, Options(store=str(other)))
    return rows_of(Results(other), table)


def test_small_runs_share_parts_and_memory_is_bounded_by_them(study, monkeypatch):
    monkeypatch.setattr(threads, "PART_RUNS", 5)
    sweep(study, Options(workers=1))
    sizes = sorted(len(json.loads(path.read_text())["runs"]) for path in (study.with_suffix("") / "done").iterdir())
    assert sizes == [2, 5, 5]


# What a study says.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[study]\nscenaro = 'x.toml'\n", ":2: study.scenaro: no such field; did you mean scenario?"),
        ("[study]\nreplications = 2\n", ":1: study: write either scenario, a file, or compare, a question"),
        ("[study]\nscenario = 'x.toml'\n", ":2: study.scenario: {folder}/x.toml: no such file or directory"),
        ("[stdy]\n", ":1: stdy: no such field; did you mean study?"),
        ("x = 1\n[", "not TOML"),
        (f"{STUDY}[[axes]]\nname = 'a'\npath='x'\n", "axes[2]: values is missing"),
        (f"{STUDY}[[axes]]\nname = 'a'\nvalues=[]\n", "axes[2].values: the list is empty"),
        (f"{STUDY}[[axes]]\nname = 'queue'\nvalues=[1]\n", "axes[2].name: queue is another axis"),
        (f"{STUDY}[[axes]]\nname = 'flow'\nvalues=[1]\n", "axes[2].name: flow is a column of the results"),
        (f"{STUDY}[[axes]]\nname = 'error'\nvalues=[1]\n", "axes[2].name: error is a column of the results"),
        (f"{STUDY}[[axes]]\nname = 'Seed'\nvalues=[1]\n", "axes[2].name: Seed is a column of the results"),
        (f"{STUDY}[[axes]]\nname = 'Queue'\nvalues=[1]\n", "axes[2].name: Queue is another axis"),
        (f"{STUDY}[[axes]]\nname = 'a'\nvalues=[1, 2, 1]\n", "axes[2].values[2]: this value was given before"),
        (f"{STUDY}[[axes]]\nname = 'a'\npath = 'defaults.queue'\nvalues=['drr']\n",
         "axes[2]: defaults.queue: axes[1] sets this field already"),
        (f"{STUDY}[[axes]]\nname = 'a'\npath = 'links.lin.rate'\nvalues=['1 Mbit/s']\n",
         "axes[2].values[0]: links.lin.rate: nothing is called lin; did you mean line?"),
        (f"{STUDY}[[axes]]\nname = 'a'\npath = 'links.line.rate'\nvalues=['1 Mbit/s', '1 Mbt/s']\n",
         "axes[2].values[1]: links.line.rate: "),
        (f"{STUDY}[[axes]]\nname = 'a'\nvalues=[1]\n[[axes.paired]]\nname='b'\nvalues=[1,2]\n",
         "axes[2].paired[0].values: 2 values beside 1 of a; paired axes have the same number"),
        (f"{STUDY}[[axes]]\nname = 'a'\nvalues=[1, 2]\n",
         ":14: axes[2]: a sets no field, and no condition or derived value names it; write path = "),
        (f"{STUDY}[[axes]]\nname = 'a'\nvalues=[{{ name = 'x', set = {{}} }}]\n[[axes.paired]]\nname='b'\nvalues=[1]\n",
         "axes[2]: a sets no field, and no condition or derived value names it; write path = "),
        (f"{STUDY}[derive]\nd = 'buffr * 2'\n", "derive.d: buffr: no such axis or derived value; did you mean buffer?"),
        (f"{STUDY}[derive]\nd = '__import__(1)'\n", "derive.d: __import__: no such function"),
        (f"{STUDY}[derive]\nd = '1 / 0'\n", "derive.d: '1 / 0': division by zero"),
        (f"{STUDY}[derive]\nd = 'queue + 1'\n", "derive.d: 'fifo' is no number; a text can only be compared"),
        (f"{STUDY}[keep]\ntables = ['flow']\n", "keep.tables[0]: `flow` is not known here; did you mean flows?"),
        (f"{STUDY}[keep]\npackets = 'flow'\n", "keep.packets: "),
        (f"{STUDY}[keep]\nseries = '1 parsec'\n", "keep.series: "),
        (f"{STUDY}[draw]\nx = 'bufer'\n", "draw.x: bufer: no such axis; did you mean buffer?"),
        (f"{STUDY}[draw]\ncolumns = ['delay']\n", "draw.columns[0]: delay: no such column"),
        (f"{STUDY}[draw]\ncolumns = ['transport']\n", "draw.columns[0]: transport: no such column"),
        (f"{STUDY}[keep]\ntables = ['links']\n[draw]\ncolumns = ['jain']\n",
         "draw.columns[0]: jain is a column of queues, which [keep] leaves out"),
        (STUDY.replace("replications = 3", "replications = 0"), ":3: study.replications: 0 is not from 1 to 1000000"),
        (STUDY.replace("replications = 3", "replications = 'three'"),
         'replications: write a whole number from 1 to 1000000, not "three"'),
        (STUDY.replace("replications = 3", "replications = 3\nseed = 9223372036854775806"),
         ":4: study.seed: the last seed of a point is more than 9223372036854775807"),
        (STUDY.replace("replications = 3", "replications = 3\nset = { 'measure.replications' = 2 }"),
         ":3: study.replications: study.set sets measure.replications already; choose one of them"),
        (f"{STUDY}[[axes]]\nname = 'n'\npath = 'measure.replications'\nvalues=[1, 2]\n",
         "axes[2]: measure.replications: study.replications sets this field already"),
        (STUDY.replace("replications = 3", "conditions = ['buffer > 1e9']"), "no combination of the axes meets"),
        # what a condition leaves out takes its time, too: these took hours
        (STUDY.replace("replications = 3", "conditions = ['a0 > 1e9']")
         + "".join(f"[[axes]]\nname = 'a{at}'\nvalues = {list(range(10))}\n" for at in range(6)),
         "axes: the axes have 4000000 combinations, more than 1000000; take fewer values"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_study_is_one_line_with_its_place(study, refused, text, line):
    study.write_text(text)
    told = refused("sweep", study)
    assert f"{study}" in told and line.format(folder=study.parent) in told
    assert not study.with_suffix("").exists()


def test_paired_axes_vary_together_and_conditions_leave_points_out(study):
    study.write_text(
        STUDY.replace(
            "replications = 3", 'replications = 1\nconditions = ["room >= 20", "queue != \'fq\' or room > 30"]'
        )
        + "[[axes.paired]]\nname = 'letter'\nvalues = ['f', 'q']\n[derive]\nroom = 'buffer * 1.5'\n"
    )
    points = [tuple(point.axes.values()) for point in read_study(study).points]
    assert points == [
        ("20 packets", "fifo", "f", 30.0),
        ("40 packets", "fifo", "f", 60.0),
        ("40 packets", "fq", "q", 60.0),
    ]


def test_a_derived_value_sets_a_field_in_its_unit(study):
    derive = '[derive]\nroom = { value = "ceil(buffer * 0.7)", path = "links.line.buffer", unit = "packets" }\n'
    study.write_text(STUDY + derive)
    said = read_study(study)
    assert dict(said.points[0].sets)["links.line.buffer"] == '"14 packets"'
    assert said.points[0].axes["room"] == 14


def test_the_axes_of_the_scenario_are_axes_of_the_study(study):
    scenario = study.parent / "line.toml"
    scenario.write_text(
        scenario.read_text() + '[[axes]]\nname="rate"\npath="links.line.rate"\nvalues=["1 Mbit/s", "2 Mbit/s"]\n'
    )
    said = read_study(study)
    assert said.axes == ("buffer", "queue", "rate") and len(said.points) == 8
    assert sweep(study, Options()).ran == 24


def test_the_schema_of_a_study_is_printed_and_is_a_schema(fairq, study):
    import jsonschema

    status, out, _ = fairq("schema", "study")
    schema = json.loads(out)
    assert status == 0
    jsonschema.Draft202012Validator.check_schema(schema)
    import tomllib

    jsonschema.validate(tomllib.loads(study.read_text()), schema)


# Sharing, resuming, ending.


def test_parts_divide_the_runs_and_none_is_run_twice(study):
    ran = [sweep(study, Options(part=f"{number}/5")) for number in range(1, 6)]
    assert [state.ran for state in ran] == [3, 3, 2, 2, 2]
    assert (ran[0].missing, ran[0].skipped) == (9, 9)
    assert ran[-1].done == 12


@pytest.mark.parametrize(("part", "line"), [("0/4", "1 to 4"), ("5/4", "1 to 4"), ("1", "3/16"), ("-1/2", "3/16")])
def test_a_part_that_is_none_is_refused(study, refused, part, line):
    assert line in refused("sweep", study, f"--part={part}")


def test_four_processes_that_start_at_once_run_each_run_once(tmp_path):
    study = write_study(tmp_path, replications=30)
    started = [start(study, "--workers", 1, "--json", *part) for part in ((), (), ("--part", "1/2"), ("--part", "2/2"))]
    ends = [json.loads(process.communicate(timeout=120)[0]) for process in started]
    assert sum(end["ran"] for end in ends) == 120
    again = sweep(study, Options())
    assert (again.done, again.ran) == (120, 0)
    markers = [json.loads(path.read_text())["runs"] for path in (study.with_suffix("") / "done").iterdir()]
    assert sum(map(len, markers)) == 120
    assert left_behind(study.with_suffix("")) == []


def left_behind(root):
    return [path.name for folder in ("claims", "owners", "tmp") for path in (root / folder).iterdir()]


def start(study, *options):
    command = [sys.executable, "-m", "fairq", "sweep", study, *options]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_interrupted_study_goes_on_where_it_stopped(tmp_path):
    import signal

    study = write_study(tmp_path, replications=60, duration="30 s")
    process = start(study, "--workers", "2")
    root = study.with_suffix("")
    wait_for(lambda: (root / "done").is_dir() and any((root / "done").iterdir()))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and said == "fairq: interrupted\n"
    assert left_behind(root) == []
    results = Results(root)
    before = sum(run.part is not None for run in results.runs())
    assert 0 < before < 240
    assert sweep(study, Options(workers=2)).ran == 240 - before


def wait_for(holds, limit_s=60):
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def test_the_claims_of_a_killed_process_are_free_at_once(study):
    opened = open_study(study, Options())
    digests = [run.digest for run in opened.mine()]
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom fairq.studies.claims import Owner\n"
        "with Owner(Path(sys.argv[1])) as owner:\n"
        "    assert all(owner.claim(digest) for digest in sys.argv[2:])\n    os.kill(os.getpid(), 9)\n"
    )
    died = subprocess.run([sys.executable, "-c", code, study.with_suffix(""), *digests], check=False)
    assert died.returncode == -9 and len(left_behind(study.with_suffix(""))) == 12 + 2
    began = time.monotonic()
    assert sweep(study, Options()).ran == 12
    assert time.monotonic() - began < 20
    assert left_behind(study.with_suffix("")) == []


class Elsewhere:
    """An owner on another machine: its process number says nothing here."""

    def __init__(self, root, digests, skew_s=0.0):
        self.owner = Owner(root, lease_s=3600)
        self.owner.process = self.owner.process._replace(host="other", boot="other")
        self.owner.__enter__()
        assert all(self.owner.claim(digest) for digest in digests)
        self.skew_s = skew_s
        self.beat()

    def beat(self):
        now = time.time() + self.skew_s
        os.utime(self.owner._file, (now, now))


@pytest.mark.parametrize("skew_s", [-3600.0, 0.0, 3600.0])
def test_an_owner_elsewhere_is_left_its_runs_while_it_beats_whatever_its_clock_says(study, skew_s):
    opened = open_study(study, Options())
    there = Elsewhere(study.with_suffix(""), [run.digest for run in opened.mine()[:4]], skew_s)
    stopped = threading.Event()

    def beat():
        while not stopped.wait(0.2):
            there.beat()

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        state = sweep(study, Options(lease_s=2.0))
    finally:
        stopped.set()
        beating.join()
    assert (state.ran, state.missing, state.skipped) == (8, 4, 4)


@pytest.mark.parametrize("skew_s", [-3600.0, 3600.0])
def test_an_owner_elsewhere_that_died_loses_its_runs_after_a_lease(study, skew_s):
    opened = open_study(study, Options())
    Elsewhere(study.with_suffix(""), [run.digest for run in opened.mine()[:4]], skew_s)
    began = time.monotonic()
    state = sweep(study, Options(lease_s=1.5))
    assert (state.ran, state.missing) == (12, 0)
    assert time.monotonic() - began >= 1.5


def test_an_owner_that_lost_its_claims_publishes_nothing(study):
    opened = open_study(study, Options())
    runs = opened.mine()[:2]
    simulations = work.Simulations(job_of(opened))
    finished = [simulations.finish(task) for task in work.tasks(opened.study, runs)]
    with opened.store.owner() as slow:
        assert all(slow.claim(run.digest) for run in runs)
        (study.with_suffix("") / "claims" / runs[0].digest).unlink()
        marker = opened.store.publish(slow, finished, opened.study.keep, "test")
    assert list(marker.runs) == [runs[1].digest]


def job_of(opened):
    said = opened.study
    return work.Job(str(opened.store.root), said.scenario.text, said.scenario.name, said.keep, "test", 60.0)


def test_what_another_process_did_since_the_last_look_is_not_run(study):
    opened = open_study(study, Options())
    with opened.store.owner() as owner:
        left = work.Queue(opened.store, owner, work.tasks(opened.study, opened.mine()))
        assert sweep(study, Options()).ran == 12
        assert left.next() is None and left.left == 12
        assert left_behind(study.with_suffix("")) == [owner.name, owner.name]


def test_a_run_that_two_markers_name_counts_once(study, tmp_path):
    """As when two stores of the same study are copied together."""
    sweep(study, Options(workers=1))
    other = tmp_path / "other"
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(threads, "PART_RUNS", 5)
        sweep(study, Options(store=str(other), workers=1))
    root = study.with_suffix("")
    expected = rows_of(Results(root), "flows")
    shutil.copytree(other, root, dirs_exist_ok=True)
    assert len(list((root / "done").iterdir())) == 4
    results = Results(root)
    assert rows_of(results, "flows") == expected
    assert len(results.table("flows")) == len(expected)
    assert sweep(study, Options()).ran == 0


# Failures.


def test_a_run_that_fails_is_kept_with_its_reason_and_the_others_go_on(study, document, fairq, monkeypatch):
    bad = [run.digest for run in read_study(study).runs()][:2]
    finish = work.Simulations.finish

    def failing(self, task):
        if task.digest in bad:
            raise ScenarioError("line.toml: it is Friday")
        return finish(self, task)

    with monkeypatch.context() as patch:
        patch.setattr(work.Simulations, "finish", failing)
        status, out, err = fairq("sweep", study, "--json")
    found = json.loads(out)
    assert (status, err) == (1, "")
    assert (found["done"], found["failed"], found["missing"]) == (10, 2, 0)
    assert found["errors"] == dict.fromkeys(bad, "line.toml: it is Friday")
    kept = json.loads((study.with_suffix("") / "failed" / f"{bad[0]}.json").read_text())
    assert kept["error"] == "line.toml: it is Friday" and kept["seed"] == 1
    assert {run.digest for run in Results(study.with_suffix("")).runs() if run.error} == set(bad)
    mended = document("sweep", study)
    assert (mended["done"], mended["failed"], mended["ran"]) == (12, 0, 2)
    assert not list((study.with_suffix("") / "failed").iterdir())


def test_fail_fast_ends_at_the_first(study, fairq, monkeypatch):
    def failing(self, task):
        raise ScenarioError("no")

    monkeypatch.setattr(work.Simulations, "finish", failing)
    status, out, _ = fairq("sweep", study, "--json", "--fail-fast", "--workers", 1)
    found = json.loads(out)
    assert (status, found["failed"], found["missing"]) == (1, 1, 11)


# Bad stores.


def test_the_store_of_another_version_is_not_mixed_unless_asked(study, refused, document):
    document("sweep", study)
    header = study.with_suffix("") / "store.json"
    said = json.loads(header.read_text())
    before = header.read_bytes()
    header.write_text(json.dumps({**said, "results": "0", "fairq": "0.0.9"}))
    told = refused("sweep", study)
    assert "fairq 0.0.9 wrote it" in told and "--mix-versions" in told
    assert document("sweep", study, "--mix-versions")["done"] == 12
    assert json.loads(header.read_bytes()) == json.loads(before)
    header.write_text(json.dumps({**said, "format": 99}))
    assert "later fairq" in refused("sweep", study)


def test_two_studies_do_not_share_a_folder(study, refused, document):
    document("sweep", study)
    other = study.with_name("other.toml")
    other.write_text(study.read_text())
    told = refused("sweep", other, "--store", study.with_suffix(""))
    assert "is the store of the study study, not of other" in told
    assert document("sweep", study)["ran"] == 0


def test_a_folder_of_something_else_is_left_alone(study, refused):
    folder = study.with_suffix("")
    folder.mkdir()
    (folder / "thesis.tex").write_text("dear")
    assert "holds something that is no store of a study (thesis.tex)" in refused("sweep", study)
    assert [entry.name for entry in folder.iterdir()] == ["thesis.tex"]
    folder2 = study.with_name("file")
    folder2.write_text("")
    assert "cannot be read" in refused("sweep", study, "--store", folder2)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": "x"}', '{"format": 1}', '{"format": 1, "name": "study"}']
)
def test_a_header_that_is_none_is_one_line_and_the_runs_stay(study, refused, document, text):
    document("sweep", study)
    header = study.with_suffix("") / "store.json"
    header.write_text(text)
    refused("sweep", study)
    with pytest.raises(fairq.FairqError):
        read_store(study)
    header.unlink()
    found = document("sweep", study)
    assert (found["done"], found["ran"]) == (12, 0)


def test_a_header_without_its_points_is_one_line(study, refused, document):
    document("sweep", study)
    header = study.with_suffix("") / "store.json"
    said = json.loads(header.read_text())
    for name in ("points", "keep", "scenario"):
        header.write_text(json.dumps({**said, name: [1]}))
        assert "store.json: cannot be read" in refused("sweep", study)


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def edit(path):
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


def edit_late(path):
    """As a machine edits it whose clock is an hour behind."""
    edit(path)
    os.utime(path, (time.time() - 3600,) * 2)


@pytest.mark.parametrize("damage", [cut, edit, edit_late, Path.unlink], ids=["cut", "edited", "edited late", "gone"])
def test_a_damaged_part_is_set_aside_named_and_run_again(study, fairq, monkeypatch, damage):
    monkeypatch.setattr(threads, "PART_RUNS", 4)
    fairq("sweep", study, "--workers", 1)
    root = study.with_suffix("")
    expected = rows_of(Results(root), "flows")
    part = sorted((root / "parts" / "flows").iterdir())[1]
    time.sleep(0.02)
    damage(part)
    assert len(Results(root).damages) == 1
    status, out, err = fairq("sweep", study)
    assert status == 0 and "4 run now" in out
    assert err.count("\n") == 1 and str(part) in err and "it was set aside" in err
    assert len(list((root / "aside").iterdir())) == (3 if damage is Path.unlink else 4)
    assert rows_of(Results(root), "flows") == expected


@pytest.mark.parametrize("wrong", [None, {"runs": []}, {"files": []}, {"files": {"flows": 1}}, {"keep": {"x": 1}}])
def test_a_marker_that_cannot_be_read_is_set_aside(study, fairq, wrong):
    fairq("sweep", study)
    marker = next((study.with_suffix("") / "done").iterdir())
    if wrong is None:
        cut(marker)
    else:
        marker.write_text(json.dumps({**json.loads(marker.read_text()), **wrong}))
    status, out, err = fairq("sweep", study)
    assert status == 0 and "12 run now" in out and "cannot be read as a marker" in err


def test_a_marker_names_the_runs_that_it_was_made_for(study, document, fairq):
    """Else a run counts that has no rows."""
    document("sweep", study, "--part", "1/2")
    root = study.with_suffix("")
    marker = next((root / "done").iterdir())
    said = json.loads(marker.read_text())
    (missing, *_) = [run.digest for run in Results(root).runs() if run.part is None]
    marker.write_text(json.dumps({**said, "runs": {**said["runs"], missing: 0.1}}))
    (root / "done" / "._copy.json").write_text(json.dumps(said))
    status, out, err = fairq("sweep", study)
    assert status == 0 and "12 done" in out and "12 run now" in out
    assert err.count("is no marker of its runs; its") == err.count("\n") == 2
    assert {row["digest"] for row in Results(root).table("flows")} == set(digests_of(study))
    assert fairq("sweep", study)[2] == ""


def test_what_has_no_marker_is_of_no_account(study):
    """As a process leaves it that was killed between two renames."""
    sweep(study, Options(workers=1))
    root = study.with_suffix("")
    expected = rows_of(Results(root), "flows")
    for marker in (root / "done").iterdir():
        marker.unlink()
    part = next((root / "parts" / "flows").iterdir())
    edit(part)
    assert not any(run.part for run in Results(root).runs())
    assert sweep(study, Options(workers=1)).ran == 12
    assert rows_of(Results(root), "flows") == expected


# What others see.


def test_missing_runs_are_listed_and_nothing_is_written(study, document, fairq):
    missing = document("sweep", study, "--list-missing")
    assert len(missing) == 12 and not study.with_suffix("").exists()
    assert missing[0] == {"digest": digests_of(study)[0], "seed": 1, "axes": {"buffer": "20 packets", "queue": "fifo"}}
    document("sweep", study, "--part", "1/2")
    assert len(document("sweep", study, "--list-missing")) == 6
    assert document("sweep", study, "--list-missing", "--part", "1/2") == []
    document("sweep", study)
    assert fairq("sweep", study, "--list-missing") == (0, "No run is missing.\n", "")


def test_a_job_and_its_tasks_can_be_sent_to_another_process(study):
    import pickle

    opened = open_study(study, Options())
    todo = work.tasks(opened.study, opened.mine())
    assert pickle.loads(pickle.dumps((job_of(opened), todo))) == (job_of(opened), todo)


def test_a_reader_of_no_store_is_told(tmp_path):
    with pytest.raises(UsageError, match="no store of a study"):
        Results(tmp_path / "none")
    (tmp_path / "x").write_text("")
    with pytest.raises(OutputError, match="holds something"):
        Results(tmp_path)


def test_no_clock_is_asked_in_claims():
    source = Path(claims.__file__).read_text()
    assert "time.time(" not in source and "datetime" not in source
    assert "time.time(" not in Path(store.__file__).read_text()


# Answers.


def test_the_most_replications_go_with_a_condition(study, refused):
    assert "--replications-max goes with --until" in refused("sweep", study, "--replications-max", 5)


def test_replications_are_added_until_the_interval_is_narrow_and_stay(study, document, monkeypatch):
    study.write_text(STUDY.replace("replications = 3", "replications = 2"))
    goal = ["--until", "sum of throughput half-width < 12%", "--replications-max", 60]
    found = document("sweep", study, *goal)
    assert found["missing"] == 0 and found["done"] >= 4 * 10
    points = read_store(study).study.points
    counts = [len(point.digests) for point in points]
    assert min(counts) >= 10 and max(counts) < 60
    rows = sweeping.answers(study, Options(until=goal[1]))
    for row, count in zip(rows, counts, strict=True):
        half = (row["throughput_bit_per_s_high"] - row["throughput_bit_per_s_low"]) / 2
        assert row["runs"] == count and half < 0.12 * row["throughput_bit_per_s"]
    again = document("sweep", study)
    assert (again["done"], again["ran"]) == (found["done"], 0)
    assert [len(point.digests) for point in read_store(study).study.points] == counts
    seeds = {(run.point, run.seed) for run in read_store(study).runs()}
    assert seeds == {(at, seed) for at, count in enumerate(counts) for seed in range(1, count + 1)}


def test_a_condition_that_does_not_hold_in_the_end_is_said(study, fairq):
    goal = ["--until", "throughput half-width < 1%", "--replications-max", 11]
    status, out, err = fairq("sweep", study, *goal, "--json")
    assert (status, json.loads(out)["unreached"]) == (0, 4)
    assert err == "fairq: note: --until does not hold at 4 points; see --replications-max\n"


def test_replications_are_added_where_no_run_has_failed(study, fairq):
    """The second buffer's flow has another name than the one of which packets are kept."""
    study.write_text(
        STUDY.replace("40 packets", "50 packets")
        + "[[axes.paired]]\nname = 'name'\npath = 'flows.file.name'\nvalues = ['fifo', 'file']\n"
        + "[keep]\npackets = 'fifo'\n"
    )
    goal = ["--until", "throughput half-width < 1%", "--replications-max", 11, "--json"]
    status, out, err = fairq("sweep", study, *goal)
    found = json.loads(out)
    assert status == 1 and err.endswith("at 4 points; some of their runs are not there\n")
    assert (found["done"], found["failed"], found["missing"], found["ran"]) == (22, 6, 0, 28)
    status, out, _ = fairq("sweep", study, *goal, "--fail-fast", "--workers", 1, "--replications-max", 12)
    assert status == 1 and json.loads(out)["done"] == 22


def test_a_column_that_no_run_has_ends_the_replications(study, refused):
    told = refused("sweep", study, "--until", "sessions.loss half-width < 1%", "--replications-max", 30)
    assert "no run has a value of sessions.loss" in told
    assert len(read_store(study).runs()) == 12


def read_store(study):
    return fairq.read_store(study.with_suffix(""))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("goodput < 1%", "says no end"),
        ("goodput half-width < -1%", "says no end"),
        ("goodput half-width < 0%", "says no end"),
        ("goodpt half-width < 1%", "goodpt: no such column; did you mean"),
        ("most goodput half-width < 1%", "most: not a way to put rows together"),
        ("link.utilisation half-width < 1%", "link: no such table; did you mean links?"),
    ],
)
def test_an_end_that_is_none_is_refused(study, refused, text, line):
    told = refused("sweep", study, "--until", text)
    assert told.startswith("fairq: --until: ") and line in told
    assert not study.with_suffix("").exists()


def test_a_part_knows_no_end(study, refused):
    assert "--until needs all runs" in refused("sweep", study, "--until", "goodput half-width < 1%", "--part", "1/2")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("goodput", ("flows", "goodput_packets")),
        ("throughput", ("flows", "throughput_bit_per_s")),
        ("throughput_bit_per_s", ("flows", "throughput_bit_per_s")),
        ("queues.utilisation", ("queues", "utilisation")),
        ("loss", ("sessions", "loss")),
    ],
)
def test_a_quantity_is_a_column_or_its_beginning(text, found):
    assert enough.quantity(text)[:2] == found


def test_the_answer_so_far_is_that_of_all_runs(study, fairq):
    status, out, err = fairq("sweep", study)
    assert (status, err) == (0, "") and "throughput" in out and " Mbit/s (" in out
    assert out.startswith("Of each group of flows, at each point the mean over runs") and "queueing mean" in out
    status, out, err = fairq("sweep", study, "--until", "max of delay_s_p99 half-width < 1000%")
    assert out.startswith("Of each run the max over its rows") and "delay p99" in out
    assert "Of each group of flows" in out
    rows = sweeping.groups(study, Options())
    results = read_store(study)
    for row in rows:
        values = {}
        for each in results.rows("flows"):
            if (each["buffer"], each["queue"]) == (row["buffer"], row["queue"]):
                values.setdefault(each["seed"], []).append(each["throughput_bit_per_s"])
        means = [sum(one) / len(one) for one in values.values()]
        assert row["throughput_bit_per_s"] == pytest.approx(sum(means) / len(means))
    status, out, _ = fairq("sweep", study, "--quiet")
    assert out == f"{study.with_suffix('')}: 40 done, 0 failed, 0 missing; 0 run now\n"


def test_flows_of_several_entries_are_not_averaged_together(study, fairq):
    line = study.with_name("line.toml")
    call = '[[flows]]\nname = "call"\nfrom = "a"\nto = "b"\ntraffic = { kind = "constant_rate", rate = "100 kbit/s" }\n'
    line.write_text(f"{line.read_text()}{call}")
    fairq("sweep", study)
    rows = sweeping.groups(study, Options())
    assert [row["flow"] for row in rows] == ["file", "call"] * 4 and all(row["queueing_s_mean"] for row in rows)
    for row in rows[1::2]:
        assert row["throughput_bit_per_s"] < 0.2e6


def test_of_many_points_the_answer_shows_the_first(study, fairq):
    values = ", ".join(str(number) for number in range(50))
    study.write_text(
        STUDY.replace("replications = 3", "replications = 1")
        + f"[[axes]]\nname = 'n'\nvalues = [{values}]\n[derive]\ntwice = '2 * n'\n"
    )
    _, out, _ = fairq("sweep", study)
    assert "… and 160 more rows" in out and out.count("\n") < 60


def test_others_are_watched_until_they_are_done(study):
    watching = start(study, "--watch", "--json")
    running = start(study, "--json")
    ran = json.loads(running.communicate(timeout=60)[0])
    seen = json.loads(watching.communicate(timeout=60)[0])
    assert (ran["ran"], seen["done"], seen["ran"], seen["missing"]) == (12, 12, 0, 0)


def test_what_is_left_is_estimated_and_nothing_is_written(study, document):
    before = document("sweep", study, "--dry-run")
    assert (before["points"], before["runs"], before["missing"]) == (4, 12, 12) and before["time_s"] > 0
    assert not study.with_suffix("").exists()
    document("sweep", study, "--part", "1/3")
    assert document("sweep", study, "--dry-run")["missing"] == 8


def test_progress_is_a_line_with_what_is_done_and_the_time_left(study):
    lines = []
    study.write_text(STUDY.replace("replications = 3", 'replications = 30\nset = { "measure.duration" = "20 s" }'))
    fairq.sweep(study, workers=1, show=lines.append)
    shown = [re.fullmatch(r"study +(\d+) %  (\d+) done  (\d+) missing  (\d+) s left.*", line) for line in lines]
    assert any(shown)
    counts = [(int(found[2]), int(found[3])) for found in shown if found]
    assert counts == sorted(counts) and all(done + missing == 120 for done, missing in counts)


def test_a_dry_run_of_runs_of_fifty_days_tries_a_second_of_one(tmp_path, document):
    study = write_study(tmp_path, duration="4294967295 ms")
    left = document("sweep", study, "--dry-run")
    assert left["missing"] == left["runs"] > 0
    assert left["time_s"] > 600
