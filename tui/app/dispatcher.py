"""Commands and prompts: accepted at once, carried out in order, and the shell of commands."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App

from tui.app.input_queue import InputQueue, Step
from tui.app.wiring import Controllers
from tui.domain.commands import BY_NAME, REACHES, Invocation, read_input
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.models import looks_like_key
from tui.domain.views.notice import Severity
from tui.engine.sessions.workspace import Workspace
from tui.screens.chat import ChatScreen
from tui.terminal.flow_control import FlowControlledApp
from tui.widgets.keys import key_name

if TYPE_CHECKING:
    from tui.commands.shell import CommandContext, Opened, Shell, Work
    from tui.screens.confirm import ConfirmScreen


class Confirmation(msgspec.Struct, eq=False):
    """A question, its answer, and the turn in the input queue that follows the answer."""

    question: str
    detail: str | Callable[[], str]
    again: str
    """A name: asking the same again, while the question is open, means yes."""
    answer: asyncio.Future[bool] = msgspec.field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    turn: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set when the command ends, or asks again."""

    async def follow(self, *, yes: bool) -> None:
        """Give the command its answer, and wait for the end of its turn."""
        self.answer.set_result(yes)
        await self.turn.wait()


class Confirmations(msgspec.Struct, eq=False):
    """Asks one question after another; the command goes on in its turn.

    A question that is open when the program ends has no effect.
    """

    _app: FlowControlledApp
    _chat: ChatScreen
    _queue: InputQueue
    asked: list[Confirmation] = []
    """Those that are open; the first one is on screen."""
    _screen: "ConfirmScreen | None" = None

    def ask(self, asked: Confirmation) -> None:
        """Ask a question after all earlier ones; one that is asked again means yes."""
        if asked.again and asked.again in {each.again for each in self.asked}:
            self._queue.add(partial(asked.follow, yes=True))
            return
        self.asked.append(asked)
        if len(self.asked) == 1:
            self._show()
        elif asked.again and self._screen is not None:
            # The user wants something else by now.
            self._screen.dismiss(result=False)

    def _show(self) -> None:
        # Not before the first question: the start does without it.
        from tui.screens.confirm import ConfirmScreen

        asked = self.asked[0]
        pass_on, is_seen = self._chat.pass_to_prompt, self._app.flow_control.sight()
        self._screen = ConfirmScreen(asked.question, asked.detail, pass_on, is_seen)
        self._app.push_screen(
            self._screen,
            lambda yes: self._queue.add(partial(self._follow, yes=bool(yes)), leads=True),
        )

    async def _follow(self, *, yes: bool) -> None:
        try:
            await self.asked[0].follow(yes=yes)
        finally:
            del self.asked[0]
            if self.asked:
                self._show()
            else:
                # The line was drawn when the question closed, while its keys had no effect yet.
                self._chat.refresh_bindings()


_UNDO = ("sidebar-undo", "picker-undo")


class AppShell(msgspec.Struct, eq=False):
    """The shell of one command: a ``tui.commands.shell.Shell``, whose turn it knows."""

    _app: App[Any]
    _queue: InputQueue
    _controllers: Controllers
    _confirmations: Confirmations
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
        """Update notices, to-dos, status bar and list."""
        # Not with those of the next command, which may have run by the next frame.
        self._controllers.presenter.show_notices()
        # Not all around the prompt: a question that is just being answered would come back.
        self._controllers.presenter.show_todos()
        self._controllers.presenter.show_status()
        self._controllers.session_list.show()

    @property
    def context(self) -> "CommandContext":
        return self._controllers.commands

    def say(self, text: str, severity: Severity = "information") -> None:
        if "/undo" in text and self._app.screen_stack:
            # In a list of sessions no command can be typed, but a key undoes.
            bound = self._app.screen.active_bindings.items()
            keys = (key_name(k) for k, each in bound if each.binding.id in _UNDO and each.enabled)
            text = text.replace("/undo", next(keys, "/undo"))
        self._controllers.presenter.say(text, severity)

    def report(self, title: str, text: str) -> None:
        from tui.screens.page import ReportScreen

        pass_on = self._controllers.chat.pass_to_prompt
        self._app.push_screen(ReportScreen(title, text, pass_on))

    async def show_session(self) -> None:
        self._controllers.search.close()
        await self._controllers.navigation.show_session()
        show_scope = self._controllers.session_list.show_scope
        self._app.run_worker(show_scope, name="list the project's sessions")

    def show_moved(self, session_id: str) -> None:
        show_moved = partial(self._controllers.session_list.show_moved, session_id)
        self._app.run_worker(show_moved, name="finish the command")

    def focus_prompt(self) -> None:
        self._controllers.chat.go_to_prompt()

    def copy(self, text: str) -> None:
        self._controllers.clipboard.start(text)

    def open(self, what: "Opened", text: str = "") -> None:
        controllers = self._controllers
        match what:
            case "connect":
                controllers.connect.open()
            case "editor":
                controllers.external_editor.start()
            case "help" | "notices":
                controllers.toggle_page(what)
            case "import":
                controllers.imports.open(text)
            case "models":
                controllers.model_picker.open(text)
            case "picture":
                self._app.run_worker(controllers.prompt_files.paste_picture, name="paste")
            case "rename":
                controllers.chat.action_rename()
            case "search":
                controllers.search.open()
            case "sessions" | "closed sessions":
                controllers.picker.open("all" if what == "sessions" else "closed", text=text)
            case "sessions of this project":
                controllers.picker.open("all", everywhere=False)
            case "title":
                controllers.chat.action_rename()
                controllers.chat.sidebar.rename_line.action_ask_title()
            case "themes" if text:
                controllers.themes.choose(text)
                self.say(f"Theme: {text}")
            case "themes":
                controllers.themes.pick()
            case "tools":
                controllers.tools.open()

    async def confirm(
        self, question: str, detail: str | Callable[[], str] = "", *, again: str = ""
    ) -> bool:
        asked = Confirmation(question, detail, again)
        self._queue.call_when_handled(partial(self._confirmations.ask, asked))
        self._update()
        # The turn is given back; the answer brings another one.
        self._turn.set()
        self._turn = asked.turn
        return await asked.answer

    def in_background(self, work: "Work") -> None:
        # A shell of its own: if it asks, it gives back a turn that no later question waits for.
        shell = msgspec.structs.replace(self, _turn=asyncio.Event())

        async def finish() -> None:
            await shell.run(work)
            await self._controllers.session_list.refresh()

        self._app.run_worker(finish, name="finish the command")

    def exit(self) -> None:
        self._app.exit()


class Dispatcher(msgspec.Struct, eq=False):
    """Queues commands and prompts for the session in which they were given."""

    _queue: InputQueue
    _workspace: Workspace
    _prompts: Mapping[str, str]
    _controllers: Controllers
    _shell: Callable[[], AppShell]

    async def submit(self, text: str, own: frozenset[str]) -> None:
        """Dispatch the submitted text of the prompt, and the user's own references in it."""
        session, controllers = self._workspace.current, self._controllers
        wanted = read_input(text, self._prompts, own)
        is_command = isinstance(wanted, Invocation)
        place = None
        # Else what acts on messages is not loaded for a prompt.
        if not is_command and (session.prompt.editing or session.pages.aside):
            place = controllers.messages.place_of(session)
        if place is None:
            controllers.chat.go_to_end(returning=is_command)
            controllers.presenter.show_end()
        # Text typed since then stays.
        session.prompt.edit(controllers.chat.prompt.draft)
        controllers.chat.settle_draft()
        session.prompt.refer(text, own)
        if is_command:
            if wanted.name not in BY_NAME:
                controllers.prompt.give_back(session, text)
            await self.invoke(wanted)
            return
        session.prompt.refer(wanted.text, wanted.own)
        if len(wanted.text.encode(errors="surrogatepass")) > TEXT_BYTES:
            controllers.presenter.say("Prompt is larger than 8 MiB.", "error")
            controllers.prompt.give_back(session, wanted.typed)
        elif place is not None:
            session.prompt.begin_leaving(wanted.text)
            send = partial(controllers.messages.send, session, wanted, place)
            self._queue.add(send, leads=True)
        elif session.opened is not None and not self._queue.pending:
            await controllers.prompt.send(session, wanted)
        else:
            session.prompt.enqueue(wanted.text)
            controllers.chat.show_queue(session.prompt.queue)
            controllers.presenter.show_status()
            self._queue.add(partial(controllers.prompt.send_queued, session, wanted))

    async def invoke(self, invocation: Invocation) -> None:
        """Queue a command; ``/stop`` and ``/quit`` take effect at once."""
        reach, here = REACHES.get(invocation.name), self._workspace.current
        shown = "…" if looks_like_key(invocation.arguments) else invocation.arguments
        typed = f"/{invocation.name} {shown}".rstrip()

        async def run(shell: "Shell") -> None:
            from tui.commands import registry

            await registry.run(shell, invocation)

        async def run_here() -> None:
            if reach != "anywhere" and here.id != self._workspace.current.id:
                # An earlier task took long, and led to another session.
                words = f"Not done, because another session is on screen now: {typed}"
                self._controllers.presenter.say(words, "warning")
            else:
                await self._shell().start(run, typed)()

        if invocation.name == "stop":
            # Now: prompts submitted later are to be sent.
            waited = self._controllers.turns.hold_queue(here)
            # Later tasks wait until the answer has stopped.
            self._queue.add(self._shell().start(_stop if waited else run, "stop the answer"))
        elif reach == "at once":
            await self._shell().start(run, typed)()
        else:
            self._queue.add(run_here, leads=reach != "stays", name=typed)

    def do(self, work: "Work") -> None:
        """Queue work that no typed command stands for."""

        async def run() -> None:
            await self._shell().start(work)()

        self._queue.add(run, leads=True)


async def _stop(shell: "Shell") -> None:
    await shell.context.stop(shell.workspace.current)
