"""The appearance: themes and their contrast, the user's keys, and what the next run keeps."""

import asyncio
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.keys import KEY_TO_UNICODE_NAME, REPLACED_KEYS, Keys
from textual.theme import BUILTIN_THEMES

from tui.config.loading import UserSettings
from tui.errors import ConfigError, StorageError, UsageError
from tui.screens.keys import APP, CHAT, KEYS, LINES
from tui.storage import state_files
from tui.storage.state_files import UiState
from tui.terminal import colours
from tui.terminal.colours import contrast, luminance, palette_filters
from tui.terminal.environment import is_console

if TYPE_CHECKING:
    from textual.timer import Timer

KEEP_SECONDS = 0.5
"""The delay between the last change and the write."""


class UiStateService:
    """Reads the state of the screen at the start, writes changes soon after and at the end.

    Without a file nothing is kept; a file that cannot be written is no reason to say anything.
    """

    def __init__(self, app: App[Any], file: Path | None) -> None:
        self._app = app
        self._file = file
        self._timer: Timer | None = None
        self._changes: dict[str, str | int | None] = {}
        self.state = UiState() if file is None else state_files.read_ui_state(file)

    def note(self, **changes: str | int | None) -> None:
        """Remember fields of ``UiState``."""
        self._changes |= changes
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_timer(KEEP_SECONDS, self.keep)

    async def is_new(self, program: str) -> bool:
        """Remember the program's version; true if it is another one than before, and is kept."""
        if self._file is None or program == self.state.program:
            return False
        self.note(program=program)
        await self.keep()
        return (await asyncio.to_thread(state_files.read_ui_state, self._file)).program == program

    async def keep(self) -> None:
        """Write what was changed since it was last written."""
        changes, self._changes = self._changes, {}
        if changes and self._file is not None:
            with suppress(StorageError):
                await asyncio.to_thread(state_files.change_ui_state, self._file, changes)


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


LIGHT = "textual-light"
"""The theme on a light background; on a dark one it is Textual's own."""

ALL_KEYS: Places = {EVERYWHERE: (*APP, *CHAT), **KEYS}
"""All keys by where they act, for the help and the user's own keys."""


class Appearance(msgspec.Struct, frozen=True):
    """The configured appearance; ``source`` is the file, for error messages."""

    theme: str | None = None
    reduced_motion: bool = False
    keys: Mapping[str, str] = {}
    source: str = "config.toml"

    @classmethod
    def of(cls, settings: UserSettings) -> "Appearance":
        """The appearance that the settings have."""
        config = settings.config
        return cls(config.theme, config.reduced_motion, config.keys, str(settings.file))


class ThemeSwitcher(msgspec.Struct, eq=False):
    """Lists, applies and remembers themes."""

    _app: App[Any]
    _remembered: UiStateService
    _configured: str | None
    _is_decided: bool = False
    _asked_at: float = -inf

    def begin(self) -> None:
        """Apply the theme that the user chose, else the configured one, if it exists."""
        state = self._remembered.state
        # A changed configuration wins over an older choice.
        chosen = state.theme if state.theme_over == self._configured else None
        for theme in (chosen, self._configured):
            if theme in self._app.available_themes:
                self._app.theme, self._is_decided = theme, True
                return

    def ask(self, now: float) -> str:
        """Return the question for the terminal's background; empty if the theme is decided."""
        self._asked_at = now
        return "" if self._is_decided or is_console(os.environ) else colours.ASK

    def fit(self, answer: colours.BackgroundReported) -> None:
        """Fit the theme to the background, unless the user has one or the answer comes late."""
        in_time = answer.time - self._asked_at <= colours.SECONDS
        if answer.light and in_time and not self._is_decided:
            self._app.theme = LIGHT

    def choose(self, name: str) -> None:
        """Apply a theme, also after the next start. Raises ``UsageError``."""
        if name not in self._app.available_themes:
            raise UsageError(f"Unknown theme: {name}")
        self._app.theme, self._is_decided = name, True
        self._remembered.note(theme=name, theme_over=self._configured)

    def pick(self) -> None:
        """Open the list of themes; each is shown while it is highlighted."""
        from tui.screens.dialog import ThemePicker

        before, names = self._app.theme, sorted(self._app.available_themes)

        def end(place: int | None) -> None:
            if place is None:
                self._app.theme = before
            else:
                self.choose(names[place])

        preview = partial(setattr, self._app, "theme")
        self._app.push_screen(ThemePicker(names, before, preview), end)


def dress(app: App[Any], themes: ThemeSwitcher, appearance: Appearance) -> None:
    """Apply the configured appearance to an application. Raises ``ConfigError``."""
    check_appearance(appearance)
    themes.begin()
    if appearance.reduced_motion:
        app.animation_level = "none"
    if appearance.keys:
        app.set_keymap(dict(appearance.keys))


def check_appearance(appearance: Appearance) -> None:
    """Check the names of themes, actions and keys. Raises ``ConfigError``."""
    if appearance.theme is not None and appearance.theme not in BUILTIN_THEMES:
        known = ", ".join(sorted(BUILTIN_THEMES))
        raise ConfigError(appearance.source, "theme", f"unknown theme; the themes are {known}")
    check_keymap(appearance.keys, ALL_KEYS, LINES, appearance.source)


LEAST = 4.5
"""The contrast of text that WCAG 2 asks for."""

OF_CODE_LEAST = 5.5
"""That of code, which is read letter by letter; a violet of less is dim on black."""

OF_BORDER_LEAST = 3.0
"""That of what shows the focus, by WCAG 2 too."""

_GROUNDS = ("background", "surface", "panel")
_TEXTS = (
    "foreground",
    *(f"text-{name}" for name in ("primary", "secondary", "accent", "warning", "error", "success")),
)
_CURSORS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
)
OF_CODE = {"code-name": "primary", "code-string": "success", "code-number": "warning"}
"""The colours of names, strings and numbers: full ones, paled no more than they must be."""

KEYWORD = "code-keyword"
_OF_KEYWORDS, _ANSI_KEYWORD = ("accent", "secondary"), "ansi_magenta"
LEAST_TURN = 40 / 360
"""The least distance of a keyword's hue from theirs, as a part of the circle."""

CODE_GROUND = "code-ground"
"""The background of code: the next ground of a theme that is told from the conversation."""

_TOLD_FROM = 1.08

_ENDS = _BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)
_STEPS = 25
_AUTO = "auto"


class ThemeContrastApp(App[None]):
    """An application with legible colours, whatever its theme and its terminal."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the filter for a terminal of few colours."""
        filters = super().get_line_filters()
        if self.is_headless:
            return filters
        return [*filters, *palette_filters(self.console.color_system)]

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's variables with enough contrast."""
        return legible(super().get_css_variables())


def legible(variables: Mapping[str, str]) -> dict[str, str]:
    """A theme's variables; those of a terminal's own colours are left as they are."""
    made = dict(variables)
    made.update(_code(made))
    grounds = [Color.parse(made[name]) for name in _GROUNDS]
    if any(ground.ansi is not None or ground.a < 1 for ground in grounds):
        return made
    for name in _TEXTS:
        made[name] = _shifted(Color.parse(made[name]), grounds).hex
    made["border"] = _shifted(Color.parse(made["border"]), grounds, OF_BORDER_LEAST).hex
    made["text-muted"] = _muted(made["text-muted"], grounds)
    for text, ground in _CURSORS:
        made[text], made[ground] = _cursor(made[text], made[ground], grounds)
    return made


def hue_apart(one: Color, other: Color) -> float:
    """The way between two hues, of a circle: up to a half."""
    way = (one.hsl.h - other.hsl.h) % 1
    return min(way, 1 - way)


def _least(text: Color, grounds: Iterable[Color]) -> float:
    return min(contrast((ground + text).rgb, ground.rgb) for ground in grounds)


def _shifted(text: Color, grounds: Sequence[Color], least: float = LEAST) -> Color:
    """A text's colour, nearer to black or to white if it has to be."""
    end = max(_ENDS, key=lambda each: _least(each, grounds))
    shades = (text.blend(end, step / _STEPS, alpha=1) for step in range(_STEPS + 1))
    return next((shade for shade in shades if _least(shade, grounds) >= least), end)


def _code(made: Mapping[str, str]) -> dict[str, str]:
    """The colours of code, over the ground of a conversation."""
    if Color.parse(made["accent"]).ansi is not None:
        return {
            CODE_GROUND: made["surface"],
            **{name: made[own] for name, own in OF_CODE.items()},
            KEYWORD: _ANSI_KEYWORD,
        }
    colors = {name: Color.parse(made[own]) for name, own in OF_CODE.items()}
    colors[KEYWORD] = _keyword(made, list(colors.values()))
    background, *others = [Color.parse(made[name]) for name in _GROUNDS]
    told = (each for each in others if contrast(each.rgb, background.rgb) >= _TOLD_FROM)
    grounds = [Color.parse(made["background"]), next(told, others[-1])]
    legible = {name: _shifted(color, grounds, OF_CODE_LEAST) for name, color in colors.items()}
    return {CODE_GROUND: grounds[1].hex, **{name: color.hex for name, color in legible.items()}}


def _keyword(made: Mapping[str, str], beside: Sequence[Color]) -> Color:
    """A colour of the theme, or its accent turned to where no other colour of code is near.

    In many themes the accent is the orange of numbers.
    """
    for color in (Color.parse(made[name]) for name in _OF_KEYWORDS):
        if all(hue_apart(color, other) >= LEAST_TURN for other in beside):
            return color
    hues = sorted(color.hsl.h for color in (*beside, Color.parse(made["error"])))
    wide, begin = max((after - hue, hue) for hue, after in pairwise([*hues, hues[0] + 1]))
    _, saturation, lightness = Color.parse(made["accent"]).hsl
    return Color.from_hsl((begin + wide / 2) % 1, saturation, lightness)


def _muted(text: str, grounds: Sequence[Color]) -> str:
    """Find the share of black or white that is legible on each background."""
    if not text.startswith(_AUTO):
        return _shifted(Color.parse(text), grounds).hex
    for percent in range(_percent(text), 100):
        shades = ((ground.get_contrast_text(percent / 100), ground) for ground in grounds)
        if all(_least(shade, [ground]) >= LEAST for shade, ground in shades):
            return f"auto {percent}%"
    return text


def _percent(text: str) -> int:
    return int(text.removeprefix(_AUTO).strip(" %") or 100)


def _cursor(text: str, ground: str, grounds: Sequence[Color]) -> tuple[str, str]:
    """A highlighted row: its own ground moves a little, before its text becomes another."""
    over = [each + Color.parse(ground) for each in grounds]
    is_auto = text.startswith(_AUTO)
    color = over[0].get_contrast_text(_percent(text) / 100) if is_auto else Color.parse(text)
    if _least(color, over) >= LEAST:
        return text, ground
    if len(set(over)) == 1:
        away = _BLACK if luminance(color.rgb) > luminance(over[0].rgb) else _WHITE
        for step in range(1, _STEPS // 5):
            nearer = over[0].blend(away, step / _STEPS)
            if _least(color, [nearer]) >= LEAST:
                return text, nearer.hex
    own = (grounds[0], *_ENDS)
    return next((each.hex for each in own if _least(each, over) >= LEAST), text), ground
