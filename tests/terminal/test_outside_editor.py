"""The prompt in the user's own editor, on a terminal of its own."""

import math
import os
import signal
import stat
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import shared
from tests.terminal.endings import assert_whole, quit_at_once
from tui.app.controllers.external_editor import ExternalEditor

pytestmark = pytest.mark.full

READ_ONLY_BY_US = 0o600


@pytest.fixture
def editor(tmp_path):
    """Makes an editor of some lines of shell; ``$1`` is the file, ``$OUT`` a place to write to."""

    def make(script):
        path = tmp_path / "my editor"
        path.write_text(f'#!/bin/sh\nOUT="{tmp_path}"\n{script}\n', "utf-8")
        path.chmod(0o700)
        return {"VISUAL": f'"{path}" -x', "EDITOR": None}

    return make


def opened(chats, environment, typed="kept"):
    """The program after F4, with a text in its prompt."""
    program = chats.altered("", environment=environment)
    program.type(typed)
    program.press("f4")
    return program


def until_there(program, path):
    program.until(lambda _: path.exists(), path.name)


def goes_on(program, text):
    """What is typed stands behind what is in the prompt."""
    program.type("!")
    program.until(f"{text}!")
    leave(program)


def leave(program):
    assert quit_at_once(program) == 0
    assert_whole(program)


@pytest.mark.fast
def test_what_the_editor_writes_is_the_prompt_and_its_file_is_private_and_gone(
    chats, editor, tmp_path
):
    script = (
        'echo "$1" > "$OUT/option"; echo "$2" > "$OUT/name"; cp -p "$2" "$OUT/copy"; '
        'echo 二つ目 >> "$2"; stat -c %a "$(dirname "$2")" > "$OUT/mode"'
    )
    program = opened(chats, editor(script), "first")
    program.until("二つ目")
    assert (tmp_path / "option").read_text() == "-x\n"
    assert (tmp_path / "copy").read_text() == "first"
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == READ_ONLY_BY_US
    assert (tmp_path / "mode").read_text().strip() == "700"
    name = (tmp_path / "name").read_text().strip()
    assert not os.path.exists(os.path.dirname(name))
    program.type("!")
    program.until("二つ目!|二つ目.*!")
    assert program.is_alternate
    leave(program)


def test_the_editor_has_the_terminal_as_it_was_and_leaves_it_as_it_likes(chats, editor):
    script = 'printf "name: "; read -r name; echo "typed $name" > "$2"; stty raw -echo'
    program = opened(chats, editor(script), "x")
    program.until("name:")
    assert not program.is_alternate
    program.type("外\r")
    program.until("typed 外")
    program.type(" more")
    program.until("typed 外 more")
    leave(program)


def test_an_answer_goes_on_meanwhile(chats, editor):
    program = chats.altered("finite", environment=editor('printf "busy "; read -r go; echo > "$2"'))
    program.type("A question\r")
    program.until("w0")
    program.press("f4")
    program.until("busy")
    program.until(lambda _: chats.said()[-1][1].rstrip().endswith("w29"), "the end of the answer")
    program.type("\r")
    program.until("w29")
    leave(program)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"VISUAL": None, "EDITOR": None}, "No editor: set"),
        ({"VISUAL": "nosuch --wait", "EDITOR": None}, "Editor not found: nosuch"),
        ({"VISUAL": "'open", "EDITOR": None}, "Cannot read"),
        ('echo gone > "$2"; exit 3', "The editor failed with exit code 3"),
        (b"\x7fELF no program", "Cannot start the editor"),
    ],
)
def test_an_editor_that_is_missing_or_fails_changes_nothing_and_is_told(
    chats, editor, tmp_path, environment, told
):
    if not isinstance(environment, dict):
        script, environment = environment, editor(environment)
        if isinstance(script, bytes):
            (tmp_path / "my editor").write_bytes(script)
    program = opened(chats, environment)
    program.until(told)
    program.until(lambda it: "kept" in it.text and "gone" not in it.text)
    goes_on(program, "kept")


def test_line_ends_of_another_system_are_not_taken_over(chats, editor):
    program = opened(chats, editor("printf ' one\\r\\ntwo\\r\\n' >> \"$2\""))
    program.until("two")
    assert "\u240d" not in program.text
    goes_on(program, "two")


@pytest.mark.parametrize(("seconds", "told"), [(math.inf, 1), (0.0, 0)])
async def test_an_editor_that_ends_at_once_may_still_be_open(monkeypatch, seconds, told):
    async def changes_nothing(*_):
        return "", "text"

    said = []
    app, queue = SimpleNamespace(call_later=lambda _: None), SimpleNamespace(take_back=None)
    monkeypatch.setattr(ExternalEditor, "_run", changes_nothing)
    presenter = SimpleNamespace(say=lambda words, _: said.append(words))
    editor = ExternalEditor(*shared(app=app, queue=queue, presenter=presenter))
    monkeypatch.setattr("tui.app.controllers.external_editor.SECONDS_TO_LOOK", seconds)
    await editor._edit([], None, "text")
    assert ["must wait" in words for words in said] == [True] * told


def test_keys_typed_behind_the_key_come_after_what_the_editor_wrote(chats, editor):
    program = chats.altered("", environment=editor('printf " edited" >> "$2"'))
    program.type("abc\x1bOSdef")
    program.until("abc edited")
    goes_on(program, "abc edited(def)?")


def test_ctrl_c_is_the_editors(chats, editor):
    # One long sleep could begin between the signal and the trap, which waits for its end.
    wait = "while :; do sleep 0.1; done"
    script = f'trap "echo interrupted > \\"$2\\"; exit 0" INT; printf "busy "; {wait}'
    program = chats.altered("", environment=editor(script))
    program.press("f4")
    program.until("busy")
    program.type("\x03")
    program.until("interrupted")
    goes_on(program, "interrupted")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "script", ["exec sleep 600", "trap '' TERM HUP; stty raw; exec sleep 600"], ids=["", "deaf"]
)
def test_the_program_ends_in_order_and_what_was_written_is_kept(
    chats, editor, tmp_path, number, script
):
    program = chats.altered(
        "", environment=editor(f'echo " more" >> "$2"; : > "$OUT/go"; {script}')
    )
    program.type("some")
    program.press("f4")
    until_there(program, tmp_path / "go")
    program.signal(number)
    assert program.wait() == 128 + number
    assert_whole(program)
    (draft,) = (chats.root / "drafts").iterdir()
    assert '"some more"' in draft.read_text("utf-8")


@pytest.mark.parametrize(
    ("left", "told"),
    [
        pytest.param(
            'rm "$2"; mkfifo "$2"', "it is a pipe, not a regular file", marks=pytest.mark.fast
        ),
        ('rm "$2"; ln -s /dev/zero "$2"', "Too many levels of symbolic links"),
        ('truncate -s 3G "$2"', "it is larger than 8 MiB"),
        ('rm "$2"; mkdir "$2"', "it is a directory, not a regular file"),
    ],
)
def test_what_is_no_text_is_not_read_and_the_prompt_stays(chats, editor, left, told):
    program = opened(chats, editor(left), "some")
    program.until(told.partition(",")[0])
    goes_on(program, "some")


@pytest.mark.parametrize("typed", ["", pytest.param("some", marks=pytest.mark.fast)])
def test_what_an_editor_wrote_before_a_kill_is_offered_by_the_next_start(
    chats, editor, tmp_path, typed
):
    script = 'printf " more" >> "$2"; : > "$OUT/go"; exec sleep 600'
    program = chats.altered("", environment=editor(script))
    program.type(typed)
    program.press("f4")
    until_there(program, tmp_path / "go")
    (folder,) = (chats.root / "drafts").glob("*.edit")
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}
    program.signal(signal.SIGKILL)
    program.wait()
    program = chats.altered("", environment=editor(script))
    program.until(f"{typed} more")
    assert not list((chats.root / "drafts").glob("*.edit"))
    leave(program)
