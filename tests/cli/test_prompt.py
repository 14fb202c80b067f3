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


@pytest.mark.parametrize(
    ("argument", "data", "sent"),
    [
        pytest.param("  hello \n", b"", "  hello \n", id="a prompt alone as it stands"),
        pytest.param(None, b"hello\nworld\n\n", "hello\nworld\n", id="without its last newline"),
        pytest.param("-", b"hello\r\n", "hello\r", id="a dash for standard input"),
        pytest.param("Fix:", b"def f(): ...\n", "Fix:\n\ndef f(): ...", id="a blank line between"),
        pytest.param("hello", b"\n \n", "hello", id="blank input adds nothing"),
        pytest.param("/help", b"", "/help", id="a word like a command is text"),
        pytest.param(None, b"\x1b[31m\x07", "\x1b[31m\x07", id="controls as they were typed"),
    ],
)
def test_prompt_and_standard_input_are_sent_together(piped, argument, data, sent):
    piped(data)
    assert read_prompt(argument) == sent


@pytest.mark.parametrize("argument", ["", "  \n\t", None, "-"])
def test_nothing_is_refused(piped, argument):
    piped(b" \n")
    with pytest.raises(UsageError, match=r"Nothing to send\."):
        read_prompt(argument)


def test_a_terminal_is_not_read_nor_an_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO(b"typed")))
    assert read_prompt("hello") == "hello"
    with pytest.raises(UsageError):
        read_prompt(None)
    monkeypatch.setattr(sys, "stdin", None)
    assert read_prompt("hello") == "hello"


def test_bytes_that_are_no_text_of_the_locale_are_replaced_and_the_user_is_told(
    piped, monkeypatch, capsys
):
    piped(b"caf\xe9 \xff")
    assert read_prompt(None) == "caf\ufffd \ufffd"
    assert "not UTF-8" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), "latin-1"))
    assert read_prompt(None) == "caf\xe9"
    assert capsys.readouterr().err == ""


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
