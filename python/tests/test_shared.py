"""`fairq advise --shared`: what kinds of users of a line get, and trees of classes for them."""

import json
import math
import shlex
from functools import partial

import pytest

import fairq as package
from fairq import traffic_control as tc
from fairq.core.errors import UsageError
from fairq.questions import advising, candidates, class_trees, ranking, sharing, words

LINE = ("--down", "20Mbit/s", "--up", "5Mbit/s", "--rtt", "30ms")
SHORT = ("--seeds", "2", "--warm-up", "5s", "--duration", "6s", "--quiet")
KINDS = "work=70%: 3 downloads + call, guests: 10 downloads"
PLAIN = "fq_codel,fifo + 1000packets"


def of(found, name, kind=None, table="candidates"):
    (row,) = [row for row in found[table] if row["candidate"] == name and kind in (None, row.get("kind"))]
    return row


def read(text):
    return sharing.kinds(text, {})


def test_kinds_are_read_with_their_parts_points_and_items():
    work, guests = read(KINDS)
    assert (work.name, work.part, work.point) == ("work", 0.7, 10)
    assert (guests.name, guests.part, guests.point) == ("guests", pytest.approx(0.3), None)
    assert [(item.name, item.count, item.is_up, item.kind) for item in work.items] == [
        ("cubic", 3, False, "work"), ("call", None, False, "work"), ("call", None, True, "work"),
    ]  # fmt: skip
    assert {item.options.get("dscp") for item in work.items} == {"10"}
    assert [(item.text, item.label) for item in guests.items] == [("cubic:10", "guests cubic")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a: cubic, b: cubic", [0.5, 0.5]),
        ("a=40%: cubic, b: cubic, c: bbr", [0.4, 0.3, 0.3]),
        ("a=0.25: cubic, b=25%: cubic", [0.25, 0.25]),
    ],
)
def test_kinds_without_a_part_have_equal_parts_of_what_is_left(text, parts):
    assert [kind.part for kind in read(text)] == pytest.approx(parts)


@pytest.mark.parametrize(
    ("traffic", "items"),
    [
        ("download", ["cubic"]),
        ("2 uploads", ["cubic:2(direction=up)"]),
        ("2 calls", ["call(rate=100kbit/s):2", "call(rate=100kbit/s):2(direction=up)"]),
        ("3 web", ["web:3"]),
        ("30 users", ["web:10", "call(rate=100kbit/s):3", "call(rate=100kbit/s):3(direction=up)", "cubic:2",
                      "cubic(direction=up)"]),
        ("bbr:2@80ms + reno(size=1MB)", ["bbr:2@80ms", "reno(size=1MB)"]),
    ],
)  # fmt: skip
def test_usual_traffic_has_words_and_all_else_is_an_item_of_flows(traffic, items):
    assert read(f"a: cubic, b: {traffic}")[1].flows == [words.item(item).text for item in items]


def test_what_a_kind_is_called_with_is_read_again():
    kinds = read("a=40%: bbr:2@80ms(start=1s) + call, b: cubic(size=1MB)")
    again = read(", ".join(kind.text for kind in kinds))
    assert again == kinds


@pytest.mark.parametrize(
    ("shared", "line"),
    [
        ("work: cubic, work: bbr", "--shared work: it is there twice"),
        ("work=70%: cubic, guests=40%: cubic", "--shared: 70% + 40% is 110 % of the line; write parts that are up to"),
        ("work=100%: cubic, guests: cubic", "--shared work 100%: a part of the line is from 0 to below 1"),
        ("a=50%: cubic, b=50%: cubic, c: cubic", "--shared c: the others are guaranteed all of the line; write less"),
        ("work=0%: cubic, guests: cubic", "--shared work=0%: a guaranteed part is above 0"),
        ("work=x: cubic, guests: cubic", "--shared work x: write a part of the line, as 0.7 or 70%"),
        ("work: cubic", "--shared work: 1 kind of users; write from 2 to 8"),
        (",".join(f"k{n}: cubic" for n in range(9)), "--shared k0: 9 kinds of users; write from 2 to 8"),
        ("work: cubic, call", "--shared call: call is traffic and no kind of users; write NAME: TRAFFIC, with +"),
        ("work: cubic, guests", "--shared guests: write NAME[=PART]: TRAFFIC, as 'work=70%: 3 downloads + call'"),
        ("work: cubic, guests:", "--shared guests:: guests sends nothing; write for example 'guests: 3 downloads'"),
        ("work: cubci, guests: cubic", "--shared work: cubci: cubci is no congestion control; did you mean cubic?"),
        ("work: 3 downlods, guests: cubic", "work: 3 downlods: downlod is no traffic; did you mean downloads?"),
        ("work: 0 downloads, guests: cubic", "--shared work: 0 downloads: write a number from 1 to"),
        ("work: 2000 users, guests: cubic", "--shared work: 2000 users: write a number from 1 to 1000"),
        ("work: cubic(dscp=46), guests: cubic", "a kind has one code point, which is given; leave dscp out"),
        ("work: cubic + cubic:2, guests: cubic", "--shared work: cubic is there twice; write it once, with the sum"),
        ("work: cubic@10ms, guests: cubic", "--shared work: cubic@10ms: a round trip of 10ms is below the line's own"),
    ],
)  # fmt: skip
def test_kinds_that_make_no_sense_are_one_line(refused, shared, line):
    assert line in refused("advise", *LINE, "--shared", shared)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (["--flows", "cubic"], "--flows: --shared says what there is; leave one of the two out"),
        (["--users", "3"], "--users: --shared says what there is; leave one of the two out"),
        (["--buffer", "60kB"], "--buffer: --shared has the limits of Linux; write one into the queue in place of it"),
        (["--shared", "a: call, b: call"], "--shared: none takes what it can get, so that the line is not full"),
        (["--criterion", "completion"], "--criterion completion: no item of --shared has an end; write web, or a size"),
        (["--buffer-for", "99%"], "leave one of the two out"),
        (["--queue", "priorty with fq_codel"], "priorty is no tree of classes; did you mean priority?"),
        (["--queue", "htb with fq_codl"], "--queue htb with fq_codl: `fq_codl` is no part of a queue; did you mean"),
        (
            ["--queue", "ets with fq"],
            "--queue ets with fq: ets: class `band0`: fq goes by the rate of a line, and a leaf",
        ),
        (["--queue", "fq_codl"], "--queue fq_codl: `fq_codl` is no part of a queue; did you mean fq_codel?"),
    ],
)
def test_words_that_do_not_go_with_kinds_are_one_line(refused, more, line):
    assert line in refused("advise", *LINE, "--shared", KINDS, *more)


def test_a_criterion_of_kinds_needs_kinds(refused):
    line = refused("advise", *LINE, "--criterion", "guarantee")
    assert "--criterion guarantee: it is of kinds of users; write --shared as well" in line


def test_a_tree_of_classes_needs_kinds(refused):
    line = refused("advise", *LINE, "--queue", "htb with fq_codel")
    assert "--queue htb with fq_codel: a tree of classes is for kinds of users; write --shared as well" in line


@pytest.mark.parametrize("point", ["64", "-1", "AF11"])
def test_a_code_point_of_flows_is_from_0_to_63(refused, point):
    line = refused("compare", "--rate", "5Mbit/s", "--rtt", "20ms", "--flows", f"cubic(dscp={point})")
    assert f"dscp {point}: a code point is a number from 0 to 63, as dscp=10" in line


def test_flows_of_compare_choose_a_class_by_their_code_point():
    """Another source: a strict band starves the other, whichever flow is marked for it."""
    tree = "ets(strict=2, quanta=[], map=[1, 0, 1, 1, 1, 1, 1, 1]) + 200packets"
    for marked, other in (("cubic(dscp=10)", "reno"), ("reno(dscp=10)", "cubic")):
        found = package.compare(rate="5Mbit/s", rtt="20ms", flows=[marked, other], queue=[tree], seeds=2,
                                warm_up="2s", duration="4s", workers=1)  # fmt: skip
        shares = {row["flow"]: row["share"] for row in found.rows}
        assert shares[marked] > 0.9 > 0.1 > shares[other]


def test_a_queue_of_equal_flows_keeps_no_guarantee(document):
    """Flow queueing gives each of 13 flows a thirteenth: 3 of them have 3/13 and not 70 %."""
    found = document("advise", *LINE, "--shared", KINDS, "--queue", PLAIN, *SHORT)
    assert found["criterion"]["column"] == "guarantee_kept"
    kept = of(found, "fq_codel")["guarantee_kept"]
    assert kept == pytest.approx(3 / 13 / 0.7, abs=0.02)
    work, guests = (of(found, "fq_codel", kind, "kinds") for kind in ("work", "guests"))
    assert (work["guarantee_kept"], guests["guarantee_kept"]) == (pytest.approx(kept), 1.0)
    assert work["call_queueing_s_p99"] == of(found, "fq_codel")["call_queueing_s_p99"]
    assert guests["call_queueing_s_p99"] is None
    # Alone a kind has the whole line, but for what is below it.
    assert min(row["alone_utilisation"] for row in found["kinds"]) > 0.9
    assert {row["kind"] for row in found["rows"]} == {"work", "guests"}
    assert "Behind fq_codel work has " in found["text"]


def test_the_worst_kind_counts(document):
    found = document("advise", *LINE, "--shared", "a: 2 downloads + call, b: 2 downloads + call", "--queue", PLAIN,
                     *SHORT)  # fmt: skip
    for row in found["candidates"]:
        a, b = (of(found, row["candidate"], kind, "kinds") for kind in ("a", "b"))
        for column in ("call_queueing_s_p99", "bulk_queueing_s_mean"):
            assert max(a[column], b[column]) <= row[column] * (1 + 1e-9), column
        assert row["guarantee_kept"] <= min(a["guarantee_kept"], b["guarantee_kept"]) * (1 + 1e-9)


def test_levels_without_flows_for_them_do_not_rank():
    def columns(shared, **more):
        wish = advising.wish(down="20Mbit/s", up="5Mbit/s", rtt="30ms", shared=shared, queue="fq_codel", **more)
        return [level.criterion.column for level in wish.levels]

    bulk = ["bulk_queueing_s_mean", "alone_utilisation", "utilisation"]
    assert columns("a: cubic, b: cubic") == ["guarantee_kept", *bulk]
    assert columns("a: cubic + call, b: cubic + web") == [
        "guarantee_kept", "call_queueing_s_p99", "completion_s_mean", *bulk,
    ]  # fmt: skip
    assert columns("a: cubic + call, b: cubic", latency_target="60ms")[1] == "call_in_time"
    assert columns("a: cubic, b: cubic", criterion="alone") == ["alone_utilisation"]


def test_kinds_of_the_document_are_those_that_were_said(document):
    found = document("advise", *LINE, "--shared", KINDS, "--queue", "fq_codel", *SHORT)
    assert found["line"]["shared"] == [
        {"kind": "work", "part": 0.7, "dscp": 10,
         "flows": ["cubic:3", "call(rate=100kbit/s)", "call(rate=100kbit/s)(direction=up)"]},
        {"kind": "guests", "part": pytest.approx(0.3), "dscp": None, "flows": ["cubic:10"]},
    ]  # fmt: skip
    plain = document("advise", *LINE, "--queue", "fq_codel", *SHORT)
    assert (plain["line"]["shared"], plain["kinds"], plain["rows"][0]["kind"]) == ([], [], None)


def test_the_command_of_a_scenario_asks_the_same(fairq, tmp_path):
    """The first line of a scenario has the question, which the shell takes as it stands."""
    written = [tmp_path / "one.toml", tmp_path / "two.toml"]
    line = (*LINE, "--shared", KINDS, "--queue", "fq_codel,cake", *SHORT)
    assert fairq("advise", *line, "--dry-run", "--scenario", written[0])[0] == 0
    asked = written[0].read_text(encoding="utf-8").splitlines()[0].removeprefix("# fairq ")
    assert fairq(*shlex.split(asked), "--dry-run", "--scenario", written[1])[0] == 0
    assert written[0].read_text(encoding="utf-8") == written[1].read_text(encoding="utf-8")


def test_a_dry_run_counts_the_runs_of_each_kind_alone(fairq):
    status, out, _ = fairq("advise", *LINE, "--shared", KINDS, "--queue", "fq_codel,cake", "--dry-run", *SHORT)
    assert status == 0 and out.startswith("6 points x 2 seeds = 12 runs: ")


# The trees of classes.

THREE = "a=50%: cubic, b=30%: cubic, c=20%: cubic"


@pytest.mark.parametrize("tree", class_trees.TREES)
def test_a_tree_has_a_leaf_for_each_kind_in_proportion_to_its_part(tree):
    text = class_trees.named(f"{tree} with fq_codel", read(THREE)).text(10e6)
    assert text.count('"fq_codel"') == 3
    said = {
        "htb": ("rate=5000000bit/s, ceil=10000000bit/s, quantum=3785B, dscp=[10]", "default=c"),
        "hfsc": ("link_share=(m2=3000000bit/s), dscp=[18]", "upper_limit=(m2=10000000bit/s)"),
        "ets": ("quanta=[3785B, 2271B, 1514B]", "map=[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 2, 2, 1, 2"),
        "priority": ("strict=3, quanta=[]", "map=[2, 2"),
    }[tree]
    assert all(part in text for part in said), text


def test_the_class_of_the_line_has_no_name_of_a_kind():
    text = class_trees.named("htb with fifo", read("line: cubic, line_: cubic")).text(10e6)
    assert text.count("parent=line__") == 2 and 'queue="fifo + 1000packets"' in text


def shared(of_kinds, queue, rate="20Mbit/s"):
    """The candidate of this name on a line of 20 and 5 Mbit/s."""
    found = advising.wish(down=rate, up="5Mbit/s", rtt="30ms", shared=of_kinds, queue=queue)
    return found, found.candidates[0]


@pytest.mark.parametrize("queue", class_trees.USUAL)
def test_the_commands_of_a_tree_set_up_its_classes_and_their_queues(queue):
    wish, made = shared(KINDS, queue)
    leaf = {"fifo": "pfifo limit 1000", "linux_sfq": "sfq"}.get(queue.split(" with ")[1], "fq_codel")
    for written in made.written.values():
        assert sum(f" {leaf}" in command for command in written.commands) == 2, written.commands
    assert made.shaped == {"down": pytest.approx(19e6), "up": pytest.approx(4.75e6)}
    lines = candidates.commands(made, wish.question.rates, wish.devices)
    assert "# work: packets with code point 10; mark them, both ways, before they come here" in lines
    assert "# guests: all other packets" in lines


@pytest.mark.parametrize("queue", ["htb with fq_codel", "hfsc with fq_codel", "ets with fq_codel"])
def test_a_tree_keeps_the_guarantees_and_lends_what_a_kind_leaves(document, queue):
    found = document("advise", *LINE, "--shared", KINDS, "--queue", f"{queue},fq_codel", *SHORT)
    assert found["best"] == queue
    row = of(found, queue)
    # Three connections of CUBIC seldom fill their part to the last packet.
    assert row["guarantee_kept"] > 0.93 > 0.4 > of(found, "fq_codel")["guarantee_kept"]
    assert row["alone_utilisation"] > 0.93
    assert of(found, "fq_codel")["worse_in"] == "guarantee_kept" and of(found, "fq_codel")["is_decided"]


def test_a_guarantee_on_a_line_that_moves_is_of_the_rate_that_is_set_up(document):
    """The commands shape below the lower end, so that the walk of the line takes nothing away."""
    line = ("--down", "20Mbit/s..40Mbit/s", *LINE[2:])
    found = document("advise", *line, "--shared", KINDS, "--queue", "htb with fq_codel", *SHORT)
    assert of(found, "htb with fq_codel")["guarantee_kept"] > 0.93


def test_a_class_that_borrows_nothing_lends_nothing(document):
    """Another source: a class whose ceiling is its rate uses its part of the line, alone or not."""
    part = 0.95 * 20e6
    hard = (
        f'htb(classes=[(name=a, rate={0.5 * part:.0f}bit/s, dscp=[10], queue="fq_codel"), '
        f'(name=b, rate={0.5 * part:.0f}bit/s, queue="fq_codel")], default=b)'
    )
    found = document("advise", *LINE, "--shared", "a: 4 downloads, b: 4 downloads", "--queue",
                     f"htb with fq_codel,{hard}", *SHORT)  # fmt: skip
    assert found["best"] == "htb with fq_codel"
    assert of(found, hard)["alone_utilisation"] == pytest.approx(0.5, abs=0.03)
    assert of(found, hard)["guarantee_kept"] > 0.93


def test_a_leaf_that_linux_has_not_is_run_as_what_its_commands_set_up(document):
    found = document("advise", *LINE, "--shared", KINDS, "--queue", "htb with sfq,htb with linux_sfq", *SHORT)
    (note,) = [note for note in found["notes"] if note["code"] == "tc"]
    assert note["where"] == "--queue htb with sfq" and 'queue="linux_sfq' in note["text"]
    assert "htb with sfq and htb with linux_sfq gave the same in every run" in found["text"]


def test_strict_priority_starves_the_last_kind(document):
    found = document("advise", *LINE, "--shared", "a=50%: 4 downloads, b: 4 downloads", "--queue",
                     "priority with fq_codel,ets with fq_codel", *SHORT)  # fmt: skip
    assert of(found, "priority with fq_codel", "b", "kinds")["guarantee_kept"] < 0.2
    assert of(found, "priority with fq_codel", "a", "kinds")["guarantee_kept"] > 0.93
    assert found["best"] == "ets with fq_codel"


def test_the_queue_in_a_class_decides_how_long_its_call_waits(document):
    """CoDel keeps a call of the same class below a FIFO of 1000 packets: 1514 B each at the class's
    rate of 9.5 Mbit/s take 1.3 s, of which CUBIC leaves at least 0.7 after a loss.
    """
    kinds = "a: 4 downloads + call, b: 4 downloads"
    found = document("advise", *LINE, "--shared", kinds, "--queue", "htb with fifo,htb with fq_codel", *SHORT)
    fifo, codel = (of(found, name)["call_queueing_s_p99"] for name in ("htb with fifo", "htb with fq_codel"))
    assert codel < 0.01 < 0.3 < fifo
    assert found["winner"] == "htb with fq_codel"


def test_a_tree_is_the_run_of_its_own_commands(document, tmp_path):
    """The printed commands, read and put into the scenario by hand, give the same."""
    written = tmp_path / "shared.toml"
    line = (*LINE, "--shared", KINDS, "--seeds", "1", "--warm-up", "2s", "--duration", "4s", "--quiet")
    found = document("advise", *line, "--queue", "htb with fq_codel", "--utilisation-min", "0", "--scenario", written)
    blocks = {}
    for each in found["tc"]:
        if not each.startswith("#"):
            blocks.setdefault(each.split(" dev ")[1].split()[0], []).append(each)
    queues = {device: tc.read("\n".join(lines)).text for device, lines in blocks.items()}
    own = package.run(written, set={"links[0].queue": queues["eth1"], "links[0].reverse_queue": queues["eth0"]},
                      workers=1)  # fmt: skip
    flows = [row for row in own.flows if row["flow"].startswith("work cubic")]
    got = math.fsum(row["throughput_bit_per_s"] * row["goodput_packets"] / row["throughput_packets"] for row in flows)
    call = next(row for row in own.flows if row["flow"] == "work call(rate=100kbit/s)")
    got += call["throughput_bit_per_s"]
    assert of(found, "htb with fq_codel", "work", "kinds")["guarantee_kept"] == pytest.approx(
        min(got / (0.7 * 0.95 * 20e6), 1), rel=1e-3
    )


def test_the_function_gives_what_the_command_prints(document):
    words = {"down": "20Mbit/s", "up": "5Mbit/s", "rtt": "30ms", "seeds": 2, "warm_up": "5s", "duration": "6s"}
    found = package.advise(**words, shared=KINDS.split(", "), queue=PLAIN.split(","), workers=1)
    printed = document("advise", *LINE, "--shared", KINDS, "--queue", PLAIN, *SHORT)
    assert json.loads(json.dumps(found.document)) == printed


def test_the_table_has_each_kind_behind_each_candidate(fairq, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    status, out, _ = fairq("advise", *LINE, "--shared", KINDS, "--queue", PLAIN, *SHORT)
    assert status == 0
    table = out.partition("Each kind of users:")[2].split("\n\n")[0]
    assert table.count(" work ") == table.count(" guests ") == 2
    assert "Kind work, guaranteed 70 %: cubic:3, call(rate=100kbit/s)" in " ".join(out.split())


def test_the_picture_has_what_is_kept_and_what_it_costs(fairq, tmp_path):
    picture = tmp_path / "shared.svg"
    status, _, _ = fairq("advise", *LINE, "--shared", KINDS, "--queue", PLAIN, "--plot", picture, *SHORT)
    drawn = picture.read_text(encoding="utf-8")
    assert status == 0 and "guarantee kept (%)" in drawn and "call queueing, 99th percentile (ms)" in drawn


def test_without_kinds_no_price_is_of_kinds():
    assert set(ranking.TOLD_OF_KINDS) - set(ranking.TOLD) == {"guarantee", "alone"}
    ask = partial(advising.wish, down="20Mbit/s", up="5Mbit/s", rtt="30ms", queue="fq_codel")
    assert ask().kinds == () and len(ask(shared=KINDS).alone(ask().question)) == 2
    with pytest.raises(UsageError):
        ask(shared="work: cubic")
