"""Versions: asking again, editing a question, and showing earlier versions of a message.

Nothing is written until the new question or answer arrives: before that, only memory notes which
earlier message it follows. A read-only session is forked up to that message instead.
"""

import asyncio

from tui.domain.journal.message import Message
from tui.domain.journal.session import Reset
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import WINDOW, NewVersion
from tui.engine.sessions.workspace import Workspace
from tui.errors import MessageNotFound, NewerVersion, ReadOnly, SessionBusy, UsageError

_TURN = 60
"""The most messages of a turn: its question, and ten answers with their tool results."""
_AROUND = 50

_BEFORE_RESET = "This was said before /reset."
_ELSEWHERE = "Nothing was sent: another session was opened meanwhile."
_RUNNING = "An answer is in progress here. Stop it first."


async def begin_again(
    workspace: Workspace, loaded: LoadedSession, message_id: str
) -> LoadedSession:
    """Prepare to ask again for an answer of any version; gives the session to ask in.

    The next answer there follows its question. Raises ``UsageError`` while an answer is made, for
    a message before ``/reset`` or without a question; ``StorageError`` if the session cannot be
    saved or read. Nothing has changed then.
    """
    own = await _taken(workspace, loaded)
    conversation = await _conversation(workspace, loaded, message_id)
    questions = [place for place, each in enumerate(conversation) if each.role == "user"]
    if not questions:
        raise UsageError("There is no question to ask again.")
    question, *answers = conversation[questions[-1] :]
    beside = answers[0].id if answers else None
    return await _begin(workspace, loaded, question.id, beside, own=own)


async def begin_edit(workspace: Workspace, loaded: LoadedSession, message_id: str) -> LoadedSession:
    """Prepare to edit a question; gives the session to ask it in.

    The next prompt there follows the same message as the question. Raises as ``begin_again``.
    """
    own = await _taken(workspace, loaded)
    conversation = await _conversation(workspace, loaded, message_id)
    if conversation[-1].role != "user":
        raise UsageError("Only a question of your own can be edited.")
    after = conversation[-2].id if len(conversation) > 1 else ""
    return await _begin(workspace, loaded, after, message_id, own=own)


async def begin_from_shown(workspace: Workspace, loaded: LoadedSession) -> LoadedSession:
    """Prepare to continue from the version on screen; gives the session to ask in.

    Not needed for the live version. Raises as ``begin_again``.
    """
    if not loaded.pages.aside:
        return loaded
    own = await _taken(workspace, loaded)
    while loaded.pages.excerpt is not None and loaded.pages.excerpt.later is not None:
        await loaded.pages.read_later(workspace.reader.journal(loaded.id))
    messages = [each for each in loaded.shown if isinstance(each, Message)]
    return await _begin(workspace, loaded, messages[-1].id, None, own=own)


async def fork_at(workspace: Workspace, loaded: LoadedSession, message_id: str) -> str:
    """Write a copy of a session up to a message of any version, and give its id.

    Nothing is opened. Raises as ``begin_again`` and ``Workspace.fork``.
    """
    if loaded.opened is not None:
        await workspace.pool.save(loaded)
    try:
        return await workspace.fork(loaded.id, message_id)
    except MessageNotFound as error:
        raise UsageError(_BEFORE_RESET) from error


async def show_version(
    workspace: Workspace, loaded: LoadedSession, message_id: str, step: int
) -> str | None:
    """Show the version ``step`` after one of a message, and give its id; changes nothing.

    ``None`` if there is none. Raises ``StorageError``.
    """
    if loaded.opened is not None:
        await workspace.pool.save(loaded)
    if message_id not in loaded.versions:
        await workspace.read_versions(loaded)
    group = loaded.versions.get(message_id, (message_id,))
    place = group.index(message_id) + step
    if not 0 <= place < len(group):
        return None
    journal = workspace.reader.journal(loaded.id)
    around = await asyncio.to_thread(journal.around, group[place], _AROUND, _AROUND)
    loaded.pages.show(group[place], around)
    return group[place]


async def _taken(workspace: Workspace, loaded: LoadedSession) -> bool:
    """Open a session and save it; false if it is read-only."""
    if loaded.activity.running:
        raise UsageError(_RUNNING)
    try:
        await workspace.take(loaded)
    except (ReadOnly, SessionBusy, NewerVersion):
        return False
    await workspace.pool.save(loaded)
    return True


async def _conversation(
    workspace: Workspace, loaded: LoadedSession, message_id: str
) -> list[Message]:
    """Read the end of the conversation up to a message of any version."""
    journal = workspace.reader.journal(loaded.id)
    try:
        await asyncio.to_thread(journal.tail, 0, message_id)
        around = await asyncio.to_thread(journal.around, message_id, _TURN, 0)
    except MessageNotFound as error:
        raise UsageError(_BEFORE_RESET) from error
    resets = [place for place, each in enumerate(around.entries) if isinstance(each, Reset)]
    since = around.entries[resets[-1] + 1 :] if resets else around.entries
    return [each for each in since if isinstance(each, Message)]


async def _begin(
    workspace: Workspace, loaded: LoadedSession, after: str, beside: str | None, *, own: bool
) -> LoadedSession:
    """Begin a version behind the message ``after`` instead of ``beside``, or fork up to there."""
    if own:
        journal = workspace.reader.journal(loaded.id)
        end = await asyncio.to_thread(journal.tail, WINDOW, after)
        loaded.begin_version(NewVersion(after, end, beside))
        return loaded
    if after:
        shown = await workspace.open_session(await workspace.fork(loaded.id, after))
    else:
        # Nothing comes before the first question: there is nothing to copy.
        shown = await workspace.begin()
    if not shown:
        raise UsageError(_ELSEWHERE)
    return workspace.current
