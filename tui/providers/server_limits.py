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
    Facts,
    loaded_window,
    of_litellm,
    of_llama_cpp,
    of_lm_studio,
    shown_sight,
    trained_window,
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
        # A server of one model answers for it by any name.
        alone = listed[0] if len(listed) == 1 else ListedModel(model)
        item = next((each for each in listed if each.name == model), alone)
        if item.window:
            return ToldLimits(item.window, item.sees_images)
        told = (ask(connection, model, seconds) for ask in _own_words(listed))
        return next(filter(None, told), ToldLimits(None, item.sees_images))
    return ToldLimits()


_Ask = Callable[[Connection, str, float], ToldLimits | None]
"""Ask a server in its own words, where its list in the form of OpenAI lacks the window."""


def _asking(
    path: str, read: Callable[[Mapping[str, Any], str], Facts], *, changes: bool = False
) -> _Ask:
    """Make a question: ``read`` finds the facts in the reply, which may change later on."""

    def asked(connection: Connection, model: str, seconds: float) -> Facts:
        return read(ServerRequest(connection, seconds).get(path, above="/v1"), model)

    def again(connection: Connection, model: str, seconds: float) -> int | None:
        return asked(connection, model, seconds)[0]

    def ask(connection: Connection, model: str, seconds: float) -> ToldLimits | None:
        with suppress(ModelError):
            window, sees = asked(connection, model, seconds)
            if window:
                more = partial(again, connection, model) if changes else None
                return ToldLimits(window, sees, more)
        return None

    return ask


def _ask_ollama(connection: Connection, model: str, seconds: float) -> ToldLimits | None:
    """The window with which the model is loaded, else the one that it has."""
    again, shown = partial(_loaded_by_ollama, connection, model), dict[str, Any]()
    with suppress(ModelError):
        loaded = again(seconds)
        with suppress(ModelError):
            asking = ServerRequest(connection, seconds)
            shown |= asking.post("/api/show", {"model": model}, above="/v1")
        if tokens := loaded or trained_window(shown):
            return ToldLimits(tokens, shown_sight(shown), again)
    return None


def _loaded_by_ollama(connection: Connection, model: str, seconds: float) -> int | None:
    return loaded_window(ServerRequest(connection, seconds).get("/api/ps", above="/v1"), model)


_LLAMA_CPP = _asking("/props", of_llama_cpp)
_LM_STUDIO = _asking("/api/v0/models", of_lm_studio, changes=True)
_LITELLM = _asking("/model/info", of_litellm)
_BY_OWNER: Mapping[str, _Ask] = {
    "llamacpp": _LLAMA_CPP,
    "organization-owner": _LM_STUDIO,
    "organization_owner": _LM_STUDIO,
    "openai": _LITELLM,
}
"""By the owner that a server gives all of its models."""


def _own_words(listed: Sequence[ListedModel]) -> Sequence[_Ask]:
    """Choose whom to ask by the list: a server that is none of these gets few odd requests."""
    owners = {each.owner for each in listed} - {""}
    if not owners:
        return (_LLAMA_CPP, _LM_STUDIO, _LITELLM, _ask_ollama)
    # Ollama's own list gives the makers of the models.
    return [_BY_OWNER[owner] for owner in sorted(owners & {*_BY_OWNER})] or (_ask_ollama,)
