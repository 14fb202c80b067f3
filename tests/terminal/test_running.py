"""Whole days with the real program: talk, switch, be killed, come back; two programs; files."""

import re
import signal
import time

import pytest

from tests.providers.chat_server import Gate, answers, answers_at, answers_step_by_step
from tests.terminal.chats import words_shown
from tests.terminal.endings import (
    assert_resumable,
    assert_whole,
    is_whole,
    leave,
    quit_at_once,
    told,
)
from tui.storage.drafts import Drafts, read_draft

pytestmark = pytest.mark.full


@pytest.mark.fast
def test_typing_streaming_switching_and_coming_back(chats):
    gates = [Gate(), Gate()]
    chats.answer(answers_step_by_step(gates, "Once ", "twice."), answers("Another answer."))
    program = chats()
    program.type("First question\r")
    gates[0].open()
    program.until("Once")
    first = chats.only
    program.press("ctrl+n")
    program.until("Started a new session")
    program.type("Second question\r")
    program.until("Another answer")
    assert "Once" not in program.text
    gates[1].open()
    # It is closed then, and stands below the one that is open, whichever was used last.
    program.until(r"Second question +\S[^│]*│[\s\S]*• First question", "the end of the answer")
    assert chats.said(first)[-1] == ("assistant", "Once twice.", None)
    program.press("alt+down")
    program.until(lambda it: "Once twice" in it.text and "Another answer" not in it.text)
    assert quit_at_once(program) == 0
    assert_whole(program)
    assert_resumable(program, first)

    again = chats("--session", first)
    again.until(lambda it: "Once twice" in it.text and "Second question" in it.text)
    again.press("alt+down")
    again.until("Another answer")


@pytest.mark.parametrize(
    "command", ["/load first", "/resume first", "/resume 1", "/session resume 2", "/fork", "/new"]
)
def test_what_is_typed_at_once_behind_a_command_goes_to_the_session_it_shows(chats, command):
    program = chats.altered("finite")
    program.type("First question\r")
    program.until("w29")
    program.type("/name first\r")
    program.until('Renamed to "first"')
    program.press("ctrl+n")
    program.until("Started a new session")
    program.type("Second question\r")
    program.until("w29")
    known = {entry.id: entry.label for entry in chats.entries}
    # In one read with the command it would be a paste.
    program.type(command)
    program.until(command)
    program.type("\rtyped at once")
    program.until("typed at once")
    assert quit_at_once(program) == 0
    there = re.findall(r"--session (\S+)", "\n".join(told(program)))
    drafts = {each: chats.draft(each) for each in known}
    if command in ("/fork", "/new"):
        assert not any(drafts.values())
    else:
        assert [known[each] for each, draft in drafts.items() if draft] == ["first"]
        assert [known[each] for each in there] == ["first"]


def test_two_programs_that_make_sessions_at_once_give_each_its_own_number(chats):
    programs = [chats.altered("", "--scope", "shared") for _ in range(2)]
    for number in range(4):
        for name, program in zip("ab", programs, strict=True):
            program.type(f"/name {name}{number}\r")
        for name, program in zip("ab", programs, strict=True):
            program.until(f'Renamed to "{name}{number}"')
            program.press("ctrl+n")
        for program in programs:
            program.until(lambda it: "Started a new" in it.text and "Renamed" not in it.text)
    for program in programs:
        assert quit_at_once(program) == 0
    made = sorted((entry.ordinal, entry.name) for entry in chats.entries)
    assert [ordinal for ordinal, _ in made] == [*range(1, 9)]
    assert {name for _, name in made} == {f"{name}{n}" for name in "ab" for n in range(4)}


@pytest.mark.parametrize(
    ("configured", "environment", "flag", "saves"),
    [
        ("0.3", None, None, True),
        ("0.3", "0", None, False),
        ("0", "0", "0.3", True),
        ("0.3", "0.3", "0", False),
    ],
)
def test_the_clock_saves_as_flag_environment_and_configuration_say(
    chats, tmp_path, configured, environment, flag, saves
):
    full = tmp_path / "full"
    chats.config.write_text(f"auto_save_interval = {configured}\n", "utf-8")
    options = ["--auto-save-interval", flag] if flag else []
    variables = {"FULL": str(full), "SIBYL_AUTO_SAVE_INTERVAL": environment}
    program = chats.altered("full_disk", *options, environment=variables)
    full.touch()
    program.type("/name kept\r")
    program.until("NOT SAVED: disk full")
    full.unlink()
    if not saves:
        time.sleep(1.5)
        assert "NOT SAVED: disk full" in program.text
        program.press("ctrl+s")
    program.until(r"saved \d\d:\d\d")
    assert [entry.name for entry in chats.entries] == ["kept"]


@pytest.mark.parametrize("how", ["--session", pytest.param("--continue", marks=pytest.mark.fast)])
def test_after_a_kill_everything_that_was_told_to_be_saved_is_there(chats, how):
    program = chats.altered("")
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 1, "an answer")
    program.type("half a thought")
    session = chats.only
    program.until(lambda _: chats.draft(session), "the draft on disk")
    kept = chats.draft(session).text
    program.until(lambda _: len(chats.said(session)) == 2, "a piece of the answer on disk")
    first = chats.said(session)[1]
    program.until(lambda _: chats.said(session)[1] != first, "another piece")
    saved = chats.said(session)[1][1]
    program.signal(signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL
    user, answer = chats.said(session)
    assert user == ("user", "A question", None)
    assert answer[2] == "interrupted"
    assert answer[1].startswith(saved)
    again = chats.altered("", *([how, session] if how == "--session" else [how]))
    again.until("interrupted")
    again.until(kept)
    assert "A question" in again.text
    assert session in again.text
    assert quit_at_once(again) == 0
    assert chats.said(session)[-1] == answer


def test_after_a_kill_the_answer_can_be_had_again_with_the_settings_and_all_tokens_are_known(chats):
    replies = answers("Yes."), answers_at(Gate(), "The first piece, "), answers("All of it.")
    server = chats.answer(*replies)
    program = chats()
    program.type("First question\r")
    program.until("Yes")
    program.type("/set temperature 0.25\r")
    program.until("Set temperature to 0.25")
    program.type("/system Be brief.\r")
    program.until("Set the system prompt")
    program.type("Second question\r")
    program.until("The first piece,")
    session = chats.only
    program.until(lambda _: len(chats.said(session)) == 4, "a piece of the answer on disk")
    program.signal(signal.SIGKILL)
    program.wait()
    again = chats("--session", session)
    again.until("interrupted")
    again.type("/retry\r")
    again.until("All of it")
    body = server.requests[-1].body
    assert body["temperature"] == 0.25
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    again.type("/usage\r")
    again.until("22 tokens sent, 14 received")
    again.press("escape")
    assert quit_at_once(again) == 0
    assert chats.said(session)[-1] == ("assistant", "All of it.", None)


# Pastes are to be marked: asked for once the terminal is raw.
_TAKEN = b"\x1b[?2004h"


@pytest.mark.parametrize("stop", [signal.SIGTSTP, signal.SIGSTOP])
def test_a_program_that_was_stopped_paints_again_and_goes_on(chats, stop):
    program = chats.altered("")
    program.type("A question\r")
    program.until(lambda it: words_shown(it) > 5, "an answer")
    program.signal(stop)
    program.until(lambda it: it.is_stopped, "the stop")
    if stop is signal.SIGTSTP:
        program.until(is_whole, "the terminal as it was")
    written, taken = len(chats.said()[-1][1].split()), program.raw.count(_TAKEN)
    program.signal(signal.SIGCONT)
    # Frames that waited come before that; and what is typed then is the terminal's own.
    program.until(lambda it: it.raw.count(_TAKEN) > taken, "the terminal taken again")
    program.until(lambda it: r"A question" in it.text and words_shown(it) > written + 20)
    assert program.is_alternate
    assert quit_at_once(program) == 0
    assert_whole(program)


def test_the_second_program_names_the_first_sees_what_it_says_and_goes_on_with_it(chats):
    gates = [Gate(), Gate()]
    chats.answer(answers_step_by_step(gates, "Once ", "twice."), answers("A third time."))
    first = chats()
    first.type("A question\r")
    gates[0].open()
    first.until("Once")
    session = chats.only
    second = chats("--session", session)
    second.until("read-only")
    second.until(rf"\(pid {first.pid} on")
    second.until("Once")
    second.type("my own words\r")
    second.until("my own words")
    gates[1].open()
    second.until("Once twice")
    assert "interrupted" not in second.text
    assert quit_at_once(first) == 0
    second.until("The other window is gone")
    second.until(_may_write, "the end of the mark")
    assert chats.is_held(session)
    assert "my own words" not in [text for _, text, _ in chats.said(session)]
    assert "my own words" in second.text
    second.press("enter")
    second.until("A third time")
    assert quit_at_once(second) == 0
    assert_whole(second)
    assert [text for _, text, _ in chats.said(session)] == [
        *("A question", "Once twice.", "my own words", "A third time.")
    ]


def test_keys_of_one_burst_do_what_they_do_in_their_order_and_behind_the_help_key_there(sibyl):
    program = sibyl()
    program.until("/ commands · @ files", "the prompt")
    program.type("hellp\x7fo then\x1b[D\x1b[D\x1b[D\x1b[Dand ")
    program.until("hello and then", "the text")
    program.type("\x15gone\x15kept")
    program.until(lambda it: "kept" in it.text and "gone" not in it.text, "the other text")
    program.type("\x15ab\x1bOPq")
    program.until("│ q ", "the filter")
    program.type("\x1bOPc")
    program.until("abc", "the text")


def test_keys_of_one_burst_belong_to_the_session_that_is_on_screen_when_their_turn_comes(chats):
    program = chats.altered("finite")
    program.type("A question\r")
    program.until("w29")
    first = chats.only
    program.type("abc\x0edef")
    program.until(lambda it: "Started a new session" in it.text and "def" in it.text)
    assert quit_at_once(program) == 0
    assert chats.draft(first).text == "abc"
    kept = [read_draft(path).text for path in (chats.root / "drafts").iterdir()]
    assert sorted(kept) == ["abc", "def"]


def _may_write(program):
    """Whether nothing around the prompt says that one reads only."""
    return not any("read-only" in row for row in program.screen[-5:])


@pytest.mark.parametrize("opened", [True, False], ids=["opened", "looked at"])
def test_the_first_program_is_killed_in_the_middle_of_an_answer(chats, opened):
    chats.answer(answers_at(Gate(), "The first piece, "), answers("All of it."))
    first = chats()
    first.type("A question\r")
    first.until("The first piece,")
    session = chats.only
    second = chats("--session", session) if opened else chats()
    if not opened:
        second.until("A question")
        second.press("alt+down")
    second.until("read-only")
    second.until("The first piece,")
    first.signal(signal.SIGKILL)
    first.wait()
    second.until("interrupted")
    second.until(_may_write, "the end of the mark")
    second.type("/retry\r")
    second.until("All of it")
    assert quit_at_once(second) == 0
    assert [text for _, text, _ in chats.said(session)] == ["A question", "All of it."]


@pytest.fixture
def shop(chats):
    chats.answer(answers("Fine."))
    (chats.project / "a.txt").write_text("text of a")
    (chats.project / ".env").write_text("KEY=1")
    return chats


def asked(shop):
    return str([request.body for request in shop.server.requests])


@pytest.mark.fast
def test_after_a_kill_pasted_words_are_still_text(shop):
    page = "".join(f"{number} see @.env\r" for number in range(15))
    program = shop()
    program.type(f"@a.txt \x1b[200~{page}\x1b[201~")
    program.until("pasted 15 lines")
    drafts = Drafts(shop.root)
    program.until(lambda _: any("@.env" in f.read_text() for f in drafts.files()), "the draft")
    program.signal(signal.SIGKILL)
    program.wait()
    program = shop()
    program.until("pasted 15 lines")
    program.until("attached: a.txt 9 bytes")
    program.type("\r")
    program.until("Fine.")
    assert "text of a" in asked(shop)
    assert "KEY=1" not in asked(shop)
    quit_at_once(program)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_ask_names_a_secret_on_the_terminal_and_sends_it_if_told_to(shop, answer, code):
    program = shop.launch("ask", "-f", ".env", "Check")
    program.until(r"Send \.env to local:parrot\?")
    program.type(f"{answer}\r")
    assert program.wait() == code
    assert ("KEY=1" in asked(shop)) == (answer == "y")


SECRET = "xyzzyplugh"


def on_disk(home):
    """All that is in files below the home, and their names: data, state, config, temporary."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


@pytest.mark.parametrize(
    "way",
    ["ctrl+q", "closed", pytest.param(signal.SIGTERM, marks=pytest.mark.fast), signal.SIGKILL],
)
def test_nothing_of_a_private_session_is_on_disk_and_only_a_key_is_asked_about(
    private_home, chats, way
):
    chats.answer(answers(f"It is {SECRET}."), answers_at(Gate(), f"Again {SECRET}, ", "and on."))
    (private_home / "tmp").mkdir()
    temporary = {"TMPDIR": str(private_home / "tmp")}
    private = chats("--private", wait=False, environment=temporary)
    private.until("PRIVATE, not saved")
    for typed, shown in (
        (f"What is {SECRET}?\r", f"It is {SECRET}"),
        (f"Once more {SECRET}\r", f"Again {SECRET}"),
        (f"not sent {SECRET}", f"not sent {SECRET}"),
    ):
        private.type(typed)
        private.until(shown)
    assert SECRET.encode() not in on_disk(private_home)
    if way == signal.SIGKILL:
        private.signal(way)
        private.wait()
    else:
        if way == "ctrl+q":
            private.press("ctrl+q")
            private.until("nothing of it is kept")
        leave(private, way)
        assert "Resume with" not in private.text
    assert SECRET.encode() not in on_disk(private_home)
    assert b"private-" not in on_disk(private_home)
    assert chats.entries == ()
