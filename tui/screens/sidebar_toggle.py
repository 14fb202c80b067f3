"""The sidebar's visibility: beside the conversation, or over it on a narrow screen."""

from typing import Any

from textual.screen import Screen

from tui.domain.views.status_line import SessionStatus
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar


class SidebarToggle:
    """Shows and hides the sidebar, and moves the focus between it and the prompt.

    On a wide screen it is there unless it was hidden; on a narrow one only while it is used.
    """

    def __init__(self, screen: Screen[Any], sidebar: Sidebar, prompt: Prompt) -> None:
        self._screen = screen
        self._sidebar = sidebar
        self._prompt = prompt

    @property
    def _is_narrow(self) -> bool:
        return self._screen.has_class("-narrow")

    @property
    def _class(self) -> str:
        return "-with-sidebar" if self._is_narrow else "-without-sidebar"

    def focus(self) -> None:
        """Go to the sidebar, or hide it from there."""
        if self._sidebar.choosing:
            self._screen.add_class("-without-sidebar")
            self.leave()
            return
        self._screen.remove_class("-without-sidebar")
        self._screen.set_class(self._is_narrow, "-with-sidebar")
        self._sidebar.focus()

    def leave(self) -> None:
        """Go to the prompt; on a narrow screen the sidebar goes."""
        self._screen.remove_class("-with-sidebar")
        self._prompt.focus()

    def rename(self, status: SessionStatus) -> None:
        """Rename a session in its row; a hidden sidebar is shown meanwhile."""
        if self._sidebar.renaming:
            return
        shown, before = self._class, self._screen.focused
        was_set = self._screen.has_class(shown)

        def go_back() -> None:
            self._screen.set_class(was_set, shown)
            self._screen.set_focus(before)

        self._screen.set_class(self._is_narrow, shown)
        self._sidebar.begin_renaming(status.session_id, status.name, status.label, go_back)
