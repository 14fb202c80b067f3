"""The keys of the conversation pane."""

from textual.binding import Binding, BindingType


def _key(keys: str, action: str, name: str, words: str, *, show: bool = False) -> Binding:
    return Binding(keys, action, words, id=f"conversation-{name}", show=show)


KEYS: list[BindingType] = [
    _key("j", "step(1)", "next", "Next message"),
    _key("k", "step(-1)", "previous", "Previous message"),
    _key("left_curly_bracket", "question(-1)", "question-previous", "Previous question", show=True),
    _key("right_curly_bracket", "question(1)", "question-next", "Next question"),
    _key("y", "copy_message", "copy", "Copy message", show=True),
    _key("c", "copy_code", "copy-code", "Copy code: each press the next block", show=False),
    _key("o", "open_link", "open-link", "Open link", show=True),
    _key("i", "details", "details", "Time and model", show=True),
    _key("I", "all_details", "details-all", "Time and model of all messages"),
    _key("enter,space", "fold", "fold", "Fold or open", show=True),
    _key("left", "sideways(-1)", "code-left", "Long code lines to the left"),
    _key("right", "sideways(1)", "code-right", "Long code lines to the right"),
    _key("up", "move(-1)", "up", "Scroll up"),
    _key("down", "move(1)", "down", "Scroll down"),
    _key("pageup", "page(-1)", "page-up", "Page up"),
    _key("pagedown", "page(1)", "page-down", "Page down"),
    _key("home", "to_top", "top", "Top"),
    _key("end", "to_end", "bottom", "Bottom"),
    Binding("n", "match(1)", "Next match of what was found last", id="find-next", show=False),
    Binding("N", "match(-1)", "Previous match", id="find-previous", show=False),
]
