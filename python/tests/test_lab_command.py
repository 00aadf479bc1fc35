"""`fairq lab`: what is served, what is refused, and how it ends; the lab in a notebook."""

import functools
import http.client
import http.server
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fairq as package
from fairq.cli import program
from fairq.cli.commands import lab
from fairq.core import serving as server
from fairq.laboratory import built, notebook
from fairq.laboratory.given import as_file, given

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "scenarios" / "dumbbell.toml"
WASM = b"\0asm\1\0\0\0"


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A page that stands in for that of `make lab`."""
    folder = tmp_path / "bundle"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>lab</title>")
    (folder / "assets" / "page.js").write_text("document.title = 'here'")
    (folder / "fairq_lab.wasm").write_bytes(WASM)
    (folder / "widget.js").write_text("export const mount = async () => ({});")
    monkeypatch.setattr(built, "BUNDLE", folder)
    return folder


@pytest.fixture
def serving(bundle):
    """A server of the page; gives what asks it by method and target for status, headers, body."""
    files = {**built.files(), built.SCENARIO: b"{}"}
    with server.Server(files, policy=built.POLICY) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()

        def ask(method, target, hosts=None, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", served.server_port, timeout=10)
            connection.putrequest(method, target, skip_host=True)
            for host in [f"127.0.0.1:{served.server_port}"] if hosts is None else hosts:
                connection.putheader("Host", host)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

        ask.port = served.server_port
        yield ask
        served.shutdown()
        thread.join(10)


def test_each_file_of_the_page_is_served_with_its_type(serving):
    types = {"/": "text/html", "/index.html": "text/html", "/assets/page.js": "text/javascript",
             "/fairq_lab.wasm": "application/wasm",
             "/scenario.json": "application/json"}  # fmt: skip
    for target, kind in types.items():
        status, headers, body = serving("GET", target)
        assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind)
        assert int(headers["Content-Length"]) == len(body) > 0
        assert serving("HEAD", target)[::2] == (200, b"")
    assert serving("GET", "/fairq_lab.wasm?again=1")[2] == WASM


def test_every_answer_lets_the_page_load_from_itself_alone(serving):
    for target in ("/", "/nothing"):
        headers = serving("GET", target)[1]
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == policy["connect-src"] == policy["frame-ancestors"] == "'self'"
        assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
        assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
        assert headers["Server"] == "fairq"


@pytest.mark.parametrize(
    "hosts", [[], ["evil.example"], ["evil.example:{port}"], ["127.0.0.1"], ["127.0.0.1:{port}", "evil.example"],
              ["127.0.0.1:{port}, evil.example"], ["0.0.0.0:{port}"]]
)  # fmt: skip
def test_a_request_by_another_name_gets_nothing(serving, hosts):
    for target in ("/", "/scenario.json", "/nothing"):
        status, _, body = serving("GET", target, hosts=[host.format(port=serving.port) for host in hosts])
        assert (status, body) == (403, b"")


def test_this_machine_has_two_names(serving):
    assert serving("GET", "/", hosts=[f"localhost:{serving.port}"])[0] == 200


@pytest.mark.parametrize(
    "target",
    ["/assets", "/assets/", "/./index.html", "/../test_lab_command.py", "/%69ndex.html", "/index.html/",
     "/assets/../../bundle/index.html", "/..%2f..%2fetc/passwd", "http://127.0.0.1/index.html", "*", "/server.py"],
)  # fmt: skip
def test_only_the_names_of_files_are_there(serving, target):
    status, _, body = serving("GET", target)
    assert (status, body) == (404, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "PATCH", "TRACE"])
def test_nothing_can_be_sent_to_it(serving, method):
    status, _, body = serving(method, "/", body=b"text")
    assert (status, body) == (501, b"")


def test_no_other_machine_reaches_it(bundle):
    with server.Server(built.files()) as served:
        assert served.server_address[0] == "127.0.0.1" and served.server_port > 0


def test_the_scenario_comes_with_its_files(tmp_path):
    cities = (ROOT / "docs" / "guide" / "four_cities.gml").read_text()
    (tmp_path / "net.gml").write_text(cities)
    text = (
        'edition = 2\nmeasure = { duration = "1 s" }\n[topology]\nkind = "file"\nfile = "net.gml"\n'
        '[[flows]]\nname = "a"\nfrom = "Lisbon"\nto = "Paris"\ntraffic = "ftp"\n'
    )
    (tmp_path / "net.toml").write_text(text)
    assert given(tmp_path / "net.toml") == {"name": "net.toml", "text": text, "files": {"net.gml": cities}}
    assert given(SCENARIO)["files"] == {}
    (tmp_path / "net.gml").write_bytes(cities.replace("Lyon", "Ly\u00f6n").encode("latin-1"))
    with pytest.raises(package.ScenarioError, match=r"net\.gml is not UTF-8 text, .*; write fairq run"):
        given(tmp_path / "net.toml")


def test_a_broken_scenario_is_refused_as_a_run_refuses_it(refused, bundle, tmp_path):
    path = tmp_path / "net.toml"
    path.write_text(SCENARIO.read_text().replace('rate = "56 kbit/s"', 'rate = "56 kbits"'))
    assert refused("lab", path, "--no-browser") == refused("run", path)
    assert refused("lab", tmp_path / "none.toml", "--no-browser") == refused("run", tmp_path / "none.toml")


def test_a_port_in_use_is_one_line_with_what_to_do(refused, bundle):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("lab", "--no-browser", "--port", port)
    assert said == f"fairq: --port {port}: the port is in use; write another one, or leave it out for a free one\n"
    assert "write one up to 65535" in refused("lab", "--no-browser", "--port", "65536")


def test_without_the_page_it_says_what_builds_it(refused, monkeypatch, tmp_path):
    monkeypatch.setattr(built, "BUNDLE", tmp_path)
    said = refused("lab", SCENARIO, "--no-browser")
    assert "the page of the lab is not built here" in said and "`make lab`" in said and said.count("\n") == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it(bundle, number, status):
    code = (
        "import pathlib, sys; from fairq.laboratory import built; built.BUNDLE = pathlib.Path(sys.argv.pop(1));"
        "from fairq.cli.program import program; program()"
    )
    command = [sys.executable, "-c", code, bundle, "lab", SCENARIO, "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=10)
        connection.request("GET", "/scenario.json")
        assert json.loads(connection.getresponse().read())["name"] == "dumbbell.toml"
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (status, "")
    assert err == {130: "fairq: interrupted\n", 143: "fairq: terminated\n"}[status]


def test_the_browser_is_opened_unless_it_is_not_wanted(bundle, monkeypatch, capsys):
    opened, is_open = [], threading.Event()

    def open_it(address):
        opened.append(address)
        is_open.set()
        return False

    def serve(self):
        assert quiet or is_open.wait(10)

    monkeypatch.setattr("webbrowser.open", open_it)
    monkeypatch.setattr(server.Server, "serve_forever", serve)
    quiet = False
    assert program.main(["lab"]) == 0
    said = capsys.readouterr()
    assert [f"{address}\n" for address in opened] == [said.out]
    quiet = True
    assert program.main(["lab", "--no-browser"]) == 0
    assert len(opened) == 1


def test_the_command_holds_its_document_to_its_schema(bundle, monkeypatch, document):
    monkeypatch.setattr(server.Server, "serve_forever", lambda self: None)
    assert document("lab", SCENARIO, "--no-browser")["scenario"] == str(SCENARIO)
    assert document("lab", "--no-browser")["scenario"] is None


def test_a_notebook_is_told_what_to_install(monkeypatch, bundle):
    notebook._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(package.UsageError, match=r"pip install anywidget"):
        package.lab()
    notebook._kind.cache_clear()


def test_the_widget_has_the_page_and_the_scenario(bundle):
    pytest.importorskip("anywidget", reason="SKIPPED: there is no anywidget; make setup installs it")
    widget = package.lab(SCENARIO)
    sent = widget.get_state(["_esm", "_page", "scenario", "state"])
    assert sent["_page"] == (bundle / "widget.js").read_text() and "export default" in sent["_esm"]
    assert sent["scenario"]["name"] == "dumbbell.toml" and sent["state"] is None
    assert package.lab().scenario is None
    with pytest.raises(package.ScenarioError):
        package.lab({"links": 1})


PAGE = """
export async function mount(element, options) {
    const heard = {};
    const lab = {
        options, heard, playing: false, loaded: [], paused: 0, now: { step: 1 },
        state: () => lab.now,
        load: async (state) => { lab.loaded.push(state); lab.now = state; },
        pause: () => { lab.paused += 1; },
        on: (what, told) => { heard[what] = told; return () => delete heard[what]; },
    };
    element.textContent = "mounted";
    window.lab = lab;
    return lab;
}
"""

CELL = """<!doctype html><title>cell</title><div id=cell></div><script type=module>
    Object.assign(window, { told: {}, saved: 0 });
    window.values = { _page: PAGE, scenario: { name: "a" }, state: null };
    const model = {
        get: (name) => values[name],
        set: (name, value) => { values[name] = value; },
        save_changes: () => { window.saved += 1; },
        on: (what, call) => { told[what] = call; },
        off: (what) => { delete told[what]; },
    };
    const glue = URL.createObjectURL(new Blob([GLUE], { type: "text/javascript" }));
    const el = document.getElementById("cell");
    window.end = await (await import(glue)).default.render({ model, el });
    window.done = true;
</script>"""
"""A page and a model of a notebook that stand in."""


def test_the_state_of_the_page_goes_to_python_and_comes_from_there(browser, tmp_path):
    glue = notebook.GLUE.read_text(encoding="utf-8")
    html = CELL.replace("PAGE", json.dumps(PAGE)).replace("GLUE", json.dumps(glue))
    path = tmp_path / "cell.html"
    path.write_text(html)
    browser.open(path, 800)
    browser.run("(async () => { while (!window.done) await new Promise((go) => setTimeout(go, 10)); })()")
    assert browser.run("document.getElementById('cell').textContent") == "mounted"
    assert browser.run("lab.options") == {"hash": False, "scenario": {"name": "a"}}
    browser.run("lab.playing = true; lab.now = { step: 2 }; lab.heard.change()")
    assert browser.run("[saved, values.state]") == [0, None]
    browser.run("lab.playing = false; lab.heard.change(); lab.heard.change()")
    assert browser.run("[saved, values.state]") == [1, {"step": 2}]
    browser.run("values.state = { step: 7 }; told['change:state']()")
    assert browser.run("[lab.loaded, saved]") == [[{"step": 7}], 1]
    browser.run("end()")
    assert browser.run("[Object.keys(lab.heard), Object.keys(told), lab.paused]") == [[], [], 1]


def test_the_built_page_is_whole():
    if not (built.BUNDLE / built.FIRST).is_file():
        pytest.skip("SKIPPED: the page of the lab is not built; make lab builds it")
    files = built.files()
    assert {built.FIRST, built.WIDGET} <= files.keys() and "lab.html" not in files
    assert any(name.endswith(".wasm") and data.startswith(b"\0asm") for name, data in files.items())
    page = files[built.FIRST].decode()
    for name in re.findall(r'(?:src|href)="\./?([^"#]+)"', page):
        assert name in files, name
    assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', page) == []


@pytest.mark.parametrize("tool", ["node", "npm"])
def test_make_lab_says_which_tool_is_missing(tool, tmp_path):
    for name in ("sh", "dirname", "node", "npm", "mkdir"):
        found = shutil.which(name)
        if name != tool and found:
            (tmp_path / name).symlink_to(found)
    if tool == "npm" and not shutil.which("node"):
        pytest.skip("SKIPPED: there is no node")
    done = subprocess.run(
        [tmp_path / "sh", ROOT / "scripts" / "lab.sh", "page"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    name = {"node": r"Node\.js 20 or newer \(node\)", "npm": "npm"}[tool]
    assert re.fullmatch(rf"fairq: {name} is missing\. Install it with: apt-get .*\n", done.stderr)


def test_the_command_has_the_words_that_the_guide_shows():
    assert [option.flag for option in lab.SPEC.all()][1:] == ["--port", "--no-browser"]


@pytest.fixture
def course(tmp_path):
    """The address of the guide's course page, on a server of files beside the built page."""
    if not (built.BUNDLE / built.FIRST).is_file():
        pytest.skip("SKIPPED: the page of the lab is not built; make lab builds it")
    shutil.copy(ROOT / "docs" / "guide" / "course-page.html", tmp_path)
    shutil.copytree(built.BUNDLE, tmp_path / "lab")
    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/course-page.html"
        served.shutdown()
        thread.join(10)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *_):
        pass


def comes(browser, expression):
    """Whether an expression becomes true within half a minute."""
    waits = "for (let at = 0; at < 300 && !(WHAT); at += 1) await new Promise((go) => setTimeout(go, 100));"
    return browser.run(f"(async () => {{ {waits} return Boolean(WHAT); }})()".replace("WHAT", expression))


def test_the_buttons_of_the_course_page_drive_the_lab_in_its_frame(browser, course):
    browser.asked.clear()
    browser.call("Page.navigate", url=course)
    assert comes(browser, "document.readyState === 'complete' && typeof tell === 'function'")
    # what is asked before the frame has loaded is not answered
    assert comes(browser, "tell('state').then((state) => { window.known = state; }) && window.known")
    state = browser.run("known")
    assert state["v"] == 1 and state["panes"]
    steps = []
    for button in ("seek", "drr"):
        browser.run(f"said.textContent = ''; document.getElementById('{button}').click()")
        assert comes(browser, "said.textContent")
        match = re.fullmatch(r"event (\d+)", browser.run("said.textContent"))
        assert match, browser.run("said.textContent")
        steps.append(int(match[1]))
    assert steps[0] > steps[1]
    said = browser.run("tell('seek', { timeS: 'soon' }).catch((fault) => fault.message)")
    assert "timeS" in said and "\n" not in said
    assert all(url.startswith((course.removesuffix("course-page.html"), "blob:", "data:")) for url in browser.asked)


def test_the_page_runs_by_the_rules_of_the_server_and_opens_the_scenario(browser):
    if not (built.BUNDLE / built.FIRST).is_file():
        pytest.skip("SKIPPED: the page of the lab is not built; make lab builds it")
    files = {**built.files(), built.SCENARIO: as_file(SCENARIO)}
    with server.Server(files, policy=built.POLICY) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        browser.asked.clear()
        browser.call("Page.navigate", url=served.address)
        assert comes(browser, "['ready', 'fault'].includes(document.body && document.body.dataset.state)")
        assert browser.run("document.body.dataset.state") == "ready"
        assert browser.run("fairqLab.state().text") == SCENARIO.read_text(encoding="utf-8")
        assert all(url.startswith((served.address, "blob:", "data:")) for url in browser.asked)
        served.shutdown()
        thread.join(10)
