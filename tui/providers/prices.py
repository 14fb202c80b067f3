"""Prices of answers, by a list of vendors' prices; loading it takes a tenth of a second."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from genai_prices import Usage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint, TieredPrices

from tui.domain.journal.counts import CountedRequest
from tui.domain.journal.message import TokenUsage
from tui.domain.providers import PROVIDERS
from tui.domain.timestamps import parse_utc
from tui.domain.views.model_rows import ModelFacts
from tui.domain.views.usage import total

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
    prices: dict[int, ModelPrice] = {}
    alike: defaultdict[tuple[int, int], list[TokenUsage]] = defaultdict(list)
    now = datetime.now(UTC)
    for request in requests:
        if request.usage:
            current = listed.get_prices(parse_utc(request.timestamp) or now)
            step = bisect_left(_steps(current), request.usage.input_tokens)
            prices[id(current)] = current
            alike[id(current), step].append(request.usage)
    return sum(_alike(prices[which], usages) for (which, _), usages in alike.items())


def price_date() -> date | None:
    """The date of the list: that of the newest price that is in force."""
    today = datetime.now(UTC).date()
    return max((each for each in _price_dates() if each <= today), default=None)


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
    mean = Usage(
        input_tokens=_mean(added.input_tokens, number),
        output_tokens=_mean(added.output_tokens, number),
        cache_read_tokens=_mean(cached, number),
        cache_write_tokens=_mean(written, number),
    )
    return float(current.calc_price(mean)["total_price"]) * number


def _mean(count: int, number: int) -> Decimal:
    # Rounded down, so that the parts are no more than the whole.
    return Decimal(count * _FINE // number) / _FINE


def _steps(current: ModelPrice) -> list[int]:
    """The lengths of requests from which on tokens have another price."""
    prices: Iterable[object] = vars(current).values()
    tiered = (each for each in prices if isinstance(each, TieredPrices))
    return sorted({tier.start for each in tiered for tier in each.tiers})


def _price_dates() -> Iterable[date]:
    for provider in get_snapshot().providers:
        for model in provider.models:
            changes = model.prices if isinstance(model.prices, list) else []
            for change in changes:
                if isinstance(change.constraint, StartDateConstraint):
                    yield change.constraint.start_date
