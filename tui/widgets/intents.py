"""Intents of the user, however they were given: the messages that the application acts on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.widget import Widget

from tui.domain.journal.message import ImageBlock
from tui.domain.views.session_rows import Group

if TYPE_CHECKING:
    from tui.domain.tool_servers import Answer, ServerQuestion


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


@dataclass(eq=False, repr=False)
class SessionSelected(Message):
    """A session was chosen, by Enter or a click."""

    session_id: str


@dataclass(eq=False, repr=False)
class DeletionConfirmed(Message):
    """The deletion of a session was confirmed."""

    session_id: str


@dataclass(eq=False, repr=False)
class SessionRenamed(Message):
    """A session was given another name; an empty one removes its name."""

    session_id: str
    name: str


@dataclass(eq=False, repr=False)
class SessionPinned(Message):
    """A session is to be pinned to the top, or no longer."""

    session_id: str
    pinned: bool


@dataclass(eq=False, repr=False)
class GroupUnfolded(Message):
    """The archive or the trash came into view, and not all of its sessions are loaded."""

    group: Group


class MoreWanted(Message):
    """The end of the rows came within a screen, and there may be more."""


class ScopeToggled(Message):
    """The sessions of all projects are wanted, or those of this one again."""


@dataclass(eq=False, repr=False)
class WidthChanged(Message):
    """The sidebar was made wider or narrower; ``columns`` include its edge."""

    columns: int


@dataclass(eq=False, repr=False)
class PageWanted(Message):
    """Messages of the session that are not loaded are wanted.

    The ``earlier`` or ``later`` ones, as the end of the others came near, or an end of the session.
    """

    which: Literal["earlier", "later", "beginning", "end"]


class PromptWanted(Message):
    """The transcript was clicked: keys typed next go to the prompt."""


@dataclass(eq=False, repr=False)
class CodeWrapChanged(Message):
    """Long lines of code wrap from now on, or are cut."""

    wraps: bool


@dataclass(eq=False, repr=False)
class MatchWanted(Message):
    """The next match of the last search is wanted, or the one before."""

    count: int


@dataclass(eq=False, repr=False)
class VersionIntent(Message):
    """Something is to be done with a message and its versions.

    Another answer to its question is wanted, it is to be edited and sent in its place, the session
    up to it is to be copied, or a version ``step`` further is to be shown.
    """

    message_id: str
    what: Literal["again", "edit", "fork", "step"]
    step: int = 0


@dataclass(eq=False, repr=False)
class LinksWanted(Message):
    """One of these links or pictures is to be opened; each link is a target and its text."""

    links: Sequence[tuple[str, str]]
    pictures: Sequence[ImageBlock] = ()


def hint(widget: Widget, words: str) -> None:
    """Show a hint in the line of notices; the list of notices does not keep it."""
    widget.post_message(HintGiven(words))
