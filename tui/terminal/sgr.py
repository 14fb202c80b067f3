"""Drops redundant SGR sequences: more than half of a frame's bytes."""

import re

_RESET = "\x1b[0m"
# The beginning of a run of text: a cursor position, if it is elsewhere, and its style.
_BEGINNING = re.compile(r"(?P<place>\n?(?:\x1b\[\d+;\d+H)?)(?P<style>\x1b\[[\d;]+m)")
_PLACE = re.compile(r"\x1b\[[\d;]*[GH]")


def drop_repeated(frame: str) -> str:
    """Leave out each reset of the style that is followed by the same style again."""
    first, *others = frame.split(_RESET)
    kept, style = [first], _style_at_end(first, _BEGINNING.match(first))
    for text in others:
        beginning = _BEGINNING.match(text)
        if beginning and style == beginning["style"]:
            kept += (beginning["place"], text[beginning.end() :])
        else:
            kept += (_RESET, text)
        style = _style_at_end(text, beginning)
    return "".join(kept)


def _style_at_end(text: str, beginning: re.Match[str] | None) -> str | None:
    """The style at the end of a run of text; ``None`` if the text may change it."""
    if beginning is None:
        return None
    rest = text[beginning.end() :]
    others = rest.count("\x1b") - len(_PLACE.findall(rest)) if "\x1b" in rest else 0
    return None if others else beginning["style"]
