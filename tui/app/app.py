"""The application: carries what is wanted to the workspace, and what comes of it to the screen."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType

from tui.app.controllers.turns import TurnFinished
from tui.app.dependencies import Dependencies
from tui.app.dispatcher import Dispatcher
from tui.app.effects import EffectRunner
from tui.app.keymap import EVERYWHERE, Places
from tui.app.shutdown import ShutdownApp, end_on_signals
from tui.app.theme_contrast import ThemeContrastApp
from tui.app.themes import dress
from tui.app.wiring import Controllers
from tui.commands import archive
from tui.commands.effects import Effect
from tui.config import paths
from tui.domain.commands import Invocation
from tui.domain.views.notice import Notice
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import StorageError
from tui.screens.app_keys import APP_KEYS
from tui.screens.chat import ChatScreen
from tui.screens.help import HelpScreen
from tui.screens.palette import Actions, SessionCommands, ThemeCommands
from tui.terminal.driver import TakeoverDriver
from tui.widgets.approval_panel import ApprovalPanel
from tui.widgets.find_line import FindLine
from tui.widgets.intents import CommandInvoked, SearchIntent
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar
from tui.widgets.transcript import Transcript, warm_up

if TYPE_CHECKING:
    from textual.worker import Worker

ROWS_SECONDS = 60.0
"""How often the ages in the list move on."""

_ON_ANY_SCREEN = {("help",), ("save",), ("quit",)}


class SibylApp(ShutdownApp, ThemeContrastApp):
    """Bindings, timers, and one handler for each intent."""

    TITLE = "sibyl-tui"
    SELECT_AUTO_SCROLL_LINES, SELECT_AUTO_SCROLL_SPEED = 1, 20.0
    COMMANDS: ClassVar[Any] = {Actions, SessionCommands, ThemeCommands}
    CSS_PATH: ClassVar[Any] = paths.style_sheets()
    BINDINGS: ClassVar[list[BindingType]] = APP_KEYS

    def __init__(self, parts: Dependencies) -> None:
        super().__init__(driver_class=TakeoverDriver)
        self._parts = parts
        self.workspace = parts.workspace
        self.chat = ChatScreen(parts.appearance.keys)
        self._desk = Controllers(self, self.chat, parts, self._carry_out_all)
        self._effects = EffectRunner(self, self._desk, self._turn_help)
        self._intake = Dispatcher(self, parts.workspace, self._desk, self._effects)
        self._following: Worker[None] | None = None
        dress(self, self._desk.themes, parts.appearance, self._keys(), ChatScreen.LINES)

    def _keys(self) -> Places:
        return {EVERYWHERE: (*self.BINDINGS, *ChatScreen.BINDINGS), **ChatScreen.KEYS}

    def _turn_help(self) -> None:
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(self._keys(), self._parts.appearance.keys))

    # --- life

    def get_default_screen(self) -> ChatScreen:
        return self.chat

    def on_load(self) -> None:
        # Before the driver starts: the first frame's handlers know nothing of what it switches on.
        end_on_signals(lambda code: self.exit(return_code=code))

    async def on_mount(self) -> None:
        # Keys that waited are given out when this ends: the prompt must be there by then.
        await self.chat.is_there.wait()
        # Textual does not paint again what the shell has written over while we were stopped.
        self.app_resume_signal.subscribe(self, self._paint_again)  # pyright: ignore[reportUnknownMemberType]
        self._desk.display.begin()
        self._let_paint_after_keys()
        self.set_interval(ROWS_SECONDS, self._each_minute)
        if self._parts.auto_save_interval:
            save_all = partial(self.run_worker, self._desk.display.save_all)
            self.set_interval(self._parts.auto_save_interval, save_all)
        # Not after a refresh: where nothing is left to be painted none comes.
        self.set_timer(0.03, self._begin_what_is_slow)

    def _let_paint_after_keys(self) -> None:
        """Let the first screen be painted once what waited stands in its prompt."""
        prompt = self.focused or self.chat
        may_come = partial(self.chat.first_paint.may_come, self.flow_control.has_taken_all)
        self.call_later(prompt.call_later, may_come)

    def _paint_again(self, _: object) -> None:
        self.refresh(layout=True)

    async def on_unmount(self) -> None:
        self._desk.searching.end()
        await self._parts.final_save.run()
        self._parts.final_save.lines += [f"Not done: {name}" for name in self.input_queue.not_begun]
        await self._desk.remembered.keep()

    def tell_defect(self, words: str) -> None:
        self._desk.display.say(Notice(words, "error"))

    def _begin_what_is_slow(self) -> None:
        self.chat.prompt.show_models(self._parts.models.names())
        self.chat.prompt.show_themes(self._desk.themes.names())
        self.run_worker(self._show_list)
        self._following = self.run_worker(self._desk.following.run)
        self._desk.searching.begin()

    def _each_minute(self) -> None:
        self._desk.listed.show()
        if self._following is not None and self._following.is_finished:
            # A defect has ended it, and was told.
            self._following = self.run_worker(self._desk.following.run)

    async def _show_list(self) -> None:
        # First: what is active stays when the old and the many are set aside.
        await self.workspace.note_start()
        await self._desk.listed.refresh()
        # Not before: the list would wait for it. A daemon, as asyncio joins its own threads.
        threading.Thread(target=self._warm_up, daemon=True, name="warm up").start()
        await self._desk.listed.prune(self._parts.retention)

    def _warm_up(self) -> None:
        warm_up()
        self._parts.prepare_model()

    # --- intents

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave alone what another screen is over; what is asked is answered first."""
        if action not in ("invoke", "command_palette"):
            return super().check_action(action, parameters)
        if self._desk.questions.open:
            return parameters[:1] == ("quit",)
        if self.screen is self.chat or parameters[:1] in _ON_ANY_SCREEN:
            return True
        # Another session puts the search away.
        return self._desk.searching.is_on_top and parameters[:1] == ("new",)

    def action_command_palette(self) -> None:
        from tui.screens.palette_screen import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    async def action_invoke(self, name: str, arguments: str = "") -> None:
        # Bound with priority: it would overtake what was typed.
        self.input_queue.run_between_keys(lambda: self._intake.invoke(Invocation(name, arguments)))

    @on(CommandInvoked)
    async def invoke_command(self, event: CommandInvoked) -> None:
        await self._intake.invoke(Invocation(event.name, event.arguments))

    @on(Prompt.Submitted)
    async def submit_prompt(self, event: Prompt.Submitted) -> None:
        await self._intake.submit(event.text)

    @on(Prompt.Edited)
    def note_draft(self, event: Prompt.Edited) -> None:
        if event.text != self.chat.prompt.draft:
            return  # it was typed in a session that is no longer on screen
        conversation = self.workspace.current
        conversation.prompt.edit(event.text, event.pastes)
        if conversation.opened is None and not conversation.read_only:
            self.run_worker(partial(self._desk.sending.open_for_change, conversation))

    @on(Prompt.TakenBack)
    def take_back_queued(self, event: Prompt.TakenBack) -> None:
        self._desk.sending.take_back(event.prompts, event.back)

    @on(ChatScreen.DraftSettled)
    def keep_drafts(self) -> None:
        # Not awaited here: keys would wait for a slow disk.
        self.run_worker(self._desk.sending.keep_drafts)

    @on(Sidebar.SessionSelected)
    def look_at_session(self, event: Sidebar.SessionSelected) -> None:
        let_keys_go = self.input_queue.hold()
        self.run_worker(partial(self._look_at, event.session_id, let_keys_go))

    @on(Sidebar.SessionRenamed)
    def rename_session(self, event: Sidebar.SessionRenamed) -> None:
        self.run_worker(partial(self._desk.listed.rename, event.session_id, event.name))

    @on(Sidebar.WidthChanged)
    def remember_width(self, event: Sidebar.WidthChanged) -> None:
        self._desk.remembered.note(sidebar_width=event.columns)

    @on(Sidebar.DeletionConfirmed)
    def delete_session(self, event: Sidebar.DeletionConfirmed) -> None:
        self._intake.do(partial(archive.delete_at_once, self._desk.commands, event.session_id))

    @on(Sidebar.ArchiveUnfolded)
    def read_archive(self) -> None:
        self.run_worker(self._desk.listed.read_archive)

    @on(Sidebar.MoreWanted)
    def read_more_rows(self) -> None:
        self.run_worker(self._desk.listed.read_more)

    @on(Sidebar.ScopeToggled)
    def toggle_scope(self) -> None:
        self.run_worker(self._desk.listed.toggle_scope)

    @on(Transcript.PassageWanted)
    async def show_passage(self, event: Transcript.PassageWanted) -> None:
        await self._desk.passages.take(event)

    @on(SearchIntent)
    def search(self, event: SearchIntent) -> None:
        self._desk.searching.take(event)

    @on(FindLine.Wanted)
    def look_for(self, event: FindLine.Wanted) -> None:
        self._desk.finding.look_for(event.text)

    @on(FindLine.Stepped)
    def go_to_match(self, event: FindLine.Stepped) -> None:
        self._desk.finding.step(event.count)

    @on(Transcript.CopyRequested)
    @on(Prompt.CopyRequested)
    def copy_text(self, event: Transcript.CopyRequested | Prompt.CopyRequested) -> None:
        self.copy_to_clipboard(event.text, getattr(event, "what", ""))

    @property
    def clipboard(self) -> str:
        return self._desk.copying.text

    def copy_to_clipboard(self, text: str, what: str = "") -> None:
        # Whatever copies comes here, the screens' own selection too.
        self._desk.copying.start(text, partial(self._desk.copying.tell, what=what))

    @on(Transcript.LinksWanted)
    async def open_link(self, event: Transcript.LinksWanted) -> None:
        await self._desk.linking.take(event)

    @on(ApprovalPanel.Answered)
    def answer_question(self, event: ApprovalPanel.Answered) -> None:
        self._desk.approvals.answer(event.question, event.choice)

    @on(TurnFinished)
    def end_turn(self, event: TurnFinished) -> None:
        self._desk.endings.note(event.conversation)
        self.run_worker(partial(self._end_turn, event.conversation))

    async def _end_turn(self, conversation: LoadedSession) -> None:
        await self._desk.endings.end(conversation)
        self._desk.searching.note_turn()

    async def _carry_out_all(self, wanted: Sequence[Effect]) -> None:
        await self._effects.carry_out(wanted)

    # --- what has come of it

    async def _look_at(self, session_id: str, let_keys_go: Callable[[], None]) -> None:
        try:
            await self.input_queue.settle()
            left = self.workspace.current
            shown = await self._show_another(session_id)
        finally:
            let_keys_go()
        if shown:
            self._desk.listed.show()
            await self._desk.passages.go_on_reading()
            await self.workspace.settle()
            await self._desk.listed.show_left(left)

    async def _show_another(self, session_id: str) -> bool:
        try:
            switched = await self.workspace.look_at(session_id)
        except StorageError as error:
            self._desk.display.say(Notice(str(error), "error"))
            self._desk.display.show_status()
            self.chat.stay()
            return False
        if not switched or self.chat.shown == self.workspace.current.id:
            return False
        self._desk.display.show_session()
        return True
