"""From a key to its letter on the screen: idle, at first, while one or three answers come."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.programs import Programs
from tests.benchmarks.server import TOKEN, serving
from tests.benchmarks.table import Row, beside, percentile, quietest, within
from tests.benchmarks.terminal import TimedProgram

MEDIAN, BYTES = 2.0, 1.5
FIRST_SECONDS_MS = 5
P99_MS, P99_FIRST_SECONDS_MS, P95_STREAMING_MS = 16, 60, 20
TOKENS_A_SECOND, MANY_TOKENS_A_SECOND = 100, 700
ANSWERS = 3

_LETTERS = 160
_ROUNDS = 2
_STREAMED_SECONDS = 25
_FIRST_RUNS, _FIRST_LETTERS = 3, 60
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
    idle, idle_bare = Typed(), Typed()
    for _ in range(_ROUNDS):
        for start, typed in ((programs.bare, idle_bare), (programs.sibyl, idle)):
            with start() as program, at_rest(program):
                type_letters(program, typed, _LETTERS // _ROUNDS)
    yield from _idle_rows(idle, idle_bare)
    with _streaming(TOKENS_A_SECOND) as url:
        programs.use_model(url)
        yield from _first_rows(_in_first_seconds(programs), idle_bare)
    bare = _beside_one_word_after_another(programs)
    for rate, answers in ((TOKENS_A_SECOND, 1), (MANY_TOKENS_A_SECOND, ANSWERS)):
        with _streaming(rate) as url:
            programs.use_model(url)
            typed = _while_answering(programs, answers)
        what = f"key to screen, p95, {answers} × {rate} tokens a second"
        p95, p95_bare = quietest(typed.times, 95), quietest(bare.times, 95)
        yield within(what, p95, P95_STREAMING_MS, ("bare", p95_bare))


def _streaming(rate: int):
    return serving(rate, "markdown", rate * TOKEN * _STREAMED_SECONDS)


def _idle_rows(ours: Typed, bare: Typed) -> Iterator[Row]:
    yield beside("key to screen", median(ours.times), ("bare", median(bare.times)), MEDIAN)
    p99 = percentile(ours.times, 99)
    yield within("key to screen, p99", p99, P99_MS, ("bare", percentile(bare.times, 99)))
    yield beside("bytes for a key", median(ours.sizes), ("bare", median(bare.sizes)), BYTES)


def _first_rows(first: Typed, bare: Typed) -> Iterator[Row]:
    what = "key to screen in the first seconds"
    yield within(what, median(first.times), FIRST_SECONDS_MS, ("bare", median(bare.times)))
    yield within(f"{what}, p99", percentile(first.times, 99), P99_FIRST_SECONDS_MS)


def _in_first_seconds(programs: Programs) -> Typed:
    """Begun at once: what the first screen left for later is done meanwhile."""
    typed = Typed()
    for _ in range(_FIRST_RUNS):
        with programs.sibyl() as program:
            program.type(_READY)
            program.seen(lambda it: it.is_alternate and any(_READY in line for line in it.lines))
            type_letters(program, typed, _FIRST_LETTERS, gap=0.02)
    return typed


def _beside_one_word_after_another(programs: Programs) -> Typed:
    typed = Typed()
    with programs.bare("--stream") as program:
        program.seen("streamed")
        type_in_rhythm(program, typed, _LETTERS)
    return typed


def _while_answering(programs: Programs, answers: int) -> Typed:
    """In the last of so many sessions, each of which is being answered."""
    typed = Typed()
    with programs.sibyl() as program, at_rest(program):
        for number in range(answers):
            if number:
                program.type("/new\r")
                program.seen(lambda it: not _showing("Part ")(it), "a new session")
            program.type("please say it\r")
            program.seen("Part 1")
        type_in_rhythm(program, typed, _LETTERS)
        if any("all was said" in line for line in program.screen):
            raise AssertionError("the answer ended before all keys were typed")
    return typed


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
