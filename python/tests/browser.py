"""A real browser for tests: Debian's Chromium without a screen, over a pipe; and axe.

The Chrome DevTools Protocol over file descriptors 3 and 4 needs no port and no package.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parents[2] / "target" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""Where .ci/run puts it: `npm install --prefix target/axe axe-core`."""


def needed():
    """Skip loudly without a browser."""
    if CHROMIUM is None:
        pytest.skip("SKIPPED: there is no chromium; apt-get install chromium")


def axe():
    """The script of axe-core; skips loudly without it."""
    path = Path(os.environ.get("FAIRQ_AXE", AXE))
    if not path.is_file():
        pytest.skip(f"SKIPPED: there is no {path}; npm install --prefix target/axe axe-core")
    return path.read_text(encoding="utf-8")


class Browser:
    """A browser with one page."""

    def __init__(self, folder):
        needed()
        ours, theirs = os.pipe(), os.pipe()
        options = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run"
        line = f"exec {CHROMIUM} {options} --user-data-dir={folder}/profile about:blank 3<&{ours[0]} 4>&{theirs[1]}"
        self._process = subprocess.Popen(
            ["bash", "-c", line], pass_fds=(ours[0], theirs[1]), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._from = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self._number, self._rest, self._session = 0, b"", None
        self.asked = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def close(self):
        """End the browser."""
        self._to.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._from.close()

    def call(self, method, **parameters):
        """Call a method of the protocol; gives its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while (said := self._read()).get("id") != self._number:
            self._hear(said)
        assert "error" not in said, f"{method}: {said['error']}"
        return said["result"]

    def _read(self):
        while b"\0" not in self._rest:
            piece = self._from.read1(1 << 20)
            assert piece, "the browser ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _hear(self, said):
        if said.get("method") == "Network.requestWillBeSent":
            self.asked.append(said["params"]["request"]["url"])

    def open(self, path, width, scheme="light", height=900):
        """Show a page at a width in a colour scheme; `asked` has the addresses it asked for."""
        self.asked.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while (said := self._read()).get("method") != "Page.loadEventFired":
            self._hear(said)

    def run(self, script):
        """The value of an expression of JavaScript, or of its promise."""
        said = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def press(self, key, code):
        """Press a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def violations(self):
        """What axe has against the page, as rule and element."""
        self.run(axe())
        found = self.run("axe.run().then(found => found.violations)")
        return [(rule["id"], node["html"][:120]) for rule in found for node in rule["nodes"]]
