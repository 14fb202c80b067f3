"""Intents of the user, however they were given."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

if TYPE_CHECKING:
    from tui.domain.server_questions import Answer, ServerQuestion


@dataclass(eq=False, repr=False)
class CommandInvoked(Message):
    """A command was given: by a key, as a slash command or from the palette.

    ``name`` is from the command table; ``arguments`` is the text after it, as it was typed.
    """

    name: str
    arguments: str = ""


@dataclass(eq=False, repr=False)
class CopyRequested(Message):
    """A text is to be copied; ``what`` is its number in words if it is one of several."""

    text: str
    what: str = ""


@dataclass(eq=False, repr=False)
class QuestionAnswered(Message):
    """The user answered a server's question, or refused with ``None``."""

    question: "ServerQuestion"
    answer: "Answer | None"


@dataclass(eq=False, repr=False)
class AddressWanted(Message):
    """The user wants the address of a server's question opened."""

    question: "ServerQuestion"


@dataclass(eq=False, repr=False)
class HintGiven(Message):
    """A hint is to be shown."""

    words: str


def hint(widget: Widget, words: str) -> None:
    """Show a hint in the line of notices; the list of notices does not keep it."""
    widget.post_message(HintGiven(words))
