"""The simulator in the browser gives the native simulator's results, byte for byte."""

import json
import random
import tomllib

import pytest
from lab_page import ROOT

import fairq

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
SHORT = {"measure.warm_up": "200 ms", "measure.duration": "2 s", "measure.replications": "1"}
"""Long enough for losses, timeouts and marks, short enough for a test."""
WHOLE = {"come_and_go": {}, "outage": {}}
"""What happens late in these is what they are about; both are short."""
CALL = """
const answer = await fetch("fairq_lab.wasm");
const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), {});
const { memory, alloc, call, answer_length } = instance.exports;
const bytes = new TextEncoder().encode(JSON.stringify({ do: "whole", ...given }));
const pointer = alloc(bytes.length);
new Uint8Array(memory.buffer, pointer, bytes.length).set(bytes);
const found = call(pointer, bytes.length);
return new TextDecoder().decode(new Uint8Array(memory.buffer, found, answer_length()));
"""
"""Asks the simulator itself, without the page, so that its own text is compared."""


@pytest.fixture(scope="module")
def window(chromium, lab_address):
    """A page of the lab's own host, whose simulator is asked."""
    page = chromium.new_page()
    page.goto(lab_address)
    yield page
    page.close()


def in_browser(window, path, sets):
    """The document of a scenario's runs, from the browser."""
    folder = path.parent
    text = path.read_text("utf-8")
    files = {each.name: each.read_text("utf-8") for each in folder.iterdir() if each.is_file() and each.name in text}
    request = {"text": text, "name": path.name, "sets": [list(pair) for pair in sets.items()], "files": files}
    answer = json.loads(window.evaluate(f"async given => {{{CALL}}}", request))
    assert "ok" in answer, answer
    return answer["ok"]["document"]


def native(path, sets):
    """The same from the native simulator."""
    document = dict(fairq.run(path, set=sets, workers=1).document)
    del document["run_info"]
    return document


def same(window, path, sets):
    """Both as text."""
    one, other = in_browser(window, path, sets), native(path, sets)
    one.pop("run_info", None)
    assert json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_of_the_tree_gives_the_same_bytes(window, path):
    same(window, path, WHOLE.get(path.stem, SHORT))


@pytest.mark.parametrize("number", range(max(0, 50 - len(SCENARIOS))))
def test_a_random_scenario_gives_the_same_bytes(window, number, tmp_path):
    draw = random.Random(number)
    path = tmp_path / "random.toml"
    path.write_text(scenario(draw), encoding="utf-8")
    same(window, path, {})


def scenario(draw):
    """A line with random flows behind two random schedulers."""
    queues = draw.sample(["drr", "fq", "fq_codel", "fifo", "pie", "red", "scfq", "sfq", "wf2q_plus", "wfq", "codel"], 2)
    flows = "".join(
        f"""
[[flows]]
name = "flow {number}"
from = "a"
to = "b"
traffic = "{draw.choice(["ftp", "poisson(rate=1Mbit/s, packet=500B)", "telnet(mean_gap=20ms)", "on_off"])}"
access = {{ rate = "{draw.choice([10, 50, 100])} Mbit/s", delay = "{draw.randint(1, 30)} ms" }}
weight = {draw.randint(1, 4)}
"""
        for number in range(draw.randint(1, 6))
    )
    return f"""
edition = 2
[measure]
duration = "2 s"
seed = {draw.randint(1, 10**6)}
[[links]]
name = "link"
from = "a"
to = "b"
rate = "{draw.randint(1, 10)} Mbit/s"
delay = "{draw.randint(0, 20)} ms"
buffer = "{draw.randint(5, 60)} packets"
loss = {draw.choice([0, 0, 0.01])}
{flows}
[[axes]]
name = "queue"
path = "links.link.queue"
values = {json.dumps(queues)}
"""


def test_the_random_scenarios_are_scenarios():
    for number in range(12):
        assert tomllib.loads(scenario(random.Random(number)))["flows"]
