"""The result of an import in words, on the screen and on the command line."""

from pathlib import Path

from tui.engine.imports.report import (
    Failure,
    Fork,
    ImportedProgram,
    Outcome,
    outcome_words,
    program_lines,
)


def done(**fields):
    return ImportedProgram("notebook", "Notebook", **fields)


def test_foreign_titles_paths_and_errors_are_one_plain_line_each():
    evil = "a\x1b]0;b\x07\nc"
    result = done(forks=[Fork("s", "f", evil)], failures=[Failure(Path(evil), evil)])
    words = outcome_words(Outcome((result,), stopped=False))
    assert "\x1b" not in words
    assert len(words.splitlines()) == 2


def test_the_screen_and_the_command_line_say_the_same():
    result = done(added=1, grown=2, messages=3, gone=1, cut=1)
    lines = [*program_lines(result)]
    assert lines[0] == "Notebook: 1 session added, 2 extended, 3 messages"
    assert "\n".join(lines) in outcome_words(Outcome((result,), stopped=False))


def test_no_more_than_some_failures_are_listed_on_the_screen():
    result = done(failures=[Failure(Path(f"/{n}"), "gone") for n in range(9)])
    words = outcome_words(Outcome((result,), stopped=False))
    assert words.count("Not read") == 5
    assert "and 4 more" in words
