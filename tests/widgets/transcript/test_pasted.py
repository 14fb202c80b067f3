"""Long pastes in a question: folded as they were in the prompt."""

import msgspec
import pytest

from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked
from tui.domain.search.find import Match, needle

LOG = "\n".join(f"line {n}" for n in range(12))
TYPED = f"Explain:\n{LOG}\nin short"
BEGIN = len("Explain:\n")
FOLDED = [" ┃ Explain:", " ┃ ▸ [pasted 12 lines]", " ┃ in short"]


def question(*folded, text=TYPED):
    return msgspec.structs.replace(asked(text, "u"), folded=folded)


def shown(app):
    return [row for row in visible_text(app.transcript) if row]


async def test_a_paste_is_one_line_that_unfolds(opened):
    async with opened(question((BEGIN, BEGIN + len(LOG)))) as (app, pilot):
        assert shown(app) == FOLDED
        await pilot.press("k", "enter")
        rows = [row.replace("▌", " ") for row in shown(app)]
        assert rows[1:3] == [" ┃ ▾ [pasted 12 lines]", " ┃ line 0"]
        assert rows[-2:] == [" ┃ line 11", " ┃ in short"]
        await pilot.press("enter", "y")
        assert [row.replace("▌", " ") for row in shown(app)] == FOLDED
        assert app.copied == [TYPED]


async def test_of_two_a_click_unfolds_one(opened):
    text = f"{LOG}{'x' * 1200}"
    folded = (0, len(LOG)), (len(LOG), len(text))
    async with opened(question(*folded, text=text)) as (app, pilot):
        assert shown(app) == [" ┃ ▸ [pasted 12 lines]", " ┃ ▸ [pasted 1,200 characters]"]
        await pilot.click(app.transcript, offset=(6, 2))
        assert shown(app)[:2] == [" ┃ ▸ [pasted 12 lines]", " ┃ ▾ [pasted 1,200 characters]"]


async def test_what_is_found_in_a_paste_unfolds_it(opened):
    async with opened(question((BEGIN, BEGIN + len(LOG))), answered("Yes")) as (app, _):
        app.transcript.finder.look_for(needle("line 7"))
        assert app.transcript.finder.show(Match("u", 0), unfold=True)
        assert any("line 7" in row for row in shown(app))


@pytest.mark.parametrize("folded", [((5, 5),), ((9, 3),), ((0, 10_000),), ((3, 9), (4, 12))])
async def test_places_that_cannot_be_hide_nothing(opened, folded):
    async with opened(question(*folded, text="just some words")) as (app, _):
        text = " ".join(shown(app))
        assert "just" in text or "[pasted" in text
        assert "words" in text
