"""What ``ask`` is to send."""

import io
import sys

import pytest

from tui.cli import ask as prompts
from tui.cli.ask import read_prompt
from tui.errors import UsageError


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


@pytest.fixture
def piped(monkeypatch):
    def pipe(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return pipe


def test_a_prompt_alone_is_sent_as_it_stands(piped):
    piped(b"")
    assert read_prompt("  hello \n") == "  hello \n"


def test_standard_input_alone_is_sent_without_its_last_newline(piped):
    piped(b"hello\nworld\n\n")
    assert read_prompt(None) == "hello\nworld\n"
    piped(b"hello\r\n")
    assert read_prompt("-") == "hello\r"


def test_a_prompt_and_input_are_joined_by_a_blank_line(piped):
    piped(b"def login(): ...\n")
    assert read_prompt("Fix this:") == "Fix this:\n\ndef login(): ..."


def test_blank_input_adds_nothing_to_a_prompt(piped):
    piped(b"\n \n")
    assert read_prompt("hello") == "hello"


def test_a_word_that_looks_like_a_command_is_text(piped):
    piped(b"")
    assert read_prompt("/help") == "/help"


@pytest.mark.parametrize("argument", ["", "  \n\t", None, "-"])
def test_nothing_is_refused(piped, argument):
    piped(b" \n")
    with pytest.raises(UsageError, match=r"Nothing to send\."):
        read_prompt(argument)


def test_a_terminal_is_not_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"typed")))
    assert read_prompt("hello") == "hello"
    with pytest.raises(UsageError):
        read_prompt(None)


def test_a_closed_standard_input_is_none(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert read_prompt("hello") == "hello"


def test_bytes_that_are_no_text_are_replaced_and_the_user_is_told(piped, capsys):
    piped(b"caf\xe9 \xff")
    assert read_prompt(None) == "caf\ufffd \ufffd"
    assert "not UTF-8" in capsys.readouterr().err


def test_input_in_the_encoding_of_the_locale_is_read(monkeypatch, capsys):
    latin = io.TextIOWrapper(io.BytesIO(b"caf\xe9"), "latin-1")
    monkeypatch.setattr(sys, "stdin", latin)
    assert read_prompt(None) == "caf\xe9"
    assert capsys.readouterr().err == ""


def test_controls_are_kept_as_typed(piped):
    piped(b"\x1b[31m\x07")
    assert read_prompt(None) == "\x1b[31m\x07"


def test_exactly_the_limit_is_sent_and_one_byte_more_is_not(piped, monkeypatch):
    monkeypatch.setattr(prompts, "TEXT_BYTES", 10)
    piped(b"x" * 10 + b"\n")
    assert len(read_prompt(None)) == 10
    piped(b"x" * 11)
    with pytest.raises(UsageError, match=r"Prompt is larger than 8 MiB\."):
        read_prompt(None)
    piped(b"")
    with pytest.raises(UsageError):
        read_prompt("会" * 4)


def test_endless_input_is_not_read_to_its_end(monkeypatch):
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(UsageError, match="larger"):
        read_prompt(None)
