"""Themes, and the rest of the appearance that the configuration sets."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from textual.app import App

from tui.app.keymap import Places, checked_keymap
from tui.app.services.ui_state import UiStateService
from tui.errors import ConfigError, UsageError


class Appearance(msgspec.Struct, frozen=True):
    """The configured appearance; ``source`` is the file, for error messages."""

    theme: str | None = None
    reduced_motion: bool = False
    keys: Mapping[str, str] = {}
    source: str = "config.toml"


class ThemeSwitcher:
    """Lists, applies and remembers themes."""

    def __init__(self, app: App[Any], remembered: UiStateService, configured: str | None) -> None:
        self._app = app
        self._remembered = remembered
        self._configured = configured

    def names(self) -> Sequence[str]:
        """List all themes in alphabetical order."""
        return sorted(self._app.available_themes)

    @property
    def current(self) -> str:
        return self._app.theme

    def begin(self) -> None:
        """Apply the theme that the user chose, else the configured one, if it exists."""
        state = self._remembered.state
        # A changed configuration wins over an older choice.
        chosen = state.theme if state.theme_over == self._configured else None
        for theme in (chosen, self._configured):
            if theme in self._app.available_themes:
                self._app.theme = theme
                return

    def choose(self, name: str) -> None:
        """Apply a theme, also after the next start. Raises ``UsageError``."""
        if name not in self._app.available_themes:
            raise UsageError(f"Unknown theme: {name}")
        self._app.theme = name
        self._remembered.note(theme=name, theme_over=self._configured)

    def pick(self) -> None:
        """Open the list of themes; each is shown while it is highlighted."""
        from tui.screens.theme_picker import ThemePicker

        before, names = self.current, self.names()

        def end(place: int | None) -> None:
            if place is None:
                self._app.theme = before
            else:
                self.choose(names[place])

        self._app.push_screen(ThemePicker(names, before, self._preview), end)

    def _preview(self, name: str) -> None:
        self._app.theme = name


def dress(
    app: App[Any],
    themes: ThemeSwitcher,
    appearance: Appearance,
    places: Places,
    lines: Collection[str],
) -> None:
    """Apply the configured appearance to an application. Raises ``ConfigError``.

    ``places`` are all keys by where they act, ``lines`` the places where text is typed.
    """
    if appearance.theme is not None and appearance.theme not in themes.names():
        known = ", ".join(themes.names())
        raise ConfigError(appearance.source, "theme", f"unknown theme; the themes are {known}")
    themes.begin()
    if appearance.reduced_motion:
        app.animation_level = "none"
    if appearance.keys:
        app.set_keymap(checked_keymap(appearance.keys, places, lines, appearance.source))
