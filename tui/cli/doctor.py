"""``sibyl-tui doctor``: examination of the data directory."""

from argparse import Namespace
from collections.abc import Sequence

import msgspec

from tui.cli import output
from tui.cli.program import Program
from tui.storage.doctor import Doctor, Finding, Verdict, verdict

_EXIT_CODES: dict[Verdict, int] = {"clean": 0, "findings": 1, "damage": 2}


def run(chosen: Namespace) -> int:
    """Examine the data directory; the exit code is the verdict: 0 clean, 1 findings, 2 damage."""
    program = Program.from_arguments(chosen)
    findings = list(Doctor(program.store.root).examine(repair=chosen.repair))
    found = verdict(findings)
    if chosen.json:
        output.put_json(
            {"status": found, "findings": [msgspec.structs.asdict(each) for each in findings]}, 2
        )
    else:
        _put_findings(findings, found)
    return _EXIT_CODES[found]


def _put_findings(findings: Sequence[Finding], found: Verdict) -> None:
    for finding in findings:
        repaired = " (repaired)" if finding.repaired else ""
        output.put_line(f"{finding.kind}: {finding.path}: {finding.message}{repaired}")
    output.put_line(found)
