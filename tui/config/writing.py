"""Formatting of settings: an example with every key, and the settings in force."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import inspect

from tui.config.loading import UserSettings, without_password
from tui.config.settings_schema import Config, Connections, ToolServerSettings, joined
from tui.domain.providers import KNOWN_SERVERS, PROVIDERS

_HEAD = """\
# Settings of sibyl-tui. Every key is here, commented out, with its default or an example.
# To change one, remove the # before it. An unknown key is an error.

"""

_CONNECTIONS_HEAD = """\
# The connections of sibyl-tui. F5 in the program makes and removes them, and writes this file anew.
# Your own settings belong in config.toml beside it, which wins.
"""

_TOOLS_HEAD = """\
# The tools of sibyl-tui. /tools in the program changes them, and writes this file anew.
# Your own settings belong in config.toml beside it, which wins.
"""


def example() -> str:
    """Format TOML with every key commented out: descriptions ``# text``, keys ``#key = value``."""
    kind = cast("inspect.StructType", inspect.type_info(Config))
    return _HEAD + "".join(_example_table(kind))


def connections_toml(kept: Connections, directory: Path) -> str:
    """Format ``connections.toml``; key files are named as seen from its directory."""
    values = msgspec.to_builtins(kept)
    tables = {f"providers.{name}": table for name, table in values.pop("providers").items()}
    lines = [_CONNECTIONS_HEAD, *_set(values)]
    for name, table in tables.items():
        if table["api_key_file"] is not None:
            table["api_key_file"] = os.path.relpath(table["api_key_file"], directory)
        lines += ["", f"[{name}]", *_set(table)]
    return "\n".join(lines) + "\n"


def tools_toml(kept: Config) -> str:
    """Format ``tools.toml``."""
    lines = [_TOOLS_HEAD, "[tools]", *_set(msgspec.to_builtins(kept.tools))]
    usual = msgspec.to_builtins(ToolServerSettings())
    for name, table in msgspec.to_builtins(kept.mcp).items():
        chosen = {key: value for key, value in table.items() if value != usual[key]}
        lines += ["", f"[mcp.{name}]", *_set(chosen)]
    return "\n".join(lines) + "\n"


def _set(values: Mapping[str, Any]) -> Iterator[str]:
    """Format the values that are set."""
    for key, value in values.items():
        if value not in (None, (), []):
            yield f"{key} = {_value(value)}"


def as_toml(settings: UserSettings) -> str:
    """Format the settings in force with their sources. Key files are named, never read."""
    settings = settings.merged
    lines = [f"# {settings.file}" + ("" if settings.file.exists() else " (not there)")]
    if settings.scope is not None:
        lines.append(f"# scope {_value(settings.scope)}, from {settings.sources['scope']}")
    lines += _shown_table(msgspec.to_builtins(settings.config), "", settings.sources)
    return "\n".join(lines) + "\n"


def _example_table(kind: inspect.StructType) -> Iterator[str]:
    for field in kind.fields:
        meta, inner = _unwrapped(field.type)
        yield "\n" if isinstance(inner, inspect.StructType | inspect.DictType) else ""
        yield "".join(f"# {line}\n" for line in str(meta["description"]).splitlines())
        match inner:
            case inspect.StructType():
                yield f"[{field.name}]\n"
                yield from _example_table(inner)
            case inspect.DictType(value_type=inspect.StructType() as table):
                # A table name alone, uncommented, would be a server without an address.
                yield f"#[{field.name}.{meta['examples'][0]}]\n"
                yield from _example_table(table)
                if field.name == "providers":
                    yield from _known_servers()
            case inspect.DictType():
                yield f"[{field.name}]\n"
                for name, value in meta["examples"][0].items():
                    yield f"#{name} = {_value(value)}\n"
            case _:
                value = meta["examples"][0] if "examples" in meta else field.default
                yield f"#{field.name} = {_value(value)}\n"


def _known_servers() -> Iterator[str]:
    """Format each known provider in three lines."""
    yield "\n# The known servers with their usual variables, addresses and default models.\n"
    for name in KNOWN_SERVERS:
        row = PROVIDERS[name]
        key, value = "api_key_env", row.key_variable
        if row.key_variable is None or row.lacks_address:
            key, value = "base_url", row.base_url or row.example_address
        yield f"\n#[providers.{name}]\n#{key} = {_value(value)}\n"
        yield f"#models = {_value(row.models or ('MODEL',))}\n"


def _unwrapped(kind: inspect.Type) -> tuple[Mapping[str, Any], inspect.Type]:
    if isinstance(kind, inspect.Metadata):
        about = cast("dict[str, Any]", kind.extra_json_schema or {})  # pyright: ignore[reportUnknownMemberType]
        return about, kind.type
    return {}, kind


def _shown_table(values: Mapping[str, Any], name: str, sources: Mapping[str, str]) -> Iterator[str]:
    """Format the keys of a table, then its subtables."""
    single = {key: value for key, value in values.items() if not isinstance(value, dict)}
    if name and (single or not values):
        yield f"\n[{name}]"
    for key, value in single.items():
        place, written = joined(name, key), joined("", key)
        shown = _open(place, value)
        if shown is None:
            # TOML has no null.
            yield f"# {written} is not set"
        else:
            yield f"{written} = {_value(shown)}  # {sources.get(place, 'default')}"
    for key in [key for key in values if key not in single]:
        yield from _shown_table(values[key], joined(name, key), sources)


def _open(place: str, value: Any) -> Any:
    """The value that is shown: none of a header or a server's variable, no password or query."""
    if value is not None and _HEADER.match(place):
        return _HIDDEN
    if isinstance(value, str) and (place.endswith("proxy") or _SERVER_URL.match(place)):
        return _QUERY.sub(f"?{_HIDDEN}", _PASSWORD.sub(rf"//{_HIDDEN}@", value))
    if place == "store" and isinstance(value, str):
        return without_password(value)
    return value


_HIDDEN = "[hidden]"
_HEADER = re.compile(r"(providers|mcp)\.[\w-]+\.((headers|env)\.|client_secret$)")
_SERVER_URL = re.compile(r"mcp\.[\w-]+\.url")
_QUERY = re.compile(r"\?.*")
_PASSWORD = re.compile(r"//.*@")


def _value(value: Any) -> str:
    """Format a value; TOML strings are JSON strings, except DEL."""
    match value:
        case dict():
            fields = cast("dict[str, Any]", value).items()
            inner = ", ".join(f"{joined('', key)} = {_value(each)}" for key, each in fields)
            return f"{{{inner}}}"
        case list() | tuple():
            return f"[{', '.join(_value(each) for each in cast('list[Any]', value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
