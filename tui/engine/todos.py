"""Changing the to-do list of a session."""

from collections.abc import Callable

from tui.domain.records import Todos as TodosRecord
from tui.domain.todo import Todos
from tui.engine.conversation import Conversation
from tui.engine.open_session import OpenSession
from tui.engine.workspace import Workspace
from tui.errors import ReadOnly, UsageError


async def change_todos(
    workspace: Workspace, conversation: Conversation, change: Callable[[Todos], Todos]
) -> Todos:
    """Change the list of a session that is open or looked at; gives what it is on disk now.

    Raises what ``change`` and ``Workspace.take`` raise, and ``StorageError`` if it could not be
    saved; the new list counts here all the same, and is tried again with the next save.
    """
    before = conversation.session.todos
    change(before)  # what cannot be done opens no session
    await workspace.take(conversation)
    opened = conversation.opened
    if opened is None:
        raise ReadOnly(conversation.id)
    if opened.session.todos != before:
        raise UsageError("Another program changed the to-dos meanwhile; see /todo.")
    items = change(before)
    set_todos(opened, items)
    await workspace.save(conversation)
    if conversation is not workspace.current:
        await workspace.leave(conversation)
    return items


def set_todos(opened: OpenSession, items: Todos) -> None:
    """Put a whole list in the place of the one before; it is pending then."""
    opened.add(TodosRecord(items))
    opened.note_state()
