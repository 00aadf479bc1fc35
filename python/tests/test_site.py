"""The site as `make docs` built it: its links lead somewhere, and a browser shows each page whole."""

import json
import os
import re
import threading
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from browser import Browser

from fairq.core import serving
from fairq.manual import site

KINDS = (
    "index.html",
    "start/index.html",
    "guide/README.html",
    "guide/compare.html",
    "reference/exit-status.html",
    "reference/topologies.html",
    "reference/c.html",
    "agreement/papers/demers1990.html",
    "design/index.html",
    "gallery/index.html",
    "background/virtual-time.html",
    "lecture/index.html",
    "notebooks/bufferbloat.html",
    "search.html",
)
"""A page of each kind, of which those are looked at that the site has. On long ones axe takes ten
seconds: the nightly run has them."""
SIZE_MAX = 13_000_000
"""Bytes of all files."""
LEFT = {"genindex.html", "py-modindex.html"}
"""What Sphinx makes beside the pages."""


@pytest.fixture(scope="module")
def bundle():
    """The folder of the site; without it CI fails, which builds it."""
    if not (site.BUNDLE / "index.html").is_file():
        pytest.skip("SKIPPED: the site is not built; run `make docs`")
    return site.BUNDLE


@pytest.fixture(scope="module")
def pages(bundle):
    """The pages by their names, each with its anchors and with what it leads to and loads."""
    found = {path.relative_to(bundle).as_posix(): path for path in sorted(bundle.rglob("*.html"))}
    # what starts so is a file that a page offers
    return {name: Page(path) for name, path in found.items() if not name.startswith("_")}


class Page(HTMLParser):
    """What a page has and leads to."""

    def __init__(self, path):
        super().__init__()
        self.path, self.anchors, self.links, self.loads = path, set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("link", "script", "img", "iframe", "source") and given.get("rel") != "canonical":
            self.loads += [given[name] for name in ("href", "src") if given.get(name)]


class Listening(Browser):
    """A browser that keeps what a page complains of."""

    def __init__(self, folder):
        self.complaints = []
        super().__init__(folder)
        self.call("Log.enable")

    def _hear(self, said):
        super()._hear(said)
        what, told = said.get("method"), said.get("params", {})
        is_bad = what == "Runtime.exceptionThrown" or (
            (what == "Log.entryAdded" and told["entry"]["level"] == "error")
            or (what == "Runtime.consoleAPICalled" and told["type"] == "error")
        )  # fmt: skip
        if is_bad:
            self.complaints.append(json.dumps(told)[:300])

    def go(self, address):
        """Show the page at an address, as `open` shows a file."""
        self.asked.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=address)
        while (said := self._read()).get("method") != "Page.loadEventFired":
            self._hear(said)


@pytest.fixture(scope="module")
def reader(bundle, tmp_path_factory):
    """A browser, and the address at which `fairq docs` serves the site."""
    browser = Listening(tmp_path_factory.mktemp("reader"))
    with serving.Server(site.files(), policy=site.POLICY) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield browser, served.address
        browser.close()
        served.shutdown()
        thread.join(10)


def is_outside(link):
    return urlsplit(link).scheme not in ("", "data") or link.startswith("//")


def test_every_link_of_every_page_leads_to_a_page_and_an_anchor(bundle, pages):
    lost = []
    for name, page in pages.items():
        for link in page.links + page.loads:
            if is_outside(link) or link.startswith("data:"):
                continue
            path, anchor = urldefrag(link)
            place = (page.path.parent / unquote(urlsplit(path).path)).resolve() if path else page.path
            other = pages.get(place.relative_to(bundle).as_posix()) if place.is_relative_to(bundle) else None
            if not place.is_file() or (anchor and other and unquote(anchor) not in other.anchors):
                lost.append(f"{name}: {link}")
    assert len(pages) > 100 and lost == []


def test_no_page_loads_anything_from_elsewhere(pages):
    assert [(name, link) for name, page in pages.items() for link in page.loads if is_outside(link)] == []


def test_each_picture_says_what_it_shows(pages):
    unsaid = []
    for name, page in pages.items():
        text = page.path.read_text(encoding="utf-8")
        # without words it would be the name of the file
        unsaid += [f"{name}: {tag[:80]}" for tag in text.split("<img ")[1:]
                   if not re.search(r'alt="(?![^"]*_images/)[^"]+"', tag.split(">")[0])]  # fmt: skip
    assert unsaid == []


def test_every_page_is_in_the_index_that_fairq_docs_searches(bundle, pages):
    found = {entry.page.partition("#")[0] for entry in site.entries()}
    assert found == set(pages) - LEFT - {"search.html"}
    lost = [entry.page for entry in site.entries() if "#" in entry.page
            and entry.page.split("#")[1] not in pages[entry.page.split("#")[0]].anchors]  # fmt: skip
    assert lost == []


def test_the_site_is_small(bundle):
    assert sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file()) < SIZE_MAX


def shown(browser, address, width, scheme):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}
    ])  # fmt: skip
    browser.go(address)
    # what the page complains of stands before this answer
    assert browser.run("document.documentElement.dataset.theme") == scheme
    assert browser.complaints == []


LONG = ("reference/commands.html", "reference/disciplines.html", "reference/python.html", "reference/constants.html")
"""Pages with wide tables and long names."""


def test_pages_of_each_kind_fit_a_phone_complain_of_nothing_and_ask_no_other_machine(reader, pages):
    fit_a_phone(reader, [name for name in (*KINDS, *LONG) if name in pages])


@pytest.mark.nightly
def test_every_page_does(reader, pages):
    fit_a_phone(reader, pages)


def fit_a_phone(reader, names):
    browser, address = reader
    wide = []
    for name in names:
        shown(browser, address + name, 390, "light")
        assert [asked for asked in browser.asked if not asked.startswith((address, "data:"))] == [], name
        if not browser.run("document.documentElement.scrollWidth <= innerWidth"):
            wide.append(name)
    assert wide == []


def judged(reader, names, screens):
    """What axe has against pages, by page and screen."""
    browser, address = reader
    found = []
    for name in names:
        for width, scheme in screens:
            shown(browser, address + name, width, scheme)
            found += [(name, width, scheme, *each) for each in browser.violations()]
    return found


def test_axe_has_nothing_against_a_page_of_each_kind(reader, pages):
    kinds = [name for name in KINDS if name in pages]
    assert len(kinds) >= 10
    assert judged(reader, kinds, [(1280, "light"), (390, "dark")]) == []


@pytest.mark.nightly
def test_axe_has_nothing_against_any_page(reader, pages):
    assert judged(reader, pages, [(1280, "dark"), (390, "light")]) == []


def test_a_page_can_be_read_as_a_file(reader, bundle):
    browser, _ = reader
    browser.complaints.clear()
    browser.open(bundle / "guide" / "compare.html", 1280)
    assert browser.run("document.querySelector('h1').textContent").startswith("Which queue, buffer")
    assert browser.complaints == [] and all(asked.startswith(("file:", "data:")) for asked in browser.asked)


def test_the_search_of_the_site_finds_words_of_a_page(reader):
    browser, address = reader
    browser.go(f"{address}search.html?q=phase+effect")
    wait = """new Promise(done => { const look = () => {
        const found = [...document.querySelectorAll('#search-results li a')].map(each => each.getAttribute('href'));
        const is_done = document.querySelector('#search-results .search-summary')?.textContent.includes('found');
        is_done && found.length ? done(found) : setTimeout(look, 50);
    }; look(); })"""
    assert any("guide/phase-effects.html" in link for link in browser.run(wait))


def test_ci_has_the_site(request):
    if os.environ.get("FAIRQ_NAMESPACES") == "required":
        assert (site.BUNDLE / "index.html").is_file(), "`make docs` did not build the site"
