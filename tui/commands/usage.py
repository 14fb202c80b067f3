"""``/usage``: use of the context window, tokens and cost of this run."""

from collections.abc import Iterator, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, say
from tui.domain.text.labels import plural
from tui.domain.views.usage import ContextUse, SessionCost, money

_NOTHING = "No tokens were counted yet: a server tells them with its answer, and they are not kept."


async def usage(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the token counts of the servers since the start of the program."""
    loaded = context.workspace.current
    use = context.measures.context_use(loaded) if context.measures else None
    cost = context.measures.cost(loaded.id) if context.measures else None
    return say("\n".join(_lines(use, cost)) or _NOTHING)


def _lines(use: ContextUse | None, cost: SessionCost | None) -> Iterator[str]:
    if use:
        share = f"{use.percent} % of a window of {use.window:,}"
        yield f"Context: {use.tokens:,} tokens, {share}."
    elif cost:
        yield "Context: known after the next answer."
    if cost:
        answers = plural(cost.answers, "answer")
        since = f"Since {cost.since.astimezone():%H:%M}: {answers}"
        yield f"{since}, {cost.sent:,} tokens sent, {cost.received:,} received{_cost(cost)}."


def _cost(cost: SessionCost) -> str:
    if cost.unpriced == cost.answers:
        return "; what they cost is not known"
    rest = f", without {cost.unpriced} of unknown price" if cost.unpriced else ""
    return f"; at most {money(cost.dollars)} by the list{rest}"
