"""Prices of answers, by the list that comes with the model library."""

from contextlib import suppress

from genai_prices import Usage, calc_price

from tui.domain.providers import PROVIDERS
from tui.domain.views.model_rows import ModelFacts
from tui.providers.catalog import ModelChoice

_THOUSAND = 1_000


def dollars(choice: ModelChoice, sent: int, received: int) -> float | None:
    """The price of an answer in dollars, without discounts for cached tokens.

    ``None`` if the list does not have the model, or if the server is not the vendor's.
    """
    if not _is_vendor(choice.provider, choice.base_url):
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


def facts(provider: str, base_url: str, model: str) -> ModelFacts:
    """The window and the prices of a vendor's model, as far as the list has them."""
    if not _is_vendor(provider, base_url):
        return ModelFacts()
    counted = Usage(input_tokens=_THOUSAND, output_tokens=_THOUSAND)
    try:
        price = calc_price(counted, model, provider_id=provider)
    except (LookupError, ValueError):
        return ModelFacts()
    sent, received = float(price.input_price), float(price.output_price)
    return ModelFacts(price.model.context_window, sent * _THOUSAND, received * _THOUSAND)


def _is_vendor(provider: str, base_url: str) -> bool:
    table = PROVIDERS.get(provider)
    return table is not None and table.needs_key and base_url == table.base_url
