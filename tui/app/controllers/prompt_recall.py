"""The project's earlier prompts, read as the prompt goes back to them."""

import asyncio
from collections.abc import Callable

from textual.app import App

from tui.app.input_queue import InputQueue
from tui.engine.library.prompt_history import PromptHistory
from tui.engine.sessions.workspace import Workspace
from tui.screens.chat import ChatScreen
from tui.widgets.prompt import Prompt


class PromptHistoryController:
    """Reads earlier prompts in the background, one page after another."""

    def __init__(
        self, app: App[None], queue: InputQueue, chat: ChatScreen, workspace: Workspace
    ) -> None:
        self._app = app
        self._queue = queue
        self._chat = chat
        self._workspace = workspace
        self._history: PromptHistory | None = None
        self._reading: PromptHistory | None = None

    def read(self, event: Prompt.PromptsWanted) -> None:
        """Read the newest prompts of the session's project, or the next older ones."""
        if event.anew or self._history is None:
            self._history = PromptHistory(self._workspace.reader, self._workspace.current)
        if self._history is self._reading:
            return
        let_keys_go = self._queue.hold(self._give_up) if event.keys_wait else _nothing
        self._app.run_worker(self._read(self._history, let_keys_go), name="read earlier prompts")

    async def _read(self, history: PromptHistory, let_keys_go: Callable[[], None]) -> None:
        self._reading, session = history, self._workspace.current
        try:
            await asyncio.to_thread(history.read_more)
        finally:
            if self._reading is history:
                self._reading = None
            let_keys_go()
        if history is self._history and session.id == self._workspace.current.id:
            self._chat.prompt.show_history(history.prompts, history.own_words, more=history.more)

    def _give_up(self) -> None:
        """Esc, or a store that hangs: the keys go on without what was wanted."""
        self._history = None


def _nothing() -> None:
    """No keys wait."""
