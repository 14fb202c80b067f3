"""Keys of the application, which work on every screen."""

from textual.binding import Binding, BindingType

from tui.widgets.key_names import NO_KEY

APP_KEYS: list[BindingType] = [
    Binding(
        "ctrl+n", "invoke('new')", "New", id="new", tooltip="Start a new session", priority=True
    ),
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
        "f2",
        "invoke('sessions')",
        "Sessions",
        id="sessions",
        tooltip="Pick a session",
        priority=True,
    ),
    Binding(
        "ctrl+p",
        "command_palette",
        "Commands",
        id="palette",
        tooltip="Show all commands, sessions and themes",
        priority=True,
    ),
    Binding(
        "f1",
        "invoke('help')",
        "Help",
        id="help",
        tooltip="Show all keys and commands",
        priority=True,
    ),
    Binding(
        "f4",
        "invoke('editor')",
        "Editor",
        id="edit",
        tooltip="Edit in $EDITOR",
        priority=True,
        show=False,
    ),
    Binding(
        "alt+v",
        "invoke('paste')",
        "Paste picture",
        id="paste-picture",
        tooltip="Paste the picture in the clipboard",
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
        "f8",
        "invoke('notices')",
        "Notices",
        id="notices",
        tooltip="List the notices of this run",
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
