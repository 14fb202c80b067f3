"""The pictures that a request carries."""

import pytest

from tests.attached import NOTES, numbered, showing
from tui.domain.journal.message import Message
from tui.engine.model_requests import (
    REQUEST_PICTURE_BYTES,
    estimated_tokens,
    pictures_of,
    project,
    with_newest_pictures,
    without_pictures,
)

WIDE = 10_000_000


def says(role, content):
    return Message("m", role, content, "2026-01-01T00:00:00.000Z")


def talk(number, size=1000):
    """So many questions, each with a picture, and their answers."""
    for each in range(number):
        yield says("user", showing(f"See {each}", numbered(each, size)))
        yield says("assistant", "Yes.")


def sent(messages):
    return project("", None, list(messages), WIDE)


def names(messages):
    return [picture.name for picture in pictures_of(messages)]


def test_as_many_as_a_request_carries_are_sent():
    projection = sent(talk(20))
    assert len(names(projection.request.messages)) == 20
    assert not projection.labelled


def test_of_older_ones_only_the_labels_are_sent():
    projection = sent(talk(21))
    assert projection.labelled
    assert names(projection.request.messages) == [f"{number}.png" for number in range(5, 21)]
    assert projection.request.messages[0].text == "See 0\n[image: 0.png, 1 KB]"


def test_several_requests_begin_with_the_same_messages():
    first, *more = (sent(talk(number)).request.messages[:12] for number in range(21, 26))
    assert more == [first] * 4


def test_what_is_too_large_together_is_left_out_but_never_the_newest():
    assert names(sent(talk(4, REQUEST_PICTURE_BYTES // 3)).request.messages) == ["3.png"]
    assert names(sent(talk(3, REQUEST_PICTURE_BYTES // 3)).request.messages) == [
        "0.png",
        "1.png",
        "2.png",
    ]
    assert names(sent(talk(2, 2 * REQUEST_PICTURE_BYTES)).request.messages) == ["1.png"]


def test_the_pictures_of_the_last_question_are_spared():
    many = [*talk(16), says("user", showing("All", *map(numbered, range(100, 105))))]
    assert names(sent(many).request.messages)[-5:] == [
        f"{number}.png" for number in range(100, 105)
    ]


def test_a_model_that_sees_none_is_sent_labels_and_files():
    content = showing("See", numbered(1), NOTES)
    (only,) = without_pictures([says("user", content)])
    assert only.content == f"See\n[image: 1.png, 1 KB]\n{NOTES.fenced}"


def test_pictures_within_one_message_become_labels_oldest_first():
    many = [says("user", showing("See", *map(numbered, range(22))))]
    (only,) = with_newest_pictures(many)
    assert names([only])[0] == "2.png"
    assert only.text == many[0].text


def test_a_picture_counts_more_tokens_than_its_label():
    seen = says("user", showing("See", numbered(1)))
    assert estimated_tokens(seen) == pytest.approx(1_620, abs=20)


def test_a_file_counts_its_text():
    read = says("user", showing("See", NOTES))
    assert estimated_tokens(read) == estimated_tokens(says("user", read.text))
