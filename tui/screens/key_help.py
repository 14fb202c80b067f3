"""Lines of help about keys, derived from the bindings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import msgspec
from textual.binding import Binding, BindingType

from tui.widgets.keys import key_name

_RUN = 3
"""From this many consecutive numbered keys on, only the first and the last are shown."""
_NUMBERED = re.compile(r"(.*?)(\d+)")


class KeyHelpLine(msgspec.Struct, frozen=True):
    """A key or command, and its effect."""

    typed: str
    does: str


def key_lines(bindings: Sequence[BindingType], chosen: Mapping[str, str]) -> Iterator[KeyHelpLine]:
    """Make a line for each effect; ``chosen`` are the user's own keys by id of the binding."""
    # ``make_bindings`` splits a binding of several keys.
    keys: dict[str, dict[str, list[str]]] = {}
    for binding in Binding.make_bindings(bindings):
        shown = chosen.get(binding.id or "", binding.key).split(",")
        actions = keys.setdefault(binding.tooltip or binding.description, {})
        actions.setdefault(binding.id or binding.action, []).extend(
            filter(None, map(key_name, shown))
        )
    for does, actions in keys.items():
        if does and any(actions.values()):
            yield KeyHelpLine(_said([[*dict.fromkeys(names)] for names in actions.values()]), does)


def _said(names: Sequence[Sequence[str]]) -> str:
    """Format the keys of one effect: the first keys of all actions, then the second ones."""
    if len(names) == 1:
        return ", ".join(names[0])
    ways = [filter(None, way) for way in zip_longest(*names)]
    return " or ".join(", ".join(_runs([*way])) for way in ways)


def _runs(names: Sequence[str]) -> Iterator[str]:
    """Combine consecutive numbered keys to a range."""
    run: list[str] = []
    for name in (*names, ""):
        if run and not _follows(run[-1], name):
            yield from [f"{run[0]} … {run[-1]}"] if len(run) >= _RUN else run
            run = []
        run.append(name)


def _follows(before: str, name: str) -> bool:
    one, other = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(name)
    return bool(one and other and one[1] == other[1] and int(one[2]) + 1 == int(other[2]))
