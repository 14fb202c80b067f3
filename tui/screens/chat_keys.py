"""The keys of the chat screen and of its parts.

The description of each is what the line of keys says, its ``tooltip`` what the help and the palette
say. Whatever has an ``id`` can be given another key in the configuration, under ``[keys]``.
"""

from collections.abc import Mapping, Sequence

import msgspec
from textual.binding import Binding, BindingType

from tui.domain.views.sidebar_rows import SessionRow, neighbour
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
    "sidebar-focus",
    "search",
    "quit",
    "palette",
    "find",
    "conversation-focus",
    "session-next",
    "session-previous",
    "todos-fold",
    "stop",
    "help",
)
"""In which order the line of keys has those that work everywhere."""

ALWAYS = frozenset(
    {"stop", "help", "find-line-close", "sidebar-clear", "rename-leave", "approval-deny"}
)
"""What the line of keys has room for in any case: the way out, and where the rest is found."""


AT_TIMES = {
    COPY_SELECTED: "Copy selected",
    "conversation-copy-code": "Copy code",
    "conversation-fold": "Fold",
    "conversation-open-link": "Link",
    "find-next": "Next match",
    "prompt-complete": "Complete",
    "prompt-unfold": "Show paste",
    "session-next": "Next session",
    "session-previous": "Previous session",
}
"""Names of the keys that the line shows only while they have something to do."""


_STEPS = {"session-next": 1, "session-previous": -1}


class Standing(msgspec.Struct, frozen=True):
    """Where one is, as far as keys do something else there."""

    reading: bool = False
    choosing: bool = False
    finding: bool = False
    asked: bool = False
    replying: bool = False
    answering: bool = False
    writing: bool = False
    completing: bool = False
    listing: bool = False
    useful: frozenset[str] = frozenset()
    """Which of the keys have something to do that have it only now and then."""


def words_here(standing: Standing) -> Mapping[str, str]:
    """What the line of keys says of actions that do here what their descriptions do not say."""
    places = {
        "conversation-focus": standing.reading,
        "sidebar-focus": standing.choosing,
        "find": standing.finding,
        "approval-focus": standing.replying or not standing.asked,
    }
    return {
        **{key: "" for key, is_here in places.items() if is_here},
        **{key: words if key in standing.useful else "" for key, words in AT_TIMES.items()},
        "todos-fold": "To-dos" if standing.listing else "",
        "stop": _way_out(standing),
    }


def ways(rows: Sequence[SessionRow], session_id: str) -> frozenset[str]:
    """The keys that lead from a session to another one."""
    found = {key: neighbour(rows, session_id, step) for key, step in _STEPS.items()}
    return frozenset(key for key, row in found.items() if row not in (None, session_id))


def _way_out(standing: Standing) -> str:
    if standing.finding or standing.completing:
        return "Close"
    if standing.asked:
        return "Deny"
    if standing.answering:
        return "Stop"
    return "" if standing.writing else "Prompt"


_ROW_KEYS = [
    Binding(
        f"alt+{place + 1}",
        f"go_to_row({place})",
        f"Session {place + 1}",
        id=f"session-{place + 1}",
        tooltip="One of the first sessions of the list",
        priority=True,
        show=False,
    )
    for place in range(9)
]

BINDINGS: list[BindingType] = [
    Binding(
        "f2",
        "focus_sidebar",
        "Sessions",
        id="sidebar-focus",
        tooltip="Go to the list of sessions, and back",
        priority=True,
    ),
    Binding(
        "alt+down",
        "walk(1)",
        "Next session",
        id="session-next",
        tooltip="The session below, above",
        priority=True,
    ),
    Binding(
        "alt+up",
        "walk(-1)",
        "Previous session",
        id="session-previous",
        tooltip="The session below, above",
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
        "toggle_sidebar",
        "Sidebar",
        id="sidebar-toggle",
        tooltip="Show or hide the sidebar",
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
        tooltip="Unfold the to-dos, or fold them",
        priority=True,
        show=False,
    ),
    Binding(
        "f3",
        "answer_question",
        "Answer",
        id="approval-focus",
        tooltip="Answer what a tool asks",
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
    # The prompt leaves them alone while it shows all of its text.
    Binding(
        "pageup",
        "page(-1)",
        "Page up",
        id="page-up",
        tooltip="A page up, down in the conversation",
        show=False,
    ),
    Binding(
        "pagedown",
        "page(1)",
        "Page down",
        id="page-down",
        tooltip="A page up, down in the conversation",
        show=False,
    ),
    # So does it with End while there is no text.
    Binding(
        "ctrl+end,end",
        "go_to_end",
        "Latest",
        id="end",
        tooltip="The end of the conversation",
    ),
    Binding(
        "escape",
        "stop_or_go_to_prompt",
        "Stop",
        id="stop",
        tooltip="Close what is on top, deny a tool, stop the answer or go to the prompt",
        show=False,
    ),
]

KEYS: dict[str, Sequence[BindingType]] = {
    "In the prompt": Prompt.KEYS,
    "In the conversation": (
        Binding("slash", "find", "Find", id="find-here", tooltip="Find in this conversation"),
        *Transcript.BINDINGS,
    ),
    "In the list of sessions": Sidebar.KEYS,
    "While filtering the list": Sidebar.FILTER_KEYS,
    "While renaming a session": Sidebar.RENAME_KEYS,
    "While finding": FindLine.BINDINGS,
    "While searching all sessions": SEARCH_KEYS,
    "While a tool waits for approval": ApprovalPanel.BINDINGS,
}
"""The keys of its parts, by where they work."""

LINES = frozenset(KEYS) - {
    "In the conversation",
    "In the list of sessions",
    "While a tool waits for approval",
}
"""Where text is typed, and a key may take no character away."""
