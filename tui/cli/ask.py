"""``sibyl-tui ask``: one turn without the screen, saved like every other."""

import asyncio
import shlex
import signal
import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.cli import output
from tui.cli.approval import ask_on_terminal
from tui.cli.printing import JsonPrinter, Printer, TextPrinter
from tui.cli.program import Program
from tui.cli.prompt import confirm_secrets, read_prompt, refuse_streams, typed_part
from tui.config import paths
from tui.domain.journal.message import Message
from tui.domain.references import words_in
from tui.engine.sessions.leasing import SessionOrigin, new_session, resume_session
from tui.engine.sessions.open_session import OpenSession
from tui.engine.turns.events import MessageSaved, TurnEnded, TurnEvent
from tui.engine.turns.turn import Turn, begin_turn
from tui.errors import ConfigError, OutputError, StorageError, UsageError
from tui.providers.protocol import Model
from tui.storage.rescue import write_rescue

_SAVED_LATE = "The first attempt to save failed, so the model was not asked. All is saved now."
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(chosen: Namespace) -> int:
    """Ask, print the answer, and return the exit code."""
    try:
        refuse_streams(chosen.files)
        prompt = read_prompt(chosen.prompt)
        program = Program.from_arguments(chosen)
        session, model = _session(program, chosen)
        content = _content(program, session, chosen, prompt)
        return asyncio.run(_ask(program, chosen, session, model, content))
    except (ConfigError, StorageError, UsageError) as error:
        if chosen.json:
            # A reader of the JSON objects may not see standard error.
            JsonPrinter().fail(str(error))
        raise


def _content(
    program: Program, session: OpenSession, chosen: Namespace, prompt: str
) -> str | list[Any]:
    """Attach the files to the prompt, before anything is sent."""
    own = words_in(typed_part(chosen.prompt))
    if not chosen.files and not own:
        return prompt
    from tui.engine.prompts.attaching import Place, attach

    # In a shell, paths begin where it is.
    folders = (Path(), Path(session.header.project_path))
    place = Place(program.store, session.id, folders)
    try:
        attached = attach(prompt, own, place, chosen.files)
        if attached.secrets:
            confirm_secrets(attached.secrets, session.model)
    except BaseException:
        session.abandon()
        raise
    if attached.notice:
        output.tell(attached.notice)
    if attached.missing:
        names = ", ".join(attached.missing)
        output.tell(f"No such file: {names}. It is sent as text.")
    return attached.content


async def _ask(
    program: Program,
    chosen: Namespace,
    session: OpenSession,
    model: Model,
    prompt: str | list[Any],
) -> int:
    printer = JsonPrinter() if chosen.json else TextPrinter()
    settings = program.turn_settings().asking(ask_on_terminal)
    turn = asyncio.create_task(_told(begin_turn(session, prompt, model, settings), printer))
    ended_by = _end_on_signals(turn)
    ended: TurnEnded | None = None
    kept = False
    failure = ""
    try:
        ended = await turn
    except asyncio.CancelledError:
        printer.fail("Interrupted.")
    except StorageError as error:
        failure = str(error)
    except OutputError as error:
        output.tell(str(error))
    finally:
        unsaved = [each for each in session.pending if isinstance(each, Message)]
        kept = await _leave(program, session, printer, failure)
        await settings.tools.servers.close()
    if kept:
        for message in unsaved:
            printer.show(MessageSaved(session.id, message))
        if failure:
            printer.fail(_SAVED_LATE)
    if ended is not None:
        printer.show(ended)
    if kept and session.published:
        _tell_how_to_go_on(program, session)
    if ended_by:
        return 128 + ended_by[0]
    return 0 if kept and ended is not None and ended.status != "failed" else 1


def _session(program: Program, chosen: Namespace) -> tuple[OpenSession, Model]:
    session_id = program.wanted(chosen)
    if session_id is None:
        model = program.model()
        place = SessionOrigin(program.scope, program.project_path, model.name)
        return new_session(program.store, place, program.clock), model
    session = resume_session(program.store, session_id, program.clock, sys.maxsize)
    with suppress(StorageError):
        # Failing to mark the active session must not prevent the question.
        program.store.set_active(session.header.scope, session_id)
    program.tell_condition(session.session)
    model = program.model(session.model)
    session.use_model(model.name)
    return session, model


async def _told(turn: Turn, printer: Printer) -> TurnEnded:
    """Print the events of a turn but its end, which comes once the session is closed."""

    async def show(event: TurnEvent) -> None:
        if not isinstance(event, TurnEnded):
            printer.show(event)

    return await turn.run(show)


def _end_on_signals(turn: asyncio.Task[TurnEnded]) -> list[int]:
    """Cancel the turn on an ending signal; the returned list receives its number."""
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        turn.cancel()

    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, stop, number)
    return received


async def _leave(program: Program, session: OpenSession, printer: Printer, failure: str) -> bool:
    """Save pending records and close the session; if that fails, write them to a rescue file.

    ``failure`` is the error of an earlier save: only a save that fails here, too, is told.
    """
    try:
        await session.close()
    except StorageError as error:
        session.abandon()
        if not session.unsaved:
            return True
        for words in dict.fromkeys(filter(None, (failure, str(error)))):
            printer.fail(words)
        _rescue(program, session)
        return False
    return True


def _rescue(program: Program, session: OpenSession) -> None:
    try:
        path = write_rescue((paths.state_directory(), Path.home()), session.header, session.pending)
    except StorageError as error:
        output.tell(str(error))
        return
    output.tell(f"What could not be saved is in {path}.")
    name = shlex.quote(str(path))
    output.tell(
        f"Import it with: {paths.command(sys.argv[0])} sessions import {name}{_place(program)}"
    )


def _tell_how_to_go_on(program: Program, session: OpenSession) -> None:
    output.tell(f"Session saved: {session.id}")
    called = paths.command(sys.argv[0])
    model = f" --model {shlex.quote(program.model_flag)}" if program.model_flag else ""
    options = _place(program) + model
    output.tell(f"Resume with: {called} ask --session {session.id}{options} PROMPT")


def _place(program: Program) -> str:
    place = f" --data-dir {shlex.quote(program.data_dir)}" if program.data_dir else ""
    if program.store_flag is None:
        return place
    return f"{place} --store {shlex.quote(program.store_flag)}"
