"""A secret is typed without being shown or copied."""

import pytest
from textual.app import App

from tui.widgets.line_input import MaskedInput

KEY = "sk-0123"


class Asking(App):
    def compose(self):
        yield MaskedInput()


@pytest.fixture
async def typed():
    """The input with a key in it, and its pilot."""
    app = Asking()
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.press(*KEY.replace("-", ""))
        line = app.query_one(MaskedInput)
        line.value = KEY
        await pilot.pause()
        yield line, pilot


async def test_it_is_drawn_as_dots(typed):
    line, _ = typed
    assert "•" * len(KEY) in line.render_line(0).text
    assert KEY not in line.app.export_screenshot()


@pytest.mark.parametrize("keys", [("ctrl+c",), ("ctrl+x",)])
async def test_it_is_not_copied(typed, keys):
    line, pilot = typed
    line.select_all()
    await pilot.press(*keys)
    assert line.app.clipboard == ""
    assert line.value == KEY


async def test_a_click_puts_the_caret_where_it_is(typed):
    line, pilot = typed
    await pilot.click(MaskedInput, offset=(3, 0))
    assert line.cursor_position == 3
