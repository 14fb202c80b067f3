"""The keys of the transcript."""

from textual.binding import Binding, BindingType


def _key(keys: str, action: str, name: str, words: str, does: str) -> Binding:
    """``words`` are for the line of keys; without them it is not there."""
    shown = words or does
    key_id = f"conversation-{name}"
    return Binding(keys, action, shown, id=key_id, tooltip=does, show=bool(words))


QUESTIONS = "Previous question of yours, next one"

KEYS: list[BindingType] = [
    _key("j", "step(1)", "next", "Next", "Next message, the one before"),
    _key("k", "step(-1)", "previous", "Previous", "Next message, the one before"),
    _key("y", "copy_message", "copy", "Copy", "Copy this message"),
    _key("c", "copy_code", "copy-code", "Copy code", "Copy its code: each press the next block"),
    _key("o", "open_link", "open-link", "Link", "Open a link, after asking"),
    _key("i", "details", "details", "Details", "Its time and model"),
    _key("I", "all_details", "details-all", "", "Time and model of all messages"),
    _key(
        "enter,space", "fold", "fold", "Fold", "Open what a tool did or a summary says, or fold it"
    ),
    _key("left_curly_bracket", "step(-1, 'user')", "question-previous", "Question", QUESTIONS),
    _key("right_curly_bracket", "step(1, 'user')", "question-next", "", QUESTIONS),
    _key("left", "sideways(-1)", "code-left", "", "Long code lines to the left, right"),
    _key("right", "sideways(1)", "code-right", "", "Long code lines to the left, right"),
    _key("up", "move(-1)", "up", "", "Scroll"),
    _key("down", "move(1)", "down", "", "Scroll"),
    _key("pageup", "page(-1)", "page-up", "", "A page up, down"),
    _key("pagedown", "page(1)", "page-down", "", "A page up, down"),
    _key("home", "to_top", "top", "", "Beginning, end"),
    _key("end", "to_end", "bottom", "", "Beginning, end"),
    Binding(
        "n",
        "match(1)",
        "Next match",
        id="find-next",
        tooltip="Next match of what was found last, the one before",
        show=False,
    ),
    Binding(
        "N",
        "match(-1)",
        "Previous match",
        id="find-previous",
        tooltip="Next match of what was found last, the one before",
        show=False,
    ),
]
