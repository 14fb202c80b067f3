"""Nothing is imported before the first screen that it does not need."""

import json
import subprocess
import sys

import pytest

from tests.tables import each_row

# Each costs more than a tenth of the start, or brings something along that does; of our own modules
# each takes a part of a millisecond, and there are many.
NOT_YET = {
    *("click", "email", "genai_prices", "http.client", "httpx", "httpx2", "logging.handlers"),
    *("markdown_it", "mcp", "psycopg", "pydantic", "pygments", "rich.markdown", "rich.syntax"),
    *("shtab", "sqlite3", "tomllib", "tree_sitter", "urllib.request", "wcwidth"),
    *("tui.app.controllers.external_editor", "tui.app.controllers.find"),
    *("tui.app.controllers.message_actions", "tui.app.controllers.model_picker"),
    "tui.app.controllers.session_picker",
    *("tui.cli.ask", "tui.cli.debug_log", "tui.cli.sessions"),
    *("tui.commands.registry", "tui.commands.shell"),
    *("tui.domain.search.query", "tui.domain.search.search_results"),
    *("tui.engine.imports", "tui.engine.library.session_moves", "tui.engine.model_lists"),
    *("tui.engine.provider_connections", "tui.engine.usage"),
    "tui.importers",
    "tui.providers.listed_models",
    *("tui.screens.dialog", "tui.screens.models", "tui.screens.page", "tui.screens.palette"),
    "tui.screens.search",
    *("tui.storage.connections", "tui.storage.doctor", "tui.storage.index.child"),
    *("tui.storage.index.search_index", "tui.storage.pruning"),
    "tui.tool_servers",
}

_SCRIPT = """
import json, sys
from tui import cli
from tui.cli import console, screen

console.is_terminal = lambda stream: True

def first_screen_is_there(self):
    from textual.constants import MAX_FPS
    print(json.dumps([f"{MAX_FPS} frames a second", *sorted(sys.modules)]), flush=True)
    self.exit()

before_the_application = screen.paint_often

def paint_often():
    before_the_application()
    from tui.app import app
    app.SibylApp._begin_what_is_slow = first_screen_is_there
    run = app.SibylApp.run_async
    app.SibylApp.run_async = lambda self: run(self, headless=True)

screen.paint_often = paint_often
sys.exit(cli.run(sys.argv[1:]))
"""


def loaded_by(*arguments):
    """The modules that the program has loaded when its first screen has been painted."""
    command = [sys.executable, "-c", _SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[0]))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return loaded_by("--data-dir", str(tmp_path_factory.mktemp("data")))


def test_it_paints_90_times_a_second_so_that_a_key_beside_an_answer_waits_little(loaded):
    assert {"textual.app", "tui.app.app", "tui.widgets.transcript"} <= loaded
    assert "90 frames a second" in loaded


@each_row("name", sorted(NOT_YET))
def test_it_is_not_loaded_at_first_paint(loaded, name):
    assert not [module for module in loaded if module == name or module.startswith(f"{name}.")]


def test_a_server_that_keeps_the_sessions_is_not_asked_before_the_first_screen(tmp_path):
    # Nothing listens at this port: whoever asked there would say so.
    loaded = loaded_by("--data-dir", str(tmp_path), "--store", "postgresql://127.0.0.1:1/sibyl")
    assert "tui.storage.postgres.store" in loaded
    assert not {"psycopg", "psycopg_binary"} & loaded


def test_nothing_of_a_server_is_loaded_without_one(loaded):
    assert not [module for module in loaded if module.startswith("tui.storage.postgres")]
