"""``sibyl-tui ask``: one turn without the screen, saved like every other."""

import asyncio
import os
import shlex
import signal
import stat
import sys
import termios
import threading
from argparse import Namespace
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tui.cli import console
from tui.cli.program import Program
from tui.config import paths
from tui.domain.journal.message import TEXT_BYTES, Message, media_type_of
from tui.domain.json_text import terminal_json
from tui.domain.references import words_in
from tui.domain.text import make_visible_line, make_visible_name
from tui.domain.tool_servers import (
    Answer,
    Choice,
    Decision,
    Field,
    Question,
    ServerQuestion,
    tool_title,
)
from tui.domain.views.tools import call_lines
from tui.engine.sessions.open_session import OpenSession, SessionOrigin, new_session, take_session
from tui.engine.turns.events import (
    LEFT_OUT,
    AnswerRestarted,
    AnswerStarted,
    MessageSaved,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    TextAdded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnEvent,
)
from tui.engine.turns.turn import begin_turn
from tui.errors import ConfigError, OutputError, StorageError, UsageError
from tui.files import text_encoding
from tui.providers.protocol import Model
from tui.storage.rescue import write_rescue

_LEFT_OUT = f"{LEFT_OUT} In sibyl-tui, /compact summarises them."


class TextPrinter:
    """Prints the answer on standard output, everything else on standard error."""

    _in_line = False

    def show(self, event: TurnEvent) -> None:
        match event:
            case TextAdded(text=text):
                console.put(text)
                self._in_line = not text.endswith("\n")
            case AnswerStarted():
                self._end_line()
            case ToolCalled(call=call):
                self._end_line()
                console.tell(
                    f"Tool called: {tool_title(call.name)} {terminal_json(call.arguments)}"
                )
            case ToolReturned(result=result):
                console.tell(result)
            case MessagesLeftOut():
                console.tell(_LEFT_OUT)
            case NoticeGiven(text=text) | RequestChanged(text=text) | AnswerRestarted(text=text):
                self._end_line()
                console.tell(text)
            case TurnEnded():
                self._end_line()
                if event.error:
                    console.tell(event.error)
                elif event.status != "complete":
                    console.tell(f"The answer was {event.status}.")
            case _:
                # Also for a save that failed: the closing saves once more, and only then it counts.
                pass

    def fail(self, reason: str) -> None:
        self._end_line()
        console.tell(reason)

    def _end_line(self) -> None:
        if self._in_line:
            console.put_line()
            self._in_line = False


class JsonPrinter:
    """Prints one JSON object per line on standard output."""

    _left_out = False

    def show(self, event: TurnEvent) -> None:
        match event:
            case MessageSaved(session_id=session_id, message=message):
                ids = {"session_id": session_id, "message_id": message.id}
                usage = {"usage": msgspec.to_builtins(message.usage)} if message.usage else {}
                console.put_json({"type": "saved", **ids, "role": message.role, **usage})
            case TextAdded(text=text):
                console.put_json({"type": "delta", "text": text})
            case AnswerRestarted():
                console.put_json({"type": "restart"})
            case ToolCalled(call=call):
                console.put_json({"type": "tool_call", **msgspec.structs.asdict(call)})
            case ToolReturned(call=call, result=result):
                told = {"tool_call_id": call.id, "name": call.name, "content": result}
                console.put_json({"type": "tool_result", **told})
            case MessagesLeftOut():
                console.tell(_LEFT_OUT)
                self._left_out = True
            case NoticeGiven(text=text) | RequestChanged(text=text):
                console.tell(text)
            case TurnEnded():
                if event.error:
                    self.fail(event.error)
                ids = {"session_id": event.session_id, "message_id": event.message_id}
                left_out = {"earlier_messages_left_out": True} if self._left_out else {}
                console.put_json({"type": "done", **ids, "status": event.status, **left_out})
            case _:
                pass

    def fail(self, reason: str) -> None:
        console.put_json({"type": "error", "message": reason})


Printer = TextPrinter | JsonPrinter

_SAVED_LATE = "The first attempt to save failed, so the model was not asked. All is saved now."
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_CHOICES = "y once, u until this turn ends, a always for this tool, n deny (n REASON tells why):"
_ANSWERS: dict[str, Choice] = {
    "y": "once",
    "yes": "once",
    "u": "until-quit",
    "a": "always",
    "always": "always",
}
_DENIED = frozenset({"n", "no", "d", "deny"})
"""Before a reason; anything else denies, too."""

_STANDARD_INPUT = "-"


def read_prompt(argument: str | None) -> str:
    """Read the prompt. Raises ``UsageError`` if it is blank or too large."""
    text = piped = _piped()
    if argument is not None and argument != _STANDARD_INPUT:
        text = f"{argument}\n\n{piped}" if piped.strip() else argument
    if not text.strip():
        raise UsageError("Nothing to send.")
    if len(text.encode()) > TEXT_BYTES:
        raise UsageError("Prompt is larger than 8 MiB.")
    return text


def _refuse_streams(files: Iterable[str]) -> None:
    """Raise ``UsageError`` for a file that is a pipe, or standard input itself."""
    for name in files:
        # Whatever else is wrong with it is said when it is read.
        with suppress(OSError, ValueError):
            status = os.stat(name)  # noqa: PTH116 - any bytes, also an empty name
            if stat.S_ISFIFO(status.st_mode) or (
                sys.stdin is not None and os.path.samestat(status, os.fstat(sys.stdin.fileno()))
            ):
                raise UsageError(
                    f"Cannot attach {make_visible_name(name)}: it is a stream. Pipe its text into"
                    " ask, without -f."
                )


def _confirm_secrets(names: Sequence[str], model: str) -> None:
    """Ask whether files that hold secrets may be sent. Raises ``UsageError`` if not."""
    listed = ", ".join(names)
    if not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)):
        raise UsageError(
            f"Not sent: {listed} may hold secrets, and there is no terminal to ask on. "
            "To send it all the same, pipe its text into ask."
        )
    _forget_typed()
    console.tell(f"Send {listed} to {model}? It may hold secrets. [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError(f"Not sent: {listed}.")


def _piped() -> str:
    if sys.stdin is None or console.is_terminal(sys.stdin):
        return ""
    # Reading beyond the limit detects excess, also in UTF-16; endless input ends here.
    data = sys.stdin.buffer.read(2 * TEXT_BYTES + 4)
    # UTF-8, or UTF-16 by its mark, else the encoding of the locale.
    marked, text = text_encoding(data), None
    for each in (marked, sys.stdin.encoding):
        with suppress(UnicodeDecodeError):
            text = data.decode(each)
            break
    if text is None:
        console.tell("Standard input has bytes that are not UTF-8. They were replaced by \ufffd.")
        text = data.decode(marked, errors="replace")
    if "\0" in text or media_type_of(data):
        raise UsageError("Standard input is not text. Attach a picture with -f.")
    return text.removesuffix("\n")


async def ask_on_terminal(question: Question) -> Decision:
    """Show the whole call on standard error and read the answer.

    Without a terminal the call is denied.
    """
    name = question.tool.title
    if not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)):
        console.tell(f"Denied the tool {name}: there is no terminal to ask on.")
        return Decision("deny")
    _forget_typed()
    call = [
        f"{each.lead}{each.text}" for each in call_lines(question.about, question.call.arguments)
    ]
    console.tell("\n".join([f"Allow the tool {name}?", *call, _CHOICES]))
    line = make_visible_line(await _read_line()).strip()
    if choice := _ANSWERS.get(line.lower()):
        return Decision(choice)
    word, _, reason = line.partition(" ")
    return Decision("deny", reason.strip() if word.lower() in _DENIED else "")


_OPEN = "Open it in your browser? y opens, c waits for you to open it, n refuses:"
_FILL = "Answer? y asks for each value, n refuses:"


def _forget_typed() -> None:
    """Drop what was typed before a question: it is no answer to it."""
    with suppress(termios.error, OSError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


async def _read_line() -> str:
    """Read a line of standard input; may be cancelled."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        with suppress(ValueError, OSError, RuntimeError):
            # A closed loop has nobody waiting.
            loop.call_soon_threadsafe(lines.put_nowait, sys.stdin.readline())

    # A daemon thread, so that the program can end without Enter.
    threading.Thread(target=read, daemon=True, name="answer").start()
    return await lines.get()


class TerminalQuestions:
    """Asks one question at a time."""

    def __init__(self) -> None:
        self._asking = asyncio.Lock()

    async def ask(self, question: ServerQuestion) -> Answer | None:
        """Put a question, and read the answer; ``None`` refuses."""
        async with self._asking:
            _forget_typed()
            what = _OPEN if question.address else _FILL
            asked = (f"{question.server}: {question.message}", question.address, what)
            console.tell("\n".join(filter(None, asked)))
            choice = (await _read_line()).strip().lower()
            if choice not in {"y", "yes"} and not (choice == "c" and question.address):
                return None
            if question.address:
                from tui.commands.viewers import open_outside

                refusal = "" if choice == "c" else await open_outside(question.address)
                if refusal:
                    console.tell(f"Not opened ({refusal}). Copy the address.")
                return {}
            values = {each.name: await _value(each) for each in question.fields}
            return {name: value for name, value in values.items() if value is not None}


async def _value(field: Field) -> object:
    about = ", ".join(filter(None, (field.about, *(each.value for each in field.options))))
    while True:
        console.tell(f"{field.title}{f' ({about})' if about else ''} [{field.shown}]:")
        entry = (await _read_line()).rstrip("\n")
        try:
            return field.value(field.entry(entry or field.shown))
        except ValueError as error:
            console.tell(str(error))


def run(chosen: Namespace) -> int:
    """Ask, print the answer, and return the exit code."""
    try:
        _refuse_streams(chosen.files)
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
    # Piped text may be anybody's, and refers to nothing.
    own = words_in("" if chosen.prompt in (None, _STANDARD_INPUT) else chosen.prompt)
    if not chosen.files and not own:
        return prompt
    from tui.engine.attachments import PromptPlace, attach

    # In a shell, paths begin where it is.
    folders = (Path(), Path(session.header.project_path))
    place = PromptPlace(program.store, session.id, folders)
    try:
        attached = attach(prompt, own, place, chosen.files)
        if attached.secrets:
            _confirm_secrets(attached.secrets, session.session.model)
    except BaseException:
        session.abandon()
        raise
    if attached.notice:
        console.tell(attached.notice)
    if attached.missing:
        names = ", ".join(attached.missing)
        console.tell(f"No such file: {names}. It is sent as text.")
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
    if console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr):
        settings.tools.setup.ask_by(TerminalQuestions().ask, at_start=True)

    async def show(event: TurnEvent) -> None:
        # The end comes once the session is closed.
        if not isinstance(event, TurnEnded):
            printer.show(event)

    turn = asyncio.create_task(begin_turn(session, prompt, model, settings).run(show))
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
        console.tell(str(error))
    finally:
        unsaved = [each for each in session.pending if isinstance(each, Message)]
        kept = await _leave(program, session, printer, failure)
        await settings.tools.setup.servers.close()
    if kept:
        for message in unsaved:
            printer.show(MessageSaved(session.id, message))
        if failure:
            printer.fail(_SAVED_LATE)
    if ended is not None:
        printer.show(ended)
    if kept and session.published:
        _tell_how_to_go_on(program, session)
        program.store.catch_up_index(session.id)
    if ended_by:
        return 128 + ended_by[0]
    return 0 if kept and ended is not None and ended.status != "failed" else 1


def _session(program: Program, chosen: Namespace) -> tuple[OpenSession, Model]:
    session_id = program.wanted(chosen)
    if session_id is None:
        model = program.model()
        place = SessionOrigin(program.scope, program.project_path, model.name)
        return new_session(program.store, place, program.clock), model
    session = take_session(program.store, session_id, program.clock, sys.maxsize, resumed=True)
    with suppress(StorageError):
        # Failing to mark the active session must not prevent the question.
        program.store.set_active(session.header.scope, session_id)
    program.tell_condition(session.session)
    model = program.model(session.session.model)
    session.use_model(model.name)
    return session, model


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
    else:
        return True
    try:
        path = write_rescue((paths.state_directory(), Path.home()), session.header, session.pending)
    except StorageError as error:
        console.tell(str(error))
        return False
    console.tell(f"What could not be saved is in {path}.")
    name = shlex.quote(str(path))
    console.tell(
        f"Import it with: {paths.command(sys.argv[0])} sessions import {name}{_place(program)}"
    )
    return False


def _tell_how_to_go_on(program: Program, session: OpenSession) -> None:
    if not console.is_terminal(sys.stderr):
        # For scripts; the other line says it to a person.
        console.tell(f"Session saved: {session.id}")
    called = paths.command(sys.argv[0])
    model = f" --model {shlex.quote(program.model_flag)}" if program.model_flag else ""
    options = _place(program) + model
    console.tell(f"Resume with: {called} ask --session {session.id}{options} PROMPT")


def _place(program: Program) -> str:
    place = f" --data-dir {shlex.quote(program.data_dir)}" if program.data_dir else ""
    if program.store_flag is None:
        return place
    return f"{place} --store {shlex.quote(program.store_flag)}"
