"""From the command line to a prompt that takes keys, and from Ctrl+Q to the end.

The keys are typed when the program has hardly begun; the start is over when they stand in the
prompt, whole. Both programs are started in turn, so that what else the machine does meets both.
"""

from collections import defaultdict
from collections.abc import Callable
from statistics import median

from tests.benchmarks.journals import last_words
from tests.benchmarks.listing import SESSIONS, make_sessions
from tests.benchmarks.programs import Programs
from tests.benchmarks.table import MILLISECONDS, above, beside, within
from tests.benchmarks.terminal import TimedProgram, is_painted

FRAME_MS, START, START_IN_SESSION, EXIT_MS = 40, 1.22, 1.4, 50
LIST_MS = 100
"""Half of it for reading the page, the rest until it is on the screen."""

SEEN_MS = 100
"""As for any other session that is viewed."""

_TIMES = 9
_TYPED_AFTER = 0.03
_WORD = "qzjxv"
_FEW = 10
_SCOPE = "project:/7"


def rows(directory):
    """The first frame, the start with few and with many sessions, one of them, and the exit."""
    directories = [directory / name for name in ("few", "many")]
    for each, count in zip(directories, (_FEW, SESSIONS), strict=True):
        each.mkdir()
        make_sessions(each / "data", count)
    few, many = map(Programs, directories)
    newest = f"session-20260111-153000-{SESSIONS - 1:06d}"
    figures = _in_turn(
        {
            "bare": few.bare,
            "few": lambda: few.sibyl("--scope", _SCOPE),
            "many": lambda: many.sibyl("--scope", _SCOPE),
            "session": lambda: many.sibyl("--session", newest),
        }
    )
    frame, start, seen, listed, end = figures
    return [
        within("first frame", frame["many"], FRAME_MS, ("bare's", frame["bare"])),
        *(
            beside(f"start, {what}", start[name], ("bare", start["bare"]), limit)
            for what, name, limit in (
                (f"{_FEW} sessions on disk", "few", START),
                (f"{SESSIONS:,} in 500 scopes", "many", START),
                (f"{SESSIONS:,}, --session", "session", START_IN_SESSION),
            )
        ),
        within("then its last message seen", seen["session"] - start["session"], SEEN_MS),
        within(f"then the list's first page, {SESSIONS:,}", listed["many"], LIST_MS),
        above("exit", end["many"], ("bare", end["bare"]), EXIT_MS),
    ]


Figures = defaultdict[str, list[float]]


def _in_turn(starts: dict[str, Callable[[], TimedProgram]]) -> list[dict[str, float]]:
    """Medians by name: of the first frame, the start, the last message, the list, the exit."""
    found: tuple[Figures, ...] = tuple(defaultdict(list) for _ in range(5))
    for turn in range(_TIMES + 1):
        for name, start in starts.items():
            figures = _once(start, name)
            if turn:  # the first is for the caches
                for each, figure in zip(found, figures, strict=True):
                    each[name].append(figure)
    return [{name: median(values) for name, values in each.items()} for each in found]


def _once(start, name: str) -> tuple[float, float, float, float, float]:
    with start() as program:
        program.rest(_TYPED_AFTER)
        program.type(_WORD)
        frame = program.seen(is_painted, "the first frame")
        ready = program.seen(
            lambda it: it.is_alternate and any(_WORD in line for line in it.lines), "the prompt"
        )
        seen = program.seen(last_words(10)) if name == "session" else ready
        listed = ready if name == "bare" else program.seen("Question 0", "the list")
        program.settle(0.3)
        ending = program.exit("ctrl+q")
    times = (frame, ready, max(ready, seen), listed - ready)
    return *(each * MILLISECONDS for each in times), ending
