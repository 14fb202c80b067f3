"""Sanitising of untrusted text, so that it cannot control the terminal."""

import re

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f\x80-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}{_BIDI}{_TAGS}{_SURROGATES}]")
_LONE = re.compile(f"[{_SURROGATES}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
_NAME_MARKS = str.maketrans(
    {"\n": "\u240a", "\t": "\u2409", "\u2028": "<U+2028>", "\u2029": "<U+2029>"}
)
# Anchored at the first blank: starting at each would take quadratic time on long runs.
_LINE_BREAKS = re.compile(r"(?<!\s)\s*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\s*")


def make_visible(text: str) -> str:
    """Replace control characters with visible marks.

    These are C0 except newline and tab, DEL, C1, bidirectional controls and tag characters; lone
    surrogates become U+FFFD. Each code point is replaced by itself, so that an escape sequence
    split over two pieces of text is as harmless as a whole one.
    """
    return _UNSAFE.sub(_mark, text)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, with U+FFFD."""
    return _LONE.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """Leave out control characters but newline and tab, for a program that might obey them."""
    return _CONTROL.sub("", without_surrogates(text.replace("\r\n", "\n").replace("\r", "\n")))


def make_visible_line(text: str) -> str:
    """Sanitise as one line: line breaks and tabs become spaces."""
    return make_visible(_LINE_BREAKS.sub(" ", text).replace("\t", " "))


def make_visible_name(name: str) -> str:
    """Sanitise the name of a file or folder: line breaks and tabs become marks, too."""
    return make_visible(name.translate(_NAME_MARKS))


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"
