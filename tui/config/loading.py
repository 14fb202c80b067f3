"""Loading of the settings: file, then environment, then flags; no password that others can read."""

import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import inspect

from tui.config.settings_schema import (
    Config,
    Connections,
    ModelTable,
    ProviderSettings,
    ToolServerSettings,
    ToolSettings,
    connections_file,
    faults,
    joined,
)
from tui.domain.commands import command_called
from tui.domain.models import KEY, Level, looks_like_key
from tui.domain.providers import KNOWN_SERVERS, OFFLINE, PROVIDERS
from tui.domain.text import late_pattern
from tui.errors import ConfigError
from tui.files import read_bounded, size_words

TOOLS_FILE = "tools.toml"
"""Beside ``config.toml``: the program writes it, and the user's own settings win over it."""

_FILE_BYTES = 1024 * 1024
_LINE_BYTES = 64 * 1024
_Schema = TypeVar("_Schema", Config, Connections)
_ADDRESS = 'expected an address such as "http://127.0.0.1:8080/v1"'


class Flags(msgspec.Struct, frozen=True):
    """Settings given on the command line; ``None`` if not given. The interval is in seconds."""

    model: str | None = None
    scope: str | None = None
    auto_save_interval: str | float | None = None
    store: str | None = None


class UserSettings(msgspec.Struct, frozen=True):
    """The settings in force: the user's own, and below them the connections."""

    config: Config
    scope: str | None
    """The named scope; ``None`` for the project of the current directory."""
    file: Path
    sources: Mapping[str, str]
    """The file, variable or flag of each setting that is not a default, by dotted key."""
    connections: Connections = Connections()
    set_up: Config = Config()
    """The tools that were set up on the screen: nothing else of it counts."""

    @property
    def tool_servers(self) -> dict[str, ToolServerSettings]:
        """The servers of tools; of one name, that of the configuration wins."""
        return {**self.set_up.mcp, **self.config.mcp}

    @property
    def model(self) -> str | None:
        """The model that was asked for: the configured one, else the one connected last."""
        return self.config.model or self.connections.model

    @property
    def insists(self) -> bool:
        """True if a flag or variable names the model, whatever a session had before."""
        return self.config.model is not None and self.sources.get("model") != str(self.file)

    @property
    def providers(self) -> tuple[str, ...]:
        """The names of all providers that the configuration or a connection has."""
        return tuple(dict.fromkeys([*self.config.providers, *self.connections.providers]))

    def provider(self, name: str) -> ProviderSettings:
        """The settings of a provider; for each one, the configuration wins over the connection."""
        own = self.config.providers.get(name, ProviderSettings())
        connected = self.connections.providers.get(name, ProviderSettings())
        unset = [field for field in own.__struct_fields__ if getattr(own, field) in (None, ())]
        return msgspec.structs.replace(own, **{each: getattr(connected, each) for each in unset})

    def with_connections(self, kept: Connections) -> "UserSettings":
        """Use other connections, but none whose server had its address from the configuration."""
        known = {*KNOWN_SERVERS, *self.config.providers}
        for name, connected in kept.providers.items():
            if connected.base_url is None and name not in known:
                kept = kept.without(name)
        return msgspec.structs.replace(self, connections=kept)

    @property
    def merged(self) -> "UserSettings":
        """The configuration with the connections merged in, to be shown."""
        kept = Connections(model=self.connections.model, providers=self.connections.providers)
        sources = dict.fromkeys(
            _dotted(msgspec.to_builtins(kept)), str(connections_file(self.file))
        )
        enabled = dict.fromkeys((*self.config.tools.enabled, *self.set_up.tools.enabled))
        config = msgspec.structs.replace(
            self.config,
            model=self.model,
            providers={name: self.provider(name) for name in self.providers},
            tools=ToolSettings(enabled=tuple(enabled)),
            mcp=self.tool_servers,
        )
        return msgspec.structs.replace(self, config=config, sources={**sources, **self.sources})


def load_settings(
    file: Path, environ: Mapping[str, str], flags: Flags | None = None
) -> UserSettings:
    """Read the file, overlaid with the environment, then the flags. Raises ``ConfigError``."""
    config, sources = _load(file, named=bool(environ.get("SIBYL_CONFIG")))
    said = flags or Flags()
    changes: dict[str, Any] = {}
    given = (
        ("model", said.model),
        ("auto_save_interval", said.auto_save_interval),
        ("store", said.store),
    )
    for key, flag in given:
        value, source = _laid_over(key, flag, environ)
        if value is not None:
            changes[key] = _checked(key, value, source)
            sources[key] = source
    scope, source = _laid_over("scope", said.scope, environ)
    if scope is not None:
        sources["scope"] = source
    config = msgspec.structs.replace(config, **changes)
    if config.model and looks_like_key(config.model):
        # It would be kept with each session.
        raise ConfigError(sources["model"], "model", KEY)
    if config.store:
        check_password(config.store, sources["store"], file)
    set_up, others = _load(file.with_name(TOOLS_FILE))
    sources = {
        key: each for key, each in others.items() if key.startswith(("tools.", "mcp."))
    } | sources
    settings = UserSettings(
        config, None if scope is None else str(scope), file, sources, set_up=set_up
    )
    return settings.with_connections(load_connections(connections_file(file)))


def configured_levels(settings: UserSettings, model: str) -> tuple[Level, ...]:
    """The settings of ``PROVIDER:MODEL``: of the model, then its provider, then of all models."""
    config, file = settings.config, settings.file.name
    provider = model.partition(":")[0]
    tables: tuple[tuple[ModelTable | ProviderSettings | None, str], ...] = (
        (config.models.get(model), f'[models."{model}"]'),
        (config.providers.get(provider), f"[providers.{provider}]"),
    )
    levels = [
        Level(
            f"{name} in {file}",
            table.system_prompt,
            table.temperature,
            table.max_tokens,
            table.effort,
            table.tools,
        )
        for table, name in tables
        if table
    ]
    if config.system_prompt:
        levels.append(Level(file, system_prompt=config.system_prompt))
    return tuple(levels)


def load_connections(file: Path) -> Connections:
    """Read the connections; a missing file means none. Raises ``ConfigError``."""
    kept = _decoded(_read(file), str(file), Connections)
    for key, expected in _unfit_providers(kept.providers, may_lack_address=True):
        raise ConfigError(str(file), key, expected)
    return _with_whole_paths(kept, file.parent)


def load_tools(file: Path) -> Config:
    """Read the tools that were set up, in the form of ``config.toml``. Raises ``ConfigError``."""
    return _load(file)[0]


def tool_server(name: str, raw: dict[str, Any]) -> ToolServerSettings:
    """Check the table of a server of tools. Raises ``ConfigError``."""
    return _config({"mcp": {name: raw}}, "").mcp[name]


def _load(file: Path, *, named: bool = False) -> tuple[Config, dict[str, str]]:
    written = _read(file)
    if not written and named and not file.exists():
        raise ConfigError("environment", "SIBYL_CONFIG", f"there is no file {file}")
    raw = {key: each for key, each in written.items() if key != "mcpServers"}
    for key, expected in _with_tool_servers(raw, written):
        raise ConfigError(str(file), key, expected)
    try:
        config = _config(raw, str(file))
    except ConfigError as error:
        if "mcp" in written or not error.key.startswith("mcp."):
            raise
        raise ConfigError(str(file), f"mcpServers{error.key[3:]}", error.expected) from None
    sources = {key: str(file) for key in _dotted(raw)}
    servers = {name: _with_whole_folder(each, file.parent) for name, each in config.mcp.items()}
    config = msgspec.structs.replace(config, mcp=servers)
    return _with_whole_paths(config, file.parent), sources


def _config(raw: dict[str, Any], source: str) -> Config:
    config = _decoded(raw, source, Config)
    for key, expected in _unfit(config):
        raise ConfigError(source, key, expected)
    return config


def _with_tool_servers(
    raw: dict[str, Any], written: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Put servers of tools into our form, as other programs write them; find what is wrong."""
    tables = {table: written[table] for table in ("mcp", "mcpServers") if table in written}
    servers: dict[str, Any] = {}
    for table, named in tables.items():
        if not isinstance(named, dict):
            yield table, "expected a table of servers"
            return
        for name, server in cast("dict[str, Any]", named).items():
            key = joined(table, name)
            if name in servers:
                yield key, f"expected another name: there is {joined('mcp', name)} as well"
            ours = dict(cast("dict[str, Any]", server)) if isinstance(server, dict) else {}
            command, said = ours.get("command"), ours.pop("args", [])
            arguments = cast("list[object]", said) if isinstance(said, list) else [None]
            if not all(isinstance(each, str) for each in arguments):
                yield f"{key}.args", "expected a list of texts"
            elif isinstance(command, str | list):
                program = [command] if isinstance(command, str) else cast("list[Any]", command)
                ours["command"] = [*program, *arguments]
            elif arguments:
                yield f"{key}.args", "expected a command to go with it, got none"
            servers[name] = ours if isinstance(server, dict) else server
    if tables:
        raw["mcp"] = servers


def _read(file: Path) -> dict[str, Any]:
    try:
        data = read_bounded(file, _FILE_BYTES, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(str(file), "the file", f"cannot be read: {error.strerror}") from error
    # Imported here: many users have no such file.
    import tomllib

    try:
        for number, line in enumerate(data.split(b"\n"), 1):
            # The parser takes quadratic time for a key of thousands of parts.
            if len(line) > _LINE_BYTES:
                expected = f"expected at most {size_words(_LINE_BYTES)} of text"
                raise ConfigError(str(file), f"line {number}", expected)
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(str(file), f"line {line}", "expected text in UTF-8") from None
    except RecursionError:
        raise ConfigError(str(file), "the file", "is nested too deeply") from None
    except ValueError as error:
        # ``Expected '=' ... (at line 3, column 5)`` or ``... (at end of document)``.
        message, at, place = str(error).removesuffix(")").rpartition(" (at ")
        if not at:
            message, place = str(error), "the file"
        raise ConfigError(str(file), place, f"this is not TOML: {message}") from None


def _decoded(raw: dict[str, Any], source: str, schema: type[_Schema]) -> _Schema:
    try:
        return msgspec.convert(raw, schema)
    except msgspec.ValidationError as error:
        for key, expected in faults(raw, inspect.type_info(schema), ""):
            raise ConfigError(source, key, expected) from None
        raise ConfigError(source, "the file", str(error)) from None


def _unfit(config: Config) -> Iterator[tuple[str, str]]:
    """Check rules that the types cannot express."""
    yield from _unfit_providers(config.providers)
    yield from _unfit_tool_servers(config.mcp)
    for name in config.prompts:
        if command_called(name):
            yield f"prompts.{name}", f"expected another name: /{name} is a command of the program"
    if config.hooks.on_archive and not config.hooks.on_archive[0]:
        yield "hooks.on_archive", "expected the name of a program first, got nothing"


def _unfit_tool_servers(servers: Mapping[str, ToolServerSettings]) -> Iterator[tuple[str, str]]:
    for name, server in servers.items():
        key = f"mcp.{name}"
        if bool(server.command) == (server.url is not None):
            got = "both" if server.command else "none"
            yield key, f"expected either a command or a url, got {got}"
        elif server.command and not server.command[0]:
            yield f"{key}.command", "expected the name of a program first, got nothing"
        elif server.url is not None and not is_address(server.url, secrets=True):
            yield f"{key}.url", f"{_ADDRESS}, without #"
        of_address = ("headers", "client_id", "client_secret", "redirect_port")
        for unused, of in (
            *((each, server.command) for each in of_address),
            ("env", server.url),
            ("cwd", server.url),
        ):
            if of and getattr(server, unused):
                other = "url" if server.command else "command"
                yield f"{key}.{unused}", f"expected nothing: {unused} goes with {other}"
        for field in ("command", "cwd"):
            if "\0" in "".join(getattr(server, field) or ()):
                yield f"{key}.{field}", "expected text without NUL"


def _unfit_providers(
    providers: Mapping[str, ProviderSettings], *, may_lack_address: bool = False
) -> Iterator[tuple[str, str]]:
    for name, provider in providers.items():
        key = f"providers.{name}"
        if name == OFFLINE:
            yield key, "expected another name: offline is the built-in guide"
        elif provider.base_url is not None and not is_address(provider.base_url):
            yield f"{key}.base_url", f"{_ADDRESS}, without name, password, ? and #"
        elif provider.base_url is None and name not in KNOWN_SERVERS and not may_lack_address:
            yield f"{key}.base_url", f"{_ADDRESS}, got nothing"
        if any(not model.strip() for model in provider.models):
            yield f"{key}.models", "expected names of models, got an empty one"
        if provider.key_command and not provider.key_command[0]:
            yield f"{key}.key_command", "expected the name of a program first, got nothing"
        if not _is_json(provider.extra_body):
            yield f"{key}.extra_body", "expected JSON: no dates, times, nan or inf"
        known = PROVIDERS[name].dialect if name in PROVIDERS else None
        if provider.query and (provider.dialect or known) == "bedrock":
            yield f"{key}.query", "expected nothing: AWS's client sends no parameters of an address"
        if provider.client_key and not provider.client_certificate:
            yield f"{key}.client_certificate", "expected the certificate of client_key, got nothing"


def _is_json(value: Any) -> bool:
    match value:
        case dict():
            return all(_is_json(each) for each in cast("dict[str, Any]", value).values())
        case list():
            return all(_is_json(each) for each in cast("list[Any]", value))
        case float():
            return math.isfinite(value)
        case _:
            return value is None or isinstance(value, str | int)


def is_address(text: str, *, secrets: bool = False) -> bool:
    """True for an http(s) URL without a fragment, and without ``secrets``: password and query."""
    try:
        parts = urlsplit(text)
        # Reading the port validates it.
        port = parts.port
    except ValueError:
        return False
    # A password in the address would be shown wherever the address is.
    hidden = () if secrets else (parts.username, parts.password, parts.query)
    plain = not any((*hidden, parts.fragment))
    labels = (parts.hostname or "").removesuffix(".").split(".")
    is_host = all(0 < len(label) <= _LONGEST_LABEL for label in labels)
    return parts.scheme in {"http", "https"} and is_host and port != 0 and plain


_LONGEST_LABEL = 63
"""Limit of a part of a host's name: with a longer or an empty one it cannot be looked up."""

_FILES = ("api_key_file", "client_certificate", "client_key")


def _with_whole_paths(config: _Schema, directory: Path) -> _Schema:
    """Make the paths of keys and certificates absolute; they are relative to their settings."""

    def whole(provider: ProviderSettings) -> ProviderSettings:
        named = {field: getattr(provider, field) for field in _FILES}
        paths = {
            field: _whole(name, directory) for field, name in named.items() if name is not None
        }
        return msgspec.structs.replace(provider, **paths)

    providers = {name: whole(provider) for name, provider in config.providers.items()}
    return msgspec.structs.replace(config, providers=providers)


def _with_whole_folder(server: ToolServerSettings, directory: Path) -> ToolServerSettings:
    """Make the paths of a program and its folder absolute; a name alone is searched in PATH."""
    program, arguments = server.command[:1], server.command[1:]
    if any("/" in each for each in program):
        program = (_whole(program[0], directory),)
    cwd = None if server.cwd is None else _whole(server.cwd, directory)
    return msgspec.structs.replace(server, command=(*program, *arguments), cwd=cwd)


def _whole(name: str, directory: Path) -> str:
    # Path.expanduser raises where there is no such home.
    return str(directory.absolute() / os.path.expanduser(name))  # noqa: PTH111


def _dotted(raw: Mapping[str, Any], table: str = "") -> Iterator[str]:
    for name, value in raw.items():
        if isinstance(value, dict):
            yield from _dotted(cast("dict[str, Any]", value), joined(table, name))
        else:
            yield joined(table, name)


def _laid_over(
    key: str, flag: str | float | None, environ: Mapping[str, str]
) -> tuple[str | float | None, str]:
    """The value of the flag, else of the environment variable, and its source."""
    if flag is not None:
        return flag, f"--{key.replace('_', '-')}"
    variable = f"SIBYL_{key.upper()}"
    return environ.get(variable) or None, variable


def _checked(key: str, value: str | float, source: str) -> str | float:
    """Validate the value of a flag or variable by the schema of the file."""
    if key == "auto_save_interval":
        with suppress(ValueError):
            value = float(value)
    place = "command line" if source.startswith("-") else "environment"
    for _, expected in faults({key: value}, inspect.type_info(Config), ""):
        raise ConfigError(place, source, expected)
    return value


_PASSWORD = late_pattern(r"://[^:@/]*:(?!@[^@]*$|\d+(?:[/?,]|$)).*@|[?&](?:ssl)?password=[^&]")
"""Between a name and an @, or a parameter; digits before a / are a port."""
_HIDDEN = (
    (late_pattern(r"(://[^:@/]*:).*@"), r"\1[hidden]@"),
    (late_pattern(r"([?&](?:ssl)?password=)[^&]*"), r"\1[hidden]"),
)
_INSTEAD = "Leave it out, and put it into ~/.pgpass, PGPASSWORD, SIBYL_STORE or config.toml"


def without_password(address: str) -> str:
    """Hide the passwords of an address, rather too much of it than too little."""
    if _PASSWORD.search(address):
        for pattern, words in _HIDDEN:
            address = pattern.sub(words, address)
    return address


def check_password(address: str, source: str, file: Path) -> None:
    """Refuse a password that others can read: in an argument, or in a file that is theirs to read.

    Raises ``ConfigError``, which does not quote it.
    """
    if not _PASSWORD.search(address):
        return
    if source.startswith("-"):
        raise ConfigError("command line", source, f"the address has a password. {_INSTEAD}")
    if source == str(file) and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        fault = f"other users can read this file, and it has a password. Run: chmod 600 {file}"
        raise ConfigError(source, "store", fault)
