"""How much code a prompt runs through, from Enter until the model's server is asked."""

import signal
import time
from pathlib import Path

from tests.benchmarks.programs import Programs
from tests.benchmarks.server import LAST_WORDS, serving
from tests.benchmarks.table import within
from tests.terminal.program import SECONDS

FUNCTIONS, FILES, MODULES = 480, 90, 250
_SIZE = 200
_RUNS = 3


def rows(directory):
    """Of the first prompt of a session; the least of some runs, as a busy machine paints more."""
    programs = Programs(directory)
    with serving(100, "markdown", _SIZE) as url:
        programs.use_model(url)
        runs = [_figures(programs, directory / f"trace-{number}") for number in range(_RUNS)]
    modules, functions, files = map(min, zip(*runs, strict=True))
    what = "functions of ours from Enter to the request"
    yield within(what, functions, FUNCTIONS, unit="functions")
    yield within("files that they are in", files, FILES, unit="files")
    what = "modules of ours before the prompt takes keys"
    yield within(what, modules, MODULES, unit="modules")


def _figures(programs: Programs, trace: Path) -> list[int]:
    with programs.traced(trace) as program:
        program.seen("/ commands")
        program.rest(4.0)
        program.type("say it")
        program.seen("say it")
        program.settle(0.3)
        program.signal(signal.SIGUSR1)
        # Until the handler has run.
        time.sleep(0.05)
        program.press("enter")
        program.seen(LAST_WORDS.strip("()"))
    return [int(figure) for figure in _first_line(trace).split()]


def _first_line(trace: Path) -> str:
    end = time.perf_counter() + SECONDS
    while not trace.exists() and time.perf_counter() < end:
        time.sleep(0.05)
    return trace.read_text("utf-8").partition("\n")[0]
