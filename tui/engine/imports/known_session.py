"""An imported session as it is: what of it must be known to add to it."""

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    NO_SUMMARY,
    Partial,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.todo import TodoItem
from tui.engine.imports.ids import IMPORTED
from tui.engine.imports.session_tree import SessionTree
from tui.engine.imports.wording import wording
from tui.importers.stopping import checked
from tui.storage.protocol import SessionReader


class KnownSession(msgspec.Struct):
    """A session that is added to, without the texts of its messages."""

    tree: SessionTree = msgspec.field(default_factory=SessionTree)
    name: str = ""
    model: str = ""
    todos: tuple[TodoItem, ...] = ()
    summaries: list[Summary] = msgspec.field(default_factory=list[Summary])
    """In the order of the journal; also those that say that none counts."""
    last: Message | None = None
    has_settings: bool = False
    is_own: bool = False
    """True if it was continued here: it has a message that was not imported."""

    @classmethod
    def read(cls, store: SessionReader, session_id: str) -> "KnownSession":
        """Read a session. Raises ``SessionNotFound``, ``SessionDamaged``."""
        known = cls()
        for record in checked(store.records(session_id)):
            match record:
                case SessionHeader():
                    known.model = record.model
                case Message():
                    known.add(record)
                case Summary():
                    known.summaries.append(record)
                case Todos():
                    known.todos = record.items
                case Settings():
                    known.has_settings = True
                case State():
                    known.name, known.model = record.name, record.model or known.model
                case Partial() | Reset():
                    known.is_own = True
                case _:
                    pass
        return known

    def add(self, message: Message) -> None:
        """Add the next message of the journal."""
        self.is_own = self.is_own or not message.id.startswith(IMPORTED)
        parent = self.tree.last if message.after is None else message.after
        known = parent if not parent or parent in self.tree else self.tree.last
        is_prompt = message.role == "user"
        self.tree.add(message.id, known, wording(message), is_prompt=is_prompt)
        if message.id == self.tree.last:
            self.last = message

    def summary_to_repeat(self) -> Summary | None:
        """The summary to write again, so that the last one of the journal counts."""
        live = (each for each in reversed(self.summaries) if self.tree.is_live(each.through))
        counts = next((each for each in live if each.through), NO_SUMMARY)
        last = self.summaries[-1] if self.summaries else NO_SUMMARY
        return None if counts == last else counts
