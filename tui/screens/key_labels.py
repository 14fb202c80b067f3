"""Labels of the keys in the line of keys of the chat screen, by what is on it."""

from collections.abc import Mapping, Sequence

import msgspec

from tui.domain.views.sidebar_rows import SessionRow, neighbour
from tui.screens.keys import CHAT_LINE
from tui.widgets.key_line import COPY_SELECTED

_USEFUL = {
    COPY_SELECTED: "Copy selected",
    **{row.id or "": row.description for row in CHAT_LINE if row.useful},
}
_STEPS = {"session-next": 1, "session-previous": -1}


class KeyContext(msgspec.Struct, frozen=True):
    """The context of the key line."""

    reading: bool = False
    """The conversation has the focus."""
    choosing: bool = False
    """The sidebar has the focus."""
    finding: bool = False
    """The find line is open."""
    asked: bool = False
    """A tool call waits for approval."""
    replying: bool = False
    """The approval panel has the focus."""
    answering: bool = False
    """An answer arrives."""
    writing: bool = False
    """The prompt has the focus."""
    completing: bool = False
    """The completion list is open."""
    listing: bool = False
    """There are to-dos."""
    useful: frozenset[str] = frozenset()
    """The ids of keys with the mark ``useful`` that have an effect now."""


def key_labels(context: KeyContext) -> Mapping[str, str]:
    """Labels that replace the descriptions of bindings in this context; empty hides a key."""
    places = {
        "conversation-focus": context.reading,
        "sidebar-focus": context.choosing,
        "find": context.finding,
        "approval-focus": context.replying or not context.asked,
    }
    return {
        **{key: "" for key, is_here in places.items() if is_here},
        **{key: words if key in context.useful else "" for key, words in _USEFUL.items()},
        "todos-fold": "To-dos" if context.listing else "",
        "stop": _way_out(context),
    }


def ways(rows: Sequence[SessionRow], session_id: str) -> frozenset[str]:
    """The ids of the keys that lead to another session."""
    found = {key: neighbour(rows, session_id, step) for key, step in _STEPS.items()}
    return frozenset(key for key, row in found.items() if row not in (None, session_id))


def _way_out(context: KeyContext) -> str:
    if context.finding or context.completing:
        return "Close"
    if context.asked:
        return "Deny"
    if context.answering:
        return "Stop"
    if context.writing:
        return "twice clears" if "prompt-clear" in context.useful else ""
    return "Prompt"
