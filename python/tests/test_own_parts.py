"""Own parts in Python: how they are named, what is refused, and what becomes of a wrong one."""

import pickle
import textwrap

import own_parts
import pytest

import fairq
from fairq.cli import program


def network(queue="mine + 50packets", **flow):
    flow = {"name": "x", "from": "a", "to": "b", "traffic": "ftp", "transport": "cubic", "count": 2} | flow
    link = {"name": "line", "from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "5 ms", "queue": queue}
    return {"edition": 2, "measure": {"duration": "2 s"}, "links": [link], "flows": [flow]}


def run(part, queue="mine + 50packets", **flow):
    return fairq.run(network(queue, **flow), parts={"mine": part}, workers=1)


def refused(part, queue="mine + 50packets", **flow):
    """What is said, in one line, of a run that may not end."""
    with pytest.raises(fairq.FairqError) as caught:
        run(part, queue, **flow)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_settings_stand_in_texts_tables_and_axes():
    axis = {"name": "queue", "path": "links.line.queue", "values": ["mine(k=1)", "mine(k=2.5) + codel", "drr"]}
    result = fairq.run(network() | {"axes": [axis]}, parts={"mine": own_parts.Shortest}, workers=1)
    assert {row["discipline"] for row in result.queues if row["direction"] == "forward"} >= {"mine", "drr"}
    table = {"scheduler": {"kind": "mine", "k": 2}, "limit": "9 packets"}
    assert run(own_parts.Shortest, table).queues[0]["limit"] == "9 packets"


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ("mine(j=3)", "j"),
        ("mine(k=true)", "k: write a number"),
        ("mien", "did you mean mine?"),
        ("mine + drr", "two parts of the kind scheduler"),
    ],
)
def test_a_wrong_text_is_refused_as_those_of_known_parts(queue, said):
    assert said in refused(own_parts.Shortest, queue)


def test_what_init_refuses_is_said_before_anything_runs():
    class Mine(own_parts.Shortest):
        def __init__(self, k: float = 1.0):
            if k < 0:
                raise ValueError("k is a number from 0 up")

    assert "k is a number from 0 up" in refused(Mine, "mine(k=-1)")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"Mine": own_parts.Shortest}, "no name of a part"),
        ({"mine": own_parts.Shortest()}, "give the class itself"),
        ({"mine": dict}, "derives from no class of parts"),
        ({"drr": own_parts.Shortest}, "drr"),
        ({"mine": type("Mine", (fairq.Rank,), {"rnak": None})}, "Mine has no rank; is it rnak?"),
        ({"mine": type("Mine", (fairq.Rank,), {"rank": None, "__init__": lambda self, k: None})}, "k has no default"),
        ({"mine": type("Mine", (fairq.Rank,), {"rank": None, "__init__": lambda self, k=(): None})}, "k is a tuple"),
        ({"mine": type("Mine", (fairq.Rank,), {"rank": None, "__init__": lambda self, *k: None})}, "k is no setting"),
        (7, "parts: 7 is an int"),
        ("none.py", "no such file"),
    ],
)
def test_wrong_parts_are_refused(parts, said):
    with pytest.raises(fairq.FairqError) as caught:
        fairq.run(network(), parts=parts)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def method(base, name, text, **more):
    """A class with one method, from its arguments and body."""
    space = {"fairq": fairq}
    exec(textwrap.dedent(text), space)
    return type("Mine", (base,), {name: space[name], **more})


def scheduler(text):
    return method(fairq.Scheduler, "next", f"def next(self, now):\n return {text}")


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (method(fairq.Rank, "rank", "def rank(self, now, flow, packet): return 'a'"), "rank gave 'a', a str"),
        (method(fairq.Rank, "rank", "def rank(self, now, flow, packet): return None"), "rank gave None"),
        (method(fairq.Rank, "rank", "def rank(self, now, flow, packet): return float('nan')"), "return a number"),
        (scheduler("99"), "next gave queue 99 at 0."),
        (scheduler("None"), "though a packet waits"),
        (scheduler("'a'"), "next gave 'a', a str"),
        (scheduler("True"), "next gave True, a bool"),
        (scheduler("fairq.NotBefore(now)"), "return a time that is yet to come"),
        (scheduler("fairq.NotBefore(now + 1e-12)"), "and let no packet go though"),
        (scheduler("fairq.NotBefore(float('inf'))"), "return a time that is yet to come"),
    ],
)
def test_a_scheduler_that_answers_wrongly_is_told_so(part, said):
    assert said in refused(part)


def test_a_tag_of_a_wrong_type_is_told():
    part = method(fairq.Scheduler, "arrive", "def arrive(self, now, queue, flow, packet): return 1.5", next=None)
    assert "arrive gave 1.5, a float; return a whole number from 0 up" in refused(part)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("admit", "def admit(self, now, queue, flow, packet): return 'never'", "admit gave 'never', a str"),
        ("depart", "def depart(self, now, queue, packet): return True", "depart gave True, a bool"),
    ],
)
def test_a_policy_that_answers_wrongly_is_told_so(name, text, said):
    assert said in refused(method(fairq.Policy, name, text))


@pytest.mark.parametrize(
    ("enqueue", "dequeue", "said"),
    [
        ("self.q.append(packet); return True", "return self.q[0]", "conservation: dequeue gave packet 0"),
        ("pass", "return None", "enqueue gave None; return True"),
        ("return True", "return None", "work conservation: dequeue gave None"),
        ("return True", "return 1", "dequeue gave 1, an int; return a packet"),
        ("self.q.append(packet); return True", "return self.q.pop()", "order within a flow"),
        ("self.drop(packet, 'never')", "return None", "never is no reason here"),
        ("self.drop(packet); self.drop(packet); return True", "return None", "conservation: enqueue drops packet 0"),
    ],
)
def test_a_discipline_that_breaks_a_law_is_told_which(enqueue, dequeue, said):
    space = {}
    exec(f"def __init__(self): self.q = []\ndef enqueue(self, now, packet, header): {enqueue}\n", space)
    exec(f"def dequeue(self, now):\n if not self.q and {'q.append' in enqueue}: return None\n {dequeue}", space)
    part = type("Mine", (fairq.Discipline,), {name: space[name] for name in ("__init__", "enqueue", "dequeue")})
    assert said.replace('"', "") in refused(part).replace('"', "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("self.window = -1.0", "window is -1.0 after acknowledged"),
        ("self.window = 'wide'", "window is 'wide' after acknowledged"),
        ("self.window = float('nan')", "window is nan"),
        ("self.pace = 0", "pace is 0 after acknowledged"),
        ("1 / 0", "acknowledged raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_control_that_sets_nonsense_is_told_so(text, said):
    part = method(fairq.Control, "acknowledged", f"def acknowledged(self, acked): {text}")
    assert said in refused(part, "fifo", transport="mine")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("-1.0, 100", "a time is from 0 s up"),
        ("1.0, 9000", "next gave a packet of 9000 B"),
        ("1.0", "next gave 1.0"),
        ("0.0, 100", "time never passes"),
    ],
)
def test_a_source_that_gives_nonsense_is_told_so(answer, said):
    part = method(fairq.Source, "next", f"def next(self): return {answer}")
    assert said in refused(part, "fifo", traffic="mine", transport="uncontrolled", count=1)


class Raises(fairq.Rank):
    """Raises at the hundredth packet."""

    count = 0

    def rank(self, now, flow, packet):
        self.count += 1
        if self.count == 100:
            raise KeyError("a\nb")
        return 0.0


def test_an_exception_names_the_part_and_the_packet_and_is_the_cause():
    with pytest.raises(fairq.PartError) as caught:
        run(Raises)
    assert caught.value.where == "mine"
    assert "rank raised KeyError" in str(caught.value) and "given a packet of 1500 B of flow" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__cause__.__traceback__.tb_frame.f_code.co_name == "rank"
    # nothing of the run that ended is left
    assert run(own_parts.Shortest).flows


def test_a_signal_within_a_part_is_no_fault_of_the_part():
    part = method(fairq.Rank, "rank", "def rank(self, now, flow, packet): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        run(part)


FILE = """
    import fairq

    class ShortFirst(fairq.Rank):
        def rank(self, now, flow, packet):
            return packet.bytes

    class Renamed(ShortFirst):
        name = "other"

    class _Hidden(fairq.Rank):
        pass
"""


@pytest.fixture
def parts_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FILE), encoding="utf-8")
    return path


def test_a_file_gives_its_public_classes(parts_file):
    for name in ("short_first", "other"):
        assert fairq.run(network(f"{name} + 50packets"), parts=parts_file).flows
    with pytest.raises(fairq.FairqError, match="`hidden` is no part"):
        fairq.run(network("hidden"), parts=parts_file)


def test_runs_with_own_parts_can_be_pickled(parts_file):
    for parts in (parts_file, {"short_first": own_parts.Shortest}):
        (one,) = fairq.experiment(network("short_first + 50packets"), parts=parts).runs()
        again = pickle.loads(pickle.dumps(one))
        assert again.digest == one.digest
        assert list(again.finish()["flows"]) == list(one.finish()["flows"])


def test_a_class_that_no_other_process_can_import_is_told_so():
    class Mine(own_parts.Shortest):
        pass

    (one,) = fairq.experiment(network(), parts={"mine": Mine}).runs()
    with pytest.raises(fairq.PartError, match="another process cannot import its class; write it into a file"):
        pickle.dumps(one)


def test_the_digest_holds_name_settings_and_text_of_a_part(parts_file):
    def digest(queue="short_first + 50packets"):
        return fairq.experiment(network(queue), parts=parts_file).runs()[0].digest

    first = digest()
    assert digest() == first
    assert digest("other + 50packets") != first
    parts_file.write_text(parts_file.read_text("utf-8").replace("return packet.bytes", "return -packet.bytes"), "utf-8")
    assert digest() != first


STUDY = """
[study]
scenario = "net.toml"
replications = 1

[[axes]]
name = "queue"
path = "links.line.queue"
values = ["short_first + 50packets", "fifo + 50packets"]
"""

SCENARIO = """
edition = 2
measure = { duration = "1 s" }

[[links]]
name = "line"
from = "a"
to = "b"
rate = "8 Mbit/s"

[[flows]]
name = "x"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
"""


@pytest.fixture
def study(tmp_path, parts_file):
    (tmp_path / "net.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "study.toml"


def test_a_changed_part_is_run_again_and_nothing_else(study, parts_file):
    assert fairq.sweep(study, parts=parts_file, workers=2).ran == 2
    assert fairq.sweep(study, parts=parts_file).ran == 0
    parts_file.write_text(parts_file.read_text("utf-8").replace("return packet.bytes", "return 1.0"), "utf-8")
    assert fairq.sweep(study, parts=parts_file).ran == 1


def test_what_was_finished_before_a_part_raised_is_kept(study, parts_file):
    wrong = parts_file.read_text("utf-8").replace("return packet.bytes", "return 1 / 0")
    parts_file.write_text(wrong, "utf-8")
    found = fairq.sweep(study, parts=parts_file)
    assert (found.done, found.failed) == (1, 1)
    (said,) = found.errors.values()
    assert "short_first: rank raised ZeroDivisionError" in said


def test_the_command_line_shows_the_traceback_below_its_line(study, parts_file, capsys):
    wrong = parts_file.read_text("utf-8").replace("return packet.bytes", "return 1 / 0")
    parts_file.write_text(wrong, "utf-8")
    queue = "links[0].queue=short_first + 50packets"
    status = program.main(["run", str(study.with_name("net.toml")), "--set", queue, "--parts", str(parts_file)])
    error = capsys.readouterr().err
    assert status == 2
    assert "fairq: short_first: rank raised ZeroDivisionError: division by zero, given a packet" in error
    assert f'File "{parts_file}", line 6, in rank' in error


def test_compare_takes_own_queues_and_controls():
    words = {"rate": "8Mbit/s", "rtt": "20ms", "seeds": 2, "duration": "1s", "warm_up": "0s", "workers": 1}
    parts = {"mine": own_parts.Shortest, "own_newreno": own_parts.OwnNewreno}
    found = fairq.compare(flows="own_newreno,cubic", queue="mine,fq_codel", parts=parts, **words)
    assert {row["queue"] for row in found.rows} == {"mine", "fq_codel"}
    assert {row["flow"] for row in found.rows} == {"own_newreno", "cubic"}
    with pytest.raises(fairq.UsageError, match="--flows own_newrneo"):
        fairq.compare(flows="own_newrneo", queue="mine", parts=parts, **words)
    with pytest.raises(fairq.UsageError, match="is no congestion control"):
        fairq.compare(flows="own_newreno", queue="fifo", **words)


def test_compare_alone_takes_an_own_control():
    words = {"rate": "8Mbit/s", "rtt": "20ms", "seeds": 2, "duration": "1s", "warm_up": "0s", "workers": 1}
    found = fairq.compare_alone(flows="mine,cubic", parts={"mine": own_parts.OwnNewreno}, **words)
    assert [row["flow"] for row in found.rows] == ["mine", "cubic"]


class Counts(fairq.Rank):
    """Keeps in the class what belongs into the object."""

    seen: list[int] = []  # noqa: RUF012

    def rank(self, now, flow, packet):
        self.seen.append(flow.number)
        return packet.bytes * (-1) ** len(self.seen)


def test_state_that_objects_share_is_found_after_a_run_and_by_an_audit():
    assert "mine: Counts.seen of the class has changed in a run" in refused(Counts)
    (one,) = fairq.experiment(network(), parts={"mine": Counts}).runs()
    with pytest.raises(fairq.PartError, match=r"keep it in the object, as self\.seen"):
        one.finish()
    found = fairq.audit(Counts, seeds=2)
    assert not found.passed
    assert {row["of"] for row in found.violations} == {"same calls, same answers"}


@pytest.mark.parametrize("part", [own_parts.OwnDrr, own_parts.OwnCodel, own_parts.OwnFifo, own_parts.Shortest])
def test_an_audit_of_a_right_part_finds_nothing(part):
    found = fairq.audit(part, seeds=2)
    assert found.passed and found.bounds


def test_an_audit_takes_texts_with_own_parts_and_refuses_what_is_of_no_queue():
    assert fairq.audit("mine(k=2) + codel", seeds=1, parts={"mine": own_parts.Shortest}).passed
    with pytest.raises(fairq.UsageError, match="OwnNewreno is no part of a queue"):
        fairq.audit(own_parts.OwnNewreno)
    with pytest.raises(fairq.PartError, match="rank raised KeyError"):
        fairq.audit(Raises)


def test_the_command_line_takes_a_file_of_parts(study, parts_file, capsys):
    parts = ["--parts", str(parts_file)]
    asked = "--rate 8Mbit/s --rtt 20ms --flows cubic --queue short_first,fifo --seeds 2 --duration 1s --warm-up 0s"
    for command, said in (
        (f"compare {asked}", "short_first"),
        ("audit other --quick", "All laws"),
        (f"sweep {study}", "2 done"),
    ):
        assert program.main([*command.split(), *parts]) == 0
        assert said in capsys.readouterr().out
    assert program.main(["run", str(study.with_name("net.toml")), "--parts", "none.py"]) == 2
    assert "fairq: parts: none.py: no such file" in capsys.readouterr().err


def test_a_file_that_cannot_be_imported_is_told_with_its_traceback(tmp_path, study, capsys):
    (tmp_path / "wrong.py").write_text("1 / 0\n", "utf-8")
    assert program.main(["run", str(study.with_name("net.toml")), "--parts", str(tmp_path / "wrong.py")]) == 2
    said = capsys.readouterr().err
    assert "wrong.py: cannot be imported: ZeroDivisionError: division by zero" in said
    assert "line 1" in said


class Weighs(own_parts.OwnDrr):
    """Counts the changes of weights that it is told of."""

    def begin(self, line):
        super().begin(line)
        self.told, self.weight = 0, 1.0

    def weigh(self, now, queue, weight):
        self.told, self.weight = self.told + 1, weight

    def readings(self):
        return {"told": self.told, "weight": self.weight, "rate": self.line.rate}


def test_weights_are_told_and_readings_shown():
    said = network(count=1) | {"changes": [{"at": "1 s", "flow": "x", "weight": 2.5}]}
    result = fairq.run(said, parts={"mine": Weighs}, states=True, workers=1)
    shown = {row["quantity"]: row["value"] for row in result.states if row["direction"] == "forward"}
    assert {name: shown[name] for name in ("told", "weight", "rate")} == {"told": 1, "weight": 2.5, "rate": 8e6}


class Paced(fairq.Scheduler):
    """A packet each 10 ms: a line of 1.2 Mbit/s for packets of 1500 B."""

    def __init__(self, gap: float = 0.01) -> None:
        self.gap, self.due, self.waiting = gap, 0.0, {}

    def arrive(self, now, queue, flow, packet):
        self.waiting[queue] = self.waiting.get(queue, 0) + 1
        return packet.bytes

    def next(self, now):
        queue = next((queue for queue, packets in self.waiting.items() if packets), None)
        return fairq.NotBefore(self.due) if queue is not None and now < self.due else queue

    def sent(self, now, queue, packet, tag, next_tag):
        self.waiting[queue] -= 1
        self.due = now + self.gap

    def removed(self, now, queue, packet, tag, next_tag):
        self.waiting[queue] -= 1


def test_a_scheduler_may_pause():
    said = network(count=1) | {"measure": {"warm_up": "1 s", "duration": "4 s"}}
    (flow,) = fairq.run(said, parts={"mine": Paced}, workers=1).flows
    assert flow["throughput_bit_per_s"] == pytest.approx(1.2e6, rel=0.02)
    assert fairq.audit(Paced, seeds=2).passed


class Marks(fairq.Policy):
    """Marks what waits behind more than five packets."""

    def admit(self, now, queue, flow, packet):
        return "mark" if queue.packets > 5 else True


class Hears(own_parts.OwnNewreno):
    """NewReno that takes marks."""

    takes_marks = True


def test_marks_of_an_own_policy_reach_an_own_control():
    said = network("fifo + mine + 50packets", transport="hears")
    result = fairq.run(said, parts={"mine": Marks, "hears": Hears}, workers=1)
    (queue,) = [row for row in result.queues if row["direction"] == "forward"]
    assert queue["marked"] > 10 and queue["dropped"] == 0 and queue["waiting_packets_max"] < 50
