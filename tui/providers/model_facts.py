"""The windows of models, and whether they see pictures, in what servers say of them; pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tui.providers.server_words import value_at

_LOADED = ("max_model_len", "loaded_context_length")
_KNOWN = (
    "context_length",
    "max_context_length",
    "context_window",
    "max_input_tokens",
    "inputTokenLimit",
)
_LARGEST = 1_000_000_000

Facts = tuple[int | None, bool | None]
"""The window of a model, and whether it sees pictures, as far as a server says so."""


def listed_window(item: Mapping[str, Any]) -> int | None:
    """The window of a model in a list: what the server takes before what the model could.

    vLLM, LM Studio, llama.cpp, OpenRouter, Mistral, Groq, Anthropic and Google each have a word
    of their own for it.
    """
    served = (value_at(item, "meta", "n_ctx"), value_at(item, "top_provider", "context_length"))
    said = (*(item.get(name) for name in _LOADED), *served, *(item.get(name) for name in _KNOWN))
    return next(filter(None, map(_tokens, said)), None)


def listed_sight(item: Mapping[str, Any]) -> bool | None:
    """Tell whether a model in a list sees pictures; ``None`` where it does not say so.

    OpenRouter and xAI list what a model takes; Mistral, Anthropic, Fireworks and Moonshot say yes
    or no.
    """
    taken = value_at(item, "architecture", "input_modalities") or item.get("input_modalities")
    if isinstance(taken, list):
        return "image" in cast("list[Any]", taken)
    said = (
        value_at(item, "capabilities", "vision"),
        value_at(item, "capabilities", "image_input", "supported"),
        item.get("supports_image_input"),
        item.get("supports_image_in"),
    )
    return next((each for each in said if isinstance(each, bool)), None)


def of_lm_studio(reply: Mapping[str, Any], model: str) -> Facts:
    """The facts of a model in LM Studio's own list."""
    for item in _dicts(reply.get("data")):
        if item.get("id") == model and (window := listed_window(item)):
            return window, {"vlm": True, "llm": False}.get(str(item.get("type")))
    return None, None


def of_litellm(reply: Mapping[str, Any], model: str) -> Facts:
    """The facts of a model in LiteLLM's ``/model/info``: what all of its deployments have."""
    items = [item for item in _dicts(reply.get("data")) if item.get("model_name") == model]
    windows = [_tokens(value_at(item, "model_info", "max_input_tokens")) for item in items]
    sees = [value_at(item, "model_info", "supports_vision") for item in items]
    known = [each for each in sees if isinstance(each, bool)]
    return min(filter(None, windows), default=None), all(known) if known else None


def of_llama_cpp(properties: Mapping[str, Any], _: str = "") -> Facts:
    """The facts of the model of llama.cpp, in its ``/props``: the window is that of a request."""
    slot = value_at(properties, "default_generation_settings", "n_ctx")
    sees = value_at(properties, "modalities", "vision")
    window = _tokens(slot) or _tokens(properties.get("n_ctx"))
    return window, sees if isinstance(sees, bool) else None


def shown_sight(shown: Mapping[str, Any]) -> bool | None:
    """Tell whether a model of Ollama sees pictures, by its ``/api/show``."""
    said = shown.get("capabilities")
    return "vision" in cast("list[Any]", said) if isinstance(said, list) else None


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
    architecture = value_at(facts, "general.architecture")
    trained = _tokens(value_at(facts, f"{architecture}.context_length"))
    found = re.search(r"^num_ctx\s+(\d{1,9})\s*$", str(shown.get("parameters", "")), re.MULTILINE)
    own = _tokens(int(found[1])) if found else None
    return min(own, trained) if own and trained else own or trained


def _whole_name(name: Any) -> str:
    """The name with its tag: ``qwen3`` is ``qwen3:latest``."""
    return name if ":" in str(name).rpartition("/")[2] else f"{name}:latest"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    yield from (cast("dict[str, Any]", item) for item in items if isinstance(item, dict))


def _tokens(value: Any) -> int | None:
    """A number of tokens; ``None`` for anything else."""
    return value if type(value) is int and 0 < value <= _LARGEST else None
