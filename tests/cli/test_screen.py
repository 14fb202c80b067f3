"""How the command line puts the full screen together; how it looks is in tests/ui."""

import pytest

import tui.app.app
from tests.failing import raiser
from tui.cli import console, screen


@pytest.fixture
def shown(monkeypatch):
    """What the screen is given; ``work`` is what its user does."""

    class Screen:
        parts = None
        return_code = None

        def __init__(self, parts):
            shown.parts = parts
            self.return_code = shown.return_code

        async def run_async(self):
            shown.work(shown.parts.workspace)

        @staticmethod
        def work(workspace):
            """Nothing."""

        @property
        def notices(self):
            return [notice.text for notice in self.parts.workspace.current.notices]

    shown = Screen.__new__(Screen)
    monkeypatch.setattr(tui.app.app, "SibylApp", Screen)
    monkeypatch.setattr(console, "is_terminal", lambda _: True)
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    return shown


def test_without_arguments_a_new_session_is_begun_and_stays_empty(sibyl, saved, shown):
    old = saved("hello")
    assert sibyl().code == 0
    assert shown.parts.workspace.current.id != old
    assert (shown.notices, shown.parts.first_command) == ([], "")
    assert sibyl("-r").code == 0
    assert shown.parts.first_command == "sessions"


@pytest.mark.parametrize("how", [["--session", "hello"], ["-r", "hello"], ["--continue"], ["-c"]])
def test_an_earlier_session_is_gone_on_with_and_told_only_that_no_model_is_there(
    sibyl, saved, store, shown, how
):
    session_id = saved("hello", name="hello")
    store.set_active("mine", session_id)
    scope = "project:/shop" if "hello" in how else "mine"
    assert sibyl(*how, "--scope", scope).code == 0
    assert shown.parts.workspace.current.id == session_id
    assert shown.notices == [screen._NO_MODEL]


@pytest.mark.parametrize(("flags", "mark"), [([], ""), (["--store", ""], "LOCAL FILES")])
def test_files_that_were_chosen_instead_of_a_server_are_marked_for_as_long_as_it_runs(
    sibyl, shown, flags, mark
):
    assert sibyl("--model", "offline:guide", *flags).code == 0
    assert shown.parts.store_mark == mark


def test_an_archive_that_cannot_be_used_is_reported_on_the_screen(sibyl, saved, data, shown):
    saved("hello")
    (data / "archive").rmdir()
    (data / "archive").touch()
    assert sibyl("--model", "offline:guide").code == 0
    assert shown.notices == [
        f"The archive cannot be used: {data}/archive is not a directory; move it away."
    ]


def test_a_debug_log_that_cannot_be_written_is_reported_on_the_screen(sibyl, tmp_path, shown):
    place = tmp_path / "missing" / "debug.log"
    result = sibyl("--model", "offline:guide", f"--debug={place}")
    words = f"The debug log {place} cannot be written: No such file or directory."
    assert (result.code, shown.notices) == (0, [words])
    assert result.err.splitlines()[-1] == words


def test_a_session_that_is_not_there_shows_no_screen(sibyl, shown):
    assert sibyl("--session", "nosuch").code == 2
    assert shown.parts is None


def test_settings_and_flags_reach_the_screen(sibyl, shown, data, config):
    config.write_text('theme = "nord"\nexclusive_projects = true\n[keys]\nnew = "f9"\n', "utf-8")
    assert sibyl("--auto-save-interval", "7").code == 0
    parts = shown.parts
    assert (parts.auto_save_interval, parts.exclusive_projects) == (7, True)
    assert (parts.appearance.theme, parts.appearance.keys) == ("nord", {"new": "f9"})
    assert parts.appearance.source == str(config)
    assert parts.index_root == data


def test_what_the_screen_left_unsaved_is_saved_and_told(sibyl, store, shown, data):
    shown.work = lambda workspace: workspace.current.opened.add_message("user", "the last words")
    shown.return_code = 143
    done = sibyl()
    assert done.code == 143
    session_id = shown.parts.workspace.current.id
    assert done.err == f"Resume with: sibyl-tui --session {session_id} --data-dir {data}\n"
    assert [message.text for message in store.journal(session_id).load().loaded_messages] == [
        "the last words"
    ]


@pytest.fixture
def resumed(sibyl, shown):
    """Says something in the screen, and gives what would be typed to go on with it."""

    def leave(*flags, then=lambda _: None):
        def work(workspace):
            workspace.current.opened.add_message("user", "hello")
            then(workspace)

        shown.work = work
        line = sibyl(*flags).err.splitlines()[-1]
        start = f"Resume with: sibyl-tui --session {shown.parts.workspace.current.id} "
        assert line.startswith(start)
        return line.removeprefix(start)

    return leave


def test_the_line_that_resumes_names_the_model_that_was_asked_for_and_still_answers(
    resumed, shown, data
):
    def switch(workspace):
        workspace.current.model = shown.parts.models.named("offline:guide")

    assert resumed() == f"--data-dir {data}"
    assert resumed("--model", "openai:a b") == f"--data-dir {data} --model 'openai:a b'"
    assert resumed("--model", "offline") == f"--data-dir {data} --model offline"
    assert resumed("--model", "openai:gpt-x", then=switch) == f"--data-dir {data}"


@pytest.mark.parametrize("how", [[], ["--session", "hello"]])
def test_a_defect_before_anything_was_said_tells_of_nothing_that_was_saved(
    sibyl, saved, shown, capsys, how
):
    saved("hello", name="hello")
    shown.work = raiser(RuntimeError)
    with pytest.raises(RuntimeError):
        sibyl("--scope", "project:/shop", *how)
    assert "saved" not in capsys.readouterr().err
