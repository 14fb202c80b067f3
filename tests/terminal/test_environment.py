"""tmux and GNU screen: that they are there, and what they pass on."""

import re

import pytest

from tui.terminal.environment import in_multiplexer, in_screen, through_screen


@pytest.mark.parametrize(
    ("environment", "relayed"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "screen"}, True),
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "xterm", "TMUX": "/tmp/x,1,0"}, True),
        ({"TERM": "xterm", "STY": "1.x"}, True),
    ],
)
def test_what_is_relayed(environment, relayed):
    assert in_multiplexer(environment) is relayed


def test_a_tmux_within_or_around_gnu_screen_is_what_is_asked():
    assert in_screen({"STY": "1.pts"})
    assert not in_screen({"STY": "1.pts", "TMUX": "/tmp/x,1,0"})
    assert not in_screen({"TERM": "screen"})


def test_what_is_for_the_terminal_around_gnu_screen_is_whole_in_pieces_that_it_takes():
    sequence = f"\x1b]52;c;{'QUJD' * 1000}\x07"
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", through_screen(sequence), re.DOTALL)
    assert "".join(pieces) == sequence
    assert max(map(len, pieces)) <= 250
