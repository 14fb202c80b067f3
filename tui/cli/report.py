"""The report of ``doctor``: what a bug report needs, without texts and keys."""

import os
import platform
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import tui
from tui.cli.crash import NAME as CRASH_LOG
from tui.cli.crash import library_version, system
from tui.config import Settings, ToolServerSettings, paths
from tui.config.connections import connections_file
from tui.domain.providers import OFFLINE, PROVIDERS, Provider
from tui.domain.text.labels import plural
from tui.errors import ConfigError, SibylError
from tui.providers.catalog import Catalog
from tui.storage.doctor import Doctor
from tui.storage.inventory import folder_sizes, index_state, pictures_size

Report = Mapping[str, Mapping[str, str]]
"""Rows by section and by name."""

_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_LIBRARIES = ("httpx2", "msgspec", "mcp")
_EXTRAS = ("boto3", "psycopg")


def make_report(
    root: Path,
    settings: Settings | SibylError,
    doctor: Doctor,
    environment: Mapping[str, str],
) -> Report:
    """Collect the sections; ``settings`` may be the error that their file led to.

    ``doctor`` has examined the data directory.
    """
    from tui.terminal.environment import describe

    sections = {
        "versions": _versions(),
        "configuration": _configuration(settings, environment),
        "connections": {}
        if isinstance(settings, SibylError)
        else _connections(settings, environment),
        "store": _store(root, doctor),
        "terminal": describe(environment),
        "logs": _logs(environment),
    }
    return {
        title: {name: paths.with_tilde(text) for name, text in rows.items()}
        for title, rows in sections.items()
    }


def as_lines(report: Report) -> list[str]:
    """Format a report as plain text in columns."""
    lines: list[str] = []
    for title, rows in report.items():
        width = max(map(len, rows), default=0) + 2
        lines += [title, *(f"  {name:<{width}}{text}" for name, text in rows.items())]
    return lines


def _versions() -> dict[str, str]:
    return {
        "sibyl-tui": tui.__version__,
        "Python": platform.python_version(),
        "Textual": library_version("textual"),
        **{name: library_version(name) for name in (*_LIBRARIES, *_EXTRAS)},
        "SQLite": sqlite3.sqlite_version,
        "system": system(),
    }


def _configuration(
    settings: Settings | SibylError, environment: Mapping[str, str]
) -> dict[str, str]:
    file = paths.config_file(environment)
    rows = {"file": _file(file), "connections": _file(connections_file(file))}
    set_here = [name for name in environment if name.startswith("SIBYL_")]
    rows["variables"] = ", ".join(sorted(set_here)) or "none"
    if isinstance(settings, SibylError):
        return rows | {"error": str(settings)}
    return rows | {
        "model": settings.model or "not set",
        "theme": settings.config.theme or "default",
    }


def _connections(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    rows: dict[str, str] = {}
    for name in dict.fromkeys([*settings.providers, *PROVIDERS]):
        try:
            provider = Catalog(settings, environment).provider(name)
        except ConfigError as error:
            rows[name] = str(error)
            continue
        if provider and name != OFFLINE and _is_used(provider, settings, environment):
            rows[name] = f"{_host(provider)}, {provider.dialect}, {_key(provider, environment)}"
    rows["proxies and certificates"] = _network(settings, environment)
    servers = settings.config.mcp.items()
    return rows | {f"mcp.{name}": _tool_server(each, environment) for name, each in servers}


def _tool_server(server: ToolServerSettings, environment: Mapping[str, str]) -> str:
    """Say where a server of tools is, without starting or asking it."""
    if server.url is not None:
        return _host_of(server.url)
    program = server.command[0]
    path = (server.env or {}).get("PATH") or environment.get("PATH")
    # Its arguments may have a key.
    return f"{program}, {'found' if shutil.which(program, path=path) else 'not found'}"


def _network(settings: Settings, environment: Mapping[str, str]) -> str:
    """Name the variables and settings of proxies and certificates; their values stay out."""
    names = [each for each in _NETWORK if each in environment or each.lower() in environment]
    if settings.config.proxy is not None:
        names.append("proxy in config.toml")
    own = [name for name, each in settings.config.providers.items() if each.proxy is not None]
    names += [f"proxy in [providers.{name}]" for name in own]
    return ", ".join(names) or "none is set"


def _is_used(provider: Provider, settings: Settings, environment: Mapping[str, str]) -> bool:
    return provider.name in settings.providers or (provider.key_variable or "") in environment


def _host(provider: Provider) -> str:
    return _host_of(provider.base_url)


def _host_of(url: str) -> str:
    # Without its path: some gateways have the key in it.
    address = urlsplit(url)
    try:
        port = f":{address.port}" if address.port else ""
    except ValueError:
        port = ""
    return f"{address.hostname or 'no address'}{port}"


def _key(provider: Provider, environment: Mapping[str, str]) -> str:
    """Say where the key is, without reading it or running its command."""
    if provider.key_variable and environment.get(provider.key_variable, "").strip():
        return f"key in {provider.key_variable}"
    if provider.key_file:
        return "key in a file" if os.access(provider.key_file, os.R_OK) else "key file not readable"
    if provider.key_command:
        return "key from a command"
    return f"{provider.key_variable} is not set" if provider.key_variable else "no key"


def _store(root: Path, doctor: Doctor) -> dict[str, str]:
    versions = (
        f"version {version}: {count:,}" for version, count in sorted(doctor.formats.items())
    )
    return {
        "place": str(root),
        **folder_sizes(root),
        "pictures": pictures_size(root),
        "formats": ", ".join(versions) or "none",
        "search index": index_state(root),
        "imports": _imports(doctor.unknown),
    }


def _imports(unknown: Mapping[str, int]) -> str:
    """Say of which programs the format has changed: records have forms that no reader knows."""
    programs = [f"{name} ({plural(count, 'record')})" for name, count in sorted(unknown.items())]
    return f"format has changed: {', '.join(programs)}" if programs else "every format is known"


def _logs(environment: Mapping[str, str]) -> dict[str, str]:
    debug = paths.debug_log(environment, None) or paths.debug_log(environment, "")
    return {
        "debug log": _file(debug) if debug else "none",
        "crashes": _file(paths.state_directory() / CRASH_LOG),
    }


def _file(path: Path) -> str:
    try:
        return f"{path}, {path.stat().st_size:,} bytes"
    except FileNotFoundError:
        return f"{path}, missing"
    except OSError as error:
        return f"{path}, {error.strerror}"
