"""Parameters that models take, by the table of their vendors' families."""

import pytest

from tui.domain.models import Effort, ModelParameters
from tui.providers.model_table import (
    CLAUDE,
    GEMINI,
    OPENAI,
    PLAIN,
    Traits,
    adaptation,
    supported,
    traits_in,
)

LUNA = traits_in(OPENAI, "gpt-6-luna")


@pytest.mark.parametrize(
    ("traits", "effort", "sent"),
    [
        (LUNA, "off", "off"),
        (LUNA, "high", "high"),
        (traits_in(OPENAI, "o3"), "off", "low"),
        (traits_in(OPENAI, "gpt-5.3-chat"), "high", "medium"),
        (traits_in(OPENAI, "gpt-4.1"), "high", None),
        (traits_in(CLAUDE, "claude-sonnet-5-5"), "off", "off"),
        (traits_in(CLAUDE, "claude-opus-5-5"), "off", "low"),
        (traits_in(GEMINI, "gemini-3.1-pro"), "off", "low"),
        (traits_in(GEMINI, "gemini-2.0-flash"), "low", None),
        (PLAIN, "high", None),
        (LUNA, None, None),
    ],
)
def test_of_efforts_the_next_one_is_sent_that_the_model_has(
    traits: Traits, effort: Effort | None, sent: Effort | None
):
    assert supported(ModelParameters(effort=effort), traits) == ModelParameters(effort=sent)


@pytest.mark.parametrize(
    ("traits", "effort", "sent"),
    [
        (LUNA, None, None),
        (LUNA, "high", None),
        (LUNA, "off", 0.0),
        (traits_in(OPENAI, "gpt-5.2"), None, 0.0),
        (traits_in(OPENAI, "o3"), "off", None),
        (traits_in(OPENAI, "gpt-4.1"), None, 0.0),
        (traits_in(CLAUDE, "claude-sonnet-5-5"), None, None),
        (traits_in(CLAUDE, "claude-sonnet-4-6"), None, 0.0),
    ],
)
def test_a_temperature_is_sent_unless_the_model_refuses_it(
    traits: Traits, effort: Effort | None, sent: float | None
):
    parameters = ModelParameters(temperature=0.0, max_tokens=9, effort=effort)
    found = supported(parameters, traits)
    assert (found.temperature, found.max_tokens) == (sent, 9)


@pytest.mark.parametrize(
    ("wanted", "sent", "words"),
    [
        (ModelParameters(0.5, 9, "low"), ModelParameters(0.5, 9, "low"), ""),
        (ModelParameters(0.5, 9), ModelParameters(None, 9), "temperature 0.5: left out."),
        (ModelParameters(effort="off"), ModelParameters(effort="low"), "effort off: sent effort"),
        (ModelParameters(effort="off"), ModelParameters(), ""),
        (ModelParameters(0.5, 9, "low"), ModelParameters(), "temperature 0.5, max_tokens 9 and"),
    ],
)
def test_the_difference_is_told(wanted: ModelParameters, sent: ModelParameters, words: str):
    told = adaptation("x:m", wanted, sent, lambda _: sent)
    assert told.startswith(f"x:m does not take {words}") if words else told == ""


def test_what_is_refused_only_beside_other_parameters_is_told_with_them():
    wanted, sent = ModelParameters(None, 77, "low"), ModelParameters(None, 77)
    told = adaptation("x:m", wanted, sent, lambda parameters: parameters)
    assert told == "x:m does not take effort low with max_tokens 77: left out."
