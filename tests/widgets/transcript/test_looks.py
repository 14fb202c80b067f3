"""Weights and grounds that tell question, heading and code from other text."""

import pytest

from tests.waiting import until
from tests.widgets.transcript.conftest import answered, asked, text_of

ANSWER = "# One\n\nText.\n\n#### Four\n\n```py\nx = 1\n```\n"


def segments(app, words):
    """The segments of the first row that has these words."""
    transcript = app.transcript
    for y in range(transcript.size.height):
        strip = transcript.render_line(y)
        if words in text_of(strip):
            return [each for each in strip if each.text.strip()]
    return []


async def weight(app, words):
    await until(lambda: segments(app, words), words)
    return any(each.style.bold for each in segments(app, words) if each.text.strip() in words)


@pytest.mark.parametrize(("question", "is_bold"), [("Why?", True), ("Why so? " * 30, False)])
async def test_a_short_question_is_bold_and_a_long_one_is_not(opened, question, is_bold):
    async with opened(asked(question)) as (app, _):
        assert await weight(app, question[:40].strip() if is_bold else "Why so?") == is_bold


@pytest.mark.parametrize("heading", ["One", "Four"])
async def test_a_heading_of_any_level_is_bold(opened, heading):
    async with opened(answered(ANSWER)) as (app, _):
        assert await weight(app, heading)
        assert not await weight(app, "Text.")


async def test_code_has_a_background_of_its_own_from_its_frame_to_the_end_of_the_text(opened):
    async with opened(answered(ANSWER)) as (app, _):
        await until(lambda: segments(app, "x = 1"))
        prose = segments(app, "Text.")[-1].style.bgcolor
        for words in ("py", "x = 1"):
            strip = next(
                strip
                for strip in map(app.transcript.render_line, range(app.transcript.size.height))
                if words in text_of(strip)
            )
            grounds = [each.style.bgcolor for each in strip for _ in each.text]
            assert len(set(grounds[3:-2])) == 1
            assert grounds[3] != prose
            assert grounds[0] == grounds[-1] == prose
