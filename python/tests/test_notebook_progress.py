"""Long calls in a notebook: a bar by itself, which goes in the end; and an interrupt of the kernel."""

import sys
import time
from types import ModuleType, SimpleNamespace

import pytest
from sweep_studies import write_study

import fairq
from fairq.core import progress

LONG = {
    "edition": 2,
    "measure": {"duration": "1 h"},
    "links": [{"name": "l", "from": "a", "to": "b", "rate": "100 Mbit/s", "queue": "fq", "buffer": "50 packets"}],
    "flows": [{"name": "f", "from": "a", "to": "b", "traffic": "ftp", "transport": "reno", "count": 4}],
}
"""More than a minute of work."""


class Handle:
    """Stands for what an output of a cell is changed by."""

    def __init__(self, shown):
        self.shown = shown

    def update(self, data, *, raw):
        assert raw
        self.shown.append(data)


@pytest.fixture
def shown(monkeypatch):
    """What a notebook was given to show."""
    found = []

    def display(data, *, raw, display_id):
        assert raw and display_id is True and not found
        found.append(data)
        return Handle(found)

    main, inner = ModuleType("IPython"), ModuleType("IPython.display")
    main.get_ipython = lambda: SimpleNamespace(kernel=object())
    inner.display = display
    monkeypatch.setitem(sys.modules, "IPython", main)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    return found


def test_a_bar_comes_late_is_updated_seldom_and_goes(shown, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with progress.in_notebook("a <b>") as bar:
        counts = []
        for at in (100.1, 100.4, 100.6, 100.7, 100.75, 100.9, 101.0, 102.0):
            now[0] = at
            bar.tell(0.25, 500.0, 3000)
            counts.append(len(shown))
    assert counts == [0, 0, 1, 1, 1, 2, 2, 3]
    assert 'value="0.250"' in shown[0]["text/html"] and "a &lt;b&gt;" in shown[0]["text/html"]
    assert "25 %" in shown[0]["text/plain"]
    assert shown[-1] == {"text/html": "", "text/plain": ""}


def test_a_short_call_shows_nothing(shown):
    fairq.topology("fat_tree(k=2)")
    assert not shown


@pytest.mark.parametrize(
    "call",
    [
        lambda **told: fairq.run(LONG, **told),
        lambda **told: fairq.compare(rate="1Gbit/s", rtt="20ms", flows="cubic", duration="1 h", warm_up="1 s", **told),
        lambda **told: fairq.compare_alone(rate="1Gbit/s", rtt="20ms", flows="cubic", duration="1 h", **told),
        lambda **told: fairq.audit("sfq", seeds=20000, **told),
        lambda **told: fairq.bench_disciplines(**told),
    ],
    ids=["run", "compare", "compare_alone", "audit", "bench_disciplines"],
)
def test_long_calls_show_a_bar_and_what_ends_them_removes_it(shown, monkeypatch, call):
    tell = progress.NotebookBar.tell

    def told(self, *given):
        tell(self, *given)
        if shown:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.NotebookBar, "tell", told)
    with pytest.raises(KeyboardInterrupt):
        call()
    assert len(shown) == 2 and "<progress" in shown[0]["text/html"] and not shown[1]["text/html"]


def test_a_long_sweep_shows_its_line(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "NOTEBOOK_AFTER_S", 0.0)
    study = write_study(tmp_path)
    done = fairq.sweep(study, show=False)
    assert done.done and not shown
    fairq.sweep(study, store=tmp_path / "another")
    assert "%" in shown[0]["text/plain"] and not shown[-1]["text/html"]


def test_false_and_a_function_of_ones_own_show_no_bar(shown):
    began = time.monotonic()

    def mine(*_):
        if time.monotonic() - began > 1.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fairq.run(LONG, progress=mine)
    fairq.audit("sfq", quick=True, progress=False)
    assert not shown


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["plain", "terminal"])
def test_nothing_is_shown_outside_of_a_notebook(monkeypatch, shell):
    main = ModuleType("IPython")
    main.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", main)
    assert progress.in_notebook("run") is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert progress.in_notebook("run") is None


def test_what_is_no_function_is_refused_in_one_line():
    with pytest.raises(fairq.UsageError, match="progress: True is a bool; write a function of three numbers, or False"):
        fairq.run(LONG, progress=True)


@pytest.fixture(scope="module")
def kernel():
    manager_of = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    manager, client = manager_of.start_new_kernel(kernel_name="python3", startup_timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def outputs(client, asked, stop=None):
    """The messages of a cell until the kernel is idle again; `stop` is called at the first display."""
    found = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != asked:
            continue
        found.append((message["msg_type"], message["content"]))
        if message["msg_type"] == "display_data" and stop is not None:
            stop()
            stop = None
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return found


def test_a_kernel_shows_a_bar_and_leaves_none(kernel):
    _, client = kernel
    found = outputs(client, client.execute("import fairq; found = fairq.audit('sfq', seeds=60); found.passed"))
    kinds = [kind for kind, _ in found]
    assert kinds.count("display_data") == 1 and "error" not in kinds
    changes = [content["data"] for kind, content in found if kind == "update_display_data"]
    assert changes[-1] == {"text/html": "", "text/plain": ""}


def test_an_interrupt_of_the_kernel_ends_a_run(kernel):
    manager, client = kernel
    found = outputs(client, client.execute(f"import fairq; fairq.run({LONG!r})"), manager.interrupt_kernel)
    (error,) = [content for kind, content in found if kind == "error"]
    assert error["ename"] in ("KeyboardInterrupt", "Interrupted")
    changes = [content["data"] for kind, content in found if kind == "update_display_data"]
    assert changes[-1] == {"text/html": "", "text/plain": ""}
    (said,) = [content for kind, content in outputs(client, client.execute("1 + 1")) if kind == "execute_result"]
    assert said["data"]["text/plain"] == "2"
