"""Beside a Linux kernel: the recorded orders of packets, and how the comparison judges."""

import csv
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "tests" / "peers" / "linux"
GIVEN = " ".join([
    "pfifo.steady bfifo.batches prio.burst prio.steady sfq.burst sfq.batches sfq_full.steady drr.burst drr.steady",
    "drr_small.steady qfq.burst qfq.batches qfq_weights.burst qfq_weights.steady ets.steady ets.batches htb.burst",
    "htb.steady hfsc_ls.burst hfsc_ls.batches hfsc_rt.burst hfsc_rt.batches hfsc_ul.burst hfsc_ul.batches fq.burst",
    "fq.batches fq_codel_turns.burst fq_codel_turns.steady fq_codel.steady fq_codel.overload fq_codel_mtu300.steady",
    "cake_flows_turns.burst cake_flows_turns.batches cake_diffserv4_turns.steady cake_diffserv4_turns.batches",
    "cake_shaped_diffserv4_turns.burst cake_shaped_diffserv4_turns.steady cake_dual_dsthost_turns.burst",
    "cake_dual_dsthost_turns.steady cake_dual_srchost_turns.steady cake_flows.steady cake_flows.overload",
    "cake_shaped_flows.steady cake_shaped_flows.unequal codel.overload codel.unequal",
]).split()  # fmt: skip
"""The cases without random numbers of the first record."""


@pytest.fixture(scope="module", autouse=True)
def _modules():
    sys.path[:0] = [str(ROOT / "tests" / "peers")]
    yield
    sys.path.remove(str(ROOT / "tests" / "peers"))


def _compare(*arguments):
    command = [sys.executable, str(LINUX / "compare.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def document():
    done = _compare("--cells", "none", "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_each_case_of_order_agrees_or_has_its_reason(document):
    missing = [row["case"] for row in document["order"] if not row["agrees"] and not row["rules"]]
    assert not missing
    given = [row for row in document["order"] if row["case"] in GIVEN]
    assert len(given) == len(GIVEN) == 46
    assert all(row["agrees"] for row in given), "the kernel's own boots differ where fairq's order does"


def test_the_page_holds_these_tables(document):
    from linux import page

    text = page.PATH.read_text(encoding="utf-8")
    for record in (1, 2):
        assert page.order_table([row for row in document["order"] if row["record"] == record]) in text


def test_the_package_has_the_same_orders(document, tmp_path):
    from linux import reasons, recorded

    recorded.write(document, reasons.rules(), tmp_path)
    name = "linux_order.csv"
    assert (tmp_path / name).read_text("utf-8") == (recorded.FOLDER / name).read_text("utf-8")


def test_the_package_has_a_row_for_each_cell_and_window_of_the_record():
    from linux import compare, reasons, recorded, truth

    with (recorded.FOLDER / "linux_cells.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["cell"], row["window_s"]) for row in rows] == [
        (cell.name, cell.window) for cell in compare.both(truth.OWN)
    ]
    assert list(rows[0]) == recorded.CELLS
    assert {row["verdict"] for row in rows} == {"agrees", "undecided", "differs"}
    assert all(row["rule"] for row in rows if row["verdict"] == "differs")
    assert {rule for row in rows for rule in row["rule"].split(";") if rule} <= set(reasons.rules())
    plain = [row for row in rows if row["plain"] == "1"]
    assert all(row["completion_ms_linux"] == row["up_queue_ms_linux"] == "" for row in plain)
    assert len(plain) > 300


def test_no_case_that_agrees_has_a_reason(document):
    from linux import reasons

    agreeing = {row["case"] for row in document["order"] if row["agrees"]}
    assert not agreeing & {row.case for row in reasons.read()}


def test_each_reason_names_a_rule_and_each_rule_has_a_reason():
    from linux import reasons

    rows, rules = reasons.read(), reasons.rules()
    assert {row.rule for row in rows} == set(rules)
    assert all(not any(sign in row.case for sign in "*?[") or not row.setting for row in rows)


def test_a_reason_of_a_name_goes_before_that_of_a_pattern():
    from linux import reasons

    one = reasons.Reason("cake.a@0-20", "own", "", "", "", None, None)
    known = reasons.Known([reasons.Reason("cake.*", "of all", "", "", "", None, None), one])
    assert (known.rules("cake.a@0-20"), known.rules("cake.b@0-20"), known.rules("pie")) == (["own"], ["of all"], [])


def test_the_truth_has_a_file_for_each_case_and_none_beside():
    from linux import truth

    files = {path.name.removesuffix(".csv.gz") for path in (truth.OWN / "order").glob("*.csv.gz")}
    assert files == set(truth.names(truth.OWN))


def _case(packets, draws=False):
    from linux.truth import Case, Packet

    rows = [Packet(at, 0, 1000, 0, 1, 1, 0, left, None) for at, left in enumerate(packets)]
    return Case("x", "", "", "1Mbit/s", "unlimited", draws, rows)


def test_rank_is_counted_among_the_packets_that_both_sent():
    from linux import order

    # The kernel sends 0 2 1 and drops 3; here 0 is dropped, and 2 1 3 leave: 2 and 1 have their ranks.
    found = order.judged(_case([10, 30, 20, None]), "fifo", {2: 1, 1: 2, 3: 3}, set())
    assert (found.in_place, found.drops_same, found.drops) == (1.0, 0.0, (1, 1))
    assert not found.agrees
    swapped = order.judged(_case([10, 20, 30, None]), "fifo", {0: 1, 2: 2, 1: 3}, set())
    assert (swapped.in_place, swapped.drops_same, swapped.agrees) == (pytest.approx(1 / 3), 1.0, False)
    assert order.judged(_case([10, 20, 30, None]), "fifo", {0: 1, 1: 2, 2: 3}, set()).agrees


def test_of_one_that_draws_only_counts_are_compared():
    from linux import order

    case = _case([at * 10**6 if at % 3 else None for at in range(1, 1001)], draws=True)
    left = {at: (at + 1) * 10**9 for at in range(1000) if at % 3 != 1}
    assert order.judged(case, "x", left, set()).agrees
    half = {at: time for at, time in left.items() if at % 2}
    assert not order.judged(case, "x", half, set()).agrees


def test_an_order_that_differs_from_boot_to_boot_is_compared_by_counts():
    from dataclasses import replace

    from linux import order

    case = _case([at * 10**6 for at in range(1, 101)])
    left = {at: (at + 1) * 10**9 for at in [*range(50, 100), *range(50)]}
    left = {number: (at + 1) * 10**9 for at, number in enumerate(left)}
    assert not order.judged(case, "x", left, set()).agrees
    found = order.judged(replace(case, again=0.8), "x", left, set())
    assert (found.kind, found.agrees) == ("boots", True)


def test_of_several_draws_the_means_are_compared():
    from dataclasses import replace

    from linux import order

    draws = [_case([10**6 if at % 2 else None for at in range(1000)], draws=True)] * 2
    left = [{at: 10**9 for at in range(1000) if at % 10 < tenths} for tenths in (2, 8)]
    found = [
        order.judged(replace(case, name=f"x.{at}"), "", one, set())
        for at, (case, one) in enumerate(zip(draws, left, strict=True))
    ]
    assert not any(one.agrees for one in found)
    (both,) = order.together(found)
    assert (both.case, both.drops, both.agrees) == ("x.*", (1000, 1000), True)


def test_a_class_with_a_discipline_of_its_own_is_known_by_its_commands():
    from linux import truth

    kinds = {case.name: case.has_leaves for case in truth.cases(truth.OWN)}
    assert sum(kinds.values()) == 27
    assert kinds["htb_fq_codel.idle"] and kinds["tbf_fq_codel.steady"]
    assert not kinds["htb.steady"] and not kinds["tbf.steady"]


@pytest.mark.parametrize(
    ("pairs", "misses"),
    [
        ({}, ()),
        ({"share": {"cubic": (0.5, 0.549)}}, ()),
        ({"share": {"cubic": (0.5, 0.551)}}, ("share",)),
        ({"queue": (3.0, 4.0)}, ()),
        ({"queue": (3.0, 4.1)}, ("queue",)),
        ({"queue": (50.0, 59.0)}, ()),
        ({"loss": (0.0, 0.0004)}, ()),
        ({"loss": (0.001, 0.0016)}, ("loss",)),
        ({"marks": (0.001, 0.0014)}, ()),
    ],
)
def test_a_cell_agrees_within_the_tolerances(pairs, misses):
    from linux import cells

    given = {"share": {"cubic": (0.5, 0.5)}, "queue": (3.0, 3.0), "loss": (0.01, 0.01), "marks": (0.0, 0.0), **pairs}
    share = given.pop("share")["cubic"]
    run = _run(share[0] * 20, given["queue"][0], given["loss"][0], given["marks"][0])
    ours = {"share.cubic": share[1], **{name: pair[1] for name, pair in given.items()}}
    assert cells.judged(_cell([run]), [ours]).misses == misses


def _run(goodput_mbit, queue_ms=3.0, loss=0.0, marks=0.0, **more):
    from linux import truth

    return truth.Run([0.0], {"cubic": goodput_mbit}, queue_ms, loss, marks, **more)


def _cell(runs):
    from linux import truth

    return truth.Cell("x", "5-20", "main", 20, 20, "fq", ["cubic"], False, runs)


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([0.50, 0.50, 0.50], "differs"),
        ([0.48, 0.50, 0.52], "differs"),
        ([0.40, 0.50, 0.60], "undecided"),
        ([0.42, 0.62, 0.64], "agrees"),
        ([0.50], "differs"),
    ],
)
def test_less_than_two_standard_errors_of_the_kernels_mean_decide_nothing(shares, says):
    from linux import cells

    # Of 0.40, 0.50 and 0.60 the standard error is 0.058: 0.06 is less than two of them.
    ours = {"share.cubic": 0.56, "queue": 3.0, "loss": 0.0, "marks": 0.0}
    found = cells.judged(_cell([_run(20 * share) for share in shares]), [ours] * len(shares))
    assert found.says == says
    assert (found.misses, found.undecided) == {
        "differs": (("share",), ()), "undecided": ((), ("share",)), "agrees": ((), ()),
    }[says]  # fmt: skip


def test_a_cell_runs_at_the_starts_of_each_run_with_seeds_of_its_own():
    from linux import cells, truth

    cell = next(one for one in truth.cells(truth.OWN) if one.name == "20M.20ms.pfifo.1c1b")
    seen = []
    cells.run_by_run(cell, 20, lambda run, seeds: seen.append((run.starts_s, list(seeds))) or {})
    assert [starts for starts, _ in seen] == [run.starts_s for run in cell.runs]
    assert [seed for _, seeds in seen for seed in seeds] == list(range(1, 22))
    given = cells.scenario(cell, range(4, 7), [0.25, 0.5])
    assert [flow["start"] for flow in given["flows"]] == ["0.250000000 s", "0.500000000 s"]
    assert (given["measure"]["seed"], given["measure"]["replications"]) == (4, 3)


def test_cake_red_and_choke_are_set_up_as_they_were_recorded():
    from linux import cells, truth

    assert cells.queue("cake", 2) == "cake(rate=2Mbit/s)"
    assert "weight=0.03125" in cells.queue("red", 20) and "400packets" in cells.queue("choke", 20)
    known = {one.name: one for one in truth.cells(truth.OWN)}
    cake, fifo = (cells.scenario(known[name], range(1, 2), [0.0])["links"][0] for name in (
        "20M.20ms.cake.1c", "10M.20ms.pfifo.1c",
    ))  # fmt: skip
    assert (cake["rate"], fifo["rate"]) == ("10000 Mbit/s", "10 Mbit/s")


@pytest.mark.parametrize(
    ("pairs", "misses"),
    [
        ({"completion": (100.0, 119.0)}, ()),
        ({"completion": (100.0, 121.0)}, ("completion",)),
        ({"completion": (1000.0, 1099.0)}, ()),
        ({"up_queue": (10.0, 12.1)}, ("up_queue",)),
        ({"up_loss": (0.001, 0.0016)}, ("up_loss",)),
    ],
)
def test_transfers_and_what_goes_up_have_tolerances_too(pairs, misses):
    from linux import cells, connections, truth

    ((name, (linux, fairq)),) = pairs.items()
    column = {"completion": "completion_ms", "up_queue": "up_queue_ms", "up_loss": "up_loss"}[name]
    run = _run(10.0, **{column: linux})
    cell = connections.Cell("kind.x", 20, 20, "pfifo", [connections.Flow("cubic")])
    ours = {"share.cubic": 0.5, "queue": 3.0, "loss": 0.0, "marks": 0.0, name: fairq}
    found = cells.judged(truth.Seen(cell, "5-20", [run]), [ours])
    assert (found.misses, found.group) == (misses, "kind")


def _packets(rows):
    return [{"seed": 1, "sent_s": sent, "received_s": received} for sent, received in rows]


def test_a_burst_is_done_when_all_its_bytes_are_there_in_order():
    from linux import connections, runs

    # Two packets each 100 ms, 20 ms of round trip. The second packet of the first burst is lost and
    # comes again after the next burst began, whose packets wait for it.
    flow = connections.Flow("x", traffic=connections.Bursts(2, 100))
    rows = [(0.0, 0.01), (0.001, None), (0.1, 0.11), (0.12, 0.13), (0.121, 0.131), (0.2, 0.21), (0.201, 0.211)]
    took = runs.burst_ms(_packets(rows), flow, "0-20", 20)
    # The row at 0.1 s is the first one a round trip after the loss: it is what repairs it.
    assert took == pytest.approx((110 + 31 + 11) / 3)
    assert runs.burst_ms(_packets(rows), flow, "5-20", 20) is None


def test_a_packet_sent_again_for_nothing_is_no_new_one():
    from linux import connections, runs

    flow = connections.Flow("x", traffic=connections.Bursts(2, 100))
    rows = [(0.0, 0.01), (0.001, 0.012), (0.05, 0.06), (0.1, 0.11), (0.101, 0.112)]
    assert runs.burst_ms(_packets(rows), flow, "0-20", 20) == pytest.approx(12)


def test_the_record_has_runs_of_each_cell_of_connections_and_no_other():
    from linux import connections, truth

    found = truth.seen(truth.OWN)
    assert [(one.name, one.window) for one in found] == [
        (cell.name, window) for cell in connections.cells() for window in connections.WINDOWS
    ]
    assert {len(one.runs) for one in found if one.record == 1} == {3}
    assert {len(one.runs) for one in found if one.record == 2} == {2, 3}
    assert all(len(run.starts_s) == len(one.cell.each) for one in found for run in one.runs)
    # A kernel fills each line, or its flows do not ask for as much.
    greedy = [one for one in found if one.group in ("ecn", "round_trips", "step") and one.window == "5-20"]
    assert greedy
    assert all(0.75 < sum(run.goodput_mbit.values()) / one.rate_mbit <= 1.001 for one in greedy for run in one.runs)


def test_the_kernel_ran_seven_times_where_two_controls_share_a_queue():
    from linux import truth

    found = truth.cells(truth.OWN)
    mixed = [one for one in found if any(word in ("1c1b", "2r2c") for word in one.name.split("."))]
    assert mixed and {len(one.runs) for one in mixed} <= {3, 7}
    assert {len(one.runs) for one in mixed if one.name.endswith(".1c1b")} == {7}
    assert {one.group for one in found if one.record == 2} == {"slow", "dctcp10", "pairs"}


def test_a_job_of_the_guest_and_a_scenario_say_the_same_of_each_cell():
    from linux import connections, runs

    for cell in connections.cells():
        job = connections.job(cell, 0)
        scenario = runs.scenario(cell, "0-20", range(1, 2), connections.starts_s(cell, 0))
        assert len(job["flows"]) == len(scenario["flows"])
        assert job == connections.job(cell, 0)
        assert job["flows"] != connections.job(cell, 1)["flows"], "each run has its own starts"
        for told, flow in zip(job["flows"], scenario["flows"], strict=True):
            assert told["up"] == (flow["from"] == "receiver")
            assert ("window" in told) == ("connection" in flow)
            assert told.get("tos", 0) == flow.get("tos", 0)
            assert flow["start"] == f"{told['start']:.9f} s"
            size = flow["traffic"].get("size")
            if size is not None:
                assert told["bytes"] * connections.FRAME == int(size.split()[0]) * connections.DATA


def test_a_run_of_the_guest_becomes_rows():
    from linux import connections, seen

    cell = connections.Cell("kind.x", 20, 20, "pfifo", [connections.Flow("a", traffic=connections.Responses(2, 10))])
    second, frame = 10**9, (1514, 10000)
    given = {
        "zero_ns": 0,
        "of": [0],
        "transfers": [[0, 6 * second, 7 * second, 8 * second], [0, 8 * second, None, None]],
        # Number 7 is dropped and sent again as 9, which is marked; number 8 comes twice; 1 opens the connection.
        "in": [
            [second, 1, 74, 10000, 0, 5], [second, 7, *frame, 2, 100], [6 * second, 8, *frame, 2, 1548],
            [6 * second, 9, *frame, 2, 100], [6 * second, 10, *frame, 2, 1548],
        ],
        "out": [
            [second, 1, 74, 10000, 0, 5], [6 * second + 10**6, 8, *frame, 2, 1548],
            [6 * second + 3 * 10**6, 9, *frame, 3, 100], [6 * second + 2 * 10**6, 10, *frame, 2, 1548],
        ],
    }  # fmt: skip
    given["in"].append([19 * second, 2, 74, 20000, 0, 5])
    whole, late = (dict(zip(seen.COLUMNS, row, strict=True)) for row in seen.rows(cell, 0, given))
    assert (whole["sent"], whole["dropped"], whole["marked"]) == (4, 1, 1)
    assert (late["sent"], late["dropped"], late["marked"], late["queue_ms"]) == (3, 0, 1, "2.0000")
    assert float(late["goodput_mbit"]) == pytest.approx(2 * 1514 * 8 / 15e6, abs=1e-4)
    assert (late["transfers"], float(late["completion_ms"])) == (1, 2000.0)


@pytest.mark.parametrize(
    "name",
    [
        "transfers.20M.20ms.pfifo.20",
        "bursts.20M.20ms.pfifo.long",
        "two_way.20M.20ms.fq_codel.2M",
        "windows.20M.20ms.pfifo.20",
    ],
)
def test_a_cell_of_connections_is_compared(name):
    done = _compare("--cases", "none", "--cells", name, "--seeds", "2", "--json")
    document = json.loads(done.stdout)
    rows = document["cells"]
    kind = name.partition(".")[0]
    assert [(row["window"], row["group"]) for row in rows] == [("0-20", kind), ("5-20", kind)]
    assert {sum(count.values()) for count in document["summary"]["kinds"][kind].values()} == {1}
    assert all(("completion" in row) == (kind in ("transfers", "bursts")) for row in rows)
    assert all(("up_queue" in row) == (kind == "two_way") for row in rows)
    assert all(0 < pair["fairq"] <= 1.001 for row in rows for pair in row["share"].values())


def test_a_cell_of_two_flows_runs_and_says_what_each_control_got():
    done = _compare("--cases", "none", "--cells", "10M.20ms.pfifo.1c", "--seeds", "2", "--json")
    rows = json.loads(done.stdout)["cells"]
    assert [row["window"] for row in rows] == ["0-20", "5-20"]
    assert all(0.9 < row["share"]["cubic"]["fairq"] < 1.001 for row in rows)
    assert all(row["queue"]["fairq"] > 20 for row in rows)


def test_what_lacks_in_a_folder_of_truth_is_named(tmp_path):
    assert "order/cells.csv" in _compare("--truth", str(tmp_path)).stderr
    shutil.copytree(LINUX / "truth" / "order", tmp_path / "order")
    (tmp_path / "order" / "pfifo.steady.csv.gz").unlink()
    done = _compare("--truth", str(tmp_path), "--cells", "none")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "pfifo.steady.csv.gz" in done.stderr
    (tmp_path / "order" / "pfifo.steady.csv.gz").write_bytes(b"no gzip")
    assert "pfifo.steady.csv.gz" in _compare("--truth", str(tmp_path), "--cells", "none").stderr
    done = _compare("--truth", str(tmp_path), "--cases", "none", "--cells", "20M.*")
    assert done.returncode == 2 and "tcp.csv" in done.stderr


CASES = b"case,tc,fairq,rate,buffer,draws,again,record\n"
ONE = CASES + b"x,qdisc add dev r1 root pfifo,fifo,1Mbit/s,unlimited,0,,1\n"
PACKETS = b"packet,flow,bytes,tos,source,sink,arrival_ns,departure_ns\n"


@pytest.mark.parametrize(
    ("table", "packets", "said"),
    [
        (b"kind,arrivals\n1,2\n", b"", "no column case"),
        (b"", b"", "no column case"),
        (CASES, b"", "no case"),
        (CASES + b"x,qdisc\n", b"", "before fairq"),
        (CASES + b"\xff\xfe,,,,,\n", b"", "decode"),
        (ONE, b"packet,flow\n0,1\n", "no column bytes"),
        (ONE, b"", "no column packet"),
        (ONE, PACKETS, "no packet"),
        (ONE, PACKETS + b"0,1,1500\n", "before tos"),
        (ONE, PACKETS + b"0,1,1500,0,1,1,zero,\n", "packet 0"),
        (ONE, PACKETS + b"0,1,1500,256,1,1,0,\n", "tos 256"),
        (ONE, PACKETS + b"7,1,1500,0,1,1,0,\n", "number 0"),
        (ONE.replace(b"pfifo", b"pfifio"), PACKETS + b"0,1,1500,0,1,1,0,\n", "x: tc: qdisc"),
        (ONE.replace(b"1Mbit/s", b"fast"), PACKETS + b"0,1,1500,0,1,1,0,\n", "fast"),
    ],
)
def test_a_table_of_truth_that_is_wrong_is_one_line(tmp_path, table, packets, said):
    (tmp_path / "order").mkdir()
    (tmp_path / "order" / "cells.csv").write_bytes(table)
    (tmp_path / "order" / "x.csv.gz").write_bytes(gzip.compress(packets))
    done = _compare("--truth", str(tmp_path), "--cells", "none", "--cases", "x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda head, row: (head.replace("cell", "name"), row), "no column cell"),
        (lambda head, row: (head, row[: len(row) // 2]), "the row ends before"),
        (lambda head, row: (head, row.replace(",20,20,", ",zero,20,")), "zero"),
        (lambda head, row: (head, row.replace(",0-20,", ",all,")), "window"),
        (lambda head, row: (head, ""), "no cell"),
    ],
)
def test_a_table_of_connections_that_is_wrong_is_one_line(tmp_path, change, said):
    lines = (LINUX / "truth" / "tcp.csv").read_text(encoding="utf-8").splitlines()[:2]
    shutil.copytree(LINUX / "truth" / "order", tmp_path / "order")
    (tmp_path / "tcp.csv").write_text("\n".join(change(*lines)), encoding="utf-8")
    done = _compare("--truth", str(tmp_path), "--cases", "none", "--cells", "*")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr and "tcp.csv" in done.stderr


def test_a_pattern_that_matches_nothing_names_what_there_is():
    done = _compare("--cases", "nosuch*", "--cells", "none")
    assert done.returncode == 2
    assert "nosuch*" in done.stderr and "pfifo.steady" in done.stderr


def test_the_projects_own_arrivals_are_the_same_each_time():
    from linux import arrivals

    first, second = arrivals.recordings(), arrivals.recordings()
    assert first == second
    assert len({one.name for one in first}) == len(first)
    assert all(list(one.arrivals) == sorted(one.arrivals, key=lambda p: p.time) for one in first)


def test_the_kernels_source_is_changed_where_it_was_or_not_at_all(tmp_path):
    from linux import kernel
    from programs import Fault

    for name, edits in kernel.CHANGES.items():
        path = tmp_path / Path(name).name
        path.write_text("\n".join(old for old, _ in edits))
        kernel._change(path, edits)
        text = path.read_text()
        assert all(new in text for _, new in edits)
        path.write_text("other source")
        with pytest.raises(Fault, match=r"is not where it was in Linux"):
            kernel._change(path, edits)
        assert path.read_text() == "other source"


def test_a_setting_is_tried_and_what_agrees_can_be_left_out():
    given = ["--cases", "none", "--kinds", "step", "--cells", "*.dropped", "--seeds", "3"]
    usual = json.loads(_compare(*given, "--json").stdout)["cells"]
    small = json.loads(_compare(*given, "--set", "defaults.connection.receive_window=2", "--json").stdout)["cells"]
    assert {row["cell"] for row in usual} == {"step.20M.20ms.dropped"}
    assert all(row["share"]["reno"]["fairq"] < 0.1 for row in small)
    assert "queueing" not in _compare("--cases", "pfifo.steady", "--cells", "none", "--differing").stdout
    assert "PATH=VALUE" in _compare(*given, "--set", "pacing").stderr


def test_only_all_of_it_is_written():
    for given in (["--quick"], ["--cells", "none"], ["--kinds", "pairs"], ["--cases", "none"], ["--set", "a=b"]):
        done = _compare("--write", *given)
        assert done.returncode == 2 and "--write is of all" in done.stderr
