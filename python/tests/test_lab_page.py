"""The lab's page in a real browser: keys, screen readers, its address, what it refuses."""

import base64
import json
import zlib

import pytest
from browser import axe
from lab_page import BUNDLE, LabPage, opened
from page_checks import SCREENS

import fairq

SCENARIO = """
edition = 2
title = "two flows"
[measure]
duration = "2 s"
[[links]]
name = "uplink"
from = "a"
to = "b"
rate = "1 Mbit/s"
buffer = "20 packets"
[[flows]]
name = "bulk"
from = "a"
to = "b"
traffic = "ftp"
access = { rate = "10 Mbit/s" }
[[flows]]
name = "calls"
from = "a"
to = "b"
traffic = "constant_rate(rate=80kbit/s, packet=200B)"
access = { rate = "10 Mbit/s" }
"""


def show(lab, text, name="net.toml"):
    """Open a scenario by the page's dialog: press e, write it, show it."""
    lab.page.get_by_role("button", name="Scenario").click()
    lab.page.get_by_label("scenario, TOML").fill(text)
    lab.page.get_by_role("button", name="Show it").click()


def changed_letter(link):
    """The link with another letter near its end."""
    return link[:-4] + ("A" if link[-4] != "A" else "B") + link[-3:]


def fragment(state, version=1):
    """A state as a link holds it."""
    data = zlib.compress(json.dumps(state).encode(), 9)
    return f"#{version}." + base64.urlsafe_b64encode(data).decode().rstrip("=")


def violations(lab):
    """What axe has against what is shown, as rule and element."""
    lab.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = lab.page.evaluate("axe.run().then(found => found.violations)")
    return [(rule["id"], node["html"][:120]) for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("scene", ["first", "round-robin", "late", None])
def test_axe_has_nothing_against_the_page_on_any_screen(lasting_lab, scene):
    lab = lasting_lab
    lab.page.evaluate(axe())
    if scene is None:
        lab.run("scenes.close()")
    else:
        lab.scene(scene)
    for width, scheme in SCREENS:
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.page.emulate_media(color_scheme=scheme)
        # The picture follows a new width by the next frame.
        lab.page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        if width != 1920:  # which differs from 1280 in nothing that axe looks at
            assert violations(lab) == []


def test_the_dialogs_pass_axe(lasting_lab):
    lab = lasting_lab
    lab.page.evaluate(axe())
    for name in ("Scenario", "Share and save", "Help"):
        lab.page.get_by_role("button", name=name).click()
        lab.page.locator("dialog[open]").wait_for()
        assert violations(lab) == []
        lab.page.keyboard.press("Escape")


def test_the_keyboard_alone_walks_a_scene(lab):
    lab.open()
    press, page = lab.page.keyboard.press, lab.page
    press("s")
    page.wait_for_function("document.activeElement.matches('.scene-link')")
    to(page, "Packet-by-packet round robin")
    press("Enter")
    page.wait_for_function("window.fairqScenes.current === 'round-robin'")
    for number in range(4):
        page.get_by_text(f"Round {number + 1} of").wait_for()
        to(page, "Packet ")
        press("Enter")
        page.wait_for_function(
            "number => document.querySelector('.scene-result .scene-reveal') || "
            "document.querySelector('.scene-choices')?.textContent.includes(`Round ${number}`)",
            arg=number + 2,
        )
    page.wait_for_selector(".scene-result .scene-reveal")
    to(page, "Skip to the end")
    press("Enter")
    page.wait_for_selector(".scene-claims li")
    to(page, "Next scene")
    press("Enter")
    page.wait_for_function("window.fairqScenes.current === 'ill-behaved'")


def to(page, name):
    """Press Tab until the element in focus begins with this."""
    for _ in range(60):
        if page.evaluate("document.activeElement.textContent").startswith(name):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {name!r}")


def test_keys_step_step_back_and_restart(lasting_lab):
    lab = lasting_lab
    lab.scene("wfq-bursts")
    lab.run("await lab.seek(0.45)")
    lab.page.locator(".bar h1").click()
    seen = [lab.digests()]
    for key, steps in (("n", 1), ("f", 1), ("ArrowLeft", -1), ("ArrowLeft", -1)):
        lab.page.keyboard.press(key)
        lab.differs(seen[-1])
        if steps > 0:
            seen.append(lab.digests())
        else:
            seen.pop()
            assert lab.digests() == seen[-1]
    lab.page.keyboard.press("r")
    lab.differs(seen[-1])
    assert lab.now() == [0, 0]
    lab.page.keyboard.press("?")
    assert lab.page.locator("dialog[open]").get_by_text("play, pause").is_visible()
    lab.page.keyboard.press("Escape")


def test_the_step_that_chose_the_packet_is_lit_in_the_algorithm(lasting_lab):
    lab = lasting_lab
    lab.scene("drr-quantum")
    lab.run("await lab.seek(1); await lab.untilDecision(0);")
    (pane, *_) = lab.page.locator(".steps").all()
    cards = fairq.explained("drr")["cards"][0]["steps"]
    assert [step.replace("`", "") for step in pane.locator("li").all_text_contents()] == [
        step.replace("`", "") for step in cards
    ]
    lit = pane.locator('li[aria-current="step"]')
    number = lab.run("return lab.panes[0].snapshot.decision.step")
    assert lit.count() == 1 and lit.text_content() == pane.locator("li").nth(number - 1).text_content()


def test_a_link_is_the_picture(lab):
    lab.open()
    lab.scene("late")
    lab.run(
        "await lab.seek(0.15);"
        "for (const pane of lab.panes) await lab.hand(pane.index, { offer: { flow: 4, bytes: 1000, count: 2 } });"
        "await lab.seek(0.5); await lab.step();"
    )
    lab.page.wait_for_function("location.hash.length > 10")
    lab.page.wait_for_timeout(600)
    before, link = lab.digests(), lab.page.evaluate("location.hash")
    lab.open(link)
    lab.page.wait_for_function("window.fairqLab.panes.length === 2")
    lab.ready()
    assert lab.digests() == before
    assert lab.run("return scenes.current") == "late"
    assert lab.run("return lab.panes.map(pane => pane.log.length)") == [1, 1]


def test_a_link_with_a_scenario_of_ones_own_is_the_picture(lab):
    lab.open()
    show(lab, SCENARIO)
    lab.page.wait_for_function("window.fairqLab.panes[0].begun.title === 'two flows'")
    lab.run("await lab.seek(1.25)")
    before = lab.digests()
    lab.page.wait_for_timeout(600)
    lab.open(lab.page.evaluate("location.hash"))
    assert lab.digests() == before


@pytest.mark.parametrize(
    ("link", "says"),
    [
        (fragment({"v": 1, "scene": "first", "panes": []}, version=0), "version 0"),
        (fragment({"v": 0, "scene": "first", "panes": []}), "version 0"),
        (fragment({"v": 1, "scene": "first"})[:-8], "broken"),
        ("#1.%%%", "broken"),
        (changed_letter(fragment({"v": 1, "scene": "first", "panes": []})), "broken"),
        ("#something", "not one of the lab's"),
        (fragment({"v": 1, "scene": "nowhere", "panes": []}), "no scene"),
        (fragment({"v": 1, "panes": []}), "neither a scene nor a scenario"),
        (fragment({"v": 1, "text": "edition = 2", "panes": [{"sets": [], "log": []}]}), "[[flows]]"),
        (fragment({"v": 1, "scene": "first", "panes": [], "colour": "red"}), "colour"),
    ],
)
def test_a_link_that_cannot_be_read_is_refused_in_one_line_and_the_state_kept(lasting_lab, link, says):
    lab = lasting_lab
    lab.scene("drr-quantum")
    lab.run("await lab.seek(2)")
    before = lab.digests()
    lab.page.evaluate("link => { location.hash = link; }", link)
    fault = lab.fault()
    assert says in fault
    assert "\n" not in fault and len(fault) < 300
    assert lab.digests() == before
    assert lab.run("return scenes.current") == "drr-quantum"


def test_a_page_that_opens_with_a_broken_link_says_so_and_shows_the_first_screen(lab):
    lab.open("#1.%%%")
    assert "broken" in lab.fault()
    lab.page.wait_for_function("window.fairqScenes.current === 'first'")


HUGE = SCENARIO.replace('name = "bulk"', 'name = "bulk"\ncount = 3000')
REFUSED = [
    (SCENARIO.replace('rate = "1 Mbit/s"', 'rate = "1 furlong"'), "net.toml:10"),
    (SCENARIO.replace("buffer", "bufer"), "did you mean buffer"),
    ("Dear all,\nhere are the minutes", "net.toml:1"),
    ("", "[[flows]]"),
    (HUGE, "fairq run"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=["quantity", "field", "letter", "empty", "huge"])
def test_a_scenario_that_cannot_be_shown_is_refused_and_the_state_kept(lasting_lab, text, says):
    lab = lasting_lab
    lab.scene("drr-quantum")
    lab.run("await lab.seek(2)")
    before = lab.digests()
    show(lab, text)
    refused = lab.page.locator("dialog .refused:not(:empty)")
    refused.wait_for()
    said = refused.text_content().replace("scenario.toml", "net.toml").replace("drr-quantum.toml", "net.toml")
    assert says in said
    assert "Traceback" not in said and "panicked" not in said and "\n" not in said
    lab.page.keyboard.press("Escape")
    assert lab.digests() == before


def test_a_file_that_is_no_scenario_is_said(lasting_lab):
    lab = lasting_lab
    lab.scene("first")
    before = lab.digests()
    drop = """([name, bytes]) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], name));
        document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }"""
    lab.page.evaluate(drop, ["photo.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]])
    assert "photo.jpg" in lab.fault()
    assert lab.run("return scenes.current") == "first"
    assert lab.digests() == before


def test_text_of_a_scenario_is_never_html(lasting_lab):
    lab = lasting_lab
    evil = "<img src=x onerror=window.ran=1>"
    show(lab, SCENARIO.replace('"bulk"', f'"{evil}"').replace("two flows", evil))
    lab.page.wait_for_function("window.fairqLab.panes[0].begun.title.includes('onerror')")
    lab.run("await lab.seek(1)")
    lab.page.wait_for_timeout(600)
    assert lab.page.locator("img").count() == 0
    assert lab.page.evaluate("window.ran") is None
    assert evil in lab.page.locator("body").text_content()


def test_one_file_opens_without_a_server(chromium):
    file = BUNDLE / "lab.html"
    if not file.is_file():
        pytest.skip(f"SKIPPED: there is no {file}; make lab")
    with opened(chromium, file.as_uri()) as lab:
        lab.open()
        lab.scene("drr-quantum")
        lab.run("await lab.seek(3)")
        assert lab.now() == [3, 3]
        lab.is_clean()
        assert [url for url in lab.asked if url.startswith("http")] == []


def test_a_browser_without_webassembly_is_told(chromium, lab_address):
    with opened(chromium, lab_address) as lab:
        lab.page.add_init_script("delete window.WebAssembly")
        lab.open()
        assert "WebAssembly" in lab.fault()


def test_a_frame_answers_the_page_around_it(chromium, lab_address):
    with opened(chromium, lab_address) as lab:
        lab.page.goto(lab_address + "fairq_lab.wasm.html", wait_until="commit")
        around = LabPage(lab.page, lab_address)
        around.page.set_content(f'<iframe src="{lab_address}" style="width: 800px; height: 600px"></iframe>')
        frame = around.page.frames[1]
        frame.wait_for_function("document.body.dataset.state === 'ready'")
        ask = """message => new Promise(resolve => {
            addEventListener("message", event => resolve(event.data), { once: true });
            document.querySelector("iframe").contentWindow.postMessage(message, "*");
        })"""
        load = {"fairq": "load", "id": 1, "state": {"v": 1, "scene": "delta", "panes": []}}
        assert around.page.evaluate(ask, load)["state"]["scene"] == "delta"
        answer = around.page.evaluate(ask, {"fairq": "seek", "id": 2, "timeS": 2.5})
        assert (answer["fairq"], answer["id"]) == ("answer", 2)
        assert frame.evaluate("window.fairqLab.panes[0].snapshot.now_s") == 2.5
        assert "seconds" in around.page.evaluate(ask, {"fairq": "seek", "id": 3})["text"]
