"""Keys that a command prints."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.providers.chat_server import ChatServer, answers
from tests.providers.conftest import asks, collected, text_of
from tests.waiting import until
from tui.errors import KeyRefused, ModelUnavailable
from tui.programs import end_programs
from tui.providers import key_command
from tui.providers.catalog import ModelChoice, with_key
from tui.providers.key_command import key_from_command
from tui.providers.source import LazyModel


def printing(text: str, after: str = "") -> list[str]:
    return [sys.executable, "-c", f"import sys, time; sys.stdout.write({text!r}); {after}"]


def test_the_key_is_the_first_line():
    key = key_from_command(printing("sk-1234\nuser: me\n"), "local")
    assert key.reveal() == "sk-1234"
    assert key.source == "key_command of local"


def test_the_command_is_run_once(tmp_path: Path):
    log = tmp_path / "log"
    command = printing("sk-1234", f"open({str(log)!r}, 'a').write('x')")
    assert key_from_command(command, "local") is key_from_command(command, "local")
    assert log.read_text() == "x"


def test_a_command_that_failed_is_run_again(tmp_path: Path):
    file = tmp_path / "key"
    with pytest.raises(ModelUnavailable):
        key_from_command(["cat", str(file)], "local")
    file.write_text("sk-1234")
    assert key_from_command(["cat", str(file)], "local").reveal() == "sk-1234"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["/none/pass", "show"],
            "The key_command of local cannot be run: /none/pass: No such file or directory.",
        ),
        (
            ["a\0b"],
            (
                "The key_command of local cannot be run: a\0b: it has characters that no name can "
                "have."
            ),
        ),
        (
            ["sh", "-c", "echo sk-secret; echo sk-secret >&2; exit 3"],
            "The key_command of local failed with status 3: sh.",
        ),
        (
            printing(""),
            "The key_command of local printed no key in its first line.",
        ),
        (
            printing("", "\nwhile True: print('sk-secret')"),
            "The key_command of local printed more than a key.",
        ),
        (
            printing("sk secret \n"),
            "The key_command of local printed no key in its first line.",
        ),
    ],
)
def test_a_failure_is_told_without_what_was_printed(command: list[str], said: str):
    with pytest.raises(ModelUnavailable) as caught:
        key_from_command(command, "local")
    assert str(caught.value) == said


def test_a_command_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(key_command, "SECONDS", 0.2)
    with pytest.raises(ModelUnavailable, match=r"printed no key within 0\.2 seconds\."):
        key_from_command(["sh", "-c", "sleep 600 | cat"], "local")


async def test_a_command_ends_with_the_answer_that_waits_for_it(tmp_path: Path):
    begun = tmp_path / "pid"
    command = ("sh", "-c", f"sleep 600 & echo $! > {begun}; wait")
    model = LazyModel(ModelChoice("local", "m", "http://127.0.0.1:9", key_command=command))
    answer = asyncio.create_task(collected(model.stream(asks())))
    await until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the command")
    answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answer
    await until(lambda: not Path(f"/proc/{begun.read_text().strip()}/fd").exists(), "its end")
    command_is_run_again = tmp_path / "pid2"
    begun.rename(command_is_run_again)
    again = asyncio.create_task(model.window())
    await until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the second run")
    end_programs(command)
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)


def test_a_choice_gets_the_key_of_its_command_unless_it_has_one():
    choice = ModelChoice("local", "m", key_command=tuple(printing("sk-of-a-command")))
    keyed = with_key(choice)
    assert keyed.key is not None
    assert keyed.key.reveal() == "sk-of-a-command"
    assert with_key(keyed) is keyed
    assert with_key(ModelChoice("local", "m")).key is None


async def test_a_key_that_is_refused_is_printed_anew_for_the_next_request(tmp_path: Path):
    expired = tmp_path / "expired"
    code = f"import os; p = {str(expired)!r}; print('sk-new' if os.path.exists(p) else 'sk-old')"
    with ChatServer(answers("Hello."), key="sk-new") as server:
        choice = ModelChoice(
            "local", "m", server.base_url, key_command=(sys.executable, "-c", code), timeout=30
        )
        model = LazyModel(choice)
        with pytest.raises(KeyRefused, match="refused the key from key_command of local"):
            await collected(model.stream(asks()))
        expired.touch()
        assert text_of(await collected(model.stream(asks()))) == "Hello."
