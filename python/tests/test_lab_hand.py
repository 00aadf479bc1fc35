"""What is done by hand in the lab, in a real browser: packets, sliders, two panes, saved files."""

import csv
import io
import itertools
from pathlib import Path

import pytest


@pytest.fixture
def lab(lasting_lab):
    """One window for all tests of this file: each opens its scene anew."""
    return lasting_lab


def waiting(lab):
    """The serial numbers of the packets that wait in the first pane."""
    return lab.run("return lab.panes[0].snapshot.waiting.map(packet => packet.serial)")


def chosen(lab):
    """Choose a waiting packet of the first pane by keys; its serial number."""
    canvas = lab.page.locator("canvas").first
    canvas.focus()
    lab.page.keyboard.press("ArrowLeft")
    return waiting(lab)


def test_a_packet_is_dropped_by_a_key_and_the_drop_is_undone(lab):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    before, digests = chosen(lab), lab.digests()
    lab.page.keyboard.press("d")
    lab.differs(digests)
    gone = set(before) - set(waiting(lab))
    assert len(gone) == 1
    log = lab.run("return lab.panes[0].log")
    assert len(log) == 1 and "drop" in log[0]
    lab.page.keyboard.press("u")
    same = "digest => window.fairqLab.panes[0].log.length === 0 && window.fairqLab.panes[0].snapshot.digest === digest"
    lab.page.wait_for_function(same, arg=digests[0])
    assert lab.digests() == digests and waiting(lab) == before


def test_a_packet_is_delayed_and_comes_again(lab):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    before, digests = chosen(lab), lab.digests()
    lab.page.keyboard.press("h")
    lab.differs(digests)
    (gone,) = set(before) - set(waiting(lab))
    hold = lab.run("return lab.panes[0].log[0].hold.for_s")
    lab.run("await lab.seek(given)", 1.2 + 2 * hold)
    assert gone in waiting(lab) or lab.run("return lab.panes[0].snapshot.sending.serial") >= 0


def test_a_packet_that_takes_no_mark_says_so(lab):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    digests = lab.digests()
    chosen(lab)
    lab.page.keyboard.press("m")
    assert "ECN" in lab.fault()
    assert lab.digests() == digests


def test_a_slider_changes_the_run_or_begins_it_again_and_says_so(lab):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    now, steps = lab.now(), lab.run("return lab.panes[0].snapshot.steps")
    lab.page.get_by_label("rate of the link").first.fill("-0.5")
    slower = "window.fairqLab.panes.every(pane => pane.snapshot.link_rate_bit_per_s < 56000)"
    lab.page.wait_for_function(slower)
    rate = lab.run("return lab.panes.map(pane => pane.snapshot.link_rate_bit_per_s)")
    assert rate[0] == rate[1]
    assert (lab.now(), lab.run("return lab.panes[0].snapshot.steps")) == (now, steps)
    lab.page.get_by_label("packets of flood").first.fill("-0.5")
    lab.page.wait_for_function("window.fairqLab.panes[0].sets.some(([path]) => path.includes('flood'))")
    lab.page.get_by_text("The run began again from its seed").first.wait_for()
    lab.page.wait_for_function("now => window.fairqLab.panes.every(pane => pane.snapshot.now_s === now)", arg=now[0])


def test_a_packet_lights_in_both_panes(lab):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    lab.page.locator("canvas").first.scroll_into_view_if_needed()
    place = lab.page.locator("canvas").first.bounding_box()
    dark = lab.page.locator("canvas").nth(1).screenshot()
    titles = set()
    for x, y in itertools.product(range(0, int(place["width"]), 6), range(30, int(place["height"]), 40)):
        lab.page.mouse.move(place["x"] + x, place["y"] + y)
        title = lab.page.locator("canvas").first.get_attribute("title")
        if title:
            titles.add(title)
            lab.page.wait_for_timeout(100)
            if lab.page.locator("canvas").nth(1).screenshot() != dark:
                return
    pytest.fail(f"no packet of {titles} lights in the other pane")


@pytest.fixture
def saved(lab):
    """Saves what a button of the dialog saves; its name and bytes."""

    def save(button):
        lab.page.keyboard.press("w")
        with lab.page.expect_download() as told:
            lab.page.locator("dialog[open]").get_by_role("button", name=button, exact=True).click()
        lab.page.keyboard.press("Escape")
        return told.value.suggested_filename, Path(told.value.path()).read_bytes()

    return save


def test_what_is_seen_is_saved_as_pictures_table_and_scenario(lab, saved):
    lab.scene("ill-behaved")
    lab.run("await lab.seek(1.2)")
    lab.page.locator(".bar h1").click()
    name, picture = saved("Picture, SVG")
    assert name.endswith(".svg") and picture.startswith(b"<svg") and b"flood" in picture
    name, picture = saved("Picture, PNG")
    assert name.endswith(".png") and picture.startswith(b"\x89PNG")
    name, scenario = saved("Scenario, TOML")
    assert name.endswith(".toml") and scenario.decode() == lab.run("return lab.source.text")
    name, table = saved("flows, FIFO")
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    assert name.endswith(".csv") and {row["flow"] for row in rows} >= {"file 1", "file 2", "flood"}
