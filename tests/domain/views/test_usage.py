import msgspec
import pytest

from tests.builders import Clock
from tui.domain.journal.message import Message
from tui.domain.views.message_details import details
from tui.domain.views.status_line import SessionStatus
from tui.domain.views.usage import AnswerCost, ContextUse, SessionCost, Usage, money

STATUS = SessionStatus("session-1", "Bug", 4, "openai:x", "project:/shop")


def test_details_say_what_an_answer_took():
    message = Message("m-1", "assistant", "Well.", "2026-01-11T14:30:23.456Z", model="openai:x")
    cost = AnswerCost(12.4, Usage(9104, 312, 0.02119))
    assert details(message, cost).split(" · ")[1:] == [
        "openai:x",
        "complete",
        "5 characters",
        "took 12 s",
        "9,104 tokens sent, 312 received",
        "at most $0.0212",
        "m-1",
    ]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (AnswerCost(), ()),
        (AnswerCost(0.83), ("took 0.8 s",)),
        (AnswerCost(59.7), ("took 1 min 0 s",)),
        (AnswerCost(75), ("took 1 min 15 s",)),
        (AnswerCost(None, Usage(1, 2)), ("1 tokens sent, 2 received",)),
    ],
)
def test_of_a_cost_only_what_is_known_is_told(cost, words):
    assert cost.words == words


@pytest.mark.parametrize(
    ("dollars", "words"),
    [
        (0, "$0.0000"),
        (0.00001, "$0.0001"),
        (0.0212, "$0.0212"),
        (1.234, "$1.24"),
        (1234, "$1,234.00"),
    ],
)
def test_money_is_never_less_than_what_is_asked(dollars, words):
    assert money(dollars) == words


def test_how_full_a_window_is_holds_until_something_is_taken_away():
    use = ContextUse(STATUS, 9_000, 128_000)
    replace = msgspec.structs.replace
    assert use.percent == 7
    assert use.holds_for(replace(STATUS, message_count=5, running=True))
    # After a reset, by another model, after a summary, in another session.
    assert not use.holds_for(replace(STATUS, message_count=1))
    assert not use.holds_for(replace(STATUS, model="openai:y"))
    assert not use.holds_for(replace(STATUS, summarised="m-1"))
    assert not use.holds_for(replace(STATUS, session_id="session-2"))


def test_what_is_spent_adds_up():
    cost = SessionCost(Clock()()).plus(Usage(10, 1, 0.5)).plus(Usage(20, 2))
    assert (cost.answers, cost.sent, cost.received) == (2, 30, 3)
    assert (cost.dollars, cost.unpriced) == (0.5, 1)
