"""The result of an import in words."""

from collections.abc import Iterator

from tui.domain.text.labels import plural
from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.imports import skipped_words
from tui.engine.imports.outcome import ImportedProgram, Outcome

_FAILURES = 5


def outcome_words(outcome: Outcome) -> str:
    """Say what was added, what was not and why, and where it is now."""
    return "\n".join(_lines(outcome)).strip()


def _lines(outcome: Outcome) -> Iterator[str]:
    if outcome.error:
        yield f"The import ended early: {outcome.error}"
    if outcome.stopped:
        yield "Stopped."
    if outcome.error or outcome.stopped:
        yield "Imported sessions stay. The next import continues here and adds nothing twice."
    for program in outcome.programs:
        yield from _of_program(program)
    if added := [each.program for each in outcome.programs if each.added]:
        yield ""
        yield "They are in the archive, under their projects. The sidebar has them under Archived;"
        yield "Ctrl+A there shows all projects. Every search finds them, and"
        yield f"/search from:{added[0]} WORDS finds only those of one program."


def _of_program(done: ImportedProgram) -> Iterator[str]:
    yield ""
    counts = [f"{plural(done.added, 'session')} added"]
    if done.grown:
        counts.append(f"{done.grown} extended")
    yield f"{done.title}: {', '.join([*counts, plural(done.messages, 'message')])}"
    if done.ledger.total:
        yield f"  {make_visible_line(skipped_words(done.ledger.read, done.ledger.skipped))}"
    if done.cut:
        yield f"  {plural(done.cut, 'message')} shortened to the limit of a message."
    if done.gone:
        yield f"  {plural(done.gone, 'session')} left out: deleted here."
    for fork in done.forks:
        title = make_visible_line(fork.title) or fork.session_id
        yield f'  "{title}" was continued here. A copy of it has what is new.'
    for failure in done.failures[:_FAILURES]:
        yield make_visible_line(f"  Not read: {failure.path}: {failure.reason}")
    if len(done.failures) > _FAILURES:
        yield f"  and {len(done.failures) - _FAILURES} more that could not be read."
