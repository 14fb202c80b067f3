"""``/usage``: use of the context window, tokens and cost of this run."""

from collections.abc import Iterator, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, say
from tui.domain.text.labels import plural
from tui.domain.views.usage import Filled, Spent, money

_NOTHING = "No tokens were counted yet: a server tells them with its answer, and they are not kept."


async def usage(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the token counts of the servers since the start of the program."""
    loaded = context.workspace.current
    filled = context.measures.filled(loaded) if context.measures else None
    spent = context.measures.spent(loaded.id) if context.measures else None
    return say("\n".join(_lines(filled, spent)) or _NOTHING)


def _lines(filled: Filled | None, spent: Spent | None) -> Iterator[str]:
    if filled:
        share = f"{filled.percent} % of a window of {filled.window:,}"
        yield f"Context: {filled.tokens:,} tokens, {share}."
    elif spent:
        yield "Context: known after the next answer."
    if spent:
        answers = plural(spent.answers, "answer")
        since = f"Since {spent.since.astimezone():%H:%M}: {answers}"
        yield f"{since}, {spent.sent:,} tokens sent, {spent.received:,} received{_cost(spent)}."


def _cost(spent: Spent) -> str:
    if spent.unpriced == spent.answers:
        return "; what they cost is not known"
    rest = f", without {spent.unpriced} of unknown price" if spent.unpriced else ""
    return f"; at most {money(spent.dollars)} by the list{rest}"
