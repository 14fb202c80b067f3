"""``/session``, ``/usage`` and ``/todo``: facts, cost and to-dos of the session on screen."""

from collections.abc import Callable, Iterator

from tui.commands.shell import Shell, command
from tui.domain.commands import BY_NAME
from tui.domain.journal import records, todo
from tui.domain.journal.todo import Todos, TodoStatus
from tui.domain.providers import AssumedWindow
from tui.domain.targets import is_number
from tui.domain.text import plural
from tui.domain.timestamps import format_utc
from tui.domain.views.costs import ModelUsage, SessionUsage, money, token_words, total
from tui.domain.views.markdown import facts_of, parameters_of
from tui.engine.sessions.open_session import OpenSession
from tui.errors import StorageError, UsageError

_NOTHING = "No token counts for this session yet"


@command("session")
async def session(shell: Shell, arguments: str) -> None:
    """Show the details of the session."""
    if arguments:
        return shell.say(BY_NAME["session"].usage_error)
    loaded = shell.workspace.current
    row = loaded.row(format_utc(shell.workspace.clock()), active=True)
    settings = loaded.session.settings
    prompts = f"prompts: {loaded.session.prompt_count}"
    facts = [*facts_of(row), prompts, *parameters_of(settings)]
    if settings.system_prompt is not None:
        facts.append("system prompt: this session's own; /system shows it")
    return shell.report("This session", "\n".join((row.label, *facts)))


@command("usage")
async def usage(shell: Shell, arguments: str) -> None:
    """Show the token counts of all requests of the session, by model."""
    loaded = shell.workspace.current
    known = await shell.context.usage.of(loaded)
    prompts = f"Prompts: {loaded.session.prompt_count}."
    if not any(each.usage.total for each in known.models):
        return shell.say(f"{_NOTHING}. {prompts}")
    use = loaded.context_use
    parts = [*_totals(known)]
    if use:
        which = "an assumed" if isinstance(use.window, AssumedWindow) else "the"
        window = f"{use.percent} % of {which} window of {use.window:,}"
        parts.insert(0, f"Context: {use.tokens:,} tokens, {window}.")
    day = known.price_date
    prices = f" Prices are by the list of {day:%Y-%m-%d}, in US dollars." if day else ""
    parts.append(f"{prompts} Earlier versions, summaries and titles are included.{prices}")
    return shell.report("Usage", "\n\n".join(parts))


def _totals(known: SessionUsage) -> Iterator[str]:
    for each in known.models:
        yield _paragraph(each.model or "unknown model", each)
    if len(known.models) > 1:
        added = ModelUsage(
            "",
            sum(each.requests for each in known.models),
            sum(each.uncounted for each in known.models),
            total(each.usage for each in known.models),
            known.dollars,
        )
        rest = f" without {', '.join(known.unpriced)}" if known.unpriced else ""
        yield _paragraph("All models", added, rest if known.dollars is not None else "")


def _paragraph(title: str, each: ModelUsage, rest: str = "") -> str:
    requests = plural(each.requests, "request")
    uncounted = f" ({each.uncounted:,} without token counts)" if each.uncounted else ""
    lines = [f"{title}: {requests}{uncounted}"]
    if each.usage.total:
        cost = "price unknown" if each.dollars is None else money(each.dollars)
        lines += [f"  {token_words(each.usage)}", f"  {cost}{rest}"]
    return "\n".join(lines)


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
        return shell.say(str(error), "error")
    return shell.say(words(items))
