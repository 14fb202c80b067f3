"""An answer of 50 KB: what it costs at its end, and what it cost at its beginning.

Wall time says nothing here: the server sets the pace. What counts is how long the program was on
a processor for the same number of characters.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.benchmarks.programs import Programs
from tests.benchmarks.server import KINDS, LAST_WORDS, TOKEN, serving
from tests.benchmarks.table import above, beside
from tests.benchmarks.terminal import TimedProgram

AS_FAST = 1.25
"""Noise of the figures; whatever grows with the answer grows by far more."""

MODEL_MB = 40 + 120
_SIZE = 50_000
_TOKENS_A_SECOND = 1_000
_PARTS = 5


def rows(directory):
    """Of Markdown in blocks, and of one block of code that stays open."""
    programs = Programs(directory)
    memory = 0.0
    for kind in KINDS:
        with serving(_TOKENS_A_SECOND, kind, _SIZE) as url, _asked(programs, url) as program:
            first, *_, last = _parts(program)
            memory = program.memory_mb
        what = f"50 KB of {kind}: processor for the last fifth"
        yield beside(what, last, ("the first", first), AS_FAST)
    what = "megabytes, a model loaded, 50 KB answered"
    yield above(what, memory, ("bare", _bare_memory(programs)), MODEL_MB, "MB")


@contextmanager
def _asked(programs: Programs, url: str) -> Iterator[TimedProgram]:
    """Once the model's library is there: an answer has begun to come."""
    programs.use_model(url)
    with programs.sibyl() as program:
        program.seen("/ commands")
        program.rest(4.0)
        program.type("say it\r")
        program.seen("(Part|value_)")
        yield program


def _parts(program: TimedProgram) -> list[float]:
    """Milliseconds on a processor for each of the parts of the answer."""
    seconds = _SIZE / TOKEN / _TOKENS_A_SECOND / _PARTS
    found: list[float] = []
    for _ in range(_PARTS):
        before = program.processor_ms
        program.rest(seconds * 0.95)
        found.append(program.processor_ms - before)
    program.seen(LAST_WORDS.strip("()"))
    return found


def _bare_memory(programs: Programs) -> float:
    with programs.bare() as program:
        program.seen("text 0 line")
        program.settle(0.3)
        return program.memory_mb
