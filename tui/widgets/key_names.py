"""Names of keys, for the line of keys, the help and notices."""

from textual.keys import format_key

NO_KEY = "none"
"""The key of an action that has none by default: Textual refuses an empty one."""

_MODIFIERS = {"ctrl": "Ctrl", "alt": "Alt", "shift": "Shift", "super": "Super", "meta": "Meta"}
_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "space": "Space",
    "backspace": "Backspace",
    "delete": "Del",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
}
_ARROWS = {"Up": "↑", "Down": "↓", "Left": "←", "Right": "→"}


def key_name(key: str) -> str:
    """The name of a key as on a keyboard: ``Ctrl+N`` for ``ctrl+n``, ``/`` for ``slash``.

    Empty for ``NO_KEY``.
    """
    if key == NO_KEY:
        return ""
    *modifiers, last = key.strip().split("+") if key.strip() != "+" else ["+"]
    words = [_MODIFIERS.get(each, each) for each in modifiers]
    shown = _NAMES.get(last) or format_key(last)
    if last not in _NAMES and (modifiers or len(shown) > 1):
        # A letter alone is typed as it is; with modifiers it names the key.
        shown = shown.upper()
    return "+".join([*words, shown])


def short_key_name(key: str) -> str:
    """A short name for narrow places: ``^N``, ``Alt+↓``."""
    name = key_name(key)
    *modifiers, last = name.rsplit("+", 1) if name != "+" else ["+"]
    last = _ARROWS.get(last, last)
    if modifiers == ["Ctrl"]:
        return f"^{last}"
    return "+".join([*modifiers, last])
