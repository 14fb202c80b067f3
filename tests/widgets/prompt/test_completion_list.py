"""The list over the prompt: opened by typing a command, and by nothing else."""

import pytest
from textual import events

from tests.waiting import until
from tui.domain.commands import COMMANDS
from tui.domain.completion import Target, completions

FIRST = Target("session-20260111-153022-847291", "Auth bug")
SECOND = Target("session-20260112-090000-000001", "会話の検索")


async def test_typing_a_command_offers_it_with_its_help(running):
    async with running() as (app, pilot):
        await pilot.press(*"/lo")
        await until(lambda: len(app.offered) == 1)
        assert "/load [NAME, NUMBER or ID]" in app.offered[0]
        assert "open a session" in app.offered[0]


async def test_the_list_stands_above_the_prompt_and_moves_nothing(running):
    async with running() as (app, pilot):
        region = app.prompt.region
        await pilot.press("slash")
        await until(lambda: len(app.offered) == 9)
        assert app.prompt.region == region
        assert app.query_one("CompletionList").region.bottom == region.y
        assert app.query_one("#top").region.bottom == region.y


async def test_the_list_shows_eight_rows_says_how_many_more_there_are_and_follows(running):
    async with running() as (app, pilot):
        await pilot.press("slash")
        await until(lambda: app.offered)
        assert len(app.offered) == 9
        assert [row.split()[0] for row in app.offered[:3]] == ["/new", "/sessions", "/model"]
        assert app.offered[-1].split() == ["+", str(len(COMMANDS) - 8), "more"]
        await pilot.press("up")
        await until(lambda: "> " in "".join(app.offered))
        assert f"> /{COMMANDS[-1].name}" in app.offered[7]
        assert "more" not in "".join(app.offered[8:])


async def test_tab_completes_what_there_is_only_one_of(running):
    async with running() as (app, pilot):
        await pilot.press(*"/mo", "tab")
        assert app.prompt.text == "/model "
        await until(lambda: app.edited[-1] == "/model ")


async def test_tab_goes_as_far_as_all_agree_then_chooses(running):
    async with running() as (app, pilot):
        app.prompt.offers.targets = [FIRST, SECOND]
        await pilot.press(*"/load s", "tab")
        assert app.prompt.text == "/load session-2026011"
        await pilot.press("tab", "tab")
        assert app.prompt.text == f"/load {FIRST.id}"


async def test_keys_typed_at_once_complete_as_keys_typed_slowly(running):
    async with running() as (app, _):
        for key in (*"/mo", "tab", "x"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(lambda: app.prompt.text == "/model x")


async def test_enter_takes_what_was_moved_to_and_then_sends(running):
    async with running() as (app, pilot):
        app.prompt.offers.targets = [FIRST, SECOND]
        await pilot.press(*"/load ", "down", "down", "enter")
        assert app.prompt.text == f"/load {SECOND.id}"
        assert app.submitted == []
        await pilot.press("enter")
        await until(lambda: app.submitted == [f"/load {SECOND.id}"])


async def test_enter_sends_a_half_typed_command_as_it_is_if_nothing_was_chosen(running):
    async with running() as (app, pilot):
        await pilot.press(*"/lo", "enter")
        await until(lambda: app.submitted == ["/lo"])
        await until(lambda: not app.offered)


async def test_typing_on_forgets_the_choice(running):
    async with running() as (app, pilot):
        await pilot.press("slash", "down", "s", "enter")
        await until(lambda: app.submitted == ["/s"])


async def test_escape_closes_the_list_and_then_goes_to_the_program(running):
    async with running() as (app, pilot):
        await pilot.press(*"/s", "escape")
        await until(lambda: not app.offered)
        assert app.pressed == []
        await pilot.press("escape")
        await until(lambda: app.pressed == ["escape"])
        assert app.prompt.text == "/s"


async def test_a_session_is_found_by_words_of_its_label(running):
    async with running() as (app, pilot):
        app.prompt.offers.targets = [FIRST, SECOND]
        await pilot.press(*"/load 検索")
        await until(lambda: len(app.offered) == 1)
        assert "会話の検索" in app.offered[0]
        await pilot.press("tab")
        assert app.prompt.text == f"/load {SECOND.id}"


async def test_models_are_offered_by_name(running):
    async with running() as (app, pilot):
        app.prompt.offers.models = ["anthropic:opus", "openai:mini"]
        await pilot.press(*"/model min", "tab")
        assert app.prompt.text == "/model openai:mini"


@pytest.mark.parametrize("text", ["hello", "//load", "/etc/", "say /load", "/a1"])
async def test_an_ordinary_text_opens_no_list_and_keeps_its_keys(running, text):
    async with running() as (app, pilot):
        app.history = ["earlier"]
        await pilot.press(*text, "up")
        assert app.offered == []
        assert app.prompt.text == "earlier"


async def test_a_text_that_is_set_opens_no_list(running):
    async with running() as (app, pilot):
        app.prompt.set_text("/lo")
        await pilot.press("tab")
        assert app.prompt.text == "/lo"


async def test_where_it_is_narrow_what_a_command_does_is_told_before_what_it_takes(running):
    rows = {}
    for width in (60, 110):
        async with running(size=(width, 20)) as (app, pilot):
            await pilot.press("slash")
            await until(lambda app=app: app.offered)
            rows[width] = [row.split() for row in app.offered]
    assert ["/new", "start", "a", "new"] in [row[:4] for row in rows[60]]
    assert ["/new", "[NAME]", "start", "a"] in [row[:4] for row in rows[110]]


async def test_leaving_the_prompt_closes_the_list(running):
    async with running() as (app, pilot):
        await pilot.press("slash")
        await until(lambda: app.offered)
        app.set_focus(None)
        await until(lambda: not app.offered)


async def test_a_click_takes_a_row(running):
    async with running() as (app, pilot):
        await pilot.press(*"/s")
        await until(lambda: len(app.offered) == len(completions("/s")))
        await pilot.click("CompletionList", offset=(5, 4))
        await until(lambda: app.prompt.text == "/save")


async def test_labels_are_neither_obeyed_nor_markup_and_long_ones_are_cut(running):
    async with running() as (app, pilot):
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
