"""A frame that says each look once is the same frame; and what multiplexers pass on."""

import re

import pyte
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables import each_row
from tui.terminal.driver import drop_repeated
from tui.terminal.environment import in_multiplexer, in_screen, through_screen

RED, BOLD = "\x1b[38;2;255;0;0;48;2;18;18;18m", "\x1b[1m"
OFF = "\x1b[0m"
LINK = "\x1b]8;id=1;https://example.org\x1b\\"


def picture(frame):
    """What a terminal shows of it, with colours, and where and how the next would be written."""
    screen = pyte.Screen(20, 5)
    pyte.Stream(screen).feed(frame)
    cells = [[screen.buffer[y][x] for x in range(20)] for y in range(5)]
    return cells, (screen.cursor.x, screen.cursor.y, screen.cursor.attrs)


@each_row(
    "frame, spared_frame",
    [
        (f"{RED}a{OFF}{RED}b{OFF}", f"{RED}ab{OFF}"),
        (f"{RED}a{OFF}\x1b[2;3H{RED}b{OFF}", f"{RED}a\x1b[2;3Hb{OFF}"),
        (f"{RED}a{OFF}\n\x1b[2;3H{RED}b{OFF}", f"{RED}a\n\x1b[2;3Hb{OFF}"),
        (f"{RED}a\x1b[9Gb{OFF}{RED}c{OFF}", f"{RED}a\x1b[9Gbc{OFF}"),
    ],
)
def test_a_look_that_goes_on_is_said_once(frame, spared_frame):
    assert drop_repeated(frame) == spared_frame


@each_row(
    "frame",
    [
        "",
        f"{RED}a{OFF}",
        f"{RED}a{OFF}{BOLD}b{OFF}",
        f"{RED}a{OFF}b{RED}c{OFF}",
        f"{RED}a{BOLD}b{OFF}{RED}c{OFF}",
        f"{RED}a{OFF}{LINK}{RED}b{OFF}\x1b]8;;\x1b\\{RED}c{OFF}",
        f"{RED}a{OFF}\x1b[2J{RED}b{OFF}",
        "\x1b[?2026h",
    ],
)
def test_all_else_is_left_as_it_is(frame):
    assert drop_repeated(frame) == frame


_TEXTS = st.text("ab ", max_size=3) | st.sampled_from(["\x1b[4G", "b\x1b[3;2Ha", BOLD, f"{OFF}a"])
_PLACES = st.sampled_from(["", "", "\x1b[2;3H", "\n\x1b[3;1H", "\x1b[1;18H", LINK])
_LOOKS = st.sampled_from([RED, RED, BOLD, "\x1b[4;1m", ""])


@given(st.lists(st.tuples(_PLACES, _LOOKS, _TEXTS), max_size=12))
@example([("", RED, "a"), ("", RED, BOLD), ("", RED, "b")])
def test_a_terminal_shows_the_same(parts):
    frame = "".join(f"{place}{look}{text}{OFF}" for place, look, text in parts)
    assert picture(drop_repeated(frame)) == picture(frame)


@each_row(
    "environment, relayed, is_screen",
    [
        ({"TERM": "xterm-256color"}, False, False),
        ({"TERM": "screen"}, True, False),
        ({"TERM": "tmux-256color"}, True, False),
        ({"TERM": "xterm", "TMUX": "/tmp/x,1,0"}, True, False),
        ({"TERM": "xterm", "STY": "1.x"}, True, True),
        # A tmux within or around GNU screen is what is asked.
        ({"STY": "1.pts", "TMUX": "/tmp/x,1,0"}, True, False),
    ],
)
def test_what_is_relayed(environment, relayed, is_screen):
    assert (in_multiplexer(environment), in_screen(environment)) == (relayed, is_screen)


def test_what_is_for_the_terminal_around_gnu_screen_is_whole_in_pieces_that_it_takes():
    sequence = f"\x1b]52;c;{'QUJD' * 1000}\x07"
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", through_screen(sequence), re.DOTALL)
    assert "".join(pieces) == sequence
    assert max(map(len, pieces)) <= 250
