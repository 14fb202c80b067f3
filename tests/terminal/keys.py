"""What a terminal sends for a key."""

import re

_NAMED = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "insert": "\x1b[2~",
    "delete": "\x1b[3~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
}
_ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}


def sequence(key: str) -> str:
    """What is sent for a key as Textual names it: ``a``, ``ctrl+q``, ``alt+1``, ``shift+up``."""
    if key in _NAMED:
        return _NAMED[key]
    if len(key) == 1:
        return key
    modifier, _, rest = key.rpartition("+")
    if rest in _ARROWS:
        code = 1 + sum(_MODIFIERS[name] for name in modifier.split("+"))
        return f"\x1b[1;{code}{_ARROWS[rest]}"
    if modifier == "ctrl" and re.fullmatch(r"[a-z@\[\\\]^_]", rest):
        return chr(ord(rest.upper()) & 0x1F)
    if modifier == "alt":
        return "\x1b" + sequence(rest)
    raise ValueError(f"no terminal sends {key}")
