"""What a vendor asks for an answer, by the list of prices that comes with the model library."""

from contextlib import suppress

from genai_prices import Usage, calc_price

from tui.domain.providers import PROVIDERS
from tui.providers.catalog import ModelChoice


def dollars(choice: ModelChoice, sent: int, received: int) -> float | None:
    """The price of so many tokens, without what is taken off for those that a server knew before.

    ``None`` where no price is known: of a model that the list has not, or one that is asked by
    another server than its vendor's.
    """
    if not _is_vendor(choice):
        return None
    counted = Usage(input_tokens=sent, output_tokens=received)
    try:
        price = calc_price(counted, choice.model, provider_id=choice.provider)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)


def warm_up() -> None:
    """Read the list, which takes a moment once."""
    with suppress(LookupError):
        calc_price(Usage(), "gpt-4.1", provider_id="openai")


def _is_vendor(choice: ModelChoice) -> bool:
    table = PROVIDERS.get(choice.provider)
    return table is not None and table.needs_key and choice.base_url == table.base_url
