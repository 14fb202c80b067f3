"""Targets of commands: sessions by number, id, name or prefix."""

import asyncio
from collections.abc import Sequence

from tui.commands.context import CommandContext
from tui.domain.journal.session import Status
from tui.domain.targets import is_number, listed_number
from tui.domain.views.session_picker import PickerView
from tui.engine.library.picker_pages import PickerPages
from tui.errors import SessionBusy, SessionNotFound, UsageError
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter

_COUNTED = 100
"""Limit of the numbers that mean something before any list was shown."""
_DATE_DIGITS = range(8, 15)
"""The lengths of numbers that may begin the id of a session."""


async def resolve(
    context: CommandContext,
    target: str,
    wanted: frozenset[Status] = KEPT_OR_ARCHIVED,
    view: PickerView = "all",
    scope: str | None = None,
) -> str:
    """Resolve a target among sessions of the ``wanted`` states.

    Numbers count in the list shown last; without one, in that of ``view`` and ``scope``. Raises
    ``UsageError`` for a number beyond it, ``SessionNotFound`` and ``AmbiguousSession``.
    """
    workspace = context.workspace
    listed = await _listed(context, view, scope) if is_number(target) else ()
    try:
        return await asyncio.to_thread(
            workspace.reader.resolve,
            target,
            workspace.scope,
            listed=listed,
            wanted=SessionFilter(statuses=wanted),
        )
    except SessionNotFound as error:
        if is_number(target) and len(target) not in _DATE_DIGITS and not error.where:
            raise UsageError(_no_number(target, len(listed))) from error
        raise


async def resolve_number(context: CommandContext, number: str, view: PickerView) -> str:
    """Find the session that a number means, and no other. Raises ``UsageError``."""
    listed = await _listed(context, view, None)
    place = listed_number(number, listed)
    if place is None:
        raise UsageError(_no_number(number, len(listed)))
    return listed[place - 1]


async def check_holder(context: CommandContext, session_id: str) -> None:
    """Raise ``SessionBusy`` if another window has the lease of a session."""
    known = context.workspace.switcher.find(session_id)
    if known is not None and known.opened is not None:
        return
    holder = await asyncio.to_thread(context.workspace.reader.holder, session_id)
    if holder is not None:
        raise SessionBusy(session_id, str(holder))


async def _listed(context: CommandContext, view: PickerView, scope: str | None) -> Sequence[str]:
    if context.numbers.ids:
        return context.numbers.ids
    await context.workspace.switcher.settle()
    pages = PickerPages(context.workspace.reader, view, scope)
    await pages.read_more(_COUNTED)
    return [entry.id for entry in pages.entries[:_COUNTED]]


def _no_number(target: str, count: int) -> str:
    known = f" (1 to {count})" if count else ""
    return f"There is no number {target} in the last list{known}."
