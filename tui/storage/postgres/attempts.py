"""Calls whose answer was lost: a repeated one is neither made twice nor refused as made already."""

import uuid
from collections.abc import Callable
from contextlib import suppress

from tui.errors import ServerUnreachable, StorageError
from tui.storage.postgres.connection_pool import ConnectionPool
from tui.storage.postgres.rows import row_of

PURGED = "purged"
_NAMED = """
    select from sessions
    where id = %(id)s and (last_append = any(%(ids)s::uuid[]) or last_move = any(%(ids)s::uuid[]))
"""


class Attempts:
    """The attempts of one program at calls that the server has never answered."""

    def __init__(self, database: ConnectionPool) -> None:
        self._database = database
        self._unanswered: dict[tuple[str, str], tuple[str, ...]] = {}

    def once(self, session_id: str, deed: str, make: Callable[[str], None]) -> None:
        """Do something to a session under the id of a new attempt, unless an earlier one did it.

        Raises as ``make``, which leaves the id in the session's row, unless it is ``PURGED``.
        """
        call = session_id, deed
        if self._was_made(*call):
            del self._unanswered[call]
            return
        attempt = str(uuid.uuid4())
        try:
            make(attempt)
        except StorageError as error:
            if isinstance(error, ServerUnreachable):
                self._unanswered[call] = (*self._unanswered.get(call, ()), attempt)
            # An earlier one may have come only now.
            if not self._was_made(*call):
                raise
        self._unanswered.pop(call, None)

    def _was_made(self, session_id: str, deed: str) -> bool:
        attempts = self._unanswered.get((session_id, deed))
        if attempts is None:
            return False
        with suppress(StorageError), self._database.connection() as connection:
            if deed == PURGED:
                return row_of(connection, session_id) is None
            wanted = {"id": session_id, "ids": list(attempts)}
            return connection.execute(_NAMED, wanted).fetchone() is not None
        return False
