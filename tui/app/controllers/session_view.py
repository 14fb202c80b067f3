"""What is on screen of the session that is current."""

from collections.abc import Callable

import msgspec

from tui.domain.journal.message import Message
from tui.domain.views.notice import Notice, Shown
from tui.engine.sessions.external_changes import Change
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError
from tui.screens.chat import ChatScreen


class SessionPresenter:
    """Shows the workspace's current session on the chat screen."""

    def __init__(
        self,
        chat: ChatScreen,
        workspace: Workspace,
        call_later: Callable[[Callable[[], None]], bool],
    ) -> None:
        """``call_later`` queues a callback of the application; false if that has ended."""
        self._chat = chat
        self._workspace = workspace
        self._call_later = call_later
        self._status_is_due = False

    def begin(self) -> None:
        """Show the session that the program begins in: the prompt first, then what was said."""
        self._chat.show_around(self._workspace.current.view())
        self.show_status()
        self._chat.first_paint.follow_with(self._show_begun)

    def _show_begun(self) -> None:
        self.show_session()
        if not self._workspace.current.entries:
            # What is told at the start is read from its beginning, whatever has room.
            self._chat.transcript.scrolling.show_beginning()

    def show_session(self) -> None:
        """Show the session, which is another one or has changed throughout."""
        conversation, transcript = self._workspace.current, self._chat.transcript
        same, place = self.is_current, transcript.place
        self._chat.show_session(conversation.view())
        if same and conversation.excerpt is not None:
            # The end of what is here is not what its reader was at.
            transcript.go_to(place)
        self.show_status()

    @property
    def is_current(self) -> bool:
        """Tell if the workspace's current session is the one on screen."""
        return self._chat.shown == self._workspace.current.id

    def stay(self) -> None:
        """Give up the switch to a session that cannot be shown."""
        self._chat.stay()
        self.show_status()

    def show_changes(self) -> None:
        """Show what has become of the session; its reader stays where he is."""
        self._chat.show_changes(self._workspace.current.view())
        self.show_status()

    def show_followed(self, change: Change) -> None:
        """Show what another program made of the session; its reader stays where he is."""
        if change.joined:
            self._show_news(change)
        else:
            place = self._chat.transcript.place
            self._chat.show_session(self._workspace.current.view())
            self._chat.transcript.go_to(place)
        for notice in change.notices:
            self._chat.say(notice)
        self.show_prompt()
        self.show_status()

    def _show_news(self, change: Change) -> None:
        shown = {each.id: each.text for each in change.before if isinstance(each, Message)}
        for entry in change.news:
            if not isinstance(entry, Message) or entry.id not in change.arriving:
                self._chat.show_entry(entry)
                continue
            text = shown.get(entry.id, "")
            if entry.id not in shown or not entry.text.startswith(text):
                self._chat.show_entry(msgspec.structs.replace(entry, content=""))
                text = ""
            self._chat.add_text(entry.id, entry.text[len(text) :])

    def show_entry(self, entry: Shown) -> None:
        """Show a new entry at the end of the conversation."""
        self._chat.show_entry(entry)

    def show_prompt(self) -> None:
        """Show what stands around the prompt."""
        self._chat.show_prompt(self._workspace.current.view())

    def show_draft(self) -> None:
        """Put into the prompt what was typed in the session."""
        conversation = self._workspace.current
        self._chat.prompt.set_text(conversation.prompt.text, conversation.prompt.pastes)

    @property
    def typed(self) -> str:
        """What stands in the prompt."""
        return self._chat.prompt.draft

    def show_status(self) -> None:
        """Paint the status soon, once however many changes there are till then."""
        if not self._status_is_due:
            self._status_is_due = self._call_later(self._paint_status)

    def _paint_status(self) -> None:
        self._status_is_due = False
        self._chat.show_status(self._workspace.current.status())

    def go_to_end(self, *, returning: bool) -> None:
        """Scroll to the end of the session; ``returning`` keeps the reader's position."""
        self._chat.go_to_end(returning=returning)
        self.show_end()

    def show_end(self) -> None:
        """Show the end of the session, if a place far from it is on screen."""
        conversation = self._workspace.current
        if conversation.excerpt is not None:
            conversation.show_end()
            self.show_session()

    def say(self, notice: Notice) -> None:
        """Tell the user; it also stands in the conversation, unsaved."""
        if "\n" in notice.text:
            # It is read where it stands.
            self.show_end()
        self._workspace.current.say(notice)
        self._chat.say(notice)

    async def read_earlier(self) -> None:
        """Read the page before what is at hand of the session, and show it above."""
        conversation = self._workspace.current
        far = conversation.excerpt is not None
        try:
            entries = await self._workspace.read_earlier(conversation)
        except StorageError as error:
            self.say(Notice(str(error), "error"))
            return
        # Else they come before what is not on screen any more.
        if conversation is self._workspace.current and far == (conversation.excerpt is not None):
            self._chat.show_earlier(entries, earlier=conversation.has_earlier)

    async def save_all(self) -> None:
        """Write what is pending anywhere, and show what was told of it here."""
        notices = len(self._workspace.current.notices)
        await self._workspace.save_all()
        for placed in self._workspace.current.notices[notices:]:
            self._chat.say(placed.notice)
        self.show_status()
