import pytest

from tests.app.controllers.stand_ins import Chat, Clock, Session
from tui.app.controllers.usage_meter import UsageMeter
from tui.domain.views.usage import AnswerCost


@pytest.fixture
def chat():
    return Chat()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def meter(chat, clock):
    return UsageMeter(chat, clock)


def test_an_answer_shows_its_time_and_its_last_price_when_it_ends(meter, chat, clock):
    session = Session()
    meter.begin(session, "m2")
    clock.seconds = 2.5
    meter.price(session, 0.01)
    meter.price(session, 0.02)
    assert chat.shown == []
    meter.end(session)
    assert chat.shown == [("m2", AnswerCost(2.5, 0.02))]


def test_an_answer_without_a_price_shows_its_time_alone(meter, chat, clock):
    session = Session()
    meter.begin(session, "m2")
    meter.price(session, 0.02)
    meter.end(session)
    meter.begin(session, "m3")
    clock.seconds = 1.0
    meter.end(session)
    assert chat.shown[1:] == [("m3", AnswerCost(1.0, None))]


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
