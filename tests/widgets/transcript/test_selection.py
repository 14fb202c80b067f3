from textual.geometry import Offset
from textual.selection import Selection

from tests.widgets.transcript.conftest import answered, asked, numbered


async def drag(pilot, app, start, end):
    await pilot.mouse_down(app.transcript, offset=start)
    await pilot.hover(app.transcript, offset=end)
    await pilot.mouse_up(app.transcript, offset=end)


async def test_what_is_dragged_over_is_selected(opened):
    async with opened(asked("one two three"), asked("four five")) as (app, pilot):
        await drag(pilot, app, (7, 1), (7, 3))
        assert app.screen.get_selected_text() == "two three\n\nfour "


async def test_frames_and_marks_are_not_selected(opened):
    async with opened(answered("```py\nx = 1\ny = 2\n```")) as (app, pilot):
        await drag(pilot, app, (1, 3), (40, 4))
        assert app.screen.get_selected_text() == "x = 1\ny = 2"


async def test_what_is_selected_is_seen(opened):
    async with opened(asked("one two")) as (app, pilot):
        before = [s.style for s in app.transcript.render_line(1) if "two" in s.text]
        await drag(pilot, app, (7, 1), (12, 1))
        after = [s.style for s in app.transcript.render_line(1) if s.text == "two"]
        assert after
        assert after[0].bgcolor != before[0].bgcolor
        # The text itself, too: it was of the colour that is behind it.
        assert after[0].color == before[0].color
        assert after[0].color != after[0].bgcolor


async def test_wide_characters_are_selected_whole(opened):
    async with opened(asked("日本語です")) as (app, pilot):
        await drag(pilot, app, (5, 1), (7, 1))
        assert app.screen.get_selected_text() == "本語"


async def test_a_selection_stays_with_its_words_when_something_moves(opened):
    async with opened(*numbered(20, 21), earlier=True) as (app, pilot):
        await drag(pilot, app, (3, 18), (20, 19))
        before = app.screen.get_selected_text()
        app.transcript.prepend(numbered(20), earlier=False)
        app.transcript.put(answered("news"))
        await pilot.press("up", "up", "up")
        assert app.screen.get_selected_text() == before
        assert "question" in before


async def test_a_double_click_selects_the_paragraph_and_a_triple_one_the_message(opened):
    async with opened(answered("One here.\n\nTwo there.")) as (app, pilot):
        await pilot.double_click(app.transcript, offset=(5, 2))
        assert app.screen.get_selected_text() == "One here."
        await pilot.triple_click(app.transcript, offset=(5, 2))
        assert app.screen.get_selected_text().split() == ["answer", "One", "here.", "Two", "there."]


async def test_a_selection_without_ends_is_what_is_on_screen(opened):
    async with opened(*numbered(500)) as (app, _):
        text, _ = app.transcript.get_selection(Selection(None, None))
        assert text.split("\n")[-1] == "question 500"
        assert len(text.split("\n")) == app.transcript.size.height


async def test_a_selection_of_what_is_gone_is_nothing(opened):
    async with opened(*numbered(5)) as (app, _):
        selection = Selection(Offset(0, 10**12), Offset(3, 10**12))
        assert app.transcript.get_selection(selection) is None
