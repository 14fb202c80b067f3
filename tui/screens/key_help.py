"""Keys and what they do, read off their bindings, so that it is true."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import msgspec
from textual.binding import Binding, BindingType

from tui.widgets.key_names import key_name

_RUN = 3
"""As many numbered keys that follow each other are said as the first and the last."""
_NUMBERED = re.compile(r"(.*?)(\d+)")


class KeyHelpLine(msgspec.Struct, frozen=True):
    """What is typed, and what it does."""

    typed: str
    does: str


def key_lines(bindings: Sequence[BindingType], chosen: Mapping[str, str]) -> Iterator[KeyHelpLine]:
    """A line for each meaning; ``chosen`` are the user's own keys by the ids of bindings."""
    # A binding of several keys comes as several.
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
    """The keys of one meaning; of several that belong together all first ones, then all second."""
    if len(names) == 1:
        return ", ".join(names[0])
    ways = [filter(None, way) for way in zip_longest(*names)]
    return " or ".join(", ".join(_runs([*way])) for way in ways)


def _runs(names: Sequence[str]) -> Iterator[str]:
    """Keys, those that follow each other by number as one range."""
    run: list[str] = []
    for name in names:
        if run and not _follows(run[-1], name):
            yield from _range(run)
            run = []
        run.append(name)
    yield from _range(run)


def _follows(before: str, name: str) -> bool:
    one, other = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(name)
    return bool(one and other and one[1] == other[1] and int(one[2]) + 1 == int(other[2]))


def _range(run: Sequence[str]) -> Sequence[str]:
    return [f"{run[0]} … {run[-1]}"] if len(run) >= _RUN else run
