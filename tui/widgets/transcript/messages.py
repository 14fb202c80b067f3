"""The messages of the transcript."""

from collections.abc import Sequence

from textual.message import Message


class PageWanted(Message, namespace="transcript"):
    """Messages of the session that are not loaded are wanted."""


class EarlierWanted(PageWanted, namespace="transcript"):
    """The top came near, and there are earlier messages."""


class LaterWanted(PageWanted, namespace="transcript"):
    """The end of the loaded messages came near, and there are later ones."""


class BeginningWanted(PageWanted, namespace="transcript"):
    """The beginning of the session is wanted."""


class EndWanted(PageWanted, namespace="transcript"):
    """The end of the session is wanted."""


class PromptWanted(Message, namespace="transcript"):
    """The transcript was clicked: keys typed next go to the prompt."""


class MatchWanted(Message, namespace="transcript"):
    """The next match of the last search is wanted, or the one before."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__()


class LinksWanted(Message, namespace="transcript"):
    """One of these links is to be opened; each is a target and its text."""

    def __init__(self, links: Sequence[tuple[str, str]]) -> None:
        self.links = links
        super().__init__()
