"""Keys that come all at once, as over a slow line, around every change of what is on screen."""

import pytest

from tests.providers.chat_server import answers
from tests.terminal.endings import assert_whole, quit_at_once, told
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
        ("abc\x1bOQFirst\x1b[F\radd def", "abc", "add def"),
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


@pytest.mark.fast
def test_only_enter_sends_and_a_paste_without_marks_does_not_wherever_it_is_cut(chats):
    server = chats.answer(answers("Hello."))
    program = chats()
    program.type("one\\")
    program.until(r"one\\")
    program.type("\r")
    program.until(lambda it: "one\\" not in it.text, "the backslash gone")
    program.type("two\x1b\r")
    program.type("three\r\tfour\rfive\r")
    program.until("five")
    assert not server.requests
    program.type("six")
    program.until("six")
    program.type("\r")
    program.until("Hello")
    text = "one\ntwo\nthree\n\tfour\nfive\nsix"
    lines = [f"line {number:04} of the paste" for number in range(1, 1500)]
    program.type("\r".join(lines))
    # All in one mark, or in two where the program was busy between two reads.
    program.until(" lines]")
    assert quit_at_once(program) == 0
    assert [request.body["messages"][-1]["content"] for request in server.requests] == [text]
    (draft,) = (chats.root / "drafts").iterdir()
    assert read_draft(draft).text == "\n".join(lines)


_UNREADABLE = [
    *("\x1b[1089::99;5:9u", "\x1b[97;1:3u", "\x1b[99999999;5u", "\x1b[99999999999999999999H"),
    *("\x1b[<0;99999999999999;5M", "\x1b[48;0;0;0;0t", "\x1b[48;9999;9999;1;1t", "\x1b[?2048;1$y"),
    *("\x1b]52;c;" + "A" * 5000, "\x07", "\x1b[" + "1;" * 5000 + "z", "\x1b[1;2;3;4", "\x9b\x00"),
    *("\x1b[M\xff\xff\xff", "\x1b[55296u", "\x1b[200~a paste"),
]


@pytest.mark.fast
def test_no_byte_from_the_terminal_ends_the_program_but_a_shortcut_on_a_cyrillic_layout(chats):
    program = chats()
    program.until(lambda it: b"\x1b[>29u" in it.raw, "the request for alternate keys")
    program.type("abc")
    for sequence in _UNREADABLE:
        program.type(sequence)
    program.send(b"\xff\xc3\x1b")
    program.until("a paste", "the paste without an end")
    program.type("typed on")
    program.until("typed on")
    program.type("\x1b[1094::119;;1094u")
    program.until("ц")
    program.type("\x1b[1081::113;5u")
    assert program.wait() == 0


@pytest.mark.fast
def test_the_terminal_is_asked_for_its_size_and_not_the_environment(chats):
    program = chats(environment={"COLUMNS": "150", "LINES": "50"}, columns=90, rows=28)
    program.until(lambda it: _has_prompt_up_to(it, 90))
    program.resize(80, 24)
    program.until(lambda it: _has_prompt_up_to(it, 80), "the new size")
    assert quit_at_once(program) == 0


def _has_prompt_up_to(program, columns):
    """Whether the sidebar is narrow, and the prompt ends in the last column."""
    edges = [row for row in program.screen if row.endswith("╮")]
    # A terminal draws what is beyond its last column there.
    return [(row.index("╭") < 30, len(row)) for row in edges] == [(True, columns)]


@pytest.mark.fast
def test_an_error_in_the_thread_of_the_keys_ends_with_a_report_and_exit_code_1(chats):
    program = chats.altered("defect_in_key_parser")
    program.until("session-")
    program.type("\x1b[A")
    assert program.wait() == 1
    assert_whole(program)
    assert "Unexpected error: RuntimeError: broken" in told(program)[-2]
