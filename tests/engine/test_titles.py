"""Titles by the model."""

import asyncio

import pytest

from tests.builders import answer, user
from tests.engine.scripted_model import ScriptedModel
from tui.domain.journal.message import TokenUsage
from tui.engine.turns.own_requests import TitleRequest, cleaned
from tui.errors import AnswerCut

AT = "2026-01-11T14:30:00.000Z"


def asked(*steps, question="What is two?", said="It is 2."):
    """The model, and what it is asked with."""
    model = ScriptedModel(steps)
    return model, TitleRequest(model, user("u1", question), answer("a1", said)).ask(AT)


async def test_it_is_one_short_request_whose_tokens_are_kept_with_the_title():
    usage = TokenUsage(120, 4)
    model, ask = asked("What", " two is", usage, question="q" * 9000, said="a" * 9000)
    titled = await ask
    assert (titled.text, titled.model, titled.at) == ("What two is", model.name, AT)
    assert titled.usage == TokenUsage(120, 4)
    (request,) = model.requests
    assert len(request.messages) == 1
    assert len(request.messages[0].text) < 3100
    assert request.tools == ()


@pytest.mark.parametrize("said", ["", "\n", '""'])
async def test_an_answer_without_words_is_no_title(said):
    _, ask = asked(*filter(None, [said]))
    with pytest.raises(AnswerCut):
        await asyncio.wait_for(ask, 10)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ('"What two is"', "What two is"),
        ("\n\n# **What two is**\n\nBecause I say so", "What two is"),
        ("Title: “What two is”", "What two is"),
        ("What **two** is", "What two is"),
        ("a\x1b]0;x\x07b\tc", "a␛]0;x␇b c"),
        ("word " * 40, "word " * 15 + "word…"),
    ],
)
def test_a_title_is_one_safe_line_without_quotes_and_marks(said, title):
    assert cleaned(said) == title
