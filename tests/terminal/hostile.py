"""Text that would speak to a terminal or to markup, and what a terminal got in its place."""

import re

_CLIPBOARD = "TUFSS0VS"
MARKUP = "[@click=app.quit]x[/] [/nope] [link=file:///m]y[/link] [bold]"

SEQUENCES = [
    f"\x1b]52;c;{_CLIPBOARD}\x07",
    f"\x1b]52;c;{_CLIPBOARD}\x1b\\",
    f"\x9d52;c;{_CLIPBOARD}\x9c",
    "\x1b]0;MARKED\x07",
    "\x1b]2;MARKED\x1b\\",
    "\x1b]8;;http://marked/\x1b\\l\x1b]8;;\x1b\\",
    "\x1bP+q4d41524b\x1b\\",
    "\x90$qm\x9c",
    "\x1b[2J\x1b[5;41mMARKED",
    "\x9b2J\x9b5;41mMARKED",
    "\x1b[?1049l\x1b[?25h",
    "\x1b[6n\x1b[21t",
    "\x1b_MARKED\x1b\\",
    "\x1b^MARKED\x1b\\",
    "\x1bXMARKED\x1b\\",
    "\x9fMARKED\x9c",
    "\x1bc\x1b#8\x1b(0",
    "\u202eMARKED\u2066\u200f",
    "\U000e004d\U000e0041\U000e007f",
    "\x00\x08\x0e\x0f\x7f\x05",
    "\x85\u2028",
]
HOSTILE = " ".join(SEQUENCES)

# All that our driver and Textual's compositor say in these tests, and the first frame. The first of
# it is what a terminal gets that was not read for a while, as this one on a slow machine, with what
# was cut off before.
_OWN = re.compile(
    rb"(?:\x1b[\[\]]?[0-9;?]*|[\xc2-\xf4][\x80-\xbf]{0,2})?\x18(?=\x1b\[\?2026l)"
    rb"|\x1b\]22;[a-z]*\x07|\x1b\]11;\?\x1b\\|\x1b\[[0-9;]*[GHm]|\x1b\[2J|\x1b\[\?[0-9]+[hl]|\x1b\[\?[0-9]+\$p|\x1b\[>[0-9]+u|\x1b\[<u"
)
_MARKED_STYLE = re.compile(rb"\x1b\[5;41m")
_CONTROL = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f]"
)


def spoken(raw: bytes) -> list[str]:
    """What the terminal got besides text and the program's own sequences."""
    found = [match[0].decode() for match in _MARKED_STYLE.finditer(raw)]
    left = _OWN.sub(b"", raw).decode()
    return found + [left[max(0, m.start() - 20) : m.end() + 20] for m in _CONTROL.finditer(left)]
