"""The shell of commands in the application: what they say, show, open and ask."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from textual.app import App

from tui.app.controllers.confirmations import Confirmation
from tui.app.input_queue import InputQueue, Step
from tui.app.wiring import Controllers
from tui.domain.views.notice import Notice, Report, Severity
from tui.domain.views.session_rows import PickerView
from tui.engine.sessions.workspace import Workspace
from tui.widgets.intents import VersionIntent
from tui.widgets.keys import key_name

if TYPE_CHECKING:
    from tui.commands.shell import CommandContext, Opened, Work


_UNDO = ("sidebar-undo", "picker-undo")


class AppShell(msgspec.Struct, eq=False):
    """The shell of one command: a ``tui.commands.shell.Shell``, whose turn it knows."""

    _app: App[Any]
    _queue: InputQueue
    _controllers: Controllers
    workspace: Workspace
    _turn: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    def start(self, work: "Work", name: str = "") -> Step:
        """Run a command; the step that is returned ends with it, or once it asks the user."""
        turn = self._turn
        self._app.run_worker(partial(self.run, work), name=name)
        return turn.wait

    async def run(self, work: "Work") -> None:
        """Run a command to its end, and give its turn back."""
        # Imported with the first command: the first screen needs no function of them.
        from tui.commands.registry import carry_out

        try:
            await carry_out(self, work)
            self._update()
        finally:
            self._turn.set()

    def _update(self) -> None:
        """Update status bar, notices and list."""
        # Not with those of the next command, which may have run by the next frame.
        self._controllers.presenter.show_notices()
        self._controllers.presenter.show_status()
        self._controllers.session_list.show()

    @property
    def context(self) -> "CommandContext":
        return self._controllers.commands

    def say(self, text: str, severity: Severity = "information") -> None:
        self._controllers.presenter.say(Notice(self._with_key(text), severity))

    def _with_key(self, text: str) -> str:
        """Name the key that undoes in a list of sessions, where no command can be typed."""
        if "/undo" not in text or not self._app.screen_stack:
            return text
        bound = self._app.screen.active_bindings.items()
        keys = (key_name(key) for key, each in bound if each.binding.id in _UNDO and each.enabled)
        return text.replace("/undo", next(keys, "/undo"))

    def report(self, title: str, text: str) -> None:
        self._controllers.notices.open_report(Report(title, text))

    async def show_session(self) -> None:
        self._controllers.search.close()
        await self._controllers.navigation.show_session()
        show_scope = self._controllers.session_list.show_scope
        self._app.run_worker(show_scope, name="list the project's sessions")

    def show_moved(self, session_id: str) -> None:
        show_moved = partial(self._controllers.session_list.show_moved, session_id)
        self._app.run_worker(show_moved, name="finish the command")

    def show_todos(self) -> None:
        self._controllers.presenter.show_prompt()

    def focus_prompt(self) -> None:
        self._controllers.chat.go_to_prompt()

    def copy(self, text: str) -> None:
        self._controllers.clipboard.start(text, self._controllers.presenter.say)

    def open(self, what: "Opened", text: str = "") -> None:
        controllers = self._controllers
        match what:
            case "connect":
                controllers.connect.open()
            case "editor":
                controllers.external_editor.start()
            case "help":
                controllers.toggle_help()
            case "import":
                controllers.imports.open(text)
            case "models":
                controllers.model_picker.open(text)
            case "notices":
                controllers.notices.toggle_list()
            case "picture":
                self._app.run_worker(controllers.prompt_files.paste_picture, name="paste")
            case "rename":
                controllers.chat.action_rename()
            case "search":
                controllers.search.open()
            case "title":
                controllers.titles.propose()
            case "themes" if text:
                controllers.themes.choose(text)
                self.say(f"Theme: {text}")
            case "themes":
                controllers.themes.pick()
            case "tools":
                controllers.tools.open()

    def open_sessions(self, view: PickerView, *, everywhere: bool = True, text: str = "") -> None:
        self._controllers.picker.open(view, everywhere=everywhere, text=text)

    async def revise(self, message_id: str, what: Literal["again", "edit"]) -> None:
        wanted = VersionIntent(message_id, what)
        await self._controllers.versions.handle(self.workspace.current, wanted)

    async def retry(self) -> None:
        await self._controllers.prompt.retry()

    async def compact(self) -> None:
        await self._controllers.prompt.compact()

    async def confirm(
        self, question: str, detail: str | Callable[[], str] = "", *, again: str = ""
    ) -> bool:
        asked = Confirmation(question, detail, again)
        self._queue.call_when_handled(partial(self._controllers.confirmations.ask, asked))
        self._update()
        # The turn is given back; the answer brings another one.
        self._turn.set()
        self._turn = asked.turn
        return await asked.answer

    def in_background(self, work: "Work") -> None:
        # A shell of its own: if it asks, it gives back a turn that no later question waits for.
        shell = AppShell(self._app, self._queue, self._controllers, self.workspace)

        async def finish() -> None:
            await shell.run(work)
            await self._controllers.session_list.refresh()

        self._app.run_worker(finish, name="finish the command")

    def exit(self) -> None:
        self._app.exit()
