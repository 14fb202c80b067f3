"""Fewer bytes for the same picture: of a frame, more than half set a look that is set already."""

import re

_RESET = "\x1b[0m"
# Where a text begins, if it is somewhere else, and how it looks.
_BEGINNING = re.compile(r"(?P<place>\n?(?:\x1b\[\d+;\d+H)?)(?P<look>\x1b\[[\d;]+m)")
_PLACE = re.compile(r"\x1b\[[\d;]*[GH]")


def spared(frame: str) -> str:
    """A frame as Textual draws it, which ends each look, without those that go on at once."""
    first, *others = frame.split(_RESET)
    kept, look = [first], _look_at_end(first, _BEGINNING.match(first))
    for text in others:
        beginning = _BEGINNING.match(text)
        if beginning and look == beginning["look"]:
            kept += (beginning["place"], text[beginning.end() :])
        else:
            kept += (_RESET, text)
        look = _look_at_end(text, beginning)
    return "".join(kept)


def _look_at_end(text: str, beginning: re.Match[str] | None) -> str | None:
    """How a text looks that begins so; ``None`` if it may change that itself."""
    if beginning is None:
        return None
    rest = text[beginning.end() :]
    others = rest.count("\x1b") - len(_PLACE.findall(rest)) if "\x1b" in rest else 0
    return None if others else beginning["look"]
