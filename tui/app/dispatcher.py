"""Dispatch of commands and prompts: accepted at once, carried out in order."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tui.app.dependencies import Dependencies
from tui.app.input_queue import InputQueue
from tui.app.shell import AppShell
from tui.app.wiring import Controllers
from tui.domain.commands import BY_NAME, REACHES, Invocation, PromptText, read_input
from tui.domain.model_names import looks_like_key
from tui.domain.views.notice import Notice

if TYPE_CHECKING:
    from tui.app.controllers.versions import Place
    from tui.commands.shell import Shell, Work


class Dispatcher:
    """Queues commands and prompts for the session in which they were given."""

    def __init__(
        self,
        queue: InputQueue,
        parts: Dependencies,
        controllers: Controllers,
        shell: Callable[[], AppShell],
    ) -> None:
        self._queue = queue
        self._shell = shell
        self._workspace = parts.workspace
        self._prompts = parts.prompts
        self._controllers = controllers

    async def submit(self, text: str, own: frozenset[str]) -> None:
        """Dispatch the submitted text of the prompt, and the user's own references in it."""
        wanted = read_input(text, self._prompts, own)
        is_command = isinstance(wanted, Invocation)
        place = None if is_command else self._controllers.versions.place_of(self._workspace.current)
        if place is None:
            self._controllers.presenter.go_to_end(returning=is_command)
        self._controllers.prompt.note_submitted()
        self._workspace.current.prompt.refer(text, own)
        if not is_command:
            self._workspace.current.prompt.refer(wanted.text, wanted.own)
            await self._submit(wanted, place)
            return
        if wanted.name not in BY_NAME:
            self._controllers.prompt.give_back(self._workspace.current, text)
        await self.invoke(wanted)

    async def _submit(self, prompt: PromptText, place: "Place | None") -> None:
        session, controller = self._workspace.current, self._controllers.prompt
        if not controller.accepts(session, prompt):
            return
        if place is not None:
            send = self._controllers.versions.send
            session.prompt.begin_leaving(prompt.text)
            self._queue.add(partial(send, session, prompt, place), leads=True)
            return
        if session.opened is not None and not self._queue.pending:
            await controller.send(session, prompt)
            return
        controller.put_in_queue(session, prompt)
        if session.opened is not None:
            self._queue.add(partial(controller.send_queued, session, prompt.text))
        else:
            self._queue.add(partial(controller.send_waiting, session, prompt))

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
            await self._run(invocation)
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
            return
        await self._run(invocation)

    async def _run(self, invocation: Invocation) -> None:
        from tui.commands import registry

        await self._do(partial(registry.run, invocation=invocation), _typed(invocation))

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
