"""A session and its versions: which messages are live, and which belong to each other."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.builders import answer, at, header, piece, user
from tests.domain.histories import HEADER
from tests.domain.trees import Tree
from tests.tables import each_row
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, State, Summary, decode, encode
from tui.domain.journal.session import Draft, Holder, Version, numbered, title_question
from tui.domain.json_text import MOST


def talk():
    fold = Fold(HEADER, name="Tale")
    fold.add(Message("m1", "user", "before", "t"), 100)
    fold.add(Reset("t"), 200)
    fold.add(Message("m2", "user", "after", "t"), 300)
    fold.add(Summary("so far", "m2"), 400)
    return fold.session()


def test_its_live_messages_and_all_those_before_a_reset_are_in_its_state():
    assert talk().id == HEADER.id
    assert [message.id for message in talk().loaded_messages] == ["m2"]
    assert [message.id for message in talk().all_messages] == ["m1", "m2"]
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


@each_row("count", [-1, 0, MOST, MOST + 1])
def test_its_state_can_be_read_whatever_it_counts(count):
    session = structs.replace(talk(), message_count=count, total_count=count, prompt_count=count)
    state = session.state("t")
    assert decode(encode(state).rstrip()) == state


def test_a_holder_is_told_with_the_local_time_to_the_minute_and_elsewhere_without_its_pid(zone):
    zone("JST-9")
    since = datetime(2026, 1, 11, 14, 30, 59, tzinfo=UTC)
    here = "in another window (pid 42 on host"
    assert str(Holder(42, "host", since)) == f"{here} since 2026-01-11 23:30)"
    assert str(Holder(42, "host", None)) == f"{here})"
    assert str(Holder(42, "host", None, is_here=False)) == "on host"


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


QUESTION, ANSWER, AGAIN = user("q"), answer("a1"), answer("a2", after="q")


def folded(*records, whole=True):
    fold = Fold(header(), whole=whole)
    for place, record in enumerate(records):
        fold.add(record, place)
    return fold


def session_of(*records, held=False):
    return folded(*records).session(held=held)


def ids(messages):
    return [message.id for message in messages]


def test_a_message_that_follows_an_earlier_one_leaves_out_what_stands_between_and_is_numbered():
    session = session_of(QUESTION, ANSWER, AGAIN, user("q2"))
    assert ids(session.loaded_messages) == ["q", "a2", "q2"]
    assert ids(session.all_messages) == ["q", "a1", "a2", "q2"]
    assert (session.message_count, session.total_count, session.prompt_count) == (3, 4, 2)
    session = session_of(QUESTION, ANSWER, AGAIN, answer("a3", after="q"), user("q2"))
    assert session.versions == dict.fromkeys(["a1", "a2", "a3"], ("a1", "a2", "a3"))
    assert numbered(session.versions)["a2"] == Version(2, 3)
    session = session_of(QUESTION, ANSWER, user("q2", after=""), answer("a2"))
    assert ids(session.loaded_messages) == ["q2", "a2"]
    assert session.versions["q"] == ("q", "q2")
    session = session_of(QUESTION, ANSWER, AGAIN, user("q2", after="a1"))
    assert ids(session.loaded_messages) == ["q", "a1", "q2"]
    session = session_of(QUESTION, ANSWER, user("q2", after="a1"))
    assert (session.everything, session.parents, session.versions) == ((), {}, {})


@each_row("after", ["nobody", "a2", "later", "before"])
def test_one_that_follows_what_is_not_before_it_is_damaged_and_follows_the_one_before(after):
    records = [user("before"), Reset(at(1)), QUESTION, ANSWER, answer("a2", after=after)]
    session = session_of(*records, user("later"))
    assert ids(session.loaded_messages) == ["q", "a1", "a2", "later"]
    assert (session.damaged, session.message_count) == (1, 4)


def test_what_is_streamed_is_live_from_its_first_piece_on():
    records = [QUESTION, ANSWER, piece("a2", 0, "ag", after="q"), piece("a2", 2, "ain")]
    held = session_of(*records, held=True)
    assert ids(held.loaded_messages) == ["q", "a2"]
    assert held.message_count == 1
    cut_off = session_of(*records)
    assert ids(cut_off.interrupted) == ["a2"]
    assert cut_off.interrupted[0].after == "q"
    assert (ids(cut_off.loaded_messages), cut_off.message_count) == (["q", "a2"], 2)


def test_a_version_that_was_retried_is_none():
    failed = answer("a2", status="failed", after="q")
    session = session_of(QUESTION, ANSWER, failed, answer("a3", replaces="a2"))
    assert ids(session.loaded_messages) == ["q", "a3"]
    assert session.versions == dict.fromkeys(["a1", "a3"], ("a1", "a3"))
    assert session.message_count == 2


def test_the_newest_summary_that_ends_at_a_live_message_counts_and_one_of_nothing_is_none():
    first, second = Summary("first", "q"), Summary("second", "a1")
    assert session_of(QUESTION, first, ANSWER, second).summary == second
    assert session_of(QUESTION, first, ANSWER, second, AGAIN).summary == first
    assert session_of(QUESTION, ANSWER, second, AGAIN).summary is None
    assert session_of(QUESTION, Summary("first", "q"), Summary("", "")).summary is None


def test_versions_before_a_reset_stay_there():
    session = session_of(QUESTION, ANSWER, AGAIN, Reset(at(1)), user("new"), user("n2", after=""))
    assert ids(session.loaded_messages) == ["n2"]
    assert ids(e for e in session.entries if isinstance(e, Message)) == ["q", "a2", "n2"]
    assert session.versions["new"] == ("new", "n2")
    assert session.versions["a1"] == ("a1", "a2")


def test_a_session_can_be_seen_as_if_an_earlier_message_were_its_last():
    fold = folded(QUESTION, Summary("s", "q"), ANSWER, AGAIN, user("q2"))
    assert ids(fold.up_to("a1").loaded_messages) == ["q", "a1"]
    assert fold.up_to("a1").message_count == 2
    assert ids(fold.up_to("").loaded_messages) == []
    assert fold.up_to("").summary is None
    with pytest.raises(LookupError):
        fold.up_to("nobody")


@st.composite
def trees(draw):
    """Messages that follow the one before them, or any other one before."""
    tree, records = Tree(), []
    for number in range(draw(st.integers(0, 12))):
        after = draw(st.none() | st.sampled_from(["", *tree.said]))
        tree.say(f"m{number}", after)
        records.append(user(f"m{number}", after=after))
    return tree, records


@given(trees())
def test_any_tree_of_versions_is_read_as_it_was_said(drawn):
    tree, records = drawn
    session = session_of(*records)
    assert ids(session.loaded_messages) == tree.live
    assert ids(session.all_messages) == tree.said
    assert session.message_count == len(tree.live)
    assert (session.total_count, session.damaged) == (len(tree.said), 0)
    told = {each: tree.versions(each) for each in tree.said}
    assert session.versions == {each: group for each, group in told.items() if len(group) > 1}


@given(trees(), st.data())
def test_any_message_of_a_tree_can_be_seen_as_the_last(drawn, data):
    tree, records = drawn
    last = data.draw(st.sampled_from(["", *tree.said]))
    assert ids(folded(*records).up_to(last).loaded_messages) == tree.chain(last)


@given(trees(), st.integers(0, 12))
def test_going_on_from_a_session_with_versions_is_folding_on(drawn, count):
    _, records = drawn
    begun = Fold.continuing(folded(*records[:count]).session())
    for record in records[count:]:
        begun.add(record)
    known, whole = begun.session(), session_of(*records)
    assert ids(known.loaded_messages) == ids(whole.loaded_messages)
    assert known.message_count == whole.message_count
    assert known.versions == whole.versions
