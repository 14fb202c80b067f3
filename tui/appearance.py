"""How the screen looks: the theme that was chosen, and what the configuration says of looks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from textual.app import App

from tui.errors import ConfigError, UsageError


class Appearance(msgspec.Struct, frozen=True):
    """What the configuration says; ``source`` is its file, for what is wrong in it.

    ``remembered`` is the theme that was chosen on the screen.
    """

    theme: str | None = None
    remembered: str | None = None
    reduced_motion: bool = False
    keys: Mapping[str, str] = {}
    source: str = "config.toml"


class Themes:
    """The themes there are, and the one that is shown."""

    def __init__(self, app: App[Any], remember: Callable[[str], None]) -> None:
        self._app = app
        self._remember = remember

    def begin(self, appearance: Appearance) -> None:
        """Show the theme that was chosen, else the configuration's.

        Raises ``ConfigError`` for one that the configuration names and that is not there.
        """
        named = appearance.theme
        if named is not None and named not in self.names():
            known = ", ".join(self.names())
            raise ConfigError(appearance.source, "theme", f"unknown theme; there are {known}")
        remembered = appearance.remembered
        # One that was chosen may have gone with another version of Textual.
        theme = remembered if remembered in self.names() else named
        if theme is not None:
            self._app.theme = theme

    def names(self) -> Sequence[str]:
        """All of them, in order."""
        return sorted(self._app.available_themes)

    @property
    def current(self) -> str:
        return self._app.theme

    def choose(self, name: str) -> None:
        """Show another theme, now and after the next start. Raises ``UsageError``."""
        if name not in self.names():
            raise UsageError(f"Unknown theme: {name}")
        self._app.theme = name
        self._remember(name)
