"""What a terminal of sixteen colours is told to show."""

import re

import pytest

from tui.few_colours import is_legible

_PAIR = re.compile(rb"\x1b\[((?:\d;)*)(3|9)(\d);(4|10)(\d)m")


@pytest.mark.parametrize("theme", ["textual-light", "solarized-light", "textual-dark"])
def test_whatever_is_written_there_can_be_told_from_what_is_behind_it(chats, theme):
    chats.config.write_text(f'theme = "{theme}"\n{chats.config.read_text("utf-8")}', "utf-8")
    program = chats(environment={"TERM": "xterm", "COLORTERM": None})
    program.type("/theme")
    program.until("Help")
    program.press("ctrl+q")
    assert program.wait() == 0
    shown = {
        (int(colour) + 8 * (kind == b"9"), int(behind) + 8 * (back == b"10"), b"1;" in looks)
        for looks, kind, colour, back, behind in _PAIR.findall(program.raw)
    }
    assert any(bold for _, _, bold in shown)
    assert not {each for each in shown if not is_legible(each[0], each[1], bold=each[2])}
