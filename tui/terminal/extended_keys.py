"""Keys with modifiers, as the kitty protocol and xterm send them, made plain for Textual.

A key is ``code:shifted:base;modifiers:event;text`` and a final letter; fields may be missing.
"""

import re

from tui.terminal.textual_private import FUNCTIONAL_KEYS

_FIELD = r"\d{0,7}(?::\d{0,7})*"
_KEY = re.compile(rf"\x1b\[({_FIELD}(?:;{_FIELD}){{0,2}})([u~ABCDEFHPQRS])", re.ASCII)
_FORM = re.compile(r"\x1b\[[\d:;]*[u~ABCDEFHPQRS]", re.ASCII)
_SHIFT, _ALT, _CTRL, _OTHERS, _LOCKS = 1, 2, 4, 8 | 16 | 32, 64 | 128
_PRESS, _REPEAT = 1, 2
_CODE_OF_XTERM = 27
_BACKSPACE, _DELETE = 8, 127


def plain(sequence: str) -> str | None:
    """Return the sequence of a pressed key, without what Textual does not know.

    Empty if it cannot be read or the key was released; None if it is no such sequence.
    """
    if not _FORM.fullmatch(sequence):
        return None
    found = _KEY.fullmatch(sequence)
    if found is None:
        return ""
    fields = [[int(number or "0") for number in field.split(":")] for field in found[1].split(";")]
    (key, *others), (modifiers, *events), text = [*fields, [0], [0]][:3]
    end = found[2]
    if (key, end) == (_CODE_OF_XTERM, "~") and text[0]:
        # modifyOtherKeys: the key stands in the place of the text.
        key, others, text, end = text[0], [], [], "u"
    held = max(modifiers - 1, 0) & ~_LOCKS
    if held > _LOCKS or not {*events} <= {0, _PRESS, _REPEAT}:
        return ""
    if held & _OTHERS or held & (_ALT | _CTRL) == _CTRL:
        text = []
    text = [code for code in text if _is_text(code)]
    shifted, base, *_ = (*others, 0, 0)
    if end != "u" or _is_functional(key):
        key = key or 1
        if not _is_functional(key, end):
            return ""
    elif text:
        held &= _SHIFT
    elif held & ~_SHIFT:
        # On a Cyrillic or Greek layout only the base layout has the letter of the shortcut.
        key = base if key > _DELETE > base >= ord(" ") else key
    elif _is_text(key):
        # A terminal that leaves out the text.
        text = [shifted if held and _is_text(shifted) else key]
    key = _DELETE if key == _BACKSPACE else key
    if not text and not _is_functional(key, end) and not _is_text(key):
        return ""
    parts = str(key), str(held + 1) if held else "", ":".join(map(str, text))
    return f"\x1b[{';'.join(parts).rstrip(';')}{end}"


def _is_functional(key: int, end: str = "u") -> bool:
    return f"{key}{end}" in FUNCTIONAL_KEYS


def _is_text(code: int) -> bool:
    return 0 < code <= 0x10FFFF and chr(code).isprintable()
