"""The messages of the sidebar, posted by its parts."""

from textual.message import Message

from tui.domain.views.sidebar_rows import Group


class SessionSelected(Message, namespace="sidebar"):
    """A session was chosen, by Enter or a click."""

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id


class DeletionConfirmed(Message, namespace="sidebar"):
    """The deletion of a session was confirmed."""

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id


class SessionRenamed(Message, namespace="sidebar"):
    """A session was given another name; an empty one removes its name."""

    def __init__(self, session_id: str, name: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.name = name


class SessionPinned(Message, namespace="sidebar"):
    """A session is to be pinned to the top, or no longer."""

    def __init__(self, session_id: str, *, pinned: bool) -> None:
        super().__init__()
        self.session_id = session_id
        self.pinned = pinned


class GroupUnfolded(Message, namespace="sidebar"):
    """The archive or the trash came into view, and not all of its sessions are loaded."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group = group


class MoreWanted(Message, namespace="sidebar"):
    """The end of the rows came within a screen, and there are more."""


class ScopeToggled(Message, namespace="sidebar"):
    """The sessions of all projects are wanted, or those of this one again."""


class WidthChanged(Message, namespace="sidebar"):
    """The sidebar was made wider or narrower; ``columns`` include its edge."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
