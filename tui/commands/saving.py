"""``/save``, ``/session save``, ``/keep``, ``/name``, ``/reset``, ``/export`` and ``/copy``."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from tui.commands.opening import check_holder, check_name
from tui.commands.shell import Shell, command, title_of
from tui.domain.commands import BY_NAME
from tui.domain.journal.message import Message
from tui.domain.journal.records import is_private
from tui.domain.text import codes
from tui.engine.library.conversation import live_conversation
from tui.engine.library.exporting import MASK, ExportedSecrets, markdown_with_pictures
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.turns.own_requests import title_request
from tui.errors import StorageError, UsageError
from tui.storage.export_file import create
from tui.storage.protocol import SessionReader

_NAMES = 1000
"""Limit of the numbers that are tried in file names."""


async def save_or_say(shell: Shell, loaded: LoadedSession) -> bool:
    """Save the pending records of a session; false if that fails, which is said."""
    try:
        await shell.workspace.pool.save(loaded)
    except StorageError as error:
        shell.say(f'Could not save "{loaded.label()}": {error.short}', "error")
        return False
    return True


@command("save")
async def save(shell: Shell, arguments: str) -> None:
    """Save all pending records."""
    loaded = shell.workspace.current
    refuse_private(loaded.id, "saved")
    if loaded.empty:
        return shell.say("Nothing to save yet.")
    if await save_or_say(shell, loaded):
        await shell.workspace.save_all()
        shell.say(f'Saved "{loaded.label()}"')
    return None


@command("session save …")
async def save_session(shell: Shell, arguments: str) -> None:
    """Save a session of this project, and say where it is."""
    workspace, session_id = shell.workspace, shell.workspace.current.id
    if arguments:
        session_id = await asyncio.to_thread(workspace.reader.resolve, arguments, workspace.scope)
    known = workspace.switcher.find(session_id)
    if known is not None and (known.opened is not None or not arguments):
        refuse_private(session_id, "saved")
        if known.empty:
            return shell.say("Nothing to save yet.")
        if not await save_or_say(shell, known):
            return None
    else:
        # Another window may have unsaved records.
        await check_holder(shell, session_id)
    entry = await asyncio.to_thread(workspace.reader.entry, session_id)
    path = await asyncio.to_thread(workspace.reader.location, session_id)
    return shell.say(f'Saved "{entry.label}" to {path}')


def refuse_private(session_id: str, done: str) -> None:
    """Raise ``UsageError`` for a private session; ``done`` is a participle, such as "exported"."""
    if is_private(session_id):
        raise UsageError(f"A private session is not {done}: it is in memory only. /keep saves it")


@command("keep")
async def keep(shell: Shell, arguments: str) -> None:
    """Save the private session as a new one."""
    try:
        await shell.workspace.keep()
    except StorageError as error:
        return shell.say(f"Not kept, and still private: {error.short}", "error")
    session_id = shell.workspace.current.id
    title = await title_of(shell, session_id)
    await shell.show_session()
    shell.show_moved(session_id)
    return shell.say(f"Saved {title} as a session")


@command("reset")
async def reset(shell: Shell, arguments: str) -> None:
    """Save, then begin an empty conversation under the same id."""
    workspace, loaded = shell.workspace, shell.workspace.current
    if loaded.empty:
        return shell.say("Nothing to reset yet.")
    await shell.context.stop(loaded)
    await workspace.take(loaded)
    try:
        await workspace.reset(loaded)
    except StorageError as error:
        return shell.say(f"Not reset: could not save ({error.short})", "error")
    await shell.show_session()
    kept = "" if loaded.private else ". The earlier messages are kept"
    return shell.say(f"Started over{kept}")


@command("name")
async def rename(shell: Shell, arguments: str) -> None:
    """Name the current session; without a name, ask the model for one."""
    if not arguments:
        if title_request(shell.workspace.current) is None:
            return shell.say(BY_NAME["name"].usage_error)
        return shell.open("title")
    check_name(arguments)
    await shell.workspace.change(shell.workspace.current, lambda opened: opened.rename(arguments))
    return shell.say(f'Renamed to "{arguments}"')


@command("copy")
async def copy(shell: Shell, arguments: str) -> None:
    """Copy the last answer, the last code block of any answer, or the id of the session."""
    entries = reversed(shell.workspace.current.entries)
    messages = (each for each in entries if isinstance(each, Message) and each.role == "assistant")
    # Newest first, with the arriving one.
    answers = (each.text for each in messages if each.text.strip())
    match arguments.lower():
        case "":
            text = next(answers, "")
        case "code":
            found = (code for each in answers for code in reversed(codes(each)) if code.strip())
            text = await asyncio.to_thread(next, found, "")
        case "id":
            text = shell.workspace.current.id
        case _:
            return shell.say(BY_NAME["copy"].usage_error)
    return shell.copy(text) if text else shell.say("Nothing to copy.")


@command("export")
async def export(shell: Shell, arguments: str) -> None:
    """Write the session as Markdown to a new file."""
    loaded = shell.workspace.current
    refuse_private(loaded.id, "exported")
    if loaded.empty:
        return shell.say("Nothing to export.")
    if loaded.opened is not None and not await save_or_say(shell, loaded):
        return None
    secrets = ExportedSecrets(arguments.split()[:1] == [MASK])
    wanted = arguments.removeprefix(MASK).strip() if secrets.masks else arguments
    try:
        path = await asyncio.to_thread(_write, shell.workspace.reader, loaded.id, wanted, secrets)
    except FileExistsError as error:
        return shell.say(f"Not exported: {error.filename} already exists.", "error")
    except OSError as error:
        where = error.filename or "the current folder"
        return shell.say(f"Not exported: {where}: {error.strerror}.", "error")
    except (RuntimeError, ValueError):
        # ``~nobody``, or a NUL in the name.
        return shell.say(f"Not exported: {arguments} cannot be a file name.", "error")
    return shell.say(f"Exported to {path}" + (f". {secrets.words}" if secrets.found else ""))


def _write(reader: SessionReader, session_id: str, wanted: str, secrets: ExportedSecrets) -> Path:
    """Write to the first path that does not exist.

    Raises ``FileExistsError`` if all exist, and as ``create`` and ``Path.expanduser``.
    """
    conversation = live_conversation(reader, reader.entry(session_id))
    taken: FileExistsError | None = None
    for path in _paths(secrets.title(conversation) or session_id, wanted):
        try:
            create(path, secrets.texts(markdown_with_pictures(conversation, path)))
        except FileExistsError as error:
            taken = error
            continue
        return path
    raise taken or FileExistsError


def _paths(name: str, wanted: str) -> Iterator[Path]:
    if wanted:
        yield Path.cwd() / Path(wanted).expanduser()
        return
    yield Path.cwd() / f"{name}.md"
    for number in range(2, _NAMES):
        yield Path.cwd() / f"{name}-{number}.md"
