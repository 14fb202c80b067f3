"""How the screen looks: the theme that was chosen, and what the configuration says of looks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from textual.app import App

from tui.app.keymap import Places, checked_keymap
from tui.app.services.ui_state import UiStateService
from tui.errors import ConfigError, UsageError


class Appearance(msgspec.Struct, frozen=True):
    """What the configuration says; ``source`` is its file, for what is wrong in it."""

    theme: str | None = None
    reduced_motion: bool = False
    keys: Mapping[str, str] = {}
    source: str = "config.toml"


class ThemeSwitcher:
    """The themes there are, and the one that is shown."""

    def __init__(self, app: App[Any], remembered: UiStateService, configured: str | None) -> None:
        self._app = app
        self._remembered = remembered
        self._configured = configured

    def names(self) -> Sequence[str]:
        """All of them, in order."""
        return sorted(self._app.available_themes)

    @property
    def current(self) -> str:
        return self._app.theme

    def begin(self) -> None:
        """Show the theme that was chosen, else the configuration's, if they are there."""
        state = self._remembered.state
        # Whoever writes another one into the configuration wants to see that.
        chosen = state.theme if state.theme_over == self._configured else None
        for theme in (chosen, self._configured):
            if theme in self._app.available_themes:
                self._app.theme = theme
                return

    def choose(self, name: str) -> None:
        """Show another theme, now and after the next start. Raises ``UsageError``."""
        if name not in self._app.available_themes:
            raise UsageError(f"Unknown theme: {name}")
        self._app.theme = name
        self._remembered.note(theme=name, theme_over=self._configured)


def dress(
    app: App[Any],
    themes: ThemeSwitcher,
    appearance: Appearance,
    places: Places,
    lines: Collection[str],
) -> None:
    """Let an application look as the configuration says. Raises ``ConfigError``.

    ``places`` and ``lines`` are the keys there are, and where text is typed.
    """
    if appearance.theme is not None and appearance.theme not in themes.names():
        known = ", ".join(themes.names())
        raise ConfigError(appearance.source, "theme", f"unknown theme; there are {known}")
    themes.begin()
    if appearance.reduced_motion:
        app.animation_level = "none"
    if appearance.keys:
        app.set_keymap(checked_keymap(appearance.keys, places, lines, appearance.source))
