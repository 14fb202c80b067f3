"""Closed sessions go to the trash, one by one or all of them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from tui.domain.moves import Batch
from tui.engine.sessions.workspace import Workspace
from tui.errors import NewerVersion, SessionBusy, SessionNotFound, StorageError, UsageError
from tui.storage.protocol import SessionStore


class Cleared(msgspec.Struct, frozen=True):
    """The sessions that went to the trash, and the failure that kept others from it.

    ``left`` is the one of them that was on screen.
    """

    ids: tuple[str, ...]
    failure: str = ""
    left: str | None = None


def check_closed_here(workspace: Workspace, session_id: str) -> None:
    """Raise ``UsageError`` if this program has a session open."""
    known = workspace.switcher.find(session_id)
    if known is not None and known.opened is not None:
        raise UsageError(f"Session {session_id} is open here. Close it first.")


async def clear_closed(
    workspace: Workspace, store: SessionStore, ids: Sequence[str], batch: Batch
) -> Cleared:
    """Move sessions to the trash, except those that were opened or moved meanwhile."""
    viewed = workspace.current.id
    others = [session_id for session_id in ids if session_id != viewed]
    cleared = await asyncio.to_thread(_clear, store, others, batch)
    if viewed not in ids:
        return cleared

    async def delete() -> None:
        await asyncio.to_thread(store.delete, viewed, batch)

    try:
        check_closed_here(workspace, viewed)
        await workspace.leave_current(delete)
    except (SessionBusy, SessionNotFound, UsageError):
        return cleared
    except StorageError as error:
        return Cleared(cleared.ids, cleared.failure or str(error))
    return Cleared((*cleared.ids, viewed), cleared.failure, left=viewed)


def _clear(store: SessionStore, ids: Sequence[str], batch: Batch) -> Cleared:
    gone: list[str] = []
    failures: list[str] = []
    for session_id in ids:
        try:
            _delete(store, session_id, batch)
        except (SessionBusy, SessionNotFound):
            continue
        except StorageError as error:
            # One that cannot be moved keeps no other in the list.
            failures.append(str(error))
            continue
        gone.append(session_id)
    return Cleared(tuple(gone), failures[0] if failures else "")


def _delete(store: SessionStore, session_id: str, batch: Batch) -> None:
    lease = None
    with suppress(NewerVersion):
        # A lease of its own: one that was opened here since it was asked for stays.
        lease = store.lease(session_id)
    try:
        store.delete(session_id, batch)
    finally:
        if lease is not None:
            lease.release()
