"""What a vendor asks for an answer: only where that is known."""

from datetime import UTC, date, datetime

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import each_row
from tui.domain.journal.message import TokenUsage
from tui.domain.journal.records import CountedRequest
from tui.domain.models import ModelFacts
from tui.domain.providers import PROVIDERS
from tui.providers.prices import facts, price, price_date, window

VENDOR = PROVIDERS["openai"].base_url
ANTHROPIC = PROVIDERS["anthropic"].base_url


def asked(*usages, at="2026-11-20T12:00:00.000Z"):
    return [CountedRequest(f"a{place}", "", at, usage) for place, usage in enumerate(usages)]


def listed(usage, model, at="2026-11-20T12:00:00+00:00", **vendor):
    """What the library's own function makes of one request."""
    counts = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    when = datetime.fromisoformat(at)
    return float(calc_price(counts, model, genai_request_timestamp=when, **vendor).total_price)


def test_tokens_read_from_a_cache_and_written_to_it_have_their_own_prices():
    plain, cached, written = (
        price("anthropic", ANTHROPIC, "claude-sonnet-5-5", asked(usage))
        for usage in (TokenUsage(1000, 0), TokenUsage(1000, 0, 1000), TokenUsage(1000, 0, 0, 1000))
    )
    assert cached < plain < written


@given(
    st.lists(
        st.builds(
            TokenUsage,
            st.integers(0, 600_000) | st.sampled_from([200_000, 200_001, 272_000, 272_001]),
            st.integers(0, 64_000),
            st.integers(0, 300_000),
            st.integers(0, 300_000),
        ),
        max_size=6,
    )
)
@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "gpt-6-luna"), ("anthropic", "claude-sonnet-5-5"), ("google", "gemini-2.5-pro")],
)
def test_many_requests_cost_as_much_as_each_of_them(provider, model, usages):
    possible = [
        usage
        for usage in usages
        if usage.cached_tokens + usage.cache_write_tokens <= usage.input_tokens
    ]
    each = sum(listed(usage, model, provider_id=provider) for usage in possible)
    assert price(provider, "", model, asked(*possible)) == pytest.approx(each, abs=1e-9)


def test_a_long_request_costs_more_than_two_short_ones():
    prices = [
        price("google", "", "gemini-2.5-pro", asked(*([TokenUsage(size, 0)] * count)))
        for size, count in ((300_000, 1), (150_000, 2))
    ]
    assert prices[0] > prices[1] > 0


def test_a_request_has_the_price_of_its_day():
    usage, days = (
        TokenUsage(1_000_000, 0),
        ("2026-11-20T12:00:00+00:00", "2027-01-02T12:00:00+00:00"),
    )
    model, google = "gemini-3.8-flash", "https://generativelanguage.googleapis.com/v1beta"
    before, after = (price("google", google, model, asked(usage, at=day)) for day in days)
    assert [before, after] == [listed(usage, model, day, provider_id="google") for day in days]
    assert before != after


def test_counts_that_cannot_be_are_priced_as_far_as_they_can():
    usage, most = TokenUsage(100, 1, 200, 50), TokenUsage(100, 1, 100, 0)
    prices = [price("anthropic", ANTHROPIC, "claude-sonnet-5-5", asked(u)) for u in (usage, most)]
    assert prices[0] == prices[1]


def test_the_list_has_the_date_of_its_newest_price_in_force():
    day = price_date()
    assert date(2026, 11, 1) <= day <= datetime.now(UTC).date()


@each_row(
    "name, address, model",
    [
        ("mine", "https://openrouter.ai/api/v1", "openai/gpt-6-luna"),
        ("fast", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
        ("work", VENDOR, "gpt-6-luna"),
        ("mistral", "", "mistral-large-latest"),
        ("together", PROVIDERS["together"].base_url, "openai/gpt-oss-120b"),
    ],
)
def test_a_vendor_is_known_by_its_address_whatever_it_is_called(name, address, model):
    assert price(name, address, model, asked(TokenUsage(1000, 1000)))


@pytest.mark.parametrize(
    "place",
    [
        ("openai", "http://127.0.0.1:8080/v1", "gpt-4.1"),
        ("openai", VENDOR, "no-such-model"),
        ("ollama", PROVIDERS["ollama"].base_url, "qwen3"),
    ],
)
def test_what_is_not_known_has_no_price(place):
    assert price(*place, asked(TokenUsage(1000, 1000))) is None
    assert facts(*place) == ModelFacts()


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_the_vendors_own_default_models_have_a_window_and_prices(name):
    table = PROVIDERS[name]
    place = name, table.base_url, table.models[0]
    known = facts(*place)
    assert known.window
    assert known.received > known.sent > 0
    once = price(*place, asked(TokenUsage(1000, 1000)))
    assert once == pytest.approx((known.sent + known.received) / 1000)
    assert price(*place, asked(TokenUsage(2000, 2000))) == pytest.approx(2 * once)


@each_row(
    "known, words",
    [
        (ModelFacts(1_050_000, 0.1, 0.5), "1.05M · $0.10 in, $0.50 out"),
        (ModelFacts(128_000), "128K"),
        (ModelFacts(None, 2, 10), "$2 in, $10 out"),
        (ModelFacts(), ""),
    ],
)
def test_facts_are_few_words(known, words):
    assert known.words == words


@each_row("vendor", ["openai", "anthropic", "google", "groq", "deepseek"])
def test_a_model_has_the_window_of_the_list(vendor):
    (provider,) = [each for each in get_snapshot().providers if each.id == vendor]
    listed = {each.id: each.context_window for each in provider.models if each.context_window}
    assert listed
    assert {name: window(vendor, "", name) for name in listed} == listed


def test_a_model_behind_a_gateway_has_the_window_of_its_vendors():
    assert window("local", "http://gate/v1", "anthropic/claude-sonnet-5-5") == 1_000_000
    assert window("local", "http://gate/v1", "qwen3:4b") is None
