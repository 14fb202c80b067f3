"""Calls whose answer was lost: a repeated one is neither made twice nor refused as made already."""

import uuid
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.errors import ServerUnreachable, StorageError
from tui.storage.postgres.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from psycopg import Connection

IsMade = Callable[["Connection", Sequence[str]], bool]
"""Asks the server if one of several attempts at a call was made."""
_NAMED = """
    select from sessions
    where id = %(id)s and (last_append = any(%(ids)s::uuid[]) or last_move = any(%(ids)s::uuid[]))
"""


class Attempts:
    """The attempts of one program at calls that the server has never answered."""

    def __init__(self, database: ConnectionPool) -> None:
        self._database = database
        self._unanswered: dict[Hashable, tuple[str, ...]] = {}

    def once(self, call: Hashable, make: Callable[[str], None], is_made: IsMade) -> None:
        """Make a call under the id of a new attempt, unless an earlier one was made.

        Raises as ``make``.
        """
        if self._was_made(call, is_made):
            del self._unanswered[call]
            return
        attempt = str(uuid.uuid4())
        try:
            make(attempt)
        except StorageError as error:
            if isinstance(error, ServerUnreachable):
                self._unanswered[call] = (*self._unanswered.get(call, ()), attempt)
            # An earlier one may have come only now.
            if not self._was_made(call, is_made):
                raise
        self._unanswered.pop(call, None)

    def _was_made(self, call: Hashable, is_made: IsMade) -> bool:
        attempts = self._unanswered.get(call)
        if attempts is None:
            return False
        with suppress(StorageError), self._database.connection() as connection:
            return is_made(connection, attempts)
        return False


def is_named(connection: "Connection", session_id: str, attempts: Sequence[str]) -> bool:
    """Tell whether the last append or move of a session is one of several attempts."""
    wanted = {"id": session_id, "ids": list(attempts)}
    return connection.execute(_NAMED, wanted).fetchone() is not None
