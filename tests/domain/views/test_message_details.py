from tests.attached import NOTES, picture, showing
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


def test_details_list_what_came_with_a_question():
    content = showing("See", NOTES, picture(size=120_000))
    said = details(Message("m", "user", content, "yesterday")).split(" · ")
    assert said[1:-1] == [
        "3 characters",
        "file: notes.txt, 9 bytes",
        f"image: photo.png, 120 KB, {picture().sha256[:12]}",
    ]


def test_a_name_without_end_is_cut_in_details_and_nothing_in_it_is_raw():
    content = showing("", picture("\x1b[31m" + "x" * 4000 + "\n.png"))
    said = details(Message("m", "user", content, "yesterday")).split(" · ")[2]
    assert said.startswith("image: \u241b[31mxx")
    assert "…" in said
    assert "\u240a.png, 70 bytes, " in said
    assert len(said) < 150


def test_details_say_what_an_answer_took_with_time_and_price_in_the_run_that_made_it():
    message = Message("m", "assistant", "Well.", "yesterday", usage=TokenUsage(9104, 312))
    assert details(message).split(" · ")[3:-1] == ["9,104 tokens sent, 312 received"]
    assert details(message, AnswerCost(12.4, 0.02119)).split(" · ")[3:-1] == [
        "took 12 s",
        "9,104 tokens sent, 312 received",
        "$0.0212",
    ]
