"""A session that another program goes on with, as its reader has it."""

import os

import pytest

from tests.engine.workspaces import said
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary
from tui.engine.sessions.external_changes import Follower
from tui.engine.sessions.loaded_pages import entries_before


def shown(program):
    return [e.text for e in program.current.entries if not isinstance(e, Reset)]


async def two(world, *texts, opens=True):
    """The holder of a session, and the follower of one who has opened it or looks at it."""
    session = await world.session(*texts)
    holder = world.started(session)
    reader = world.started(session if opens else None)
    if not opens:
        await reader.look_at(session)
    assert reader.current.access.read_only
    return holder, reader, Follower(reader.workspace)


async def looking(world):
    """A session, one who looks at it, and his follower."""
    session, reader = await world.looked_at("hello")
    return session, reader, Follower(reader.workspace)


async def test_nothing_is_read_while_nothing_changes_and_the_holder_follows_nobody(
    world, monkeypatch
):
    holder, reader, follower = await two(world, "hello")
    for verb in ("journal", "entry"):
        monkeypatch.setattr(reader.store, verb, None)
    assert await follower.look() is None
    await holder.send("more")
    assert await Follower(holder.workspace).look() is None


async def test_an_answer_that_arrives_is_seen_growing_and_whole(world):
    holder, reader, follower = await two(world, "hello", "hi")
    await holder.send("more")
    change = await follower.look()
    assert [each.text for each in change.news] == ["more"]
    assert change.joined
    opened = holder.current.opened
    answer = opened.begin_answer("m")
    for text, seen in (("Once ", "Once "), ("upon ", "Once upon ")):
        answer.receive(text)
        opened.add_piece(answer)
        await opened.save()
        change = await follower.look()
        assert change.news[-1].text == seen
        assert change.arriving == {answer.message_id}
        assert reader.current.view().arriving == answer.message_id
    failed = opened.end_answer(answer, status="failed", error="429")
    await opened.save()
    change = await follower.look()
    assert not change.arriving
    assert change.news[-1].status == "failed"
    # One that is asked for again takes its place.
    again = opened.begin_answer("m", replaces=failed.id)
    again.receive("Now.")
    opened.end_answer(again)
    await opened.save()
    change = await follower.look()
    assert [(each.replaces, each.status) for each in change.news] == [(failed.id, None)]
    assert shown(reader) == ["hello", "hi", "more", "Now."]
    assert reader.current.access.read_only


async def test_a_reset_and_a_summary_and_a_name_are_seen(world):
    holder, reader, follower = await two(world, "hello", "hi")
    opened = holder.current.opened
    opened.add(Summary("They greeted.", opened.session.loaded_messages[-1].id))
    opened.rename("Greetings")
    await opened.save()
    change = await follower.look()
    assert [type(each) for each in change.news] == [Summary]
    assert reader.current.label() == "Greetings"
    opened.reset()
    await opened.save()
    change = await follower.look()
    assert [type(each) for each in change.news] == [Reset]
    await holder.send("anew")
    change = await follower.look()
    assert [each.text for each in change.news] == ["anew"]
    assert shown(reader) == ["hello", "hi", "They greeted.", "anew"]
    assert reader.current.session.message_count == 1


async def test_pages_that_were_read_stay_and_more_than_an_end_at_once_joins_on(world):
    holder, reader, follower = await two(world, *map(str, range(400)))
    await reader.workspace.read_earlier(reader.current)
    for number in range(400, 690):
        await holder.send(str(number), save=number == 449)
        if number == 449:
            assert (await follower.look()).joined
            assert shown(reader) == [str(number) for number in range(250, 450)]
    await holder.workspace.pool.save(holder.current)
    assert (await follower.look()).joined
    assert shown(reader) == [str(number) for number in range(250, 690)]
    await reader.workspace.read_earlier(reader.current)
    assert shown(reader) == [str(number) for number in range(200, 690)]


@pytest.mark.parametrize("way", ["shortened", "replaced"])
async def test_a_file_that_is_another_one_is_read_again(world, way):
    _, reader, follower = await two(world, "hello", "hi", "more")
    path = world.reader.path(reader.current.id)
    lines = path.read_bytes().splitlines(keepends=True)
    keep = [line for line in lines if b'"more"' not in line]
    if way == "shortened":
        os.truncate(path, len(b"".join(lines[:4])))
    else:
        other = path.with_name("other")
        other.write_bytes(b"".join(keep))
        os.replace(other, path)
    change = await follower.look()
    assert "more" not in shown(reader)
    assert [e.text for e in change.after if isinstance(e, Message)] == shown(reader)


# --- taking over


async def test_who_asked_for_it_holds_it_as_soon_as_the_holder_is_gone(world):
    holder, reader, follower = await two(world, "hello")
    current = reader.current
    current.prompt.edit("typed while reading")
    await reader.workspace.keep_drafts()
    await holder.end()
    await follower.look()
    assert current.opened is not None
    assert not current.access.read_only
    assert said(current)[-1] == "The other window is gone; you can write here"
    await reader.workspace.keep_drafts()
    assert current.prompt.text == world.drafts.load(current.id).text == "typed while reading"
    assert list(world.drafts.aside(current.id)) == []
    assert await follower.look() is None


async def test_who_only_looked_does_not_take_it(world):
    holder, reader, follower = await two(world, "hello", opens=False)
    await holder.end()
    await follower.look()
    current = reader.current
    assert current.opened is None
    assert not current.access.read_only
    assert world.holder(current.id) is None
    await reader.send("mine")
    assert world.texts(current.id) == ["hello", "mine"]


async def test_what_a_killed_holder_left_of_an_answer_is_interrupted(world):
    holder, reader, follower = await two(world, "hello")
    opened = holder.current.opened
    answer = opened.begin_answer("m")
    answer.receive("Half of")
    opened.add_piece(answer)
    await opened.save()
    await follower.look()
    holder.store.die()
    change = await follower.look()
    assert [(each.text, each.status) for each in change.news] == [("Half of", "interrupted")]
    assert not change.arriving
    last = world.reader.journal(reader.current.id).load()
    assert not last.interrupted
    assert last.loaded_messages[-1].status == "interrupted"


async def test_a_session_that_was_free_follows_whoever_takes_it(world):
    session, reader, follower = await looking(world)
    holder = world.started(session)
    await holder.send("theirs")
    assert [each.text for each in (await follower.look()).news] == ["theirs"]
    assert "open in another window" in reader.current.access.read_only


# --- moved


@pytest.mark.parametrize(
    ("deed", "words"),
    [("archive", "archived this session"), ("delete", "moved this session to the trash")],
)
async def test_a_session_that_was_set_aside_is_told_of(world, deed, words):
    session, reader, follower = await looking(world)
    getattr(world.reader, deed)(session)
    await follower.look()
    current = reader.current
    assert any(words in each for each in said(current))
    assert bool(current.access.read_only) == (deed == "delete")
    assert current.access.archived == (deed == "archive")
    world.reader.restore(session)
    await follower.look()
    assert any("restored this session" in each for each in said(current))
    assert not current.access.read_only
    await reader.send("mine")
    assert world.texts(session) == ["hello", "mine"]


async def test_a_session_that_was_destroyed_stays_on_screen(world):
    session, reader, follower = await looking(world)
    world.reader.delete(session)
    world.reader.purge(session)
    await follower.look()
    assert shown(reader) == ["hello"]
    assert any("deleted this session for good" in each for each in said(reader.current))
    assert reader.current.access.read_only
    assert await follower.look() is None


def test_what_was_read_joins_on_where_the_marks_are_the_same():
    def message(name):
        return Message(name, "user", name, "")

    a, b, c, mark = message("a"), message("b"), message("c"), Reset("x")
    assert entries_before([a, mark, b], [mark, b, c]) == (a,)
    assert entries_before([a, b], [mark, b, c]) == (a,)
    assert entries_before([a, b], [c]) == ()
