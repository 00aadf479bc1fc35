"""The kinds of users that share a line: `--shared`, and what each is guaranteed.

A kind's packets carry a code point of their own; those of the last kind are what no code point
tells, and need none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.questions import asked, users, words
from fairq.questions.asked import Question
from fairq.questions.words import Item

CODE_POINTS = (10, 18, 26, 34, 12, 20, 28)
"""The code points of all kinds but the last: AF11, AF21, AF31, AF41, AF12, AF22, AF32 (RFC 2597).
CAKE's `diffserv3` has them all in the tin of best effort, so that a mark is no priority."""

KINDS_MAX = len(CODE_POINTS) + 1
"""The most kinds."""

SHORT = {
    "download": ("cubic#",),
    "upload": ("cubic#(direction=up)",),
    "call": ("call(rate=100kbit/s)#", "call(rate=100kbit/s)#(direction=up)"),
}
"""Words for usual traffic, and the items that they are; `#` is where their count stands."""

_KIND = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?:=\s*(?P<part>[^:\s]+)\s*)?:\s*(?P<traffic>.*)")
_SHORT = re.compile(r"(?:(?P<count>\d+)\s+)?(?P<word>[a-z]+?)s?")

EXAMPLE = "work=70%: 3 downloads + call"


@dataclass(frozen=True)
class Kind:
    """A kind of users: its guaranteed part of the line, and what it sends."""

    name: str
    part: float
    """Of the rate that is set up, 0 to 1."""
    point: int | None
    """The code point of its packets; `None`: what no code point tells."""
    items: tuple[Item, ...]

    @property
    def flows(self) -> list[str]:
        """What it sends, as items of --flows; their code point is the kind's."""
        return [item.unmarked for item in self.items]

    @property
    def text(self) -> str:
        """The kind as --shared has it."""
        return f"{self.name}={100 * self.part:.6g}%: {' + '.join(self.flows)}"


def kinds(given: str | Sequence[str], others: Mapping[str, object]) -> tuple[Kind, ...]:
    """The kinds of --shared; UsageError names a wrong one, or one of `others` that is given."""
    for option, value in others.items():
        if value is not None:
            raise UsageError(
                f"--{option}: {_BESIDE.get(option, '--shared says what there is; leave one of the two out')}"
            )
    texts = words.values("--shared", given)
    parsed = [_parsed(text) for text in texts]
    if not 2 <= len(parsed) <= KINDS_MAX:
        count = f"{len(parsed)} kind{'s' if len(parsed) > 1 else ''} of users"
        raise UsageError(
            f"--shared {parsed[0][0]}: {count}; write from 2 to {KINDS_MAX}, with commas between them, as '{EXAMPLE}, "
            "guests: 10 downloads'"
        )
    names = [name for name, _, _ in parsed]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--shared {name}: it is there twice; write it once, with + between what it sends")
    parts = _parts({name: part for name, part, _ in parsed})
    points = [*CODE_POINTS[: len(parsed) - 1], None]
    return tuple(
        Kind(name, parts[name], point, _items(name, traffic, point))
        for (name, _, traffic), point in zip(parsed, points, strict=True)
    )


_BESIDE = {
    "buffer": "--shared has the limits of Linux; write one into the queue in place of it, as 'htb with fifo + 60kB'"
}
"""What is said of an option that does not go with --shared, if it is not the usual."""


def line(kinds: Sequence[Kind], ask: Callable[..., Question]) -> Question:
    """The question of the flows of all kinds; `ask` makes one of texts."""
    found = replace(ask(flows="cubic"), flows=tuple(item for kind in kinds for item in kind.items))
    asked.check(found)
    return found


def _parsed(text: str) -> tuple[str, str | None, str]:
    """The name, the part and the traffic of a kind."""
    found = _KIND.fullmatch(text)
    name = found["name"] if found else text.partition(":")[0].partition("(")[0]
    if name in words.controls() or name in words.TRAFFIC:
        raise UsageError(
            f"--shared {text}: {name} is traffic and no kind of users; write NAME: TRAFFIC, with + between what one "
            f"kind sends, as '{EXAMPLE}'"
        )
    if not found:
        raise UsageError(f"--shared {text}: write NAME[=PART]: TRAFFIC, as '{EXAMPLE}'")
    if not found["traffic"]:
        raise UsageError(f"--shared {text}: {name} sends nothing; write for example '{name}: 3 downloads'")
    return found["name"], found["part"], found["traffic"]


def _parts(said: dict[str, str | None]) -> dict[str, float]:
    """The guaranteed part of each kind: as said, or an equal part of what the others leave."""
    parts = {name: words.part(f"--shared {name}", part, "the line", "70%") for name, part in said.items() if part}
    for name, part in parts.items():
        if part <= 0:
            raise UsageError(f"--shared {name}={said[name]}: a guaranteed part is above 0; write {name}=10%, say")
    whole, without = sum(parts.values()), [name for name in said if name not in parts]
    if whole > 1 + 1e-9:
        sums = " + ".join(part for part in said.values() if part)
        raise UsageError(
            f"--shared: {sums} is {100 * whole:g} % of the line; write parts that are up to 100 % together"
        )
    if without and whole > 1 - 1e-9:
        raise UsageError(f"--shared {without[0]}: the others are guaranteed all of the line; write less for them")
    return parts | {name: (1 - whole) / len(without) for name in without}


def _items(name: str, traffic: str, point: int | None) -> tuple[Item, ...]:
    """What a kind sends, each item with the kind's code point."""
    found: list[Item] = []
    for text in words.split(traffic, "+"):
        for said in _usual(name, text):
            item = words.item(said, option=f"--shared {name}:")
            if "dscp" in item.options:
                raise UsageError(f"--shared {name}: {text}: a kind has one code point, which is given; leave dscp out")
            found.append(item)
    labels = [item.label for item in found]
    for item in found:
        if labels.count(item.label) > 1:
            raise UsageError(f"--shared {name}: {item.label} is there twice; write it once, with the sum as its count")
    return tuple(_marked(name, item, point) for item in found)


def _usual(name: str, text: str) -> list[str]:
    """The items of usual traffic, as `3 downloads`; else the item itself."""
    found = _SHORT.fullmatch(text)
    if found is None or not (found["count"] or found["word"] in (*SHORT, "user")):
        return [text]
    word, count = found["word"], int(found["count"] or 1)
    if word == "user":
        return users.flows(count, f"--shared {name}: {text}")
    if word == "web":
        return [f"web:{count}"]
    if word not in SHORT:
        if word in words.controls():
            return [text]
        known = [*(f"{each}s" for each in SHORT), "users"]
        raise UsageError(f"--shared {name}: {text}: {word} is no traffic{near_miss(word, known)}")
    if not 1 <= count <= words.COUNT_MAX:
        raise UsageError(f"--shared {name}: {text}: write a number from 1 to {words.COUNT_MAX}")
    return [item.replace("#", f":{count}" if count > 1 else "") for item in SHORT[word]]


def _marked(name: str, item: Item, point: int | None) -> Item:
    """An item of a kind, under the kind's name and with its code point."""
    options = item.options if point is None else {**item.options, "dscp": str(point)}
    marked = replace(item, options=options, called=f"{name} {item.label}", kind=name)
    return replace(marked, text=marked.said(f":{item.count}" if item.count else ""))
