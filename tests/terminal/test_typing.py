"""Keys that come all at once, as over a slow line, around every change of what is on screen."""

import pytest

from tests.providers.chat_server import answers
from tests.terminal.endings import quit_at_once
from tui.storage.drafts import read_draft

pytestmark = pytest.mark.full

CTRL_B, ALT_DOWN, ALT_UP = "\x02", "\x1b[1;3B", "\x1b[1;3A"


@pytest.fixture
def two(chats):
    """The program with two sessions, the newer one on screen; gives their ids, the newer first."""
    program = chats.altered("finite")
    program.type("First\r")
    program.until("w29")
    older = chats.only
    program.type("\x0e")
    program.until("Started a new session")
    program.type("Second\r")
    program.until(r"Second[\s\S]*w29")
    program.until(lambda _: len(chats.entries) == 2, "the second one on disk")
    (newer,) = (entry.id for entry in chats.entries if entry.id != older)
    program.until(lambda _: len(chats.messages(newer)) == 2, "the answer on disk")
    program.until(r"Second +now[\s\S]*First +now", "their rows")
    program.until("saved", "the end of the answer")
    return program, newer, older


# The other ways are tried in tests/ui/test_typing.py; here it is the terminal's own bytes.
@pytest.mark.parametrize(
    ("keys", "newer", "older"),
    [
        (f"abc{CTRL_B}\x1b[B\radd{CTRL_B}\x1b[A\rdef", "abcdef", "add"),
        (f"abc{ALT_DOWN}{ALT_UP}{ALT_DOWN}add def", "abc", "add def"),
        ("abc\x1b2add def", "abc", "add def"),
        ("abc\x1bOQFirst\radd def", "abc", "add def"),
    ],
    ids=["Ctrl+B and back", "Alt+Down, Up, Down", "Alt+2", "F2"],
)
def test_what_is_typed_behind_the_choice_of_a_session_belongs_there(chats, two, keys, newer, older):
    program, *ids = two
    program.type(keys)
    last = keys.rpartition("\r")[2][-3:]
    program.until(lambda it: last in "\n".join(it.screen[-6:]), "the last keys")
    there = ids[0] if newer.endswith(last) else ids[1]
    program.until(lambda _: chats.is_held(there), "the lease")
    assert quit_at_once(program) == 0
    # What is typed in a session that is not opened yet is kept beside its own draft.
    assert [chats.unsent(each)[-1] for each in ids] == [newer, older]
    # Nothing was sent, archived or deleted by keys that were meant for another place.
    assert [chats.said(each)[0][1] for each in ids] == ["Second", "First"]
    assert {entry.status for entry in chats.entries} == {"closed"}


def test_letters_that_came_in_one_read_behind_text_for_the_prompt_are_text(chats, two):
    program, newer, _ = two
    program.type(f"abc\t add{CTRL_B}aud")
    program.until("abc addaud", "the text")
    assert quit_at_once(program) == 0
    assert chats.unsent(newer) == ["abc addaud"]
    assert {entry.status for entry in chats.entries} == {"closed"}


@pytest.mark.fast
def test_a_paste_with_escapes_in_it_sends_nothing_and_is_no_key(chats):
    chats.answer(answers("Hello."))
    program = chats()
    hostile = "\x1b[31mred\x1b[0m line\r\x1b]0;x\x07/quit\r\x1b\ry tail"
    program.paste(hostile)
    program.until("y tail")
    program.type("!")
    program.until("y tail!")
    assert quit_at_once(program) == 0
    (draft,) = (chats.root / "drafts").iterdir()
    assert read_draft(draft).text == hostile.replace("\r", "\n") + "!"
