import pytest

from tests.app.controllers.stand_ins import Chat, Clock, Session
from tui.app.controllers.answer_times import AnswerTimes
from tui.domain.journal.message import Message, TokenUsage
from tui.domain.views.usage import AnswerCost
from tui.engine.turns.events import (
    AnswerStarted,
    MessageSaved,
    SaveFailed,
    TextAdded,
    ThinkingAdded,
    UsageCounted,
)


@pytest.fixture
def chat():
    return Chat()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def times(chat, clock):
    return AnswerTimes(chat, clock, lambda answer, seconds: chat.shown.append((answer.id, seconds)))


def test_an_answer_shows_its_time_when_it_ends_and_its_price_is_looked_up(times, chat, clock):
    session, usage = Session(), TokenUsage(1, 1)
    times.note(session, AnswerStarted("m2"))
    clock.seconds = 2.5
    times.note(session, UsageCounted("m2", usage))
    assert chat.shown == []
    times.note(
        session, MessageSaved("session-1", Message("m2", "assistant", "Hi", "", usage=usage))
    )
    assert chat.shown == [("m2", AnswerCost(2.5)), ("m2", 2.5)]


def test_an_answer_that_was_not_counted_shows_its_time_alone(times, chat, clock):
    session = Session()
    times.note(session, AnswerStarted("m3"))
    clock.seconds = 1.0
    times.note(session, MessageSaved("session-1", Message("m3", "assistant", "Hi", "")))
    assert chat.shown == [("m3", AnswerCost(1.0, None))]


def test_the_end_of_no_answer_shows_nothing(times, chat):
    times.end(Session())
    assert chat.shown == []


def test_answers_of_different_sessions_are_timed_apart(times, chat, clock):
    one, other = Session("one"), Session("other")
    times.note(one, AnswerStarted("m1"))
    clock.seconds = 1.0
    times.note(other, AnswerStarted("m2"))
    clock.seconds = 3.0
    times.end(other)
    times.end(one)
    assert chat.shown == [("m2", AnswerCost(2.0)), ("m1", AnswerCost(3.0))]


def test_an_answer_that_is_saved_or_could_not_be_has_ended(times, chat, clock):
    one, other, asked = Session("one"), Session("other"), Message("m0", "user", "Hi", "")
    times.note(one, AnswerStarted("m1"))
    times.note(other, AnswerStarted("m2"))
    clock.seconds = 1.0
    times.note(one, MessageSaved("one", asked))
    assert chat.shown == []
    times.note(one, MessageSaved("one", Message("m1", "assistant", "Hello", "")))
    times.note(other, SaveFailed("No room.", "no room"))
    assert chat.shown == [("m1", AnswerCost(1.0)), ("m2", AnswerCost(1.0))]


def test_thinking_lasts_until_anything_else_arrives(times, chat, clock):
    session = Session()
    times.note(session, ThinkingAdded("m2", "Hm"))
    clock.seconds = 2.0
    times.note(session, ThinkingAdded("m2", "m."))
    times.note(session, TextAdded("m2", "Yes"))
    times.note(session, TextAdded("m2", "."))
    assert chat.thoughts == [("m2", "Hm"), ("m2", "m."), ("m2", 2.0)]
