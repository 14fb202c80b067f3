"""The prompt's text: it opens a session, is saved as a draft, and is sent."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from tui.app.controllers.controller import Controller
from tui.app.controllers.side_requests import Summaries
from tui.app.controllers.turns import Turns
from tui.domain.commands import PromptText
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import StorageError, UsageError
from tui.widgets.prompt import Prompt, Waiting

if TYPE_CHECKING:
    from tui.engine.library.prompt_history import PromptHistory


class PromptController(Controller):
    """Passes prompts and drafts to the session in which they were typed."""

    _turns: Turns
    _summaries: Summaries

    def give_back(self, session: LoadedSession, text: str) -> None:
        """Put an unsent prompt back into an empty input, else hold it for the user."""
        session.prompt.hold(text)
        self._turns.edit_next(session)

    async def send(self, session: LoadedSession, prompt: PromptText) -> None:
        """Send a prompt in a session; it is given back on failure."""
        session.prompt.refer(prompt.text, prompt.own)
        if await self.open_for_change(session):
            self._turns.send(session, prompt.text)
            self._session_list.show()
        else:
            self.give_back(session, prompt.typed)

    async def send_queued(self, session: LoadedSession, prompt: PromptText) -> None:
        """Send a queued prompt after those before it, unless it was taken back."""
        # A session that was opened meanwhile is another object.
        session = self._workspace.switcher.find(session.id) or session
        if prompt.text not in session.prompt.queued:
            return
        if await self.open_for_change(session):
            # Taken back, or sent with those before it, while the session was opened.
            if prompt.text in session.prompt.queued:
                self._turns.send_next(session)
            self._session_list.show()
        elif session.prompt.dequeue(prompt.text):
            self.give_back(session, prompt.typed)

    async def send_held(self) -> None:
        """Send the held prompts of the session on screen, in their order."""
        session = self._workspace.current
        if await self.open_for_change(session):
            session.prompt.release_queue()
            self._turns.send_next(session)
            self._presenter.show_status()
            self._session_list.show()

    async def retry(self) -> None:
        """Regenerate the last answer of the session on screen."""
        self._presenter.show_end()
        session = self._workspace.current
        if await self.open_for_change(session):
            self._turns.ask_again(session)
            self._session_list.show()

    async def compact(self) -> None:
        """Summarise the session on screen."""
        self._presenter.show_end()
        session = self._workspace.current
        if await self.open_for_change(session):
            self._summaries.begin(session)

    async def stop(self, session: LoadedSession) -> bool:
        """Stop the arriving answer of a session, else its summary, and save it.

        False if there is neither.
        """
        stopped = await self._turns.stop(session) or await self._summaries.stop(session)
        await self._workspace.pool.try_save(session)
        return stopped

    def take_back(self, prompts: Sequence[str], back: Waiting | None = None) -> None:
        """Remove prompts from the queue of the session on screen: its prompt has them now.

        ``back`` returns to its place in the queue.
        """
        session = self._workspace.current
        for prompt in reversed(prompts):
            if session.prompt.dequeue(prompt):
                continue
            # It was sent while the key was on its way.
            if self._chat.prompt.text == prompt:
                self._chat.prompt.set_text("")
                session.prompt.edit("")
            self._presenter.say("This prompt was already sent", "warning")
        if back is not None and back.held:
            session.prompt.hold(back.text, max(0, back.place - len(session.prompt.queued)))
        elif back is not None and (session.activity.running or session.prompt.queued):
            session.prompt.enqueue(back.text, back.place)
        elif back is not None:
            # The last answer has ended meanwhile: the prompt would have been sent.
            self._turns.send(session, back.text)
        self._chat.show_queue(session.prompt.queue)
        self._presenter.show_status()
        self._chat.settle_draft()

    async def keep_drafts(self) -> None:
        """Save all drafts; the status of a session says which could not be."""
        with suppress(StorageError):
            await self._workspace.keep_drafts()
        self._presenter.show_status()

    async def open_for_change(self, session: LoadedSession) -> bool:
        """Open a session for a change, unless it is open; false if that fails."""
        if session.opened is not None:
            return True
        entries = session.entries
        try:
            await self._workspace.take(session)
        except (StorageError, UsageError) as error:
            self._presenter.say(str(error), "error")
            self._presenter.show_prompt()
            return False
        if session is self._workspace.current and session.entries != entries:
            self._presenter.show_session()
        self._presenter.show_status()
        return True


class PromptHistoryController(Controller):
    """Reads earlier prompts in the background, one page after another."""

    _history: "PromptHistory | None" = None
    _reading: "PromptHistory | None" = None

    def read(self, event: Prompt.PromptsWanted) -> None:
        """Read the newest prompts of the session's project, or the next older ones."""
        from tui.engine.library.prompt_history import PromptHistory

        if event.anew or self._history is None:
            self._history = PromptHistory(self._workspace.reader, self._workspace.current)
        if self._history is self._reading:
            return
        # Esc, or a store that hangs: the keys go on without what was wanted.
        give_up = partial(setattr, self, "_history", None)
        let_keys_go = self._queue.hold(give_up) if event.keys_wait else lambda: None
        self._app.run_worker(self._read(self._history, let_keys_go), name="read earlier prompts")

    async def _read(self, history: "PromptHistory", let_keys_go: Callable[[], None]) -> None:
        self._reading, session = history, self._workspace.current
        try:
            await asyncio.to_thread(history.read_more)
        finally:
            if self._reading is history:
                self._reading = None
            let_keys_go()
        if history is self._history and session.id == self._workspace.current.id:
            self._chat.prompt.show_history(history.prompts, history.own_words, more=history.more)
