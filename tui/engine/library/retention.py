"""Retention: archives old and excess sessions at the start, after ``/new``, and by hand."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from tui.config.settings_schema import RetentionSettings
from tui.domain.text import plural
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError
from tui.storage.protocol import SessionStore

if TYPE_CHECKING:
    from tui.storage.pruning import Reason, SetAside


class Pruned(msgspec.Struct, frozen=True):
    """The result of one run: the sessions archived by scope and reason, and the error met."""

    done: "tuple[SetAside, ...]" = ()
    failure: StorageError | None = None

    @property
    def count(self) -> int:
        return sum(len(each.sessions) for each in self.done)


class Retention(msgspec.Struct, eq=False):
    """Sets sessions aside as the configuration says; never one that is open, viewed or active.

    ``hook`` is the user's own program, called once a scope with the archived ids.
    """

    _store: SessionStore
    _settings: RetentionSettings
    _hook: Sequence[str]
    _clock: Callable[[], datetime]

    @property
    def limits_scopes(self) -> bool:
        """Tell whether a scope keeps only so many sessions."""
        return self._settings.backlog_limit > 0

    async def after_start(self, workspace: Workspace) -> Pruned:
        """Set aside what is too old anywhere, and what is too much in the current scope."""
        aged = await asyncio.to_thread(self._carried_out, workspace, "age")
        surplus = await self.after_new(workspace)
        return Pruned((*aged.done, *surplus.done), aged.failure or surplus.failure)

    async def after_new(self, workspace: Workspace) -> Pruned:
        """Set aside what is too much in the current scope; a new session counts."""
        return await asyncio.to_thread(self._carried_out, workspace, "backlog")

    async def tell_hook(self, pruned: Pruned) -> tuple[str, ...]:
        """Tell the user's own program what was archived; gives what went wrong, in sentences."""
        if not self._hook or self._settings.action != "archive":
            return ()
        return await asyncio.to_thread(self._told, pruned.done)

    async def tell_archived(self, scope: str, *session_ids: str) -> tuple[str, ...]:
        """The same of what the user archived."""
        if not self._hook:
            return ()
        from tui.storage.pruning import SetAside

        return await asyncio.to_thread(self._told, [SetAside(scope, session_ids, "user")])

    def words(self, pruned: Pruned) -> str:
        """Say in a line what was archived at the start."""
        days, kept = self._settings.max_age_days, self._settings.backlog_limit
        reasons = {each.reason for each in pruned.done if each.sessions}
        rules = [f"not used for {plural(days, 'day')}"] if "age" in reasons else []
        rules += [f"{kept} are kept per project"] if "backlog" in reasons else []
        sessions = plural(pruned.count, "older session")
        place = "archive" if self._settings.action == "archive" else "trash"
        them = "it" if pruned.count == 1 else "them"
        # Each rule makes a batch of its own.
        undo = "/undo twice" if len(rules) > 1 else "/undo"
        return f"{sessions} moved to the {place} ({'; '.join(rules)}). {undo} brings {them} back"

    def older(self, count: int) -> str:
        """The same of the older ones of a scope, as an aside."""
        if self._settings.action == "archive":
            return f"archived {count} older"
        return f"moved {count} older to the trash"

    # --- within, in a thread

    def _carried_out(self, workspace: Workspace, reason: "Reason") -> Pruned:
        from tui.storage.pruning import PartlySetAside, RetentionPolicy, prune_backlog, prune_by_age

        policy = msgspec.convert(self._settings, RetentionPolicy, from_attributes=True)
        kept = frozenset(each.id for each in (workspace.current, *workspace.open))
        scope = workspace.scope
        unwritten = sum(
            not each.published and not each.private and each.session.header.scope == scope
            for each in workspace.open
        )
        try:
            if reason == "age":
                return Pruned(prune_by_age(self._store, policy, self._clock(), kept))
            return Pruned(prune_backlog(self._store, policy, scope, kept, unwritten=unwritten))
        except PartlySetAside as error:
            return Pruned(error.done, error.reason)
        except StorageError as error:
            return Pruned(failure=error)

    def _told(self, done: "Iterable[SetAside]") -> tuple[str, ...]:
        from tui.storage.pruning import HookFailed, run_archive_hook

        failures: list[str] = []
        for each in done:
            try:
                run_archive_hook(self._hook, each)
            except HookFailed as error:
                failures.append(str(error))
        # A program that is not there is not there for every scope.
        return tuple(dict.fromkeys(failures))
