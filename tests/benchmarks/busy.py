"""Typing while three answers stream, an index is built and a slow disk saves."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from tests.benchmarks.keys import TOKENS_A_SECOND, Typed, at_rest, type_in_rhythm
from tests.benchmarks.programs import Programs
from tests.benchmarks.searching import make_corpus
from tests.benchmarks.server import LAST_WORDS, TOKEN, serving
from tests.benchmarks.table import Row, beside, percentile
from tests.benchmarks.terminal import TimedProgram
from tui.storage.index import child

TIMES_BARE = 2.0
"""No milliseconds: builder, server and stream leave two processors nothing to spare."""

_ANSWERS = 3
_SESSIONS, _MESSAGES = 10_000, 40
_LETTERS = 160
_STREAMED_SECONDS = 60


def rows(directory):
    """Beside the bare application with a stream of its own and the same builder beside it."""
    programs = Programs(directory)
    make_corpus(programs.root, _SESSIONS, _MESSAGES)
    size = TOKENS_A_SECOND * TOKEN * _STREAMED_SECONDS
    with serving(TOKENS_A_SECOND, "markdown", size) as url:
        programs.use_model(url)
        ours = _ours(programs)
    bare = _bare(programs)
    what = f"key to screen, {_ANSWERS} answers, index, slow disk"
    return list(_rows(what, ours, bare))


def _rows(what: str, ours: Typed, bare: Typed) -> Iterator[Row]:
    yield beside(what, median(ours.times), ("bare", median(bare.times)), TIMES_BARE)
    # Of the whole run: a save that holds up a key does so every few seconds.
    for percent in (95, 99):
        compared = ("bare", percentile(bare.times, percent))
        yield beside(f"{what}, p{percent}", percentile(ours.times, percent), compared, TIMES_BARE)


def _ours(programs: Programs) -> Typed:
    typed = Typed()
    with programs.slow_sibyl() as program, at_rest(program):
        program.seen(r"indexing \d+ %")
        for number in range(_ANSWERS):
            if number:
                program.press("ctrl+n")
                program.seen("Started a new session")
            program.type("please say it\r")
            program.seen("Part 1")
        type_in_rhythm(program, typed, _LETTERS)
        _assert_busy(program)
    return typed


def _assert_busy(program: TimedProgram) -> None:
    if not any("indexing" in line for line in program.screen):
        raise AssertionError("the index was ready before all keys were typed")
    if any(LAST_WORDS.strip("()") in line for line in program.screen):
        raise AssertionError("the answer ended before all keys were typed")


def _bare(programs: Programs) -> Typed:
    typed = Typed()
    (programs.root / "index.sqlite3").unlink()
    with _building(programs), programs.bare("--stream") as program:
        program.seen("streamed")
        type_in_rhythm(program, typed, _LETTERS)
    return typed


@contextmanager
def _building(programs: Programs) -> Iterator[None]:
    builder = subprocess.Popen(child.command(programs.root), stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        builder.kill()
        builder.wait()
