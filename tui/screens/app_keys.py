"""Keys of the application, which work on every screen."""

from textual.binding import Binding, BindingType

from tui.widgets.key_names import NO_KEY

APP_KEYS: list[BindingType] = [
    Binding("ctrl+n", "invoke('new')", "New", id="new", tooltip="New session", priority=True),
    Binding(
        "ctrl+s",
        "invoke('save')",
        "Save",
        id="save",
        tooltip="Save now",
        priority=True,
        show=False,
    ),
    Binding(
        NO_KEY,
        "invoke('session', 'close')",
        "Close",
        id="close",
        tooltip="Close this session",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+f",
        "invoke('search-screen')",
        "Search",
        id="search",
        tooltip="Search all sessions",
        priority=True,
    ),
    Binding(
        "ctrl+p",
        "command_palette",
        "Commands",
        id="palette",
        tooltip="All commands, sessions and themes",
        priority=True,
    ),
    Binding(
        "f1",
        "invoke('help')",
        "Help",
        id="help",
        tooltip="All keys and commands",
        priority=True,
    ),
    Binding(
        "f4",
        "invoke('edit')",
        "Editor",
        id="edit",
        tooltip="Write the prompt in $EDITOR",
        priority=True,
        show=False,
    ),
    Binding(
        "f5",
        "invoke('connect')",
        "Connect",
        id="connect",
        tooltip="Connect a model",
        priority=True,
        show=False,
    ),
    Binding(
        "f7",
        "invoke('model')",
        "Model",
        id="model",
        tooltip="Choose a model",
        priority=True,
        show=False,
    ),
    Binding(
        "ctrl+q",
        "invoke('quit')",
        "Quit",
        id="quit",
        tooltip="Save everything and leave",
        priority=True,
    ),
]
