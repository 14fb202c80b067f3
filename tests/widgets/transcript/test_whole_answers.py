"""An answer with tool calls: several messages, one heading, one line about the whole; versions."""

import pytest

from tests.builders import answer, user
from tests.visible_text import visible_text
from tests.widgets.transcript.conftest import answered, asked, calling, result
from tui.domain.journal.message import TokenUsage
from tui.domain.journal.session import Version
from tui.domain.views.costs import AnswerCost

USED = TokenUsage(1000, 20)
FIRST = calling("a1", arguments={})
WHOLE = [
    asked("go", "q1"),
    FIRST.__class__("a1", "assistant", "I look.", "", FIRST.tool_calls, model="x:m1", usage=USED),
    result("# Shop", "t1"),
    answered("It is a shop.", "a2", model="x:m1", usage=USED),
]


def rows(app):
    return [row.strip() for row in visible_text(app.transcript) if row.strip()]


async def test_the_messages_of_an_answer_have_one_heading_and_a_line_about_them_all(opened):
    async with opened(*WHOLE) as (app, pilot):
        assert rows(app) == [
            "┃ go",
            "● x:m1",
            "I look.",
            "▸ read_file()",
            "▸ read_file result: # Shop",
            "It is a shop.",
            "x:m1 · 2,000 tokens in, 40 out",
        ]
        app.conversation.show_cost("a1", AnswerCost(2.0, 0.01))
        app.conversation.show_cost("a2", AnswerCost(6.5))
        await pilot.pause(0.1)
        assert rows(app)[-1] == "x:m1 · 8.5 s · 2,000 tokens in, 40 out"
        app.conversation.show_cost("a2", AnswerCost(6.5, 0.02))
        await pilot.pause(0.1)
        assert rows(app)[-1] == "x:m1 · 8.5 s · 2,000 tokens in, 40 out · $0.0300"


@pytest.mark.parametrize("known", range(5))
async def test_it_is_the_same_however_its_messages_came(opened, known):
    async with opened(*WHOLE) as (app, _):
        expected = rows(app)
    async with opened(*WHOLE[known:], earlier=True) as (app, pilot):
        app.conversation.prepend(WHOLE[:known], earlier=False)
        await pilot.pause()
        assert rows(app) == expected
    async with opened(*WHOLE[:known]) as (app, pilot):
        for message in WHOLE[known:]:
            if message.role == "assistant":
                app.conversation.add_text(message.id, message.text, message.model)
            app.conversation.put(message)
        await pilot.pause()
        assert rows(app) == expected


async def test_nothing_is_said_of_what_an_answer_took_while_it_goes_on_or_of_the_guide(opened):
    async with opened(*WHOLE[:3]) as (app, pilot):
        assert rows(app)[-1].endswith("# Shop")
        app.conversation.add_text("a2", "It", "x:m1")
        await pilot.pause(0.1)
        assert rows(app)[-1] == "It"
        app.transcript.show([answered("Hello.", "a1", model="offline:guide")], earlier=False)
        app.conversation.show_cost("a1", AnswerCost(2.0))
        await pilot.pause(0.1)
        assert rows(app) == ["● offline:guide", "Hello."]


async def test_another_model_or_answer_has_a_heading_and_a_message_that_is_replaced_leaves_it(
    opened,
):
    failed = answered("", "a2", model="x:m1", status="failed", error="no network")
    async with opened(*WHOLE[:3], failed) as (app, pilot):
        again = answered("It is.", "a3", model="x:m1", usage=USED, replaces="a2")
        app.conversation.put(again)
        await pilot.pause()
        assert rows(app)[-2:] == ["It is.", "x:m1 · 2,000 tokens in, 40 out"]
        app.conversation.put(answered("And I.", "a4", model="x:m2"))
        app.conversation.put(asked("more", "q2"))
        app.conversation.put(answered("Yes.", "a5", model="x:m1"))
        assert [row for row in rows(app) if row[0] == "●"] == ["● x:m1", "● x:m2", "● x:m1"]


@pytest.mark.parametrize("up", [0, 1, 2])
async def test_keys_on_any_part_are_about_the_whole(opened, up):
    async with opened(*WHOLE, size=(80, 24), versions={"a1": Version(2, 3)}) as (app, pilot):
        assert rows(app)[-1].endswith("40 out · version 2/3 · [ and ] show the others")
        await pilot.press(*"k" * (up + 1), "left_square_bracket", "f")
        version, fork = app.intents
        assert (version.what, version.message_id) == ("step", "a1")
        assert (fork.what, fork.message_id) == ("fork", "a2")
        await pilot.press("y")
        assert app.copied == ["# Shop" if up == 1 else "I look.\n\nIt is a shop."]


async def test_in_a_narrow_window_the_line_keeps_what_is_said_nowhere_else(opened):
    async with opened(*WHOLE, size=(44, 24), versions={"a1": Version(2, 3)}) as (app, _):
        assert rows(app)[-1] == "2,000 tokens in, 40 out · version 2/3"


ENTRIES = (user("q1", "one"), answer("a1", "first"), user("q2", "two"), answer("a2", "second"))
SECOND = {"a2": Version(2, 3)}


@pytest.fixture
async def reader(opened):
    async with opened(*ENTRIES, size=(60, 24), versions=SECOND) as (app, pilot):
        yield app, pilot


async def test_a_message_says_which_of_its_versions_it_is_and_brackets_walk_through_them(reader):
    app, pilot = reader
    assert [row for row in rows(app) if "version" in row] == [
        "version 2/3 · [ and ] show the others"
    ]
    await pilot.press("left_square_bracket", "right_square_bracket")
    assert [(event.message_id, event.step) for event in app.intents] == [("a2", -1), ("a2", 1)]
    app.conversation.show_versions({"q2": Version(1, 2)})
    await pilot.pause()
    shown = rows(app)
    named = "version 1/2 · [ and ] show the others"
    assert [row for row in shown if "version" in row] == [named]
    assert shown.index(named) < shown.index("second")
    app.conversation.show_versions({})
    await pilot.press("left_square_bracket")
    assert app.hinted == ["This message has one version; r asks again, e edits a question."]


async def test_keys_are_about_the_message_at_the_cursor_else_the_last(reader):
    app, pilot = reader
    await pilot.press("r", "e", "f", "k", "k", "r", "e", "f")
    assert [(event.what, event.message_id) for event in app.intents] == [
        (what, message_id) for message_id in ("a2", "q2") for what in ("again", "edit", "fork")
    ]
