"""The keys of the conversation pane."""

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("up", "move(-1)", "Scroll up", show=False),
    Binding("down", "move(1)", "Scroll down", show=False),
    Binding("pageup", "page(-1)", "Page up", show=False),
    Binding("pagedown", "page(1)", "Page down", show=False),
    Binding("home", "to_top", "Top", show=False),
    Binding("end", "to_end", "Bottom", show=False),
    Binding("j", "step(1)", "Next message", show=False),
    Binding("k", "step(-1)", "Previous message", show=False),
    Binding("left_curly_bracket", "question(-1)", "Previous question", show=False),
    Binding("right_curly_bracket", "question(1)", "Next question", show=False),
    Binding("y", "copy_message", "Copy message", show=False),
    Binding("c", "copy_code", "Copy code", show=False),
    Binding("enter,space", "fold", "Fold", show=False),
    Binding("n", "match(1)", "Next match of what was found last", id="find-next", show=False),
    Binding("N", "match(-1)", "Previous match", id="find-previous", show=False),
]
