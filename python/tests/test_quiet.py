"""--quiet: results and errors, nothing else."""

import io
import sys

import pytest

from fairq.cli import program


class Terminal(io.StringIO):
    """Stands for a terminal, where progress is shown."""

    def isatty(self):
        return True


@pytest.fixture
def noted(dumbbell):
    """A scenario whose run has a note, for it names no edition."""
    dumbbell.write_text(dumbbell.read_text().replace("edition = 1\n", ""))
    return dumbbell


def run(monkeypatch, capsys, *arguments):
    """Exit status, and what stands on standard output and on a terminal that is standard error."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    status = program.main([str(argument) for argument in arguments])
    return status, capsys.readouterr().out, terminal.getvalue()


def test_progress_and_notes_are_left_out_and_the_result_is_the_same(monkeypatch, capsys, noted):
    words = ["run", noted, "--json"]
    status, loud, said = run(monkeypatch, capsys, *words)
    assert status == 0 and "\r" in said and "fairq: note: " in said
    assert run(monkeypatch, capsys, *words, "--quiet")[2] == ""
    status, quiet, said = run(monkeypatch, capsys, *words, "--quiet")
    assert (status, said) == (0, "")
    assert _rows(quiet) == _rows(loud)


def _rows(document):
    return document[: document.index('"run_info"')] if '"run_info"' in document else document


def test_where_the_result_was_written_is_left_out(monkeypatch, capsys, demers1990, printed_runs, tmp_path):
    monkeypatch.setattr(demers1990.compare, "figures", lambda _rows, _results, _style: iter(()))
    words = ["reproduce", "demers1990", "--quick", "--out", tmp_path / "out"]
    status, loud, said = run(monkeypatch, capsys, *words)
    assert status == 0 and "\nWritten: " in loud and "\r" in said
    status, quiet, said = run(monkeypatch, capsys, *words, "--quiet")
    assert (status, said) == (0, "") and "Written" not in quiet
    assert quiet.count("\n") == loud.partition("\nWritten: ")[0].count("\n")
    assert run(monkeypatch, capsys, "explain", "reno", "--plot", tmp_path / "p.svg", "--quiet") == (0, "", "")


def test_errors_are_still_said(monkeypatch, capsys):
    status, out, said = run(monkeypatch, capsys, "run", "no-such.toml", "--quiet")
    assert (status, out) == (2, "") and said.startswith("fairq: no-such.toml") and said.count("\n") == 1


def test_the_next_command_of_the_same_process_is_not_quiet(monkeypatch, capsys, noted):
    run(monkeypatch, capsys, "run", noted, "--quiet")
    assert "fairq: note: " in run(monkeypatch, capsys, "run", noted)[2]


def test_every_command_has_it():
    assert [
        words for words, parser in _leaves(program.parser()) if "--quiet" not in parser._option_string_actions
    ] == []


def _leaves(parser, words=()):
    groups = parser._subparsers._group_actions if parser._subparsers else []
    inner = [(name, each) for group in groups for name, each in group.choices.items()]
    if not groups or not groups[0].required:
        yield words, parser
    for name, each in inner:
        yield from _leaves(each, (*words, name))
