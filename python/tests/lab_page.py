"""The lab in a real browser: its built page behind a server of this process.

Needs the page that `make lab` builds (or a folder in FAIRQ_LAB_BUNDLE), the package playwright
and Debian's Chromium; without one of them a test skips loudly.
"""

import contextlib
import functools
import http.server
import os
import re
import shutil
import threading
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = Path(os.environ.get("FAIRQ_LAB_BUNDLE", ROOT / "page" / "dist"))
FILES = sorted((ROOT / "page" / "scenes").glob("*.toml"))
SCENES = {path.stem[3:]: tomllib.loads(path.read_text("utf-8")) for path in FILES}
"""Each scene of the page by its name, as its file says it."""
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 30_000


def needed():
    """Skip loudly without the page, the browser or the package that drives it."""
    if not (BUNDLE / "index.html").is_file():
        pytest.skip(f"SKIPPED: there is no {BUNDLE}/index.html; make lab")
    if shutil.which("chromium") is None:
        pytest.skip("SKIPPED: there is no chromium; apt-get install chromium")
    pytest.importorskip("playwright", reason="SKIPPED: there is no playwright; pip install playwright")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def lab_address():
    """The address of the built page on this machine."""
    needed()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=BUNDLE))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture(scope="session")
def chromium():
    """A Chromium without a screen."""
    needed()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def lab(chromium, lab_address):
    """The lab in a window of its own; the console must be empty, and no other host asked."""
    with opened(chromium, lab_address) as page:
        yield page
        page.is_clean()


@pytest.fixture(scope="module")
def one_window(chromium, lab_address):
    """A window of a file of tests, opened once: loading the simulator is long."""
    with opened(chromium, lab_address) as page:
        page.open()
        yield page


@pytest.fixture
def lasting_lab(one_window):
    """That window; what it said is held against the test that ran."""
    yield one_window
    one_window.is_clean()
    one_window.said.clear()


@contextlib.contextmanager
def opened(chromium, address):
    """A window for the page at `address`."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    try:
        yield LabPage(context.new_page(), address)
    finally:
        context.close()


class LabPage:
    """A window with the lab: `page` is Playwright's."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.said, self.asked = [], []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda fault: self.said.append(str(fault)))
        page.on("request", lambda request: self.asked.append(request.url))

    def is_clean(self):
        """No error on the console, no request to another host."""
        assert [text for text in self.said if not re.search(r"404|favicon", text)] == []
        own = (self.address, "blob:", "data:", "file:")
        assert [url for url in self.asked if not url.startswith(own)] == []

    def open(self, fragment="", size=(1280, 900), scheme="light", motion="no-preference"):
        """Show the page from its start; waits until it is ready."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment)
        self.ready()

    def ready(self):
        """Wait until the page has done what it was asked."""
        self.page.wait_for_function("['ready', 'fault'].includes(document.body.dataset.state)")

    def run(self, script, given=None):
        """The value of an async function's body, which has `lab`, `scenes` and `given`."""
        body = f"async given => {{ const lab = window.fairqLab, scenes = window.fairqScenes; {script} }}"
        return self.page.evaluate(body, given)

    def scene(self, name):
        """Open a scene, still at its first instant."""
        self.run("await scenes.open(given); lab.pause();", name)

    def press(self, name):
        """Press a button that moves the runs or changes them, and wait until it has."""
        before = self.digests()
        self.page.get_by_role("button", name=name).click()
        self.differs(before)

    def differs(self, before):
        """Wait until the runs are others than these, and stand."""
        self.page.wait_for_function(
            "before => `${window.fairqLab.panes.map(pane => pane.snapshot.digest)}` !== `${before}`", arg=before
        )
        # What was asked before has been done after a turn; what it asked itself, after a second
        # one.
        for _ in range(2):
            self.run("await lab.turn(async () => {})")

    def digests(self):
        """The digest of each pane's run."""
        return self.run("return lab.panes.map(pane => pane.snapshot.digest)")

    def now(self):
        """The time of each pane's run, seconds."""
        return self.run("return lab.panes.map(pane => pane.snapshot.now_s)")

    def passes(self, time_s):
        """Wait until each pane's run is later than this."""
        self.page.wait_for_function(
            "time => window.fairqLab.panes.every(pane => pane.snapshot.now_s > time)", arg=time_s
        )

    def measures(self, from_s):
        """What each pane measured, and the names of its flows."""
        return self.run(
            "return Promise.all(lab.panes.map(async pane => ({"
            "measures: await pane.measures(given), flows: pane.begun.flows.map(flow => flow.name)})))",
            from_s,
        )

    def fault(self):
        """The one line that says what is wrong."""
        self.page.wait_for_function("[...document.querySelectorAll('[role=alert]')].some(each => each.textContent)")
        return " ".join(text for text in self.page.locator("[role=alert]").all_text_contents() if text).strip()


def failing(claims, panes):
    """The claims that what was measured does not bear out, each with its value."""
    found = []
    for claim in claims:
        pane = panes[claim.get("pane", 0)]
        of = pane["measures"]
        if "flow" in claim:
            of = of["flows"][pane["flows"].index(claim["flow"])]
        value = of[claim["measure"]]
        least, most = claim.get("at_least", float("-inf")), claim.get("at_most", float("inf"))
        if value is None or not least <= value <= most:
            found.append((claim["measure"], claim.get("flow"), value, least, most))
    return found
