"""``/usage``: use of the context window, tokens and cost of this run."""

from collections.abc import Iterator, Sequence

from tui.commands.context import CommandContext
from tui.commands.effects import Effect, report, say
from tui.domain.text.labels import plural
from tui.domain.views.usage import ContextUse, SessionCost, money

_NOTHING = "No token counts for this run yet"


async def usage(context: CommandContext, arguments: str) -> Sequence[Effect]:
    """Show the token counts of the servers since the start of the program."""
    loaded = context.workspace.current
    use = context.measures.context_use(loaded) if context.measures else None
    cost = context.measures.cost(loaded.id) if context.measures else None
    lines = "\n".join(_lines(use, cost))
    return report("Usage", lines) if lines else say(_NOTHING)


def _lines(use: ContextUse | None, cost: SessionCost | None) -> Iterator[str]:
    if use:
        share = f"{use.percent} % of the window of {use.window:,}"
        yield f"Context: {use.tokens:,} tokens, {share}."
    elif cost:
        yield "Context: known after the next answer."
    if cost:
        answers = plural(cost.answers, "answer")
        since = f"Since {cost.since.astimezone():%H:%M}: {answers}"
        yield f"{since}, {cost.sent:,} tokens sent, {cost.received:,} received{_cost(cost)}."


def _cost(cost: SessionCost) -> str:
    if cost.unpriced == cost.answers:
        return "; cost unknown"
    rest = f", without {cost.unpriced} of unknown price" if cost.unpriced else ""
    return f"; at most {money(cost.dollars)} by list prices{rest}"
