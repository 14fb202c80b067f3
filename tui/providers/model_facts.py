"""The windows of models, and whether they see pictures, in what servers say of them; pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

_LOADED = ("max_model_len", "loaded_context_length")
_KNOWN = (
    "context_length",
    "max_context_length",
    "context_window",
    "max_input_tokens",
    "inputTokenLimit",
)
_LARGEST = 1_000_000_000


def listed_window(item: Mapping[str, Any]) -> int | None:
    """The window of a model in a list: what the server takes before what the model could.

    vLLM, LM Studio, llama.cpp, OpenRouter, Mistral, Groq, Anthropic and Google each have a word
    of their own for it.
    """
    served = (_field(item, "meta", "n_ctx"), _field(item, "top_provider", "context_length"))
    said = (*(item.get(name) for name in _LOADED), *served, *(item.get(name) for name in _KNOWN))
    return next(filter(None, map(_tokens, said)), None)


def listed_sight(item: Mapping[str, Any]) -> bool | None:
    """Tell whether a model in a list sees pictures; ``None`` where it does not say so.

    OpenRouter and xAI list what a model takes; Mistral, Anthropic, Fireworks and Moonshot say yes
    or no.
    """
    taken = _field(item, "architecture", "input_modalities") or item.get("input_modalities")
    if isinstance(taken, list):
        return "image" in cast("list[Any]", taken)
    said = (
        _field(item, "capabilities", "vision"),
        _field(item, "capabilities", "image_input", "supported"),
        item.get("supports_image_input"),
        item.get("supports_image_in"),
    )
    return next((each for each in said if isinstance(each, bool)), None)


def sight_of(model: str, reply: Mapping[str, Any]) -> bool | None:
    """Tell whether a model in LM Studio's own list sees pictures."""
    items = (item for item in _dicts(reply.get("data")) if item.get("id") == model)
    return next(({"vlm": True, "llm": False}.get(str(item.get("type"))) for item in items), None)


def gateway_sight(reply: Mapping[str, Any], model: str) -> bool | None:
    """Tell whether all deployments of a model in LiteLLM's ``/model/info`` see pictures."""
    items = (item for item in _dicts(reply.get("data")) if item.get("model_name") == model)
    said = [_field(item, "model_info", "supports_vision") for item in items]
    known = [each for each in said if isinstance(each, bool)]
    return all(known) if known else None


def slot_sight(properties: Mapping[str, Any]) -> bool | None:
    """Tell whether the model of llama.cpp sees pictures, by its ``/props``."""
    said = _field(properties, "modalities", "vision")
    return said if isinstance(said, bool) else None


def shown_sight(shown: Mapping[str, Any]) -> bool | None:
    """Tell whether a model of Ollama sees pictures, by its ``/api/show``."""
    said = shown.get("capabilities")
    return "vision" in cast("list[Any]", said) if isinstance(said, list) else None


def window_of(model: str, reply: Mapping[str, Any]) -> int | None:
    """The window of a model in LM Studio's own list."""
    items = (item for item in _dicts(reply.get("data")) if item.get("id") == model)
    return next(filter(None, map(listed_window, items)), None)


def gateway_window(reply: Mapping[str, Any], model: str) -> int | None:
    """The window of a model in LiteLLM's ``/model/info``: the least of its deployments."""
    items = (item for item in _dicts(reply.get("data")) if item.get("model_name") == model)
    windows = [_tokens(_field(item, "model_info", "max_input_tokens")) for item in items]
    return min(filter(None, windows), default=None)


def slot_window(properties: Mapping[str, Any]) -> int | None:
    """The window of a request in llama.cpp's ``/props``."""
    slot = _field(properties, "default_generation_settings", "n_ctx")
    return _tokens(slot) or _tokens(properties.get("n_ctx"))


def loaded_window(running: Mapping[str, Any], model: str) -> int | None:
    """The window with which Ollama has loaded a model, in its ``/api/ps``."""
    for item in _dicts(running.get("models")):
        if _whole_name(model) in {_whole_name(item.get("name")), _whole_name(item.get("model"))}:
            return _tokens(item.get("context_length"))
    return None


def trained_window(shown: Mapping[str, Any]) -> int | None:
    """The window of a model that Ollama has not loaded, in its ``/api/show``.

    ``num_ctx`` of the model's own parameters, at most what it was trained with, else that.
    """
    facts = shown.get("model_info")
    architecture = _field(facts, "general.architecture")
    trained = _tokens(_field(facts, f"{architecture}.context_length"))
    found = re.search(r"^num_ctx\s+(\d{1,9})\s*$", str(shown.get("parameters", "")), re.MULTILINE)
    own = _tokens(int(found[1])) if found else None
    return min(own, trained) if own and trained else own or trained


def _whole_name(name: Any) -> str:
    """The name with its tag: ``qwen3`` is ``qwen3:latest``."""
    return name if ":" in str(name).rpartition("/")[2] else f"{name}:latest"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    yield from (cast("dict[str, Any]", item) for item in items if isinstance(item, dict))


def _field(value: Any, *names: str) -> Any:
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _tokens(value: Any) -> int | None:
    """A number of tokens; ``None`` for anything else."""
    return value if type(value) is int and 0 < value <= _LARGEST else None
