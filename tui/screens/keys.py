"""The keys of the screen, wherever in it one is."""

from textual.binding import Binding, BindingType

_OF_ROWS = [
    Binding(
        f"alt+{place + 1}",
        f"go_to_row({place})",
        f"Session {place + 1} of the list",
        id=f"session-{place + 1}",
        priority=True,
        show=False,
    )
    for place in range(9)
]

KEYS: list[BindingType] = [
    Binding("alt+down", "walk(1)", "Next session", id="session-next", priority=True),
    Binding(
        "alt+up",
        "walk(-1)",
        "Previous session",
        id="session-previous",
        priority=True,
        show=False,
    ),
    *_OF_ROWS,
    Binding(
        "ctrl+r",
        "rename",
        "Rename this session",
        id="session-rename",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+b",
        "toggle_sidebar",
        "Show or hide the sidebar",
        id="sidebar-toggle",
        priority=True,
        show=False,
    ),
    Binding("f2", "focus_sidebar", "Sessions", id="sidebar-focus", priority=True),
    Binding("ctrl+g", "find", "Find in this conversation", id="find", priority=True),
    Binding("slash", "find('here')", id="find-here", show=False, priority=True),
    Binding("ctrl+t", "fold_todos", "All to-dos", id="todos-fold", priority=True, show=False),
    Binding("f3", "answer_question", "Answer", id="approval-focus", priority=True),
    Binding("f6", "read", "Conversation", id="conversation-focus", priority=True, show=False),
    # The prompt leaves them alone while it shows all of its text.
    Binding("pageup", "page(-1)", "Page up in the conversation", id="page-up", show=False),
    Binding("pagedown", "page(1)", "Page down in the conversation", id="page-down", show=False),
    Binding("escape", "stop_or_go_to_prompt", "Stop", id="stop", show=False),
]
