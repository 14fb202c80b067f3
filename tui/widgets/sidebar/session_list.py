"""A list of sessions: the words of a row, and what the keys do to the highlighted session."""

import math
import time
from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal, TypeVar

from textual.events import Key, Paste
from textual.message import Message

from tui.domain.journal.records import is_private
from tui.domain.text import whole_label
from tui.domain.views.session_rows import Group, Mark, SessionRow
from tui.widgets import intents
from tui.widgets.cells import cut, fill, one_line
from tui.widgets.line_list import LineList

Part = Literal[
    "text", "current", "running", "unread", "unsaved", "read-only", "aside", "heading", "warning"
]
Piece = tuple[str, Part]

BAR = "▌"
SIGNS: dict[Mark, tuple[str, Part]] = {
    Mark.NONE: (" ", "text"),
    Mark.ASKING: ("?", "warning"),
    Mark.RUNNING: ("●", "running"),
    Mark.UNREAD: ("•", "unread"),
    Mark.UNSAVED: ("!", "unsaved"),
    Mark.READ_ONLY: ("⊘", "read-only"),
}
PIN = "▴"
PRIVATE = "◌"
"""Before the title of a session that is in memory only."""
_QUESTION = ' Delete "', '"? Enter'
_QUESTION_IN_TRASH = ' Bring back "', '"? Enter'


def question_pieces(row: SessionRow, width: int) -> Iterator[Piece]:
    """The question in place of a row; only the title is cut."""
    before, behind = _QUESTION_IN_TRASH if row.group is Group.TRASHED else _QUESTION
    title = cut(called(row), width - len(before) - len(behind))
    yield (fill(before + title + behind, width), "warning")


def called(row: SessionRow) -> str:
    """The title of a session in one line, uncut; a private one is marked."""
    title = one_line(whole_label(row.name, row.label))
    return f"{PRIVATE} {title}" if is_private(row.id) else title


NO_SESSIONS = "No sessions yet"
NO_SESSION = "This is a group. Right unfolds it"

Line = TypeVar("Line")


class SessionList(LineList[Line]):
    """Archives, deletes and pins the highlighted session.

    It asks in the session's row before it is deleted, or brought back from the trash.
    """

    _asked_about: str | None = None
    _answers_from = math.inf

    @property
    @abstractmethod
    def highlighted(self) -> SessionRow | None:
        """The highlighted session; ``None`` on a heading."""

    def row_for_key(self) -> SessionRow | None:
        """The session that a key acts on; without one, hint why."""
        row = self.highlighted
        if row is None:
            intents.hint(self, NO_SESSION if self.lines else NO_SESSIONS)
        return row

    def post(self, message: Message) -> None:
        """Post a message that bubbles, whichever widget has the key."""
        # One made while the parent acts on a key would not bubble beyond it.
        self.post_message(message.set_sender(self))

    # --- keys of whoever has the list

    def action_archive(self) -> None:
        if (row := self.row_for_key()) is not None:
            self.post(intents.CommandInvoked("archive", row.id))

    def action_pin(self) -> None:
        """Pin the highlighted session to the top, or take its pin away."""
        row = self.row_for_key()
        if row is None:
            return
        if not row.is_kept:
            intents.hint(self, "Archived and deleted sessions cannot be pinned")
            return
        self.post(intents.SessionPinned(row.id, not row.pinned))

    def action_undo(self) -> None:
        self.post(intents.CommandInvoked("undo"))

    def action_delete(self) -> None:
        """Ask whether to delete the highlighted session."""
        row = self.row_for_key()
        if row is not None and row.group is Group.TRASHED:
            intents.hint(self, "This session is already in the trash")
        elif row is not None:
            self.ask()

    # --- the question

    @property
    def can_be_answered(self) -> bool:
        """True while the question is on screen."""
        return self._answers_from < math.inf

    def ask(self) -> None:
        """Ask in the highlighted session's row."""

        def begin() -> None:
            if self._asked_about is not None:
                self._answers_from = time.monotonic()

        self._asked_about = self.highlighted.id if self.highlighted else None
        self.refresh()
        self.call_after_refresh(begin)

    def take_question_back(self) -> None:
        """Withdraw the question."""
        if self._asked_about is not None:
            self._asked_about, self._answers_from = None, math.inf
            self.refresh()

    def takes_key(self, event: Key | Paste) -> bool:
        """Answer the question: yes with Enter, no with any other; a paste is not taken."""
        if self._asked_about is None:
            return False
        row = self.highlighted
        # Not by a key from before the question was seen.
        if isinstance(event, Key) and event.key == "enter" and event.time >= self._answers_from:
            if row is not None and row.group is Group.TRASHED:
                self.post(intents.CommandInvoked("restore", self._asked_about))
            else:
                self.post(intents.DeletionConfirmed(self._asked_about))
        self.take_question_back()
        return isinstance(event, Key)

    def on_blur(self) -> None:
        self.take_question_back()

    def highlight_place(self, place: int) -> None:
        super().highlight_place(place)
        self.keep_question()
        self.ask_for_more()

    def keep_question(self) -> None:
        """Withdraw the question unless its session is still highlighted."""
        if self._asked_about != (self.highlighted.id if self.highlighted else None):
            self.take_question_back()

    # --- more rows

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.ask_for_more()

    @property
    def nears_end(self) -> bool:
        """True if the last line is in view, or within a screen of it."""
        return bool(self.height) and len(self.lines) - self.scroll_offset.y <= 2 * self.height

    def ask_for_more(self) -> None:
        """Ask for more rows near the end."""
        if self.nears_end:
            self.post(intents.MoreWanted())
