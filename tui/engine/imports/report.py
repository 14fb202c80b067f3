"""What an import tells: its progress, which is also the way to stop it, and what came of it."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from tui.domain.imports import ImportProgress, skipped_words
from tui.domain.text import make_visible_line, plural
from tui.importers.protocol import Ledger
from tui.importers.stopping import Stopped

_REPORT_SECONDS = 0.05


Report = Callable[[ImportProgress], bool]
"""Takes the progress; false stops the import."""


class Pace:
    """Reports the progress, not too often, and ends the import when it is no longer wanted."""

    def __init__(self, report: Report, total: int) -> None:
        self._report = report
        self._total = total
        self._next = 0.0
        self._before = 0
        self._now = 0
        self._size = 0
        self._title = ""
        self._is_stopped = False
        self.sessions = 0
        """Imported so far."""
        self.files = 0
        """Found so far."""

    def begin(self, title: str, size: int) -> None:
        """Begin a source of so many bytes. Raises ``Stopped``."""
        self._title, self._size, self._now = title, size, 0
        self.step()

    def step(self, written: int = 0) -> None:
        """Take note of bytes that were written, if any. Raises ``Stopped``."""
        # The place in a source is unknown, but no more is written than it has.
        self._now = min(self._now + written, self._size)
        now = time.monotonic()
        if now >= self._next or self._is_stopped:
            self._next = now + _REPORT_SECONDS
            self.report()

    def end(self) -> None:
        """End the source."""
        self._before += self._size
        self._now = self._size = 0

    def report(self) -> None:
        """Report the progress at once. Raises ``Stopped``."""
        done = self._before + self._now
        state = ImportProgress(self._title, done, self._total, self.sessions, self.files)
        # Once and for all: what takes long may not let this error through.
        self._is_stopped = self._is_stopped or not self._report(state)
        if self._is_stopped:
            raise Stopped


_FAILURES = 5
_REASONS = 5
_AGAIN = "To import also deleted ones: sibyl-tui import --again"

_STAYS = "Imported sessions stay. The next import continues here and adds nothing twice."
_ADDED = (
    "They are in the archive, under their projects. The sidebar has them under Archived; "
    "Ctrl+A there shows all projects. Every search finds them, and "
    "/search from:{} WORDS finds only those of one program."
)


class Fork(msgspec.Struct, frozen=True):
    """A session that was continued here, and its fork with what is new in the other program."""

    session_id: str
    fork_id: str
    title: str
    """The name in the other program, else the title here."""


class Failure(msgspec.Struct, frozen=True):
    """A path that could not be read, or a session that could not be written."""

    path: Path
    reason: str


class ImportedProgram(msgspec.Struct):
    """The result of an import for one program; grows while it runs."""

    program: str
    title: str
    added: int = 0
    """New sessions."""
    grown: int = 0
    """Sessions that got new messages."""
    replaced: int = 0
    """Sessions of files that were cut off before, and are within others now."""
    gone: int = 0
    """Left out, as the user has deleted them here."""
    prompts_only: int = 0
    """New sessions of which their program had deleted all but the prompts."""
    found_whole: int = 0
    """Sessions that had only prompts before; these are an earlier version now."""
    messages: int = 0
    cut: int = 0
    """Messages of which a part was beyond the limits."""
    forks: list[Fork] = msgspec.field(default_factory=list[Fork])
    failures: list[Failure] = msgspec.field(default_factory=list[Failure])
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    """The records of all sources that were read."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of an import."""

    programs: tuple[ImportedProgram, ...]
    stopped: bool
    """By its user."""
    error: str = ""
    """The reason why it ended early, such as a full disk."""
    unread: tuple[Failure, ...] = ()
    """Files and folders below named paths that could not be looked at."""

    @property
    def sessions(self) -> int:
        """The number of sessions that were added or have grown."""
        return sum(each.added + each.grown for each in self.programs)

    @property
    def is_whole(self) -> bool:
        """True if all that was wanted is here."""
        failed = self.unread or any(each.failures for each in self.programs)
        return not (failed or self.stopped or self.error)


def outcome_words(outcome: Outcome) -> str:
    """Say what was added, what was not and why, and where it is now."""
    lines = [f"The import ended early: {outcome.error}"] if outcome.error else []
    lines += ["Stopped."] if outcome.stopped else []
    lines += [_STAYS] if lines else []
    for program in outcome.programs:
        lines += ["", *program_lines(program), *failure_lines(program.failures, "  ")]
    lines += failure_lines(outcome.unread)
    if added := [each.program for each in outcome.programs if each.added]:
        lines += ["", _ADDED.format(added[0])]
    return "\n".join(lines).strip()


def program_lines(done: ImportedProgram) -> Iterator[str]:
    """Say what came of one program, but for what could not be read."""
    counts = [f"{plural(done.added, 'session')} added"] if done.added else []
    if done.grown:
        counts.append(f"{done.grown} extended")
    if done.messages:
        counts.append(plural(done.messages, "message"))
    # What failed as a whole is named with its reasons.
    if counts or done.ledger.read or not done.failures:
        yield f"{done.title}: {', '.join(counts) or 'nothing new'}"
        skipped = skipped_words(done.ledger.read, done.ledger.skipped, _REASONS)
        yield from [f"  {make_visible_line(skipped)}"] if skipped else []
    if done.prompts_only:
        count = plural(done.prompts_only, "session")
        yield f"  {count} with your prompts only: {done.title} had deleted the rest"
    if done.found_whole:
        count = plural(done.found_whole, "session")
        yield f"  {count} found whole: the prompts kept before are an earlier version"
    if done.replaced:
        count = plural(done.replaced, "session")
        yield f"  {count} of a file that was cut off before: in the trash, as all is in others now"
    if done.gone:
        yield f"  {plural(done.gone, 'session')} left out: deleted here. {_AGAIN}"
    if done.cut:
        yield f"  {plural(done.cut, 'message')} cut at the limits of a message"
    for fork in done.forks:
        title = make_visible_line(fork.title)
        yield f'  "{title}" was continued here: new messages are in its fork {fork.fork_id}'


def failure_lines(failures: Sequence[Failure], indent: str = "") -> Iterator[str]:
    """Name the first files that could not be read, and count the others."""
    for failure in failures[:_FAILURES]:
        yield indent + make_visible_line(f"Not read: {failure.path}: {failure.reason}")
    if len(failures) > _FAILURES:
        yield f"{indent}and {len(failures) - _FAILURES} more that could not be read."
