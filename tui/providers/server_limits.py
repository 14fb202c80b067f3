"""The window of a model, and whether it sees pictures, asked of its server.

Blocks: call it in a thread.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from tui.domain.providers import ListedModel
from tui.errors import ModelError
from tui.providers.model_facts import (
    gateway_sight,
    gateway_window,
    loaded_window,
    shown_sight,
    sight_of,
    slot_sight,
    slot_window,
    trained_window,
    window_of,
)
from tui.providers.model_lists import Connection, ServerRequest, list_models

AskAgain = Callable[[float], int | None]
"""Ask for the window again, in so many seconds. Raises ``ModelError``."""
Keep = Callable[[Connection, Sequence[ListedModel]], None]
"""Keep a server's list."""


class ToldLimits(msgspec.Struct, frozen=True):
    """The words of a server on a model: its window, and whether it sees pictures.

    ``again`` asks for the window anew, where that depends on how the model is loaded.
    """

    tokens: int | None = None
    sees_images: bool | None = None
    again: AskAgain | None = None


def ask_server(connection: Connection, model: str, seconds: float, keep: Keep) -> ToldLimits:
    """Ask a server for a model's limits; without an answer nothing is known."""
    if connection.provider.lists == "ollama":
        again = partial(_loaded_by_ollama, connection, model)
        return _ask_ollama(connection, model, seconds) or ToldLimits(again=again)
    with suppress(ModelError):
        listed = list_models(connection, seconds)
        keep(connection, listed)
        found = _limits_in(listed, model)
        if found.tokens:
            return found
        told = (ask(connection, model, seconds) for ask in _own_words(listed))
        return next(filter(None, told), found)
    return ToldLimits()


def _limits_in(listed: Sequence[ListedModel], model: str) -> ToldLimits:
    # A server of one model answers for it by any name.
    alone = listed[0] if len(listed) == 1 else ListedModel(model)
    item = next((each for each in listed if each.name == model), alone)
    return ToldLimits(item.window, item.sees_images)


def _ask_ollama(connection: Connection, model: str, seconds: float) -> ToldLimits | None:
    """The window with which the model is loaded, else the one that it has."""
    again = partial(_loaded_by_ollama, connection, model)
    with suppress(ModelError):
        loaded = again(seconds)
        shown = _shown_by_ollama(connection, model, seconds)
        if tokens := loaded or trained_window(shown):
            return ToldLimits(tokens, shown_sight(shown), again)
    return None


def _shown_by_ollama(connection: Connection, model: str, seconds: float) -> Mapping[str, Any]:
    with suppress(ModelError):
        asking = ServerRequest(connection, seconds)
        return asking.post("/api/show", {"model": model}, above="/v1")
    return {}


def _loaded_by_ollama(connection: Connection, model: str, seconds: float) -> int | None:
    return loaded_window(ServerRequest(connection, seconds).get("/api/ps", above="/v1"), model)


def _ask_llama_cpp(connection: Connection, _: str, seconds: float) -> ToldLimits | None:
    with suppress(ModelError):
        properties = ServerRequest(connection, seconds).get("/props", above="/v1")
        if slot := slot_window(properties):
            return ToldLimits(slot, slot_sight(properties))
    return None


def _ask_lm_studio(connection: Connection, model: str, seconds: float) -> ToldLimits | None:
    again = partial(_listed_by_lm_studio, connection, model)
    with suppress(ModelError):
        reply = _list_of_lm_studio(connection, seconds)
        if window := window_of(model, reply):
            return ToldLimits(window, sight_of(model, reply), again)
    return None


def _listed_by_lm_studio(connection: Connection, model: str, seconds: float) -> int | None:
    return window_of(model, _list_of_lm_studio(connection, seconds))


def _list_of_lm_studio(connection: Connection, seconds: float) -> Mapping[str, Any]:
    return ServerRequest(connection, seconds).get("/api/v0/models", above="/v1")


def _ask_litellm(connection: Connection, model: str, seconds: float) -> ToldLimits | None:
    with suppress(ModelError):
        reply = ServerRequest(connection, seconds).get("/model/info", above="/v1")
        if window := gateway_window(reply, model):
            return ToldLimits(window, gateway_sight(reply, model))
    return None


_Ask = Callable[[Connection, str, float], ToldLimits | None]
"""Ask a server in its own words, where its list in the form of OpenAI lacks the window."""

_BY_OWNER: Mapping[str, _Ask] = {
    "llamacpp": _ask_llama_cpp,
    "organization-owner": _ask_lm_studio,
    "organization_owner": _ask_lm_studio,
    "openai": _ask_litellm,
}
"""By the owner that a server gives all of its models."""


def _own_words(listed: Sequence[ListedModel]) -> Sequence[_Ask]:
    """Choose whom to ask by the list: a server that is none of these gets few odd requests."""
    owners = {each.owner for each in listed} - {""}
    if not owners:
        return (_ask_llama_cpp, _ask_lm_studio, _ask_litellm, _ask_ollama)
    # Ollama's own list gives the makers of the models.
    return [_BY_OWNER[owner] for owner in sorted(owners & {*_BY_OWNER})] or (_ask_ollama,)
