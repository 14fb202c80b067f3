"""Presentation of the workspace's current session on the chat screen, and of notices."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App

from tui.domain.journal.message import Message
from tui.domain.views.costs import AnswerCost
from tui.domain.views.notice import LoggedNotice, Notice, NoticeLog, Severity
from tui.engine.library.session_pages import SessionTitles
from tui.engine.sessions.external_changes import Change
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError
from tui.screens.chat import ChatScreen
from tui.widgets.key_line import KeyLine

if TYPE_CHECKING:
    from textual.timer import Timer


class NoticeController(msgspec.Struct, eq=False):
    """Shows notices in the line of the topmost screen that has one, and keeps them."""

    _app: App[Any]
    _clock: Callable[[], datetime]
    log: NoticeLog = msgspec.field(default_factory=NoticeLog)

    def show(self, *notices: tuple[Notice, str]) -> None:
        """Show notices and keep them, each with the title of its session if not on screen."""
        for notice, title in notices:
            self.log.add(LoggedNotice(self._clock(), notice, title))
        if line := self._line:
            line.notices.add(
                *(
                    msgspec.structs.replace(each, text=f'"{title}": {each.text}') if title else each
                    for each, title in notices
                )
            )

    def answer(self, notice: Notice) -> None:
        """Show at once what a key or a command has caused, and keep it."""
        self.show((msgspec.structs.replace(notice, caused=True), ""))

    def hint(self, words: str) -> None:
        """Show at once why a key does nothing, and do not keep it."""
        if line := self._line:
            line.notices.add(Notice(words, caused=True))

    def is_hinted(self, words: str) -> bool:
        """Tell whether these words are on screen."""
        line = self._line
        return line is not None and line.notices.current == Notice(words, caused=True)

    @property
    def _line(self) -> KeyLine | None:
        screens = reversed(self._app.screen_stack)
        return next((line for screen in screens for line in screen.query(KeyLine)), None)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that is not true any more; the list keeps it."""
        for screen in self._app.screen_stack:
            for line in screen.query(KeyLine):
                line.notices.withdraw(notice)


_TICK_SECONDS = 0.25
_SECONDS_BEFORE_PRICES = 2.0
_STILL_TICK_SECONDS = 1.0
"""Without motion only the seconds change."""


class SessionPresenter(msgspec.Struct, eq=False):
    """Shows the workspace's current session on the chat screen."""

    _app: App[Any]
    _chat: ChatScreen
    _workspace: Workspace
    notices: NoticeController
    _titles: SessionTitles
    _stopwatch: Callable[[], float]
    _prices: Callable[[Sequence[Message]], Awaitable[Mapping[str, float]]]
    _timer: "Timer | None" = None
    _status_is_due: bool = False
    _counted: LoadedSession | None = None

    def begin(self) -> None:
        """Show the session that the program begins in: the prompt first, then the messages."""
        self._chat.show_around(self._workspace.current.view())
        self.show_status()
        self._chat.first_paint.follow_with(self.show_session)

    def show_session(self) -> None:
        """Show the whole session, which is another one or has changed throughout."""
        session, conversation = self._workspace.current, self._chat.conversation
        same, place = self.is_current, conversation.place
        self._chat.show_session(session.view())
        if same and session.pages.excerpt is not None:
            # The end of an excerpt is not where its reader was.
            conversation.go_to(place)
        self.show_status()
        self.price_later()
        if session is not self._counted and session.lacks_versions(session.shown):
            self._counted = session
            count = partial(self._count_versions, session)
            self._chat.run_worker(count, name="count the versions of answers")

    def price_later(self) -> None:
        """Look up what the loaded answers have cost, once their session is on screen for a while.

        The first time, the list of prices is loaded: a start or a switch must not wait for that.
        """
        session, conversation = self._workspace.current, self._chat.conversation

        async def price() -> None:
            await asyncio.sleep(_SECONDS_BEFORE_PRICES)
            answers = [each for each in session.shown if isinstance(each, Message) and each.usage]
            unknown = [each for each in answers if each.id not in conversation.costs]
            for message_id, dollars in (await self._prices(unknown)).items() if unknown else ():
                conversation.show_cost(message_id, AnswerCost(dollars=dollars))

        self._chat.run_worker(price, name="look up prices", group="prices", exclusive=True)

    async def _count_versions(self, session: LoadedSession) -> None:
        """Read which messages of a long session have other versions, and mark them."""
        # Without the marks it can be read all the same.
        with suppress(StorageError):
            await self._workspace.read_versions(session)
            if session is self._workspace.current:
                self._chat.conversation.show_versions(session.view().versions)

    @property
    def is_current(self) -> bool:
        """Tell if the workspace's current session is the one on screen."""
        return self._chat.shown == self._workspace.current.id

    def stay(self) -> None:
        """Give up the switch to a session that cannot be shown."""
        self._chat.walk.stay()
        self.show_status()

    def show_followed(self, change: Change) -> None:
        """Show the changes that another program made; the scroll position stays."""
        conversation = self._chat.conversation
        if change.joined:
            self._show_news(change)
        else:
            place = conversation.place
            self._chat.show_session(self._workspace.current.view())
            conversation.go_to(place)
        self.show_prompt()
        self.show_status()

    def _show_news(self, change: Change) -> None:
        conversation = self._chat.conversation
        before = (each for each in change.before if isinstance(each, Message))
        shown = {each.id: each.text for each in before if each.id in change.arriving}
        for entry in change.news:
            if not isinstance(entry, Message) or entry.id not in change.arriving:
                conversation.put(entry)
                continue
            text = shown.get(entry.id, "")
            if entry.id not in shown or not entry.text.startswith(text):
                conversation.put(msgspec.structs.replace(entry, content=""))
                text = ""
            conversation.add_text(entry.id, entry.text[len(text) :])

    def show_prompt(self) -> None:
        """Show to-dos, approval and prompt history; the prompt's text stays."""
        self._chat.show_prompt(self._workspace.current.view())

    def show_todos(self) -> None:
        """Show the to-dos of the session on screen."""
        self._chat.show_todos(self._workspace.current.session.todos)

    def show_status(self) -> None:
        """Paint status, activity and notices soon: once for all changes of a loop turn."""

        def paint() -> None:
            self._status_is_due = False
            self._chat.show_status(self._workspace.current.status())
            self.show_activity()
            self.show_notices()

        if not self._status_is_due:
            self._status_is_due = self._app.call_later(paint)

    def show_activity(self) -> None:
        """Paint the work in progress, every moment while there is any.

        A model may think for minutes before its first word: the moving line shows that the program
        does not hang.
        """
        view = self._workspace.current.activity.view(self._stopwatch())
        self._chat.show_activity(view)
        moves = view is not None and view.moves
        if moves and self._timer is None:
            still = self._app.animation_level == "none"
            seconds = _STILL_TICK_SECONDS if still else _TICK_SECONDS
            self._timer = self._app.set_interval(seconds, self.show_activity)
        elif not moves and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def show_notices(self) -> None:
        """Show the notices since the last call, which belong together."""
        notices = self._workspace.take_notices()
        titled: list[tuple[Notice, str]] = []
        for session, notice in notices:
            named = msgspec.structs.replace(notice, text=self._titles.named(notice.text))
            label = session.label()
            is_named = session.id == self._workspace.current.id or f'"{label}"' in named.text
            titled.append((named, "" if is_named else label))
        self.notices.show(*titled)

    def show_end(self) -> None:
        """Show the end of the session, if an excerpt far from it is on screen."""
        session = self._workspace.current
        if session.pages.excerpt is not None:
            session.pages.show_end()
            self.show_session()

    def say(self, words: str, severity: Severity = "information") -> None:
        """Give a notice that a key or a command has caused."""
        self.remark(Notice(words, severity, caused=True))

    def remark(self, notice: Notice) -> None:
        """Give a notice that came by itself; it waits for its turn."""
        self._workspace.current.say(notice)
        self.show_status()

    async def save_all(self) -> None:
        """Save all sessions."""
        await self._workspace.save_all()
        self.show_status()
