"""What is typed: it opens a session, is kept as a draft, and is sent."""

from collections.abc import Sequence

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.summaries import Summaries
from tui.app.controllers.turns import Turns
from tui.commands.effects import Compact, RetryTurn
from tui.domain.commands import PromptText
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError, UsageError
from tui.screens.chat import ChatScreen
from tui.widgets.prompt import Waiting


class PromptController:
    """Takes what is typed to the session that it was typed in."""

    def __init__(
        self,
        chat: ChatScreen,
        workspace: Workspace,
        display: SessionPresenter,
        turns: Turns,
        compactions: Summaries,
        listed: SessionListController,
    ) -> None:
        self._chat = chat
        self._workspace = workspace
        self._display = display
        self._turns = turns
        self._compactions = compactions
        self._listed = listed

    def refuse(self) -> None:
        """Let the user correct and submit again what stands in the prompt."""
        self._chat.prompt.refuse_sent()

    async def send(self, conversation: LoadedSession, prompt: PromptText) -> None:
        """Send what was typed in a session; it stays there if it cannot be."""
        # It may have been opened meanwhile, and is another reading then.
        conversation = self._workspace.find(conversation.id) or conversation
        if _is_too_large(prompt):
            self._display.say(Notice("Prompt is larger than 8 MiB.", "error"))
        elif await self.open_for_change(conversation):
            self.clear_prompt(conversation, prompt.typed)
            self._turns.send(conversation, prompt.text)
            self._listed.show()
            return
        self.refuse()

    def put_in_queue(self, conversation: LoadedSession, prompt: PromptText) -> bool:
        """Let a prompt wait in an open session for what was given before; false if it cannot."""
        if _is_too_large(prompt):
            return False
        self.clear_prompt(conversation, prompt.typed)
        conversation.prompt.enqueue(prompt.text)
        self._chat.show_queued(conversation.prompt.queued)
        self._display.show_status()
        return True

    async def send_queued(self, conversation: LoadedSession, prompt: str) -> None:
        """Send a prompt that waits, unless it was taken back or waits for an answer, too."""
        self._turns.send_queued(conversation, prompt)
        self._listed.show()

    async def ask_model(self, wanted: RetryTurn | Compact) -> None:
        """Ask again in the session on screen, or for a summary of it."""
        self._display.show_end()
        conversation = self._workspace.current
        if not await self.open_for_change(conversation):
            return
        if isinstance(wanted, Compact):
            self._compactions.begin(conversation)
            return
        self._turns.retry(conversation)
        self._listed.show()

    async def stop(self, conversation: LoadedSession) -> bool:
        """Stop the answer that is made in a session, and save it; else the summary.

        False if neither is made.
        """
        stopped = await self._turns.stop(conversation) or await self._compactions.stop(conversation)
        await self._workspace.try_save(conversation)
        return stopped

    def clear_prompt(self, conversation: LoadedSession, text: str) -> None:
        """What was submitted there is no draft any more; what was typed since is."""
        if conversation is self._workspace.current:
            self._chat.prompt.clear_sent()
            conversation.prompt.edit(self._chat.prompt.draft)
        else:
            conversation.prompt.remove_sent(text)
        self._chat.settle_draft()

    def take_back(self, prompts: Sequence[str], back: Waiting | None = None) -> None:
        """Send these no more: they wait in the session on screen, and its prompt has them now.

        ``back`` waits again, at its place.
        """
        conversation = self._workspace.current
        for prompt in reversed(prompts):
            if not conversation.prompt.dequeue(prompt):
                self._note_sent(prompt)
        if back is not None:
            self._wait_again(conversation, back)
        self._chat.show_queued(conversation.prompt.queued)
        self._display.show_status()
        self._chat.settle_draft()

    def _wait_again(self, conversation: LoadedSession, back: Waiting) -> None:
        if conversation.activity.running or conversation.prompt.queued:
            conversation.prompt.enqueue(back.text, back.place)
        else:
            # The last answer has ended meanwhile: it would have been sent.
            self._turns.send(conversation, back.text)

    def _note_sent(self, prompt: str) -> None:
        """The answer before it ended while the key was on its way."""
        if self._chat.prompt.text == prompt:
            self._chat.prompt.set_text("")
            self._workspace.current.prompt.edit("")
        self._display.say(Notice("It is sent already.", "warning"))

    async def keep_drafts(self) -> None:
        """Write what was typed and not sent."""
        try:
            await self._workspace.keep_drafts()
        except StorageError as error:
            self._workspace.current.note_failure(error.short)
        self._display.show_status()

    async def open_for_change(self, conversation: LoadedSession) -> bool:
        """Open a session for a change; whether it could be."""
        entries = conversation.entries
        try:
            await self._workspace.take(conversation)
        except (StorageError, UsageError) as error:
            self._display.say(Notice(str(error), "error"))
            self._display.show_prompt()
            return False
        if conversation is self._workspace.current and conversation.entries != entries:
            self._display.show_session()
        self._display.show_status()
        return True


def _is_too_large(prompt: PromptText) -> bool:
    return len(prompt.text.encode(errors="surrogatepass")) > TEXT_BYTES
