"""What the reader wants done, whichever way it was said."""

from textual.message import Message


class CommandInvoked(Message):
    """A command was given: by a key, as a slash command or from the palette.

    ``name`` is one of the command table's; ``arguments`` is the text after it, as it was typed.
    """

    def __init__(self, name: str, arguments: str = "") -> None:
        super().__init__()
        self.name = name
        self.arguments = arguments


class SearchIntent(Message):
    """What the reader wants of a search; the classes of the search screen say what."""
