"""The site as it was built: `make docs` puts it into `bundle/`, and a wheel has it."""

from __future__ import annotations

import json
from pathlib import Path

from fairq.core.errors import UsageError
from fairq.core.serving import FIRST, files_of
from fairq.manual.finding import Entry

BUNDLE = Path(__file__).with_name("bundle")
"""The folder of the site."""

TITLES = "titles.json"
"""The file with the titles and headings of all pages, which the build writes."""

POLICY = {"script-src": "'self' 'unsafe-inline'"}
"""What the pages may load beside what every page may: what Sphinx writes into them."""


def folder() -> Path:
    """The folder of the site; UsageError if it was not built."""
    if not (BUNDLE / FIRST).is_file():
        raise UsageError("the documentation is not built here; run `make docs` in a checkout of fairq, once")
    return BUNDLE


def files() -> dict[str, bytes]:
    """The files of the site by their names, as `guide/lab.html`."""
    return files_of(folder())


def entries() -> list[Entry]:
    """The titles and headings of all pages."""
    rows = json.loads((folder() / TITLES).read_text(encoding="utf-8"))
    found = []
    for row in rows:
        found.append(Entry(row["page"], row["title"], row["title"], is_title=True))
        found += [Entry(f"{row['page']}#{name}", text, row["title"], is_title=False) for text, name in row["heads"]]
    return found
