"""The messages of the sidebar, posted by its parts."""

from textual.message import Message


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


class ArchiveUnfolded(Message, namespace="sidebar"):
    """The archive came into view, and not all of its sessions are loaded."""


class MoreWanted(Message, namespace="sidebar"):
    """The end of the rows came within a screen, and there are more."""


class ScopeToggled(Message, namespace="sidebar"):
    """The sessions of all projects are wanted, or those of this one again."""


class WidthChanged(Message, namespace="sidebar"):
    """The sidebar was made wider or narrower; ``columns`` include its edge."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
