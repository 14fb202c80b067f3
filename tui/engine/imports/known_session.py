"""An imported session as it is: what of it must be known to add to it."""

from array import array

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
from tui.engine.imports.wording import wording
from tui.importers.stopping import checked
from tui.storage.protocol import SessionReader


class SessionTree:
    """What each message follows, and a number for what it says; small enough for any session.

    They are in the order of the journal.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {"": 0}
        self._parents = array("q", [0])
        self._depths = array("q", [0])
        self._wordings = array("q", [0])
        self.last = ""
        """The id of the message that was added last: the end of what is live."""
        self.prompts = 0

    def __contains__(self, message_id: str) -> bool:
        return message_id != "" and message_id in self._places

    def __len__(self) -> int:
        return len(self._places) - 1

    @property
    def live(self) -> int:
        """The number of messages from the beginning to the last one."""
        return self._depths[self._places[self.last]]

    def add(self, message_id: str, parent: str, wording: int, *, is_prompt: bool) -> None:
        """Add a message after one that is known, or after none (``""``).

        One that was added before gets another wording and stays in its place.
        """
        if message_id in self._places:
            self._wordings[self._places[message_id]] = wording
            return
        place = self._places[parent]
        self._places[message_id] = len(self._parents)
        self._parents.append(place)
        self._depths.append(self._depths[place] + 1)
        self._wordings.append(wording)
        self.last = message_id
        self.prompts += is_prompt

    def is_live(self, message_id: str) -> bool:
        """Tell whether the last message follows a message, directly or not, or is it."""
        place = self._places.get(message_id)
        if place is None:
            return False
        at = self._places[self.last]
        while self._depths[at] > self._depths[place]:
            at = self._parents[at]
        return at == place

    def says(self, message_id: str, wording: int) -> bool:
        """Tell whether a message is there and has this wording."""
        place = self._places.get(message_id)
        return place is not None and self._wordings[place] == wording

    def follows(self, message_id: str, parent: str) -> bool:
        """Tell whether a message is there and follows another one directly."""
        place = self._places.get(message_id)
        return place is not None and self._parents[place] == self._places.get(parent)

    def wordings(self) -> set[int]:
        """The wordings of all messages."""
        return set(self._wordings)


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
