"""The messages of the transcript."""

from collections.abc import Sequence

from textual.message import Message

from tui.domain.journal.blocks import ImageBlock


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


class VersionIntent(Message, namespace="transcript"):
    """Something is to be done with a message and its versions."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        super().__init__()


class AskAgainWanted(VersionIntent, namespace="transcript"):
    """Another answer to the question of this answer is wanted."""


class EditWanted(VersionIntent, namespace="transcript"):
    """This question is to be edited and sent in its place."""


class ForkWanted(VersionIntent, namespace="transcript"):
    """A copy of the session up to this message is wanted."""


class VersionWanted(VersionIntent, namespace="transcript"):
    """The next version of this message is wanted, or the one before."""

    def __init__(self, message_id: str, step: int) -> None:
        self.step = step
        super().__init__(message_id)


class LinksWanted(Message, namespace="transcript"):
    """One of these links or pictures is to be opened; each link is a target and its text."""

    def __init__(
        self, links: Sequence[tuple[str, str]], pictures: Sequence[ImageBlock] = ()
    ) -> None:
        self.links = links
        self.pictures = pictures
        super().__init__()
