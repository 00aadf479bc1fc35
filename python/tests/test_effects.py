"""`fairq explain NAME --effects`: values of settings, and what they do by theory."""

import math

import pytest

import fairq as package
from fairq import figures, plots
from fairq.questions import effects, knobs
from fairq.questions.chance import _beyond, by_chance

SHORT = ("--seeds", "2", "--duration", "1s", "--quiet")


def free(setting, value):
    """Every value can be."""
    return


def setting(kind, default, **more):
    return {"name": "it", "type": kind, "default": default, "required": False, "doc": ""} | more


@pytest.mark.parametrize(
    ("kind", "default", "values"),
    [
        ("time", "5 ms", ["1.25ms", "2.5ms", "5ms", "10ms", "20ms"]),
        ("size", "1514 B", ["379B", "757B", "1514B", "3028B", "6056B"]),
        ("size", "33554432 B", ["8388608B", "16777216B", "33554432B", "67108864B", "134217728B"]),
        ("rate", "550 kbit/s", ["137.5kbit/s", "275kbit/s", "550kbit/s", "1100kbit/s", "2200kbit/s"]),
        ("integer", 1024, ["256", "512", "1024", "2048", "4096"]),
        ("integer", 1, ["1", "2", "4"]),
        ("buffer", "5 packets", ["1packets", "3packets", "5packets", "10packets", "20packets"]),
        ("number", 0.002, ["0.0005", "0.001", "0.002", "0.004", "0.008"]),
        ("boolean", True, ["true", "false"]),
        ("boolean", None, ["false", "true"]),
    ],
)
def test_a_quantity_takes_half_and_double_in_its_unit(kind, default, values):
    assert list(knobs.of_setting(setting(kind, default), free).values) == values


def test_a_choice_takes_each_of_its_names():
    found = knobs.of_setting(setting("choice", "b", doc="How. `a`: This. `b`: That, as `c`: does. `d`: More."), free)
    assert found.values == ("b", "a", "d")


def test_what_a_setting_refuses_is_left_out_and_a_part_of_a_whole_goes_towards_one():
    def refused(name, value):
        return "it must be below 1" if float(value) >= 1 else None

    assert knobs.of_setting(setting("number", 0.7), refused).values == ("0.175", "0.35", "0.7", "0.85", "0.925")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (setting("time", None), "it has no default of which to take half and double"),
        (setting("integer", 0), "its default is 0, which has no half and no double"),
        (setting("list", []), "it is a list, which has no half and no double"),
        (setting("size", None, doc="With `rfc`: how many bytes."), "it goes with rfc"),
        (setting("text", None, required=True), "it has no default"),
    ],
)
def test_a_setting_that_cannot_be_varied_alone_has_a_reason(given, reason):
    found = knobs.of_setting(given, free)
    assert isinstance(found, knobs.Fixed) and found.reason.startswith(reason)


def test_the_parser_says_why_no_value_can_be():
    found = knobs.of_setting(setting("boolean", False), lambda name, value: "it goes with rfc=true")
    assert found == knobs.Fixed("it", "it goes with rfc=true")


@pytest.mark.parametrize(
    ("t", "degrees", "chance"),
    # Abramowitz and Stegun, table 26.10: percentage points of Student's distribution.
    [(12.706, 1, 0.05), (4.303, 2, 0.05), (2.776, 4, 0.05), (2.262, 9, 0.05), (3.250, 9, 0.01), (2.045, 29, 0.05)],
)
def test_chance_is_that_of_students_distribution(t, degrees, chance):
    assert _beyond(t, degrees) == pytest.approx(chance, rel=2e-3)


def test_differences_that_are_all_alike_are_no_chance_unless_they_are_zero():
    assert by_chance([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) == 1.0
    assert by_chance([1.1, 2.1, 3.1], [1.0, 2.0, 3.0]) == 0.0
    assert by_chance([1.0], [2.0]) == 1.0
    # Differences 1 and 3: t = 2 / (sqrt(2) / sqrt(2)) = 2 with one degree of freedom, 1 - 2/pi
    # atan(2).
    assert by_chance([1.0, 3.0], [0.0, 0.0]) == pytest.approx(1 - 2 / math.pi * math.atan(2))


def test_the_measured_settings_of_fq_codel_do_what_theory_says():
    """Question 12 of the public ones, opnsense/docs#571: what do the knobs do?

    A flood and four of CUBIC share 20 Mbit/s with a call. Bands: CoDel lets no standing queue above
    its target be (RFC 8289, 4.3), and CUBIC's sawtooth goes down by 0.3 from its top, so that the
    mean delay is from half of the target to the whole of it, if the target is more than what the
    turn of five queues takes. Whatever the quantum, DRR gives four of five equal queues four fifths
    of what the call leaves (RFC 8290, 4.1.1). A call in its own queue waits at most for a packet of
    each other queue. Limit and memory hold the flood alone: no other queue is long. Controls: one
    queue for all, and a FIFO.
    """
    flows = "cubic:4,flood(rate=20Mbit/s),call(rate=100kbit/s)"
    found = package.effects("fq_codel", flows=flows, seeds=4, duration="8s", workers=2)
    other = package.compare(rate="20Mbit/s", rtt="40ms", flows=flows, queue="fq_codel(queues=1),fifo", seeds=4,
                            duration="8s", workers=2)  # fmt: skip

    def of(setting, flow, column):
        rows = [row for row in found.rows if row["setting"] == setting and row["flow"].startswith(flow)]
        return {row["value"]: row[column] for row in rows}

    def control(queue, flow, column):
        (row,) = [row for row in other.rows if row["queue"] == queue and row["flow"].startswith(flow)]
        return row[column]

    def is_about_target(delay, target):
        return 0.5 * target <= delay <= target

    delays = of("target", "cubic", "queueing_s_mean")
    for value, target in {"5ms": 5e-3, "10ms": 10e-3, "20ms": 20e-3}.items():
        assert is_about_target(delays[value], target), value
        assert not is_about_target(control("fifo", "cubic", "queueing_s_mean"), target)

    def is_fair(share):
        return abs(share - 4 / 5 * (1 - 0.1 / 20)) < 0.03

    shares = of("quantum", "cubic", "share")
    assert len(shares) == 5 and all(map(is_fair, shares.values())), shares
    assert not is_fair(control("fq_codel(queues=1)", "cubic", "share"))

    turn = 5 * 1514 * 8 / 20e6
    waits = of("queues", "call", "queueing_s_mean")
    assert len(waits) == 5 and max(waits.values()) < turn
    assert control("fq_codel(queues=1)", "call", "queueing_s_mean") > turn

    changes = {each["setting"]: {change["flow"].partition("(")[0] for change in each["changes"]}
               for each in found.settings}  # fmt: skip
    assert changes["limit"] == changes["memory"] == {"flood"}
    assert changes["queues"] == set()
    assert "cubic" in changes["target"] and "cubic" in changes["interval"]
    assert "target" in found.text.partition(" change ")[0]
    assert "queues (256 to 4096)" in found.text.partition("beyond chance:")[2]


def test_a_setting_without_any_effect_leaves_each_number_as_it_is():
    """Runs of a congestion control have random numbers in common, whatever its settings are."""
    found = package.effects("cubic", seeds=3, duration="3s", workers=2)
    settings = {each["setting"]: each for each in found.settings}
    # Behind a FIFO nothing is marked.
    assert not settings["mark_decrease"]["has_effect"]
    rows = [row for row in found.rows if row["setting"] == "mark_decrease" and row["flow"] == "cubic"]
    assert len(rows) == 5 and len({row["share"] for row in rows}) == 1
    decrease = [row for row in found.rows if row["setting"] == "decrease" and row["flow"] == "cubic"]
    assert len({row["share"] for row in decrease}) == 5
    assert {row["flow"] for row in found.rows} == {"cubic", "cubic beside it"}


def test_every_discipline_and_congestion_control_says_what_it_does_or_why_not():
    """Names are tried until their settings are known; the runs themselves are others' tests."""
    entries = [entry["name"] for what in ("disciplines", "transports") for entry in package.listing(what)]
    tried = 0
    for name in entries:
        try:
            subject = effects._subject(name, rate="20Mbit/s", rtt="40ms", flows=None, duration="1s")
        except package.UsageError as error:
            assert "\n" not in str(error)
            continue
        card = subject.card
        varied, fixed = knobs.of_card(card, lambda setting, value: None)
        names = {one["name"] for one in card["settings"] if not one["doc"].startswith("Another name of")}
        whole = {name.partition(".")[0] for name in names if "." in name and "[]" not in name}
        parts = {name for name in names if "[]" in name}
        assert {each.name for each in (*varied, *fixed)} == names - whole - parts
        tried += 1
    assert tried > 50


def test_a_part_that_needs_a_limit_has_one():
    found = package.effects("blue", seeds=2, duration="1s", workers=1)
    assert found.document["line"]["queue"] == "blue + 1000packets"
    assert [row["value"] for row in found.rows if row["setting"] == "limit" and row["flow"] == "cubic"] == [
        "250packets", "500packets", "1000packets", "2000packets", "4000packets"
    ]  # fmt: skip


def test_the_runs_take_a_minute_of_the_processor_at_most():
    line = effects._subject("fq_codel", rate="20Mbit/s", rtt="40ms", flows=None, duration="15s").line
    assert effects._seeds(line, 40) == 10
    assert effects._seeds(line, 300) < 10
    assert effects._seeds(line, 100_000) == effects.SEEDS_MIN


def test_the_command_shows_what_changes_and_what_does_not(fairq, document, tmp_path):
    found = document("explain", "red", "--effects", *SHORT)
    assert {row["setting"] for row in found["rows"]} == {each["setting"] for each in found["settings"]}
    assert found["line"]["seeds"] == 2 and found["part"] == "buffer"
    picture = tmp_path / "red.svg"
    status, out, err = fairq("explain", "red", "--effects", "--seeds", "2", "--duration", "1s", "--plot", picture)
    assert (status, err) == (0, "")
    assert "Not varied alone" in out and out.endswith(f"Written: {picture}\n")
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("width", [80, 160])
def test_the_tables_fit(fairq, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = fairq("explain", "codel", "--effects", *SHORT)
    assert max(map(len, out.splitlines())) <= width
    if out.startswith("cubic:2"):
        assert all(word in out for word in ("queueing mean", "share", "loss"))
    _, out, _ = fairq("explain", "codel", "--effects", *SHORT, "--si")
    assert "(s)" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["fq_codl", "--effects"], "did you mean fq_codel?"),
        (["web", "--effects"], "web: --effects is for disciplines and congestion controls, and web is a kind"),
        (["linux", "--effects"], "linux is an edition or a profile"),
        (["wfq", "--effects", "--flows", "cubc"], "--flows cubc: cubc is no congestion control"),
        (["cubic", "--effects", "--flows", "bbr"], "--flows: cubic is a congestion control, and its flow is beside"),
        (["codel", "--effects", "--rtt", "20ms,40ms"], "--rtt 20ms,40ms: the settings are tried at one round trip"),
        (["codel", "--effects", "--rate", "5"], "--rate `5`: a rate needs a unit"),
        (["codel", "--effects", "--duration", "0s"], "--duration 0s: a run needs some time to measure"),
        (["codel", "--effects", "--scenes"], "not allowed with argument"),
        (["codel", "--seeds", "2"], "--seeds goes with --effects; write fairq explain codel --effects"),
        (["greatest_rank_drop", "--effects"], "--effects: greatest_rank_drop drops by the rank that a scheduler gives"),
        (["uncontrolled", "--effects"], "uncontrolled: --effects is for congestion controls, and uncontrolled does"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_line(fairq, arguments, line):
    status, out, err = fairq("explain", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and line in err, err


def change(quantity):
    return {"flow": "cubic", "quantity": quantity, "value": "1", "at_default": 1.0, "at_value": 2.0}


def found(with_effect=()):
    """Effects of nine settings, of which the last differ most."""
    names = [f"s{number}" for number in range(9)]
    settings = [{"setting": name, "has_effect": name in with_effect, "values": ["1", "2"], "type": "integer",
                 "changes": [change("loss")] if name in with_effect else []} for name in names]  # fmt: skip
    rows = [{"setting": name, "value": value, "flow": "cubic", "share": 0.5 + 0.01 * at * int(value)}
            for at, name in enumerate(names) for value in ("1", "2")]  # fmt: skip
    text = effects._text(settings, 3)
    return effects.Effects(rows, settings, [], text, schema_version=1, name="x", part="scheduler", line={}, times={})


def test_without_an_effect_a_sentence_says_so_and_the_figure_has_the_largest_differences():
    assert found().text.startswith("No setting changes delay, share or loss beyond chance on this line.")
    rows, caption = plots._drawn(found(), 4)
    assert {row["setting"] for row in rows} == {"s5", "s6", "s7", "s8"}
    assert caption == "no setting has an effect beyond chance; shown are those with the largest differences of shares"


def test_a_figure_has_what_has_an_effect_and_first_the_quantity_that_is_changed_most():
    rows, caption = plots._drawn(found(["s0"]), 4)
    assert {row["setting"] for row in rows} == {"s0"} and caption.startswith("no effect beyond chance: s1, ")
    assert plots._telling(found(["s0"]), figures.EFFECTS) == ["loss", "share", "queueing_s_mean"]
    assert plots._telling(found(), figures.EFFECTS) == ["share", "queueing_s_mean", "loss"]
