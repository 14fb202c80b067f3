"""What keeps text from outside from speaking to the terminal."""

import re

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f\x80-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}{_BIDI}{_TAGS}{_SURROGATES}]")
_LONE = re.compile(f"[{_SURROGATES}]")
# Only from the beginning of blanks: from each of them on, long ones would take their square.
_LINE_BREAKS = re.compile(r"(?<!\s)\s*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\s*")


def make_visible(text: str) -> str:
    """Replace what a terminal would obey with marks that a reader can see.

    C0 controls but newline and tab, DEL, C1, bidirectional controls and tag characters become
    marks, lone surrogates U+FFFD. One code point at a time, so that a sequence split over two
    pieces is as harmless as a whole one.
    """
    return _UNSAFE.sub(_mark, text)


def without_surrogates(text: str) -> str:
    """Text as it goes to a file or a pipe: as it is, but what UTF-8 cannot say is U+FFFD."""
    return _LONE.sub("\ufffd", text)


def make_visible_line(text: str) -> str:
    """The same for a place of one line: line breaks and tabs become spaces."""
    return make_visible(_LINE_BREAKS.sub(" ", text).replace("\t", " "))


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"
