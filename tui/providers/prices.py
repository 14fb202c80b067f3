"""Prices of answers, by the list that comes with the model library."""

from contextlib import suppress

from genai_prices import Usage, calc_price

from tui.domain.providers import PROVIDERS
from tui.providers.catalog import ModelChoice


def dollars(choice: ModelChoice, sent: int, received: int) -> float | None:
    """The price of an answer in dollars, without discounts for cached tokens.

    ``None`` if the list does not have the model, or if the server is not the vendor's.
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
    """Load the list, which takes 20 ms once."""
    with suppress(LookupError):
        calc_price(Usage(), "gpt-4.1", provider_id="openai")


def _is_vendor(choice: ModelChoice) -> bool:
    table = PROVIDERS.get(choice.provider)
    return table is not None and table.needs_key and choice.base_url == table.base_url
