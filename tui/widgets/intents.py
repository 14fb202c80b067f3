"""Intents of the user, however they were given."""

from dataclasses import dataclass

from textual.message import Message


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
