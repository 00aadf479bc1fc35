"""`fairq compare`: what its words mean, the scenario they make, and what makes no sense."""

import json
import math
import shlex
import tomllib

import pytest

import fairq as package
from fairq import figures, plots
from fairq.core.inputs import Text
from fairq.questions import asked, network, rates, words
from fairq.questions.question_results import Comparison

LINE = ("--rate", "10Mbit/s", "--rtt", "20ms", "--seeds", "2", "--warm-up", "5s", "--duration", "2s", "--quiet")


def scenario(**said):
    return tomllib.loads(network.scenario(asked.ask(**{"rate": "10Mbit/s", "rtt": "20ms"} | said)).text)


@pytest.mark.parametrize(
    ("text", "name", "settings", "count", "rtt", "options"),
    [
        ("cubic", "cubic", "", None, None, {}),
        ("cubic:2", "cubic", "", 2, None, {}),
        ("cubic@40ms", "cubic", "", None, "40ms", {}),
        ("cubic(decrease=0.8, scale=0.2):3@1s", "cubic", "decrease=0.8, scale=0.2", 3, "1s", {}),
        ("reno@40ms:2", "reno", "", 2, "40ms", {}),
        ("cubic:3(decrease=0.8)(start=5s)", "cubic", "decrease=0.8", 3, None, {"start": "5s"}),
        ("bbr(start=5s)", "bbr", "", None, None, {"start": "5s"}),
        ("cubic(decrease=0.8)(direction=up,size=1MB)", "cubic", "decrease=0.8", None, None,
         {"direction": "up", "size": "1MB"}),
        ("web", "web", "", None, None, {}),
        ("web(size=pareto(mean=8kB, shape=1.2)):2", "web", "size=pareto(mean=8kB, shape=1.2)", 2, None, {}),
        ("call(rate=64kbit/s):3(direction=up)", "call", "rate=64kbit/s", 3, None, {"direction": "up"}),
    ],
)  # fmt: skip
def test_an_item_of_flows_is_a_control_with_settings_count_round_trip_and_options(
    text, name, settings, count, rtt, options
):
    (found,) = words.items(text)
    assert (found.name, found.settings, found.count, found.rtt, found.options) == (name, settings, count, rtt, options)


@pytest.mark.parametrize(
    ("rate", "down", "up"),
    [
        ("100Mbit/s", "100Mbit/s", "100Mbit/s"),
        ("50Mbit/s/10Mbit/s", "50Mbit/s", "10Mbit/s"),
        ("50 Mbit/s / 10 Mbit/s", "50 Mbit/s", "10 Mbit/s"),
        ("30Mbit/s..130Mbit/s", "30Mbit/s..130Mbit/s", "30Mbit/s..130Mbit/s"),
        ("30Mbit/s..130Mbit/s/10Mbit/s", "30Mbit/s..130Mbit/s", "10Mbit/s"),
        ("50Mbit/s/1Mbit/s..4Mbit/s", "50Mbit/s", "1Mbit/s..4Mbit/s"),
    ],
)
def test_a_rate_may_be_another_up(rate, down, up):
    assert rates.of_ways(rate) == (down, up)


def test_lists_cross_and_a_single_value_makes_no_axis():
    made = scenario(flows="cubic", queue="fifo,cake", buffer=["1BDP", "100packets"], rtt="20ms,80ms")
    assert [(axis["name"], len(axis["values"])) for axis in made["axes"]] == [("queue", 2), ("buffer", 2), ("rtt", 2)]
    assert "axes" not in scenario(flows="cubic", queue="cake")


def test_a_flow_has_the_round_trip_that_its_item_says():
    made = scenario(flows="cubic,cubic@50ms,reno@50ms(direction=up)", rtt="20ms,30ms")
    delays = {"line": made["links"][0]["delay"], **{flow["name"]: flow for flow in made["flows"]}}
    assert delays["line"] == "10 ms"
    assert "access" not in delays["cubic"]
    assert delays["cubic@50ms"]["access"]["delay"] == "15 ms"
    assert delays["reno@50ms(direction=up)"]["sink_access"]["delay"] == "15 ms"
    assert made["axes"][0]["values"][1]["set"] == {
        "links.line.delay": "15 ms",
        "flows[1].access.delay": "10 ms",
        "flows[2].sink_access.delay": "10 ms",
    }


def test_without_a_round_trip_the_line_has_the_shortest_of_its_flows():
    assert scenario(flows="cubic@50ms,reno@30ms", rtt=None)["links"][0]["delay"] == "15 ms"


def test_round_trips_of_a_run_are_those_that_were_asked_for():
    """A flow whose queue is short has a round trip of the propagation and of transmissions."""
    found = package.compare(rate="1Gbit/s", flows="vegas@30ms,vegas@90ms(direction=up)", seeds=1, duration="1 s")
    rows = package.run(Text(found.scenario, "compare")).flows
    for row, rtt in zip(rows, (0.030, 0.090), strict=True):
        assert row["rtt_s_mean"] == pytest.approx(rtt, rel=0.05)


def test_clients_are_shared_by_their_connections_which_take_the_items_in_turn():
    made = scenario(flows="cubic,call(rate=100kbit/s)", hosts="2x1,1x3")
    assert [link["name"] for link in made["links"][1:]] == ["2x1.1", "2x1.2", "1x3.1"]
    ends = [(flow["to"], flow["traffic"].partition("(")[0], flow.get("count", 1)) for flow in made["flows"]]
    assert ends == [("2x1.1", "ftp", 1), ("2x1.2", "ftp", 1), ("1x3.1", "ftp", 2), ("1x3.1", "constant_rate", 1)]


def test_a_host_queue_is_on_every_host_that_sends_and_paces_there():
    up = scenario(flows="cubic(direction=up),reno", hosts="2x2", host_queue="linux_fq,fq_codel")
    assert [link.get("reverse_queue") for link in up["links"]] == [None, "linux_fq", "linux_fq"]
    values = {value["name"]: value["set"] for value in up["axes"][0]["values"]}
    for number, flow in enumerate(up["flows"]):
        if flow["from"] == "servers":
            assert values["fq_codel"][f"flows[{number}].access.host_queue"] == "fq_codel"
        else:
            assert values["linux_fq"][f"flows[{number}].connection"] == {"profile": "linux", "pacing": True}
            assert values["fq_codel"][f"flows[{number}].connection"] == "linux"


def test_marks_are_asked_of_flows_and_queues_that_have_them():
    made = scenario(flows="cubic(decrease=0.8),bbr,web,dctcp", queue="codel + 100packets,fq_pie,cake,red(ecn=false)",
                    ecn=True)  # fmt: skip
    assert [flow["transport"] for flow in made["flows"]] == [
        "cubic(decrease=0.8, ecn=true)", "bbr", "cubic(ecn=true)", "dctcp"
    ]  # fmt: skip
    queues = [value["set"]["links.line.queue"] for value in made["axes"][0]["values"]]
    assert queues == ["codel(ecn=true) + 100packets", "fq_pie(pie=(ecn=true))", "cake", "red(ecn=false)"]
    codes = {note["where"]: note["code"] for note in asked.notes(asked.ask(rate="1Mbit/s", rtt="1s", flows="bbr,cubic",
                                                                          ecn=True, buffer="1BDP"))}  # fmt: skip
    assert codes == {"--flows bbr": "ecn"}


def test_the_papers_queues_are_told_apart_from_linuxs(fairq):
    _, _, err = fairq("compare", *LINE[:-1], "--flows", "cubic", "--queue", "fq,sfq", "--buffer", "1BDP")
    assert err.splitlines() == [
        "fairq: note: --queue fq: the papers'; Linux's is linux_fq [papers]",
        "fairq: note: --queue sfq: the papers'; Linux's is linux_sfq [papers]",
    ]
    assert fairq("compare", *LINE[:-1], "--flows", "cubic", "--queue", "linux_fq", "--buffer", "1BDP")[2] == ""


def test_marks_are_turned_on_beside_the_settings_that_a_queue_has(document):
    """In a part with settings of its own too, as fq_pie's pie."""
    queues = ("fq_pie", "fq_pie(quantum=300B, pie=(target=1ms))", "pie(target=1ms)")
    line = ["--rate", "20Mbit/s", "--rtt", "20ms", "--flows", "cubic:2", "--seeds", "1", "--duration", "3s", "--ecn"]
    found = document("compare", *line, "--queue", ",".join(queues), "--quiet")
    marked = {row["queue"]: row["marked"] for row in found["rows"]}
    assert list(marked) == list(queues)
    assert all(marked.values())


@pytest.mark.parametrize("control", ["tahoe", "packet_pair"])
def test_a_control_has_the_connection_that_it_needs_whatever_the_profile_has(document, control):
    """Tahoe's window would not grow in RACK's recovery; packet pair needs each answer."""
    line = ["--rate", "10Mbit/s", "--rtt", "40ms", "--queue", "drr", "--seeds", "1", "--duration", "10s", "--quiet"]
    found = document("compare", *line, "--flows", f"{control},reno")
    share = {row["flow"]: row["share"] for row in found["rows"]}
    assert share[control] > 0.3


def test_the_scenario_that_is_written_runs_to_the_same_numbers(document, tmp_path):
    """Over axes, hosts, both directions, transfers, marks and loss."""
    path = tmp_path / "asked.toml"
    said = "--rate 20Mbit/s/5Mbit/s --rtt 20ms,40ms --flows cubic:2,reno@60ms(direction=up),web,cubic(size=1MB) --queue"
    found = document("compare", *shlex.split(said.replace("(", "'(").replace(")", ")'")), "fifo,fq_codel", "--ecn",
                     "--loss", "0.1%", "--seeds", "2", "--duration", "3s", "--quiet", "--scenario", path)  # fmt: skip
    run = package.run(path)
    rows = {(row["queue"], row["rtt_s"], row["flow"]): row for row in found["rows"]}
    for flow in ("cubic.1", "cubic.2"):
        assert flow in run.flows.column("flow")
    for queue in ("fifo", "fq_codel"):
        for rtt in (0.02, 0.04):
            at = {"queue": queue, "rtt": f"{rtt * 1000:g}ms"}
            mine = [row for row in run.flows if all(row[name] == value for name, value in at.items())]
            up = [row for row in found["rows"] if row["queue"] == queue and row["direction"] == "up"]
            assert {row["rtt_s"] for row in up} == {0.06}
            assert any(row["retransmitted"] == mine[2]["retransmitted"] for row in up)
            both = [row for row in mine if row["flow"] in ("cubic.1", "cubic.2")]
            sums = math.fsum(row["retransmitted"] for row in both)
            assert rows[queue, rtt, "cubic"]["retransmitted"] == pytest.approx(sums)
            done = next(row for row in run.transfers if row["flow"].startswith("cubic(size") and row["size"] == "all"
                        and all(row[name] == value for name, value in at.items()))  # fmt: skip
            assert rows[queue, rtt, "cubic(size=1MB)"]["completion_s_mean"] == pytest.approx(done["completion_s_mean"])


def test_the_function_gives_what_the_command_prints(document):
    printed = document("compare", *LINE, "--flows", "cubic,bbr", "--queue", "fifo,fq_codel", "--paired")
    found = package.compare(rate="10Mbit/s", rtt="20ms", flows=["cubic", "bbr"], queue=("fifo", "fq_codel"), seeds=2,
                            warm_up="5s", duration="2s", paired=True, workers=1)  # fmt: skip
    assert json.loads(json.dumps(found.document)) == printed


def test_shares_and_losses_are_parts_and_intervals_stay_where_the_possible_ends(document):
    found = document("compare", *LINE, "--flows", "cubic,bbr,call(rate=50kbit/s)", "--queue", "fifo,cake", "--buffer",
                     "0.5BDP")  # fmt: skip
    for row in found["rows"]:
        for name in ("share", "loss", "marked_ratio"):
            assert 0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1, (name, row)
        for name in ("goodput_bit_per_s", "queueing_s_mean", "queueing_s_p99"):
            assert 0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"], (name, row)
    for row in found["queues"]:
        assert 0 <= row["jain_low"] <= row["jain"] <= row["jain_high"] <= 1


def test_differences_are_of_the_same_seeds(document):
    """A queue beside itself under another name: each difference is zero, and stays undecided."""
    found = document("compare", *LINE, "--flows", "cubic,bbr", "--queue", "fq_codel,fq_codel(target=5ms)", "--paired")
    between = [row for row in found["paired"] if row["quantity"] != "share_per_flow"]
    assert between and all(row["difference"] == 0 and not row["decided"] for row in between)
    assert all(row["more_seeds"] is None for row in between)


def test_a_group_on_hosts_has_the_share_of_one_host(fairq, document):
    said = ("compare", *LINE, "--flows", "cubic", "--queue", "fifo,cake")
    rows = document(*said, "--hosts", "3x1,1x4")["rows"]
    for row in rows:
        assert row["share_per_host"] == pytest.approx(row["share"] / row["hosts"], rel=0.05)
        assert 0 <= row["share_per_host_low"] <= row["share_per_host"] <= row["share_per_host_high"] <= 1
    assert {row["hosts"] for row in rows} == {3, 1}
    assert "share per host" in fairq(*said, "--hosts", "3x1,1x4")[1]
    assert {row["share_per_host"] for row in document(*said)["rows"]} == {None}


def test_queues_that_are_equal_leave_numbers_in_the_tables(fairq):
    out = fairq("compare", *LINE, "--flows", "cubic", "--queue", "drr,drr(quantum=1500B)")[1]
    flows, queues = out.split("\n\n")[:2]
    assert "share" in flows.splitlines()[2] and "queueing mean" in flows.splitlines()[2]
    assert "utilisation" in queues.splitlines()[2]


def test_one_seed_has_no_interval_and_decides_nothing(document):
    found = document("compare", *LINE, "--flows", "cubic,bbr", "--queue", "fifo,fq_codel", "--seeds", "1", "--paired")
    assert all(row["share_low"] is None and row["seeds"] == 1 for row in found["rows"])
    assert found["paired"] == [] and not found["answer"]["decided"]
    assert "One seed decides nothing." in found["answer"]["text"]


@pytest.mark.parametrize(
    ("said", "quantity", "best"),
    [
        ("cubic,call(rate=100kbit/s)", "queueing_s_p99", "fq_codel"),
        ("cubic,bbr", "jain", "fq_codel"),
        ("cubic:2,flood(rate=20Mbit/s)", "share", "fq_codel"),
        ("cubic:4,reno(size=100kB)", "completion_s_mean", "fq_codel"),
        ("cubic", "queueing_s_mean", "fq_codel"),
    ],
)
def test_choices_are_ranked_by_what_the_flows_are_about(document, said, quantity, best):
    found = document("compare", *LINE, "--flows", said, "--queue", "fifo,fq_codel", "--duration", "5s")["answer"]
    assert (found["quantity"], found["best"]) == (quantity, best)
    assert best in found["text"]


def test_queues_that_leave_the_line_unused_and_both_directions_are_in_the_sentence(document):
    said = "--flows", "cubic:2,cubic:2(direction=up)", "--queue", "fifo,fq_codel", "--rate", "20Mbit/s/1Mbit/s"
    text = document("compare", *LINE, *said)["answer"]["text"]
    assert text.startswith("fq_codel uses the line best: mean queueing delay ")
    assert "fifo leaves more of the line unused." in text
    assert "Mean queueing delay (up): " in text


def test_equal_delays_of_a_call_are_said_to_be_the_calls(document):
    text = document("compare", *LINE, "--flows", "call(rate=100kbit/s)", "--queue", "fifo,fq_codel")["answer"]["text"]
    assert "99th percentile of call(rate=100kbit/s)'s queueing delay 0 s" in text


def test_a_goodput_that_chance_does_not_move_has_no_interval_of_equal_ends(document):
    text = document("compare", *LINE, "--flows", "cubic", "--warm-up", "25s", "--duration", "45s")["answer"]["text"]
    assert "Mbit/s (" not in text and "Mbit/s, 100 % of the line" in text


def test_a_transfer_that_does_not_end_has_a_note(document):
    said = "--queue", "fifo,fq_codel", "--duration", "2s", "--flows"
    notes = document("compare", *LINE, *said, "cubic:4,reno(size=1MB)")["notes"]
    assert [(note["where"], note["text"][:16]) for note in notes if note["code"] == "unfinished"] == [
        ("--flows reno(size=1MB)", "with fifo, fq_co")
    ]
    assert "unfinished" not in [note["code"] for note in document("compare", *LINE, *said, "reno(size=10kB)")["notes"]]


def test_an_answer_that_turns_with_the_round_trip_has_a_sentence_for_each(document):
    said = "--rtt", "20ms,40ms", "--flows"
    text = document("compare", *LINE, *said, "cubic,bbr", "--queue", "fifo,fq_codel")["answer"]["text"]
    assert text.startswith("At 20ms: ") and " At 40ms: " in text
    alike = document("compare", *LINE, *said, "cubic,cubic(decrease=0.7)", "--queue", "drr")["answer"]["text"]
    assert "Means over 2 round trips." in alike and "At 20ms" not in alike


def test_one_queue_answers_which_flows_get_most(document):
    found = document("compare", *LINE, "--flows", "cubic@20ms,cubic@100ms", "--seeds", "5", "--duration", "10s")
    assert found["answer"]["quantity"] == "share_per_flow"
    assert found["answer"]["best"] == "cubic@20ms"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--flows", "cubc"], "--flows cubc: cubc is no congestion control; did you mean cubic?"),
        (["--flows", "cubic:0"], "--flows cubic:0: 0 flows; write a number from 1 to 10000, as cubic:2"),
        (["--flows", ""], "--flows is empty; write a value, or several separated by commas"),
        (["--flows", "cubic,"], "--flows: there is no value between two commas"),
        (["--flows", "cubic,cubic:2"], "--flows cubic:2: cubic is there twice; write it once, with the sum as its"),
        (
            ["--flows", "cubic", "--queue", "cake(bandwidth=10Mbit/s)"],
            "no such field of cake; did you mean rate?",
        ),
        (["--flows", "cubic(decreas=1)"], "--flows cubic(decreas=1): no such field of cubic; did you mean decrease?"),
        (["--flows", "bbr,cubic(decrease=8)"], "--flows cubic(decrease=8): decrease is 8; it must be above 0"),
        (["--flows", "cubic(decrease=0.8"], "--flows cubic(decrease=0.8: a parenthesis is not closed"),
        (["--flows", "cubic@10ms"], "--flows cubic@10ms: a round trip of 10ms is below the line's own, 20ms; write"),
        (["--flows", "cubic@40"], "--flows cubic@40: `40`: a time needs a unit"),
        (["--flows", "cubic@30ms,bbr@40ms", "--rtt", "10ms,20ms"], "--rtt: each item of --flows has a round trip of"),
        (["--flows", "cubic(start=50s)"], "it starts at the end of the run, 7 s, or later"),
        (["--flows", "cubic(direction=left)"], "direction 'left'; there are down, up"),
        (["--flows", "web(pages=2)(size=2MB)"], "size=2MB stands with the other settings of the web, as web(pages=2, "),
        (["--flows", "cubic(decrease=0.8)(foo=3)"], "foo is none of an item's words; there are start, size, direction"),
        (["--flows", "call"], "--flows call: call needs a rate; write call(rate=100kbit/s)"),
        (["--flows", "call(rate=100)"], "--flows call(rate=100): rate `100`: a rate needs a unit"),
        (["--flows", "uncontrolled"], "uncontrolled has no flow control; write flood(rate=20Mbit/s) or call(rate="),
        (["--flows", "cubic:2", "--hosts", "2x1"], "--flows cubic:2: --hosts says how many connections there are"),
        (["--flows", "cubic,bbr", "--hosts", "2x1"], "--flows bbr: no host has 2 connections"),
        (["--flows", "cubic", "--hosts", "2"], "--hosts 2: write hosts x connections of each, as 16x1"),
        (["--flows", "cubic", "--hosts", "0x1"], "--hosts 0x1: 0 hosts; write a number from 1 to 10000"),
        (["--flows", "cubic", "--hosts", "2x1,02x1"], "--hosts: a class is there twice"),
        (["--flows", "cubic", "--queue", "fq_codl"], "--queue fq_codl: `fq_codl` is no part of a queue; did you mean"),
        (["--flows", "cubic", "--queue", "fifo,fifo"], "--queue: fifo is there twice; write it once"),
        (["--flows", "fast,fast"], "fast is there twice; write it once, with the sum as its count, as cubic:2"),
        (["--flows", "cubic", "--queue", "fifo,fq_codel(target=0s)"], "--queue fq_codel(target=0s): fq_codel: target"),
        (["--flows", "cubic", "--queue", "fifo + 4packets", "--buffer", "1BDP"], "it names its own limit; leave"),
        (["--flows", "cubic", "--buffer", "0packets"], "--buffer 0packets: `0packets`: a limit is at least 1 packet"),
        (["--flows", "cubic", "--buffer", "0BDP,1BDP"], "--buffer 0BDP: `0BDP`: write how many bandwidth-delay"),
        (["--flows", "cubic", "--host-queue", "linux_qf"], "--host-queue linux_qf: `linux_qf` is no part of a queue"),
        (["--flows", "cubic", "--host-queue", "fifo,linux_fq(quantum=1B)"], "--host-queue linux_fq(quantum=1B): linux"),
        (["--flows", "cubic", "--loss", "2"], "--loss 2: a part of the packets is from 0 to below 1"),
        (["--flows", "cubic", "--reorder", "1%"], "--reorder 1%: write which part of the packets is late, and by how"),
        (["--flows", "cubic", "--jitter", "5"], "--jitter `5`: a time needs a unit"),
        (["--flows", "cubic", "--duration", "0s"], "--duration 0s: a run needs some time to measure"),
        (["--flows", "cubic", "--profile", "linx"], "--profile linx: `linx` is not known here; did you mean linux?"),
        (["--flows", "cubic", "--rate", "10Mbit/1Mbit/s"], "--rate 10Mbit/1Mbit/s: write one rate, or DOWN/UP"),
        (["--flows", "cubic", "--rate", "0Mbit/s"], "--rate `0Mbit/s`: a rate is above zero"),
        (["--flows", "cubic", "--rtt", "0ms"], "--rtt 0ms: a round trip is above 0 s"),
        (["--flows", "cubic", "--rate", "100"], "--rate `100`: a rate needs a unit; write 100Mbit/s or 100kbit/s"),
        (["--flows", "cubic", "--rate", "100/10"], "--rate 100/10: a rate needs a unit; write 100Mbit/s/10Mbit/s"),
        (["--flows", "tcp"], "--flows tcp: TCP has a congestion control; write cubic, or another of bbr, bbr3, copa"),
        (["--flows", "tcp:3@80ms"], "write cubic:3@80ms, or another of bbr"),
        (["--flows", "udp"], "--flows udp: udp is no congestion control; did you mean flood(rate=20Mbit/s)?"),
        (["--flows", "udp(rate=5Mbit/s):2"], "did you mean flood(rate=5Mbit/s):2?"),
        (["--flows", "voip"], "did you mean call(rate=100kbit/s)?"),
        (["--flows", "video:2"], "did you mean call(rate=100kbit/s):2?"),
        (["--flows", "iperf"], "did you mean cubic?"),
        (["--flows", "https"], "did you mean web?"),
        (["--flows", "2xcubic"], "did you mean cubic:2?"),
        (["--flows", "2*cubic"], "did you mean cubic:2?"),
        (["--flows", "cubic*2"], "did you mean cubic:2?"),
        (["--flows", "cubic x2"], "did you mean cubic:2?"),
        (["--flows", "2 cubic@80ms"], "did you mean cubic:2@80ms?"),
        (
            ["--flows", "flood(rate=)1Mbit/s)"],
            "'1Mbit/s)' is no part of an item; write CONTROL[(settings)][:COUNT][@RTT]",
        ),
        (["--flows", "cubic x(a=1)"], "cubic x"),
        (["--flows", "cubic(decrease=0.8)*2"], "'*2' is no part of an item; write cubic(decrease=0.8):2"),
        (["--flows", "cubic", "--queue", "cake(dual-dsthost)"], "write cake(isolation=dual_destination)"),
        (["--flows", "cubic", "--queue", "cake(isolation=triple-isolate)"], "write cake(isolation=triple)"),
        (["--flows", "cubic", "--queue", "cake(bandwidth=10mbit)"], "write cake(rate=10Mbit/s)"),
        (["--flows", "cubic", "--queue", "cake besteffort flows"], "cake(tins=best_effort, isolation=flows)"),
        (["--flows", "cubic", "--queue", "cake(diffserv4, nat)"], "write cake(tins=diffserv4); fairq tc --read says"),
        (["--flows", "cubic", "--queue", "fq_codel target 5ms", "--buffer", "1BDP"], "write fq_codel(target=5ms)"),
        (["--flows", "cubic", "--queue", "fq_codel limit 100"], "write fq_codel + 100packets"),
        (["--flows", "cubic", "--queue", "fq_codel targt 5ms"], "`fq_codel targt 5ms`: write name(setting=value)"),
    ],
)
def test_what_makes_no_sense_is_one_line_that_names_the_word(refused, arguments, line):
    assert line in refused("compare", *LINE, *arguments)


def test_a_bandwidth_delay_product_may_be_written_in_small_letters():
    question = asked.ask(rate="10Mbit/s", rtt="20ms", flows="cubic", buffer="1bdp,2Bdp, 60kB")
    assert question.buffers == ("1BDP", "2BDP", "60kB")
    assert network.scenario(question).text.count("BDP") == 3 + 2


@pytest.mark.parametrize(
    "said",
    [["baseline", "cubic", "--rate", "100", "--rtt", "20ms"], ["explain", "fq_codel", "--effects", "--rate", "9"]],
)
def test_a_rate_without_a_unit_is_refused_by_every_question(refused, said):
    assert "a rate needs a unit; write" in refused(*said)


def test_a_round_trip_is_asked_for(refused):
    said = refused("compare", "--rate", "10Mbit/s", "--flows", "cubic@20ms,bbr")
    assert (
        "--rtt is missing: write the round trip without queueing, as --rtt 40ms, or one for each item, as bbr@" in said
    )


def test_a_call_up_a_line_of_one_rate_is_no_mistake(document):
    found = document("compare", *LINE, "--flows", "cubic,call(rate=100kbit/s)(direction=up)")
    assert [(row["direction"], row["flow"]) for row in found["rows"]][1][0] == "up"
    assert [row["direction"] for row in found["queues"]] == ["down", "up"]


def test_the_document_is_of_its_type(document):
    schemas = pytest.importorskip("fairq.schemas")
    jsonschema = pytest.importorskip("jsonschema")
    found = document("compare", *LINE, "--flows", "cubic,web,call(rate=100kbit/s)(direction=up)", "--queue",
                     "fifo,fq", "--hosts", "2x2,1x3", "--paired")  # fmt: skip
    jsonschema.validate(found, schemas.of(Comparison))


def test_a_dry_run_of_many_short_runs_ends_its_trial(fairq):
    """Threads go on to tell how far they are after the trial has said that it is over."""
    words = ("--rate", "1Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--warm-up", "0s", "--duration", "1s")
    status, out, err = fairq("compare", *words, "--seeds", "20000", "--workers", "2", "--dry-run")
    assert (status, err) == (0, "") and out.startswith("1 point x 20000 seeds = 20000 runs: ")


def test_a_dry_run_says_what_the_run_will_take(fairq, document, tmp_path):
    path = tmp_path / "asked.toml"
    status, out, _ = fairq(
        "compare", *LINE[:-1], "--flows", "cubic:2", "--queue", "fifo,fq", "--dry-run", "--scenario", path
    )
    assert status == 0
    assert out.startswith("2 points x 2 seeds = 4 runs: ") and f"Written: {path}" in out
    cost = document("run", path, "--dry-run")
    assert (cost["points"], cost["seeds"], cost["runs"]) == (2, 2, 4)
    assert cost["is_exact"] and cost["packet_hops"] == package.run(path).run_info["packet_hops"]
    longer = package.estimate(path, set={"measure.duration": "2000 s"})
    hops = package.run(path, set={"measure.duration": "200 s"}).run_info["packet_hops"]
    assert not longer.is_exact
    assert longer.packet_hops == pytest.approx(10 * hops, rel=0.2)


@pytest.mark.parametrize("columns", [80, 160])
def test_the_tables_fit_the_terminal_and_keep_what_tells_rows_apart(fairq, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    said = ["--rtt", "20ms,40ms", "--flows", "cubic:2,bbr", "--queue", "fifo,fq_codel(target=3ms)", "--paired"]
    status, out, _ = fairq("compare", *LINE, *said, "--host-queue", "linux_fq,fq_codel")
    assert status == 0
    assert max(map(len, out.splitlines())) <= columns
    flows = out.split("\n\n")[0].splitlines()
    heads = next(line for line in flows if line.startswith("queue")).split()
    assert {"queue", "host", "rtt", "flow", "share"} <= set(heads)
    assert len([line for line in flows if line.startswith(("fifo", "fq_codel"))]) == 2 * 2 * 2 * 2


def test_raw_numbers_have_columns_for_the_ends_of_their_intervals(fairq):
    _, out, _ = fairq("compare", *LINE, "--flows", "cubic,bbr", "--queue", "fifo,fq", "--si", "--wide")
    head = next(line for line in out.splitlines() if line.startswith("queue"))
    assert "share low" in head and "goodput high (bit/s)" in head


def test_a_figure_is_drawn_with_what_was_varied(fairq, tmp_path):
    path = tmp_path / "asked.svg"
    status, out, _ = fairq("compare", *LINE[:-1], "--flows", "cubic,bbr", "--queue", "fifo,fq_codel", "--plot", path)
    assert status == 0 and f"Written: {path}" in out
    drawn = path.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("fifo", "fq_codel", "cubic", "bbr", "share (%)", "loss (%)"))
    assert "1000 packets" not in drawn, "a limit that follows from the queue is no axis"


@pytest.mark.parametrize(
    ("flows", "more", "title"),
    [
        ("bbr", (), "bbr over a line of 10Mbit/s with a round trip of 20ms"),
        ("cubic:2,bbr@80ms", ("--loss", "1%"), "cubic:2, bbr@80ms over a line of 10Mbit/s with a round trip of 20ms"),
    ],
)
def test_a_figure_says_its_flows_their_line_and_how_long_it_was_measured(fairq, tmp_path, flows, more, title):
    path = tmp_path / "asked.svg"
    fairq("compare", *LINE[:-1], "--flows", flows, "--queue", "fifo,fq_codel", *more, "--plot", path)
    drawn = path.read_text(encoding="utf-8")
    assert title in drawn
    assert "2 seeds" in drawn and "measured for 2 s after a warm-up of 5 s" in drawn
    assert ("loss 1 %" in drawn) == bool(more)


def test_a_round_trip_that_a_flow_has_is_no_axis_of_a_figure():
    asked_of = {"rate": "10Mbit/s", "flows": "cubic@10ms,cubic@80ms", "queue": "fifo,fq_codel"}
    comparison = package.compare(**asked_of, seeds=1, warm_up="1s", duration="1s")
    panel = plots.of_comparison(comparison, figures.PAGE).axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["fifo", "fq_codel"]


def test_goodput_and_share_are_one_number_with_one_interval(document):
    found = document("compare", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "cubic,bbr", "--queue", "fifo",
                     "--seeds", "3", "--warm-up", "1s", "--duration", "4s")  # fmt: skip
    for row in found["rows"]:
        assert row["share"] < 1
        for end in ("", "_low", "_high"):
            assert row[f"goodput_bit_per_s{end}"] == pytest.approx(row[f"share{end}"] * 10e6)
