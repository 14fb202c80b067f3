"""The live messages of a session that a model may be sent, read back only as far as they fit."""

from collections.abc import Sequence

from tui.domain.journal.message import Message
from tui.domain.journal.records import Record, Reset, Summary
from tui.domain.journal.session import Session
from tui.engine.requests.model_request import sendable
from tui.engine.requests.token_estimate import estimated_text_tokens
from tui.storage.journal import Journal

PAGE = 200


class HistoryWindow:
    """The newest live messages, in order; ``tokens`` is how far back they reach at least."""

    def __init__(self, messages: Sequence[Message], tokens: int, *, whole: bool) -> None:
        self._messages = list(messages)
        self._tokens = tokens
        self._whole = whole

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def reaches(self, tokens: int) -> bool:
        """Tell whether this is as much as a window of so many tokens takes, or all there is."""
        return self._whole or tokens <= self._tokens

    def take(self, record: Record) -> None:
        """Take what was added to the session."""
        match record:
            case Message():
                # It may be another writing of one that is there.
                for place, other in enumerate(self._messages):
                    if other.id == record.id:
                        self._messages[place] = record
                        return
                self._messages.append(record)
            case Summary(through=through):
                ids = [message.id for message in self._messages]
                if through in ids:
                    self._messages = self._messages[ids.index(through) + 1 :]
                    self._whole = True
            case Reset():
                self._messages, self._whole = [], True
            case _:
                pass


def context_of(session: Session) -> HistoryWindow | None:
    """Give the loaded messages, if they are all that is live."""
    whole = len(session.loaded_messages) == session.message_count
    return HistoryWindow(session.loaded_messages, 0, whole=True) if whole else None


def read_context(
    journal: Journal,
    summary: Summary | None,
    tokens: int,
    last: str | None = None,
) -> HistoryWindow:
    """Read back from the end until there are so many tokens, or all that is live.

    Pictures count as labels, which they are once there are many newer ones. With ``last``, as if
    that message were the end. Raises what ``Journal.tail`` and ``page`` raise.
    """
    tail = journal.tail(PAGE, last)
    messages, cursor = list(tail.session.loaded_messages), tail.cursor
    # Not by the count of messages: a ``state`` may have a wrong one.
    whole = _reaches_back_to(summary, messages)
    size = _tokens(messages)
    while not whole and cursor is not None and size < tokens:
        page = journal.page(cursor, PAGE)
        resets = [place for place, each in enumerate(page.entries, 1) if isinstance(each, Reset)]
        live, whole = page.entries[resets[-1] if resets else 0 :], bool(resets)
        earlier = [entry for entry in live if isinstance(entry, Message)]
        messages, cursor = [*earlier, *messages], page.cursor
        size += _tokens(earlier)
        whole = whole or _reaches_back_to(summary, earlier)
    return HistoryWindow(messages, tokens, whole=whole or cursor is None)


def _tokens(messages: Sequence[Message]) -> int:
    # Failed answers are never sent: earlier messages take their room.
    return sum(map(estimated_text_tokens, sendable(messages)))


def _reaches_back_to(summary: Summary | None, messages: Sequence[Message]) -> bool:
    return summary is not None and any(message.id == summary.through for message in messages)
