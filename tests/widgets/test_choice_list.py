"""A list of choices: what is highlighted, and what is drawn."""

import pytest
from textual.app import App

from tests.visible_text import visible_text
from tui.widgets.choice_list import Choice, ChoiceList

CHOICES = [
    Choice("a", "Alpha", "a note", "●"),
    Choice("b", "Beta"),
    Choice("c", "Gamma with a long name", "a long note"),
    Choice("", "gone: it refused"),
]


class Choosing(App):
    def compose(self):
        yield ChoiceList()


@pytest.fixture
async def shown():
    app = Choosing()
    async with app.run_test(size=(30, 6)) as pilot:
        choices = app.query_one(ChoiceList)
        choices.show(CHOICES)
        await pilot.pause()
        yield choices, pilot


def name(choices):
    return choices.highlighted.id if choices.highlighted else None


async def test_each_line_has_its_mark_its_text_and_at_the_right_its_note(shown):
    choices, _ = shown
    alpha, beta, gamma, *_ = visible_text(choices)
    assert (alpha, beta) == ("● Alpha                 a note", "  Beta")
    # A note gives way to the text.
    assert gamma.startswith("  Gamma with a long name")


async def test_the_named_choice_or_the_first_is_highlighted_or_the_one_that_is_clicked(shown):
    choices, pilot = shown
    assert name(choices) == "a"
    choices.show(CHOICES, "b")
    assert name(choices) == "b"
    choices.show(CHOICES[1:], "c")
    assert name(choices) == "c"
    choices.show(CHOICES, "gone")
    assert name(choices) == "a"
    await pilot.click(ChoiceList, offset=(3, 1))
    assert name(choices) == "b"
    # Never a line that only says something.
    choices.show(CHOICES[3:])
    assert name(choices) is None
    choices.move(1)
    assert name(choices) is None


async def test_one_step_beyond_an_end_leads_to_the_other_and_a_page_stops_there(shown):
    choices, _ = shown
    for move, found in ((-1, "c"), (1, "a")):
        choices.move(move)
        assert name(choices) == found
    for pages, found in ((3, "c"), (-3, "a")):
        choices.move_page(pages)
        assert name(choices) == found
