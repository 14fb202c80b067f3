from datetime import UTC, datetime

import pytest

from tests.app.controllers.stand_ins import Chat, Clock, Session
from tui.app.controllers.usage_meter import UsageMeter
from tui.domain.views.usage import AnswerCost, Usage

NOW = datetime(2026, 1, 20, 12, tzinfo=UTC)
USAGE = Usage(300, 100)


@pytest.fixture
def chat():
    return Chat()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def meter(chat, clock):
    return UsageMeter(chat, lambda: NOW, clock)


def test_an_answer_shows_its_time_and_tokens_when_it_ends(meter, chat, clock):
    session = Session()
    meter.begin(session, "m2")
    clock.seconds = 2.5
    meter.count(session, USAGE)
    assert chat.shown == []
    meter.end(session)
    cost, use = chat.shown
    assert cost == ("m2", AnswerCost(2.5, USAGE))
    assert use.percent == 40


def test_an_answer_without_tokens_shows_its_time_alone(meter, chat, clock):
    session = Session()
    meter.begin(session, "m2")
    clock.seconds = 1.0
    meter.end(session)
    assert chat.shown == [("m2", AnswerCost(1.0, None))]
    assert meter.context_use(session) is None


def test_the_end_of_no_answer_shows_nothing(meter, chat):
    meter.end(Session())
    assert chat.shown == []


def test_answers_of_different_sessions_are_timed_apart(meter, chat, clock):
    one, other = Session("one"), Session("other")
    meter.begin(one, "m1")
    clock.seconds = 1.0
    meter.begin(other, "m2")
    clock.seconds = 3.0
    meter.end(other)
    meter.end(one)
    assert chat.shown == [("m2", AnswerCost(2.0)), ("m1", AnswerCost(3.0))]


def test_tokens_of_all_answers_of_a_session_are_added(meter):
    session = Session()
    for _ in range(2):
        meter.count(session, USAGE)
    cost = meter.cost(session.id)
    assert (cost.since, cost.answers, cost.sent, cost.received) == (NOW, 2, 600, 200)
    assert meter.cost("another") is None


def test_the_use_of_the_window_is_unknown_after_a_reset(meter):
    session = Session()
    meter.begin(session, "m2")
    meter.count(session, USAGE)
    meter.end(session)
    assert meter.context_use(session).percent == 40
    session.messages = 0
    assert meter.context_use(session) is None
