"""Keys of the chat screen and its widgets, and the content of the key line.

The description of a binding is shown in the key line, its ``tooltip`` in the help. A binding with
an ``id`` can be changed in the configuration, under ``[keys]``.
"""

from collections.abc import Mapping, Sequence

import msgspec
from textual.binding import Binding, BindingType

from tui.domain.views.sidebar_rows import SessionRow, neighbour
from tui.screens.picker_keys import PICKER_KEYS
from tui.screens.search_keys import SEARCH_KEYS
from tui.widgets.approval_panel import ApprovalPanel
from tui.widgets.find_line import FindLine
from tui.widgets.key_line import COPY_SELECTED
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar
from tui.widgets.transcript import Transcript

ORDER = (
    "approval-focus",
    "end",
    "new",
    "sessions",
    "search",
    "quit",
    "palette",
    "conversation-focus",
    "find",
    "session-next",
    "session-previous",
    "todos-fold",
    "stop",
    "help",
)
"""The order in the key line of keys that work everywhere."""

ALWAYS = frozenset(
    {"stop", "help", "find-line-close", "sidebar-clear", "rename-leave", "approval-deny"}
)
"""Keys that the key line always shows: the way out, and the help."""


AT_TIMES = {
    COPY_SELECTED: "Copy selected",
    "conversation-ask-again": "Ask again",
    "conversation-copy-code": "Copy code",
    "conversation-edit": "Edit",
    "conversation-fold": "Fold",
    "conversation-open-link": "Open",
    "conversation-version-previous": "Versions",
    "find-next": "Next match",
    "prompt-complete": "Complete",
    "prompt-unfold": "Show paste",
    "session-next": "Next session",
    "session-previous": "Previous session",
}
"""Labels of keys that the key line shows only while they have an effect."""


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
    """The ids of ``AT_TIMES`` that have an effect now."""


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
        **{key: words if key in context.useful else "" for key, words in AT_TIMES.items()},
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


_ROW_KEYS = [
    Binding(
        f"alt+{place + 1}",
        f"go_to_row({place})",
        f"Session {place + 1}",
        id=f"session-{place + 1}",
        tooltip="Open one of the first sessions in the list",
        priority=True,
        show=False,
    )
    for place in range(9)
]

BINDINGS: list[BindingType] = [
    Binding(
        "alt+down",
        "walk(1)",
        "Next session",
        id="session-next",
        tooltip="Open the session below or above",
        priority=True,
    ),
    Binding(
        "alt+up",
        "walk(-1)",
        "Previous session",
        id="session-previous",
        tooltip="Open the session below or above",
        priority=True,
        show=False,
    ),
    *_ROW_KEYS,
    Binding(
        "ctrl+r",
        "rename",
        "Rename",
        id="session-rename",
        tooltip="Rename this session",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+b",
        "focus_sidebar",
        "Sidebar",
        id="sidebar-focus",
        tooltip="Go to the sidebar; from there, hide it",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+g", "find", "Find", id="find", tooltip="Find in this conversation", priority=True
    ),
    Binding("slash", "find('here')", id="find-here", show=False, priority=True),
    Binding(
        "ctrl+t",
        "fold_todos",
        "To-dos",
        id="todos-fold",
        tooltip="Unfold or fold the to-dos",
        priority=True,
        show=False,
    ),
    Binding(
        "f3",
        "answer_question",
        "Answer",
        id="approval-focus",
        tooltip="Answer the tool that waits for approval",
        priority=True,
    ),
    Binding(
        "f6",
        "read",
        "Read, copy",
        id="conversation-focus",
        tooltip="Go to the conversation, and back",
        priority=True,
    ),
    # The prompt does not use them while all of its text is visible.
    Binding(
        "pageup",
        "page(-1)",
        "Page up",
        id="page-up",
        tooltip="Scroll the conversation by a page",
        show=False,
    ),
    Binding(
        "pagedown",
        "page(1)",
        "Page down",
        id="page-down",
        tooltip="Scroll the conversation by a page",
        show=False,
    ),
    # The prompt does not use End while it is empty.
    Binding(
        "ctrl+end,end",
        "go_to_end",
        "Latest",
        id="end",
        tooltip="Go to the end of the conversation",
    ),
    Binding(
        "escape",
        "stop_or_go_to_prompt",
        "Stop",
        id="stop",
        tooltip="Close, deny a tool, stop the answer or go to the prompt",
        show=False,
    ),
]

KEYS: dict[str, Sequence[BindingType]] = {
    "In the prompt": Prompt.KEYS,
    "In the conversation": (
        Binding("slash", "find", "Find", id="find-here", tooltip="Find in this conversation"),
        *Transcript.BINDINGS,
    ),
    "In the sidebar": Sidebar.KEYS,
    "While filtering the sidebar": Sidebar.FILTER_KEYS,
    "While renaming a session": Sidebar.RENAME_KEYS,
    "While finding": FindLine.BINDINGS,
    "In the session picker": PICKER_KEYS,
    "While searching all sessions": SEARCH_KEYS,
    "While a tool waits for approval": ApprovalPanel.BINDINGS,
}
"""The keys of the widgets, by the heading of their section in the help."""

LINES = frozenset(KEYS) - {
    "In the conversation",
    "In the sidebar",
    "While a tool waits for approval",
}
"""The sections in which text is typed, so that no key may be a character."""
