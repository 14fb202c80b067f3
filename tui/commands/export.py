"""``/export``."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, save_failed, say
from tui.commands.private import refuse_private
from tui.domain.text.safe_text import without_surrogates
from tui.domain.views.markdown import as_markdown
from tui.engine.requests.missing_results import missing_results
from tui.errors import StorageError
from tui.storage.protocol import SessionReader

_NAMES = 1000
"""Limit of the numbers that are tried in file names."""


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
    text = await asyncio.to_thread(_markdown, workspace.reader, loaded.id)
    try:
        path = await asyncio.to_thread(_write, text, _paths(loaded.id, arguments))
    except FileExistsError as error:
        return say(f"Not exported: {error.filename} already exists.", "error")
    except OSError as error:
        where = error.filename or "the current folder"
        return say(f"Not exported: {where}: {error.strerror}.", "error")
    except (RuntimeError, ValueError):
        # ``~nobody``, or a NUL in the name.
        return say(f"Not exported: {arguments} cannot be a file name.", "error")
    return say(f"Exported to {path}")


def _markdown(store: SessionReader, session_id: str) -> str:
    entry, session = store.entry(session_id), store.load(session_id)
    cut_off = missing_results(session) if entry.status != "open" else ()
    return as_markdown(entry, session, (*session.loaded_messages, *cut_off))


def _paths(session_id: str, wanted: str) -> Iterator[Path]:
    """The paths to try, in order."""
    if wanted:
        yield Path.cwd() / Path(wanted).expanduser()
        return
    yield Path.cwd() / f"{session_id}.md"
    for number in range(2, _NAMES):
        yield Path.cwd() / f"{session_id}-{number}.md"


def _write(text: str, paths: Iterator[Path]) -> Path:
    """Write to the first path that does not exist; a partial file is removed.

    Raises ``FileExistsError`` if all exist, and as ``os.open`` and ``Path.expanduser``.
    """
    data = without_surrogates(text).encode()
    taken: FileExistsError | None = None
    for path in paths:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError as error:
            taken = error
            continue
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(path)) from error
        return path
    raise taken or FileExistsError
