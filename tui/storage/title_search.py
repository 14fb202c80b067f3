"""Targets that are titles: the last kind, behind all that ``tui.domain.targets`` resolves."""

from collections.abc import Sequence

from tui.domain.targets import titled
from tui.domain.text.labels import local_minute, scope_name, whole_label
from tui.errors import AmbiguousSession, SessionNotFound
from tui.storage.protocol import FINDABLE, SessionFilter, SessionStore

_MOST_TITLES = 5000
"""The sessions used last, whose titles are compared."""
_DESCRIBED = 20


def resolve(
    store: SessionStore,
    target: str,
    scope: str,
    *,
    listed: Sequence[str] = (),
    wanted: SessionFilter | None = None,
) -> str:
    """Resolve a target as ``SessionStore.resolve``, or by the title that is shown.

    The candidates of an ``AmbiguousSession`` are described.
    """
    try:
        return store.resolve(target, scope, listed=listed, wanted=wanted)
    except AmbiguousSession as error:
        found = error.candidates
    except SessionNotFound as error:
        entries = () if error.where else store.list(wanted or FINDABLE, None, _MOST_TITLES).entries
        found = titled(target, ((each.id, whole_label(each.name, each.label)) for each in entries))
        if not found:
            raise
    if len(found) == 1:
        return found[0]
    described = {
        each.id: f"{each.label} · {scope_name(each.scope)} · {local_minute(each.last_used_at)}"
        for each in store.entries(found[:_DESCRIBED])
    }
    raise AmbiguousSession(target, found, described)
