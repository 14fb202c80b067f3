"""The search screen: keys while the index is built behind it, and from a key to what it finds."""

from statistics import median

from tests.benchmarks.keys import Typed, type_letters
from tests.benchmarks.programs import Programs
from tests.benchmarks.searching import make_corpus
from tests.benchmarks.table import MILLISECONDS, percentile, within

_SESSIONS, _MESSAGES = 10_000, 40
_LETTERS = 120
_TIMES = 25
_BUILT_SECONDS = 240
_QUERIES = {
    "a rare word": "zebrafinch",
    "a common word": "token ",
    "three common words": "the token session ",
    "two Japanese characters": "検索",
}
_EMPTY = '"phrase" word'
_KEYS_MS = 16
_FOUND_MS = 100


def rows(directory):
    """With ten thousand sessions of 200 MB, of which nothing is in the index at first."""
    programs = Programs(directory)
    make_corpus(programs.root, _SESSIONS, _MESSAGES)
    while_built, afterwards = Typed(), Typed()
    with programs.sibyl() as program:
        program.seen("╭")
        program.seen(r"indexing \d+ %")
        type_letters(program, while_built, _LETTERS)
        if not any("indexing" in line for line in program.screen):
            raise AssertionError("the index was ready before all keys were typed")
        _wait_until_built(program)
        type_letters(program, afterwards, _LETTERS)
        idle = percentile(afterwards.times, 99)
        built = percentile(while_built.times, 99)
        yield within("key to screen, p99, index being built", built, _KEYS_MS, ("built", idle))
        program.press("ctrl+f")
        program.seen(_EMPTY)
        for name, query in _QUERIES.items():
            times = [_found_in(program, query) for _ in range(_TIMES)]
            what = f"search screen, {name}, p95"
            yield within(what, percentile(times, 95), _FOUND_MS, ("median", median(times)))


def _wait_until_built(program):
    for _ in range(_BUILT_SECONDS):
        program.rest(1.0)
        if not any("indexing" in line for line in program.screen):
            return
    raise AssertionError("the index was never ready")


def _found_in(program, query):
    """Milliseconds from the last key of a query to what it finds."""
    begin = program.seconds
    program.type(query)
    milliseconds = (program.seen(r"\d+\+? match", query) - begin) * MILLISECONDS
    program.press("ctrl+u")
    program.seen(_EMPTY)
    program.settle(0.2)
    return milliseconds
