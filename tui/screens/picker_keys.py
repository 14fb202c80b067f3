"""Keys of the session picker, in a module of their own for the help and the configuration."""

from textual.binding import Binding, BindingType

# With priority: the filter binds some of the same keys.
PICKER_KEYS: list[BindingType] = [
    Binding("enter", "choose", "Open", id="picker-choose", priority=True),
    Binding(
        "down",
        "move(1)",
        "Next",
        id="picker-next",
        tooltip="Go to the next or previous session; then letters act on it",
        priority=True,
        show=False,
    ),
    Binding(
        "up",
        "move(-1)",
        "Previous",
        id="picker-previous",
        tooltip="Go to the next or previous session; then letters act on it",
        priority=True,
        show=False,
    ),
    Binding(
        "pagedown",
        "move_page(1)",
        "Page down",
        id="picker-page-down",
        tooltip="Go a page up or down",
        priority=True,
        show=False,
    ),
    Binding(
        "pageup",
        "move_page(-1)",
        "Page up",
        id="picker-page-up",
        tooltip="Go a page up or down",
        priority=True,
        show=False,
    ),
    Binding(
        "tab",
        "turn_view(1)",
        "View",
        id="picker-view-next",
        tooltip="Show all, closed, archived or trashed sessions",
        priority=True,
    ),
    Binding(
        "shift+tab",
        "turn_view(-1)",
        "Previous view",
        id="picker-view-previous",
        tooltip="Show all, closed, archived or trashed sessions",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+a",
        "toggle_project",
        "All projects",
        id="picker-project",
        tooltip="Show all projects, or only this one",
        priority=True,
    ),
    Binding("escape", "dismiss", "Close", id="picker-close", tooltip="Close", priority=True),
    # Without priority: in the filter they are text.
    Binding("p", "pin", "Pin", id="picker-pin", tooltip="Pin to the top, or unpin"),
    Binding(
        "b",
        "bring_back",
        "Restore",
        id="picker-bring-back",
        tooltip="Restore from the archive or the trash, and open",
    ),
    Binding("slash", "filter", "Filter", id="picker-filter", tooltip="Go back to the filter"),
    Binding(
        "home",
        "move(-1_000_000)",
        "First",
        id="picker-first",
        tooltip="Go to the first or last session",
        priority=True,
        show=False,
    ),
    Binding(
        "end",
        "move(1_000_000)",
        "Last",
        id="picker-last",
        tooltip="Go to the first or last session",
        priority=True,
        show=False,
    ),
]

ORDER = (
    "picker-choose",
    "picker-pin",
    "picker-bring-back",
    "picker-filter",
    "picker-view-next",
    "picker-project",
    "picker-close",
)
"""The order in the key line."""

ALWAYS = frozenset({"picker-close"})
"""Keys that the key line always shows: the way out."""
