"""A server of tools as it is typed: a command line, or an address."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tui.config import ToolServerSettings, tool_server
from tui.errors import ConfigError, UsageError

_RUNNERS = frozenset(
    {*("npx", "uvx", "uv", "bunx", "pipx", "node", "deno", "docker", "run", "python", "python3")}
    | {"mcp", "www", "api"}
)
_MARK = re.compile(r"^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_](?:mcp|server)$")
_ODD = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_NAME = 20
_TYPED = frozenset({"command", "url", "env", "headers"})
_OF_ADDRESS = frozenset({"client_id", "client_secret", "redirect_port"})


def is_address(line: str) -> bool:
    """Tell whether a line is an address, not a command."""
    return "://" in "".join(line.split()[:1])


def is_elsewhere(line: str, old: ToolServerSettings) -> bool:
    """Tell whether a line leads to another address, or from one: no secret goes along."""
    return line.strip() != old.url and (old.url is not None or is_address(line))


def typed_server(
    line: str, name: str, secrets: Mapping[str, str], old: ToolServerSettings | None = None
) -> ToolServerSettings:
    """Make a server of a line and its variables or headers. Raises ``UsageError``.

    What cannot be typed here is that of an ``old`` one.
    """
    try:
        raw: dict[str, Any] = {
            "command": [*map(_word, shlex.split(line))],
            "env": dict(secrets) or None,
        }
        if is_address(line):
            raw = {"url": line.strip(), "headers": dict(secrets) or None}
        said = msgspec.to_builtins(old).items() if old else ()
        left = _TYPED | _OF_ADDRESS if old and is_elsewhere(line, old) else _TYPED
        others = {key: each for key, each in said if each is not None and key not in left}
        return tool_server(name, {**others, **raw})
    except ConfigError as error:
        raise UsageError(f"{error.key.rpartition('.')[2]}: {error.expected}") from error
    except ValueError as error:
        raise UsageError(f"This is not a command line: {error}") from error


def line_of(server: ToolServerSettings) -> str:
    """The line that was typed; without an address that has secrets."""
    if server.url is None:
        return shlex.join(server.command)
    parts = urlsplit(server.url)
    return "" if parts.query or parts.password else server.url


def name_for(line: str) -> str:
    """A name for a server: that of its program or its host."""
    words = [PurePath(word).stem for word in line.split()]
    if is_address(line):
        words = (urlsplit(line.strip()).hostname or "").split(".")
    named = [each for each in words if each not in _RUNNERS and not each.startswith("-")]
    word = next(filter(_MARK.search, named), next(iter(named), ""))
    return _ODD.sub("-", _MARK.sub("", word)).strip("-")[:_LONGEST_NAME].strip("-")


def _word(word: str) -> str:
    """Complete a path: the server runs in another folder."""
    path = os.path.expanduser(word)  # noqa: PTH111 - Path.expanduser raises without a home
    is_path = "/" in path or "." in path
    return os.path.abspath(path) if is_path and os.path.exists(path) else path  # noqa: PTH100, PTH110
