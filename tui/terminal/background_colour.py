"""The terminal's background, which decides between a light and a dark theme."""

import re

from textual.message import Message

from tui.domain.text.patterns import late_pattern
from tui.terminal.colours import luminance

ASK = "\x1b]11;?\x1b\\"
"""Ask for the colour. Many terminals answer at once, some late, and some never."""

SECONDS = 0.1
"""The time in which an answer counts: later a change of colours would startle."""

_PART = "([0-9a-f]{1,4})"
_ANSWER = late_pattern(rf"\x1b\]11;rgba?:{_PART}/{_PART}/{_PART}(?:/[0-9a-f]*)?", re.IGNORECASE)
_LIGHT = 0.18
"""The luminance on which black and white can be read equally well."""


class BackgroundReported(Message):
    """The terminal has answered; ``time`` is when."""

    def __init__(self, *, light: bool) -> None:
        super().__init__()
        self.light = light


def reported(string: str) -> BackgroundReported | None:
    """Read the answer, without its end; ``None`` for any other string of a terminal."""
    found = _ANSWER.fullmatch(string)
    if found is None:
        return None
    red, green, blue = (255 * int(part, 16) // (16 ** len(part) - 1) for part in found.groups())
    return BackgroundReported(light=luminance((red, green, blue)) > _LIGHT)
