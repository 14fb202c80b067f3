"""The rules of the program's structure, and the suite's own guard.

import-linter states the imports as contracts; here they are repeated at run time, where an import
by name or by a library of ours would show too.
"""

import ast
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.private_members import classes, imported, shared_with_library, touched_on_others
from tests.tables import each_row

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tui"
MODULES = sorted(PACKAGE.rglob("*.py"))
STORAGE = sorted((PACKAGE / "storage").rglob("*.py"))

# Where nothing above is left that could tell the user, and where a save fails: whatever was
# raised, the prompt stays pending and is told. Everywhere else an error has a name.
BROAD_EXCEPTS = {
    "tui/__main__.py": 1,
    "tui/engine/sessions/write_queue.py": 1,
    "tui/app/controllers/turns.py": 1,
    # A thread hands any error over to whoever waits for it.
    "tui/providers/bedrock.py": 1,
    "tui/threads.py": 2,
    # The thread that reads the terminal: any error ends the application with an exit code.
    "tui/terminal/textual_private.py": 1,
}

# Each costs more than the rest of the start, or belongs behind a choice that was not made yet.
SLOW_LIBRARIES = {
    "difflib",
    "httpx",
    "httpx2",
    "pydantic",
    "rich",
    "shtab",
    "sqlite3",
    "textual",
}

# The packages that know Textual and Rich, and the places of the private members they need.
SCREEN = ("app", "screens", "terminal", "widgets")
PRIVATE = (
    "tui/terminal/textual_private.py",
    "tui/widgets/textual_bases.py",
)

# Ways to a file that hide which system calls are made, and in which order.
_HIDDEN_CALLS = {"open", "read_bytes", "read_text", "touch", "write_bytes", "write_text"}
_HIDDEN_MODULES = {"fileinput", "io", "shutil"}


def _is_broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_is_broad(element) for element in node.elts)
    if isinstance(node, ast.Attribute):
        return node.attr in {"Exception", "BaseException"}
    return node is None or (
        isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"}
    )


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether the error always leaves the handler: then it only tidied up."""
    last = handler.body[-1]
    leaves_early = any(
        isinstance(node, ast.Return | ast.Continue | ast.Break) for node in ast.walk(handler)
    )
    return isinstance(last, ast.Raise) and last.exc is None and not leaves_early


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _broad_excepts(source: str) -> list[int]:
    """The lines that swallow everything, by ``except`` or by ``suppress``."""
    found: list[int] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            if not _goes_on(node):
                found.append(node.lineno)
        elif isinstance(node, ast.Call) and _called(node) == "suppress":
            found += [node.lineno for argument in node.args if _is_broad(argument)]
    return found


def _hidden_calls(source: str) -> list[str]:
    """Calls and imports that reach files by anything but the system's own calls."""
    tree = ast.parse(source)
    found = [
        f"{line}: import {name}"
        for line, name in imported(tree)
        if name.partition(".")[0] in _HIDDEN_MODULES
    ]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _called(node) in _HIDDEN_CALLS and ast.unparse(node.func) != "os.open":
            found.append(f"{node.lineno}: {ast.unparse(node.func)}()")
    return found


def _own_imports(source: str, package: str) -> list[str]:
    """What a module of the screen imports of ours beside values and its own layer."""
    allowed = {"screens": ("domain", "screens", "widgets"), "widgets": ("domain", "widgets")}
    return [
        f"{line}: {name}"
        for line, name in imported(ast.parse(source))
        if (name + ".").startswith("tui.") and (name + ".").split(".")[1] not in allowed[package]
    ]


def _loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _sins(paths: Iterable[Path], look: Callable[[str], list[Any]]) -> dict[str, list[Any]]:
    """Collect all that a check finds, by module."""
    found = {_name(path): look(path.read_text("utf-8")) for path in paths}
    return {name: sins for name, sins in found.items() if sins}


def test_everything_is_caught_only_where_the_list_says_so():
    found = _sins(MODULES, _broad_excepts)
    too_many = {
        name: lines for name, lines in found.items() if len(lines) > BROAD_EXCEPTS.get(name, 0)
    }
    assert too_many == {}, "name the errors, or tell why in BROAD_EXCEPTS"


def test_the_storage_layer_makes_its_system_calls_itself():
    assert _sins(STORAGE, _hidden_calls) == {}


def test_every_worker_has_a_name_for_what_is_not_done_when_it_fails():
    calls = [
        (path.name, node.lineno, {keyword.arg for keyword in node.keywords})
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _called(node) == "run_worker"
    ]
    assert len(calls) > 30
    assert [each for each in calls if not each[2] & {"name", "exit_on_error"}] == []


def test_every_screen_that_stands_over_another_answers_once():
    over = {"ModalScreen", "SystemModalScreen", "CommandPalette"}
    found = [
        (path.name, node.name)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for bases in [{each.partition("[")[0] for each in map(ast.unparse, node.bases)}]
        if bases & over and "Dialog" not in bases
    ]
    assert found == [("dialog.py", "Dialog")]


def _screen_modules() -> list[Path]:
    modules = [path for package in SCREEN for path in (PACKAGE / package).rglob("*.py")]
    return [path for path in modules if not _name(path).startswith(PRIVATE)]


def test_private_members_of_textual_and_rich_are_touched_in_two_places_only():
    assert _sins(_screen_modules(), touched_on_others) == {}


def test_no_widget_overrides_a_private_method_of_textual_or_takes_its_name():
    assert _shared_with_libraries(_screen_modules()) == {}


def test_of_the_libraries_of_models_only_the_public_interface_is_used():
    paths = sorted((PACKAGE / "providers").glob("*.py"))
    assert _sins(paths, touched_on_others) == {}
    assert _shared_with_libraries(paths) == {}


def _can_be_imported(name: str) -> bool:
    """False for a dialect whose library is an extra that is not installed."""
    try:
        import_module(name)
    except ImportError as error:
        if (error.name or "").startswith("tui"):
            raise
        return False
    return True


def _shared_with_libraries(paths: Iterable[Path]) -> dict[str, set[str]]:
    """The private names of classes that the libraries' classes below them have, too."""
    names = [
        _name(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in paths
    ]
    there = filter(_can_be_imported, names)
    found = {each.__qualname__: shared_with_library(each) for each in classes(there)}
    return {name: shared for name, shared in found.items() if shared}


@pytest.mark.parametrize("package", ["screens", "widgets"])
def test_screens_and_widgets_know_values_only(package: str):
    paths = sorted((PACKAGE / package).rglob("*.py"))
    assert _sins(paths, partial(_own_imports, package=package)) == {}


def test_the_command_line_loads_nothing_slow_and_the_package_not_even_its_version():
    loaded = _loaded_by("import tui.cli")
    assert "tui.cli" in loaded
    assert loaded & SLOW_LIBRARIES == set()
    assert "importlib.metadata" not in _loaded_by("import tui")


def _invoked(source: str) -> set[str]:
    """The commands that a module names: in a message, in an invocation, in a binding's action."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = {
        call.args[0].value
        for call in calls
        if _called(call) in {"CommandInvoked", "Invocation"}
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    return {str(name) for name in named} | set(re.findall(r"\binvoke\('([\w-]+)'", source))


class TestTheTables:
    """Every list that follows a table of commands, keys or providers agrees with it."""

    def test_each_command_and_each_screen_has_a_function(self):
        from tui.commands.registry import FUNCTIONS
        from tui.domain.commands import BY_NAME, REACHES

        assert {*REACHES} <= {*FUNCTIONS}
        for name in {*FUNCTIONS} - {*REACHES}:
            command, verb = name.split()[:2]
            assert verb in BY_NAME[command].verbs

    def test_keys_and_widgets_invoke_commands_of_the_table(self):
        from tui.domain.commands import REACHES

        named = {name for path in MODULES for name in _invoked(path.read_text("utf-8"))}
        assert {"new", "archive", "search-screen"} <= named
        assert named - {*REACHES} == set()

    def test_the_palette_offers_each_command_also_one_without_a_place_of_its_own(self):
        from tui.domain.commands import COMMANDS
        from tui.screens.palette import ACTIONS, with_the_rest

        offered = {action.command for action in ACTIONS if action.command}
        assert offered == {command.name for command in COMMANDS}
        (action,) = with_the_rest([], [], COMMANDS[:1])
        assert action.command == COMMANDS[0].name

    def test_each_key_has_a_place_of_its_own_in_the_line_of_keys(self):
        from tui.screens import keys

        for rows in ([*keys.APP, *keys.CHAT], keys.PICKER, keys.SEARCH):
            places = sorted(row.line for row in rows if row.line)
            assert places == [*range(1, len(places) + 1)]

    def test_each_provider_can_be_chosen_by_its_row_alone(self):
        from msgspec.structs import replace

        from tui.config.loading import load_settings
        from tui.config.settings_schema import Config
        from tui.domain.providers import KNOWN_SERVERS, PROVIDERS
        from tui.providers.catalog import Catalog

        assert {*KNOWN_SERVERS} == {*PROVIDERS} - {"offline"}
        about = msgspec.json.schema(Config)["$defs"]["Config"]["properties"]["providers"]
        settings = load_settings(Path("/none/config.toml"), {})
        for name in KNOWN_SERVERS:
            row = PROVIDERS[name]
            # The dialect of OpenAI is that of its address.
            spoken = "responses" if name == "openai" else row.dialect
            assert Catalog(settings, {}).provider(name) == replace(row, dialect=spoken)
            assert row.base_url or row.lacks_address or row.dialect == "bedrock"
            assert row.title
            assert name in about["description"]
            # A vendor is chosen unasked by its key, so it needs a default model.
            assert not row.needs_key or (row.key_variable and (row.models or row.lacks_address))

    def test_letters_in_the_sidebar_belong_to_its_rows(self):
        from textual.binding import Binding

        from tui.widgets.keys import SIDEBAR, SIDEBAR_ROW_ACTIONS

        letters = {
            binding.action.partition("(")[0]
            for binding in Binding.make_bindings(SIDEBAR)
            if len(binding.key) == 1
        }
        assert letters
        assert letters <= SIDEBAR_ROW_ACTIONS


@each_row(
    "look, sins",
    [
        (
            _broad_excepts,
            [
                "try: pass\nexcept: pass",
                "try: pass\nexcept Exception as error: pass",
                "try: pass\nexcept (OSError, BaseException): pass",
                "import builtins\ntry: pass\nexcept builtins.Exception: pass",
                "try: pass\nexcept Exception:\n    if x: raise",
                "def f():\n  try: pass\n  except Exception:\n    if x: return\n    raise",
                "import contextlib\nwith contextlib.suppress(Exception): pass",
            ],
        ),
        (
            _hidden_calls,
            ["open('a')", "path.open('a')", "path.write_text('a')", "Path('a').read_bytes()",
             "import io", "from shutil import move"],
        ),
        (
            touched_on_others,
            ["from textual._xterm_parser import XTermParser", "import rich._cell_widths",
             "from textual.document import _wrapped_document", "app._filters", "super()._watch()"],
        ),
        (
            partial(_own_imports, package="widgets"),
            ["import tui", "import tui.engine", "from tui import storage",
             "from tui.screens import chat"],
        ),
    ],
)  # fmt: skip
def test_a_check_finds_each_of_its_sins(look, sins):
    assert [len(look(sin)) for sin in sins] == [1] * len(sins)


@each_row(
    "look, fine",
    [
        (_broad_excepts, "try: pass\nexcept (OSError, ValueError): pass"),
        (_broad_excepts, "try: pass\nexcept BaseException:\n    tidy_up()\n    raise"),
        (_hidden_calls, "import os\nos.open(path, os.O_RDONLY)"),
        (touched_on_others, "self._rows = row._replace(text='')"),
    ],
)
def test_a_check_passes_what_is_none(look, fine):
    assert look(fine) == []


def test_a_private_name_that_textual_has_as_well_is_found():
    from textual.widget import Widget

    class Sinner(Widget):
        def _size_updated(self):
            self._size = self._mine = 1

    assert shared_with_library(Sinner) == {"_size_updated", "_size"}


class TestTheGuard:
    """What conftest.py promises to every other test."""

    def test_every_place_of_the_user_lies_in_the_tests_own_home(self, private_home: Path):
        import platformdirs

        own = platformdirs.PlatformDirs("sibyl")
        for place in (Path.home(), own.user_data_path, own.user_config_path, own.user_state_path):
            assert place.is_relative_to(private_home)

    def test_no_key_and_no_server_of_the_developer_is_seen(self):
        servers = {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"}
        seen = {name for name in os.environ if name in servers or name.endswith("_API_KEY")}
        assert seen == set()

    def test_a_child_process_has_the_same_home(self, private_home: Path):
        code = "import pathlib; print(pathlib.Path.home())"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == str(private_home)

    def test_the_network_is_refused(self, refusals: list[str]):
        with pytest.raises(RuntimeError, match="network"):
            socket.getaddrinfo("example.invalid", 443)
        # An address that is set aside for documentation.
        with socket.socket() as plain, pytest.raises(RuntimeError, match="network"):
            plain.connect(("192.0.2.1", 443))
        assert len(refusals) == 2
        refusals.clear()

    def test_a_server_on_this_machine_is_reached(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(("localhost", server.getsockname()[1])).close()

    def test_the_real_home_is_refused(self, refusals: list[str]):
        for directory in os.environ["TUI_TESTS_GUARDED"].split(os.pathsep):
            with pytest.raises(RuntimeError, match="real home"):
                os.open(f"{directory}/scopes.jsonl", os.O_RDONLY)
            with pytest.raises(RuntimeError, match="real home"):
                os.mkdir(f"{directory}/sessions")
        assert refusals
        refusals.clear()
