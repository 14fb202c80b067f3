"""Automatic imports: of the chosen programs, by a real process."""

import subprocess
import sys
from functools import partial

import pytest

from tests.importers.written import write_session
from tui.app.session_imports import _CODE, AutomaticImports
from tui.domain.views.notice import Notice
from tui.storage import locks, state_files
from tui.storage.file_store import FileStore
from tui.storage.folders import Folders
from tui.storage.protocol import SessionFilter

ARCHIVED = SessionFilter(statuses=frozenset({"archived"}))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def root(home):
    return home / "data"


@pytest.fixture
def imports(home, root):
    """Makes those of one window; with other arguments, of another one."""
    flags = ["--data-dir", str(root)]
    return partial(
        AutomaticImports, root, str(root), flags, configured=(), state_file=home / "ui.json"
    )


def test_what_is_new_of_the_chosen_program_comes_in_and_is_counted(imports, home, root):
    write_session(home, 1, "Hello", "Hi")
    write_session(home, 2, "And you?")
    assert imports().run() == (False, ())
    assert not root.exists()
    imports().choose(["claude-code"])
    # Another window, or a later run.
    assert imports().run() == (True, [Notice("2 new sessions from Claude Code")])
    assert FileStore(root).count(ARCHIVED) == 2
    assert imports().run() == (False, [])


def test_what_has_grown_comes_in_without_a_word(imports, home):
    write_session(home, 1, "Hello")
    configured = imports(configured=("claude-code",))
    configured.run()
    write_session(home, 1, "Hi")
    assert configured.run() == (True, [])


def test_the_choice_is_kept_for_one_store_beside_what_the_screen_remembers(imports, home, root):
    state_files.change_ui_state(home / "ui.json", {"theme": "nord"})
    imports().choose(["codex", "claude-code"])
    assert imports(configured=("pi", "codex")).programs() == ("pi", "codex", "claude-code")
    server = AutomaticImports(root, "postgresql://db/sibyl", [], (), home / "ui.json")
    assert server.programs() == ()
    imports().choose([])
    assert imports().programs() == ()
    assert state_files.read_ui_state(home / "ui.json").theme == "nord"


def test_nothing_is_done_while_another_window_imports(imports, home, root):
    write_session(home, 1, "Hello")
    configured = imports(configured=("claude-code",))
    with locks.if_free(Folders(root).imports_lock) as is_free:
        assert is_free
        assert configured.run() == (False, ())
    assert configured.run()[0]


def test_what_is_wrong_is_told_once_and_again_when_it_comes_back(imports, home):
    file = write_session(home, 1, "Hello")
    text = file.read_text()
    configured = imports(configured=("claude-code",))
    told = []
    for content in ("no JSON\n", "no JSON\n", text, "no JSON\n"):
        file.write_text(content)
        told.append([each.text for each in configured.run()[1]])
    wrong = f"Not imported: {file}: Nothing in it could be read"
    assert told[0][0].startswith(wrong)
    assert told[1:] == [[], ["1 new session from Claude Code"], told[0]]


def test_why_nothing_could_be_imported_is_told(imports, root):
    root.write_text("not a directory")
    (notice,) = imports(configured=("claude-code",)).run()[1]
    assert notice.text.startswith("Not imported: Cannot write ")
    root.unlink()
    (notice,) = imports(configured=("nobody",)).run()[1]
    assert notice.text == "Not imported: exit code 2. To see why: sibyl-tui import --from nobody"


def test_the_process_has_the_lowest_priority():
    code = _CODE.replace("runpy.run_module", "dict.fromkeys").replace(", run_name='__main__'", "")
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(os.nice(0))"], stdout=-1, text=True
    )
    assert done.stdout.split()[-1] == "19"
