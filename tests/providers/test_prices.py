"""What a vendor asks for an answer: only where that is known."""

import pytest

from tui.domain.providers import PROVIDERS
from tui.domain.views.model_rows import ModelFacts
from tui.providers.catalog import ModelChoice
from tui.providers.prices import dollars, facts

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


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_the_vendors_own_default_models_have_a_window_and_prices(name):
    table = PROVIDERS[name]
    known = facts(name, table.base_url, table.models[0])
    assert known.window
    assert known.received > known.sent > 0
    assert facts(name, "http://127.0.0.1:8080/v1", table.models[0]) == ModelFacts()
    assert facts(name, table.base_url, "no-such-model") == ModelFacts()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (ModelFacts(1_050_000, 0.1, 0.5), "1.05M · $0.10 in, $0.50 out"),
        (ModelFacts(128_000), "128K"),
        (ModelFacts(None, 2, 10), "$2 in, $10 out"),
        (ModelFacts(), ""),
    ],
)
def test_facts_are_few_words(known, words):
    assert known.words == words
