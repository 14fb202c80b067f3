"""``--debug``: a log of what happens, without a text, a title, an argument or a key."""

import asyncio
import logging
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tui
from tests.failing import raiser
from tests.providers.chat_server import ChatServer, answers, calls_tools, refuses
from tui import cli
from tui.cli.debug_log import DebugLog, format_without_messages
from tui.logs import log_of
from tui.storage import log_file

KEY, PROMPT, ANSWER = "sk-canarykey0123456789", "canaryprompt", "canaryanswer"
TITLE, ARGUMENT, SYSTEM = "canarytitle", "canaryargument", "canarysystem"
CANARIES = (KEY, PROMPT, ANSWER, TITLE, ARGUMENT, SYSTEM)
LINE = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]{12}Z \d+ tui\.[a-z_.]+: .+")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "debug.log"


@pytest.fixture
def configured(monkeypatch, config):
    def configure(server):
        config.write_text(
            f'model = "local:m"\nsystem_prompt = "{SYSTEM}"\n[providers.local]\n'
            f'base_url = "{server.base_url}"\napi_key_env = "CANARY_KEY"\nretries = 0\n'
        )
        monkeypatch.setenv("CANARY_KEY", KEY)

    return configure


def entries(place):
    """The text of the log, which has none of what must not be there."""
    text = place.read_text()
    assert not [word for word in CANARIES if word.casefold() in text.casefold()]
    return text


def test_saves_leases_and_turns_are_entries_without_a_word_of_them(sibyl, configured, store, place):
    tools = calls_tools(("c1", "read", [f'{{"path": "{ARGUMENT}"}}']), text=ANSWER)
    with ChatServer(tools, answers(ANSWER)) as server:
        configured(server)
        result = sibyl("ask", PROMPT, f"--debug={place}")
    assert (result.code, result.err.splitlines()[-1]) == (0, f"Debug log: {place}")
    text = entries(place)
    (session_id,) = [path.stem for path in (store.root / "sessions").iterdir()]
    for entry in (
        f"lease of {session_id} taken",
        f"saved {session_id}: 2 records, ",
        f"turn of {session_id}: complete, ",
        f"lease of {session_id} released",
    ):
        assert entry in text
    assert all(map(LINE.fullmatch, text.splitlines()))
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_title_and_the_words_of_a_search_are_no_entries(sibyl, saved, place):
    session_id = saved(PROMPT, ANSWER)
    for arguments in (
        ("sessions", "name", session_id, TITLE),
        ("sessions", "search", TITLE),
        ("sessions", "show", TITLE),
        ("ask", "--session", TITLE, PROMPT, "--model", "nosuch:model"),
        ("sessions", "show", f"{TITLE} {PROMPT}"),
    ):
        sibyl(*arguments, f"--debug={place}")
    text = entries(place)
    assert f"saved {session_id}" in text
    assert "search: 1 hit, " in text


def test_a_refusal_that_quotes_key_and_prompt_is_an_entry_without_them(sibyl, configured, place):
    with ChatServer(refuses(400, f"{KEY} {PROMPT} is bad")) as server:
        configured(server)
        assert sibyl("ask", PROMPT, f"--debug={place}").code == 1
    assert ": failed, " in entries(place)


def test_an_unexpected_error_is_an_entry_with_its_place_and_without_its_message(
    sibyl, saved, place, monkeypatch
):
    def fail(_):
        try:
            {}[KEY]
        except KeyError as error:
            raise RuntimeError(PROMPT) from error

    monkeypatch.setattr(cli, "_command", lambda _: fail)
    with pytest.raises(RuntimeError):
        sibyl("doctor", f"--debug={place}")
    text = entries(place)
    assert "test_debug_log.py" in text
    assert "builtins.RuntimeError from KeyError" in text


def test_an_error_group_has_the_places_of_its_errors_and_no_message():
    try:
        try:
            raiser(OSError(28, PROMPT))()
        except OSError as error:
            raise ExceptionGroup(KEY, [error, ValueError(TITLE)]) from None
    except ExceptionGroup as error:
        error.add_note(ANSWER)
        text = format_without_messages(error)
    assert not [word for word in CANARIES if word in text]
    assert " fail\n" in text
    assert "OSError ENOSPC" in text
    assert "builtins.ValueError" in text


def test_the_home_directory_is_shortened_in_tracebacks(monkeypatch):
    monkeypatch.setenv("HOME", str(Path(__file__).parent))
    with pytest.raises(ZeroDivisionError) as raised:
        print(1 / 0)
    assert "  ~/test_debug_log.py:" in format_without_messages(raised.value)


def test_a_recursion_is_shortened():
    def again():
        again()

    with pytest.raises(RecursionError) as raised:
        again()
    lines = format_without_messages(raised.value).splitlines()
    assert len(lines) == 62
    assert lines[20].endswith(" more)")


def test_the_variable_names_a_file_and_the_option_goes_before_it(
    sibyl, monkeypatch, place, tmp_path
):
    monkeypatch.setenv("SIBYL_DEBUG", str(place))
    assert sibyl("doctor").err == f"Debug log: {place}\n"
    other = tmp_path / "other.log"
    assert sibyl(f"--debug={other}", "doctor").err == f"Debug log: {other}\n"
    assert place.read_text().count("begins") == other.read_text().count("begins") == 1
    for no in ("", "0"):
        monkeypatch.setenv("SIBYL_DEBUG", no)
        assert "log" not in sibyl("doctor").err


@pytest.mark.parametrize("variable", [True, False])
def test_without_a_file_it_is_in_the_directory_of_state(sibyl, monkeypatch, tmp_path, variable):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    if variable:
        monkeypatch.setenv("SIBYL_DEBUG", "1")
    told = sibyl("doctor", *([] if variable else ["--debug"])).err
    path = Path(told.removeprefix("Debug log: ").strip())
    assert path.name == "debug.log"
    assert tmp_path in path.parents
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_follows_the_option_is_no_file(sibyl, place, monkeypatch):
    monkeypatch.setenv("SIBYL_DEBUG", str(place))
    asked = sibyl("ask", "--debug=0", PROMPT, "--model", "offline:guide")
    assert asked.code == 0
    assert "Debug log" not in asked.err
    refused = sibyl("--debug", str(place))
    assert refused.code == 2
    assert refused.err.endswith("To name the file of the log: --debug=FILE\n")
    assert not place.exists()


@pytest.mark.parametrize("fault", ["No such file or directory", "No space left on device"])
def test_a_log_that_cannot_be_written_is_told_once_and_stops_nothing(
    sibyl, saved, tmp_path, monkeypatch, fault
):
    session_id = saved("hello")

    class FullDisk(log_file.LogFile):
        def write(self, entry):
            raise OSError(28, os.strerror(28))

    is_full = "space" in fault
    if is_full:
        monkeypatch.setattr("tui.cli.debug_log.LogFile", FullDisk)
    place = tmp_path / ("" if is_full else "missing") / "debug.log"
    result = sibyl("sessions", "name", session_id, "Renamed", f"--debug={place}")
    assert result.code == 0
    assert result.err == f"The debug log {place} cannot be written: {fault}.\n"


def test_a_disk_that_hangs_holds_up_neither_the_entries_nor_the_end(place, monkeypatch):
    free = threading.Event()

    class HangingDisk(log_file.LogFile):
        def write(self, entry):
            free.wait()

    monkeypatch.setattr("tui.cli.debug_log.LogFile", HangingDisk)
    monkeypatch.setattr("tui.cli.debug_log._SECONDS_TO_END", 0.01)
    log = DebugLog(place)
    with log.collecting():
        logging.getLogger("tui.test").info("one")
        logging.getLogger("tui.test").info("two")
    assert not free.is_set()
    free.set()


def test_nothing_of_a_private_session_is_an_entry_in_any_thread_it_begins(place):
    own = logging.getLogger("tui.test")
    with DebugLog(place).collecting():
        with log_of("private-20260111-153022-847291"):
            own.info("hidden")
            with log_of("session-20260111-153022-847291"):
                own.info("hidden, too")
            asyncio.run(asyncio.to_thread(own.info, "hidden in a thread of a task"))
        with log_of("session-20260111-153022-847291"):
            own.info("shown")
    text = place.read_text()
    assert "shown" in text
    assert "hidden" not in text


def test_only_its_own_loggers_are_taken_until_its_end_and_controls_are_made_visible(place):
    own = logging.getLogger(tui.__name__)
    before = (own.level, own.propagate, list(own.handlers))
    with DebugLog(place).collecting():
        assert own.isEnabledFor(logging.INFO)
        logging.getLogger("asyncio").error(PROMPT)
        logging.getLogger("httpx").warning(KEY)
        logging.getLogger("tui.test").info("%s", "\x1b]0;title\x07")
    assert (own.level, own.propagate, list(own.handlers)) == before
    assert "␛]0;title␇" in entries(place)


def test_no_module_logs_what_python_prints_where_no_handler_takes_it():
    modules = Path(tui.__file__).parent.rglob("*.py")
    calls = re.compile(r"\b_log\.(?!info\()\w+")
    assert not [path for path in modules if calls.search(path.read_text())]


def test_without_it_nothing_is_imported_for_it(data):
    code = (
        "import sys; from tui.cli import run; run(['sessions', 'list', *sys.argv[1:]]);"
        "print(sorted(m for m in sys.modules if m in ('logging.handlers', 'tui.cli.debug_log')))"
    )
    command = [sys.executable, "-c", code, "--data-dir", str(data)]
    plain = {name: value for name, value in os.environ.items() if name != "SIBYL_DEBUG"}
    done = subprocess.run(command, capture_output=True, text=True, env=plain)
    assert done.stdout.splitlines()[-1] == "[]"
