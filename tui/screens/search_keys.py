"""Keys of the search screen, in a module of their own for the help and the configuration."""

from textual.binding import Binding, BindingType

# With priority: the query line binds the same keys.
SEARCH_KEYS: list[BindingType] = [
    Binding("enter", "choose", "Go there", id="search-choose", priority=True),
    Binding(
        "down",
        "move(1)",
        "Next",
        id="search-next",
        tooltip="Go to the next or previous match",
        priority=True,
    ),
    Binding(
        "up",
        "move(-1)",
        "Previous",
        id="search-previous",
        tooltip="Go to the next or previous match",
        priority=True,
    ),
    Binding(
        "pagedown",
        "move_page(1)",
        "Page down",
        id="search-page-down",
        tooltip="Go a page up or down",
        priority=True,
        show=False,
    ),
    Binding(
        "pageup",
        "move_page(-1)",
        "Page up",
        id="search-page-up",
        tooltip="Go a page up or down",
        priority=True,
        show=False,
    ),
    Binding(
        "home",
        "move(-1000)",
        "First match",
        id="search-first",
        tooltip="Go to the first or last match",
        priority=True,
        show=False,
    ),
    Binding(
        "end",
        "move(1000)",
        "Last match",
        id="search-last",
        tooltip="Go to the first or last match",
        priority=True,
        show=False,
    ),
    Binding("escape", "dismiss", "Close", id="search-close", tooltip="Close", priority=True),
]

ORDER = ("search-choose", "search-next", "search-previous", "search-close")
"""The order in the key line."""
