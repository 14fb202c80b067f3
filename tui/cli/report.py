"""``sibyl-tui doctor``: a report for bug reports, and examination of the data directory.

The report has what a bug report needs, without texts and keys.
"""

import os
import platform
import shutil
import sqlite3
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

import tui
from tui.cli import console
from tui.cli.debug_log import NAME as CRASH_LOG
from tui.cli.debug_log import library_version, system
from tui.config import paths
from tui.config.loading import Flags, UserSettings, load_settings
from tui.config.settings_schema import ToolServerSettings, connections_file
from tui.domain.imports import reason_words
from tui.domain.providers import OFFLINE, PROVIDERS, Provider
from tui.domain.text import damage_words, make_visible_line
from tui.domain.timestamps import utc_now
from tui.errors import ConfigError, SessionDamaged, SessionNotFound, StorageError
from tui.providers.catalog import Catalog
from tui.storage.doctor import (
    Doctor,
    Finding,
    Verdict,
    folder_sizes,
    index_state,
    verdict,
)
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter, SessionStore, every_entry
from tui.storage.stores import ServerStore, open_store

Report = Mapping[str, Mapping[str, str]]
"""Rows by section and by name."""

_REASONS = 3
_EXIT_CODES: dict[Verdict, int] = {"clean": 0, "findings": 1, "damage": 2}


def run(chosen: Namespace) -> int:
    """Report, and examine the data directory; a damaged configuration is a finding, too.

    The exit code is the verdict: 0 clean, 1 findings, 2 damage.
    """
    environment = dict(os.environ)
    root = paths.data_directory(environment, chosen.data_dir)
    flags = Flags(model=chosen.model, scope=chosen.scope, store=chosen.store)
    settings: UserSettings | ConfigError
    try:
        settings = load_settings(paths.config_file(environment), environment, flags)
    except ConfigError as error:
        settings = error
    doctor = Doctor(root)
    findings: list[Finding] = []
    if isinstance(settings, ConfigError):
        findings.append(Finding("configuration", None, settings.source, str(settings)))
    try:
        findings += doctor.examine(repair=chosen.repair)
    except StorageError as error:
        findings.append(Finding("unreadable", None, ".", str(error)))
    rows, found_there = _of_server(settings, root)
    findings += found_there
    report = dict(make_report(root, settings, doctor, environment))
    if rows:
        # The sessions are elsewhere.
        report |= {**rows, "files of this machine": report.pop("store")}
    found = verdict(findings)
    if chosen.json:
        listed = [msgspec.structs.asdict(each) for each in findings]
        console.put_json({"status": found, "findings": listed, "report": report}, 2)
    else:
        _put_text(report, findings, found)
    return _EXIT_CODES[found]


def _of_server(settings: UserSettings | ConfigError, root: Path) -> tuple[Report, list[Finding]]:
    """Report on the server of the store, and read every session there."""
    if isinstance(settings, ConfigError) or not settings.config.store:
        return {}, []
    rows: Report = {}
    findings: list[Finding] = []
    try:
        store = open_store(settings.config.store, root, utc_now)
        if not isinstance(store, ServerStore):
            return {}, []
        with closing(store):
            findings += [_of_store("server", each) for each in store.check()]
            rows = {"server": store.report()}
            findings += _damaged(store)
    except (StorageError, ConfigError) as error:
        # A server that is away has damaged nothing.
        findings.append(_of_store("server", str(error)))
    return rows, findings


def _damaged(store: SessionStore) -> Iterator[Finding]:
    """Read every session. Raises ``StorageError`` if the store fails."""
    for entry in every_entry(store, SessionFilter(statuses=KEPT_OR_ARCHIVED)):
        try:
            damaged = store.journal(entry.id).load().damaged
        except SessionNotFound:
            # It was purged meanwhile.
            continue
        except SessionDamaged as error:
            yield _of_store("unreadable", str(error), entry.id)
            continue
        if damaged:
            yield _of_store("damaged_records", damage_words(damaged, entry.id), entry.id)


def _of_store(kind: str, message: str, session_id: str | None = None) -> Finding:
    return Finding(kind, session_id, "store", message)


def _put_text(report: Report, findings: Sequence[Finding], found: Verdict) -> None:
    for title, rows in report.items():
        console.put_line(title)
        width = max(map(len, rows), default=0) + 2
        for name, text in rows.items():
            console.put_line(f"  {name:<{width}}{text}")
    console.put_line()
    for finding in findings:
        repaired = " (repaired)" if finding.repaired else ""
        line = f"{finding.kind}: {finding.path}: {finding.message}{repaired}"
        console.put_line(paths.with_tilde(line))
    console.put_line(found)


_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_LIBRARIES = ("httpx2", "msgspec", "mcp")
_EXTRAS = ("boto3", "psycopg")


def make_report(
    root: Path,
    settings: UserSettings | ConfigError,
    doctor: Doctor,
    environment: Mapping[str, str],
) -> Report:
    """Collect the sections; ``settings`` may be the error that their file led to.

    ``doctor`` has examined the data directory.
    """
    from tui.terminal.environment import describe

    debug = paths.debug_log(environment, None) or paths.debug_log(environment, "")
    sections = {
        "versions": _versions(),
        "configuration": _configuration(settings, environment),
        "connections": {}
        if isinstance(settings, ConfigError)
        else _connections(settings, environment),
        "store": _store(root, doctor),
        "terminal": describe(environment),
        "logs": {
            "debug log": _file(debug) if debug else "none",
            "crashes": _file(paths.state_directory() / CRASH_LOG),
        },
    }
    return {
        title: {name: paths.with_tilde(text) for name, text in rows.items()}
        for title, rows in sections.items()
    }


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
    settings: UserSettings | ConfigError, environment: Mapping[str, str]
) -> dict[str, str]:
    file = paths.config_file(environment)
    rows = {"file": _file(file), "connections": _file(connections_file(file))}
    set_here = [name for name in environment if name.startswith("SIBYL_")]
    rows["variables"] = ", ".join(sorted(set_here)) or "none"
    if isinstance(settings, ConfigError):
        return rows | {"error": str(settings)}
    return rows | {
        "model": settings.model or "not set",
        "theme": settings.config.theme or "default",
    }


def _connections(settings: UserSettings, environment: Mapping[str, str]) -> dict[str, str]:
    rows: dict[str, str] = {}
    for name in dict.fromkeys([*settings.providers, *PROVIDERS]):
        try:
            provider = Catalog(settings, environment).provider(name)
        except ConfigError as error:
            rows[name] = str(error)
            continue
        if not provider or name == OFFLINE:
            continue
        if name in settings.providers or (provider.key_variable or "") in environment:
            host, key = _host_of(provider.base_url), _key(provider, environment)
            rows[name] = f"{host}, {provider.dialect}, {key}"
    rows["proxies and certificates"] = _network(settings, environment)
    servers = settings.tool_servers.items()
    return rows | {f"mcp.{name}": _tool_server(each, environment) for name, each in servers}


def _tool_server(server: ToolServerSettings, environment: Mapping[str, str]) -> str:
    """Say where a server of tools is, without starting or asking it."""
    if server.url is not None:
        return _host_of(server.url)
    program = server.command[0]
    path = (server.env or {}).get("PATH") or environment.get("PATH")
    # Its arguments may have a key.
    return f"{program}, {'found' if shutil.which(program, path=path) else 'not found'}"


def _network(settings: UserSettings, environment: Mapping[str, str]) -> str:
    """Name the variables and settings of proxies and certificates; their values stay out."""
    names = [each for each in _NETWORK if each in environment or each.lower() in environment]
    if settings.config.proxy is not None:
        names.append("proxy in config.toml")
    own = [name for name, each in settings.config.providers.items() if each.proxy is not None]
    names += [f"proxy in [providers.{name}]" for name in own]
    return ", ".join(names) or "none is set"


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
    # Their records have forms that no reader knows.
    changed = ", ".join(
        f"{name} ({reason_words(found, _REASONS)})"
        for name, found in sorted(doctor.unknown.items())
    )
    return {
        "place": str(root),
        **folder_sizes(root),
        "formats": ", ".join(versions) or "none",
        "search index": index_state(root),
        "imports": f"format has changed: {make_visible_line(changed)}"
        if changed
        else "every format is known",
    }


def _file(path: Path) -> str:
    try:
        return f"{path}, {path.stat().st_size:,} bytes"
    except FileNotFoundError:
        return f"{path}, missing"
    except OSError as error:
        return f"{path}, {error.strerror}"
