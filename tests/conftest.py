"""What every test may rely on: a home of its own, no network, no keys; and the two tiers.

Everything here happens while this file is read, before any test imports ``tui``. Child processes
and the workers of pytest-xdist inherit the environment; the audit hook is set in each worker.
"""

import gc
import itertools
import os
import pwd
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import platformdirs
import pytest
import textual._wait
import textual.strip
from hypothesis import is_hypothesis_test, settings
from textual._compositor import Compositor, LayoutUpdate
from textual._context import active_app, visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.strip import Strip

# What they assert is explained, too, whichever test imports them first.
pytest.register_assert_rewrite("tests.storage.contract", "tests.storage.copy_contract")

# Written by the first process, so that its workers still know what to guard.
_GUARDED = "TUI_TESTS_GUARDED"
_IN_MEMORY = "/dev/shm"
_ROOM = 4 * 1024**3
_LOOPBACK_NAMES = {"", "localhost", "ip6-localhost"}
_PRIVATE_PREFIXES = ("SIBYL_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "SSL_CERT_")
# A proxy would be asked for the loopback servers too; colours would follow the terminal.
_PRIVATE_SUFFIXES = ("_API_KEY", "_PROXY")
_COLOURS = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}
# By these a test would reach the developer's own clipboard.
_PRIVATE_NAMES = {*_COLOURS, "DISPLAY", "WAYLAND_DISPLAY", "TMUX", "STY"}
# Where samples of other programs' files are: for tests, not for the program.
_SAMPLES = "SIBYL_SAMPLES"
# Which arguments of an audit event are paths. Reading counts too: no result may hang on what a
# developer has in the real home.
_PATHS = {
    "open": (0,),
    "os.chmod": (0,),
    "os.link": (0, 1),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.utime": (0,),
    "sqlite3.connect": (0,),
}
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto"})
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_WATCHED = _CONNECTIONS | _LOOKUPS | _PATHS.keys()

# Where it is proved what tui/domain, storage, engine and commands do. Coverage makes a test half as
# slow again, and cannot be paused while threads run: these run apart, and in these it is measured.
_MEASURED = tuple(
    f"tests/{place}"
    for place in (
        *("app/", "commands/", "domain/", "engine/", "storage/"),
        *("ui/test_leaving", "ui/test_model_picker", "ui/test_pasted_ref", "ui/test_private"),
        *("ui/test_session_picker", "ui/test_versions"),
    )
)
_PATIENCE = 60.0
_IMPATIENT = (
    "tui.cli.program._SEARCH_SECONDS",
    "tui.commands.opening._SEARCH_SECONDS",
    "tui.engine.library.loose_search._RECALL_SECONDS",
    "tui.storage.index.maintenance._FOLLOW_SECONDS",
)

# Time limits of single examples only measure how busy the machine is.
_base = settings(settings.get_profile("ci" if os.environ.get("CI") else "default"), deadline=None)
# What lands is tried with the same examples every time; campaigns look for new ones.
_same = settings(_base, derandomize=True)
settings.register_profile("fast", _same, max_examples=25, stateful_step_count=15)
settings.register_profile("full", _same, max_examples=100, stateful_step_count=30)
settings.register_profile("campaign", _base, max_examples=1000, stateful_step_count=50)

# A key press waits twice until the program is idle, for 20 ms or more each: most of the time of
# these tests. 5 ms show it as well; what needs longer is waited for by the tests themselves.
textual._wait.SLEEP_GRANULARITY = 0.005
textual._wait.wait_for_idle.__defaults__ = (0.005, 1)

# Each test's application would parse the same style sheets anew.
_parse_rules = Stylesheet._parse_rules
_parsed: dict[Any, list[RuleSet]] = {}


def _parse_once(sheet: Stylesheet, css: str, **where: Any) -> list[RuleSet]:
    key = (css, *where.items(), *sheet._variables.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, **where)
    return _parsed[key]


Stylesheet._parse_rules = _parse_once


# Theirs asks for the id, of which Python tells the guard below: each widget's style asks for all.
RuleSet.__hash__ = object.__hash__


class _NothingKept:
    """What a strip of a row keeps of its cut forms: these tests paint few rows twice."""

    def get(self, _: object) -> None:
        """Never anything."""

    def __setitem__(self, _: object, kept: object) -> None:
        """Keep nothing."""


# A strip makes seven such, and blank ones outlive their application: a sixth of the time of the
# tests of the screen, and half of all that the garbage collector goes through.
_nothing_kept = _NothingKept()
textual.strip.FIFOCache = lambda _: _nothing_kept  # type: ignore[assignment]

_render_update = Compositor.render_update
_apply_filter = Strip.apply_filter


def _draw_only(self: Compositor, **how: Any) -> Any:
    if how.get("full") or not active_app.get().is_headless:
        return _render_update(self, **how)
    visible_screen_stack.set(how.get("screen_stack") or [])
    whole = self.size.region
    changed = whole.intersection(Region.from_union(list(self._dirty_regions or [Region()])))
    self._dirty_regions.clear()
    Strip.apply_filter = lambda strip, *_: strip  # type: ignore[method-assign]
    try:
        for _ in self._get_renders(changed):
            pass
    finally:
        Strip.apply_filter = _apply_filter  # type: ignore[method-assign]
    return LayoutUpdate([], whole) if changed == whole else None


# Widgets draw their lines as ever, but no terminal is there to get them: a sixth of the time of the
# tests of the screen went into cutting them to size and fitting their colours to a terminal.
Compositor.render_update = _draw_only  # type: ignore[method-assign]

# Until all tests are collected, what is made stays.
gc.disable()


def _real_directories() -> tuple[str, ...]:
    """Where the developer's own sessions and settings are."""
    if known := os.environ.get(_GUARDED):
        return tuple(known.split(os.pathsep))
    own = platformdirs.PlatformDirs("sibyl", appauthor=False)
    found = {own.user_data_dir, own.user_config_dir, own.user_state_dir, own.user_cache_dir}
    found |= {os.environ[name] for name in ("SIBYL_DATA_DIR",) if os.environ.get(name)}
    # HOME need not be the home.
    home = pwd.getpwuid(os.getuid()).pw_dir
    found |= {f"{home}/.{place}/sibyl" for place in ("local/share", "config", "local/state")}
    return tuple(sorted({os.path.realpath(directory) for directory in found}))


def _environment(home: str) -> dict[str, str]:
    """Every place a program might put something, inside one directory."""
    return {
        "HOME": home,
        "XDG_DATA_HOME": f"{home}/data",
        "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_STATE_HOME": f"{home}/state",
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_RUNTIME_DIR": f"{home}/run",
        "SIBYL_DATA_DIR": f"{home}/data/sibyl",
        # From elsewhere nobody copies into a Mac's clipboard.
        "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22",
    }


def _is_private(name: str) -> bool:
    upper = name.upper()
    return (
        upper in _PRIVATE_NAMES
        or upper.startswith(_PRIVATE_PREFIXES)
        or upper.endswith(_PRIVATE_SUFFIXES)
    )


def _is_loopback(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    if name in _LOOPBACK_NAMES:
        return True
    try:
        return ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _is_real(path: object) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    whole = os.path.abspath(os.fsdecode(path))
    return any(whole == top or whole.startswith(f"{top}{os.sep}") for top in GUARDED)


def _refusal(event: str, arguments: tuple[object, ...]) -> str | None:
    """Why an audit event may not happen in a test, or None."""
    if event in _CONNECTIONS:
        address = arguments[1]
        # A tuple is an address of the internet; the other families stay on this machine.
        if isinstance(address, tuple) and not _is_loopback(address[0]):
            return f"a test reached for the network: {event} {address!r}"
    elif event in _LOOKUPS and not _is_loopback(arguments[0]):
        return f"a test reached for the network: {event} {arguments[0]!r}"
    for place in _PATHS.get(event, ()):
        if _is_real(arguments[place]):
            return f"a test reached for the real home: {event} {arguments[place]!r}"
    return None


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Stop what no test may do, whoever does it."""
    if event not in _WATCHED:
        return
    reason = _refusal(event, arguments)
    if reason is not None:
        _refusals.append(reason)
        raise RuntimeError(reason)


def _state_of_real_directories() -> dict[str, int | None]:
    """What a change by a child process, which has no audit hook, would show in."""
    state: dict[str, int | None] = {}
    for top in GUARDED:
        try:
            entries = [top, *(entry.path for entry in os.scandir(top))]
            state |= {path: os.lstat(path).st_mtime_ns for path in entries}
        except OSError:
            state[top] = None
    return state


def _holds_tests(folder: str) -> bool:
    """Whether a file system has room for what all tests write, and lets programs run from it."""
    try:
        state = os.statvfs(folder)
    except OSError:
        return False
    return state.f_bavail * state.f_frsize >= _ROOM and not state.f_flag & os.ST_NOEXEC


# In memory, where there is such a place, unless another is asked for: tests sync and remove files
# by the ten thousand, and on a busy disk most of their time went into waiting for it.
if "TMPDIR" not in os.environ and _holds_tests(_IN_MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = _IN_MEMORY
GUARDED = _real_directories()
os.environ[_GUARDED] = os.pathsep.join(GUARDED)
_TOP = tempfile.mkdtemp(prefix="sibyl-tests-")
_numbers = itertools.count(1)
_refusals: list[str] = []

for _name in [name for name in os.environ if _is_private(name) and name != _SAMPLES]:
    del os.environ[_name]
os.environ.update(_environment(_TOP))
# Tests start programs by the thousand: they are not to compile the package each time. And what a
# developer's machine sets must not hide how the program ends.
for _name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
    os.environ.pop(_name, None)
# Days are those of the local zone; what that means is tried in zones of a test's own.
os.environ["TZ"] = "UTC"
time.tzset()
sys.addaudithook(_refuse)


def pytest_addoption(parser: pytest.Parser) -> None:
    # Here, as only this file is read before the command line is.
    parser.addoption("--update-snapshots", action="store_true", help="renew snapshots/*.svg")
    parser.addoption(
        "--full", action="store_true", help="run the full tier: every fault, terminal and example"
    )
    parser.addoption(
        "--rest", action="store_true", help="run what the full tier has beyond the fast one"
    )
    parser.addoption(
        "--part", choices=["measured", "others"], help="run where coverage is measured, or the rest"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        is_full = config.getoption("--full") or config.getoption("--rest")
        settings.load_profile("full" if is_full else "fast")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the full tier out, unless it is asked for; a file that is named runs whole."""
    if part := config.getoption("--part"):
        _keep(config, items, lambda each: each.nodeid.startswith(_MEASURED) == (part == "measured"))
    if config.getoption("--full") or config.getoption("-m"):
        return
    named = {(config.invocation_params.dir / _file(each)).resolve() for each in config.args}
    is_wanted = _has_more if config.getoption("--rest") else _is_fast
    _keep(config, items, lambda each: is_wanted(each) or each.path in named)


def _keep(
    config: pytest.Config, items: list[pytest.Item], is_wanted: Callable[[pytest.Item], bool]
) -> None:
    config.hook.pytest_deselected(items=[each for each in items if not is_wanted(each)])
    items[:] = filter(is_wanted, items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Look for garbage from here on, but never in what stays to the end, and seldom.

    An application is garbage as a whole: whoever looks while it runs looks at all of it in vain.
    """
    gc.freeze()
    gc.set_threshold(10_000, 30, 5)
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say that readers were not tried by samples, which no figure of skipped tests would."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if any("no samples of other programs" in reason for reason in skipped):
        terminalreporter.write_line(
            "Readers of other programs' files were not tried by samples: there are none beside"
            " the checkout, and SIBYL_SAMPLES names none.",
            yellow=True,
        )


def _file(argument: str) -> str:
    return argument.partition("::")[0]


def _is_fast(item: pytest.Item) -> bool:
    """Tell the tier of a test by the closest marker: a module may be full, one test of it fast."""
    tiers = (marker.name for marker in item.iter_markers() if marker.name in {"full", "fast"})
    return next(tiers, "fast") == "fast"


def _has_more(item: pytest.Item) -> bool:
    """Whether the full tier alone runs a test, or runs it with more examples."""
    return not _is_fast(item) or is_hypothesis_test(getattr(item, "obj", None))


def pytest_unconfigure() -> None:
    # Not by atexit, which a forked child would run as well.
    shutil.rmtree(_TOP, ignore_errors=True)


@pytest.fixture
def refusals() -> list[str]:
    """What the guard refused in this test so far; a test of the guard itself empties it."""
    return _refusals


@pytest.fixture(autouse=True)
def private_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new home for each test; the test fails if it touched the real one or the network."""
    home = f"{_TOP}/{next(_numbers)}"
    os.mkdir(home, 0o700)
    for name, value in _environment(home).items():
        monkeypatch.setenv(name, value)
    before = _state_of_real_directories()
    _refusals.clear()
    yield Path(home)
    # Code may have swallowed the error that it got.
    assert not _refusals
    assert _state_of_real_directories() == before, "the real home changed meanwhile"


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """However busy the machine is, a search finds all there is, and who waits for it waits.

    A test of what is late says by when. Programs that a test starts are as impatient as ever.
    """
    from tui.engine.library.loose_search import nearest
    from tui.storage.file_store import FileStore
    from tui.storage.stores import SessionStores

    with pytest.MonkeyPatch.context() as patch:
        for search in (FileStore.search, SessionStores.search):
            patch.setitem(search.__kwdefaults__, "seconds", _PATIENCE)
        patch.setattr(nearest, "__defaults__", (_PATIENCE,))
        for name in _IMPATIENT:
            patch.setattr(name, _PATIENCE)
        yield


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a server: one of this worker's own, or that of ``TEST_POSTGRES_URL``."""
    if given := os.environ.get("TEST_POSTGRES_URL"):
        yield given
        return
    with _server() as server:
        yield server.address()


@pytest.fixture
def postgres_server() -> Iterator[Any]:
    """A server of the test's own, which it may stop and start."""
    with _server() as server:
        yield server


@contextmanager
def _server() -> Iterator[Any]:
    from tests.postgres_server import PostgresServer

    server = PostgresServer()
    server.start()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres_database(postgres_url: str) -> Iterator[Any]:
    from tests.postgres_server import TestDatabase
    from tui.storage.postgres.store import PostgresStore

    database = TestDatabase(postgres_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PostgresStore.search.__kwdefaults__, "seconds", _PATIENCE)
        yield database
    database.remove()


@pytest.fixture
def postgres(postgres_database: Any) -> Iterator[str]:
    """The address of an empty database; close what was opened there before the test ends."""
    yield postgres_database.address
    postgres_database.empty()


@pytest.fixture
def zone(monkeypatch):
    """Sets the local time zone, by a rule that needs no data base."""

    def set_zone(rule):
        monkeypatch.setenv("TZ", rule)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()
