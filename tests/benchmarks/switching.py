"""Sessions of any size: seen, switched to, paged through, and what they take of memory."""

from collections.abc import Iterator
from statistics import median

from tests.benchmarks.journals import last_words, write_session
from tests.benchmarks.programs import Programs
from tests.benchmarks.table import MILLISECONDS, Row, above, percentile, within
from tests.benchmarks.terminal import TimedProgram

VIEW_MS, VIEW_RATIO, PAGE_MS, MEMORY_MB = 100, 1.5, 50, 40
_SIZES = (10, 1_000, 100_000)
_RUNS, _ROUNDS, _PAGES = 3, 4, 80
_SCOPE = "project:/shop"


def rows(directory):
    """Of 10, 1,000 and 100,000 messages, the last of 50 MB."""
    programs = Programs(directory)
    ids = [f"session-20260111-153000-{number:06d}" for number in range(len(_SIZES))]
    for number, (session_id, count) in enumerate(zip(ids, _SIZES, strict=True), 1):
        write_session(programs.root, session_id, count, scope=_SCOPE, ordinal=number)
    first = {count: [_first_view(programs, count) for _ in range(_RUNS)] for count in _SIZES}
    later, bare = _switches(programs, ids[-1]), _bare_switches(programs)
    pages, memory = _pages(programs, ids[-1])
    bare_pages, bare_memory = _bare_pages(programs)
    yield from _view_rows("first view of a run", first, bare)
    yield from _view_rows("switch to", later, bare)
    yield within("page up, p95", percentile(pages, 95), PAGE_MS, ("bare", bare_pages))
    what = "megabytes, 100,000 messages seen"
    yield above(what, memory, ("bare", bare_memory), MEMORY_MB, "MB")


def _view_rows(what: str, figures: dict[int, list[float]], bare: float) -> Iterator[Row]:
    least = median(figures[_SIZES[0]])
    for count in _SIZES:
        figure = median(figures[count])
        name, other = ("of 10", least) if count > _SIZES[0] else ("bare", bare)
        limit = min(VIEW_MS, VIEW_RATIO * least) if count > _SIZES[0] else VIEW_MS
        budget = f"{VIEW_MS} ms" + (f", {VIEW_RATIO} ×" if count > _SIZES[0] else "")
        yield Row(f"{what}, {count:,} messages", figure, name, other, budget, figure <= limit)


def _first_view(programs: Programs, count: int) -> float:
    """From the new session that a start is in."""
    with programs.sibyl("--scope", _SCOPE) as program:
        _wait_for_rows(program)
        # Below the one that is open, the one that was used last first.
        steps = len(_SIZES) - _SIZES.index(count)
        program.press("ctrl+b", *["down"] * steps)
        program.settle(0.2)
        return program.press_until(last_words(count), "enter")


def _switches(programs: Programs, newest: str) -> dict[int, list[float]]:
    """Down and up between them, as a reader looks; the newest one is the first of the list."""
    found: dict[int, list[float]] = {count: [] for count in _SIZES}
    down, up = ("alt+down", (_SIZES[1], _SIZES[0])), ("alt+up", (_SIZES[1], _SIZES[2]))
    with programs.sibyl("--session", newest) as program:
        program.seen(last_words(_SIZES[2]))
        _wait_for_rows(program)
        for _ in range(_ROUNDS):
            for key, counts in (down, up):
                for count in counts:
                    found[count].append(_settled(program, last_words(count), key, 0.15))
    return {count: figures[1:] for count, figures in found.items()}


def _wait_for_rows(program: TimedProgram) -> None:
    program.seen(r"Question 0")
    program.rest(0.5)
    program.settle(0.2)


def _bare_switches(programs: Programs) -> float:
    with programs.bare() as program:
        program.seen("text 0 line")
        program.settle(0.3)
        keys = ["alt+down"] * 10 + ["alt+up"] * 10
        numbers = [*range(1, 11), *range(9, -1, -1)]
        return median(
            _settled(program, rf"text {number} line 396", key, 0.05)
            for key, number in zip(keys, numbers, strict=True)
        )


def _settled(program: TimedProgram, pattern: str, key: str, quiet: float) -> float:
    figure = program.press_until(pattern, key)
    program.settle(quiet)
    return figure


def _pages(programs: Programs, session_id: str) -> tuple[list[float], float]:
    with programs.sibyl("--session", session_id) as program:
        program.seen(last_words(_SIZES[-1]))
        _wait_for_rows(program)
        # From the prompt to the conversation.
        program.press("shift+tab")
        program.settle(0.1)
        found = [_page_up(program) for _ in range(_PAGES)]
        return found, program.memory_mb


def _bare_pages(programs: Programs) -> tuple[float, float]:
    with programs.bare() as program:
        program.seen("text 0 line")
        program.settle(0.3)
        found = [_page_up(program) for _ in range(8)]
        return percentile(found, 95), program.memory_mb


def _page_up(program: TimedProgram) -> float:
    """Until anything else is on the screen; then all that comes of it."""
    before = list(program.screen)
    begin = program.seconds
    program.press("pageup")
    figure = program.seen(lambda it: it.lines != before, "another page") - begin
    program.settle(0.04)
    return figure * MILLISECONDS
