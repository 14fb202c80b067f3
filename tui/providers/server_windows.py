"""The window of a model, asked of its server. Blocks: call it in a thread."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from tui.domain.providers import ListedModel
from tui.errors import ModelError
from tui.providers.model_facts import (
    gateway_window,
    loaded_window,
    slot_window,
    trained_window,
    window_of,
)
from tui.providers.model_lists import Connection, ServerRequest, list_models

AskAgain = Callable[[float], int | None]
"""Ask for the window again, in so many seconds. Raises ``ModelError``."""
Keep = Callable[[Connection, Sequence[ListedModel]], None]
"""Keep a server's list."""


class ToldWindow(msgspec.Struct, frozen=True):
    """What a server says of a model's window.

    ``again`` asks for it anew, where it depends on how the model is loaded.
    """

    tokens: int | None = None
    again: AskAgain | None = None


def ask_server(connection: Connection, model: str, seconds: float, keep: Keep) -> ToldWindow:
    """Ask a server for a model's window; without an answer nothing is known."""
    if connection.provider.lists == "ollama":
        again = partial(_loaded_by_ollama, connection, model)
        return _ask_ollama(connection, model, seconds) or ToldWindow(None, again)
    with suppress(ModelError):
        listed = list_models(connection, seconds)
        keep(connection, listed)
        if window := _window_in(listed, model):
            return ToldWindow(window)
        told = (ask(connection, model, seconds) for ask in _own_words(listed))
        return next(filter(None, told), ToldWindow())
    return ToldWindow()


def _window_in(listed: Sequence[ListedModel], model: str) -> int | None:
    named = {each.name: each.window for each in listed}
    # A server of one model answers for it by any name.
    alone = listed[0].window if len(listed) == 1 else None
    return named.get(model) or alone


def _ask_ollama(connection: Connection, model: str, seconds: float) -> ToldWindow | None:
    """The window with which the model is loaded, else the one that it has."""
    again = partial(_loaded_by_ollama, connection, model)
    with suppress(ModelError):
        if loaded := again(seconds):
            return ToldWindow(loaded, again)
        asking = ServerRequest(connection, seconds)
        shown = asking.post("/api/show", {"model": model}, above="/v1")
        if trained := trained_window(shown):
            return ToldWindow(trained, again)
    return None


def _loaded_by_ollama(connection: Connection, model: str, seconds: float) -> int | None:
    return loaded_window(ServerRequest(connection, seconds).get("/api/ps", above="/v1"), model)


def _ask_llama_cpp(connection: Connection, _: str, seconds: float) -> ToldWindow | None:
    with suppress(ModelError):
        properties = ServerRequest(connection, seconds).get("/props", above="/v1")
        if slot := slot_window(properties):
            return ToldWindow(slot)
    return None


def _ask_lm_studio(connection: Connection, model: str, seconds: float) -> ToldWindow | None:
    again = partial(_listed_by_lm_studio, connection, model)
    with suppress(ModelError):
        if window := again(seconds):
            return ToldWindow(window, again)
    return None


def _listed_by_lm_studio(connection: Connection, model: str, seconds: float) -> int | None:
    reply = ServerRequest(connection, seconds).get("/api/v0/models", above="/v1")
    return window_of(model, reply)


def _ask_litellm(connection: Connection, model: str, seconds: float) -> ToldWindow | None:
    with suppress(ModelError):
        reply = ServerRequest(connection, seconds).get("/model/info", above="/v1")
        if window := gateway_window(reply, model):
            return ToldWindow(window)
    return None


_Ask = Callable[[Connection, str, float], ToldWindow | None]
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
