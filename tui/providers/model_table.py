"""The parameters that vendors' models take, as far as it is known before they refuse any.

A model that is not here works: a server's refusal says the rest, see ``failures``.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tui.domain.models import EFFORTS, PARAMETERS, Effort, ModelParameters

Switch = Literal["none", "effort", "budget", "adaptive"]
"""The form of the switch: an effort or a level, a number of tokens, or Claude's adaptive one."""


class Traits(Struct, frozen=True):
    """The traits of a model's family."""

    efforts: tuple[Effort, ...] = ()
    """In order; none for a model that does not think."""
    switch: Switch = "none"
    thinks_unasked: bool = False
    temperature: Literal["taken", "without thinking", "refused"] = "taken"
    has_effort: bool = True
    """Of Claude: False where adaptive thinking has no degrees."""
    off: str = "disabled"
    """Claude's word for thinking that is switched off; empty where it is off unasked."""
    most_tokens: int | None = None
    """The longest answer, where a request must name a limit."""


PLAIN = Traits()
ANY = Traits(EFFORTS, "effort")
"""Of a model that may take every parameter."""
_DEGREES: tuple[Effort, ...] = ("low", "medium", "high")

_REASONS = Traits(EFFORTS, "effort", temperature="without thinking")
_ALWAYS = Traits(_DEGREES, "effort", thinks_unasked=True, temperature="without thinking")
_UNASKED = replace(_REASONS, thinks_unasked=True)

OPENAI: Sequence[tuple[str, Traits]] = (
    (r"gpt-5-chat", PLAIN),
    (r"gpt-5\.\d-chat", replace(_ALWAYS, efforts=("medium",))),
    (r"gpt-5-pro", replace(_ALWAYS, efforts=("high",))),
    (r"gpt-[56]\.\d-pro", replace(_ALWAYS, efforts=("medium", "high"))),
    (r"o\d|gpt-5(?!\.)|gpt-5\.1-codex|gpt-6-astra|gpt-6\.1-sol", _ALWAYS),
    (r"gpt-5\.[1-4]", _REASONS),
    (r"gpt-[5-9]", _UNASKED),
)

_BUDGET = Traits(EFFORTS, "budget", off="")
_ADAPTIVE = Traits(EFFORTS, "adaptive", off="", most_tokens=128_000)
_SAMPLES_ITSELF = replace(_ADAPTIVE, temperature="refused")
_THINKS = replace(_SAMPLES_ITSELF, thinks_unasked=True, off="disabled")
_THINKS_ALWAYS = replace(_THINKS, efforts=_DEGREES)

CLAUDE: Sequence[tuple[str, Traits]] = (
    (r"claude-mythos-preview", Traits(_DEGREES, "adaptive", thinks_unasked=True, has_effort=False)),
    (r"claude-(?:fable|mythos|opus-5-5)", _THINKS_ALWAYS),
    (r"claude-sonnet-5-5", replace(_THINKS, off="between_tools")),
    (r"claude-(?:opus-5|sonnet-5|haiku-5-5)", _THINKS),
    (r"claude-opus-4-[78]", _SAMPLES_ITSELF),
    (r"claude-(?:opus|sonnet)-4-6", _ADAPTIVE),
    (r"claude-(?:opus|sonnet|haiku)-4-5", replace(_BUDGET, most_tokens=64_000)),
    (r"claude-3-(?:haiku|opus|sonnet)", Traits(most_tokens=4_096)),
    (r"claude-3-5", Traits(most_tokens=8_192)),
    (r"claude-opus-4", replace(_BUDGET, most_tokens=32_000)),
    (r"", _BUDGET),
)

GEMINI: Sequence[tuple[str, Traits]] = (
    (r"gemma|gemini-1|gemini-2\.[0-4]|gemini-pro|gemini-2\.5-flash-image", PLAIN),
    (r"gemini-2\.5-pro", Traits(_DEGREES, "budget")),
    (r"gemini-2\.5", Traits(EFFORTS, "budget")),
    (r"gemini-3-pro", Traits(("low", "high"), "effort")),
    (r"gemini-3\.[78]-flash|(?!.*flash).*pro", Traits(_DEGREES, "effort")),
    (r"gemini", Traits(EFFORTS, "effort")),
)

MISTRAL: Sequence[tuple[str, Traits]] = (
    (r"mistral-(?:medium|small)|magistral", Traits(("off", "high"), "effort")),
)

BEDROCK: Sequence[tuple[str, Traits]] = (
    (r"(?:[\w-]+\.)*deepseek\.r1", Traits(_DEGREES)),
    (r"(?:[\w-]+\.)*openai\.", Traits(_DEGREES, "effort")),
    (r"(?:[\w-]+\.)*qwen\.", Traits(EFFORTS, "effort")),
)


def traits_in(table: Sequence[tuple[str, Traits]], model: str) -> Traits:
    """Look up a model by the beginning of its name, in lower case."""
    return next((traits for name, traits in table if re.match(name, model.lower())), PLAIN)


def is_at(base_url: str, vendor: str) -> bool:
    """True for the address of a vendor."""
    return urlsplit(base_url).hostname == vendor


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
    if not changed:
        return ""
    refused, instead = _only(wanted, changed), _only(sent, changed)
    done = f"sent {instead.words} instead" if instead.words else "left out"
    others = _only(sent, [name for name in PARAMETERS if name not in changed]).words
    beside = f" with {others}" if others and takes(refused) == refused else ""
    return f"{model} does not take {refused.words}{beside}: {done}."


def _only(parameters: ModelParameters, names: list[str]) -> ModelParameters:
    return ModelParameters(**{name: getattr(parameters, name) for name in names})
