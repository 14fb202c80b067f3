"""Changing the to-do list of a session."""

from collections.abc import Callable

from tui.domain.journal.records import Todos as TodosRecord
from tui.domain.journal.todo import Todos
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import OpenSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import UsageError


async def change_todos(
    workspace: Workspace, loaded: LoadedSession, change: Callable[[Todos], Todos]
) -> Todos:
    """Change the list of a session that is open or looked at; gives what it is on disk now.

    Raises what ``change`` and ``Workspace.change`` raise.
    """
    before = loaded.session.todos
    items = change(before)  # what cannot be done opens no session

    def put(opened: OpenSession) -> None:
        if opened.session.todos != before:
            raise UsageError("Another window changed the to-dos meanwhile. /todo shows them")
        set_todos(opened, items)

    await workspace.change(loaded, put)
    return items


def set_todos(opened: OpenSession, items: Todos) -> None:
    """Put a whole list in the place of the one before; it is pending then."""
    opened.add(TodosRecord(items))
    opened.note_state()
