"""``/todo``: the to-do list of the current session."""

from collections.abc import Callable, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, ShowTodos, report, say
from tui.domain.commands import BY_NAME
from tui.domain.journal import records, todo
from tui.domain.journal.todo import Todos, TodoStatus
from tui.domain.targets import is_number
from tui.engine.sessions.open_session import OpenSession
from tui.errors import StorageError, UsageError

_DIGITS = 6
_STATUSES: dict[str, TodoStatus] = {"start": "in_progress", "done": "completed"}
_SAID = {"start": "Started", "done": "Completed", "remove": "Removed"}


async def change(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show or change the list; a change is saved before it is reported."""
    verb, rest = (*arguments.split(maxsplit=1), "", "")[:2]
    verb = verb.lower()
    if verb in ("", "list") and not rest:
        return _list(context)
    if verb == "add" and not todo.says_nothing(rest):
        return await _add(context, rest)
    if verb in _SAID and is_number(rest) and len(rest) <= _DIGITS:
        return await _change_one(context, verb, int(rest))
    return say(BY_NAME["todo"].usage_error)


def _list(context: CommandContext) -> Sequence[Effect]:
    items = context.workspace.current.session.todos
    return (
        report("To-dos", todo.listing(items))
        if items
        else say("No to-dos yet. /todo add TEXT adds one")
    )


async def _add(context: CommandContext, content: str) -> Sequence[Effect]:
    number = len(context.workspace.current.session.todos) + 1
    return await _changed(
        context,
        lambda items: todo.add(items, content),
        lambda items: f"Added to-do {number}: {items[-1].short}",
    )


async def _change_one(context: CommandContext, verb: str, number: int) -> Sequence[Effect]:
    before = context.workspace.current.session.todos
    if verb == "remove":
        return await _changed(
            context,
            lambda items: todo.remove(items, number),
            lambda _: f"Removed to-do {number}: {before[number - 1].short}",
        )
    return await _changed(
        context,
        lambda items: todo.mark(items, number, _STATUSES[verb]),
        lambda items: f"{_SAID[verb]} to-do {number}: {items[number - 1].short}",
    )


async def _changed(
    context: CommandContext, change: Callable[[Todos], Todos], words: Callable[[Todos], str]
) -> Sequence[Effect]:
    workspace, loaded = context.workspace, context.workspace.current
    before = loaded.session.todos
    items = change(before)  # what cannot be done opens no session

    def put(opened: OpenSession) -> None:
        if opened.session.todos != before:
            raise UsageError("Another window changed the to-dos meanwhile. /todo shows them")
        opened.add(records.Todos(items))

    try:
        await workspace.change(loaded, put)
    except StorageError as error:
        # The change is kept in memory, and retried by the next save.
        return (ShowTodos(), *say(str(error), "error"))
    return (ShowTodos(), *say(words(items)))
