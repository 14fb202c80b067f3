"""Text of other programs and of pastes that the system cannot take as a path or an argument."""

import json
import os
import sys
from pathlib import Path

import pytest
from textual import events

from tests.tables import each_row
from tests.ui.screen import notices, send, wait_for_answer
from tests.ui.world import World
from tests.waiting import until
from tui.app.controllers.prompt_files import _listing_of
from tui.app.session_imports import SessionImports
from tui.commands.viewers import _run
from tui.domain.references import words_in
from tui.engine.attachments import PromptPlace, attach, preview
from tui.errors import ConfigError
from tui.files import UnfitFile, read_bounded, system_text, user_path
from tui.importers.protocol import Places
from tui.importers.readers import reader
from tui.programs import output_of
from tui.providers.secret import key_from_file

ODD = ["/x\0y/z", "x\0y", "\0", "/x\ud800y/z", "\ud800", "~\0/a", "~nobody/\0", "\U0001f600\udbff/"]


@each_row("text", ODD)
def test_what_no_file_can_be_called_is_an_error_of_the_system(text):
    for take in (system_text, user_path, lambda odd: read_bounded(Path(odd), 10)):
        with pytest.raises(UnfitFile):
            take(text)


def test_bytes_that_are_not_utf_8_and_an_unknown_home_are_names(tmp_path):
    name = os.fsdecode(b"bad\xff")
    (tmp_path / name).write_text("here")
    assert read_bounded(user_path(str(tmp_path / name)), 10) == b"here"
    assert user_path("~no such user/x") == Path("~no such user/x")


@pytest.mark.parametrize("text", ODD)
def test_no_file_is_found_by_it(tmp_path, text):
    assert not _listing_of(str(tmp_path), text).names.matching("")
    assert not _listing_of(text, "").names.matching("")
    prompt = f'@{text}x/y.md @"{text}" @{text}'
    for folder in (tmp_path, Path(text)):
        place = PromptPlace(None, "s", [folder])
        assert preview(prompt, words_in(prompt), place).files == ()
        assert attach(prompt, words_in(prompt), place).content == prompt


@each_row("text", ODD)
def test_no_program_is_run_with_it(text):
    with pytest.raises(UnfitFile):
        output_of([sys.executable, text], 10, 5.0)
    assert "it has characters" in _run([sys.executable], text)


@pytest.mark.parametrize("text", ODD)
def test_other_programs_and_the_settings_may_name_it(tmp_path, text):
    imports = SessionImports(None, None, None, None)
    for look in (imports.take_own, lambda path: imports.find(path, None)):
        with pytest.raises(UnfitFile):
            look(text)
    found = tmp_path / ".local" / "share" / "crush" / "projects.json"
    found.parent.mkdir(parents=True)
    found.write_text(json.dumps([{"path": f"/{text}"}]))
    assert list(reader("crush").find(Places(tmp_path, {}))) == []
    with pytest.raises(ConfigError):
        key_from_file(Path(text), "config.toml", "key_file")


@pytest.mark.parametrize("odd", ["@/x\0y/z", "@/x\ud800y/z", '@"~\0/a"'])
async def test_the_screen_lives_with_it_under_the_caret(tmp_path, odd):
    w = World(tmp_path / "data", *[["fine"]] * 4)
    session_id = await w.session(odd)
    async with w.running(session_id) as (app, pilot):
        prompt = app.chat.prompt
        for sent, way in enumerate(["edit", "paste", "editor", "draft"], 1):
            match way:
                case "draft":
                    prompt.set_text(odd, own=words_in(odd))
                case "paste":
                    app.post_message(events.Paste(odd))
                case "edit":
                    await send(pilot, "/edit")
                case _:
                    prompt.replace_text(odd)
            await until(lambda: prompt.text == odd, "the text")
            await pilot.press("x", "backspace", "/", "backspace", "enter")
            if way == "draft":
                await until(lambda: "No such file" in notices(app), "the question")
                await pilot.press("enter")
            await until(lambda sent=sent: len(w.model.requests) == sent, "the request")
            await wait_for_answer(w)
