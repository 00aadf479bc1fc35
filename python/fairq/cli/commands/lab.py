"""`fairq lab`: the lab in a browser, on a server for this machine alone."""

from __future__ import annotations

import sys
import threading
from argparse import Namespace
from collections.abc import Iterator

from fairq.cli.printing import as_json
from fairq.core import streams
from fairq.core.declared import Option, Spec, argument, switch, typed_only
from fairq.core.errors import UsageError
from fairq.laboratory import built, given
from fairq.laboratory.server import SCENARIO, Server

SPEC = Spec(
    "lab",
    "fairq lab scenarios/dumbbell.toml",
    typed_only(
        argument("scenario", "the scenario to open (default: the page's first scene)", "SCENARIO.toml", "Scenario",
                 nargs="?"),
        Option("port", "listen at this port of 127.0.0.1 (default: a free one)", "PORT", "Whole"),
        switch("no_browser", "print the address and open no browser"),
    ),
    "Ctrl-C ends it. No other machine reaches it, and the page asks no other for anything: docs/guide/lab.md.",
)  # fmt: skip

PORT_MAX = 65535
"""The greatest number of a port."""


def lab(arguments: Namespace) -> Iterator[str]:
    """`fairq lab`: its address, then the end of the command by a signal."""
    port = arguments.port or 0
    if port > PORT_MAX:
        raise UsageError(f"there is no such port; write one up to {PORT_MAX}, or leave it out", where=f"--port {port}")
    files = built.files()
    if arguments.scenario is not None:
        files[SCENARIO] = given.as_file(arguments.scenario)
    return _served(Server(files, port), arguments)


def _served(server: Server, arguments: Namespace) -> Iterator[str]:
    with server:
        document = {"address": server.address, "scenario": arguments.scenario}
        yield as_json(document, "lab") if arguments.json else f"{server.address}\n"
        sys.stdout.flush()
        if not arguments.no_browser:
            # a browser in a terminal takes it until it is left
            threading.Thread(target=_open, args=(server.address,), daemon=True).start()
        server.serve_forever()


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        streams.note(f"no browser was found; open {address}")
