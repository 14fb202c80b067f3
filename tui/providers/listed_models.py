"""The models that a server lists, and what it says of each: the window, and pictures.

All of it blocks, so call it in a thread. Redirects are not followed: the key belongs to one server.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlencode

import httpx2
import msgspec

from tui.domain.providers import PROVIDERS, ListedModel, ListingName
from tui.errors import KeyRefused, ModelError, ModelTimedOut, ModelUnavailable, NoModelList
from tui.logs import milliseconds_since
from tui.providers.catalog import Connection
from tui.providers.network import explained, intercepted, login_hint, route_to, web_page
from tui.providers.server_words import causes, is_page, message_in, quotable, quoted, value_at

_log = logging.getLogger(__name__)

SECONDS = 15.0
"""Limit of a request as a whole."""
_MOST_PAGES = 10
_MOST_MODELS = 2_000
_LONGEST_NAME = 200
_LARGEST_WINDOW = 1_000_000_000

# Parts of the names of models that do not chat; servers list them with the others.
_NO_CHAT = re.compile(
    "audio|babbage|dall-e|davinci|embed|image|moderation|realtime|rerank|sora|transcribe|tts"
    "|whisper",
    re.IGNORECASE,
)


class _Listing(msgspec.Struct, frozen=True):
    """A form in which servers describe their models, at an address of its own."""

    path: str
    above: str = ""
    """The end of the base address that ``path`` replaces."""
    items: str = "data"
    """The field with the models; empty where the whole reply describes the only one."""
    name: str = "id"
    methods: str = ""
    """The field that has ``generateContent`` for a model that chats."""
    pages: tuple[str, str, str, str] = ("", "", "", "")
    """The parameters for the size and the place of a page, and the fields that say that another
    one follows, and where."""
    sees: Mapping[str, bool] = {}
    """The types of models that see pictures, or do not."""
    changes: bool = False
    """True if it says how a model is loaded just now."""


# fmt: off
_LISTINGS: Mapping[ListingName, _Listing] = {
    "openai": _Listing("/models"),
    "anthropic": _Listing("/v1/models", pages=("limit", "after_id", "has_more", "last_id")),
    "google": _Listing("/v1beta/models", "", "models", "name", "supportedGenerationMethods",
                       pages=("pageSize", "pageToken", "nextPageToken", "nextPageToken")),
    "ollama": _Listing("/api/tags", "/v1", "models", "name"),
}
_LLAMA_CPP = _Listing("/props", "/v1", "")
_LM_STUDIO = _Listing("/api/v0/models", "/v1", sees={"vlm": True, "llm": False}, changes=True)
_LITELLM = _Listing("/model/info", "/v1", name="model_name")
_OLLAMA = _Listing("/api/ps", "/v1", "models", "name", changes=True)
# fmt: on

_BY_OWNER: Mapping[str, _Listing] = {
    "llamacpp": _LLAMA_CPP,
    "organization-owner": _LM_STUDIO,
    "organization_owner": _LM_STUDIO,
    "openai": _LITELLM,
}
"""By the owner that a server gives all of its models."""

_WINDOWS = (
    # What the server takes before what the model could.
    ("max_model_len",),  # vLLM
    ("loaded_context_length",),  # LM Studio
    ("meta", "n_ctx"),  # llama.cpp
    ("default_generation_settings", "n_ctx"),  # its /props: of a request
    ("n_ctx",),
    ("top_provider", "context_length"),  # OpenRouter
    ("context_length",),
    ("max_context_length",),  # Mistral, LM Studio
    ("context_window",),  # Groq
    ("max_input_tokens",),  # Anthropic
    ("model_info", "max_input_tokens"),  # LiteLLM
    ("inputTokenLimit",),  # Google
)
_SIGHTS = (
    ("capabilities", "vision"),  # Mistral
    ("capabilities", "image_input", "supported"),  # Anthropic
    ("supports_image_input",),  # Fireworks
    ("supports_image_in",),  # Moonshot
    ("model_info", "supports_vision"),  # LiteLLM
    ("modalities", "vision"),  # llama.cpp
)


def list_models(connection: Connection, seconds: float = SECONDS) -> tuple[ListedModel, ...]:
    """Ask a server for its chat models: the default one first, then newer before older.

    Raises ``KeyRefused``, ``NoModelList`` if it has no list, and other ``ModelError``.
    """
    provider = connection.provider
    if provider.lists == "none":
        raise NoModelList(f"{connection.host} cannot be asked for its models.")
    listing = _LISTINGS[provider.lists]
    items = [(_chat_name(item, listing), item) for item in _items(listing, connection, seconds)]
    items.sort(key=lambda named: -_age(named[1]))
    found = dict([(name, item) for name, item in items if name][:_MOST_MODELS])
    default = [name for name in provider.models if name in found]
    return tuple(
        ListedModel(name, window_of(item), str(item.get("owned_by") or ""), sight_of(item))
        for name, item in ((name, found[name]) for name in dict.fromkeys([*default, *found]))
    )


def check(connection: Connection, model: str) -> None:
    """Ask a model for a token or few, at a server that lists none. Raises ``ModelError``.

    A server that cannot be asked for a list is not asked for this, either.
    """
    provider = connection.provider
    if provider.lists == "none":
        return
    path = "/v1/messages" if provider.dialect == "anthropic" else "/chat/completions"
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    if provider.dialect == "google":
        path = f"/v1beta/models/{model}:generateContent"
        hello = {"role": "user", "parts": [{"text": "Hello"}]}
        body = {"contents": [hello], "generationConfig": {"maxOutputTokens": 1}}
    elif provider.max_tokens_name == "max_completion_tokens" or (
        provider.base_url == PROVIDERS["openai"].base_url
    ):
        # Models that reason refuse the other name, and a limit that they cannot end within.
        body["max_completion_tokens"] = 1_000
    else:
        body["max_tokens"] = 1
    ServerRequest(connection, SECONDS).json(path, body)


class ToldLimits(msgspec.Struct, frozen=True):
    """The words of a server on a model: its window, and whether it sees pictures.

    ``again`` asks for the window anew, in so many seconds, where that depends on how the model is
    loaded. It raises ``ModelError``.
    """

    window: int | None = None
    sees_images: bool | None = None
    again: Callable[[float], int | None] | None = None


def ask_limits(
    connection: Connection,
    model: str,
    seconds: float,
    keep: Callable[[Sequence[ListedModel]], None] | None = None,
) -> ToldLimits:
    """Ask a server for a model's limits, as far as it says them; ``keep`` gets its list."""
    if connection.provider.lists == "ollama":
        return _told(_OLLAMA, connection, model, seconds)
    try:
        listed = list_models(connection, seconds)
    except ModelError:
        return ToldLimits()
    if keep:
        keep(listed)
    # A server of one model answers for it by any name.
    alone = listed[0] if len(listed) == 1 else ListedModel(model)
    item = next((each for each in listed if each.name == model), alone)
    if item.window:
        return ToldLimits(item.window, item.sees_images)
    owners = {each.owner for each in listed} - {""}
    # A server that is none of these gets few odd requests: Ollama's list gives the models' makers.
    known = [_BY_OWNER[owner] for owner in sorted(owners & {*_BY_OWNER})] or [_OLLAMA]
    asked = known if owners else (_LLAMA_CPP, _LM_STUDIO, _LITELLM, _OLLAMA)
    told = (_told(listing, connection, model, seconds) for listing in asked)
    return next((each for each in told if each.window), ToldLimits(None, item.sees_images))


def _told(listing: _Listing, connection: Connection, model: str, seconds: float) -> ToldLimits:
    """Ask a server in its own words, where its list in the form of OpenAI lacks the window."""

    def again(seconds: float) -> int | None:
        return _limits_now(listing, connection, model, seconds)[0]

    window = sees = None
    with suppress(ModelError):
        window, sees = _limits_now(listing, connection, model, seconds)
        if listing is _OLLAMA:
            request = ServerRequest(connection, seconds)
            shown = request.json("/api/show", {"model": model}, above=listing.above)
            window = window or trained_window(shown)
            said = shown.get("capabilities")
            sees = "vision" in cast("list[Any]", said) if isinstance(said, list) else None
    return ToldLimits(window, sees, again if listing.changes else None)


def _limits_now(
    listing: _Listing, connection: Connection, model: str, seconds: float
) -> tuple[int | None, bool | None]:
    """The limits that all deployments of a model have."""
    items = [
        item
        for item in _items(listing, connection, seconds)
        # Ollama's ``qwen3`` is ``qwen3:latest``. No set: a name may be anything.
        if not listing.items or item.get(listing.name) in (model, f"{model}:latest")
    ]
    sees = [listing.sees.get(str(item.get("type")), sight_of(item)) for item in items]
    known = [each for each in sees if each is not None]
    windows = filter(None, map(window_of, items))
    return min(windows, default=None), all(known) if known else None


def _items(listing: _Listing, connection: Connection, seconds: float) -> Iterator[dict[str, Any]]:
    """The items of a list, of all its pages. Raises ``NoModelList`` and other ``ModelError``."""
    request, (size, place, more, following) = ServerRequest(connection, seconds), listing.pages
    query = {size: "1000"} if size else {}
    for _ in range(_MOST_PAGES):
        path = f"{listing.path}?{urlencode(query)}" if query else listing.path
        reply = request.json(path, above=listing.above)
        items: Any = reply.get(listing.items, "") if listing.items else [reply]
        # Servers in Go write an empty list as null.
        if not isinstance(items, list | None):
            raise NoModelList(f"{connection.host} sent no list of models.")
        for item in cast("list[Any]", items or ()):
            if isinstance(item, dict):
                yield cast("dict[str, Any]", item)
        cursor = reply.get(following)
        if not reply.get(more) or not isinstance(cursor, str):
            return
        query[place] = cursor


def _chat_name(item: dict[str, Any], listing: _Listing) -> str:
    """The name of a model in a list; empty for what is no name, or does not chat."""
    match item:
        case {"capabilities": {"completion_chat": False}}:
            return ""
        case {"details": {"family": str(family)}} if "bert" in family:
            return ""
        case _:
            name = item.get(listing.name)
    if not isinstance(name, str) or _NO_CHAT.search(name):
        return ""
    if listing.methods:
        methods = item.get(listing.methods)
        if not isinstance(methods, list) or "generateContent" not in methods:
            return ""
        name = name.removeprefix("models/")
    is_name = name.strip() == name and name.isprintable() and len(name) <= _LONGEST_NAME
    return name if is_name else ""


def _age(item: Mapping[str, Any]) -> int:
    created = item.get("created")
    return created if type(created) is int else 0


def window_of(item: Mapping[str, Any]) -> int | None:
    """The window of a model, in the words of any server."""
    return next(filter(None, (_tokens(value_at(item, *names)) for names in _WINDOWS)), None)


def sight_of(item: Mapping[str, Any]) -> bool | None:
    """Tell whether a model sees pictures; ``None`` where its server does not say so."""
    # OpenRouter and xAI list what a model takes.
    taken = value_at(item, "architecture", "input_modalities") or item.get("input_modalities")
    if isinstance(taken, list):
        return "image" in cast("list[Any]", taken)
    said = (value_at(item, *names) for names in _SIGHTS)
    return next((each for each in said if isinstance(each, bool)), None)


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


def _tokens(value: Any) -> int | None:
    """A number of tokens; ``None`` for anything else."""
    return value if type(value) is int and 0 < value <= _LARGEST_WINDOW else None


# --- requests

_CONNECT_SECONDS = 5.0
_MOST_BYTES = 4 * 1024 * 1024
_LONGEST_ERROR = 64 * 1024


class ServerRequest:
    """Requests to one server, which end at the same time, ``seconds`` from now."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._connection = connection.keyed()
        self._route = route_to(connection.provider)
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def json(
        self, path: str, body: Mapping[str, Any] | None = None, *, above: str = ""
    ) -> dict[str, Any]:
        """Get a JSON object, or post ``body`` for one. Raises ``ModelError``.

        ``above`` is the end of the base address that ``path`` replaces.
        """
        provider = self._connection.provider
        begun, result = time.perf_counter(), ""
        try:
            data = self._reply(provider.base_url.rstrip("/").removesuffix(above) + path, body)
            result = f"{len(data)} bytes"
        except ModelError as error:
            result = type(error).__name__
            raise
        finally:
            place, passed = provider.name + path.partition("?")[0], milliseconds_since(begun)
            _log.info("facts from %s: %s, %d ms", place, result, passed)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._not_json(data.decode("utf-8", "replace"))
        return cast("dict[str, Any]", value)

    def _reply(self, address: str, body: Mapping[str, Any] | None) -> bytes:
        """The first ``_MOST_BYTES`` of a reply: one that is cut is no JSON."""
        provider, route, data = self._connection.provider, self._route, bytearray()
        timeout = httpx2.Timeout(self._seconds, connect=min(self._seconds, _CONNECT_SECONDS))
        try:
            url = httpx2.URL(address).copy_merge_params(provider.query)
            method, headers = "GET" if body is None else "POST", self._headers()
            transport = httpx2.HTTPTransport(verify=route.certificates, proxy=route.http_proxy)
            with (
                httpx2.Client(transport=transport, timeout=timeout) as http,
                http.stream(method, url, headers=headers, json=body) as response,
            ):
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > _MOST_BYTES:
                        break
                    if time.monotonic() > self._end:
                        raise httpx2.ReadTimeout("too slow")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            failed = ModelUnavailable(explained(error, route, _CONNECT_SECONDS).words)
            if any(isinstance(each, httpx2.ReadTimeout) for each in causes(error)):
                words = f"{route.host} did not answer within {self._seconds:g} seconds."
                failed = ModelTimedOut(words + route.through)
            # Without the library's error, which may quote the key.
            raise failed from None
        if not response.is_success:
            text = data[:_LONGEST_ERROR].decode("utf-8", "replace")
            raise self._refused(response.status_code, response.headers.get("location", ""), text)
        return bytes(data[:_MOST_BYTES])

    def _headers(self) -> httpx2.Headers:
        headers = httpx2.Headers({"User-Agent": "sibyl-tui", "Accept-Encoding": "identity"})
        if self._connection.provider.dialect == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        for name, value in self._connection.headers:
            headers[name] = value
        return headers

    def _refused(self, status: int, location: str, text: str) -> ModelError:
        host, has_key, route = self._connection.host, self._connection.key is not None, self._route
        secrets = (*self._connection.secrets, *route.secrets)
        said = quoted(message_in(text), *secrets)
        if words := intercepted(status, route, is_page=is_page(text)):
            return ModelUnavailable(words)
        if 300 <= status < 400:
            hint = login_hint(route, location, text)
            place = quotable(location, *secrets) or "another address"
            return ModelUnavailable(
                f"{host} redirects to {place}. If that is right, give that address.{hint}"
            )
        if status in {401, 403}:
            what = "refused the key" if has_key else "requires a key"
            return KeyRefused(f"{host} {what} (status {status}).{said}")
        if status in {404, 405, 501}:
            return NoModelList(f"{host} has no such page or model (status {status}).{said}")
        if status == 407 or is_page(text):
            return self._not_json(text)
        failed, said = f"{host} failed with status {status}.", said + route.through
        # Gateways without a database of keys answer so to a missing or a wrong key.
        is_about_key = status in {400, 500}
        if is_about_key and not has_key:
            return KeyRefused(f"{failed} It may require a key.{said}")
        again = " Try again later." if status == 429 or status >= 500 else ""
        kind = KeyRefused if is_about_key else ModelUnavailable
        return kind(f"{failed}{again}{said}")

    def _not_json(self, text: str) -> ModelError:
        if is_page(text):
            words = web_page(self._route, "a list of models", "it usually ends in /v1")
            return ModelUnavailable(words)
        return ModelUnavailable(
            f"{self._route.host} sent no JSON. Check the address; it usually ends in /v1."
        )
