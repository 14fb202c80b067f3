"""Files offered behind an ``@``: asked for once, found at each key."""

from textual.events import Key

from tests.waiting import until
from tui.domain.completion import FileListing, FileNames
from tui.widgets.prompt import Prompt

FILES = FileListing(
    "", FileNames(["src/", "src/main.py", "src/prompt.py", "my file.txt", "my notes/"])
)
HOSTILE = "[b]x[/b]\u202e"


def wanted(app):
    return [event.folder for event in app.posted if isinstance(event, Prompt.FilesWanted)]


async def test_an_at_sign_asks_for_the_files_once_and_offers_them_when_they_are_there(running):
    async with running() as (app, pilot):
        await pilot.press(*"see @s")
        await until(lambda: wanted(app) == [""])
        assert app.offered == []
        app.prompt.show_files(FILES)
        await until(lambda: "src/" in "".join(app.offered))
        await pilot.press("r")
        assert wanted(app) == [""]


async def test_tab_takes_the_only_one_and_a_blank_follows(running):
    async with running() as (app, pilot):
        await pilot.press(*"see @prom")
        app.prompt.show_files(FILES)
        await pilot.press("tab", "!")
        assert app.prompt.text == "see @src/prompt.py !"


async def test_a_folder_goes_on_with_what_is_in_it(running):
    async with running() as (app, pilot):
        await pilot.press(*"@src")
        app.prompt.show_files(FILES)
        await pilot.press("down", "enter")
        assert app.prompt.text == "@src/"
        await until(lambda: len(app.offered) == 2)
        await pilot.press("down", "enter")
        assert app.prompt.text == "@src/main.py "
        assert app.submitted == []


async def test_only_the_reference_at_the_caret_is_completed(running):
    async with running() as (app, pilot):
        await pilot.press(*"a  b", "left", "left", "@", *"main")
        app.prompt.show_files(FILES)
        await pilot.press("tab")
        assert app.prompt.text == "a @src/main.py b"


async def test_a_name_with_a_blank_is_quoted_and_a_folder_of_that_kind_goes_on(running):
    async with running() as (app, pilot):
        await pilot.press(*"@my")
        app.prompt.show_files(FILES)
        await pilot.press("up", "enter")
        assert app.prompt.text == '@"my notes/"'
        await until(lambda: "my notes/" in wanted(app))
        app.prompt.show_files(FileListing("my notes/", FileNames(["my notes/ä b"])))
        await until(lambda: app.offered)
        await pilot.press("tab", "x")
        assert app.prompt.text == '@"my notes/ä b" x'


async def test_keys_typed_at_once_complete_as_keys_typed_slowly(running):
    async with running() as (app, pilot):
        await pilot.press("@")
        app.prompt.show_files(FILES)
        for key in (*"prom", "tab", "x"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(lambda: app.prompt.text == "@src/prompt.py x")


async def test_undo_brings_back_what_was_typed(running):
    async with running() as (app, pilot):
        await pilot.press(*"@prom")
        app.prompt.show_files(FILES)
        await pilot.press("tab", "ctrl+z")
        assert app.prompt.text == "@prom"


async def test_an_address_and_a_command_are_no_reference(running):
    async with running() as (app, pilot):
        await pilot.press(*"me@example.org", "f7", "backspace", *"/load @s")
        assert wanted(app) == []


async def test_files_that_come_late_open_nothing(running):
    async with running() as (app, pilot):
        await pilot.press(*"@s")
        app.set_focus(None)
        app.prompt.show_files(FILES)
        await pilot.pause()
        assert app.offered == []
        app.prompt.focus()
        app.prompt.set_text("@s")
        app.prompt.show_files(FILES)
        await pilot.pause()
        assert app.offered == []


async def test_names_are_neither_obeyed_nor_markup(running):
    async with running() as (app, pilot):
        await pilot.press("@")
        app.prompt.show_files(FileListing("", FileNames([HOSTILE])))
        await until(lambda: app.offered)
        assert "b]<U+202E>  [b]x[/" in app.offered[0]
        assert "\u202e" not in "".join(app.screen_lines)
