"""Ids of imported sessions and their records, made from those of their programs."""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice

from tui.domain.journal.message import Message
from tui.engine.imports.history import History
from tui.errors import SessionNotFound
from tui.importers.made_ids import COMPARED
from tui.importers.protocol import Heading

IMPORTED = "im-"
"""Begins the id of every imported message, and of no other."""
_SESSION_DIGITS = 12
_MESSAGE_DIGITS = 16


def imported_session_id(program: str, root: str) -> str:
    """Make the id of the session of a tree of messages."""
    return f"{program}-{_digits(program, root)[:_SESSION_DIGITS]}"


def fork_id(program: str, session_id: str) -> str:
    """Make the id of the fork of a session that was continued here."""
    return f"{program}-{_digits(program, session_id, 'fork')[:_SESSION_DIGITS]}"


def imported_message_id(program: str, source_id: str) -> str:
    """Make the id of a message."""
    return IMPORTED + _digits(program, source_id)[:_MESSAGE_DIGITS]


def version_id(message_id: str, parent: str, words: bytes) -> str:
    """Make the id of a version of a message: other words, or behind another message."""
    return IMPORTED + _digits(message_id, parent, words.decode())[:_MESSAGE_DIGITS]


def _digits(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def scope_of(program: str, heading: Heading) -> str:
    """The scope of a conversation; one of no project is listed under its program."""
    project = f"project:{heading.project_path}" if heading.project_path else ""
    return heading.scope or project or program


def beginning_ids(program: str, heading: Heading) -> list[str]:
    """The ids here of the first messages of a conversation, if it is known by them."""
    return [imported_message_id(program, each) for each in heading.beginning]


class SessionIds:
    """Chooses the ids; conversations that begin alike and go on differently get different ones."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._beginnings: dict[str, list[str]] = {}
        """The ids of the first messages of sessions: in the store, and found since."""

    def of(self, program: str, heading: Heading) -> str:
        """The id of the session of a conversation. Raises ``SessionDamaged``."""
        candidates = _candidates(program, heading.root or heading.source_id)
        new = beginning_ids(program, heading)
        usual = next(each for each in candidates if not new or self._begins_alike(each, new))
        return self._of_prompts(program, heading.source_id, usual) or usual

    def _of_prompts(self, program: str, source_id: str, usual: str) -> str:
        """The session that gives its place, as it has only the prompts; ``""`` if there is none."""
        rescue, history = imported_session_id(program, source_id), self._history
        if history.was_imported(usual) or not history.is_rescue(rescue):
            return ""
        is_here = history.is_whole(program, source_id) or not history.is_gone(rescue)
        return rescue if is_here else ""

    def _begins_alike(self, session_id: str, new: list[str]) -> bool:
        """Tell whether the messages of a session begin with the new ones, or they with these."""
        if session_id not in self._beginnings:
            self._beginnings[session_id] = self._first_messages(session_id)
        known = self._beginnings[session_id]
        if any(one != other for one, other in zip(known, new, strict=False)):
            return False
        self._beginnings[session_id] = max(known, new, key=len)
        return True

    def _first_messages(self, session_id: str) -> list[str]:
        with suppress(SessionNotFound):
            records = self._history.store.journal(session_id).records()
            messages = (each.id for each in records if isinstance(each, Message))
            return list(islice((each for each in messages if each.startswith(IMPORTED)), COMPARED))
        return list(self._history.beginning(session_id))


def _candidates(program: str, root: str) -> Iterator[str]:
    yield imported_session_id(program, root)
    for number in itertools.count(2):
        yield imported_session_id(program, f"{root}~{number}")
