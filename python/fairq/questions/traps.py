"""Queues of a question that are others than Linux's tc would set up on the same line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import fairq._native as _native
from fairq.core import quantities
from fairq.core.wings import wing
from fairq.questions import rates, words
from fairq.questions.asked import Question

CAKE_TARGET_S = 0.005
"""The target of CAKE for round trips of the Internet, where it shapes nothing."""

CAKE_PACKETS = 1.5
"""CAKE's target at the rate that it shapes to is at least the time of this number of packets
(`cake_set_rate`)."""

CODEL_PACKETS = 2
"""A target below the time of this number of packets drops where hardly more than the packet that is sent
waits.

RFC 8290, 5.2.2: at least the time of one of the longest. sqm-scripts raise it on slow lines
(`adapt_target_to_slow_link`).
"""

BEFORE_TC = ("limit", "ecn")
"""Settings that a question decides by itself: by --buffer and --ecn."""


OF_DEVICE = {"cake_mq": "queues"}
"""What tc does not say of a design, as it is the device's."""


def notes(question: Question) -> list[dict[str, str]]:
    """What tc would set by itself and the queues of a question have not."""
    if question.setups:
        return []
    found = []
    for queue in question.queues:
        texts = [("target", text) for text in _targets(queue, question)]
        texts += [("tc", f"tc would set up {text}; write that to have it") for text in _by_tc(queue, question.ecn)]
        found += [{"code": code, "where": f"--queue {queue}", "text": text} for code, text in texts]
    return found


def _targets(queue: str, question: Question) -> Iterator[str]:
    """Targets that are too short for the slower direction of the line."""
    way = min(words.DIRECTIONS, key=question.rate_bit_per_s)
    rate = question.rates[words.DIRECTIONS.index(way)]
    rate = f"{round(question.rate_bit_per_s(way))}bit/s" if rates.is_moving(rate) else rate
    is_one_rate = len(set(question.rates)) == 1
    shaped = f"write cake(rate={rate})" if is_one_rate else "fairq advise shapes each direction as tc does"
    parts = json.loads(_native.queue(queue, question.own))
    for part in (parts.get(name) or {} for name in ("design", "buffer")):
        packet_s = quantities.size(part.get("mtu") or "1514 B") * 8 / question.rate_bit_per_s(way)
        if part.get("kind") == "cake":
            if part["rate"] is None and part["rtt"] == "internet" and packet_s * CAKE_PACKETS > CAKE_TARGET_S:
                yield (
                    f"without a rate its target stays at {_ms(CAKE_TARGET_S)}, and tc's bandwidth makes it "
                    f"{_ms(packet_s * CAKE_PACKETS)} at {rate}; {shaped}"
                )
        elif part.get("kind") in ("codel", "fq_codel"):
            target_s = quantities.time(part["target"])
            if target_s < CODEL_PACKETS * packet_s:
                yield (
                    f"its target of {_ms(target_s)} is below the time of {CODEL_PACKETS} packets at {rate}, "
                    f"{_ms(CODEL_PACKETS * packet_s)}: it drops where hardly a packet waits; write for example "
                    f"{part['kind']}(target={_ms(CODEL_PACKETS * packet_s).replace(' ', '')})"
                )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def _by_tc(queue: str, ecn: bool) -> Iterator[str]:
    """What tc sets up for a queue, if that is the same discipline with other settings.

    With `ecn` the question decides whether it marks: the text says nothing of that.
    """
    linux = wing("traffic_control.for_questions")
    text: str | None = linux.set_up(queue) if linux else None
    if text is None:
        return
    here, there = (_decided(json.loads(_native.queue(each))) for each in (queue, text))
    if here != there and [part.get("kind") for part in here.values()] == [part.get("kind") for part in there.values()]:
        told = text.rpartition(" + ")[0] or text
        yield told.replace(", ecn=false", "") if ecn else told


def _decided(parts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of the parts of a queue, sizes and times as one unit has them."""
    return {
        name: {
            key: value
            for key, value in part.items()
            if key not in BEFORE_TC and key != OF_DEVICE.get(part.get("kind", ""))
        }
        for name, part in sorted(parts.items())
        if isinstance(part, dict) and name != "classifier"
    }
