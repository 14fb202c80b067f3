"""The user's own key bindings, checked against those of the program."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence

from textual.binding import Binding, BindingType
from textual.keys import KEY_TO_UNICODE_NAME, REPLACED_KEYS, Keys

from tui.errors import ConfigError

EVERYWHERE = "Everywhere"

Places = Mapping[str, Sequence[BindingType]]
"""Bindings by where they work, as the help lists them; those of ``EVERYWHERE`` work beside each.

One without an id is a key that stays as it is.
"""

_MODIFIERS = {"alt", "ctrl", "hyper", "meta", "shift", "super"}
_NAMED = {key.value.rpartition("+")[2] for key in Keys} - {"any", "ignore"}
_TYPED = {"backspace", "enter", "space", "tab"}
_LEADING_ON = {"enter", "tab"}
"""Keys without a meaning of their own in a line of text."""


def check_keymap(
    chosen: Mapping[str, str], places: Places, lines: Collection[str], source: str
) -> None:
    """Check keys by action, as the configuration and Textual have them: ``{"new": "f9", …}``.

    ``lines`` are the places where text is typed. Raises ``ConfigError`` for an action that is not
    known, an invalid key name, a key that is needed for typing text, and a key with two meanings in
    the same place.
    """
    if not chosen:
        return
    by_place = {where: list(Binding.make_bindings(places[where])) for where in places}
    actions = {each.id for bindings in by_place.values() for each in bindings if each.id}
    for action, keys in chosen.items():
        if action not in actions:
            known = ", ".join(sorted(actions))
            raise ConfigError(source, f"keys.{action}", f"unknown action; the actions are {known}")
        for key in _split(keys):
            _check_key(key, f"keys.{action}", source)
    everywhere = by_place.pop(EVERYWHERE)
    at_places = {each.id for bindings in by_place.values() for each in bindings}
    _check_typed([each for each in everywhere if each.id not in at_places], chosen, source)
    for where, bindings in by_place.items():
        if where in lines:
            _check_typed(bindings, chosen, source, _LEADING_ON)
    for bindings in (everywhere, *by_place.values()):
        together = [*everywhere, *bindings]
        by_key: dict[str, set[str]] = {}
        for action, key in _rebound(together, chosen):
            by_key.setdefault(key, set()).add(action)
        for action, key in sorted(_new(together, chosen)):
            if others := by_key[key] - {action}:
                words = f"{key} is the key of {min(others)} already"
                raise ConfigError(source, f"keys.{action}", words)


def _check_typed(
    bindings: Sequence[Binding],
    chosen: Mapping[str, str],
    source: str,
    free: Collection[str] = (),
) -> None:
    for action, key in sorted(_new(bindings, chosen)):
        is_typed = len(key) == 1 or key in {*_TYPED, *REPLACED_KEYS, *KEY_TO_UNICODE_NAME}
        if is_typed and key not in free:
            raise ConfigError(
                source,
                f"keys.{action}",
                f'expected a key that types nothing, such as "f9" or "alt+n": where {action} '
                f"works, {key} could not be typed any more",
            )


def _new(bindings: Sequence[Binding], chosen: Mapping[str, str]) -> set[tuple[str, str]]:
    """Actions with each key that they have not had before: what clashes there is no choice."""
    return {*_rebound(bindings, chosen)} - {*_rebound(bindings, {})}


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")]


def _rebound(bindings: Sequence[Binding], chosen: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Actions with each of their keys; what has no id is named by its description."""
    for binding in bindings:
        for key in _split(chosen.get(binding.id or "", binding.key)):
            yield binding.id or f'"{binding.description}"', _character_name(key)


def _check_key(key: str, action: str, source: str) -> None:
    *modifiers, name = key.split("+") if key != "+" else [key]
    expected = 'expected a key, such as "f9" or "alt+n"'
    known = name in _NAMED or name in REPLACED_KEYS or name in KEY_TO_UNICODE_NAME
    is_key = name.isprintable() if len(name) == 1 else known
    if not set(modifiers) <= _MODIFIERS or not is_key:
        raise ConfigError(source, action, f'{expected}, not "{key}"')
    if modifiers == ["shift"] and len(name) == 1:
        # No terminal sends it like that.
        instead = f'; write "{name.upper()}"' if name.isalpha() else ""
        raise ConfigError(source, action, f'{expected}, not "{key}"{instead}')


def _character_name(key: str) -> str:
    """A key of one character by its name, as bindings may have either."""
    if len(key) > 1 or key.isalnum():
        return key
    name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    shorter = {long: short for short, long in REPLACED_KEYS.items()}
    return shorter.get(name, name)
