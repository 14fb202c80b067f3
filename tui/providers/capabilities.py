"""The parameters that a model takes, by the library's public profile of it."""

from collections.abc import Callable

from msgspec.structs import replace
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.anthropic import AnthropicModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile

from tui.domain.model_settings import EFFORTS, PARAMETERS, Effort, ModelParameters


def supported(parameters: ModelParameters, profile: ModelProfile) -> ModelParameters:
    """Leave out the parameters that a model refuses; of efforts take the next one that it has."""
    effort = _supported_effort(parameters.effort, _efforts(profile))
    temperature = parameters.temperature if _takes_temperature(profile, effort) else None
    return replace(parameters, effort=effort, temperature=temperature)


def adaptation(
    model: str,
    wanted: ModelParameters,
    sent: ModelParameters,
    takes: Callable[[ModelParameters], ModelParameters],
) -> str:
    """The sentence about the parameters that are not sent as they are set; empty for none.

    ``takes`` is asked whether only their combination with the others is refused.
    """
    changed = [name for name in PARAMETERS if getattr(wanted, name) != getattr(sent, name)]
    if "effort" in changed and (wanted.effort, sent.effort) == ("off", None):
        changed.remove("effort")  # a model that does not think has it anyway
    refused, instead = _only(wanted, changed), _only(sent, changed)
    if not changed:
        return ""
    done = f"sent {instead.words} instead" if instead.words else "left out"
    others = _only(sent, [name for name in PARAMETERS if name not in changed]).words
    beside = f" with {others}" if others and takes(refused) == refused else ""
    return f"{model} does not take {refused.words}{beside}: {done}."


def _only(parameters: ModelParameters, names: list[str]) -> ModelParameters:
    return ModelParameters(**{name: getattr(parameters, name) for name in names})


def _supported_effort(wanted: Effort | None, efforts: list[Effort]) -> Effort | None:
    if wanted is None or not efforts:
        return None
    least = EFFORTS.index(wanted)
    places = (at for at, effort in enumerate(efforts) if EFFORTS.index(effort) >= least)
    return efforts[next(places, -1)]


def _efforts(profile: ModelProfile) -> list[Effort]:
    """The efforts that a model has, in order; none for a model that does not think."""
    always = profile.get("thinking_always_enabled", False)
    if not (always or profile.get("supports_thinking", False)):
        return []
    listed = OpenAIModelProfile(**profile).get("openai_reasoning_efforts", set(EFFORTS))
    return [effort for effort in EFFORTS if effort in listed and not (always and effort == "off")]


def _takes_temperature(profile: ModelProfile, effort: Effort | None) -> bool:
    if AnthropicModelProfile(**profile).get("anthropic_disallows_sampling_settings", False):
        return False
    openai = OpenAIModelProfile(**profile)
    if not openai.get("openai_supports_reasoning", False):
        return True
    thinks = (
        profile.get("thinking_enabled_by_default", False) if effort is None else effort != "off"
    )
    return not thinks and openai.get("openai_supports_reasoning_effort_none", False)
