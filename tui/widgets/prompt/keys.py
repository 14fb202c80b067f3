"""What keys do while one types, for the help: they are those of any text, and stay as they are."""

from textual.binding import Binding, BindingType

TYPING_KEYS: tuple[BindingType, ...] = tuple(
    Binding(keys, "type", description)
    for keys, description in (
        ("enter", "Send"),
        ("ctrl+j", "Break the line"),
        ("shift+enter", "The same, where the terminal tells it"),
        ("tab", "Complete a command and what it takes"),
        ("up", "Earlier prompts, from the first line"),
        ("up,backspace", "If empty: take a waiting prompt back"),
        ("delete", "If empty: drop all that wait"),
        ("ctrl+c", "Copy what is selected"),
        ("ctrl+z,ctrl+y", "Undo, redo"),
    )
)
