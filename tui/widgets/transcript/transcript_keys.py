"""The keys of the transcript."""

from textual.binding import Binding, BindingType


def _key(keys: str, action: str, name: str, words: str, does: str) -> Binding:
    """``words`` are for the line of keys; without them it is not there."""
    shown = words or does
    key_id = f"conversation-{name}"
    return Binding(keys, action, shown, id=key_id, tooltip=does, show=bool(words))


QUESTIONS = "Go to your previous or next question"
VERSIONS = "Show the previous or next version of this message"

KEYS: list[BindingType] = [
    _key("j", "step(1)", "next", "Next", "Go to the next or previous message"),
    _key("k", "step(-1)", "previous", "Previous", "Go to the next or previous message"),
    _key("y", "copy_message", "copy", "Copy", "Copy this message"),
    _key("c", "copy_code", "copy-code", "Copy code", "Copy its code; again: the next block"),
    _key("r", "ask_again", "ask-again", "Ask again", "Ask again for this answer"),
    _key("e", "edit_question", "edit", "Edit", "Edit this question and ask again"),
    _key("left_square_bracket", "version(-1)", "version-previous", "Version", VERSIONS),
    _key("right_square_bracket", "version(1)", "version-next", "", VERSIONS),
    _key("f", "fork", "fork", "", "Continue from here in a copy"),
    _key("o", "open_link", "open-link", "Open", "Open a link or a picture, after asking"),
    _key("i", "details", "details", "Details", "Show its time and model"),
    _key("I", "all_details", "details-all", "", "Show time and model of all messages"),
    _key("enter,space", "fold", "fold", "Fold", "Unfold or fold files, a tool call or a summary"),
    _key("left_curly_bracket", "step(-1, 'user')", "question-previous", "Question", QUESTIONS),
    _key("right_curly_bracket", "step(1, 'user')", "question-next", "", QUESTIONS),
    _key("left", "sideways(-1)", "code-left", "", "Scroll long code lines"),
    _key("right", "sideways(1)", "code-right", "", "Scroll long code lines"),
    _key("up", "move(-1)", "up", "", "Scroll"),
    _key("down", "move(1)", "down", "", "Scroll"),
    _key("pageup", "page(-1)", "page-up", "", "Go a page up or down"),
    _key("pagedown", "page(1)", "page-down", "", "Go a page up or down"),
    _key("home", "to_top", "top", "", "Go to the beginning or the end"),
    _key("end", "to_end", "bottom", "", "Go to the beginning or the end"),
    Binding(
        "n",
        "match(1)",
        "Next match",
        id="find-next",
        tooltip="Go to the next or previous match",
        show=False,
    ),
    Binding(
        "N",
        "match(-1)",
        "Previous match",
        id="find-previous",
        tooltip="Go to the next or previous match",
        show=False,
    ),
]

MOVES = frozenset({"sideways", "move", "page", "to_top", "to_end"})
"""The actions that need no message."""
