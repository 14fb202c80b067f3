"""Prices of answers, by a list of vendors' prices; loading it takes a tenth of a second."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from genai_prices import Usage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint, TieredPrices

from tui.domain.journal.message import TokenUsage
from tui.domain.journal.records import CountedRequest
from tui.domain.models import ModelFacts
from tui.domain.providers import PROVIDERS
from tui.domain.timestamps import parse_utc
from tui.domain.views.costs import total

_FINE = 10**9


def price(
    provider: str, base_url: str, model: str, requests: Iterable[CountedRequest]
) -> float | None:
    """The price of requests in dollars, each at the time of its answer.

    ``None`` if the list does not have the model, or if the server is not a vendor's.
    """
    listed = _of_vendor(provider, base_url, model)
    if listed is None:
        return None
    # A token's price depends on the length of its request, in steps. Between two steps all
    # requests cost as much as one of mean length: that makes 50,000 of them quick to price.
    alike: dict[tuple[int, int], tuple[ModelPrice, list[TokenUsage]]] = {}
    now = datetime.now(UTC)
    for request in requests:
        if request.usage:
            current = listed.get_prices(parse_utc(request.timestamp) or now)
            tiered = (each for each in vars(current).values() if isinstance(each, TieredPrices))
            steps = sorted({tier.start for each in tiered for tier in each.tiers})
            step = bisect_left(steps, request.usage.input_tokens)
            alike.setdefault((id(current), step), (current, []))[1].append(request.usage)
    return sum(_alike(*group) for group in alike.values())


def price_date() -> date | None:
    """The date of the list: that of the newest price that is in force."""
    changes = (
        change.constraint
        for provider in get_snapshot().providers
        for model in provider.models
        for change in (model.prices if isinstance(model.prices, list) else ())
    )
    dates = (each.start_date for each in changes if isinstance(each, StartDateConstraint))
    today = datetime.now(UTC).date()
    return max((each for each in dates if each <= today), default=None)


def facts(provider: str, base_url: str, model: str) -> ModelFacts:
    """The window and the prices of a vendor's model, as far as the list has them."""
    listed = _of_vendor(provider, base_url, model)
    if listed is None:
        return ModelFacts()
    # Of a short request: some vendors ask more for long ones.
    current = listed.get_prices(datetime.now(UTC))
    each = current.calc_price(Usage(input_tokens=1000, output_tokens=1000))
    sent, received = float(each["input_price"]), float(each["output_price"])
    return ModelFacts(listed.context_window, sent * 1000, received * 1000)


def window(provider: str, base_url: str, model: str) -> int | None:
    """The window of a model, as far as the list has it.

    A gateway has the models of vendors under their names, or as ``VENDOR/MODEL``.
    """
    bare = model.rpartition("/")[2]
    places = (provider, base_url, model), (provider, "", model), ("", "", model), ("", "", bare)
    found = (_listed(*place) for place in places)
    return next((each.context_window for each in found if each and each.context_window), None)


def _listed(provider: str, base_url: str, model: str) -> ModelInfo | None:
    """Find a model by its vendor's address, else by the provider's name, else by its own."""
    by_name, by_address = (None, base_url) if base_url else (provider or None, None)
    try:
        return get_snapshot().find_provider_model(model, None, by_name, by_address)[1]
    except LookupError:
        return None


def _of_vendor(provider: str, base_url: str, model: str) -> ModelInfo | None:
    """Find a model by the server's address; at a row's own address by the provider's name, too."""
    row = PROVIDERS.get(provider)
    at_home = row is not None and row.needs_key and row.base_url == base_url
    return _listed(provider, base_url, model) or (_listed(provider, "", model) if at_home else None)


def _alike(current: ModelPrice, usages: Sequence[TokenUsage]) -> float:
    """The price of requests that cost the same for each token."""
    added, number = total(usages), len(usages)
    # What a server or a file says need not be possible; the library refuses it.
    cached = min(added.cached_tokens, added.input_tokens)
    written = min(added.cache_write_tokens, added.input_tokens - cached)
    # Rounded down, so that the parts are no more than the whole.
    mean = {
        name: Decimal(count * _FINE // number) / _FINE
        for name, count in (
            ("input_tokens", added.input_tokens),
            ("output_tokens", added.output_tokens),
            ("cache_read_tokens", cached),
            ("cache_write_tokens", written),
        )
    }
    return float(current.calc_price(Usage(**mean))["total_price"]) * number
