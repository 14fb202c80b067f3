"""Themes, and the rest of the appearance that the configuration sets."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import msgspec
from textual.app import App
from textual.theme import BUILTIN_THEMES

from tui.app.keymap import EVERYWHERE, Places, check_keymap
from tui.app.services.ui_state import UiStateService
from tui.config.loading import UserSettings
from tui.errors import ConfigError, UsageError
from tui.screens.keys import APP, CHAT, KEYS, LINES
from tui.terminal import colours
from tui.terminal.environment import is_console

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

    def names(self) -> Sequence[str]:
        """List all themes in alphabetical order."""
        return sorted(self._app.available_themes)

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
        from tui.screens.list_dialog import ThemePicker

        before, names = self._app.theme, self.names()

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
