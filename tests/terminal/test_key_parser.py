"""What the key parser makes of the reads from a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from tests.tables import each_row
from tui.terminal.key_parser import BEGIN, END, KeyParser

LATER = 5.0
HOSTILE = "\x1b[31mred\x1b[0m\r\x1b]0;x\x07/delete\r\x1b\ry [201~ \x1b"


class Terminal:
    """Sends reads to a parser, and collects its keys, pastes and other messages."""

    def __init__(self):
        self._now = 0.0
        self._parser = KeyParser(clock=lambda: self._now)
        self.messages = []

    def send(self, *reads):
        for read in reads:
            self.messages += self._parser.feed(read)

    def expect(self):
        self._parser.await_answer()

    def wait(self, seconds=LATER):
        self._now += seconds
        self.messages += self._parser.tick()

    @property
    def found(self):
        return [_short(message) for message in self.messages]


def _short(message):
    match message:
        case events.Key():
            return message.key
        case events.Paste():
            return ("paste", message.text)
        case _:
            return type(message).__name__


def found(*reads):
    """The keys and pastes of some reads and the silence after them."""
    terminal = Terminal()
    terminal.send(*reads)
    terminal.wait()
    return terminal.found


# --- keys


READS = {
    "alt and backspace is not the key that closes a session": [
        (["\x1b\x7f"], ["alt+backspace"]),
        (["\x1b\x08"], ["alt+backspace"]),
    ],
    "alt and enter is a key of its own": [
        (["\x1b\r"], ["alt+enter"]),
        (["\x1b\n"], ["alt+enter"]),
        (["\x1b[13;3u"], ["alt+enter"]),
        (["\x1b[27;3;13~"], ["alt+enter"]),
    ],
    "shift and enter is one key by whichever protocol it comes": [
        (["\x1b[13;2u"], ["shift+enter"]),
        (["\x1b[27;2;13~"], ["shift+enter"]),
    ],
    "escape and enter in two reads are two keys": [(["\x1b", "\r"], ["escape", "enter"])],
    "a sequence may come in pieces": [(["\x1b", "[1", ";5", "A"], ["ctrl+up"])],
    "escape and a slash are two keys however fast they come": [
        (["\x1b/h"], ["escape", "slash", "h"]),
        (["\x1b", "/h"], ["escape", "slash", "h"]),
        (["\x1b/", "h"], ["escape", "slash", "h"]),
    ],
    "escape before a control character is not lost": [(["\x1b\x06x"], ["escape", "ctrl+f", "x"])],
    "keys and reports": [
        (["/"], ["slash"]),
        (["\x1bh"], ["alt+h"]),
        (["\x1b2"], ["alt+2"]),
        (["\x1b"], ["escape"]),
        (["\x1bO"], ["alt+shift+o"]),
        (["\x1bP"], ["alt+shift+p"]),
        (["\x1bOP\x1b[[B\x1b[13~\x1b[1;2R"], ["f1", "f2", "f3", "shift+f3"]),
        (["\x1b[Z\x1b\t\x1b[3$"], ["shift+tab", "shift+tab", "shift+delete"]),
        (["\x1b[I\x1b[O"], ["AppFocus", "AppBlur"]),
        (["\x1b[<0;5;5M\x1b[<0;5;5m"], ["MouseDown", "MouseUp"]),
        (["\x1b[?2026;2$y"], ["TerminalSupportsSynchronizedOutput"]),
        (["\x1b[48;30;100;600;1000t\x1b[48;30:1;100;0;0t"], ["Resize", "Resize"]),
    ],
    "a key that is released types nothing": [
        (["\x1b[97;1:1u\x1b[97;1:3u\x1b[1;1:3A\x1b[3;1:3~"], ["a"]),
    ],
    "a shortcut on a Cyrillic or Greek layout is that of the key's place": [
        (["\x1b[1089::99;5u"], ["ctrl+c"]),
        (["\x1b[1089::99;5:1u"], ["ctrl+c"]),
        (["\x1b[1089:1057:99;6u"], ["ctrl+shift+c"]),
        (["\x1b[963::115;5u"], ["ctrl+s"]),
        (["\x1b[1094::119;3u"], ["alt+w"]),
    ],
    "text that comes with Ctrl is not typed": [(["\x1b[99;5;99u"], ["ctrl+c"])],
    "AZERTY keeps its own letters": [(["\x1b[97::113;5u"], ["ctrl+a"])],
    "Dvorak keeps its own letters": [(["\x1b[106::99;5u"], ["ctrl+j"])],
    "without a base layout a key is what it types": [(["\x1b[1089;5u"], ["ctrl+с"])],
}


@each_row("reads, keys", [row for rows in READS.values() for row in rows])
def test_what_is_read_are_these_keys(reads, keys):
    assert found(*reads) == keys


# --- text of keys with fields


@each_row(
    "sent, text",
    [
        ("\x1b[97;1:1u", "a"),  # once for a press
        ("\x1b[97;1:2u", "a"),  # once for a repetition
        ("\x1b[97;;97u", "a"),  # once with its text
        ("\x1b[97::97u", "a"),  # once with its place
        ("\x1b[97:65;2u\x1b[49:33;2u", "A!"),  # the shifted key without a text
        ("\x1b[0;;20320:22909u", "你好"),  # text without a key
        # Never the text of the base layout.
        ("\x1b[1089::99;;1089u\x1b[1089:1057:99;2;1057u\x1b[1089::99u", "сСс"),
        ("\x1b[99;5;99u", ""),  # what comes with Ctrl
        ("\x1b[101;7;8364u", "€"),  # AltGr is reported as Ctrl and Alt
    ],
)
def test_a_key_with_fields_types(sent, text):
    terminal = Terminal()
    terminal.send(sent)
    terminal.wait()
    assert [each.character for each in terminal.messages if each.is_printable] == [*text]


# --- pastes


@each_row("text", ["", "one", "one\ntwo\r", HOSTILE, "x" * 10_000])
def test_all_that_is_in_a_paste_is_one_text(text):
    assert found(f"a{BEGIN}{text}{END}b") == ["a", ("paste", text), "b"]


@each_row(
    "reads, keys",
    [
        # Each paste has its own text, of which a report that was cut takes nothing.
        (
            [f"{BEGIN}one{END}k{BEGIN}two{END}\r"],
            [("paste", "one"), "k", ("paste", "two"), "enter"],
        ),
        ([f"\x1b[M {BEGIN}one\rtwo{END}"], [("paste", "one\rtwo")]),
        # A line break between text in one read is no key.
        *(
            ([text], [("paste", text)])
            for text in ("one\rtwo", "one\rtwo\rthree\r", "one\r\ntwo", "one\n\ttwo")
        ),
        *(([text], [("paste", text)]) for text in ("\rone\rtwo", "/quit\r/quit")),
        # Colours and a moved mouse do not cut such a paste; a click does.
        (["a\x1b[31mb\rc"], [("paste", "ab\rc")]),
        (["a\r\x1b[<35;5;5Mb"], ["MouseMove", ("paste", "a\rb")]),
        (["a\x1b[<0;5;5Mb"], ["a", "MouseDown", "b"]),
        # Enter at the end of text or behind a key is pressed.
        (["ab\r"], ["a", "b", "enter"]),
        (["\rab"], ["enter", "a", "b"]),
        (["ab", "\r", "c"], ["a", "b", "enter", "c"]),
        (["ab\x02\radd\x02\rb"], [*"ab", "ctrl+b", "enter", *"add", "ctrl+b", "enter", "b"]),
        (["\x1b[B\ra\rb"], ["down", "enter", ("paste", "a\rb")]),
        (["a\tb"], ["a", "tab", "b"]),
    ],
)
def test_text_with_line_breaks_is_a_paste_and_enter_at_its_end_a_key(reads, keys):
    assert found(*reads) == keys


@each_row("at", range(1, 12 + len(HOSTILE) + 2))
def test_a_paste_may_come_in_pieces(at):
    whole = f"a{BEGIN}{HOSTILE}{END}b"
    assert found(whole[:at], whole[at:]) == ["a", ("paste", HOSTILE), "b"]


@given(st.lists(st.sampled_from(["\x1b", "[", "2", "0", "1", "~", "k", "\r"])).map("".join))
def test_nothing_of_a_paste_is_ever_a_key(text):
    whole = f"{BEGIN}{text}{END}"
    pasted, _, _ = whole.removeprefix(BEGIN).partition(END)
    assert found(*whole)[0] == ("paste", pasted)


def test_a_paste_whose_end_was_lost_ends_with_a_silence():
    terminal = Terminal()
    terminal.send(f"{BEGIN}some\rtext", " and keys")
    terminal.wait()
    terminal.send("x\r")
    assert terminal.found == [("paste", "some\rtext and keys"), "x", "enter"]


# --- what cannot be read


@each_row(
    "sent",
    [
        *("\x1b[99999999;5u", "\x1b[1114112u", "\x1b[55296u", "\x1b[;u", "\x1b[3;1u", "\x1b[1;5u"),
        *("\x1b[97;999u", "\x1b[97;1:9u", "\x1b[99999999999999999999H", "\x1b[77;5~"),
        *("\x1b[<0;99999999999;5M", "\x1b[<0;-5;-5M", "\x1b[<999999999;1;1M", "\x1b[32;10;10M"),
        *("\x1b[M !!", "\x1b[48;0;0;0;0t", "\x1b[5;7R", "\x1b[?62;22c", "\x1b[?1u", "\x1b[0n"),
        *("\x1b[31m", "\x1b[1;2;3;4;5;6;7;8;9z", "\x1b[12", "\x1b[1;1;"),
        *("\x1b]10;rgb:1/2/3\x1b\\", "\x1b]10;rgb:1/2/3\x07", "\x1bP>|term(1)\x1b\\"),
        *("\x1b_Gi=1;OK\x1b\\", "\x1b]52;c;" + "A" * 9000, "\x1bP1$r" + "x" * 9000),
        *("\x1b[" + "1;" * 9000, "\x1b[" + "1;" * 9000 + "A", "\x1b[201~"),
    ],
)
def test_what_cannot_be_read_is_dropped_and_the_next_key_is_not(sent):
    terminal = Terminal()
    terminal.send(sent)
    terminal.wait()
    terminal.send("x")
    assert terminal.found in (["x"], ["MouseMove", "x"])


def test_a_reply_may_come_in_pieces():
    whole = "\x1b]10;rgb:1/2/3\x1b\\x"
    for at in range(1, len(whole)):
        assert found(whole[:at], whole[at:]) == ["x"]


WHITE, BLACK = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:00/1f/3f\x07"


@pytest.mark.parametrize(("sent", "light"), [(WHITE, True), (BLACK, False)])
def test_the_background_is_reported(sent, light):
    terminal = Terminal()
    terminal.send(sent)
    assert [each.light for each in terminal.messages] == [light]


@each_row("at", range(1, len(WHITE)))
@each_row("pause", [0, 0.3])
def test_no_piece_of_an_expected_answer_is_typed_however_slowly_it_comes(at, pause):
    terminal = Terminal()
    terminal.expect()
    for piece in (WHITE[:at], *WHITE[at:]):
        terminal.send(piece)
        terminal.wait(pause)
    terminal.send("x")
    *before, answer, key = terminal.found
    assert (answer, key) == ("BackgroundReported", "x")
    assert before in ([], ["escape"])


def test_what_is_typed_like_an_answer_or_behind_one_is_typed_once_none_is_expected():
    terminal = Terminal()
    terminal.expect()
    terminal.wait(20)
    terminal.send("\x1b")
    terminal.wait(0.5)
    terminal.send("]")
    assert terminal.found == ["escape", "right_square_bracket"]
    terminal = Terminal()
    terminal.send("\x1b]11;rgb:1/2")
    terminal.wait()
    terminal.send("hello")
    assert terminal.found == [*"hello"]


_PIECES = [
    *("\x1b", "\x1b[", "\x1bO", "\x1b]", "\x1bP", "\x1b_", "\x1b\\", "\x07", "\r", "\n", "\t"),
    *(BEGIN, END, "\x1b[48;", "\x1b[27;", "\x1b[<", "\x1b[M", "\x1b[?2048;", "$y", "\ufffd"),
    *(";", ":", "?", "<", "-", " ", "u", "~", "A", "H", "R", "M", "m", "t", "/", "q", "é", "日"),
    *("0", "1", "2", "3", "5", "97", "1089", "55296", "99999999", "9" * 30, "²", "٣", "😀", "\x9b"),
]


@given(
    st.lists(
        st.tuples(st.text() | st.lists(st.sampled_from(_PIECES)).map("".join), st.floats(0, 9))
    )
)
def test_no_text_stops_the_parser(reads):
    terminal = Terminal()
    for read, seconds in reads:
        terminal.send(read)
        terminal.wait(seconds)
    terminal.wait()
    for message in terminal.messages:
        if isinstance(message, events.Key):
            # The application asks for these.
            assert message.name is not None
            assert message.name_aliases
            message.is_printable  # noqa: B018
    del terminal.messages[:]
    terminal.send("x")
    assert terminal.found == ["x"]
