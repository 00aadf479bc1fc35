"""Studies in TOML: axes, paired axes, derived values, conditions and what is kept."""

from __future__ import annotations

from typing import Any

from fuzzing.drawing import Case, Draw, damaged
from fuzzing.scenarios import LINE, toml

FIELDS: dict[str, tuple[Any, ...]] = {
    "defaults.queue": ("fifo", "drr", "fq_codel", "fifo + red", "fq(delta=1000B)"),
    "defaults.buffer": ("20 packets", "40 packets", "9 kB", "50 ms", "1 BDP"),
    "links.l.delay": ("1 ms", "2 ms", "0 s", "15us"),
    "links.l.rate": ("1 Mbit/s", "10 Mbit/s", "56 kbit/s"),
    "flows.f.transport": ("reno", "cubic", "bbr", "vegas"),
    "flows.f.count": (1, 2, 3),
    "flows[1].weight": (0.5, 1, 2.0),
    "links.l.loss": (0.0, 0.01, 0.1),
}
WORDS = [
    "study",
    "scenario",
    "axes",
    "name",
    "path",
    "values",
    "derive",
    "keep",
    "tables",
    "series",
    "conditions",
    "rtt",
    "replications",
    "seed",
    "set",
    "paired",
    "unit",
    "value",
    "draw",
    "columns",
    "compare",
    "states",
]


def study(draw: Draw) -> Case:
    """A study that is counted, listed, or run whole."""
    said = body(draw, draw.sample(list(FIELDS), draw.up_to(3)))
    text = damaged(draw, toml(draw, said), WORDS, 0.35)
    first = draw.one((("--dry-run", "--json"), ("--list-missing",), ("--list-missing", "--json")))
    commands: tuple[tuple[str, ...], ...] = (("sweep", "study.toml", *first),)
    if draw.chance(0.15):
        commands += (("sweep", "study.toml", "--dry-run", "--json"), ("sweep", "study.toml", "--workers", "1"),
                     ("query", "study.toml", "select count(*) from runs"))  # fmt: skip
    return Case(commands, {"s.toml": LINE, "study.toml": text.encode(errors="surrogatepass")})


def body(draw: Draw, fields: list[str]) -> dict[str, Any]:
    """What a study says, with an axis for each of the fields."""
    said: dict[str, Any] = {"study": {"scenario": "s.toml"}}
    said["study"] |= dict(draw.some((("replications", 1 + draw.up_to(2)), ("seed", draw.up_to(99)), ("name", "x"),
                                     ("set", {"measure.duration": "10 ms"})), 0.3))  # fmt: skip
    axes = [axis(draw, f"x{at}", field) for at, field in enumerate(fields)]
    if len(axes) > 1 and draw.chance(0.2):
        paired = axes.pop()
        count = min(len(paired["values"]), len(axes[0]["values"]))
        paired["values"], axes[0]["values"] = paired["values"][:count], axes[0]["values"][:count]
        axes[0]["paired"] = [paired]
    if axes:
        said["axes"] = axes
    names = [each["name"] for each in axes]
    derive: dict[str, Any] = {}
    for at in range(draw.one((0, 0, 1, 2))):
        value = expression(draw, names, 3)
        derive[f"d{at}"] = value if draw.chance(0.7) else {"value": value}
        names.append(f"d{at}")
    if draw.chance(0.1):
        derive["room"] = {"value": f"ceil(1 + abs({draw.up_to(20)}))", "path": "links.l.buffer", "unit": "packets"}
    if derive:
        said["derive"] = derive
    if draw.chance(0.2):
        said["study"]["conditions"] = [
            f"({expression(draw, names, 2)}) == 1 or True" if draw.chance(0.2) else condition(draw, names)
        ]
    if draw.chance(0.3):
        said["keep"] = dict(draw.some((("tables", draw.some(("flows", "links", "queues"), 0.7)), ("series", "5 ms"),
                                       ("states", True), ("packets", "f.1")), 0.4))  # fmt: skip
    if draw.chance(0.1):
        said["draw"] = {"columns": ["throughput_bit_per_s"]}
    return said


def axis(draw: Draw, name: str, field: str) -> dict[str, Any]:
    """An axis over a field, by its path or by tables of what is set."""
    values = draw.sample(FIELDS[field], 1 + draw.up_to(len(FIELDS[field]) - 1))
    if draw.chance(0.2):
        return {"name": name, "values": [{"name": f"v{at}", "set": {field: each}} for at, each in enumerate(values)]}
    return {"name": name, "path": field, "values": list(values)}


# Arithmetic of [derive], and conditions.


def derived(draw: Draw) -> Case:
    """A study whose derived values and conditions are the point."""
    said = body(draw, draw.sample(["links.l.delay", "links.l.rate", "flows.f.count", "flows[1].weight"], 2))
    said.pop("keep", None)
    names = [each["name"] for each in said.get("axes", [])]
    words = ("abs", "round", "log", "x0", "x1", "and", "in", "if")
    texts = [damaged(draw, expression(draw, names, 4), words, 0.12) for _ in range(1 + draw.up_to(2))]
    said["derive"] = {f"e{at}": text for at, text in enumerate(texts)}
    return Case(
        (("sweep", "study.toml", "--list-missing"),),
        {"s.toml": LINE, "study.toml": toml(draw, said).encode(errors="surrogatepass")},
    )


def condition(draw: Draw, names: list[str]) -> str:
    """A condition that mostly holds somewhere."""
    name = draw.one(names) if names else "1"
    return draw.one((f"{name} == {name}", f"{name} in ({name}, 1)", "1 < 2 <= 3", f"not ({name} != {name})", "True",
                     f"{name} == 'fifo' or 1 > 0"))  # fmt: skip


def expression(draw: Draw, names: list[str], depth: int) -> str:
    """Arithmetic of numbers, quantities and axes; mostly of a finite value."""
    if depth == 0 or draw.chance(0.2):
        # an axis may be a text, which is no number
        return draw.one((str(draw.up_to(99)), f"{draw.uniform(0, 9):.3f}", "1e3", "2", *(f"{draw.up_to(9)}",) * 3,
                         str(draw.one(names)) if names and draw.chance(0.4) else "7"))  # fmt: skip

    def inner() -> str:
        return expression(draw, names, depth - 1)

    match draw.up_to(9):
        case 0 | 1 | 2:
            return f"({inner()} {draw.one('+-*')} {inner()})"
        case 3:
            return f"{inner()} {draw.one(('/', '//', '%'))} (1 + abs({inner()}))"
        case 4:
            return f"{draw.one(('abs', 'ceil', 'floor', 'round'))}({inner()})"
        case 5:
            return f"{draw.one(('min', 'max'))}({inner()}, {inner()})"
        case 6:
            return f"{draw.one(('sqrt', 'log2', 'log'))}(1 + abs({inner()}))"
        case 7:
            return f"({inner()} if {inner()} {draw.one(('<', '>=', '==', '!='))} {inner()} else {inner()})"
        case 8:
            return (
                f"{1 + draw.up_to(4)} ** {draw.up_to(5)}"
                if draw.chance(0.8)
                else f"({inner()}) ** {draw.one((2, 0.5, -1, 64, 65))}"
            )
        case _:
            return f"round({inner()}, {draw.one((0, 1, 3, -2))})" if draw.chance(0.8) else f"-exp(0.1) * {inner()}"
