"""Dispatch of commands and prompts: accepted at once, carried out in order."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tui.app.input_queue import InputQueue
from tui.app.shell import AppShell
from tui.app.wiring import Controllers
from tui.domain.commands import BY_NAME, REACHES, Invocation, read_input
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.models import looks_like_key
from tui.domain.views.notice import Notice
from tui.engine.sessions.workspace import Workspace

if TYPE_CHECKING:
    from tui.commands.shell import Shell, Work


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
        place = None if is_command else controllers.versions.place_of(session)
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
            controllers.presenter.say(Notice("Prompt is larger than 8 MiB.", "error"))
            controllers.prompt.give_back(session, wanted.typed)
        elif place is not None:
            session.prompt.begin_leaving(wanted.text)
            send = partial(controllers.versions.send, session, wanted, place)
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
        reach = REACHES.get(invocation.name)
        if invocation.name == "stop":
            # Now: prompts submitted later are to be sent.
            waited = self._controllers.turns.hold_queue(self._workspace.current)
            stop = self._stop if waited else partial(_run, invocation=invocation)
            # Later tasks wait until the answer has stopped.
            self._queue.add(self._shell().start(stop, "stop the answer"))
        elif reach == "at once":
            await self._do(partial(_run, invocation=invocation), _typed(invocation))
        else:
            task = partial(self._run_in, self._workspace.current.id, invocation)
            self._queue.add(task, leads=reach != "stays", name=_typed(invocation))

    def do(self, work: "Work") -> None:
        """Queue work that no typed command stands for."""
        self._queue.add(partial(self._do, work), leads=True)

    async def _run_in(self, session_id: str, invocation: Invocation) -> None:
        elsewhere = session_id != self._workspace.current.id
        if elsewhere and REACHES.get(invocation.name) != "anywhere":
            # An earlier task took long, and led to another session.
            words = f"Not done, because another session is on screen now: {_typed(invocation)}"
            self._controllers.presenter.say(Notice(words, "warning"))
        else:
            await self._do(partial(_run, invocation=invocation), _typed(invocation))

    async def _do(self, work: "Work", name: str = "") -> None:
        await self._shell().start(work, name)()

    async def _stop(self, shell: "Shell") -> None:
        await self._controllers.prompt.stop(shell.workspace.current)


async def _run(shell: "Shell", invocation: Invocation) -> None:
    from tui.commands import registry

    await registry.run(shell, invocation)


def _typed(invocation: Invocation) -> str:
    arguments = "…" if looks_like_key(invocation.arguments) else invocation.arguments
    return f"/{invocation.name} {arguments}".rstrip()
