"""The end: which signals lead to it, and what is saved and said then."""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from textual.worker import WorkerFailed

from tui import paths
from tui.engine.conversation import Conversation
from tui.engine.saving import save_errors
from tui.engine.workspace import Workspace
from tui.errors import StorageError, UsageError
from tui.keyboard import SECONDS_TO_ARRIVE, KeyboardApp, after_what_was_typed
from tui.orders import Orders
from tui.pacing import PacedApp
from tui.storage.rescue import write_draft, write_rescue
from tui.widgets.hints import hint
from tui.widgets.key_names import key_name

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""What ends the program from outside; Textual itself ends in order on none of them."""
SECONDS_TO_BE_SEEN_TO = 5.0
"""How long keys that are held back, say while a slow disk saves, hold up the end at the most."""


def end_on_signals(end: Callable[[int], None]) -> None:
    """Call ``end`` with the exit code when the program is asked to end."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)


class OrderlyApp(KeyboardApp, PacedApp):
    """An application that leaves nothing behind: what was typed counts, and a defect is told.

    One in a worker ends nothing else: it is told on screen by ``tell_defect``. ``run_async`` raises
    the first error that nobody expected, ``defect``, once all is saved.
    """

    defect: Exception | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.orders = Orders(self)

    async def run_async(self, **options: Any) -> None:
        await super().run_async(**options)
        if self.defect is not None:
            raise self.defect

    def tell_defect(self, words: str) -> None:
        """Say on screen that something did not come to its end."""

    def action_help_quit(self) -> None:
        """Say what Ctrl+C does here: many try to leave by it."""
        bound = self.active_bindings.items()
        leave = next((key for key, each in bound if each.binding.id == "quit"), "")
        words = f" {key_name(leave)} leaves the program." if leave else ""
        hint(self.screen, f"Nothing is selected to be copied.{words}")

    def exit(
        self,
        result: None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """End once the keys that came before have done what they do."""
        if self.is_anothers and return_code == 128 + signal.SIGINT:
            return  # Ctrl+C, typed for the program that has the terminal
        leave = partial(super().exit, result, return_code, message)
        if not self.is_running:
            leave()
            return
        self.set_timer(SECONDS_TO_BE_SEEN_TO, leave)
        # In its turn: keys that came before may not have been held back yet.
        self.call_later(self._leave_behind_keys, leave)

    def _leave_behind_keys(self, leave: Callable[[], None]) -> None:
        if self.put_behind_held_keys(partial(self._leave_behind_keys, leave)):
            return
        last = partial(self._leave_behind_orders, leave)
        self.set_timer(SECONDS_TO_ARRIVE, last)
        after_what_was_typed(self, last)

    def _leave_behind_orders(self, leave: Callable[[], None]) -> None:
        self.orders.give(partial(_do, leave))

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        if self.defect is None and isinstance(cause, Exception):
            self.defect = cause
        if cause is not error and self.is_running:
            # Later: should it not be told either, that ends the program.
            self.call_later(self.tell_defect, f"Unexpected error: {type(cause).__name__}: {cause}")
            return
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # Textual's own words show local variables: what was said, keys, and that as it is.
        self._close_messages_no_wait()


async def _do(leave: Callable[[], None]) -> None:
    leave()


def _goes_on(conversation: Conversation) -> bool:
    """Whether a draft was gone on with in a session that is not open yet."""
    draft, kept = conversation.draft(), conversation.kept
    looked_at = conversation.opened is None and not conversation.read_only
    return looked_at and kept is not None and draft != kept and not draft.empty


class DaemonThreads(ThreadPoolExecutor):
    """Runs what blocks, each in a thread that nothing waits for at the end.

    The threads of asyncio's own are joined: a name that is not resolved, a disk that does not
    answer would hold the program. What writes is waited for by whoever saves.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        work = partial(fn, *args, **options)
        threading.Thread(target=_carry_out, args=(future, work), daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's own
        """Wait for nothing."""


def _carry_out(future: Future[Any], work: Callable[[], Any]) -> None:
    if future.set_running_or_notify_cancel():
        with _Raised(future):
            future.set_result(work())


class _Raised:
    """Lets an error be raised where the future is awaited."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return True


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop that can be left at any time."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(DaemonThreads())
    return loop


class FinalSave:
    """Saves every open session, or puts it into a rescue file, and says so.

    ``lines`` are for standard error, once the terminal is whole again.
    """

    def __init__(
        self,
        workspace: Workspace,
        rescue_directories: Sequence[Path],
        data_dir: str | None,
        model: str | None = None,
    ) -> None:
        self._workspace = workspace
        self._rescue_directories = rescue_directories
        self._options = f" --data-dir {_quoted(data_dir)}" if data_dir else ""
        self._model = model
        self._done = False
        self._unsaved: set[str] = set()
        self.failed = False
        self.lines: list[str] = []

    async def run(self) -> None:
        """Do it; the second time nothing is left to be done."""
        if self._done:
            return
        current = self._workspace.current
        goes_on = _goes_on(current)
        try:
            with save_errors():
                await self._workspace.keep_drafts()
                if goes_on:
                    await self._take_draft_over(current)
        except StorageError as error:
            self._fail(f"What was typed could not be kept: {error}")
            self._rescue_drafts()
        for conversation in self._workspace.open:
            await self._close(conversation)
        # What --continue goes on with, say.
        await self._workspace.settle()
        # Not before: what a defect here leaves is saved without the loop.
        self._done = True
        self._tell_what_was_saved(current)

    async def _take_draft_over(self, conversation: Conversation) -> None:
        """Open a session, as the first key in it would have, so that its draft is the only one."""
        with suppress(StorageError, UsageError):
            # Else it stands beside the one that it goes on from.
            await self._workspace.take(conversation)
            await self._workspace.keep_draft(conversation)

    def _rescue_drafts(self) -> None:
        """Put what stands in prompts where there is room."""
        shown = {id(each): each for each in (*self._workspace.open, self._workspace.current)}
        for conversation in shown.values():
            draft = conversation.draft()
            if draft.empty or draft == conversation.kept:
                continue
            try:
                with save_errors():
                    path = write_draft(self._rescue_directories, draft)
            except StorageError as failure:
                self._fail(str(failure))
            else:
                self.lines.append(f"It is in {path}.")

    def run_at_once(self) -> None:
        """The same where no event loop is left; harmless after ``run``."""
        if self._done:
            return
        self._done = True
        current = self._workspace.current
        for conversation in self._workspace.open:
            self._save_at_once(conversation)
        self._tell_what_was_saved(current)

    def rescue(self, conversation: Conversation) -> Sequence[str]:
        """Put what a session that is given up has unsaved where there is room; says where.

        It is told at the end, too. Raises ``StorageError`` if there is no room anywhere.
        """
        lines = [*self._rescued(conversation), *self._rescued_draft(conversation)]
        self._fail_to_save(conversation, ".")
        self.lines += lines
        return lines

    def _rescued(self, conversation: Conversation) -> Sequence[str]:
        opened = conversation.opened
        if opened is None or not opened.unsaved:
            return ()
        path = write_rescue(self._rescue_directories, opened.header, opened.pending)
        name = _quoted(str(path))
        return (
            f"What could not be saved is in {path}.",
            f"Take it back with: {_program()} sessions import {name}{self._options}",
        )

    def _rescued_draft(self, conversation: Conversation) -> Sequence[str]:
        draft = conversation.draft()
        if draft.empty or draft == conversation.kept:
            return ()
        return (f"What was typed is in {write_draft(self._rescue_directories, draft)}.",)

    async def _close(self, conversation: Conversation) -> None:
        try:
            with save_errors():
                await self._workspace.close(conversation)
        except StorageError as error:
            self._rescue(conversation, error)
            self._workspace.abandon(conversation)

    def _save_at_once(self, conversation: Conversation) -> None:
        opened = conversation.opened
        if opened is None:
            return
        try:
            with save_errors():
                opened.interrupt()
                if opened.unsaved:
                    opened.save_at_once()
                    self._workspace.note_saved(conversation)
        except StorageError as error:
            self._rescue(conversation, error)

    def _rescue(self, conversation: Conversation, error: StorageError) -> None:
        opened = conversation.opened
        if opened is None or not opened.unsaved:
            return
        self._fail_to_save(conversation, f": {error}")
        try:
            with save_errors():
                self.lines += self._rescued(conversation)
        except StorageError as failure:
            self._fail(str(failure))

    def _fail_to_save(self, conversation: Conversation, reason: str) -> None:
        self._unsaved.add(conversation.id)
        self._fail(f"Could not save {conversation.id}{reason}")

    def _fail(self, line: str) -> None:
        self.failed = True
        self.lines.append(line)

    def _tell_what_was_saved(self, current: Conversation) -> None:
        saved = (each for each in self._workspace.changed if each not in self._unsaved)
        self.lines += [f"Session saved: {session_id}" for session_id in saved]
        if current.published:
            options = self._options + self._model_option(current)
            self.lines.append(f"Resume with: {_program()} --session {current.id}{options}")

    def _model_option(self, current: Conversation) -> str:
        """The ``--model`` of this start, unless another model was chosen in the session since."""
        if self._model is None:
            return ""
        name = current.model.name if current.model else self._model
        kept = self._model in (name, name.partition(":")[0])
        return f" --model {_quoted(self._model)}" if kept else ""


def _program() -> str:
    return paths.command(sys.argv[0])


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
