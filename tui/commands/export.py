"""``/copy`` and ``/export``."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from tui.commands.context import CommandContext
from tui.commands.effects import CopyText, Effect, save_failed, say
from tui.commands.private import refuse_private
from tui.domain.commands import BY_NAME
from tui.domain.journal.message import Message
from tui.domain.text.fences import codes
from tui.engine.library.conversation import live_conversation
from tui.engine.library.exported_pictures import markdown_with_pictures
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import StorageError
from tui.storage.export_file import create
from tui.storage.protocol import SessionReader

_NAMES = 1000
"""Limit of the numbers that are tried in file names."""


async def copy(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Copy the last answer, the last code block of any answer, or the id of the session."""
    answers = _answers(context.workspace.current)
    match arguments.lower():
        case "":
            text = next(answers, "")
        case "code":
            text = await asyncio.to_thread(_last_code, answers)
        case "id":
            text = context.workspace.current.id
        case _:
            return say(BY_NAME["copy"].usage_error)
    return (CopyText(text),) if text else say("Nothing to copy.")


def _answers(loaded: LoadedSession) -> Iterator[str]:
    """The answers, newest first, including the arriving one."""
    for entry in reversed(loaded.entries):
        if isinstance(entry, Message) and entry.role == "assistant" and entry.text.strip():
            yield entry.text


def _last_code(answers: Iterator[str]) -> str:
    found = (block for text in answers for block in reversed(codes(text)) if block.strip())
    return next(found, "")


async def export(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Write the session as Markdown to a new file."""
    workspace, loaded = context.workspace, context.workspace.current
    refuse_private(loaded.id, "exported")
    if loaded.empty:
        return say("Nothing to export.")
    if loaded.opened is not None:
        try:
            await workspace.pool.save(loaded)
        except StorageError as error:
            return save_failed(loaded.label(), error)
    try:
        path = await asyncio.to_thread(_write, workspace.reader, loaded.id, arguments)
    except FileExistsError as error:
        return say(f"Not exported: {error.filename} already exists.", "error")
    except OSError as error:
        where = error.filename or "the current folder"
        return say(f"Not exported: {where}: {error.strerror}.", "error")
    except (RuntimeError, ValueError):
        # ``~nobody``, or a NUL in the name.
        return say(f"Not exported: {arguments} cannot be a file name.", "error")
    return say(f"Exported to {path}")


def _write(reader: SessionReader, session_id: str, wanted: str) -> Path:
    """Write to the first path that does not exist.

    Raises ``FileExistsError`` if all exist, and as ``create`` and ``Path.expanduser``.
    """
    conversation = live_conversation(reader, reader.entry(session_id))
    taken: FileExistsError | None = None
    for path in _paths(session_id, wanted):
        try:
            create(path, markdown_with_pictures(conversation, path))
        except FileExistsError as error:
            taken = error
            continue
        return path
    raise taken or FileExistsError


def _paths(session_id: str, wanted: str) -> Iterator[Path]:
    """The paths to try, in order."""
    if wanted:
        yield Path.cwd() / Path(wanted).expanduser()
        return
    yield Path.cwd() / f"{session_id}.md"
    for number in range(2, _NAMES):
        yield Path.cwd() / f"{session_id}-{number}.md"
