"""Intents of the user, however they were given."""

from textual.message import Message


class CommandInvoked(Message):
    """A command was given: by a key, as a slash command or from the palette.

    ``name`` is from the command table; ``arguments`` is the text after it, as it was typed.
    """

    def __init__(self, name: str, arguments: str = "") -> None:
        super().__init__()
        self.name = name
        self.arguments = arguments


class CopyRequested(Message):
    """A text is to be copied; ``what`` is its number in words if it is one of several."""

    def __init__(self, text: str, what: str = "") -> None:
        super().__init__()
        self.text = text
        self.what = what


class PickerIntent(Message):
    """An intent of the session picker; its subclasses are defined there."""


class SearchIntent(Message):
    """An intent of the search screen; its subclasses are defined there."""
