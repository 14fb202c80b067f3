"""What a reader wants of a message: another version, a copy, its links and pictures."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from tui.app.controllers.controller import Controller
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.prompt import PromptController
from tui.app.controllers.turns import Turns
from tui.app.desktop import PictureFiles
from tui.domain.commands import PromptText
from tui.domain.journal.message import ImageBlock, Message
from tui.domain.text import cut_middle, make_visible_name
from tui.engine.sessions import versions
from tui.engine.sessions.loaded_session import LoadedSession, references_of
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError, UsageError
from tui.widgets import intents

Place = Callable[[Workspace, LoadedSession], Awaitable[LoadedSession]]
"""Prepares a session for a prompt that is not meant for its end."""

Wanted = tuple[str, str] | ImageBlock
"""A link, by its target and its text, or a picture."""

_ROW = 120
"""The limit of a picture's row, in characters."""


class MessageActions(Controller):
    """Acts on intents about a message; a version of a read-only session is one of a copy."""

    _navigation: Navigation
    _turns: Turns
    _prompt: PromptController
    _files: PictureFiles

    async def handle(self, session: LoadedSession, event: intents.VersionIntent) -> None:
        """Act on an intent of a reader, or a command, about a message."""
        match event.what:
            case "again":
                work = self._ask_again(session, event.message_id)
            case "step":
                work = self._step(session, event.message_id, event.step)
            case "fork":
                work = self._fork(session, event.message_id)
            case "edit":
                work = self._edit(session, event.message_id)
        await self._done(work)

    async def _ask_again(self, session: LoadedSession, message_id: str) -> None:
        """Ask the question of an answer again, in its place."""
        await self._stop(session)
        target = await versions.begin_again(self._workspace, session, message_id)
        await self._show(target)
        self._turns.ask_again(target, for_version=True)
        await self._session_list.show_scope()

    async def _edit(self, session: LoadedSession, message_id: str) -> None:
        """Put a question into the prompt, to be sent in its place; the draft waits meanwhile."""
        question = _question(session, message_id)
        if question is None:
            raise UsageError("There is no question to edit.")
        prompt = self._chat.prompt
        # Ctrl+Z brings back what was written of another question.
        put = prompt.replace_text if session.prompt.editing else prompt.set_text
        own = references_of(session.session.header, question)
        session.prompt.edit(prompt.draft)
        session.prompt.begin_edit(question.id, question.typed_text, own, question.pastes)
        prompt.editor.fold_pastes(question.pastes)
        put(question.typed_text, own=own)
        self._show_beside(session)
        prompt.focus()

    def cancel_edit(self) -> None:
        """Bring back the draft that was in the prompt before; the user can undo it."""
        session = self._workspace.current
        session.prompt.cancel_edit()
        self._chat.prompt.replace_text(session.prompt.text, session.prompt.own_words)
        self._show_beside(session)

    def place_of(self, session: LoadedSession) -> Place | None:
        """The place that the next prompt is meant for, if not the end of the conversation.

        The version on screen counts, so the screen stays until the session is prepared.
        """
        if question := session.prompt.end_edit():
            return partial(versions.begin_edit, message_id=question)
        return versions.begin_from_shown if session.pages.aside else None

    async def send(self, session: LoadedSession, prompt: PromptText, place: Place) -> None:
        """Send a prompt for a place in the conversation; it is given back on failure."""
        await self._done(self._send(session, prompt, place))
        # Not after a cancellation: the end of the program keeps it in the draft.
        session.prompt.end_leaving(prompt.text)

    async def _send(self, session: LoadedSession, prompt: PromptText, place: Place) -> None:
        try:
            await self._stop(session)
            target = await place(self._workspace, session)
        except (StorageError, UsageError):
            self._prompt.give_back(session, prompt.typed)
            raise
        await self._show(target)
        await self._prompt.send(target, prompt)
        # The draft from before the edit.
        self._turns.edit_next(target)

    async def _step(self, session: LoadedSession, message_id: str, step: int) -> None:
        shown = await versions.show_version(self._workspace, session, message_id, step)
        if shown is None:
            which = "last" if step > 0 else "first"
            intents.hint(self._chat.transcript, f"This is the {which} version.")
        elif session is self._workspace.current:
            self._presenter.show_session()
            self._chat.conversation.show_message(shown)

    async def _fork(self, session: LoadedSession, message_id: str) -> None:
        title = session.label()
        copy = await versions.fork_at(self._workspace, session, message_id)
        if await self._workspace.switcher.open_session(copy):
            await self._show(self._workspace.current)
            self._presenter.say(f'This is a copy of "{title}"; the original is unchanged')

    async def _stop(self, session: LoadedSession) -> None:
        """Stop an answer that is arriving; queued prompts are held."""
        if session.activity.running:
            self._turns.hold_queue(session)
            await self._turns.stop(session)

    async def _show(self, target: LoadedSession) -> None:
        target.pages.show_end()
        if self._presenter.is_current and target is self._workspace.current:
            self._presenter.show_session()
        else:
            await self._navigation.show_session()
            await self._session_list.show_scope()
        self._chat.go_to_end(returning=False)

    def _show_beside(self, session: LoadedSession) -> None:
        view = session.view()
        self._chat.show_queue(view.queue)
        self._chat.show_prompt(view)
        self._chat.settle_draft()

    async def _done(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (StorageError, UsageError) as error:
            self._presenter.say(str(error), "error")

    # --- links and pictures

    def open_links(self, event: intents.LinksWanted) -> None:
        """Ask which link or picture, if there are several, and then whether to open it."""
        wanted: Sequence[Wanted] = (*event.links, *event.pictures)
        session_id = self._workspace.current.id
        if not wanted:
            self._presenter.say("No link or picture in this message.", "warning")
            return
        if len(wanted) == 1:
            self._open(wanted[0], session_id)
            return
        from tui.screens.dialog import ListDialog

        def choose(place: int | None) -> None:
            if place is not None:
                self._open(wanted[place], session_id)

        kinds = ("picture" if isinstance(each, ImageBlock) else "link" for each in wanted)
        which = " or ".join(dict.fromkeys(kinds))
        rows = [
            cut_middle(make_visible_name(each.label), _ROW)
            if isinstance(each, ImageBlock)
            else each[0]
            for each in wanted
        ]
        self._app.push_screen(ListDialog(f"Open which {which}?", rows), choose)

    def _open(self, wanted: Wanted, session_id: str) -> None:
        from tui.commands.viewers import open_link, open_picture

        if isinstance(wanted, ImageBlock):
            keep = self._files.write
            work = partial(open_picture, picture=wanted, session_id=session_id, keep=keep)
        else:
            work = partial(open_link, target=wanted[0], text=wanted[1])
        self._do(work)


def _question(session: LoadedSession, message_id: str) -> Message | None:
    """The question at a message on screen or before it."""
    found = None
    for entry in session.shown:
        if isinstance(entry, Message):
            found = entry if entry.role == "user" else found
            if entry.id == message_id:
                return found
    return None
