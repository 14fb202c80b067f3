"""Versions of messages in the transcript."""

import pytest

from tests.builders import answer, user
from tests.visible_text import visible_text
from tui.domain.journal.session import Version

ENTRIES = (user("q1", "one"), answer("a1", "first"), user("q2", "two"), answer("a2", "second"))
SECOND = {"a2": Version(2, 3)}


@pytest.fixture
async def reader(opened):
    async with opened(*ENTRIES, size=(60, 24), versions=SECOND) as (app, pilot):
        yield app, pilot


def rows(app):
    return [row.strip() for row in visible_text(app.transcript)]


async def test_a_message_with_other_versions_says_which_it_is(reader):
    app, _ = reader
    assert [row for row in rows(app) if "version" in row] == [
        "version 2/3 · [ and ] show the others"
    ]


async def test_versions_that_come_and_go_are_shown_where_one_reads(reader):
    app, pilot = reader
    app.conversation.show_versions({"q2": Version(1, 2)})
    await pilot.pause()
    shown = rows(app)
    named = "version 1/2 · [ and ] show the others"
    assert [row for row in shown if "version" in row] == [named]
    assert shown.index(named) < shown.index("second")


@pytest.mark.parametrize(("key", "intent"), [("r", "again"), ("e", "edit"), ("f", "fork")])
async def test_keys_are_about_the_message_at_the_cursor_else_the_last(reader, key, intent):
    app, pilot = reader
    await pilot.press(key)
    await pilot.press("k", "k", key)
    assert [event.what for event in app.intents] == [intent, intent]
    assert [event.message_id for event in app.intents] == ["a2", "q2"]


async def test_brackets_walk_through_versions_of_the_last_message_that_has_some(reader):
    app, pilot = reader
    await pilot.press("left_square_bracket", "right_square_bracket")
    assert [(event.message_id, event.step) for event in app.intents] == [("a2", -1), ("a2", 1)]


async def test_where_there_is_one_version_the_brackets_say_so(reader):
    app, pilot = reader
    app.conversation.show_versions({})
    await pilot.press("left_square_bracket")
    assert app.hinted == ["This message has one version; r asks again, e edits a question."]
