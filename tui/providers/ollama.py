"""Discovery of a local Ollama and its models."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any
from urllib.parse import urlsplit

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
    name, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        # The colons of [::1] do not separate a port.
        name, port = place, ""
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
    end = time.monotonic() + timeout
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout).close()
    except (OSError, UnicodeError):
        # The usual case: no server. A plain socket notices at once, without importing a library.
        return []
    import json
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    http = kind(parts.hostname or "", parts.port, timeout=max(end - time.monotonic(), 0.001))
    try:
        http.request("GET", parts.path.removesuffix("/").removesuffix("/v1") + "/api/tags")
        response = http.getresponse()
        listed = json.loads(response.read(_LARGEST_LIST) if response.status == 200 else b"{}")
        return list(_chat_names(listed))
    except (OSError, HTTPException, ValueError, RecursionError):
        return []
    finally:
        http.close()


def _chat_names(listed: Any) -> Iterator[str]:
    """The names in ``{"models": [{"name": ...}]}``, without embedding models."""
    match listed:
        case {"models": [*models]}:
            for model in models:
                match model:
                    case {"details": {"family": str(family)}} if "bert" in family:
                        pass
                    case {"name": str(name)} if "embed" not in name:
                        yield name
                    case _:
                        pass
        case _:
            pass
