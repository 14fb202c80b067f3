"""Servers that are programs: messages are lines of their standard input and output.

The library's own transport takes quadratic time for long lines, and has no limit for them.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self, cast

from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, jsonrpc_message_adapter

from tui.tool_servers.failures import ServerFailed
from tui.tool_servers.lines import LineBuffer, LineTooLong, Tail

LONGEST_MESSAGE = 8 * 1024 * 1024
"""In bytes."""
MOST_FOREIGN_LINES = 1000
"""Lines of output that are no messages, before the server is given up."""
MOST_UNHEARD = 1000
"""Requests of a program while its input is full, before it is given up: each waits in memory."""

_QUEUED_BYTES = 1024 * 1024
_GRACE = 1.0
_LAST_WORDS = 0.5
_STDERR_PAUSE = 0.01
_STDIN, _STDOUT, _STDERR = 0, 1, 2


@asynccontextmanager
async def open_program(
    command: Sequence[str], env: Mapping[str, str], cwd: str
) -> AsyncGenerator["ProgramStreams"]:
    """Run a program with its messages as streams, and end it and its process group at the end.

    Raises ``ServerFailed`` if it cannot be started.
    """
    streams = ProgramStreams()
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: streams,
            *command,
            env={**get_default_environment(), **env},
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ServerFailed(_not_found(command[0], cwd, error)) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise ServerFailed(f"{command[0]} cannot be started: {said}") from None
    try:
        yield streams
    finally:
        await streams.stop()


def _not_found(program: str, cwd: str, error: FileNotFoundError) -> str:
    if error.filename == cwd:
        return f"The folder {cwd} does not exist"
    return f"The program {program} was not found"


class ProgramStreams(asyncio.SubprocessProtocol):
    """The messages that a program writes and reads: both streams of a session."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._queued = 0
        self._buffer = LineBuffer(LONGEST_MESSAGE)
        self._errors = Tail()
        self._foreign_lines = 0
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
        said = f": {self._errors.last_line}" if self._errors.last_line else ""
        return f"{self._how()}{said}"

    def _how(self) -> str:
        code = self._process.get_returncode()
        if code is not None:
            return f"It ended with exit code {code}" if code >= 0 else f"It ended by signal {-code}"
        if self.ended.is_set():
            return "It closed its input or output"
        if self._foreign_lines:
            return f"It printed {self._foreign_lines} lines that are no messages, and no answer"
        return "It did not answer"

    # --- the program's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._process.get_pipe_transport(_STDIN))
        self._writable.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._take_errors(data)
        elif not self.ended.is_set():
            self._take_output(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the interface
        if fd == _STDIN:
            self._end_soon()
        elif fd == _STDOUT:
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

    def _take_errors(self, data: bytes) -> None:
        self._errors.feed(data)
        # A flood must not take all of the loop's time.
        self._pipe(_STDERR).pause_reading()
        loop = asyncio.get_running_loop()
        loop.call_later(_STDERR_PAUSE, self._resume, _STDERR)

    def _take_output(self, data: bytes) -> None:
        try:
            lines = self._buffer.feed(data)
        except LineTooLong:
            self._give_up("It sent a message of more than 8 MB")
            return
        self._lines.extend(lines)
        self._queued += sum(map(len, lines))
        self._arrived.set()
        if self._queued > _QUEUED_BYTES:
            self._pipe(_STDOUT).pause_reading()

    def _give_up(self, fault: str) -> None:
        self._fault = fault
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
        return await anext(self)

    async def _next_line(self) -> bytes | None:
        while not self._lines:
            if self.ended.is_set():
                return None
            self._arrived.clear()
            await self._arrived.wait()
        line = self._lines.popleft()
        self._queued -= len(line)
        if self._queued <= _QUEUED_BYTES:
            self._resume(_STDOUT)
        return line

    def _message(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._count_foreign_line()
            return None
        if isinstance(message, JSONRPCRequest) and not self._writable.is_set():
            self._count_unheard_answer()
        return SessionMessage(message)

    def _count_foreign_line(self) -> None:
        self._foreign_lines += 1
        if self._foreign_lines > MOST_FOREIGN_LINES:
            self._give_up(f"It printed {MOST_FOREIGN_LINES} lines that are no messages")

    def _count_unheard_answer(self) -> None:
        self._unheard += 1
        if self._unheard > MOST_UNHEARD:
            self._give_up("It asks and asks, and does not read the answers")

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message, once the program has read those before it.

        After the end this does nothing: the session has seen it, or sees it next.
        """
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        await self._writable.wait()
        if not (self.ended.is_set() or self._input.is_closing()):
            self._input.write(text.encode() + b"\n")

    async def aclose(self) -> None:
        """Do nothing: the program is ended by ``stop``."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while (line := await self._next_line()) is not None:
            # Without a pause, a flood of lines would hold up everything else.
            await asyncio.sleep(0)
            if message := self._message(line):
                return message
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

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


async def _comes(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
