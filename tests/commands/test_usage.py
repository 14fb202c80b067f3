"""``/usage``: what was counted, and nothing else."""

from tests.builders import Clock
from tui.domain.views.usage import ContextUse, SessionCost, Usage


class Measures:
    """What was measured of any session."""

    def __init__(self, use=None, cost=None):
        self._context_use, self._costs = use, cost

    def context_use(self, _):
        return self._context_use

    def cost(self, _):
        return self._costs


SINCE = Clock()()
TIME = f"{SINCE.astimezone():%H:%M}"


async def told(commands, use=None, *usages):
    cost = SessionCost(SINCE) if usages else None
    for usage in usages:
        cost = cost.plus(usage)
    commands.measures = Measures(use, cost)
    return await commands("/usage")


async def test_without_anything_counted_it_says_so(commands):
    nothing = "No token counts for this run yet"
    assert await told(commands) == nothing
    commands.measures = None
    assert await commands("/usage") == nothing


async def test_context_tokens_and_cost_are_told(commands):
    use = ContextUse(commands.workspace.current.status(), 9_104, 128_000)
    assert await told(commands, use, Usage(9_000, 104, 0.02), Usage(100, 2, 0.01)) == (
        "Context: 9,104 tokens, 7 % of the window of 128,000.\n"
        f"Since {TIME}: 2 answers, 9,100 tokens sent, 106 received; at most $0.0300 by list prices."
    )


async def test_a_price_that_is_not_known_is_not_made_up(commands):
    assert await told(commands, None, Usage(10, 2)) == (
        "Context: known after the next answer.\n"
        f"Since {TIME}: 1 answer, 10 tokens sent, 2 received; cost unknown."
    )
    assert (await told(commands, None, Usage(10, 2), Usage(10, 2, 0.5))).endswith(
        "; at most $0.5000 by list prices, without 1 of unknown price."
    )
