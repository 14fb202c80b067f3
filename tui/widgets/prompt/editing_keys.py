"""The keys of the prompt's editor, and their descriptions for the help: they cannot be rebound."""

from collections.abc import Iterable
from dataclasses import replace

from textual.binding import Binding, BindingType

SHELL_KEYS: tuple[BindingType, ...] = tuple(
    Binding(keys, action, description, show=False)
    for keys, action, description in (
        ("ctrl+a", "line_start", "Go to the beginning of the line"),
        ("ctrl+e", "line_end", "Go to the end of the line"),
        ("alt+left", "cursor_word_left", "Go a word left"),
        ("alt+right", "cursor_word_right", "Go a word right"),
        ("alt+d,ctrl+delete", "delete_word_right", "Cut the next word"),
        ("ctrl+underscore", "undo", "Undo"),
    )
)
"""Keys of a shell for which Textual's editor has another action or none."""
# Their bindings in Textual's editor are left out.
_REBOUND = frozenset({"ctrl+a", "ctrl+e"})
TYPING_KEYS: tuple[BindingType, ...] = tuple(
    Binding(keys, "type", description)
    for keys, description in (
        ("enter", "Send"),
        ("ctrl+j,alt+enter", "New line, or \\ before Enter"),
        ("shift+enter", "New line (in some terminals)"),
        ("tab", "Complete a command, its argument or @file"),
        ("up", "Recall earlier prompts, from the first line"),
        ("up,backspace", "If empty: edit the last queued prompt"),
        ("delete", "If empty: drop the last queued prompt"),
        ("ctrl+d", "If empty: leave the program"),
        ("ctrl+c", "Copy the selection"),
        (
            "ctrl+k,ctrl+u,ctrl+w,alt+backspace",
            "Cut to the line's end or start, or a word",
        ),
        ("escape", "Twice: clear the prompt"),
        ("ctrl+z,ctrl+y", "Undo; redo, or paste the cut text"),
    )
)


def with_shell_keys(bindings: Iterable[BindingType]) -> list[BindingType]:
    """Replace an editor's bindings of these keys by those of a shell."""
    kept: list[BindingType] = []
    for binding in bindings:
        if isinstance(binding, Binding):
            keys = [key for key in binding.key.split(",") if key not in _REBOUND]
            kept.append(replace(binding, key=",".join(keys)))
    return [*kept, *SHELL_KEYS]
