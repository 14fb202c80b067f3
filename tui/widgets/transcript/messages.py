"""What the reader of the conversation pane wants of others."""

from collections.abc import Sequence

from textual.message import Message


class PassageWanted(Message, namespace="transcript"):
    """The reader wants something of the conversation that is not here."""


class EarlierWanted(PassageWanted, namespace="transcript"):
    """The reader came near the top, and earlier messages can be had."""


class LaterWanted(PassageWanted, namespace="transcript"):
    """The reader came near the end of what is here, and later messages can be had."""


class BeginningWanted(PassageWanted, namespace="transcript"):
    """The reader wants to be at the beginning, which is not here."""


class EndWanted(PassageWanted, namespace="transcript"):
    """The reader wants to be at the end, which is not here."""


class PromptWanted(Message, namespace="transcript"):
    """The reader points at something with the mouse: what is typed next is meant for the prompt."""


class MatchWanted(Message, namespace="transcript"):
    """The reader wants the next match of what was looked for last, or the one before."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__()


class LinksWanted(Message, namespace="transcript"):
    """The reader wants one of these opened: where each leads, and the words it has."""

    def __init__(self, links: Sequence[tuple[str, str]]) -> None:
        self.links = links
        super().__init__()


class CopyRequested(Message, namespace="transcript"):
    """The reader wants this text on the clipboard; ``what`` is which of several it is."""

    def __init__(self, text: str, what: str = "") -> None:
        self.text = text
        self.what = what
        super().__init__()
