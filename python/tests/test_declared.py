"""What a word is called, of which kind it is and what it is if left out is declared once.

The functions of Python have written signatures, for editors and checkers of types; they are held to
the declarations here. So are the page of all commands and the question of a study.
"""

import inspect
import json
from pathlib import Path

import pytest

import fairq as package
from fairq.cli import program, reference
from fairq.core import arguments, declared
from fairq.emulation.mahimahi import Link
from fairq.emulation.wish import Emulation
from fairq.questions.advising import Line
from fairq.questions.asked import Question
from fairq.questions.baselines import Question as Alone
from fairq.theories.formulas import WORDS

WITHOUT_COMMAND = {"experiment", "lab", "live", "estimate", "read_result", "read_store", "cards", "explained", "scenes"}
"""Functions that no command calls with options of its own."""

CHOOSES = {"compare": {"alone"}}
"""Words that say which function is called."""


def specs(parser=None):
    """The declarations of all commands, and of those inside them."""
    for action in (parser or program.parser())._actions:
        for inner in action.choices.values() if action.nargs == "A..." else ():
            if inner.spec is not None:
                yield inner.spec
            yield from specs(inner)


SPECS = {spec.name: spec for spec in specs()}


def kinds(annotation):
    """The kinds that an annotation allows, without None."""
    return set(annotation.split(" | ")) - {"None"}


@pytest.mark.parametrize("name", sorted(SPECS))
def test_signatures_say_what_is_declared(name):
    spec = SPECS[name]
    options = {option.called or option.name: option for option in spec.all() if option.in_python}
    signatures = {each: inspect.signature(getattr(package, each)).parameters for each in spec.functions}
    if "theory" in signatures:
        # It takes the words of each result by name, which a class declares.
        assert list(options.values()) == declared.options(WORDS[name.removeprefix("theory ")])
        return
    taken = {argument for parameters in signatures.values() for argument in parameters}
    if spec.functions:
        assert taken - set(spec.beside) == set(options) - CHOOSES.get(name, set())
    for function, parameters in signatures.items():
        for argument, parameter in parameters.items():
            if argument in spec.beside:
                continue
            option, where = options[argument], f"{function}({argument}=)"
            default = parameter.empty if option.required else option.default
            assert parameter.default == default, where
            # A function may take less: `compare` has one loss, `compare_alone` several.
            assert kinds(parameter.annotation) <= kinds(option.kind), where
            assert ("None" in parameter.annotation.split(" | ")) == (parameter.default is None), where


def test_the_page_of_all_commands_is_what_is_declared():
    place = "docs/reference/commands.md"
    committed = (Path(__file__).parents[2] / place).read_text(encoding="utf-8")
    assert reference.text() == committed, f"run: .venv/bin/python -m fairq.cli.reference {place}"


def test_every_function_is_of_a_command_or_has_none():
    functions = {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}
    assert functions == {name for spec in SPECS.values() for name in spec.functions} | WITHOUT_COMMAND


@pytest.mark.parametrize("kind", [Question, Alone, Line])
def test_a_word_that_is_left_out_is_its_default(kind):
    needed = {name: "1Mbit/s" for name in declared.required(kind)}
    made = arguments.read(kind, "it", needed | ({"flows": "cubic"} if "flows" in needed else {}))
    for word in declared.words(kind):
        if not word.option.required and word.option.default is not None:
            assert getattr(made, word.field) == word.option.default, word.field


@pytest.mark.parametrize("kind", [Question, Alone, Line, Emulation, Link, *WORDS.values()])
def test_the_kinds_of_words_are_known(kind):
    assert {option.annotation.removesuffix(" | None") for option in declared.options(kind)} <= set(arguments.KINDS)


def test_a_question_of_a_study_has_the_words_of_compare():
    jsonschema = pytest.importorskip("jsonschema")
    schema = {"type": "object", "properties": declared.properties(Question), "required": declared.required(Question)}
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema)))
    compare = {option.name for option in SPECS["compare"].all() if option.in_python}
    assert set(schema["properties"]) == compare - {"paired", "parts", "workers"}
    valid = jsonschema.Draft202012Validator(schema)
    assert valid.is_valid({"rate": "1Mbit/s", "flows": ["cubic", "bbr"], "loss": 0.01, "seeds": 3})
    assert not valid.is_valid({"rate": "1Mbit/s"})
    assert not valid.is_valid({"rate": "1Mbit/s", "flows": "cubic", "seeds": 0})


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({}, "fairq compare --rate 1Mbit/s --rtt 20ms --flows cubic --queue fifo --seeds 10 --profile linux"),
        (
            {"loss": "2%@burst=5", "jitter": "1ms", "ecn": True, "alone": True, "hosts": None, "duration": "1 s"},
            "fairq compare --rate 1Mbit/s --rtt 20ms --flows cubic --queue fifo --loss 2%@burst=5 --jitter 1ms "
            "--seeds 10 --duration '1 s' --profile linux --alone --ecn",
        ),
    ],
)
def test_the_command_of_a_question_says_all_of_it(given, command):
    from fairq.questions import asked

    assert asked.ask(rate="1Mbit/s", rtt="20ms", flows="cubic", **given).command == command
