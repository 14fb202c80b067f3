"""Ids of the sessions of conversations, also of those that have none in their program."""

from collections.abc import Iterable, Iterator
from itertools import count

from tui.domain.journal.message import Message
from tui.engine.imports.ids import IMPORTED, imported_message_id, imported_session_id
from tui.errors import SessionNotFound
from tui.importers.protocol import Heading
from tui.storage.protocol import SessionReader


class SessionIds:
    """Makes the ids for one program; those that begin alike and go on differently have others."""

    def __init__(self, store: SessionReader, program: str) -> None:
        self._store = store
        self._program = program
        self._planned: dict[str, list[str]] = {}
        """The first messages of sessions that are not there yet."""

    def of(self, heading: Heading) -> str:
        """The id of the session of a conversation. Raises ``SessionDamaged``."""
        new = [imported_message_id(self._program, each) for each in heading.beginning]
        candidates = self._candidates(heading.root or heading.source_id)
        return next(each for each in candidates if not new or self._begins_alike(each, new))

    def _candidates(self, root: str) -> Iterator[str]:
        yield imported_session_id(self._program, root)
        for number in count(2):
            yield imported_session_id(self._program, f"{root}~{number}")

    def _begins_alike(self, session_id: str, new: list[str]) -> bool:
        """Tell whether the messages of a session begin with the new ones, or they with these."""
        try:
            known = self._first_messages(session_id)
            return all(one == other for one, other in zip(known, new, strict=False))
        except SessionNotFound:
            planned = self._planned.setdefault(session_id, new)
            return all(one == other for one, other in zip(planned, new, strict=False))

    def _first_messages(self, session_id: str) -> Iterable[str]:
        for record in self._store.records(session_id):
            if isinstance(record, Message) and record.id.startswith(IMPORTED):
                yield record.id
