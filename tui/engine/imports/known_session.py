"""An imported session as it is: its tree, and the wording of its messages."""

from array import array

from tui.domain.journal.blocks import Content
from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import Message, ToolCall
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
from tui.engine.imports.session_ids import IMPORTED
from tui.importers.stopping import checked
from tui.storage.protocol import SessionReader


def wording(message: Message) -> int:
    """Make a number of what a message says, which is the same only within one process."""
    if isinstance(message.content, str) and not message.tool_calls and not message.error:
        return hash(message.content)
    return hash(repr((message.content, message.tool_calls, message.error)))


def wording_json(message: Message) -> bytes:
    """Encode what a message says, the same in every process."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return journal_json((message.content, calls, message.error))


def extends(longer: Message, shorter: Message) -> bool:
    """Tell whether a message has every word of another one, and maybe more behind them."""
    count = len(shorter.tool_calls)
    return (
        _begins_with(longer.content, shorter.content)
        and len(longer.tool_calls) >= count
        and all(map(_is_call, longer.tool_calls, shorter.tool_calls))
        and shorter.error in (None, longer.error)
    )


def _begins_with(longer: Content, shorter: Content) -> bool:
    if not shorter:
        return True
    if isinstance(longer, str) and isinstance(shorter, str):
        return longer.startswith(shorter)
    if isinstance(longer, list) and isinstance(shorter, list):
        return longer[: len(shorter)] == shorter
    return False


def _is_call(longer: ToolCall, shorter: ToolCall) -> bool:
    """Tell whether a call is another one, whose arguments may still have been on their way."""
    if (longer.id, longer.name) != (shorter.id, shorter.name):
        return False
    return not shorter.arguments or longer.arguments == shorter.arguments


class KnownSession:
    """A session that is added to, without the texts of its messages.

    Of each there is what it follows, and a number for what it says, in the order of the journal;
    small enough for any session.
    """

    def __init__(self, session_id: str = "") -> None:
        self.id = session_id
        self.name = self.model = ""
        self.todos = tuple[TodoItem, ...]()
        self.summaries: list[Summary] = []
        """In the order of the journal; also those that say that none counts."""
        self.last: Message | None = None
        """The message that was added last: the end of what is live."""
        self.has_settings = False
        self.is_own = False
        """True if it was continued here: it has a message that was not imported."""
        self.prompts = 0
        self._places: dict[str, int] = {"": 0}
        self._parents = array("q", [0])
        self._depths = array("q", [0])
        self._wordings = array("q", [0])

    @classmethod
    def read(cls, store: SessionReader, session_id: str) -> "KnownSession":
        """Read a session. Raises ``SessionNotFound``, ``SessionDamaged``."""
        known = cls(session_id)
        for record in checked(store.journal(session_id).records()):
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

    def __contains__(self, message_id: str) -> bool:
        return message_id != "" and message_id in self._places

    def __len__(self) -> int:
        return len(self._places) - 1

    @property
    def last_id(self) -> str:
        """The id of the last message; ``""`` if there is none."""
        return self.last.id if self.last else ""

    @property
    def live(self) -> int:
        """The number of messages from the beginning to the last one."""
        return self._depths[self._places[self.last_id]]

    def add(self, message: Message) -> None:
        """Add the next message of the journal.

        One that was added before gets another wording and stays in its place.
        """
        self.is_own = self.is_own or not message.id.startswith(IMPORTED)
        if message.id in self._places:
            self._wordings[self._places[message.id]] = wording(message)
            self.last = message if message.id == self.last_id else self.last
            return
        parent = self.last_id if message.after is None else message.after
        place = self._places[parent if parent in self._places else self.last_id]
        self._places[message.id] = len(self._parents)
        self._parents.append(place)
        self._depths.append(self._depths[place] + 1)
        self._wordings.append(wording(message))
        self.last = message
        self.prompts += message.role == "user"

    def is_live(self, message_id: str) -> bool:
        """Tell whether the last message follows a message, directly or not, or is it."""
        place = self._places.get(message_id)
        if place is None:
            return False
        at = self._places[self.last_id]
        while self._depths[at] > self._depths[place]:
            at = self._parents[at]
        return at == place

    def says(self, message: Message) -> bool:
        """Tell whether a message is there and has this wording."""
        place = self._places.get(message.id)
        return place is not None and self._wordings[place] == wording(message)

    def follows(self, message_id: str, parent: str) -> bool:
        """Tell whether a message is there and follows another one directly."""
        place = self._places.get(message_id)
        return place is not None and self._parents[place] == self._places.get(parent)

    def wordings(self) -> set[int]:
        """The wordings of all messages."""
        return set(self._wordings)

    def summary_to_repeat(self) -> Summary | None:
        """The summary to write again, so that the last one of the journal counts."""
        live = (each for each in reversed(self.summaries) if self.is_live(each.through))
        counts = next((each for each in live if each.through), NO_SUMMARY)
        last = self.summaries[-1] if self.summaries else NO_SUMMARY
        return None if counts == last else counts
