"""The models that a server lists, and the check of its address and key.

Both block for ``SECONDS`` at most, so call them in a thread. Redirects are not followed: the key
belongs to one server.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

import httpx2
import msgspec

from tui.domain.providers import (
    PROVIDERS,
    DialectName,
    ListedModel,
    ListingName,
    Provider,
    form_of_key,
)
from tui.errors import KeyRefused, ModelError, ModelTimedOut, ModelUnavailable, NoModelList
from tui.logs import milliseconds_since
from tui.providers.key_command import key_from_command
from tui.providers.model_facts import listed_sight, listed_window
from tui.providers.network import Route, explained, intercepted, login_hint, route_to, web_page
from tui.providers.ollama import chat_names
from tui.providers.secret import Secret
from tui.providers.server_words import (
    causes,
    is_page,
    message_in,
    quotable,
    quoted,
)

_log = logging.getLogger(__name__)

SECONDS = 15.0
"""Limit of a request as a whole."""
CONNECT_SECONDS = 5.0
_MOST_BYTES = 4 * 1024 * 1024
_MOST_PAGES = 10
_MOST_MODELS = 2_000
_LONGEST_NAME = 200

# Parts of the names of models that do not chat; servers list them with the others.
_NO_CHAT = (
    "audio",
    "babbage",
    "dall-e",
    "davinci",
    "embed",
    "image",
    "moderation",
    "realtime",
    "rerank",
    "sora",
    "transcribe",
    "tts",
    "whisper",
)

_KEY_PERHAPS = frozenset({400, 500})
"""Gateways without a database of keys answer so to a missing or a wrong key."""

_KEY_HEADERS: Mapping[DialectName, str] = {"anthropic": "X-Api-Key", "google": "X-Goog-Api-Key"}


class Connection(msgspec.Struct, frozen=True):
    """A server, and the key for it."""

    provider: Provider
    key: Secret | None = None

    @property
    def host(self) -> str:
        """The name and the port of the server."""
        return urlsplit(self.provider.base_url).netloc or self.provider.title

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The key and the values of the headers, none of which is ever shown."""
        headers = (Secret(text, "headers") for text in self.provider.headers.values())
        return (*([self.key] if self.key else []), *headers)


def list_models(connection: Connection, seconds: float = SECONDS) -> tuple[ListedModel, ...]:
    """Ask a server for its chat models: the default one first, then newer before older.

    Raises ``KeyRefused``, ``NoModelList`` if it has no list, and other ``ModelError``.
    """
    if connection.provider.lists == "none":
        raise NoModelList(f"{connection.host} cannot be asked for its models.")
    request = ServerRequest(connection, seconds)
    items = _LISTINGS[connection.provider.lists](request, connection)
    listed = sorted(_usable(items), key=lambda item: -_age(item))[:_MOST_MODELS]
    found = {str(item["id"]): item for item in listed}
    default = [name for name in connection.provider.models if name in found]
    names = dict.fromkeys([*default, *found])
    return tuple(
        ListedModel(name, listed_window(item), str(item.get("owned_by") or ""), listed_sight(item))
        for name, item in ((name, found[name]) for name in names)
    )


def check(connection: Connection, model: str) -> None:
    """Ask a model for a token or few, at a server that lists none. Raises ``ModelError``.

    A server that cannot be asked for a list is not asked for this, either.
    """
    if connection.provider.lists == "none":
        return
    path, question = _smallest(connection.provider, model)
    ServerRequest(connection).post(path, question)


def _smallest(provider: Provider, model: str) -> tuple[str, dict[str, Any]]:
    """The smallest request in the dialect of a server."""
    if provider.dialect == "google":
        hello = {"role": "user", "parts": [{"text": "Hello"}]}
        limit = {"maxOutputTokens": 1}
        return f"/v1beta/models/{model}:generateContent", {
            "contents": [hello],
            "generationConfig": limit,
        }
    path = "/v1/messages" if provider.dialect == "anthropic" else "/chat/completions"
    hello = {"role": "user", "content": "Hello"}
    return path, {"model": model, "messages": [hello], **_limit(provider)}


def _limit(provider: Provider) -> dict[str, int]:
    newer = provider.max_tokens_name == "max_completion_tokens"
    if newer or provider.base_url == PROVIDERS["openai"].base_url:
        # Models that reason refuse the other name, and a limit that they cannot end within.
        return {"max_completion_tokens": 1_000}
    return {"max_tokens": 1}


def _list_openai(asking: "ServerRequest", connection: Connection) -> Iterator[Any]:
    yield from _items(asking.get("/models"), "data", connection)


def _list_anthropic(asking: "ServerRequest", connection: Connection) -> Iterator[Any]:
    page = {"limit": "1000"}
    for _ in range(_MOST_PAGES):
        reply = asking.get(f"/v1/models?{urlencode(page)}")
        yield from _items(reply, "data", connection)
        last = reply.get("last_id")
        if not reply.get("has_more") or not isinstance(last, str):
            return
        page["after_id"] = last


def _list_google(asking: "ServerRequest", connection: Connection) -> Iterator[Any]:
    page = {"pageSize": "1000"}
    for _ in range(_MOST_PAGES):
        reply = asking.get(f"/v1beta/models?{urlencode(page)}")
        for item in _items(reply, "models", connection):
            yield from _chat_model_of_google(item)
        following = reply.get("nextPageToken")
        if not following or not isinstance(following, str):
            return
        page["pageToken"] = following


def _chat_model_of_google(item: Any) -> Iterator[dict[str, Any]]:
    """The model in an item of Google's list, if it is one that answers: ``models/NAME``."""
    match item:
        case {"name": str(name), "supportedGenerationMethods": [*methods]} if (
            "generateContent" in methods
        ):
            yield {**cast("dict[str, Any]", item), "id": name.removeprefix("models/")}
        case _:
            return


def _list_ollama(asking: "ServerRequest", connection: Connection) -> Iterator[Any]:
    reply = asking.get("/api/tags", above="/v1")
    _items(reply, "models", connection)
    yield from ({"id": name} for name in chat_names(reply))


_Listing = Callable[["ServerRequest", Connection], Iterator[Any]]
_LISTINGS: Mapping[ListingName, _Listing] = {
    "openai": _list_openai,
    "anthropic": _list_anthropic,
    "google": _list_google,
    "ollama": _list_ollama,
}


def _items(reply: Mapping[str, Any], field: str, connection: Connection) -> list[Any]:
    items = reply.get(field)
    if not isinstance(items, list):
        raise NoModelList(f"{connection.host} sent no list of models.")
    return cast("list[Any]", items)


def _usable(listed: Iterator[Any]) -> Iterator[dict[str, Any]]:
    for item in listed:
        name = cast("dict[str, Any]", item).get("id") if isinstance(item, dict) else None
        if isinstance(name, str) and _is_name(name) and not _is_no_chat(name, item):
            yield cast("dict[str, Any]", item)


def _is_name(name: str) -> bool:
    return bool(name.strip() == name and name.isprintable() and len(name) <= _LONGEST_NAME and name)


def _is_no_chat(name: str, item: Any) -> bool:
    match item:
        case {"capabilities": {"completion_chat": False}}:
            return True
        case _:
            return any(part in name.lower() for part in _NO_CHAT)


def _age(item: Mapping[str, Any]) -> int:
    created = item.get("created")
    return created if type(created) is int else 0


class ServerRequest:
    """Requests to one server, which end at the same time."""

    def __init__(self, connection: Connection, seconds: float = SECONDS) -> None:
        self._connection = _keyed(connection)
        self._route = route_to(connection.provider)
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def get(self, path: str, above: str = "") -> Mapping[str, Any]:
        """Get a JSON object; ``above`` is the end of the base address that ``path`` replaces."""
        return self._object("GET", path, above, None)

    def post(self, path: str, body: Mapping[str, Any], above: str = "") -> Mapping[str, Any]:
        return self._object("POST", path, above, body)

    def _object(
        self, method: str, path: str, above: str, body: Mapping[str, Any] | None
    ) -> Mapping[str, Any]:
        begun = time.perf_counter()
        root = self._connection.provider.base_url.rstrip("/").removesuffix(above)
        reply = self._asked(method, f"{root}{path}", body)
        _note(reply, f"{self._connection.provider.name}{path.partition('?')[0]}", begun)
        if isinstance(reply, ModelError):
            raise reply
        value = _json(reply)
        if not isinstance(value, dict):
            raise _not_json(reply.decode("utf-8", "replace"), self._route)
        return cast("dict[str, Any]", value)

    def _asked(self, method: str, url: str, body: Mapping[str, Any] | None) -> bytes | ModelError:
        """Give an error back instead of raising it: the library's may quote the key below it."""
        timeout = httpx2.Timeout(self._seconds, connect=min(self._seconds, CONNECT_SECONDS))
        try:
            whole = httpx2.URL(url).copy_merge_params(self._connection.provider.query)
            with (
                httpx2.Client(transport=self._route.blocking_transport(), timeout=timeout) as http,
                http.stream(method, whole, headers=self._headers(), json=body) as response,
            ):
                data = self._body(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return _disconnected(error, self._route, self._seconds)
        if response.is_success:
            return data
        status, headers = response.status_code, response.headers
        return _refusal(status, headers, data, self._connection, self._route)

    def _body(self, response: httpx2.Response) -> bytes:
        """Read at most ``_MOST_BYTES``, and until the end of the time; a cut reply is no JSON."""
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if len(data) > _MOST_BYTES:
                break
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("too slow")
        return bytes(data[:_MOST_BYTES])

    def _headers(self) -> httpx2.Headers:
        provider, key = self._connection.provider, self._connection.key
        headers = httpx2.Headers({"User-Agent": "sibyl-tui", "Accept-Encoding": "identity"})
        if provider.dialect == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        headers.update(provider.headers)
        if key:
            header = provider.key_header or _KEY_HEADERS.get(provider.dialect, "Authorization")
            headers[header] = form_of_key(header).format(key.reveal())
        return headers


def _note(reply: bytes | ModelError, place: str, begun: float) -> None:
    result = type(reply).__name__ if isinstance(reply, ModelError) else f"{len(reply)} bytes"
    _log.info("facts from %s: %s, %d ms", place, result, milliseconds_since(begun))


def _keyed(connection: Connection) -> Connection:
    """Run the command that prints the key, if there is none."""
    provider = connection.provider
    if connection.key or not provider.key_command:
        return connection
    key = key_from_command(provider.key_command, provider.name)
    return msgspec.structs.replace(connection, key=key)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _refusal(
    status: int, headers: httpx2.Headers, data: bytes, connection: Connection, route: Route
) -> ModelError:
    """Make the error for a reply that is no success."""
    host, secrets = connection.host, (*connection.secrets, *route.secrets)
    text = data[:65_536].decode("utf-8", "replace")
    said = quoted(message_in(text), *secrets)
    if words := intercepted(status, route, is_page=is_page(text)):
        return ModelUnavailable(words)
    if 300 <= status < 400:
        place = headers.get("location", "")
        hint = login_hint(route, place, text)
        place = quotable(place, *secrets) or "another address"
        return ModelUnavailable(
            f"{host} redirects to {place}. If that is right, give that address.{hint}"
        )
    if status in {401, 403}:
        what = "refused the key" if connection.key else "requires a key"
        return KeyRefused(f"{host} {what} (status {status}).{said}")
    if status in {404, 405, 501}:
        return NoModelList(f"{host} has no such page or model (status {status}).{said}")
    if status == 407 or is_page(text):
        return _not_json(text, route)
    return _failure(status, connection, said + route.through)


def _failure(status: int, connection: Connection, said: str) -> ModelError:
    """Make the error for a status that does not say whose fault it is."""
    failed = f"{connection.host} failed with status {status}."
    if status in _KEY_PERHAPS and not connection.key:
        return KeyRefused(f"{failed} It may require a key.{said}")
    again = " Try again later." if status == 429 or status >= 500 else ""
    kind = KeyRefused if status in _KEY_PERHAPS else ModelUnavailable
    return kind(f"{failed}{again}{said}")


def _not_json(text: str, route: Route) -> ModelError:
    if is_page(text):
        return ModelUnavailable(web_page(route, "a list of models", "it usually ends in /v1"))
    return ModelUnavailable(
        f"{route.host} sent no JSON. Check the address; it usually ends in /v1."
    )


def _disconnected(error: Exception, route: Route, seconds: float) -> ModelError:
    """Make the error for a request that has no reply."""
    if any(isinstance(each, httpx2.ReadTimeout) for each in causes(error)):
        words = f"{route.host} did not answer within {seconds:g} seconds."
        return ModelTimedOut(words + route.through)
    return ModelUnavailable(explained(error, route, CONNECT_SECONDS).words)
