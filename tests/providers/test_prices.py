"""What a vendor asks for an answer: only where that is known."""

import pytest

from tui.domain.providers import PROVIDERS
from tui.providers.catalog import ModelChoice
from tui.providers.prices import dollars

VENDOR = PROVIDERS["openai"].base_url


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_the_vendors_own_default_models_have_prices(name):
    table = PROVIDERS[name]
    choice = ModelChoice(name, table.models[0], table.base_url)
    asked = dollars(choice, 1000, 1000)
    assert asked
    assert dollars(choice, 2000, 2000) == pytest.approx(2 * asked)


@pytest.mark.parametrize(
    "choice",
    [
        ModelChoice("openai", "gpt-4.1", "http://127.0.0.1:8080/v1"),
        ModelChoice("openai", "no-such-model", VENDOR),
        ModelChoice("local", "gpt-4.1", VENDOR),
        ModelChoice("ollama", "qwen3", PROVIDERS["ollama"].base_url),
    ],
)
def test_what_is_not_known_has_no_price(choice):
    assert dollars(choice, 1000, 1000) is None
