"""The titles of sessions, where a user of the screen would read ids."""

import re

from tui.domain.text.patterns import late_pattern
from tui.engine.library.session_pages import SessionPager
from tui.engine.sessions.workspace import Workspace

_NAMED_BY_ID = late_pattern(r"\b[Ss]ession ([A-Za-z0-9](?:[\w.-]*\w)?)")


class SessionTitles:
    """Knows the titles of open and listed sessions.

    The words of an error name an id, which the command line can copy and needs.
    """

    def __init__(self, workspace: Workspace, pages: SessionPager) -> None:
        self._workspace = workspace
        self._pages = pages

    def named(self, text: str) -> str:
        """Replace ``Session ID`` and ``session ID`` by the title, as far as it is known."""
        return _NAMED_BY_ID.sub(self._title, text)

    def _title(self, found: re.Match[str]) -> str:
        session_id = found[1]
        loaded = self._workspace.switcher.find(session_id)
        if loaded is not None:
            return f'"{loaded.label()}"'
        labels = (entry.label for entry in self._pages.entries if entry.id == session_id)
        label = next(labels, "")
        return f'"{label}"' if label else found[0]
