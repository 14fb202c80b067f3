"""``/todo``: the to-do list of the current session."""

from collections.abc import Callable

from tui.commands.shell import Shell, command
from tui.domain.commands import BY_NAME
from tui.domain.journal import records, todo
from tui.domain.journal.todo import Todos, TodoStatus
from tui.domain.targets import is_number
from tui.engine.sessions.open_session import OpenSession
from tui.errors import StorageError, UsageError

_DIGITS = 6
_STATUSES: dict[str, TodoStatus] = {"start": "in_progress", "done": "completed"}
_SAID = {"start": "Started", "done": "Completed", "remove": "Removed"}


@command("todo")
async def change(shell: Shell, arguments: str) -> None:
    """Show or change the list; a change is saved before it is reported."""
    verb, rest = (*arguments.split(maxsplit=1), "", "")[:2]
    verb = verb.lower()
    before = shell.workspace.current.session.todos
    if verb in ("", "list") and not rest:
        if before:
            return shell.report("To-dos", todo.listing(before))
        return shell.say("No to-dos yet. /todo add TEXT adds one")
    if verb == "add" and not todo.says_nothing(rest):
        return await _change(
            shell,
            lambda items: todo.add(items, rest),
            lambda items: f"Added to-do {len(before) + 1}: {items[-1].short}",
        )
    if verb not in _SAID or not is_number(rest) or len(rest) > _DIGITS:
        return shell.say(BY_NAME["todo"].usage_error)
    number = int(rest)
    if verb == "remove":
        return await _change(
            shell,
            lambda items: todo.remove(items, number),
            lambda _: f"Removed to-do {number}: {before[number - 1].short}",
        )
    return await _change(
        shell,
        lambda items: todo.mark(items, number, _STATUSES[verb]),
        lambda items: f"{_SAID[verb]} to-do {number}: {items[number - 1].short}",
    )


async def _change(
    shell: Shell, change: Callable[[Todos], Todos], words: Callable[[Todos], str]
) -> None:
    loaded = shell.workspace.current
    before = loaded.session.todos
    items = change(before)  # what cannot be done opens no session

    def put(opened: OpenSession) -> None:
        if opened.session.todos != before:
            raise UsageError("Another window changed the to-dos meanwhile. /todo shows them")
        opened.add(records.Todos(items))

    try:
        await shell.workspace.change(loaded, put)
    except StorageError as error:
        # The change is kept in memory, and retried by the next save.
        shell.show_todos()
        return shell.say(str(error), "error")
    shell.show_todos()
    return shell.say(words(items))
