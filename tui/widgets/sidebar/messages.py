"""The messages of the sidebar, posted by its parts."""

from dataclasses import dataclass

from textual.message import Message

from tui.domain.views.sidebar_rows import Group


@dataclass(eq=False, repr=False)
class SessionSelected(Message, namespace="sidebar"):
    """A session was chosen, by Enter or a click."""

    session_id: str


@dataclass(eq=False, repr=False)
class DeletionConfirmed(Message, namespace="sidebar"):
    """The deletion of a session was confirmed."""

    session_id: str


@dataclass(eq=False, repr=False)
class SessionRenamed(Message, namespace="sidebar"):
    """A session was given another name; an empty one removes its name."""

    session_id: str
    name: str


@dataclass(eq=False, repr=False)
class SessionPinned(Message, namespace="sidebar"):
    """A session is to be pinned to the top, or no longer."""

    session_id: str
    pinned: bool


@dataclass(eq=False, repr=False)
class GroupUnfolded(Message, namespace="sidebar"):
    """The archive or the trash came into view, and not all of its sessions are loaded."""

    group: Group


class MoreWanted(Message, namespace="sidebar"):
    """The end of the rows came within a screen, and there may be more."""


class ScopeToggled(Message, namespace="sidebar"):
    """The sessions of all projects are wanted, or those of this one again."""


@dataclass(eq=False, repr=False)
class WidthChanged(Message, namespace="sidebar"):
    """The sidebar was made wider or narrower; ``columns`` include its edge."""

    columns: int
