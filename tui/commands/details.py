"""``/session`` and ``/usage``: facts, tokens and cost of the session on screen."""

from collections.abc import Iterator

from tui.commands.shell import Shell, command
from tui.domain.commands import BY_NAME
from tui.domain.providers import AssumedWindow
from tui.domain.text import plural
from tui.domain.timestamps import format_utc
from tui.domain.views.costs import ModelUsage, SessionUsage, money, token_words, total
from tui.domain.views.markdown import facts_of, parameters_of

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
