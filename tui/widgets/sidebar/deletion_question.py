"""The question before a deletion, asked in the row of the session."""

import math
import time

from textual.events import Key, Paste


class DeletionQuestion:
    """Asks about one session; keys typed before the question is seen do not answer it."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        self._answers_from = math.inf

    @property
    def can_be_answered(self) -> bool:
        """True while the question is on screen."""
        return self._answers_from < math.inf

    def ask(self, session_id: str | None) -> None:
        """Ask about a session."""
        self.session_id = session_id

    def note_painted(self) -> None:
        """Take answers from now on."""
        if self.session_id is not None:
            self._answers_from = time.monotonic()

    def withdraw(self) -> bool:
        """Withdraw the question; true if there was one."""
        asked = self.session_id is not None
        self.session_id, self._answers_from = None, math.inf
        return asked

    def is_confirmed_by(self, event: Key | Paste) -> bool:
        """Tell if a key is Enter, pressed after the question was seen."""
        is_enter = isinstance(event, Key) and event.key == "enter"
        return is_enter and event.time >= self._answers_from
