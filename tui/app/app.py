"""The Textual application: passes intents to controllers."""

import asyncio
import gc
import logging
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from itertools import starmap
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from rich.console import RenderableType
from textual import events, on
from textual.binding import BindingType
from textual.message import Message
from textual.worker import WorkerFailed, get_current_worker  # pyright: ignore[reportUnknownVariableType]

from tui.app.appearance import ThemeContrastApp, dress
from tui.app.controllers.controller import Dependencies
from tui.app.controllers.session_list import ListIntent
from tui.app.controllers.turns import TurnFinished
from tui.app.dispatcher import AppShell, Confirmations, Dispatcher
from tui.app.input_queue import InputQueue
from tui.app.wiring import Controllers
from tui.config import paths
from tui.domain.commands import Invocation, template_command
from tui.engine.sessions.loaded_session import LoadedSession
from tui.screens.chat import ChatScreen
from tui.screens.keys import APP
from tui.terminal.colours import BackgroundReported
from tui.terminal.driver import TakeoverDriver
from tui.terminal.flow_control import FlowControlledApp
from tui.terminal.textual_private import AppBase
from tui.widgets import intents
from tui.widgets.approval_panel import ApprovalPanel
from tui.widgets.find_line import FindLine
from tui.widgets.keys import key_name
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar.sidebar import RenameLine

if TYPE_CHECKING:
    from tui.commands.shell import Work

_MOST_OF_WORK = 60
_log = logging.getLogger(__name__)

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""The signals that end the program; Textual itself ends in order on none of them."""


class Defects(msgspec.Struct, eq=False):
    """Keeps the ``first`` unexpected error, which is raised once all is saved."""

    first: Exception | None = None

    def note(self, error: Exception, work: str = "") -> str:
        """Log an error, and return a message that says which work was not done."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.first is None and isinstance(cause, Exception):
            self.first = cause
        _log.info("unexpected error", exc_info=cause)
        not_done = f"Not done: {' '.join(work.split())[:_MOST_OF_WORK]}. " if work else ""
        return f"{not_done}Unexpected error: {type(cause).__name__}: {cause}"


@contextmanager
def catching_elsewhere(report: Callable[[Exception, str], None]) -> Generator[None]:
    """Report errors in threads and in callbacks of the loop, which Python only prints."""
    loop, in_threads = asyncio.get_running_loop(), threading.excepthook

    def report_in_thread(found: threading.ExceptHookArgs) -> None:
        name = found.thread.name if found.thread is not None else ""
        if isinstance(found.exc_value, Exception):
            loop.call_soon_threadsafe(report, found.exc_value, name)

    def report_in_callback(_: object, found: dict[str, Any]) -> None:
        error = found.get("exception")
        if isinstance(error, Exception) and "handle" in found:
            report(error, "")
        else:
            loop.default_exception_handler(found)

    loop.set_exception_handler(report_in_callback)
    threading.excepthook = report_in_thread
    try:
        yield
    finally:
        threading.excepthook = in_threads
        loop.set_exception_handler(None)


_AGAIN = "Ctrl+C again quits."
_ON_ANY_SCREEN = {("help",), ("notices",), ("save",), ("quit",)}


_Routed = TypeVar("_Routed", bound=Message)


def _route(
    kind: type[_Routed], act: "Callable[[SibylApp, _Routed], object]"
) -> "tuple[type[Message], Callable[[SibylApp, Any], object]]":
    return kind, act


def _delete(app: "SibylApp", event: intents.DeletionConfirmed) -> None:
    from tui.commands.archive import delete_at_once

    app.dispatcher.do(partial(delete_at_once, session_id=event.session_id))


def _change_list(app: "SibylApp", event: ListIntent) -> None:
    change = partial(app.controllers.session_list.take, event)
    app.run_worker(change, name="change the list of sessions")


# fmt: off
ROUTES = dict((
    _route(intents.CommandInvoked, lambda app, event: app.dispatcher.invoke(
        Invocation(event.name, event.arguments))),
    # Later keys are for the session that it leads to.
    _route(intents.VersionIntent, lambda app, event: app.input_queue.add(
        partial(app.controllers.messages.handle, app.workspace.current, event), leads=True)),
    _route(Prompt.Submitted, lambda app, event: app.dispatcher.submit(event.text, event.own)),
    _route(Prompt.HeldWanted, lambda app, _: app.input_queue.add(app.controllers.prompt.send_held)),
    _route(Prompt.TakenBack, lambda app, event: app.controllers.prompt.take_back(
        event.prompts, event.back)),
    _route(Prompt.PromptsWanted, lambda app, event: app.controllers.prompt_history.read(event)),
    _route(Prompt.EditCancelled, lambda app, _: app.controllers.messages.cancel_edit()),
    _route(Prompt.FilesWanted, lambda app, event: app.run_worker(
        partial(app.controllers.prompt_files.show_listing, event.folder), name="list files")),
    _route(Prompt.ReferencesSettled, lambda app, event: app.run_worker(
        partial(app.controllers.prompt_files.show_attached, event.text, event.own),
        name="look at the files to attach")),
    _route(Prompt.FilesDropped, lambda app, event: app.run_worker(
        partial(app.controllers.prompt_files.replace_dropped, event), name="look at pasted paths")),
    # Not awaited: keys would wait for a slow disk.
    _route(ChatScreen.DraftSettled, lambda app, _: app.run_worker(
        app.controllers.prompt.keep_drafts, name="save the draft")),
    _route(intents.SessionSelected, lambda app, event: app.controllers.navigation.switch(
        event.session_id)),
    _route(intents.DeletionConfirmed, _delete),
    _route(intents.WidthChanged, lambda app, event: app.controllers.ui_state.note(
        sidebar_width=event.columns)),
    _route(intents.CodeWrapChanged, lambda app, event: app.controllers.ui_state.note(
        wrap_code=event.wraps)),
    _route(intents.SessionRenamed, _change_list),
    _route(RenameLine.TitleWanted, lambda app, event: app.controllers.titles.ask(event.line)),
    _route(intents.SessionPinned, _change_list),
    _route(intents.GroupUnfolded, _change_list),
    _route(intents.MoreWanted, _change_list),
    _route(intents.ScopeToggled, _change_list),
    _route(BackgroundReported, lambda app, event: app.controllers.themes.fit(event)),
    _route(intents.PageWanted, lambda app, event: app.controllers.navigation.handle(event)),
    _route(FindLine.QueryChanged, lambda app, event: app.controllers.find.look_for(event.text)),
    _route(FindLine.Stepped, lambda app, event: app.controllers.find.step(event.count)),
    _route(intents.LinksWanted, lambda app, event: app.controllers.messages.open_links(event)),
    _route(intents.HintGiven, lambda app, event: app.controllers.notices.hint(event.words)),
    _route(intents.CopyRequested, lambda app, event: app.copy_to_clipboard(event.text, event.what)),
    _route(ApprovalPanel.Answered, lambda app, event: app.controllers.approvals.answer(
        event.question, event.decision)),
    _route(intents.QuestionAnswered, lambda app, event: app.controllers.questions.answer(
        event.question, event.answer)),
    _route(intents.AddressWanted, lambda app, event: app.run_worker(
        partial(app.controllers.questions.open, event.question), name="open the address")),
))
# fmt: on
"""Who acts on a message that comes up to the application, or on one of its subclasses."""


class SibylApp(FlowControlledApp, ThemeContrastApp, AppBase):
    """Bindings, timers, and handlers of intents."""

    TITLE = "sibyl-tui"
    SELECT_AUTO_SCROLL_LINES, SELECT_AUTO_SCROLL_SPEED = 1, 20.0
    CSS_PATH: ClassVar[Any] = paths.style_sheets()
    BINDINGS: ClassVar[list[BindingType]] = [*APP]

    def __init__(self, parts: Dependencies) -> None:
        super().__init__(driver_class=TakeoverDriver)
        self.input_queue = InputQueue(self, super().on_event)
        self.defects = Defects()
        self._parts = parts
        self.workspace = parts.workspace
        self.chat = ChatScreen(parts.appearance.keys)
        self.confirmations = Confirmations(self, self.chat, self.input_queue)
        self.controllers = Controllers(
            self,
            self.input_queue,
            self.chat,
            parts,
            self._shell,
            self._do,
        )
        self.dispatcher = Dispatcher(
            self.input_queue, self.workspace, parts.prompts, self.controllers, self._shell
        )
        dress(self, self.controllers.themes, parts.appearance)

    def _shell(self) -> AppShell:
        return AppShell(
            self, self.input_queue, self.controllers, self.confirmations, self.workspace
        )

    def _do(self, work: "Work") -> None:
        self.dispatcher.do(work)

    # --- life

    def get_default_screen(self) -> ChatScreen:
        return self.chat

    def on_load(self) -> None:
        # Before the driver starts: the first frame's handlers know nothing of what it switches on.
        for number in _ENDING_SIGNALS:
            end = partial(self.exit, return_code=128 + number)
            asyncio.get_running_loop().add_signal_handler(number, end)

    async def on_mount(self) -> None:
        self.write_to_terminal(self.controllers.themes.ask(time.monotonic()))
        # Keys that waited are given out when this ends: the prompt must be there by then.
        await self.chat.is_there.wait()
        # Textual does not paint again what the shell has written over while we were stopped.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))  # pyright: ignore[reportUnknownMemberType, reportUnknownLambdaType]
        self.chat.status_bar.store = self._parts.store_mark
        self.controllers.presenter.begin()
        # The first frame comes once the keys that waited stand in its prompt.
        may_paint = partial(self.chat.first_paint.may_come, self.flow_control.has_taken_all)
        self.call_later((self.focused or self.chat).call_later, may_paint)
        if self._parts.auto_save_interval:
            save_all = partial(self.run_worker, self.controllers.presenter.save_all, name="save")
            self.set_interval(self._parts.auto_save_interval, save_all)
        if self._parts.first_command:
            await self.dispatcher.invoke(Invocation(self._parts.first_command, ""))
        # Not after a refresh: where nothing is left to be painted none comes.
        self.set_timer(0.03, self._begin_what_is_slow)

    async def on_unmount(self) -> None:
        self.controllers.search.end()
        await self._parts.final_save.run()
        not_begun = filter(None, self.input_queue.not_begun)
        self._parts.final_save.lines += [f"Not done: {name}" for name in not_begun]
        await self.controllers.ui_state.keep()
        await asyncio.to_thread(self.controllers.picture_files.remove)

    async def run_async(self, **options: Any) -> None:
        try:
            with catching_elsewhere(self._report):
                await super().run_async(**options)
        finally:
            self.close_terminal()
        if self.defects.first is not None:
            raise self.defects.first

    def take_error(self, error: Exception) -> bool:
        if not isinstance(error, WorkerFailed) or not self.is_running:
            self.defects.note(error)
            return False
        self._report(error, get_current_worker().name)  # pyright: ignore[reportUnknownMemberType]
        return True

    def _report(self, error: Exception, work: str) -> None:
        """Say in a line what was not done because of an error that nobody expected."""
        # Later: an error in reporting it ends the program.
        self.call_later(self.controllers.presenter.say, self.defects.note(error, work), "error")

    def exit(
        self,
        result: None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """End once the input that came before has been handled."""
        is_anothers = time.monotonic() < self.input_queue.lent_until
        if is_anothers and return_code == 128 + signal.SIGINT:
            return  # Ctrl+C, typed for the program that has the terminal
        leave = partial(super().exit, result, return_code, message)
        if self.is_running:
            self.input_queue.leave(leave)
        else:
            leave()

    # --- keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.AppFocus):
            self.controllers.attention.end()
        if isinstance(event, events.InputEvent | events.Paste):
            self.controllers.background.note_input()
        await self.input_queue.on_event(event)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Stop the cursor from blinking where nothing is to move."""
        if self.animation_level == "none" and hasattr(event.widget, "cursor_blink"):
            # An Input has one, and a TextArea, and they have no base class in common.
            setattr(event.widget, "cursor_blink", False)  # noqa: B010

    def action_help_quit(self) -> None:
        """Ctrl+C with nothing to copy: stop the answer; twice in an empty prompt, quit."""
        prompt, notices = self.chat.prompt, self.controllers.notices
        activity = self.workspace.current.activity
        if self.screen is self.chat and (activity.running or activity.summarising):
            self.post_message(intents.CommandInvoked("stop"))
        elif prompt.has_focus_within and not prompt.text:
            if notices.is_hinted(_AGAIN):
                self.post_message(intents.CommandInvoked("quit"))
            notices.hint(_AGAIN)
        else:
            bound = self.active_bindings.items()
            leave = next((key for key, each in bound if each.binding.id == "quit"), "")
            words = f" {key_name(leave)} quits." if leave else ""
            notices.hint(f"Nothing is selected.{words}")

    def _begin_what_is_slow(self) -> None:
        # Not before: what was mounted stays, and collecting it takes some milliseconds.
        gc.enable()
        self.run_worker(self.controllers.model_picker.begin, name="read the list of models")
        self.chat.own_commands = tuple(starmap(template_command, self._parts.prompts.items()))
        self.chat.prompt.offers.own = self.chat.own_commands
        self.chat.prompt.offers.themes = sorted(self.available_themes)
        self.controllers.background.begin()
        self.controllers.search.begin()
        self.controllers.server.begin()

    # --- intents

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable keys of the chat under another screen; an open question comes first."""
        if action not in ("invoke", "command_palette"):
            return super().check_action(action, parameters)
        if self.confirmations.asked:
            return parameters[:1] == ("quit",)
        if self.screen is self.chat or parameters[:1] in _ON_ANY_SCREEN:
            return True
        # Another session puts the search away.
        return self.screen is self.controllers.search.screen and parameters[:1] == ("new",)

    def action_command_palette(self) -> None:
        from tui.screens.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    async def action_invoke(self, name: str, arguments: str = "") -> None:
        # A priority binding overtakes the keys before it.
        self.input_queue.run_between_keys(
            lambda: self.dispatcher.invoke(Invocation(name, arguments))
        )

    async def pass_on(self, event: Message) -> None:
        """Pass a message to whoever acts on it."""
        kind = next(each for each in type(event).__mro__ if each in ROUTES)
        if isawaitable(done := ROUTES[kind](self, event)):
            await done

    for _kind in ROUTES:
        pass_on = on(_kind)(pass_on)

    @on(Prompt.Edited)
    def note_draft(self, event: Prompt.Edited) -> None:
        if event.text != self.chat.prompt.draft:
            return  # it was typed in a session that is no longer on screen
        session = self.workspace.current
        session.prompt.edit(event.text, event.pastes, event.own)
        if session.opened is None and not session.access.read_only:
            self.run_worker(
                partial(self.controllers.prompt.open_for_change, session),
                name="open the session to write in it",
            )

    @property
    def clipboard(self) -> str:
        return self.controllers.clipboard.text

    def copy_to_clipboard(self, text: str, what: str = "") -> None:
        # Whatever copies comes here, the screens' own selection too.
        self.controllers.clipboard.start(text, what)

    @on(TurnFinished)
    def end_turn(self, event: TurnFinished) -> None:
        session = event.session
        session.unread = session is not self.workspace.current
        if event.status != "interrupted":
            failed = event.status == "failed"
            self.controllers.attention.tell(session, "failed" if failed else "answered")

        self.run_worker(partial(self._go_on_after, session), name="continue after the answer")

    async def _go_on_after(self, session: LoadedSession) -> None:
        """Save a turn's session, start the next queued prompt, and show both.

        The user may type, send, stop or close sessions meanwhile.
        """
        workspace, controllers = self.workspace, self.controllers
        try:
            await workspace.pool.try_save(session)
            if not workspace.pool.given_up(session):
                await controllers.summaries.consider(session)
            # A queued prompt may have been sent behind a command.
            await self.input_queue.settle()
        except asyncio.CancelledError:
            raise
        except BaseException:
            controllers.turns.go_on(session, failed=True)
            raise
        for_version = controllers.turns.go_on(session, failed=False)
        if session is not workspace.current:
            await workspace.switcher.leave(session)
            controllers.presenter.show_status()
        elif for_version:
            # A version that got no text has given its place back.
            controllers.presenter.show_session()
        else:
            self.chat.show_changes(session.view())
            controllers.presenter.show_status()
        await controllers.session_list.refresh()
        controllers.search.catch_up_later()
        if self._parts.titles_by_model:
            controllers.titles.consider(session)
