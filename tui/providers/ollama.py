"""Discovery of a local Ollama and its models."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from tui.threads import begin

DEADLINE = 0.3
"""Limit of the whole request in seconds, as it may delay the start."""

_PORT = 11434
_LARGEST_LIST = 1_000_000


def address_from_host(host: str) -> str:
    """Convert ``OLLAMA_HOST`` to the address of its OpenAI-compatible API.

    It may be a host, ``host:port``, ``:port`` or a URL. 0.0.0.0, where the server listens, becomes
    127.0.0.1.
    """
    whole = host if "://" in host else f"http://{host}"
    scheme, _, rest = whole.partition("://")
    place, _, path = rest.partition("/")
    name, port = _split_port(place)
    if not port and scheme == "http" and "://" not in host:
        port = str(_PORT)
    if name in {"", "0.0.0.0", "[::]"}:  # noqa: S104 - called, not listened at
        name = "127.0.0.1"
    path = path.strip("/")
    root = f"{scheme}://{name}" + (f":{port}" if port else "") + (f"/{path}" if path else "")
    return root if path.endswith("v1") else f"{root}/v1"


def first_model(base_url: str, deadline: float = DEADLINE) -> str | None:
    """The first chat model; ``None`` without one, or without an answer in time."""
    return next(iter(chat_models(base_url, deadline)), None)


def chat_models(base_url: str, deadline: float = DEADLINE) -> tuple[str, ...]:
    """The chat models in the server's order; none without an answer in time.

    ``deadline`` is in seconds, from name resolution to the last byte.
    """
    found: list[str] = []
    # A socket's time-out restarts at each read, and does not cover name resolution.
    wait([begin("ollama", lambda: found.extend(_models(base_url, deadline)))], deadline)
    return tuple(found)


def _models(base_url: str, timeout: float) -> list[str]:
    start = time.monotonic()
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout).close()
    except (OSError, UnicodeError):
        # The usual case: no server. A plain socket notices at once, without importing a library.
        return []
    left = timeout - (time.monotonic() - start)
    return _listed(parts, left) if left > 0 else []


def _listed(parts: SplitResult, timeout: float) -> list[str]:
    import json
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", parts.path.removesuffix("/").removesuffix("/v1") + "/api/tags")
        response = connection.getresponse()
        data = response.read(_LARGEST_LIST) if response.status == 200 else b""
        return list(chat_names(json.loads(data)))
    except (OSError, HTTPException, ValueError, TypeError, RecursionError):
        return []
    finally:
        connection.close()


def chat_names(listed: Any) -> Iterator[str]:
    """The names in ``{"models": [{"name": ...}]}``, without embedding models."""
    models: list[Any] = _field(listed, "models") or []
    for model in models:
        name, family = _field(model, "name"), _field(_field(model, "details"), "family")
        if isinstance(name, str) and "embed" not in name and "bert" not in str(family):
            yield name


def _field(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def _split_port(place: str) -> tuple[str, str]:
    """Split ``host:port``; the colons of ``[::1]`` do not separate a port."""
    name, colon, port = place.rpartition(":")
    return (name, port) if colon and not port.endswith("]") else (place, "")
