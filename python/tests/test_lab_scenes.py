"""Every scene of the lab, in a real browser: it loads, plays, steps back and ends as it claims."""

import re

import pytest
from lab_page import FILES, ROOT, SCENES, failing


@pytest.fixture
def lab(lasting_lab):
    """One window for all tests of this file: each opens its scene anew."""
    return lasting_lab


BUILT = [name for name, scene in SCENES.items() if scene["ask"]["kind"] == "build"]


def shown_whole(lab, name):
    """Open a scene with all its panes: one that asks to switch shows the first at first."""
    lab.scene(name)
    if SCENES[name]["ask"]["kind"] == "switch":
        lab.page.get_by_role("button", name=SCENES[name]["ask"]["button"]).click()
        lab.page.wait_for_function("window.fairqLab.panes.length === 2")
        lab.run("lab.pause()")


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_loads_and_plays(lab, name):
    shown_whole(lab, name)
    scene = SCENES[name]
    assert lab.page.get_by_role("heading", name=scene["title"]).is_visible()
    lab.run("lab.speed = given; await lab.seek(0); lab.play()", scene["end"])
    lab.passes(scene["end"] / 5)
    lab.run("lab.pause()")
    assert len(lab.now()) == len(scene["panes"])


@pytest.mark.parametrize("name", SCENES)
def test_a_step_back_is_where_the_run_was(lab, name):
    shown_whole(lab, name)
    lab.run("await lab.seek(given)", SCENES[name]["end"] / 3)
    seen = [lab.digests()]
    for _ in range(3):
        lab.run("await lab.step()")
        seen.append(lab.digests())
    assert len({str(each) for each in seen}) == 4
    for before in reversed(seen[:-1]):
        lab.run("await lab.back()")
        assert lab.digests() == before


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_ends_as_it_claims(lab, name):
    shown_whole(lab, name)
    scene = SCENES[name]
    if name in BUILT:
        solve(lab, scene)
    lab.run("await lab.seek(given)", scene["end"])
    assert lab.now() == [scene["end"]] * len(scene["panes"])
    assert failing(scene["claims"], lab.measures(scene.get("from", 0))) == []


def solve(lab, scene):
    """Do by hand what the scene's own solution says."""
    for step in scene["ask"]["solution"]:
        lab.run("await lab.seek(given)", step["at"])
        lab.run(
            "const { set, offer } = given;"
            "for (const pane of lab.panes) {"
            "  const flow = pane.begun.flows.findIndex(each => each.name === offer?.flow);"
            "  await lab.hand(pane.index, set ? { set } : { offer: { ...offer, flow } });"
            "}",
            step,
        )


@pytest.mark.parametrize("name", BUILT)
def test_a_goal_to_build_does_not_hold_by_itself(lab, name):
    lab.scene(name)
    scene = SCENES[name]
    lab.run("await lab.seek(given)", scene["end"])
    assert failing(scene["claims"], lab.measures(scene.get("from", 0))) != []


@pytest.mark.parametrize("name", BUILT)
def test_one_way_to_build_is_shown_and_scores_nothing(lab, name):
    lab.scene(name)
    lab.page.get_by_role("button", name="Show one way").click()
    lab.page.wait_for_selector(".scene-result .scene-reveal")
    assert lab.page.locator(".scene-result").get_attribute("data-score") == ""
    assert lab.page.locator(".scene-result").get_by_text(SCENES[name]["ask"]["reveal"][:40]).is_visible()


def test_the_first_screen_is_a_queue_that_fails_with_one_button(lab):
    lab.open()
    assert lab.run("return scenes.current") == "first"
    assert len(lab.now()) == 1
    lab.page.get_by_role("button", name="Use fair queueing").click()
    lab.page.wait_for_function("window.fairqLab.panes.length === 2 && window.fairqLab.playing")
    lab.page.get_by_role("button", name="Skip to the end").click()
    lines = lab.page.locator(".scene-claims li")
    lines.first.wait_for()
    assert [line[0] for line in lines.all_text_contents()] == ["✓"] * len(SCENES["first"]["claims"])


def test_bars_are_scored_against_what_was_measured(lab):
    lab.scene("ill-behaved")
    sliders = lab.page.get_by_role("slider").and_(lab.page.locator(".scene-bar input"))
    assert sliders.count() == 3
    sliders.nth(2).focus()
    lab.page.keyboard.press("End")
    assert sliders.nth(2).get_attribute("aria-valuetext") == "100 %"
    lab.page.get_by_role("button", name="Let it run").click()
    lab.page.get_by_role("button", name="Skip to the end").click()
    lab.page.wait_for_selector(".scene-result .scene-reveal")
    assert float(lab.page.locator(".scene-result").get_attribute("data-score")) >= 0.9
    assert "measured: 100 %" in lab.page.locator(".scene-measured").nth(2).text_content()
    lab.page.get_by_role("button", name="All scenes").click()
    assert "100 %" in lab.page.locator(".scene-list").text_content()


def test_the_page_on_scenes_shows_a_scene_of_the_tree():
    guide = (ROOT / "docs" / "guide" / "lab-scenes.md").read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)\n```", guide, re.DOTALL)
    (path,) = [path for path in FILES if path.name in guide]
    assert len(shown) == 2
    assert all(part in path.read_text(encoding="utf-8") for part in shown)
