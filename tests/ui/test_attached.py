"""Files and pictures that came with messages, in a session that is opened."""

from tests.attached import NOTES, picture, showing
from tests.ui.screen import conversation, terminal_rows
from tests.waiting import until

TYPED = "Read @notes.txt"


async def test_title_recall_and_editing_have_what_was_typed(world):
    w = world()
    there = await w.session(showing(TYPED, NOTES, picture()), "done")
    async with w.running(there) as (app, pilot):
        await until(lambda: "done" in conversation(app))
        assert w.workspace.current.label() == TYPED
        await until(lambda: any(TYPED in row[:30] for row in terminal_rows(app)), "the sidebar")
        await pilot.press("up")
        assert app.chat.prompt.text == TYPED
        await pilot.press("down", "f6", "e")
        await until(lambda: app.chat.prompt.has_focus_within)
        assert app.chat.prompt.text == TYPED
