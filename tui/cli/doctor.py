"""``sibyl-tui doctor``: a report for bug reports, and examination of the data directory."""

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from tui.cli import output
from tui.cli.report import Report, as_lines, make_report
from tui.config import Flags, Settings, load_settings, paths
from tui.domain.text.labels import damage_words
from tui.domain.timestamps import utc_now
from tui.errors import ConfigError, SessionDamaged, SessionNotFound, SibylError, StorageError
from tui.storage.doctor import Doctor, Finding, Verdict, verdict
from tui.storage.opening import ServerStore, open_store
from tui.storage.protocol import KEPT_OR_ARCHIVED, SessionFilter, SessionStore

_PAGE = 200
_EXIT_CODES: dict[Verdict, int] = {"clean": 0, "findings": 1, "damage": 2}


def run(chosen: Namespace) -> int:
    """Report, and examine the data directory; a damaged configuration is a finding, too.

    The exit code is the verdict: 0 clean, 1 findings, 2 damage.
    """
    environment = dict(os.environ)
    root = paths.data_directory(environment, chosen.data_dir)
    settings = _settings(chosen, environment)
    doctor = Doctor(root)
    findings = [*_of_configuration(settings), *_examined(doctor, repair=chosen.repair)]
    rows, found_there = _of_server(settings, root)
    findings += found_there
    report = dict(make_report(root, settings, doctor, environment))
    if rows:
        # The sessions are elsewhere.
        report |= {**rows, "files of this machine": report.pop("store")}
    found = verdict(findings)
    if chosen.json:
        _put_json(report, findings, found)
    else:
        _put_text(report, findings, found)
    return _EXIT_CODES[found]


def _settings(chosen: Namespace, environment: dict[str, str]) -> Settings | SibylError:
    flags = Flags(model=chosen.model, scope=chosen.scope, store=chosen.store)
    try:
        return load_settings(paths.config_file(environment), environment, flags)
    except ConfigError as error:
        return error


def _of_configuration(settings: Settings | SibylError) -> list[Finding]:
    if isinstance(settings, Settings):
        return []
    source = settings.source if isinstance(settings, ConfigError) else ""
    return [Finding("configuration", None, source, str(settings))]


def _examined(doctor: Doctor, *, repair: bool) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings += doctor.examine(repair=repair)
    except StorageError as error:
        return [*findings, Finding("unreadable", None, ".", str(error))]
    return findings


def _of_server(settings: Settings | SibylError, root: Path) -> tuple[Report, list[Finding]]:
    """Report on the server of the store, and read every session there."""
    if isinstance(settings, SibylError) or not settings.config.store:
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
    cursor = None
    while True:
        listing = store.list(SessionFilter(statuses=KEPT_OR_ARCHIVED), cursor, _PAGE)
        for entry in listing.entries:
            yield from _damage_of(store, entry.id)
        cursor = listing.cursor
        if cursor is None:
            return


def _damage_of(store: SessionStore, session_id: str) -> Iterator[Finding]:
    try:
        damaged = store.journal(session_id).load().damaged
    except SessionNotFound:
        # It was purged meanwhile.
        return
    except SessionDamaged as error:
        yield _of_store("unreadable", str(error), session_id)
        return
    if damaged:
        yield _of_store("damaged_records", damage_words(damaged, session_id), session_id)


def _of_store(kind: str, message: str, session_id: str | None = None) -> Finding:
    return Finding(kind, session_id, "store", message)


def _put_json(report: Report, findings: Sequence[Finding], found: Verdict) -> None:
    listed = [msgspec.structs.asdict(each) for each in findings]
    output.put_json({"status": found, "findings": listed, "report": report}, 2)


def _put_text(report: Report, findings: Sequence[Finding], found: Verdict) -> None:
    for line in as_lines(report):
        output.put_line(line)
    output.put_line()
    for finding in findings:
        repaired = " (repaired)" if finding.repaired else ""
        line = f"{finding.kind}: {finding.path}: {finding.message}{repaired}"
        output.put_line(paths.with_tilde(line))
    output.put_line(found)
