"""The notices that the store's server is away, and that it is back."""

from tui.app.controllers.session_view import SessionPresenter
from tui.domain.journal.message import Message
from tui.domain.views.notice import Notice
from tui.engine.sessions.workspace import Workspace
from tui.errors import ServerUnreachable

_NO_ANSWER = "Your last prompt has no answer: /retry sends it."


class ServerNotices:
    """Says once that the store's server is away, whoever finds it so, and once that it is back."""

    def __init__(self, workspace: Workspace, presenter: SessionPresenter) -> None:
        self._workspace = workspace
        self._presenter = presenter
        self._told: Notice | None = None

    @property
    def is_awaited(self) -> bool:
        """True if a session could not be saved."""
        return any(each.unsaved and each.save.failure for each in self._workspace.open)

    def note_away(self, error: ServerUnreachable) -> None:
        """Say that it is away, unless that was said since it was last there."""
        if self._told is None:
            self._told = Notice(str(error), "warning")
            self._presenter.remark(self._told)

    def note_back(self) -> None:
        """Say that it is back, if it was said to be away."""
        if self._told is not None:
            self._say_back()

    async def save_again(self) -> None:
        """Save what could not be saved, and say that the server is back."""
        if await self._workspace.save_all():
            self._say_back()
        self._presenter.show_status()

    def _say_back(self) -> None:
        if self._told is not None:
            self._presenter.withdraw(self._told)
        self._told = None
        words = "The store's server is back"
        self._presenter.remark(Notice(f"{words}. {_NO_ANSWER}" if self._is_unanswered else words))

    @property
    def _is_unanswered(self) -> bool:
        """True if the session on screen ends with a prompt, such as one that was not sent."""
        session = self._workspace.current
        last = session.latest[-1] if session.latest else None
        return isinstance(last, Message) and last.role == "user" and not session.activity.running
