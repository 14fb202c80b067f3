"""Settings of the requests to a model, and where each comes from."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import msgspec

from tui.domain.text.labels import listed
from tui.errors import UsageError

SettingName = Literal["system_prompt", "temperature", "max_tokens", "effort"]
SETTINGS: tuple[SettingName, ...] = get_args(SettingName)

ParameterName = Literal["temperature", "max_tokens", "effort"]
PARAMETERS: tuple[ParameterName, ...] = get_args(ParameterName)

Effort = Literal["off", "low", "medium", "high"]
"""The share of thinking in an answer."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)

THIS_SESSION = "this session"
"""The source of a session's own settings."""

HIGHEST_TEMPERATURE = 2
MOST_TOKENS = 1_000_000


def value_words(value: float | str) -> str:
    """Format the value of a parameter: ``0.2``, ``1000000``, ``high``."""
    return f"{value:g}" if isinstance(value, float) else str(value)


class ModelParameters(msgspec.Struct, frozen=True):
    """The parameters of a request; ``None`` leaves one to the model."""

    temperature: float | None = None
    max_tokens: int | None = None
    effort: Effort | None = None

    @property
    def words(self) -> str:
        """The parameters that are set: ``temperature 0.2, max_tokens 500 and effort high``."""
        return listed([f"{name} {value}" for name, value in self.named()])

    def named(self) -> Iterator[tuple[ParameterName, str]]:
        """Yield the name and the formatted value of each parameter that is set."""
        for name in PARAMETERS:
            value: float | str | None = getattr(self, name)
            if value is not None:
                yield name, value_words(value)


class Level(msgspec.Struct, frozen=True):
    """The settings of one place; ``None`` leaves one to the next level."""

    source: str
    """The place, for the user."""
    system_prompt: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    effort: Effort | None = None
    tools: bool | None = None
    """False where none are offered."""


class Sourced(msgspec.Struct, frozen=True):
    """A setting in force, and the place that sets it."""

    value: str | float
    source: str


class ModelSettings(msgspec.Struct, frozen=True):
    """The settings in force: of each the one of the first level that has it."""

    levels: Sequence[Level] = ()

    def sourced(self, name: SettingName) -> Sourced | None:
        """Find a setting; ``None`` if no level has it."""
        for level in self.levels:
            value: str | float | None = getattr(level, name)
            if value is not None:
                return Sourced(value, level.source)
        return None

    @property
    def system_prompt(self) -> str:
        """The system prompt; empty for none."""
        prompts = (each.system_prompt for each in self.levels if each.system_prompt is not None)
        return next(prompts, "")

    @property
    def parameters(self) -> ModelParameters:
        """The parameters of the request."""
        degrees = (each.temperature for each in self.levels if each.temperature is not None)
        limits = (each.max_tokens for each in self.levels if each.max_tokens is not None)
        efforts: Iterator[Effort] = (each.effort for each in self.levels if each.effort)
        return ModelParameters(next(degrees, None), next(limits, None), next(efforts, None))

    @property
    def offers_tools(self) -> bool:
        """False if tools are off for this model."""
        return next((each.tools for each in self.levels if each.tools is not None), True)


def effort_called(word: str | None) -> Effort | None:
    """Look up an effort; ``None`` for a word that is none, such as one of a later program."""
    return word if word in EFFORTS else None


def parameter_value(name: ParameterName, text: str) -> float | Effort:
    """Read the value of a parameter. Raises ``UsageError``."""
    match name:
        case "temperature":
            return _number(text, float, 0, HIGHEST_TEMPERATURE, "temperature takes a number")
        case "max_tokens":
            return _number(text, int, 1, MOST_TOKENS, "max_tokens takes a whole number")
        case "effort":
            effort = effort_called(text.lower())
            if effort is None:
                raise UsageError(f"effort is {listed(EFFORTS, 'or')}, not {text}")
            return effort


def _number(text: str, kind: type[float], least: int, most: int, takes: str) -> float:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise UsageError(f"{takes} from {least} to {most}, not {text}")
    return value
