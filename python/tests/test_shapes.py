"""Documents of JSON as the types that wrote them; a store that says something else is one line."""

import copy
import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from sweep_studies import write_study

from fairq.core.shapes import made


class Inner(NamedTuple):
    name: str
    costs: dict[str, float]
    at: int | None = None


@dataclass
class Outer:
    parts: list[Inner]
    pairs: tuple[tuple[str, int], ...]
    rest: Any = None


SAID: dict[str, Any] = {"parts": [{"name": "a", "costs": {"x": 1}}], "pairs": [["b", 2]]}


def test_a_value_is_made_of_its_types():
    assert made(Outer, SAID) == Outer([Inner("a", {"x": 1.0})], (("b", 2),))
    assert made(Outer, {**SAID, "rest": [{}]}).rest == [{}]
    assert made(Outer, {**SAID, "later": 1}, passing=True) == made(Outer, SAID)


@pytest.mark.parametrize(
    "changed",
    [{"parts": {}}, {"parts": [[]]}, {"parts": [{"name": "a"}]}, {"parts": [{"name": 1, "costs": {}}]},
     {"parts": [{"name": "a", "costs": {"x": True}}]}, {"parts": [{"name": "a", "costs": {}, "at": "1"}]},
     {"pairs": [["b"]]}, {"pairs": [["b", 2, 3]]}, {"pairs": "b2"}, {"later": 1}],
)  # fmt: skip
def test_what_has_another_shape_is_a_value_error(changed):
    with pytest.raises(ValueError):
        made(Outer, {**SAID, **changed})


def places(value, at=()):
    """The path of each value within a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in members:
        yield (*at, name)
        yield from places(each, (*at, name))


def changed(document, place, other):
    whole = copy.deepcopy(document)
    within = whole
    for name in place[:-1]:
        within = within[name]
    within[place[-1]] = other
    return whole


COMMANDS = (("query", "select queue, count(*) from flows group by all"), ("report",), ("diff",))


OTHERS = ([], {}, "text", 2**63, 0.5, None, True, [[]])


@pytest.mark.parametrize("first", range(4))
def test_a_store_whose_documents_say_something_else_never_is_a_fault_of_fairq(tmp_path, fairq, first):
    study = write_study(tmp_path, replications=1)
    assert fairq("sweep", study)[0] == 0
    root = study.with_suffix("")
    header, marker = root / "store.json", next((root / "done").iterdir())
    for file in (header, marker):
        text = file.read_text()
        for number, place in enumerate(list(places(json.loads(text)))[first::4]):
            other = OTHERS[(number + 2 * first) % len(OTHERS)]
            file.write_text(json.dumps(changed(json.loads(text), place, other)))
            command, *rest = COMMANDS[number % len(COMMANDS)]
            words = [root, root] if command == "diff" else [study, *rest]
            words += ["--out", tmp_path / "page.html"] if command == "report" else []
            status, _, err = fairq(command, *words)
            lines = [line for line in err.splitlines() if not line.startswith("fairq: note: ")]
            assert status in (0, 2) and len(lines) == (status == 2), (place, other, err)
        file.write_text(text)
