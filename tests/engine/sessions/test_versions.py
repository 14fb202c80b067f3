"""Asking again, editing a question, and looking at versions."""

import asyncio
import threading

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.engine.workspaces import FULL
from tests.waiting import until
from tui.domain.journal.message import Message
from tui.domain.journal.records import Settings, Summary
from tui.domain.journal.session import Version
from tui.engine.sessions.external_changes import Follower
from tui.engine.sessions.versions import (
    begin_again,
    begin_edit,
    begin_from_shown,
    fork_at,
    show_version,
)
from tui.engine.turns.events import AnswerStarted, TurnEnded
from tui.engine.turns.turn import Turn, TurnSettings, begin_turn
from tui.errors import ModelRefused, StorageError, UsageError

SETTINGS = TurnSettings(save_interval=60)


def texts(entries):
    return [entry.text for entry in entries if isinstance(entry, Message)]


def id_of(loaded, text):
    return next(e.id for e in loaded.shown if isinstance(e, Message) and e.text == text)


class Talk:
    """A program in one session, with a model that says what it is told."""

    def __init__(self, program):
        self.program = program
        self.workspace = program.workspace
        self.events = []

    @property
    def loaded(self):
        return self.workspace.current

    async def _run(self, turn):
        async def keep(event):
            self.events.append(event)

        await turn.run(keep)

    async def say(self, prompt, *steps):
        await self.workspace.take(self.loaded)
        model = ScriptedModel(steps or [f"on {prompt}"])
        await self._run(begin_turn(self.loaded.opened, prompt, model, SETTINGS))
        return model.requests

    async def again(self, text, *steps):
        loaded = await begin_again(self.workspace, self.loaded, id_of(self.loaded, text))
        model = ScriptedModel(steps)
        await self._run(Turn(loaded.opened, model, SETTINGS, anew=True))
        return model.requests

    async def edit(self, text, new):
        await begin_edit(self.workspace, self.loaded, id_of(self.loaded, text))
        return await self.say(new)

    async def look(self, text, step):
        return await show_version(self.workspace, self.loaded, id_of(self.loaded, text), step)

    @property
    def shown(self):
        return texts(self.loaded.shown)

    def number(self, text):
        return self.loaded.view().versions.get(id_of(self.loaded, text))


async def elsewhere(world, talk):
    """Another program that looks at the session."""
    await talk.workspace.pool.save(talk.loaded)
    other = Talk(world.started())
    await other.program.look_at(talk.loaded.id)
    return other


@pytest.fixture
async def talk(world):
    """Two questions and their answers."""
    talk = Talk(world.started())
    await talk.say("one")
    await talk.say("two")
    return talk


def saved(world, talk):
    return texts(world.reader.journal(talk.loaded.id).load().loaded_messages)


async def test_asking_again_leaves_out_what_followed_the_question(world, talk):
    opened = talk.loaded.opened
    opened.rename("Plans")
    opened.change_settings(Settings(temperature=0.5))
    requests = await talk.again("on one", "once more")
    assert talk.shown == saved(world, talk) == ["one", "once more"]
    assert texts(requests[0].messages) == ["one"]
    assert world.reader.entry(talk.loaded.id).message_count == 2
    assert talk.number("once more") == Version(2, 2)
    started = [each for each in talk.events if isinstance(each, AnswerStarted)]
    assert started[-1].after == id_of(talk.loaded, "one")
    assert isinstance(talk.events[-1], TurnEnded)
    # What belongs to the session stays.
    session = world.reader.journal(talk.loaded.id).load()
    assert (session.name, session.settings) == ("Plans", Settings(temperature=0.5))
    assert session.prompt_count == 2


async def test_a_question_that_was_edited_stands_in_the_place_of_the_first(world, talk):
    requests = await talk.edit("two", "three")
    assert talk.shown == saved(world, talk) == ["one", "on one", "three", "on three"]
    assert texts(requests[0].messages) == ["one", "on one", "three"]
    assert talk.number("three") == Version(2, 2)
    assert talk.loaded.session.prompt_count == 3
    # Also the first one of all.
    await talk.edit("one", "zero")
    assert talk.shown == saved(world, talk) == ["zero", "on zero"]
    assert talk.loaded.label() == "zero"


async def test_looking_at_a_version_changes_nothing_and_one_can_go_on_from_it(world, talk):
    await talk.again("on one", "once more")
    before = world.bytes(talk.loaded.id)
    await talk.look("once more", -1)
    assert talk.shown == ["one", "on one", "two", "on two"]
    assert talk.loaded.view().aside
    assert talk.number("on one") == Version(1, 2)
    assert await talk.look("on one", -1) is None
    await talk.look("on one", +1)
    assert talk.shown == ["one", "once more"]
    assert not talk.loaded.view().aside
    assert world.bytes(talk.loaded.id) == before
    await talk.look("once more", -1)
    fork = await fork_at(talk.workspace, talk.loaded, id_of(talk.loaded, "two"))
    session = world.reader.journal(fork).load()
    assert texts(session.all_messages) == ["one", "on one", "two"]
    assert (session.message_count, session.damaged) == (3, 0)
    await begin_from_shown(talk.workspace, talk.loaded)
    await talk.say("three")
    live = ["one", "on one", "two", "on two", "three", "on three"]
    assert talk.shown == saved(world, talk) == live
    assert talk.number("on one") == Version(1, 2)


async def test_an_earlier_version_can_be_asked_for_again_and_says_in_its_place_why_it_fails(
    world, talk
):
    await talk.again("on one", "once more")
    await talk.look("once more", -1)
    await talk.again("on two", "a third time")
    assert talk.shown == saved(world, talk) == ["one", "on one", "two", "a third time"]
    assert talk.number("a third time") == Version(2, 2)
    await talk.again("a third time", ModelRefused("no"))
    assert talk.shown == ["one", "on one", "two", ""]
    assert talk.number("") == Version(3, 3)


async def test_versions_are_numbered_in_the_next_run_as_well(world, talk):
    await talk.again("on two", "b")
    await talk.again("b", "c")
    await talk.program.end()
    again = Talk(world.started(talk.loaded.id))
    assert again.number("c") == Version(3, 3)
    await again.again("c", "d")
    assert again.number("d") == Version(4, 4)


async def test_an_answer_that_was_stopped_before_it_said_anything_leaves_the_old_one(world, talk):
    await begin_again(talk.workspace, talk.loaded, id_of(talk.loaded, "on one"))
    before = world.bytes(talk.loaded.id)
    opened = talk.loaded.opened
    opened.begin_answer("m")
    assert talk.shown == ["one", ""]
    opened.interrupt()
    await talk.workspace.pool.save(talk.loaded)
    assert talk.shown == ["one", "on one", "two", "on two"]
    assert world.bytes(talk.loaded.id) == before


async def test_what_came_of_a_version_when_a_program_was_killed_is_live(world, talk):
    await begin_again(talk.workspace, talk.loaded, id_of(talk.loaded, "on one"))
    opened = talk.loaded.opened
    answer = opened.begin_answer("m")
    answer.receive("half an ")
    opened.add_piece(answer)
    # A state goes out with its first record.
    assert [type(each).__name__ for each in opened.pending] == ["Partial", "State"]
    assert opened.pending[1].message_count == 1
    await talk.workspace.pool.save(talk.loaded)
    talk.program.store.die()
    other = Talk(world.started(talk.loaded.id))
    assert other.shown == ["one", "half an "]
    assert other.loaded.session.message_count == 2
    assert other.number("half an ") == Version(2, 2)


async def test_nothing_is_begun_while_an_answer_is_made_or_where_nothing_can_be_saved(world, talk):
    first = id_of(talk.loaded, "on one")
    talk.loaded.opened.add_message("user", "unsaved")
    talk.program.store.fail_next(FULL)
    with pytest.raises(StorageError):
        await begin_again(talk.workspace, talk.loaded, first)
    assert talk.shown[-1] == "unsaved"
    talk.loaded.activity.begin_answer()
    with pytest.raises(UsageError, match="Stop it first"):
        await begin_again(talk.workspace, talk.loaded, first)
    talk.loaded.activity.end_answer()
    await talk.workspace.reset(talk.loaded)
    await talk.say("three")
    with pytest.raises(UsageError, match="before /reset"):
        await begin_again(talk.workspace, talk.loaded, first)


async def test_a_summary_of_what_is_no_longer_live_counts_no_more(world, talk):
    first, last = id_of(talk.loaded, "one"), id_of(talk.loaded, "on two")
    talk.loaded.opened.add(Summary("only one", first))
    talk.loaded.opened.add(Summary("all", last))
    await talk.again("on one", "once more")
    for session in (talk.loaded.session, world.reader.journal(talk.loaded.id).load()):
        assert session.summary.text == "only one"
    assert world.reader.journal(talk.loaded.id).tail(1).session.summary.text == "only one"
    await talk.edit("one", "zero")
    assert talk.loaded.opened.summary is None
    assert world.reader.journal(talk.loaded.id).tail(1).session.summary is None


async def test_a_session_that_another_program_holds_is_forked(world, talk):
    other = await elsewhere(world, talk)
    before = world.bytes(talk.loaded.id)
    await other.again("on one", "elsewhere")
    assert other.shown == ["one", "elsewhere"]
    assert other.loaded.session.header.forked_from == talk.loaded.id
    assert world.bytes(talk.loaded.id) == before


@pytest.mark.parametrize("question", ["one", "two"])
async def test_a_session_that_was_opened_meanwhile_is_not_asked(world, talk, monkeypatch, question):
    third = await world.session("there")
    other = await elsewhere(world, talk)
    gate, waiting, loader = threading.Event(), threading.Event(), other.workspace.loader

    def held_up(method):
        def load(*arguments):
            waiting.set()
            assert gate.wait(20)
            return method(*arguments)

        return load

    monkeypatch.setattr(loader, "opened", held_up(loader.opened))
    monkeypatch.setattr(loader, "new", held_up(loader.new))
    edit = begin_edit(other.workspace, other.loaded, id_of(other.loaded, question))
    editing = asyncio.create_task(edit)
    await until(waiting.is_set)
    switching = asyncio.create_task(other.workspace.switcher.look_at(third))
    await asyncio.sleep(0)  # it is wanted from its first step on
    gate.set()
    with pytest.raises(UsageError, match="another session was opened"):
        await editing
    assert await switching
    assert world.texts(third) == ["there"]


async def test_a_version_of_a_long_session_shows_and_sends_what_is_further_back(world):
    said = [f"{number}" for number in range(400)]
    there = await world.session(*said)
    talk = Talk(world.started(there))
    await begin_again(
        talk.workspace, talk.loaded, world.reader.journal(there).load().loaded_messages[51].id
    )
    model = ScriptedModel(["again"])
    await talk._run(Turn(talk.loaded.opened, model, SETTINGS, anew=True))
    assert texts(model.requests[0].messages) == said[:51]
    assert talk.loaded.session.message_count == 52
    assert talk.shown == [*said[:51], "again"]
    assert texts(world.reader.journal(there).tail(5).session.loaded_messages) == [
        *said[47:51],
        "again",
    ]


async def test_another_program_sees_the_version_that_became_live(world, talk):
    other = await elsewhere(world, talk)
    await talk.again("on one", "once more")
    change = await Follower(other.workspace).look()
    assert other.shown == ["one", "once more"]
    assert not change.joined
