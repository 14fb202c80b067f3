"""Servers that are programs: messages are lines of their standard input and output.

The library's own transport takes quadratic time for long lines, and has no limit for them.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

from anyio import EndOfStream
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest

from tui.tool_servers.context import ServerContext, ServerFailed
from tui.tool_servers.messages import (
    LONGEST_MESSAGE,
    ErrorTail,
    Form,
    LineBuffer,
    LineTooLong,
    MessageReader,
    message_of,
    messages_in,
)

MOST_FOREIGN_LINES = 1000
"""Lines of output without a message among them, before the server is given up."""
MOST_UNHEARD = 1000
"""Requests of a program while its input is full, before it is given up: each waits in memory."""

_QUEUED_BYTES = 1024 * 1024
_GRACE = 1.0
_LAST_WORDS = 0.5
_STDERR_PAUSE = 0.01
_REST_SECONDS = 1.0
_STDIN, _STDOUT, _STDERR = 0, 1, 2


@asynccontextmanager
async def open_program(context: ServerContext) -> AsyncGenerator[tuple[Any, Any, "ProgramStreams"]]:
    """Run a program, its messages as streams; at the end, end it and its process group.

    Raises ``ServerFailed`` if it cannot be started.
    """
    command, env = context.settings.command, context.settings.env or {}
    cwd = context.settings.cwd or str(Path.home())
    streams = ProgramStreams(context.hide)
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: streams,
            *command,
            env={**get_default_environment(), **env},
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        if error.filename == cwd:
            raise ServerFailed(f"The folder {cwd} does not exist") from None
        raise ServerFailed(f"The program {command[0]} was not found") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise ServerFailed(f"{command[0]} cannot be started: {said}") from None
    try:
        yield streams, streams, streams
    finally:
        await streams.stop()


class ProgramStreams(
    asyncio.SubprocessProtocol,
    ObjectReceiveStream[SessionMessage | Exception],
    ObjectSendStream[SessionMessage],
):
    """The messages that a program writes and reads: both streams of a session."""

    def __init__(self, shown: Callable[[str], str]) -> None:
        self._shown = shown
        self._lines: deque[bytes] = deque()
        self._messages: deque[SessionMessage] = deque()
        self._reader = MessageReader()
        self._queued = 0
        self._buffer = LineBuffer(LONGEST_MESSAGE)
        self._errors = ErrorTail()
        self._unheard = 0
        self._fault = ""
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._exited = asyncio.Event()
        self._errors_read = asyncio.Event()
        self.ended = asyncio.Event()

    async def ending(self) -> str:
        """The reason of its end, or of its silence, with its last words."""
        if self._fault:
            return self._fault
        if self.ended.is_set():
            await _comes(self._exited, _GRACE)
            await _comes(self._errors_read, _LAST_WORDS)
        said = self._shown(self._errors.last_words)
        return f"{self._how()}: {said}" if said else self._how()

    def _how(self) -> str:
        code = self._process.get_returncode()
        if code is not None:
            return f"It ended with exit code {code}" if code >= 0 else f"It ended by signal {-code}"
        if self.ended.is_set():
            return "It closed its input or output"
        if lines := self._reader.foreign_lines:
            count = (
                "a line that is no message" if lines == 1 else f"{lines} lines without a message"
            )
            return f"It printed {count}, and no answer"
        return "It did not answer"

    # --- the program's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._process.get_pipe_transport(_STDIN))
        self._writable.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._errors.feed(data)
            # A flood must not take all of the loop's time.
            self._pipe(_STDERR).pause_reading()
            asyncio.get_running_loop().call_later(_STDERR_PAUSE, self._resume, _STDERR)
        elif not self.ended.is_set():
            self._take_output(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the interface
        if fd == _STDIN:
            self._end_soon()
        elif fd == _STDOUT:
            if self._buffer.size and not self.ended.is_set():
                self._take_output(b"\n")
            self._end()
        else:
            self._errors_read.set()

    def process_exited(self) -> None:
        self._exited.set()
        self._end_soon()

    def _end_soon(self) -> None:
        # Its last words may still be in the pipe, which its children may keep open.
        asyncio.get_running_loop().call_later(_LAST_WORDS, self._end)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _take_output(self, data: bytes) -> None:
        try:
            lines = self._buffer.feed(data)
        except LineTooLong:
            self.end("It sent a message of more than 8 MB")
            return
        self._add_lines(lines)
        if self._queued > _QUEUED_BYTES:
            self._pipe(_STDOUT).pause_reading()

    def _add_lines(self, lines: Sequence[bytes]) -> None:
        self._lines.extend(lines)
        self._queued += sum(map(len, lines))
        self._arrived.set()

    def end(self, reason: str) -> None:
        """Give the program up."""
        self._fault = reason
        self._lines.clear()
        self._end()

    def _end(self) -> None:
        self.ended.set()
        self._arrived.set()
        self._writable.set()

    def _pipe(self, fd: int) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._process.get_pipe_transport(fd))

    def _resume(self, fd: int) -> None:
        pipe = self._pipe(fd)
        if not pipe.is_closing():
            pipe.resume_reading()

    # --- the session's side

    async def receive(self) -> SessionMessage | Exception:
        """Wait for a message."""
        while not self._messages:
            # Without a pause, a flood of lines would hold up everything else.
            await asyncio.sleep(0)
            if not await self._read():
                raise EndOfStream
        return self._messages.popleft()

    async def _read(self) -> bool:
        """Wait for a line, and take its messages; false after the last."""
        while not (self._lines or self._messages):
            if self.ended.is_set():
                self._take(self._reader.end())
                return bool(self._messages)
            self._arrived.clear()
            waits = self._buffer.size or self._reader.begun
            if not await _comes(self._arrived, _REST_SECONDS if waits else None):
                self._take_rest()
        if self._lines:
            line = self._lines.popleft()
            self._queued -= len(line)
            if self._queued <= _QUEUED_BYTES:
                self._resume(_STDOUT)
            self._take(self._reader.feed(line))
        if self._reader.foreign_lines > MOST_FOREIGN_LINES:
            self.end(f"It printed {MOST_FOREIGN_LINES} lines without a message")
        return True

    def _take_rest(self) -> None:
        """Take what goes on no more: a message that was cut off, or one without its line break."""
        is_whole = bool(self._reader.begun)
        with suppress(ValueError):
            is_whole = is_whole or bool(messages_in(self._buffer.rest))
        if self._buffer.size and is_whole:
            self._add_lines(self._buffer.feed(b"\n"))
        else:
            self._take(self._reader.end())

    def _take(self, forms: Sequence[Form]) -> None:
        for form in forms:
            message = message_of(form)
            self._messages.append(SessionMessage(message))
            if isinstance(message, JSONRPCRequest) and not self._writable.is_set():
                self._unheard += 1
                if self._unheard > MOST_UNHEARD:
                    self.end("It asks and asks, and does not read the answers")

    async def send(self, item: SessionMessage) -> None:
        """Write a message, once the program has read those before it.

        After the end this does nothing: the session has seen it, or sees it next.
        """
        match item.message:
            case JSONRPCRequest(id=number):
                self._reader.running.add(number)
            case JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": number}
            ):
                self._reader.running.discard(number)
            case _:
                pass
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        await self._writable.wait()
        if not (self.ended.is_set() or self._input.is_closing()):
            self._input.write(text.encode() + b"\n")

    async def aclose(self) -> None:
        """Do nothing: the program is ended by ``stop``."""

    # --- its end

    async def stop(self) -> None:
        """End the program: close its input, then terminate it, then kill it and its group."""
        self._end()
        try:
            self._input.close()
            # It may be blocked by output that nobody has read.
            self._resume(_STDOUT)
            if not await _comes(self._exited, _GRACE):
                self._signal(signal.SIGTERM)
                await _comes(self._exited, _GRACE)
        finally:
            self._signal(signal.SIGKILL)
            self._process.close()
        await _comes(self._exited, _GRACE)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.get_pid(), number)


async def _comes(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, for so long at most if there is a limit."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
