"""``sibyl-tui doctor``: a report for bug reports, and examination of the data directory."""

import os
from argparse import Namespace
from collections.abc import Sequence

import msgspec

from tui.cli import output
from tui.cli.report import Report, as_lines, make_report
from tui.config import Flags, Settings, load_settings, paths
from tui.errors import ConfigError, SibylError, StorageError
from tui.storage.doctor import Doctor, Finding, Verdict, verdict

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
    report = make_report(root, settings, doctor, environment)
    found = verdict(findings)
    if chosen.json:
        _put_json(report, findings, found)
    else:
        _put_text(report, findings, found)
    return _EXIT_CODES[found]


def _settings(chosen: Namespace, environment: dict[str, str]) -> Settings | SibylError:
    flags = Flags(model=chosen.model, scope=chosen.scope)
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
