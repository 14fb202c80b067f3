"""What a terminal of sixteen colours, or of 256, is told to show."""

import re

import pytest
from rich.color_triplet import ColorTriplet

from tests.terminal.endings import quit_at_once
from tui.terminal.colours_16 import is_legible
from tui.terminal.colours_256 import nearest

pytestmark = pytest.mark.full

_PAIR = re.compile(rb"\x1b\[((?:\d;)*)(3|9)(\d);(4|10)(\d)m")


@pytest.mark.parametrize("theme", ["textual-light", "solarized-light", "textual-dark"])
def test_whatever_is_written_there_can_be_told_from_what_is_behind_it(chats, theme):
    chats.config.write_text(f'theme = "{theme}"\n{chats.config.read_text("utf-8")}', "utf-8")
    program = chats(environment={"TERM": "xterm", "COLORTERM": None})
    program.type("/theme")
    program.until("Help")
    assert quit_at_once(program) == 0
    shown = {
        (int(colour) + 8 * (kind == b"9"), int(behind) + 8 * (back == b"10"), b"1;" in looks)
        for looks, kind, colour, back, behind in _PAIR.findall(program.raw)
    }
    assert any(bold for _, _, bold in shown)
    assert not {each for each in shown if not is_legible(each[0], each[1], bold=each[2])}


def test_a_terminal_of_256_is_given_the_nearest_and_no_teal_for_a_dark_grey(chats):
    chats.config.write_text(f'theme = "nord"\n{chats.config.read_text("utf-8")}', "utf-8")
    program = chats(environment={"TERM": "screen-256color", "COLORTERM": None})
    program.type("/theme")
    program.until("Help")
    assert quit_at_once(program) == 0
    behind = {int(number) for number in re.findall(rb"48;5;(\d+)m", program.raw)}
    assert nearest(ColorTriplet(0x2E, 0x34, 0x40)) in behind
    assert 23 not in behind
