"""Says in the prompt what it will attach, while it is typed."""

from tui.app.chat_view import ChatView
from tui.engine.sessions.workspace import Workspace


class AttachedPreview:
    """Looks for the files off the event loop; another text in the prompt makes its words void."""

    def __init__(self, chat: ChatView, workspace: Workspace) -> None:
        self._chat = chat
        self._workspace = workspace

    async def show(self, text: str, own: frozenset[str]) -> None:
        """Show what a text of the session on screen refers to."""
        session = self._workspace.current
        attached = await self._workspace.preview(session, text, own)
        if session is self._workspace.current and text == self._chat.prompt.text:
            self._chat.prompt.show_attached(attached)
