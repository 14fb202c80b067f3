"""Parameters that models take, by the library's profiles."""

import pytest
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.anthropic import anthropic_model_profile
from pydantic_ai.profiles.google import google_model_profile
from pydantic_ai.profiles.openai import openai_model_profile

from tui.domain.model_settings import Effort, ModelParameters
from tui.providers.capabilities import adaptation, supported

LUNA = openai_model_profile("gpt-6-luna")


@pytest.mark.parametrize(
    ("profile", "effort", "sent"),
    [
        (LUNA, "off", "off"),
        (LUNA, "high", "high"),
        (openai_model_profile("o3"), "off", "low"),
        (openai_model_profile("gpt-5.3-chat"), "high", "medium"),
        (openai_model_profile("gpt-4.1"), "high", None),
        (anthropic_model_profile("claude-sonnet-5-5"), "off", "off"),
        (anthropic_model_profile("claude-opus-5-5"), "off", "low"),
        (google_model_profile("gemini-3.1-pro"), "off", "low"),
        (google_model_profile("gemini-2.0-flash"), "low", None),
        (ModelProfile(), "high", None),
        (LUNA, None, None),
    ],
)
def test_of_efforts_the_next_one_is_sent_that_the_model_has(
    profile: ModelProfile, effort: Effort | None, sent: Effort | None
):
    assert supported(ModelParameters(effort=effort), profile) == ModelParameters(effort=sent)


@pytest.mark.parametrize(
    ("profile", "effort", "sent"),
    [
        (LUNA, None, None),
        (LUNA, "high", None),
        (LUNA, "off", 0.0),
        (openai_model_profile("gpt-5.2"), None, 0.0),
        (openai_model_profile("o3"), "off", None),
        (openai_model_profile("gpt-4.1"), None, 0.0),
        (anthropic_model_profile("claude-sonnet-5-5"), None, None),
        (anthropic_model_profile("claude-sonnet-4-6"), None, 0.0),
    ],
)
def test_a_temperature_is_sent_unless_the_model_refuses_it(
    profile: ModelProfile, effort: Effort | None, sent: float | None
):
    parameters = ModelParameters(temperature=0.0, max_tokens=9, effort=effort)
    found = supported(parameters, profile)
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
