"""The page of the lab as it was built: `make lab` puts it into `bundle/`, and a wheel has it."""

from __future__ import annotations

from pathlib import Path

from fairq.core.errors import UsageError
from fairq.core.serving import FIRST, files_of

BUNDLE = Path(__file__).with_name("bundle")
"""The folder of the page."""

WIDGET = "widget.js"
"""What a notebook loads."""

SCENARIO = "scenario.json"
"""The file of the scenario that was given; that of the page says that there is none."""

POLICY = {
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self' blob:",
    "img-src": "'self' data: blob:",
}
"""What the page may load beside what every page may: the simulator."""


def files() -> dict[str, bytes]:
    """The files of the page by their names, as `assets/page.js`; UsageError if it was not built."""
    if not (BUNDLE / FIRST).is_file():
        raise UsageError("the page of the lab is not built here; run `make lab` in a checkout of fairq, once")
    return files_of(BUNDLE)


def widget() -> str:
    """The module that a notebook loads; UsageError if the page was not built."""
    return files()[WIDGET].decode("utf-8")
