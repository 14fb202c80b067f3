"""How much code a prompt runs through, from Enter until the model's server is asked."""

import signal
import time

from tests.benchmarks.programs import Programs
from tests.benchmarks.server import LAST_WORDS, serving
from tests.benchmarks.table import within
from tests.terminal.program import SECONDS

FUNCTIONS, FILES, MODULES = 480, 90, 250
_SIZE = 200


def rows(directory):
    """Once, of the first prompt of a new session: the figures do not depend on the machine."""
    programs = Programs(directory)
    trace = directory / "trace"
    with serving(100, "markdown", _SIZE) as url:
        programs.use_model(url)
        with programs.traced(trace) as program:
            program.seen("Message, or /")
            program.rest(4.0)
            program.type("say it")
            program.seen("say it")
            program.settle(0.3)
            program.signal(signal.SIGUSR1)
            # Until the handler has run.
            time.sleep(0.05)
            program.press("enter")
            program.seen(LAST_WORDS.strip("()"))
        modules, functions, files = map(int, _first_line(trace).split())
    what = "functions of ours from Enter to the request"
    yield within(what, functions, FUNCTIONS, unit="functions")
    yield within("files that they are in", files, FILES, unit="files")
    what = "modules of ours before the prompt takes keys"
    yield within(what, modules, MODULES, unit="modules")


def _first_line(trace) -> str:
    end = time.perf_counter() + SECONDS
    while not trace.exists() and time.perf_counter() < end:
        time.sleep(0.05)
    return trace.read_text("utf-8").partition("\n")[0]
