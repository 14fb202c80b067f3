"""From a key to its letter on the screen: idle, while an answer streams, while a library loads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.programs import Programs
from tests.benchmarks.server import TOKEN, serving
from tests.benchmarks.table import Row, beside, percentile, quietest, within
from tests.benchmarks.terminal import TimedProgram

MEDIAN, BYTES = 2.0, 1.5
P99_MS, P99_LOADING_MS, P95_STREAMING_MS = 16, 60, 20
TOKENS_A_SECOND = 100

_LETTERS = 160
_ROUNDS = 2
_STREAMED_SECONDS = 25
_LOADING_RUNS, _LOADING_LETTERS = 3, 60
_READY = "ffggff"
# No letters that anything else on either screen has side by side.
_WORDS = ["QZJXVKWP", "XJQZKVWY", "VQXZJKPW", "ZXQVJWKY", "JVZQXPKW", "KQZVXJWP"]
"""In capitals, as the name of a temporary directory on screen may have two such letters."""


@dataclass
class Typed:
    """Milliseconds for each letter, and bytes for each."""

    times: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)


def rows(directory):
    """Each beside the bare application, typed into in turn with it."""
    programs = Programs(directory)
    with serving(TOKENS_A_SECOND, "markdown", TOKENS_A_SECOND * TOKEN * _STREAMED_SECONDS) as url:
        idle, idle_bare = Typed(), Typed()
        for _ in range(_ROUNDS):
            for start, typed in ((programs.bare, idle_bare), (programs.sibyl, idle)):
                with start() as program, at_rest(program):
                    type_letters(program, typed, _LETTERS // _ROUNDS)
        programs.use_model(url)
        loading = _while_loading(programs)
        streaming, streaming_bare = _while_streaming(programs)
    return [*_idle_rows(idle, idle_bare), *_busy_rows(loading, streaming, streaming_bare)]


def _idle_rows(ours: Typed, bare: Typed) -> Iterator[Row]:
    yield beside("key to screen", median(ours.times), ("bare", median(bare.times)), MEDIAN)
    p99 = percentile(ours.times, 99)
    yield within("key to screen, p99", p99, P99_MS, ("bare", percentile(bare.times, 99)))
    yield beside("bytes for a key", median(ours.sizes), ("bare", median(bare.sizes)), BYTES)


def _busy_rows(loading: Typed, streaming: Typed, bare: Typed) -> Iterator[Row]:
    p99 = percentile(loading.times, 99)
    yield within("key to screen, p99, a model's library loads", p99, P99_LOADING_MS)
    p95, p95_bare = quietest(streaming.times, 95), quietest(bare.times, 95)
    what = f"key to screen, p95, at {TOKENS_A_SECOND} tokens a second"
    yield within(what, p95, P95_STREAMING_MS, ("bare", p95_bare))


def _while_loading(programs: Programs) -> Typed:
    """Begun at once: the library is loaded as soon as the first screen is there."""
    typed = Typed()
    for _ in range(_LOADING_RUNS):
        with programs.sibyl() as program:
            program.type(_READY)
            program.seen(lambda it: it.is_alternate and any(_READY in line for line in it.lines))
            type_letters(program, typed, _LOADING_LETTERS, gap=0.02)
    return typed


def _while_streaming(programs: Programs) -> tuple[Typed, Typed]:
    ours, bare = Typed(), Typed()
    with programs.bare("--stream") as program:
        program.seen("streamed")
        type_in_rhythm(program, bare, _LETTERS)
    with programs.sibyl() as program, at_rest(program):
        # The first answer waits for the library.
        program.type("please say it\r")
        program.seen("Part 1")
        type_in_rhythm(program, ours, _LETTERS)
        if any("all was said" in line for line in program.screen):
            raise AssertionError("the answer ended before all keys were typed")
    return ours, bare


@contextmanager
def at_rest(program: TimedProgram) -> Iterator[None]:
    """Once it takes keys and has done what it does after its start."""
    program.seen("╭")
    program.rest(1.0)
    program.settle(0.2)
    yield


def type_letters(program: TimedProgram, typed: Typed, letters: int, gap: float = 0.03) -> None:
    """Words, each taken away again; a letter once the one before has been quiet for ``gap``."""
    for letter, shown in _letters(letters):
        if not letter:
            _take_away(program, shown)
            program.settle(gap)
            continue
        before = program.written
        milliseconds = program.press_until(_showing(shown), letter, what=shown)
        program.settle(gap)
        if len(shown) > 2:
            typed.times.append(milliseconds)
            typed.sizes.append(program.written - before)


def type_in_rhythm(program: TimedProgram, typed: Typed, letters: int) -> None:
    """The same where it is never quiet: 15 letters a second."""
    for letter, shown in _letters(letters):
        if not letter:
            _take_away(program, shown)
            continue
        milliseconds = program.press_until(_showing(shown), letter, what=shown)
        if len(shown) > 2:
            typed.times.append(milliseconds)
        program.rest(0.065)


def _letters(count: int) -> Iterator[tuple[str, str]]:
    """Each letter with what then stands there of its word; none after the last one of a word."""
    for number in range(count):
        word = _WORDS[number // len(_WORDS[0]) % len(_WORDS)]
        place = number % len(word)
        yield word[place], word[: place + 1]
        if place == len(word) - 1:
            yield "", word


def _showing(text: str):
    return lambda program: any(text in line for line in program.lines)


def _take_away(program: TimedProgram, word: str) -> None:
    program.type("\x7f" * len(word))
    program.seen(lambda it: not any(word[:2] in line for line in it.lines), f"no {word}")
