"""`fairq serve`: a log and random requests under policies, bad input, and the figure."""

import doctest
import json
import re
import shlex
from pathlib import Path

import pytest

import fairq
from fairq.cli import program

ROOT = Path(__file__).resolve().parents[2]

LOG = """time,tenant,cost,end
0,greedy,4,4
0,greedy,4,8
0,greedy,4,12
1,small,1,13
2,small,1,14
"""

RANDOM = "greedy:rate=40/s,cost=exponential(mean=200ms);small:rate=1/s,cost=exponential(mean=100ms)"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "requests.csv"
    path.write_text(LOG)
    return path


def test_a_log_is_served_in_the_order_of_each_policy(log, document):
    found = document("serve", log, "--seats", 1, "--policy", "fcfs,round_robin")
    rows = {(row["policy"], row["tenant"]): row for row in found["rows"]}
    # They start at 12 s and 13 s; in turns at 8 s and 13 s.
    assert rows["fcfs", "small"]["waiting_s_mean"] == 11 and rows["round_robin", "small"]["waiting_s_mean"] == 9
    assert rows["fcfs", "small"]["share"] == pytest.approx(1 / 12)
    assert rows["fcfs", "small"]["max_min_share"] == pytest.approx(6.5 / 12)
    assert rows["fcfs", "greedy"]["waiting_s_p99"] == 8 and rows["fcfs", "greedy"]["slowdown_mean"] == 2
    assert rows["fcfs", "small"]["gap_s"] == 8 and rows["fcfs", "small"]["gap_to"] == "greedy"
    assert rows["fcfs", "small"]["bound_s"] is None
    assert found["answer"]["tenant"] == "small" and "`small`, which asks least," in found["answer"]["text"]


def test_json_lines_parquet_and_standard_input_say_the_same(log, tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    table = polars.read_csv(log)
    lines, parquet = tmp_path / "requests.jsonl", tmp_path / "requests.parquet"
    table.write_ndjson(lines)
    table.write_parquet(parquet)
    dated = tmp_path / "dated.parquet"
    table.with_columns(polars.from_epoch(1_700_000_000 + polars.col("time"))).write_parquet(dated)
    whole = fairq.serve(log, seats=1, workers=1)
    for path in (lines, parquet, dated):
        assert fairq.serve(path, seats=1, workers=1).rows == whole.rows, path
    named = fairq.serve(log, seats=1, weights="greedy=1,small=2", workers=1)
    assert named == fairq.serve(log, seats=1, weights={"greedy": 1, "small": 2}, workers=1)
    assert named.rows != whole.rows and named.tenants[1].weight == 2


def test_the_small_tenant_of_random_requests_is_kept_from_the_greedy_one():
    found = fairq.serve(tenants=RANDOM, seats=4, policy="fcfs,sfq_d,vtc", seeds=4, duration="30s", workers=2)
    small = {row.policy: row for row in found.rows if row.tenant == "small"}
    assert small["fcfs"].waiting_s_p99 > 10 * small["sfq_d"].waiting_s_p99
    for row in found.rows:
        assert row.waiting_s_mean_low <= row.waiting_s_mean <= row.waiting_s_mean_high
        assert row.bound_s is None or row.gap_s is None or row.gap_s <= row.bound_s
    assert found.answer.decided and "fcfs" not in found.answer.best
    assert found == fairq.serve(tenants=RANDOM, seats=4, policy="fcfs,sfq_d,vtc", seeds=4, duration="30s", workers=1)


def test_a_log_with_ends_says_which_policy_it_looks_like(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["time,tenant,cost,end_time"]
    # One seat in turns, of two tenants that flood it.
    waiting = {"a": 30, "b": 30}
    ends = {name: [1 + at + 2 * turn for turn in range(30)] for at, name in enumerate(waiting)}
    rows += [f"0,{name},1,{end}" for name in waiting for end in ends[name]]
    path.write_text("\n".join(rows) + "\n")
    found = fairq.serve(path, seats=1, policy="fcfs,round_robin", done="end_time", workers=1)
    assert found.answer.looks_like == "round_robin" and found.likeness[0].agreement == 1
    assert [row.policy for row in found.rows] == ["log", "log", "fcfs", "fcfs", "round_robin", "round_robin"]
    as_it_was = found.rows[0]
    assert as_it_was.share == pytest.approx(0.5, abs=0.02) and as_it_was.max_min_share == pytest.approx(0.5, abs=0.02)


def test_the_tables_and_the_figure(log, tmp_path, capsys):
    picture = tmp_path / "served.svg"
    assert program.main(["serve", str(log), "--seats", "1", "--plot", str(picture)]) == 0
    said = capsys.readouterr()
    assert "Tenants under policies" in said.out and "gap" in said.out and f"Written: {picture}" in said.out
    assert "99 % of the requests of `small`" in said.out and said.err == ""
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,tenant,cost\n0,a,-1\n", "row 2, column cost: `-1` is negative; write 0 or more"),
        ("time,tenant,cost\n2,a,1\n1,a,1\n", "row 3, column time: `1` is before `2`"),
        ("time,tenant,cost\n0,a,1\n1,a\n", "row 3, column cost: is missing: the row is cut short"),
        ("time,cost\n0,1\n", "column tenant: is missing; there are time, cost"),
        ("time,tenant,cost,Cost\n0,a,1,1\n", "row 1, column cost: is there twice; leave one of them out"),
        ('[{"time":0,"tenant":"a","cost":1}]', "row 1, column 1: is no object; write one object a line"),
        ("", "has no request"),
    ],
)
def test_a_wrong_row_is_told_with_its_column(tmp_path, capsys, text, says):
    path = tmp_path / "log.csv"
    path.write_text(text)
    assert program.main(["serve", str(path), "--seats", "2"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and f"{path}: " in said.err and says in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"seats": 0}, "seats: 0 is none; write a whole number from 1 up"),
        ({"policy": "fcfs(depth=2)"}, "policy: depth: fcfs has no settings"),
        ({"policy": "vct"}, "policy: `vct` is no policy; did you mean vtc?"),
        ({"weights": {"smal": 2}}, "weights: `smal` is no tenant of these requests; did you mean small?"),
        ({"weights": "small"}, "weights: `small` is not TENANT=NUMBER"),
        ({"priorities": "small=-1"}, "priorities: `small=-1` is no whole number from 0 up"),
        ({"cost_known": "perhaps"}, "cost_known: `perhaps` is not known here"),
        ({"tenants": RANDOM}, "tenants: goes without a log"),
        ({"seeds": 3}, "seeds: is of random requests; a log is served once"),
        ({"duration": "9s"}, "duration: is of random requests"),
        ({"done": "ended"}, "column ended: is missing; there are time, tenant, cost, end"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_one_line(log, words, says):
    with pytest.raises(fairq.UsageError) as refused:
        fairq.serve(log, **{"seats": 2, **words})
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_the_document_is_that_of_its_schema(log):
    jsonschema = pytest.importorskip("jsonschema")
    found = fairq.serve(log, seats=1, done="end", workers=1)
    jsonschema.validate(json.loads(json.dumps(found.document)), fairq.schema("serve"))


def test_a_note_tells_that_a_log_has_more_seats_but_not_that_its_times_are_rounded(tmp_path):
    def notes(seats, seconds):
        path = tmp_path / f"{seats} {seconds}.csv"
        ends = [f"{at / 2},a,{seconds},{at / 2 + seconds}" for at in range(40)]
        path.write_text("\n".join(["time,tenant,cost,end", *ends]))
        found = fairq.serve(path, seats=seats, policy="fcfs", done="end", workers=1)
        return [row.note for row in found.policies]

    assert notes(2, 1.5) == ["as many as 3 seats were taken at once; give --seats 3", None]
    assert notes(3, 1.5) == [None, None]
    assert notes(3, 1.501) == [None, None]


def test_a_cost_that_is_longer_than_the_request_took_is_refused(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("time,tenant,cost,end\n0,a,200,0.2\n")
    assert program.main(["serve", str(path), "--seats", "1", "--done", "end"]) == 2
    said = capsys.readouterr().err
    assert "row 2, column cost: `200` is longer than from the time of the request to its end, 0.2 s;" in said
    found = fairq.serve(path, seats=1, done="end", speed=1000, workers=1)
    assert found.tenants[0].cost_s_max == 0.2


def test_the_bound_is_of_the_policy_whether_a_tenant_fell_behind_or_not(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"Time":0,"TENANT":"a","cost":1}\n{"time":5,"tenant":"b","cost":1}\n')
    (a, b) = fairq.serve(path, seats=1, policy="sfq_d", workers=1).rows
    assert (a.gap_s, b.gap_s) == (None, None) and a.bound_s == b.bound_s > 0


def test_the_answer_is_of_a_tenant_that_asks_little_and_often_enough(tmp_path):
    path = tmp_path / "log.csv"
    rows = [(at, name) for at in range(200) for name in ("a", "b")] + [(200, "once")]
    path.write_text("time,tenant,cost\n" + "".join(f"{at},{name},1\n" for at, name in rows))
    found = fairq.serve(path, seats=1, policy="fcfs", workers=1)
    assert found.answer.tenant == "b" and "`b`, which waits longest of those that ask least," in found.text


def test_a_quantum_is_in_units_of_cost_or_a_time(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,tenant,cost\n" + "0,a,1000\n" * 6 + "0,b,1000\n" * 6)
    policies = ["drr(quantum=2000)", "drr(quantum=2s)", "drr(quantum=1)"]
    found = fairq.serve(path, seats=1, speed=1000, policy=policies, workers=1)
    waits = [row.waiting_s_mean for row in found.rows if row.tenant == "b"]
    assert waits[0] == waits[1] != waits[2]


def test_the_page_from_a_log_to_a_policy_shows_what_is_so(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "guide" / "log-to-policy.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    (program_of_log,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(program_of_log, "log-to-policy", "exec"), {})
    (command,) = re.findall(r"```sh\nfairq (.*?)\n```", page, re.DOTALL)
    assert program.main(shlex.split(command.replace("\\\n", ""))) == 0
    (session,) = re.findall(r"```pycon\n(.*?)```", page, re.DOTALL)
    done = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(session, {}, "page", None, 0))
    assert done.attempted == 4 and done.failed == 0
    assert Path("served.svg").read_text().startswith("<?xml")
