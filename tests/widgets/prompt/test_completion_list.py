"""The list over the prompt: commands, and files behind an ``@``, which are asked for once."""

from textual import events

from tests.waiting import until
from tui.domain.commands import COMMANDS
from tui.domain.completion import FileListing, FileNames, Target, completions
from tui.widgets.prompt import Prompt

FIRST = Target("session-20260111-153022-847291", "Auth bug")
SECOND = Target("session-20260112-090000-000001", "会話の検索")


async def test_typing_a_command_offers_it_with_its_help_and_tab_completes_it(app, pilot):
    await pilot.press(*"/lo")
    await until(lambda: len(app.offered) == 1)
    assert "/load [NAME, NUMBER or ID]" in app.offered[0]
    assert "open a session" in app.offered[0]
    await pilot.press("tab")
    assert app.prompt.text == "/load "
    await until(lambda: app.edited[-1:] == ["/load "])


async def test_eight_rows_stand_above_the_prompt_say_how_many_more_there_are_and_follow(app, pilot):
    region = app.prompt.region
    await pilot.press("slash")
    await until(lambda: len(app.offered) == 9)
    assert app.prompt.region == region
    assert app.query_one("CompletionList").region.bottom == region.y
    assert app.query_one("#top").region.bottom == region.y
    assert [row.split()[0] for row in app.offered[:3]] == ["/new", "/sessions", "/model"]
    assert app.offered[-1].split() == ["+", str(len(COMMANDS) - 8), "more"]
    await pilot.press("up")
    await until(lambda: "> " in "".join(app.offered))
    assert f"> /{COMMANDS[-1].name}" in app.offered[7]
    assert "more" not in "".join(app.offered[8:])
    app.set_focus(None)
    await until(lambda: not app.offered)


async def test_tab_goes_as_far_as_all_agree_and_enter_takes_what_was_moved_to(app, pilot):
    app.prompt.offers.targets = [FIRST, SECOND]
    app.prompt.offers.models = ["anthropic:opus", "openai:mini"]
    await pilot.press(*"/load s", "tab")
    assert app.prompt.text == "/load session-2026011"
    await pilot.press("tab", "tab")
    assert app.prompt.text == f"/load {FIRST.id}"
    app.prompt.set_text("")
    await pilot.press(*"/load ", "down", "down", "enter")
    assert app.prompt.text == f"/load {SECOND.id}"
    assert app.submitted == []
    await pilot.press("enter")
    await until(lambda: app.submitted == [f"/load {SECOND.id}"])
    # By words of its label.
    await pilot.press(*"/load 検索")
    await until(lambda: len(app.offered) == 1)
    assert "会話の検索" in app.offered[0]
    await pilot.press("tab")
    assert app.prompt.text == f"/load {SECOND.id}"
    app.prompt.set_text("")
    await pilot.press(*"/model min", "tab")
    assert app.prompt.text == "/model openai:mini"


async def test_a_click_takes_a_row_and_keys_typed_at_once_complete_as_keys_typed_slowly(app, pilot):
    await pilot.press(*"/s")
    await until(lambda: len(app.offered) == len(completions("/s")))
    await pilot.click("CompletionList", offset=(5, 4))
    await until(lambda: app.prompt.text == "/save")
    app.prompt.set_text("")
    for key in (*"/mo", "tab", "x"):
        app.post_message(events.Key(key, key if len(key) == 1 else None))
    await until(lambda: app.prompt.text == "/model x")


async def test_enter_sends_what_was_typed_unless_a_choice_stands_and_escape_closes_first(
    app, pilot
):
    await pilot.press(*"/lo", "enter")
    await until(lambda: app.submitted == ["/lo"])
    await until(lambda: not app.offered)
    # Typing on forgets the choice.
    await pilot.press("slash", "down", "s", "enter")
    await until(lambda: app.submitted == ["/lo", "/s"])
    await pilot.press(*"/s", "escape")
    await until(lambda: not app.offered)
    assert app.pressed == []
    await pilot.press("escape")
    await until(lambda: app.pressed == ["escape"])
    assert app.prompt.text == "/s"


async def test_an_ordinary_text_or_one_that_is_set_opens_no_list_and_keeps_its_keys(app, pilot):
    app.history = ["earlier"]
    for text in ("hello", "//load", "/etc/", "say /load", "/a1"):
        await pilot.press(*text, "up")
        assert app.offered == []
        assert app.prompt.text == "earlier"
        app.prompt.set_text("")
    app.prompt.set_text("/lo")
    await pilot.press("tab")
    assert app.prompt.text == "/lo"


async def test_where_it_is_narrow_what_a_command_does_is_told_before_what_it_takes(app, pilot):
    await pilot.press("slash")
    await until(lambda: app.offered)
    assert ["/new", "start", "a", "new"] in [row.split()[:4] for row in app.offered]
    await pilot.resize_terminal(110, 20)
    wide = ["/new", "[NAME]", "start", "a"]
    await until(lambda: wide in [row.split()[:4] for row in app.offered])


async def test_labels_and_names_are_neither_obeyed_nor_markup_and_long_ones_are_cut(app, pilot):
    app.prompt.offers.targets = [Target("a-1", "[b]x[/b] \x1b[2J\x9b\u202e" + "会" * 60)]
    app.prompt.offers.models = ["mmm\x1b]0;t\x07" + "m" * 100]
    await pilot.press(*"/load a")
    await until(lambda: app.offered)
    assert "[b]x[/b] ␛[2J<U+009B><U+202E>会" in app.offered[0]
    assert len(app.offered) == 1
    await pilot.press("f7", "backspace", *"/model ")
    await until(lambda: "mmm" in "".join(app.offered))
    assert "m…" in app.offered[0]
    assert not set("\x1b\x9b\u202e\x07") & set("".join(app.screen_lines))
    await pilot.press("f7", "backspace", "@")
    app.prompt.show_files(FileListing("", FileNames(["[b]x[/b]\u202e"])))
    await until(lambda: "U+202E" in "".join(app.offered))
    assert "b]<U+202E>  [b]x[/" in app.offered[0]
    assert not set("\x1b\x9b\u202e\x07") & set("".join(app.screen_lines))


FILES = FileListing(
    "", FileNames(["src/", "src/main.py", "src/prompt.py", "my file.txt", "my notes/"])
)


def wanted(app):
    return [event.folder for event in app.posted if isinstance(event, Prompt.FilesWanted)]


async def test_an_at_sign_asks_for_the_files_once_and_tab_takes_the_only_one(app, pilot):
    await pilot.press(*"me@example.org", "f7", "backspace", *"/load @s", "f7", "backspace")
    assert wanted(app) == []
    await pilot.press(*"see @p")
    await until(lambda: wanted(app) == [""])
    assert app.offered == []
    app.prompt.show_files(FILES)
    await until(lambda: "src/" in "".join(app.offered))
    await pilot.press(*"rom")
    assert wanted(app) == [""]
    await pilot.press("tab", "!")
    assert app.prompt.text == "see @src/prompt.py !"
    await pilot.press("backspace", "ctrl+z", "ctrl+z", "ctrl+z")
    assert app.prompt.text == "see @prom"


async def test_a_folder_goes_on_with_what_is_in_it_and_a_name_with_a_blank_is_quoted(app, pilot):
    await pilot.press(*"@src")
    app.prompt.show_files(FILES)
    await pilot.press("down", "enter")
    assert app.prompt.text == "@src/"
    await until(lambda: len(app.offered) == 2)
    await pilot.press("down", "enter")
    assert app.prompt.text == "@src/main.py "
    # Only the reference at the caret is completed.
    app.prompt.set_text("")
    await pilot.press(*"a  b", "left", "left", "@", *"main")
    app.prompt.show_files(FILES)
    await pilot.press("tab")
    assert app.prompt.text == "a @src/main.py b"
    app.prompt.set_text("")
    await pilot.press(*"@my")
    app.prompt.show_files(FILES)
    await pilot.press("up", "enter")
    assert app.prompt.text == '@"my notes/"'
    await until(lambda: "my notes/" in wanted(app))
    app.prompt.show_files(FileListing("my notes/", FileNames(["my notes/ä b"])))
    await until(lambda: app.offered)
    await pilot.press("tab", "x")
    assert app.prompt.text == '@"my notes/ä b" x'
    assert app.submitted == []


async def test_files_that_come_late_open_nothing(app, pilot):
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
