"""Loading of the settings: file, then environment, then flags."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from tui.config.schema import Config, ProviderSettings
from tui.domain.commands import BY_NAME
from tui.domain.providers import KNOWN_SERVERS, OFFLINE
from tui.errors import ConfigError
from tui.files import read_bounded, size_words

_FILE_BYTES = 1024 * 1024
_LINE_BYTES = 64 * 1024
_ADDRESS = 'expected an address such as "http://127.0.0.1:8080/v1"'


class Flags(msgspec.Struct, frozen=True):
    """Settings given on the command line; ``None`` if not given. The interval is in seconds."""

    model: str | None = None
    scope: str | None = None
    auto_save_interval: str | float | None = None


class Settings(msgspec.Struct, frozen=True):
    """The settings in force."""

    config: Config
    scope: str | None
    """The named scope; ``None`` for the project of the current directory."""
    file: Path
    sources: Mapping[str, str]
    """The file, variable or flag of each setting that is not a default, by dotted key."""


def load_settings(file: Path, environ: Mapping[str, str], flags: Flags | None = None) -> Settings:
    """Read the file, overlaid with the environment, overlaid with the flags.

    Raises ``ConfigError``.
    """
    config, sources = _load(file)
    said = flags or Flags()
    changes: dict[str, Any] = {}
    for key, flag in (("model", said.model), ("auto_save_interval", said.auto_save_interval)):
        value, source = _laid_over(key, flag, environ)
        if value is not None:
            changes[key] = _checked(key, value, source)
            sources[key] = source
    scope, source = _laid_over("scope", said.scope, environ)
    if scope is not None:
        sources["scope"] = source
    config = msgspec.structs.replace(config, **changes)
    return Settings(config, None if scope is None else str(scope), file, sources)


def load_config(file: Path) -> Config:
    """Read the settings of one file; a missing file means all defaults.

    Raises ``ConfigError``.
    """
    return _load(file)[0]


def _load(file: Path) -> tuple[Config, dict[str, str]]:
    raw = _read(file)
    config = _decoded(raw, str(file))
    for key, expected in _unfit(config):
        raise ConfigError(str(file), key, expected)
    sources = {key: str(file) for key in _dotted(raw)}
    return _with_whole_paths(config, file.parent), sources


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
        _check_lines(file, data)
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(str(file), f"line {line}", "expected text in UTF-8") from None
    except RecursionError:
        raise ConfigError(str(file), "the file", "is nested too deeply") from None
    except ValueError as error:
        raise _broken_toml(file, str(error)) from None


def _check_lines(file: Path, data: bytes) -> None:
    """Refuse long lines: the parser takes quadratic time for a key of thousands of parts."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) > _LINE_BYTES:
            expected = f"expected at most {size_words(_LINE_BYTES)} of text"
            raise ConfigError(str(file), f"line {number}", expected)


def _broken_toml(file: Path, said: str) -> ConfigError:
    """Parse ``Expected '=' ... (at line 3, column 5)`` and ``... (at end of document)``."""
    message, at, place = said.removesuffix(")").rpartition(" (at ")
    if not at:
        message, place = said, "the file"
    return ConfigError(str(file), place, f"this is not TOML: {message}")


def _decoded(raw: dict[str, Any], source: str) -> Config:
    try:
        return msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        from msgspec.inspect import type_info

        from tui.config.faults import faults

        for key, expected in faults(raw, type_info(Config), ""):
            raise ConfigError(source, key, expected) from None
        raise ConfigError(source, "the file", str(error)) from None


def _unfit(config: Config) -> Iterator[tuple[str, str]]:
    """Check rules that the types cannot express."""
    for name, provider in config.providers.items():
        key = f"providers.{name}"
        if name == OFFLINE:
            yield key, "expected another name: offline is the guide that needs no server"
        elif provider.base_url is not None and not is_address(provider.base_url):
            yield f"{key}.base_url", f"{_ADDRESS}, without name, password, ? and #"
        elif provider.base_url is None and name not in KNOWN_SERVERS:
            yield f"{key}.base_url", f"{_ADDRESS}, got nothing"
        if any(not model.strip() for model in provider.models):
            yield f"{key}.models", "expected names of models, got an empty one"
    for name in config.prompts:
        if name in BY_NAME:
            yield f"prompts.{name}", f"expected another name: /{name} is a command of the program"
    if config.hooks.on_archive and not config.hooks.on_archive[0]:
        yield "hooks.on_archive", "expected the name of a program first, got nothing"


def is_address(text: str) -> bool:
    """True for an http(s) URL without credentials, query and fragment."""
    try:
        parts = urlsplit(text)
        # Reading the port validates it.
        port = parts.port
    except ValueError:
        return False
    # A password in the address would be shown wherever the address is.
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return bool(parts.scheme in {"http", "https"} and parts.hostname and port != 0 and plain)


def _with_whole_paths(config: Config, directory: Path) -> Config:
    """Make the paths of key files absolute; they are relative to the settings file."""

    def whole(provider: ProviderSettings) -> ProviderSettings:
        if provider.api_key_file is None:
            return provider
        path = directory.absolute() / Path(provider.api_key_file).expanduser()
        return msgspec.structs.replace(provider, api_key_file=str(path))

    providers = {name: whole(provider) for name, provider in config.providers.items()}
    return msgspec.structs.replace(config, providers=providers)


def _dotted(raw: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in raw.items():
        if isinstance(value, dict):
            yield from _dotted(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


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
    from msgspec.inspect import type_info

    from tui.config.faults import faults

    if key == "auto_save_interval":
        with suppress(ValueError):
            value = float(value)
    place = "command line" if source.startswith("-") else "environment"
    for _, expected in faults({key: value}, type_info(Config), ""):
        raise ConfigError(place, source, expected)
    return value
