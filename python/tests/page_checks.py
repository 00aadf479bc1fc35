"""What every page of HTML is held to in a browser, and how its files are read."""

import base64
import csv
import io
import re

import pytest

SCREENS = [(width, scheme) for width in (390, 1280, 1920) for scheme in ("light", "dark")]
"""Widths in pixels from a phone to a projector, each light and dark."""


def texts(text):
    """The files behind the links of a page, by their names."""
    found = re.findall(r'download="([^"]+)" href="data:text/csv;base64,([^"]+)"', text)
    return {name: base64.b64decode(data).decode() for name, data in found}


def files(text):
    """The same, as rows."""
    return {name: list(csv.DictReader(io.StringIO(data))) for name, data in texts(text).items()}


def can_be_read(browser, page, width, scheme):
    """axe has nothing against the page, which fits the screen; each figure is shown once."""
    browser.open(page, width, scheme)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.violations() == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen"
    shown = "[...document.querySelectorAll('svg')].filter(each => each.getBoundingClientRect().width > 0).length"
    assert browser.run(shown) == page.read_text(encoding="utf-8").count("<figure>")


def has_whole_names(page):
    """No two elements have one name, and each link inside the page leads to one."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(names)
    assert all(re.findall(r'<svg[^>]*aria-label="([^"]*)"', text))


class OfAPage:
    """What a page is held to: a file of tests has its fixture `page`, and a class of this one."""

    @pytest.mark.parametrize(("width", "scheme"), SCREENS)
    def test_axe_has_nothing_against_the_page(self, browser, page, width, scheme):
        can_be_read(browser, page, width, scheme)

    def test_the_ground_is_that_of_the_scheme_and_figures_follow(self, browser, page):
        """The ground is that of the scheme, and figures have its colours."""
        grounds, inks = {}, {}
        for scheme in ("light", "dark"):
            browser.open(page, 1280, scheme)
            grounds[scheme] = browser.run("getComputedStyle(document.documentElement).backgroundColor")
            inks[scheme] = browser.run(
                "getComputedStyle(document.querySelector('svg [style*=\"fill: var(--ink)\"]')).fill"
            )
        assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 29)"}
        assert inks["light"] != inks["dark"]

    def test_the_page_asks_for_no_other_file(self, browser, page):
        """The page asks for nothing but itself, and its policy forbids it to."""
        text = page.read_text(encoding="utf-8")
        browser.open(page, 1280)
        assert browser.asked == [page.resolve().as_uri()]
        assert not re.search(r'(src|href)="(?!#|data:)', text) and "@import" not in text and "<script" not in text
        assert "default-src 'none'" in text

    def test_the_keyboard_reaches_all_of_it(self, browser, page):
        """The skip link comes first; each link, table and what opens is reached, and opens."""
        browser.open(page, 1280)
        browser.press("Tab", 9)
        assert browser.run("document.activeElement.className") == "skip"
        browser.press("Enter", 13)
        assert browser.run("location.hash") == "#main"
        # what is inside closed details is not reached, and is not there for a reader
        all_of_them = "[...document.querySelectorAll('main a, main summary, main .scroll')]"
        every = f"{all_of_them}.filter(each => each.checkVisibility())"
        wanted = browser.run(f"{every}.length")
        reached, opened = set(), 0
        for _ in range(4 * wanted):
            browser.press("Tab", 9)
            tag, place = browser.run(f"[document.activeElement.tagName, {every}.indexOf(document.activeElement)]")
            if tag == "BODY":
                break
            if place >= 0:
                reached.add(place)
            if tag == "SUMMARY" and not opened:
                before = browser.run("document.activeElement.parentElement.open")
                for is_open in (not before, before):
                    browser.press("Enter", 13)
                    assert browser.run("document.activeElement.parentElement.open") is is_open
                opened += 1
        assert len(reached) == wanted
