"""The notices that the store's server is away, and that it is back."""

from tui.app.controllers.session_view import SessionPresenter
from tui.domain.journal.message import Message
from tui.domain.views.notice import Notice
from tui.engine.sessions.workspace import Workspace
from tui.errors import ServerUnreachable

_UNSENT = "Your last prompt is saved, but was not sent: /retry sends it."


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
            self._presenter.say(self._told)

    def note_back(self) -> None:
        """Say that it is back, if it was said to be away."""
        if self._told is not None:
            self._say_back()

    async def save_again(self) -> None:
        """Save what could not be saved, and say that the server is back."""
        unsent = self._has_unsent_prompt()
        if await self._workspace.save_all():
            self._say_back(unsent=unsent)
        self._presenter.show_status()

    def _has_unsent_prompt(self) -> bool:
        """Tell whether the session on screen ends with a prompt that could not be saved."""
        session = self._workspace.current
        messages = [each for each in session.pending if isinstance(each, Message)]
        is_prompt = bool(messages) and messages[-1].role == "user"
        return is_prompt and not session.activity.running

    def _say_back(self, *, unsent: bool = False) -> None:
        if self._told is not None:
            self._presenter.withdraw(self._told)
        self._told = None
        words = "The store's server is back"
        self._presenter.say(Notice(f"{words}. {_UNSENT}" if unsent else words))
