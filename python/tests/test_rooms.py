"""The rooms of the package: no room hides a function of the same name, and no two files have one name."""

import json
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest
from sweep_studies import write_study

import fairq as package

SCENARIO = "scenarios/dumbbell.toml"
LINE = {"rate": "5Mbit/s", "rtt": "20ms"}
SHORT = {**LINE, "duration": "1s", "warm_up": "0s", "seeds": 2}
NOTHING = "no such thing"

CALLS = {
    "advise": (NOTHING, lambda _: package.advise(down=NOTHING, up="1Mbit/s", rtt="20ms")),
    "agree": (None, lambda _: package.agree("linux", "codel")),
    "audit": (None, lambda _: package.audit("fifo", quick=True)),
    "baseline": (None, lambda _: package.baseline("reno", **LINE, duration="1s")),
    "bench": (NOTHING, lambda _: package.bench([NOTHING])),
    "bench_disciplines": (NOTHING, lambda _: package.bench_disciplines([NOTHING])),
    "cards": (None, lambda _: package.cards("codel")),
    "compare": (None, lambda _: package.compare(flows="cubic", queue="fifo", **SHORT)),
    "compare_alone": (None, lambda _: package.compare_alone(flows="cubic", queue="fifo", **SHORT)),
    "detect": (NOTHING, lambda _: package.detect(NOTHING)),
    "diff": (NOTHING, lambda _: package.diff(NOTHING, NOTHING)),
    "doctor": (None, lambda _: package.doctor()),
    "effects": (NOTHING, lambda _: package.effects(NOTHING, **LINE)),
    "emulate": (NOTHING, lambda _: package.emulate(rate=NOTHING, rtt="20ms")),
    "estimate": (None, lambda _: package.estimate(SCENARIO)),
    "experiment": (None, lambda _: package.experiment(SCENARIO)),
    "explain": (None, lambda _: package.explain("codel")),
    "explained": (None, lambda _: package.explained("codel")),
    "lab": (NOTHING, lambda _: package.lab(NOTHING)),
    "least_buffer": (NOTHING, lambda _: package.least_buffer(NOTHING, down="5Mbit/s", up="1Mbit/s", rtt="20ms")),
    "listing": (None, lambda _: package.listing("transports")),
    "live": (None, lambda _: package.live(SCENARIO, set={"axes": []}).step()),
    "max_min": (None, lambda _: package.max_min(SCENARIO)),
    "query": (None, lambda study: package.query(study, "select count(*) from runs")),
    "read_result": (None, lambda study: package.read_result(_written(study))),
    "read_store": (None, lambda study: package.read_store(study.with_suffix(""))),
    "replay": (NOTHING, lambda _: package.replay(NOTHING, rate="1Mbit/s", buffer="9packets", disciplines=["fifo"])),
    "report": (None, lambda study: package.report(study, out=study.with_name("page.html"))),
    "reproduce": (NOTHING, lambda _: package.reproduce(NOTHING)),
    "run": (None, lambda _: package.run(SCENARIO, set={"measure.duration": "1 s"})),
    "scenes": (None, lambda _: package.scenes("reno")),
    "schema": (None, lambda _: package.schema("compare")),
    "serve": (None, lambda _: package.serve(tenants="a:rate=1/s,cost=1s", seats=2, seeds=1, duration="9s")),
    "sweep": (None, lambda study: package.sweep(study)),
    "tc": (None, lambda _: package.tc("fq_codel")),
    "theory": (None, lambda _: package.theory("tcp", rtt="100ms", loss=0.01)),
    "topology": (NOTHING, lambda _: package.topology(NOTHING)),
}
"""Each function: called as it should be, or, where that takes long, refused with this in its message."""


def _written(study):
    path = study.with_name("result.json")
    path.write_text(json.dumps(package.run(SCENARIO, set={"measure.duration": "1 s"}).document))
    return path


@pytest.fixture(scope="module")
def modules():
    found = [found.name for found in walk_packages(package.__path__, "fairq.")]
    return [import_module(name) for name in found if not name.endswith("__main__")]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = write_study(tmp_path_factory.mktemp("studies"), replications=1)
    package.sweep(path)
    return path


def test_each_name_of_the_package_is_itself_when_all_modules_are_loaded(modules):
    hidden = [name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)]
    assert hidden == []
    assert len(modules) > 150


def test_each_function_of_the_package_is_called_below():
    functions = {name for name in package.__all__ if not isinstance(getattr(package, name), type)}
    assert functions == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_each_function_can_be_called_when_all_modules_are_loaded(modules, study, name, monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    refused, call = CALLS[name]
    if refused is None:
        assert call(study) is not None
    else:
        with pytest.raises(package.FairqError, match=refused):
            call(study)


def test_no_two_files_have_one_name(modules):
    """But those of commands, which are named as commands are."""
    rooms = [module.__name__ for module in modules if not hasattr(module, "__path__")]
    names = Counter(name.rpartition(".")[2] for name in rooms if ".cli.commands." not in name)
    assert [name for name, count in names.items() if count > 1] == []


def test_a_question_does_without_the_wing_of_tc():
    words = {**SHORT, "flows": "cubic", "queue": "fq_codel"}
    asked = f"json.dumps(package.compare(**{words!r}).document)"
    code = f"import json, sys; sys.modules['fairq.traffic_control'] = None; import fairq as package; print({asked})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(package.compare(**words).document))
