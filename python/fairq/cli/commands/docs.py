"""`fairq docs`: the documentation in a browser, from a server for this machine alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from fairq.cli.browsing import shown
from fairq.cli.printing import as_json
from fairq.core.declared import OneOf, Option, Spec, argument, switch, typed_only
from fairq.core.errors import UsageError
from fairq.core.serving import FIRST, Server
from fairq.manual import finding, site

SPEC = Spec(
    "docs",
    "fairq docs phase effect",
    (
        *typed_only(
            argument("words", "what to look for in titles and headings (default: the first page)", "WORDS",
                     "Sequence[str]", default=(), typed=[], nargs="*"),
            Option("port", "listen at this port of 127.0.0.1 (default: a free one)", "PORT", "Whole"),
        ),
        OneOf(typed_only(
            switch("no_browser", "print the address and open no browser"),
            switch("path", "print where the page is, or the folder of all pages, and serve nothing"),
        )),
    ),
    "Ctrl-C ends it. No other machine reaches it, and no page asks another for anything. The page with the best title "
    "for the words is opened; the site itself searches all text.",
)  # fmt: skip


def docs(arguments: Namespace) -> str | Iterator[str]:
    """`fairq docs`: its address, then the end of the command by a signal."""
    entry = _meant(" ".join(arguments.words))
    file = entry.page.partition("#")[0]
    place = site.folder() / file
    document = {"address": None, "path": str(place), "page": entry.page, "title": entry.title}
    if arguments.path:
        return as_json(document, "docs") if arguments.json else f"{place if arguments.words else site.folder()}\n"
    server = Server(site.files(), arguments.port or 0, site.POLICY)
    address = server.address + ("" if entry.page == FIRST else entry.page)
    document["address"] = address
    said = as_json(document, "docs") if arguments.json else f"{address}\n"
    return shown(server, address, said, browser=not arguments.no_browser)


def _meant(words: str) -> finding.Entry:
    """The page that the words mean, the first one if there are none; UsageError names near ones."""
    entries = site.entries()
    if not words.strip():
        return next((entry for entry in entries if entry.page == FIRST), entries[0])
    found = finding.best(words, entries)
    if found is None:
        near = finding.near(words, entries)
        said = f"near are {', '.join(repr(title) for title in near)}; " if near else ""
        raise UsageError(f"no title or heading has {words!r}; {said}fairq docs opens the site, which searches all text")
    return found
