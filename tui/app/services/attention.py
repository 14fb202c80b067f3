"""Alerts: the end of an answer, or a question, while the user looks elsewhere."""

import os
from collections.abc import Mapping

import msgspec

from tui.config.settings_schema import NotifySettings
from tui.domain.text import cut_to_cells
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.switching import Switcher
from tui.terminal import environment as attention
from tui.terminal.textual_private import AppBase

_TITLE_CELLS = 60


class Attention(msgspec.Struct, eq=False):
    """Rings the bell, notifies the desktop and changes the title, as far as each is set.

    A terminal that does not report its focus counts as focused.
    """

    _app: AppBase
    _switcher: Switcher
    _settings: NotifySettings
    _environment: Mapping[str, str] = os.environ
    _is_title_changed: bool = False

    def tell(self, session: LoadedSession, what: str) -> None:
        """Alert the user to an event in a session, unless it is in view."""
        if self._app.app_focus and session is self._switcher.current:
            return
        words = f'"{cut_to_cells(session.label(), _TITLE_CELLS)}" {what}'
        if self._settings.desktop:
            self._app.write_to_terminal(attention.notification(words, self._environment))
        if self._settings.title:
            sequence = attention.title(f"● {words}", self._environment)
            if sequence and not self._is_title_changed:
                self._is_title_changed = True
                sequence = attention.SAVE_TITLE + sequence
            self._app.write_to_terminal(sequence)
        if self._settings.bell:
            self._app.bell()

    def end(self) -> None:
        """Restore the title, as the terminal has the focus again."""
        if self._is_title_changed:
            self._is_title_changed = False
            self._app.write_to_terminal(attention.RESTORE_TITLE)
