"""The keys of the rows in the sidebar."""

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding(
        "up,k",
        "move(-1)",
        "Up",
        id="sidebar-up",
        tooltip="Go to the row above or below",
        show=False,
        priority=True,
    ),
    Binding(
        "down,j",
        "move(1)",
        "Down",
        id="sidebar-down",
        tooltip="Go to the row above or below",
        show=False,
        priority=True,
    ),
    Binding(
        "pageup",
        "move_page(-1)",
        "Page up",
        id="sidebar-page-up",
        tooltip="Go a page up or down",
        show=False,
        priority=True,
    ),
    Binding(
        "pagedown",
        "move_page(1)",
        "Page down",
        id="sidebar-page-down",
        tooltip="Go a page up or down",
        show=False,
        priority=True,
    ),
    Binding(
        "home",
        "move_to_first",
        "First",
        id="sidebar-first",
        tooltip="Go to the first or last row",
        show=False,
        priority=True,
    ),
    Binding(
        "end",
        "move_to_last",
        "Last",
        id="sidebar-last",
        tooltip="Go to the first or last row",
        show=False,
        priority=True,
    ),
    Binding(
        "enter",
        "choose",
        "Open",
        id="sidebar-choose",
        tooltip="Open this session",
        priority=True,
    ),
    Binding(
        "left",
        "fold",
        "Fold the group",
        id="sidebar-fold",
        tooltip="Fold or unfold the group",
        show=False,
        priority=True,
    ),
    Binding(
        "right",
        "unfold",
        "Unfold the group",
        id="sidebar-unfold",
        tooltip="Fold or unfold the group",
        show=False,
        priority=True,
    ),
]
"""Keys that move the highlight."""

ACTION_KEYS = [
    Binding(
        "slash",
        "filter",
        "Filter",
        id="sidebar-filter",
        tooltip="Filter the sidebar",
        priority=True,
    ),
    Binding("n", "new", "New", id="sidebar-new", tooltip="New session", priority=True),
    Binding("r", "rename", "Rename", id="sidebar-rename", priority=True),
    Binding(
        "a",
        "archive",
        "Archive",
        id="sidebar-archive",
        tooltip="Archive this session",
        priority=True,
    ),
    Binding(
        "d",
        "delete",
        "Delete",
        id="sidebar-delete",
        tooltip="Move to the trash, after asking",
        priority=True,
    ),
    Binding(
        "x",
        "close",
        "Close",
        id="sidebar-close",
        tooltip="Close this session",
        priority=True,
        show=False,
    ),
    Binding(
        "p",
        "pin",
        "Pin",
        id="sidebar-pin",
        tooltip="Pin to the top, or unpin",
        priority=True,
    ),
    Binding(
        "u",
        "undo",
        "Undo",
        id="sidebar-undo",
        tooltip="Undo the last archive or delete",
        priority=True,
    ),
    Binding(
        "less_than_sign,ctrl+left",
        "widen(-2)",
        "Narrower",
        id="sidebar-narrower",
        tooltip="Make the sidebar narrower or wider",
        priority=True,
        show=False,
    ),
    Binding(
        "greater_than_sign,ctrl+right",
        "widen(2)",
        "Wider",
        id="sidebar-wider",
        tooltip="Make the sidebar narrower or wider",
        priority=True,
        show=False,
    ),
]
"""Keys that act on the highlighted session or the list, while the rows have the focus.

With priority: without it the keys typed quickly after one of them would overtake it.
"""

ROW_ACTIONS = frozenset(binding.action.partition("(")[0] for binding in ACTION_KEYS)
"""The actions of these keys; anywhere else the same keys type characters."""
