"""Models: what can be a name, settings of requests with their sources, and rows to choose."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from tui.domain.text import late_pattern, listed
from tui.errors import UsageError

LONGEST = 250

KEY = "This looks like a key, not like a model. F5 asks for keys, once a provider is chosen."
NO_NAME = "This cannot be the name of a model: it has blanks, is an address, or is too long."

_KEYS = late_pattern(
    r"sk[-_][\w-]{4}"
    r"|(?:rk|pk|csk|key|api|sess|pa)[-_](?=\D*\d)[\w-]{12,}$"
    r"|(?:gsk_|xai-|hf_|r8_|fw_|vck_|jina_|tgp_v1_|esecret_|nvapi-|glpat-|gh[a-z]_|github_pat_"
    r"|xox[a-z]-|AIza|AKIA|ASIA|ABSK|AQ\.|ya29\.|dapi|SG\.)[\w.+=-]{12,}$"
    r"|pplx-\w{20,}$"
    r"|eyJ[\w-]{8,}\."
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
    r"|(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9/+]{40}$"
    r"|(?:export\s+)?[A-Z][A-Z0-9_]{2,}\s*="
    r"|(?i:authorization|bearer|basic)[:\s]"
)
"""Keys of known providers, web tokens, UUIDs, and what stands before a key."""

_DIGEST = late_pattern(r"(?<=/)[^/:@]+[:@](?:sha256:)?[0-9a-f]{64}$")
_WITH_IDS = late_pattern(r"(?:[\w.-]+:)?(?:arn|ft):")
"""Names of models that have random parts."""
_CHANGE = late_pattern(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
"""Between letters and digits, and before a capital: often in random text, seldom in words."""


def refusal(name: str) -> str:
    """Say why a text cannot be the name of a model, without repeating it; empty if it can."""
    if looks_like_key(name[:LONGEST]):
        return KEY
    odd = len(name) > LONGEST or "://" in name or not name.isprintable() or " " in name.strip()
    return NO_NAME if odd else ""


def looks_like_key(text: str) -> bool:
    """Tell if a text is a key, or random like one; the name of a provider may be before it."""
    text = text.strip()
    provider, _, behind = text.partition(":")
    parts = (text, "" if "/" in provider else behind.strip())
    may_be_random = not _WITH_IDS.match(text)
    return any(_KEYS.match(each) or (may_be_random and _is_random(each)) for each in parts)


def _is_random(text: str) -> bool:
    runs = re.findall(r"[A-Za-z0-9+]+", _DIGEST.sub("", text))
    longest = max(runs, key=len, default="")
    if len(longest) >= 40 and not longest.isdigit():
        return True
    if len(longest) >= 20 and len(_CHANGE.findall(longest)) >= 0.2 * len(longest):
        return True
    length, changes = sum(map(len, runs)), sum(len(_CHANGE.findall(run)) for run in runs)
    return length >= 32 and changes >= 0.3 * length


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


MOST_RECENT = 8


class ModelFacts(msgspec.Struct, frozen=True):
    """The window of a model in tokens, and its prices in dollars for a million tokens."""

    window: int | None = None
    sent: float | None = None
    received: float | None = None

    @property
    def words(self) -> str:
        """The known facts: ``1M · $2 in, $10 out``."""
        facts = [] if self.window is None else [window_words(self.window)]
        if self.sent is not None and self.received is not None:
            facts.append(f"{_dollars(self.sent)} in, {_dollars(self.received)} out")
        return " · ".join(facts)


class ModelRow(msgspec.Struct, frozen=True):
    """A model that can be chosen."""

    name: str
    """``PROVIDER:MODEL``."""
    facts: ModelFacts = ModelFacts()
    current: bool = False
    recent: bool = False


class ModelRows(msgspec.Struct, frozen=True):
    """The models of all connections, and why some are missing."""

    rows: tuple[ModelRow, ...] = ()
    troubles: tuple[str, ...] = ()
    """A line for each server that gave no list."""
    asking: tuple[str, ...] = ()
    """The servers that have not answered yet."""


def arrange(
    listed: Mapping[str, Sequence[str]],
    recent: Sequence[str],
    current: str,
    facts: Mapping[str, ModelFacts],
) -> tuple[ModelRow, ...]:
    """Make the rows: recently chosen models of these servers first, then each server's list.

    ``listed`` are models by server. The current one is among the rows even if no server lists it.
    """
    known = [f"{server}:{model}" for server, models in listed.items() for model in models]
    usable = [name for name in recent if name.partition(":")[0] in listed][:MOST_RECENT]
    unlisted = [current] if current and current not in known else []
    return tuple(
        ModelRow(name, facts.get(name, ModelFacts()), name == current, name in usable)
        for name in dict.fromkeys([*usable, *unlisted, *known])
    )


def matches(text: str, wanted: str) -> bool:
    """True if a text has all words of a filter, in any order and case."""
    folded = text.casefold()
    return all(word in folded for word in wanted.casefold().split())


OWN_SERVER = "own server"
"""The name of the row for a server that no table has; no provider's name has a blank."""


class ProviderRow(msgspec.Struct, frozen=True):
    """A provider that can be connected."""

    name: str
    title: str
    note: str = ""
    """Its state: connected, or found."""
    connected: bool = False
    """True for a connection made on the screen, which can be removed there."""
    found: bool = False
    """True if it can be used without another word: its key, or the server, is there."""
    key_page: str = ""
    address: str = ""
    example_address: str = ""
    """The form of its address, for one whose address only the user knows."""
    wants_key: bool = False
    """True if it wants a key; otherwise an address."""

    @property
    def within(self) -> str:
        """The title within a sentence."""
        return "your own server" if self.name == OWN_SERVER else self.title


def window_words(tokens: int) -> str:
    """Format a context window: ``128K``, ``1M``, ``1.05M``."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens // 1_000}K"
    return f"{tokens / 1_000_000:.3g}M"


def _dollars(amount: float) -> str:
    return f"${amount:.0f}" if amount == int(amount) else f"${amount:.2f}"
