from tui.domain.journal.message import Message, TokenUsage
from tui.domain.views.message_details import details
from tui.domain.views.usage import AnswerCost


def test_details_say_when_by_whom_how_long_and_which():
    message = Message("m-1", "assistant", "Well.", "2026-01-11T14:30:23.456Z", model="openai:x")
    said = details(message).split(" · ")
    assert said[0].startswith("2026-01-1")
    assert len(said[0].split()) == 3
    assert said[1:] == ["openai:x", "complete", "5 characters", "m-1"]


def test_what_is_not_known_is_left_out_and_nothing_is_raw():
    said = details(Message("a\x1bb", "user", "x", "yesterday"))
    assert said == "time unknown · 1 character · a\u241bb"


def test_details_say_what_an_answer_took_with_time_and_price_in_the_run_that_made_it():
    message = Message("m", "assistant", "Well.", "yesterday", usage=TokenUsage(9104, 312))
    assert details(message).split(" · ")[3:-1] == ["9,104 tokens sent, 312 received"]
    assert details(message, AnswerCost(12.4, 0.02119)).split(" · ")[3:-1] == [
        "took 12 s",
        "9,104 tokens sent, 312 received",
        "$0.0212",
    ]
