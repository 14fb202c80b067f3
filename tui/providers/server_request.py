"""Requests to a server for anything but an answer. They block, so call them in a thread.

Redirects are not followed: the key belongs to one server.
"""

import json
import logging
import time
from collections.abc import Mapping
from typing import Any, cast

import httpx2

from tui.errors import KeyRefused, ModelError, ModelTimedOut, ModelUnavailable, NoModelList
from tui.logs import milliseconds_since
from tui.providers.catalog import Connection
from tui.providers.network import explained, intercepted, login_hint, route_to, web_page
from tui.providers.server_words import causes, is_page, message_in, quotable, quoted

_log = logging.getLogger(__name__)

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
        provider, data = self._connection.provider, bytearray()
        timeout = httpx2.Timeout(self._seconds, connect=min(self._seconds, _CONNECT_SECONDS))
        try:
            url = httpx2.URL(address).copy_merge_params(provider.query)
            method, headers = "GET" if body is None else "POST", self._headers()
            with (
                httpx2.Client(transport=self._route.blocking_transport(), timeout=timeout) as http,
                http.stream(method, url, headers=headers, json=body) as response,
            ):
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > _MOST_BYTES:
                        break
                    if time.monotonic() > self._end:
                        raise httpx2.ReadTimeout("too slow")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            route = self._route
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
        """Make the error for a reply that is no success."""
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
