from datetime import UTC, datetime

import pytest
from msgspec import structs

from tests.builders import answer, user
from tests.domain.histories import HEADER
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, State, Summary, decode, encode
from tui.domain.journal.session import Draft, Holder, title_question
from tui.domain.json_text import MOST


def talk():
    fold = Fold(HEADER, name="Tale")
    fold.add(Message("m1", "user", "before", "t"), 100)
    fold.add(Reset("t"), 200)
    fold.add(Message("m2", "user", "after", "t"), 300)
    fold.add(Summary("so far", "m2"), 400)
    return fold.session()


def test_a_session_has_the_id_of_its_header():
    assert talk().id == HEADER.id


def test_its_messages_are_the_live_ones_without_the_marks_between_them():
    assert [message.id for message in talk().loaded_messages] == ["m2"]


def test_all_its_messages_are_those_before_a_reset_too():
    assert [message.id for message in talk().all_messages] == ["m1", "m2"]


@pytest.mark.parametrize("count", [-1, 0, MOST, MOST + 1])
def test_its_state_can_be_read_whatever_it_counts(count):
    session = structs.replace(talk(), message_count=count, total_count=count, prompt_count=count)
    state = session.state("t")
    assert decode(encode(state).rstrip()) == state


def test_its_state_says_what_a_reader_of_the_end_needs():
    session = talk()
    assert session.state("now") == State(
        name="Tale",
        model=HEADER.model,
        prompt_count=2,
        message_count=1,
        total_count=2,
        updated_at="now",
        offsets=session.offsets,
    )
    assert (session.offsets.reset, session.offsets.summary) == (200, 400)


def test_a_holder_is_told_with_the_local_time_to_the_minute(zone):
    zone("JST-9")
    since = datetime(2026, 1, 11, 14, 30, 59, tzinfo=UTC)
    assert (
        str(Holder(42, "host", since))
        == "in another window (pid 42 on host since 2026-01-11 23:30)"
    )


def test_a_holder_on_another_machine_is_told_without_its_pid():
    assert str(Holder(42, "host", None, is_here=False)) == "on host"


def test_a_holder_whose_time_is_not_known_is_told_without_it():
    assert str(Holder(42, "host", None)) == "in another window (pid 42 on host)"


@pytest.mark.parametrize(
    ("text", "queued", "empty"), [("", (), True), (" ", (), False), ("", ("next",), False)]
)
def test_a_draft_is_empty_without_text_and_queue(text, queued, empty):
    assert Draft("tale", "scope", "/shop", text, queued).empty is empty


def test_a_draft_knows_its_folded_pastes():
    draft = Draft("tale", "scope", "/shop", "see abc and d", folded=((4, 7), (12, 13), (90, 99)))
    assert draft.pastes == ("abc", "d")


def test_where_no_question_can_be_read_the_first_answer_is_the_title():
    assert title_question([answer("a1", " "), answer("a2", "It is 2."), answer("a3", "No.")]) == (
        "It is 2."
    )
    assert title_question([answer("a1", "It is 2."), user("u2", "And three?")]) == "And three?"
