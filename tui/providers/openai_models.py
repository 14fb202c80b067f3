"""The parameters of OpenAI's models, in both of its dialects."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic_ai.profiles.openai import openai_model_profile

from tui.domain.model_settings import Effort, ModelParameters
from tui.providers.capabilities import supported
from tui.providers.catalog import ModelChoice

_VENDOR = "api.openai.com"

REASONING_EFFORTS: dict[Effort, Literal["none", "low", "medium", "high"]] = {
    "off": "none",
    "low": "low",
    "medium": "medium",
    "high": "high",
}
"""The vendor's words. They are sent as they are: the library drops ``thinking`` for a model that
it does not know."""


def is_vendor(choice: ModelChoice) -> bool:
    """True for OpenAI's own address."""
    return urlsplit(choice.base_url).hostname == _VENDOR


def supported_by_openai(parameters: ModelParameters, choice: ModelChoice) -> ModelParameters:
    """Leave out the parameters that a model of OpenAI refuses.

    Models of other servers may have the same names, but other limits; behind another address of
    ``openai`` there may be any model.
    """
    known = openai_model_profile(choice.model)
    is_known = choice.provider == "openai" and known.get("supports_thinking", False)
    return supported(parameters, known) if is_known or is_vendor(choice) else parameters
