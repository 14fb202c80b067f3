"""Retention: archives sessions that are old or beyond the limit, or moves them to the trash."""

import json
import subprocess
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from tui.domain.journal.session import SessionEntry
from tui.domain.moves import Batch
from tui.domain.timestamps import format_utc
from tui.errors import (
    NewerVersion,
    SessionBusy,
    SessionDamaged,
    SessionNotFound,
    SibylError,
    StorageError,
)
from tui.storage.json_lines import new_batch
from tui.storage.protocol import SessionFilter, SessionStore, every_entry

Reason = Literal["backlog", "age", "user"]
HOOK_SECONDS = 10


class RetentionPolicy(msgspec.Struct, frozen=True):
    """Limits of the list, in sessions a scope and days without use; 0 means no limit."""

    backlog_limit: int
    max_age_days: int
    action: Literal["archive", "trash"]


class SetAside(msgspec.Struct, frozen=True):
    """Sessions of one scope that were archived or trashed for one reason."""

    scope: str
    sessions: tuple[str, ...]
    reason: Reason


class PartlySetAside(StorageError):
    """Some sessions could not be moved; those in ``done`` were."""

    def __init__(self, reason: StorageError, done: tuple[SetAside, ...]) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.done = done


class HookFailed(SibylError):
    """The archive hook failed; the sessions stay archived."""


def prune_backlog(
    store: SessionStore,
    policy: RetentionPolicy,
    scope: str,
    keep: Collection[str] = (),
    *,
    unwritten: int = 0,
) -> tuple[SetAside, ...]:
    """Keep only the most recently used sessions of a scope.

    All kept sessions of the scope count, and ``unwritten`` open ones that are not on disk yet.
    Sessions that are open, active, pinned or in ``keep`` stay. Raises ``StorageError``, also
    ``PartlySetAside``.
    """
    if policy.backlog_limit == 0:
        return ()
    wanted = SessionFilter(scope=scope)
    room = policy.backlog_limit - unwritten
    if room <= 0:
        return _set_aside(store, policy, every_entry(store, wanted), keep, "backlog")
    cursor = store.list(wanted, None, room).cursor
    beyond = every_entry(store, wanted, cursor) if cursor is not None else ()
    return _set_aside(store, policy, beyond, keep, "backlog")


def prune_by_age(
    store: SessionStore, policy: RetentionPolicy, now: datetime, keep: Collection[str] = ()
) -> tuple[SetAside, ...]:
    """Move the sessions of every scope that were not used for ``max_age_days``.

    Raises ``StorageError``, also ``PartlySetAside``.
    """
    if policy.max_age_days == 0:
        return ()
    try:
        limit = format_utc(now - timedelta(days=policy.max_age_days))
    except OverflowError:
        # Before the year 1: nothing is older.
        return ()
    old = every_entry(store, SessionFilter(used_before=limit))
    return _set_aside(store, policy, old, keep, "age")


def run_archive_hook(command: Sequence[str], done: SetAside) -> None:
    """Run the user's command with the archived sessions as JSON. Raises ``HookFailed``."""
    told = {"scope": done.scope, "sessions": done.sessions, "reason": done.reason}
    try:
        subprocess.run(  # noqa: S603 - the user's own command, from the user's configuration
            command,
            input=json.dumps(told).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=HOOK_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise HookFailed(f"The archive hook took longer than {HOOK_SECONDS} s.") from error
    except subprocess.CalledProcessError as error:
        raise HookFailed(f"The archive hook failed with exit code {error.returncode}.") from error
    except (OSError, ValueError) as error:
        raise HookFailed(f"The archive hook could not be started: {error}") from error


def _set_aside(
    store: SessionStore,
    policy: RetentionPolicy,
    entries: Iterable[SessionEntry],
    keep: Collection[str],
    reason: Literal["backlog", "age"],
) -> tuple[SetAside, ...]:
    batch = new_batch(reason)
    moved: dict[str, list[str]] = {}
    failures: list[StorageError] = []
    undone: dict[str, str] | None = None
    for entry in entries:
        if entry.status == "open" or entry.active or entry.pinned or entry.id in keep:
            continue
        if undone is None:
            # What an undo has brought back, and when: it stays until it is used.
            moves = {move.id: move for move in store.moves()}.values()
            undone = {move.id: move.at for move in moves if move.reason == "undo"}
        if entry.last_used_at <= undone.get(entry.id, ""):
            continue
        try:
            if _moved(store, policy, entry.id, batch):
                moved.setdefault(entry.scope, []).append(entry.id)
        except StorageError as error:
            # Move the others all the same.
            failures.append(error)
    done = tuple(SetAside(scope, tuple(ids), reason) for scope, ids in moved.items())
    if failures:
        raise PartlySetAside(failures[0], done)
    return done


def _moved(store: SessionStore, policy: RetentionPolicy, session_id: str, batch: Batch) -> bool:
    move = store.archive if policy.action == "archive" else store.delete
    try:
        # Leased here: a session that this program has opened meanwhile stays.
        lease = store.lease(session_id)
    except (SessionBusy, SessionNotFound, SessionDamaged, NewerVersion):
        return False
    try:
        move(session_id, batch)
    except SessionNotFound:
        return False
    finally:
        lease.release()
    return True
