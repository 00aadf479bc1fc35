"""Who only reads the lab's live text can solve its scenes: a script does that, blind to the picture."""

import re

import pytest
from lab_page import SCENES


@pytest.fixture
def lab(lasting_lab):
    """One window for all tests of this file: each opens its scene anew."""
    return lasting_lab


PACKET = re.compile(r"Packet (\d+) of ([^:.;]+?) waits: (\d+) B([^.]*(?:\.\d[^.]*)*)\.")
"""A waiting packet as the live text says it: number, flow, bytes, and the numbers that a discipline keeps."""
NUMBER = re.compile(r"(start number|finish number|rank) (-?[\d.e+]+)")


def read(lab):
    """The live text, once it says the present instant."""
    time = lab.now()[lab.run("return lab.active")]
    said = lab.page.locator("[aria-live=polite].live")
    lab.page.wait_for_function(
        "time => [...document.querySelectorAll('.live')].some(each => each.textContent.includes(`: ${time} s.`))",
        arg=float(f"{time:.6g}"),
    )
    return said.first.text_content()


def waiting(text):
    """The first packet of each flow, with its numbers."""
    return [
        {"name": f"packet {number} of {flow}", "flow": flow, "bytes": int(size)}
        | {kind: float(value) for kind, value in NUMBER.findall(rest)}
        for number, flow, size, rest in PACKET.findall(text)
    ]


def least(text):
    """The packet whose finish number is the least."""
    return min(waiting(text), key=lambda packet: packet["finish number"])


def least_bid(text):
    """The packet whose bid is the least: its rank, if the discipline keeps one, else its finish number."""
    return min(waiting(text), key=lambda packet: packet.get("rank", packet.get("finish number")))


def in_turn(text):
    """DRR: the flow of the packet on the line goes on while its turn lasts, then the next flow that waits."""
    packets = waiting(text)
    flow, size = re.search(r"On the line: packet \d+ of ([^,]+), (\d+) B", text).groups()
    left = float(re.search(r"might send ([\d.]+) B", text)[1]) - int(size)
    own = next(number for number, packet in enumerate(packets) if packet["flow"] == flow)
    return packets[own if packets[own]["bytes"] <= left else (own + 1) % len(packets)]


class Eligible:
    """WF2Q+: the least finish number among packets whose start number the virtual time has reached."""

    def __call__(self, text):
        """The virtual time grows by the packet on the line, and is never behind every start number."""
        packets = waiting(text)
        found = re.search(r"clock of the discipline was at (-?[\d.e+]+)", text)
        clock = float(found[1]) if found else 0.0
        on_line = re.search(r"On the line: packet \d+ of [^,]+, (\d+) B", text)
        total = 20  # weights: one flow of 10 and ten of 1
        clock = max(clock + int(on_line[1]) / total, min(packet["start number"] for packet in packets))
        able = [packet for packet in packets if packet["start number"] <= clock + 1e-6]
        return min(able, key=lambda packet: packet["finish number"])


@pytest.mark.parametrize(
    ("name", "rule"),
    [("round-robin", least), ("delta", least_bid), ("drr-quantum", in_turn), ("wfq-bursts", Eligible())],
    ids=lambda each: each,
)
def test_the_packet_that_leaves_next_follows_from_the_text(lab, name, rule):
    lab.scene(name)
    for number in range(SCENES[name]["ask"]["rounds"]):
        lab.page.get_by_text(f"Round {number + 1} of").wait_for()
        packet = rule(read(lab))
        lab.page.get_by_role("button", name=packet["name"] + " (").click()
        answer = lab.page.locator(f".scene-answer[data-round='{number + 1}']")
        answer.wait_for()
        assert answer.text_content().startswith("Right."), answer.text_content()
    assert lab.page.locator(".scene-result").get_attribute("data-score") == "1"


def goals(lab):
    """The goals of a scene to build, each with whether the text says that it is reached."""
    return [line.startswith("✓") for line in lab.page.locator(".scene-ask .scene-goals li").all_text_contents()]


def is_ahead(text):
    """The number that the packet on the line was chosen by is larger than a flow's first number can be."""
    chosen = re.search(r"chosen by its finish number ([\d.]+)", text)
    return chosen is not None and float(chosen[1]) >= 2 * 1000


def is_time(text):
    """Any instant will do."""
    return True


@pytest.mark.parametrize(
    ("name", "flow", "count", "when"), [("late", "heavy", 1, is_ahead), ("starve", "yours", 30, is_time)]
)
def test_what_is_to_be_built_can_be_built_from_the_text(lab, name, flow, count, when):
    """Sends packets at the first decisions that the text makes good, and goes on until the goals read as reached."""
    lab.scene(name)
    page = lab.page
    page.get_by_label("Flow", exact=True).select_option(label=flow)
    page.get_by_label("Packets", exact=True).fill(str(count))
    for decision in range(40):
        lab.press("Next decision")
        if page.locator(".scene-result .scene-reveal").count():
            break
        if decision < 4 and when(read(lab)):
            lab.press("Send to all queues")
    page.wait_for_selector(".scene-result .scene-reveal")
    assert all(goals(lab))
    assert page.locator(".scene-result").get_attribute("data-score") == "1"
