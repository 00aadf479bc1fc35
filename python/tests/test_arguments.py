"""Python raises the package's errors, whatever kind of thing a function is given."""

import inspect
from pathlib import Path

import pytest

import fairq
from fairq.core import arguments
from fairq.core.inputs import pairs, read

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "dumbbell.toml"

GIVEN = {
    "run": {"scenario": SCENARIO, "set": {"measure.duration": "1 s"}, "workers": 1},
    "experiment": {"scenario": SCENARIO},
    "lab": {"scenario": SCENARIO},
    "live": {"scenario": SCENARIO, "set": {"axes": []}},
    "compare": {"rate": "1Mbit/s", "rtt": "20ms", "flows": "cubic", "seeds": 1, "duration": "100 ms", "warm_up": "0 s"},
    "compare_alone": {
        "rate": "1Mbit/s",
        "rtt": "20ms",
        "flows": "cubic",
        "seeds": 1,
        "duration": "100 ms",
        "warm_up": "0 s",
    },
    "least_buffer": {
        "share": "90%",
        "down": "1Mbit/s",
        "up": "1Mbit/s",
        "rtt": "20ms",
        "queue": "fifo",
        "seeds": 1,
        "duration": "100 ms",
        "warm_up": "0 s",
    },
    "baseline": {"control": "reno", "rate": "1Mbit/s", "rtt": "20ms", "duration": "1 s"},
    "effects": {"name": "fq", "seeds": 2, "duration": "100 ms"},
    "advise": {"down": "1Mbit/s", "up": "1Mbit/s", "rtt": "20ms", "queue": "fifo", "seeds": 1, "duration": "100 ms"},
    "estimate": {"scenario": SCENARIO, "set": {"measure.duration": "1 s"}, "workers": 1},
    "max_min": {"scenario": SCENARIO},
    "sweep": {"study": "no-such.toml"},
    "query": {"study": "no-such.toml", "sql": "select 1"},
    "report": {"study": "no-such.toml"},
    "diff": {"a": "no-such.toml", "b": "no-such"},
    "read_store": {"folder": "no-such-folder"},
    "read_result": {"path": "no-such-folder"},
    "replay": {"capture": "no-such.pcap", "rate": "1Mbit/s", "buffer": "9 packets"},
    "serve": {"log": "no-such.csv", "seats": 2},
    "detect": {},
    "emulate": {"network": "no-such.toml"},
    "doctor": {},
    "reproduce": {"paper": "nobody1066"},
    "tc": {"queue": "fq_codel"},
    "theory": {"result": "tcp", "rtt": "100ms", "loss": 0.01},
    "topology": {"file": "fat_tree(k=2)"},
    "audit": {"discipline": "no_such"},
    "listing": {"what": "traffic"},
    "agree": {"witness": "linux"},
    "cards": {"name": "fq"},
    "explained": {"name": "fq"},
    "explain": {"name": "fq"},
    "schema": {},
    "scenes": {"name": "reno"},
    "bench": {"names": ["no_such"]},
    "bench_disciplines": {"names": ["no_such"]},
}
"""Arguments of each function with which it does little."""

WRONG = [
    None, 0, -1, 0.1, 10**30, True, False, "", "x", "\0", "\ud800", b"x", [], [1], ["\ud800"], (), {}, {1: 2},
    {"a": object()}, {"a": float("nan")}, [("a", "b", "c")], [("a", object())], object(), object, float("nan"), 1j,
    Path("x"), print,
]  # fmt: skip
"""Things of all kinds; some of them fit some arguments."""


def functions():
    return {name: getattr(fairq, name) for name in fairq.__all__ if inspect.isfunction(getattr(fairq, name))}


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_no_argument_of_any_kind_raises_an_error_of_pythons_own(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = functions()[name]
    for argument, parameter in inspect.signature(function).parameters.items():
        # a run by these is none of the package's affair
        wrong = [thing for thing in WRONG if not (argument in ("progress", "printed", "show") and callable(thing))]
        # all workloads, which take minutes
        wrong = [thing for thing in wrong if not (argument == "names" and thing in ([], ()))]
        for thing in wrong:
            given = {**GIVEN[name]}
            try:
                if parameter.kind is parameter.VAR_POSITIONAL:
                    function(thing)
                else:
                    given[argument] = thing
                    function(**given)
            except fairq.FairqError as error:
                assert "\n" not in str(error), error
            except Exception as error:
                pytest.fail(f"{name}({argument}={thing!r}): {type(error).__name__}: {error}")


def test_every_function_is_tried_and_knows_the_kinds_of_its_arguments():
    assert set(functions()) == set(GIVEN)
    for name, function in functions().items():
        for argument, kind in function.__annotations__.items():
            if argument != "return":
                assert kind.removesuffix(" | None") in arguments.KINDS, f"{name}: {argument}: {kind}"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fairq.run(SCENARIO, series=0.1), "series: 0.1 is a float; write text"),
        (lambda: fairq.run(SCENARIO, set={"a": object}), "set: a: "),
        (lambda: fairq.run(3), "scenario: 3 is an int; write the path of a scenario, or dicts and lists"),
        (lambda: fairq.replay("x", rate=5e6, buffer="1 kB"), "rate: 5000000.0 is a float; write text"),
        (lambda: fairq.replay("x", rate="1 bit/s", buffer="1 kB", disciplines="fq"), "write a list of texts"),
        (lambda: fairq.listing("queues"), "nothing of that name to list; did you mean disciplines?"),
        (lambda: fairq.listing("paper"), "did you mean papers?"),
        (lambda: fairq.listing("planets"), "transports, traffic, receivers, topologies, policies, papers"),
        (lambda: fairq.explain(None), "name: None is None; write text"),
        (lambda: fairq.audit("fq", seeds=0), "seeds: 0 is none; write a whole number from 1 up, or None"),
        (lambda: fairq.audit("fq", seeds=-1), "seeds: -1 is none"),
        (lambda: fairq.reproduce("demers1990", seeds=0), "seeds: 0 is none"),
        (lambda: fairq.sweep("x.toml", replications_max=0), "replications_max: 0 is none"),
        (lambda: fairq.run(SCENARIO, sets={}), "run: there is no argument sets; did you mean set?"),
        (lambda: fairq.compare(rates="1Mbit/s", flows="cubic"), "compare: there is no argument rates; did you mean ra"),
        (lambda: fairq.compare(rate="1Mbit/s"), "compare: flows is missing; write flows="),
        (lambda: fairq.run(SCENARIO, scenario=SCENARIO), "run: scenario is given twice"),
        (lambda: fairq.theory("pgp"), "pgp: theory has no such result; did you mean pgps?"),
        (lambda: fairq.theory("tcp", rtt="1s"), "theory tcp: loss is missing; write loss="),
        (lambda: fairq.theory("tcp", rtts="1s"), "theory tcp: there is no argument rtts; did you mean rtt?"),
        (lambda: fairq.theory("tcp", rtt="1s", loss="1%"), "'1%' is a str; write a number, or a list of numbers"),
        (lambda: fairq.theory("tcp", rtt="1s", loss=[]), "loss: [] is a list; write a number, or a list of numbers"),
        (lambda: fairq.theory("tcp", rtt="1s", loss=2), "--loss 2: the loss must be above 0 and at most 1"),
        (lambda: fairq.theory("sharing", load=0.5, more_than=-1), "more_than: -1 is an int; write a whole number fro"),
        (lambda: fairq.theory("delay-curve", delta="1"), "delta: '1' is a str; write a number"),
        (lambda: fairq.tc(), "tc: nothing is given; write queue= or read="),
        (lambda: fairq.tc("fifo", read="fifo"), "tc: both are given; write queue= or read="),
        (lambda: fairq.explain("fq", 3), "explain: 2 values without a name; write name=, width="),
        (lambda: fairq.run(SCENARIO, set={"measure.seed": float("nan")}), "set: measure.seed: nan is no number"),
    ],
)
def test_the_line_names_the_argument_and_what_to_write(call, said):
    with pytest.raises(fairq.FairqError) as caught:
        call()
    assert said in str(caught.value)


def test_numbers_of_numpy_are_whole_numbers():
    import numpy as np

    result = fairq.run(SCENARIO, set={"measure.duration": "1 s", "measure.seed": np.int64(3)}, workers=np.int64(1))
    assert result.flows
    scenario = {"measure": {"seed": np.uint8(3), "duration": "1 s"}, "title": Path("a")}
    made = read(scenario)
    assert made.text == '{"measure": {"seed": 3, "duration": "1 s"}, "title": "a"}'
    assert pairs({"flows.0.weight": np.float32(0.5), "axes": [np.int64(2)]}) == [
        ("flows.0.weight", "0.5"),
        ("axes", "[2]"),
    ]
