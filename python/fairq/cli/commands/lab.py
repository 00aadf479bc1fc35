"""`fairq lab`: the lab in a browser, on a server for this machine alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from fairq.cli.browsing import shown
from fairq.cli.printing import as_json
from fairq.core.declared import Option, Spec, argument, switch, typed_only
from fairq.core.serving import Server
from fairq.laboratory import built, given

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


def lab(arguments: Namespace) -> Iterator[str]:
    """`fairq lab`: its address, then the end of the command by a signal."""
    files = built.files()
    if arguments.scenario is not None:
        files[built.SCENARIO] = given.as_file(arguments.scenario)
    server = Server(files, arguments.port or 0, built.POLICY)
    document = {"address": server.address, "scenario": arguments.scenario}
    said = as_json(document, "lab") if arguments.json else f"{server.address}\n"
    return shown(server, server.address, said, browser=not arguments.no_browser)
