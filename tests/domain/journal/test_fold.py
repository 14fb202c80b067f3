"""The records of a journal folded to a session: the rules of docs/journal-format.md, one by one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.histories import HEADER, at, folded, histories
from tests.domain.journal_lines import LINES
from tests.strategies import records
from tests.tables import each_row
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    Closed,
    Offsets,
    Opened,
    Partial,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
    decode,
)
from tui.domain.journal.todo import TodoItem

SETTINGS = Settings(system_prompt="Be brief.", pinned=True)
TODOS = Todos(items=(TodoItem(content="write", status="pending", active_form="writing"),))
SUMMARY = Summary(text="so far", through="m1")
RESET = Reset(at=at(9))
BEGIN = at(0)


def user(message_id, text="question", time=BEGIN, **fields):
    return Message(message_id, "user", text, time, **fields)


def answer(message_id, text="answer", time=BEGIN, **fields):
    return Message(message_id, "assistant", text, time, **fields)


def first(message_id, text, **fields):
    """The first piece of an answer, which says whose it is."""
    whose = {"role": "assistant", "timestamp": at(5), "model": "openai:x"}
    return Partial(message_id, 0, text, **(whose | fields))


def piece(message_id, place, text):
    return Partial(message_id, place, text)


def state(**fields):
    known = {
        "name": "",
        "model": "offline:guide",
        "prompt_count": 0,
        "message_count": 0,
        "total_count": 0,
        "updated_at": at(8),
        "offsets": Offsets(),
    }
    return State(**(known | fields))


def session_of(*records, held=False, whole=True):
    return folded(records, Fold(HEADER, whole=whole)).session(held=held)


def ids(messages):
    return [message.id for message in messages]


def texts(session):
    return [message.text for message in session.loaded_messages]


def counts(session):
    return session.message_count, session.total_count


# --- messages


def test_a_session_begins_with_its_header_and_unknown_records_or_a_second_one_change_nothing():
    session = session_of()
    assert (session.id, session.name, session.model) == ("tale", "", "offline:guide")
    assert (session.loaded_messages, session.todos, session.summary) == ((), (), None)
    assert (session.settings, session.last_record_at) == (Settings(), HEADER.created_at)
    assert (counts(session), session.prompt_count) == ((0, 0), 0)

    other = SessionHeader(2, "other", "", "", 9, "", "other")
    fold = folded([user("m1"), TODOS])
    before = fold.session()
    fold.add(None, 2)
    fold.add(other, 3)
    assert fold.session() == before


def test_messages_of_every_role_stand_in_the_order_of_the_file_whatever_their_times():
    tool = Message("m3", "tool", "result", "?", tool_call_id="c")
    session = session_of(user("m1", time=at(9)), answer("m2", time=at(1)), tool)
    assert (ids(session.loaded_messages), counts(session)) == (["m1", "m2", "m3"], (3, 3))


def test_an_id_seen_again_replaces_the_earlier_message_in_its_place_also_before_a_reset():
    session = session_of(user("m1", "one"), answer("m2"), user("m1", "new one"))
    assert texts(session) == ["new one", "answer"]
    assert (counts(session), session.prompt_count) == ((2, 2), 1)
    session = session_of(user("m1"), RESET, user("m1", "new one"))
    assert (texts(session), counts(session)) == ([], (0, 1))
    assert [message.text for message in session.all_messages] == ["new one"]
    retried = answer("m2", replaces="m1")
    fold = Fold.continuing(session_of(user("m0"), answer("m1"), retried))
    assert counts(folded([retried], fold).session()) == (2, 3)


@each_row(
    "records, shown, counted",
    [
        ((user("m1"), answer("m2", status="failed"), answer("m3", replaces="m2")), "13", (2, 3)),
        ((answer("m1"), *(answer(f"m{n}", replaces=f"m{n - 1}") for n in (2, 3, 4))), "4", (1, 4)),
        ((answer("m1"), answer("m2", replaces="m1"), answer("m3", replaces="m1")), "23", (2, 3)),
        ((answer("m2", replaces="m1"), answer("m1")), "2", (1, 2)),
        ((answer("m1"), answer("m2"), answer("m2", replaces="m1")), "2", (1, 2)),
        ((answer("m1"), RESET, answer("m2", replaces="m1")), "2", (1, 2)),
        ((answer("m2", replaces="m1"),), "2", (1, 1)),
        ((answer("m1", status="failed"), first("m2", "again", replaces="m1")), "2", (1, 2)),
        ((first("m1", "cut"), answer("m2", replaces="m1")), "2", (1, 2)),
    ],
)
def test_what_is_replaced_is_hidden_and_counted_once_in_the_total_only(records, shown, counted):
    session = session_of(*records)
    assert ids(session.loaded_messages) == [f"m{number}" for number in shown]
    assert counts(session) == counted


# --- answers that are still arriving, or never came to their end


def test_pieces_are_interrupted_without_a_holder_and_not_counted_yet_with_one():
    begun = first("m2", "Once ", replaces="m0"), piece("m2", 5, "upon")
    session = session_of(user("m1"), *begun, first("m3", "three"))
    expected = answer(
        "m2", "Once upon", at(5), status="interrupted", model="openai:x", replaces="m0"
    )
    assert session.loaded_messages[:2] == (user("m1"), expected)
    assert (session.interrupted[0], session.arriving) == (expected, frozenset())
    assert (ids(session.interrupted), counts(session)) == (["m2", "m3"], (3, 3))
    session = session_of(user("m1"), first("m2", "Once "), piece("m2", 5, "upon"), held=True)
    assert session.loaded_messages[1] == answer("m2", "Once upon", at(5), model="openai:x")
    assert (session.interrupted, session.arriving) == ((), frozenset({"m2"}))
    assert counts(session) == (1, 1)


@pytest.mark.parametrize("held", [True, False])
def test_the_message_at_the_end_replaces_its_pieces_where_they_began(held):
    session = session_of(first("m1", "Once "), TODOS, answer("m1", "Once upon"), held=held)
    assert session.loaded_messages == (answer("m1", "Once upon"),)
    assert (session.interrupted, session.arriving) == ((), frozenset())
    assert counts(session) == (1, 1)


def test_a_message_at_the_end_stands_where_its_pieces_began_and_those_after_it_are_old_news():
    session = session_of(first("m1", "Once"), SUMMARY, user("m2"), answer("m1"))
    assert session.entries == (answer("m1"), SUMMARY, user("m2"))
    session = session_of(answer("m1", "whole"), first("m1", "wh"), piece("m1", 2, "o"))
    assert (texts(session), session.interrupted, counts(session)) == (["whole"], (), (1, 1))
    fold = folded([first("m1", "Once ")])
    assert texts(fold.session()) == ["Once "]
    fold.add(piece("m1", 5, "upon"))
    assert (texts(fold.session()), counts(fold.session())) == (["Once upon"], (1, 1))


@each_row(
    "begin, pieces, text",
    [
        ("Once ", [(5, "upon"), (5, "upon a")], "Once upon a"),
        ("Once upon", [(5, "there was")], "Once there was"),
        ("One ", [(4, "two "), (8, "three"), (2, "c")], "Onc"),
        ("会話😀", [(3, "!")], "会話😀!"),
        ("Once ", [(10, "a time")], "Once a time"),
    ],
)
def test_each_piece_counts_from_its_own_place(begin, pieces, text):
    assert texts(session_of(first("m1", begin), *(piece("m1", *each) for each in pieces))) == [text]


def test_an_answer_of_very_many_pieces_is_folded_in_the_time_of_one_reading():
    part = "x" * 500
    begun = time.process_time()
    session = session_of(
        first("m1", part), *(piece("m1", place * 500, part) for place in range(1, 20_000))
    )
    assert len(texts(session)[0]) == 10_000_000
    # Joined at every piece it takes the processor minutes on a slow machine, this a second.
    assert time.process_time() - begun < 10


def test_without_its_first_piece_an_answer_is_kept_as_far_as_it_is_known():
    records = [user("m1", time=at(1)), piece("m2", 5, "upon")]
    session = session_of(*records)
    assert session.interrupted == (answer("m2", "upon", "", status="interrupted"),)
    assert session.last_record_at == at(1)
    session = session_of(*records, *session.interrupted)
    assert (session.last_used_at, session.last_record_at) == (at(1), at(1))


def test_an_answer_that_began_before_a_reset_ends_there_too():
    for end in [(), (answer("m1"),)]:
        session = session_of(first("m1", "cut"), RESET, user("m2"), *end)
        assert (ids(session.loaded_messages), counts(session)) == (["m2"], (1, 2))
        assert ids(session.all_messages) == ["m1", "m2"]


# --- resets


def test_after_the_last_reset_messages_start_anew_and_all_else_stays():
    session = session_of(user("m1"), RESET, answer("m2"), RESET, user("m3"))
    assert ids(session.loaded_messages) == ["m3"]
    assert ids(session.all_messages) == ["m1", "m2", "m3"]
    assert session.entries[session.live_from - 1] == RESET
    assert counts(session) == (1, 3)
    told = state(name="Tale", model="openai:x", prompt_count=3)
    session = session_of(SETTINGS, Settings(temperature=0.5), told, TODOS, RESET)
    assert (session.name, session.model, session.prompt_count) == ("Tale", "openai:x", 3)
    assert (session.todos, session.settings) == (TODOS.items, Settings(temperature=0.5))
    assert session_of(TODOS, Todos(items=())).todos == ()


# --- summary and to-dos


def test_the_last_summary_counts_and_one_of_the_built_in_guide_is_only_shown():
    later = Summary(text="more", through="m2")
    session = session_of(user("m1"), SUMMARY, user("m2"), later)
    assert session.summary == later
    assert session.entries == (user("m1"), SUMMARY, user("m2"), later)
    assert ids(session.loaded_messages) == ["m1", "m2"]
    assert session_of(user("m1"), SUMMARY, RESET).summary is None
    assert session_of(user("m1"), RESET, SUMMARY).summary == SUMMARY
    guided = Summary("I am the guide.", "m1", "offline:guide")
    session = session_of(user("m1"), SUMMARY, guided)
    assert session.summary == SUMMARY
    assert session.entries[-1] == guided
    fold = Fold(HEADER, whole=False)
    fold.seed(guided)
    assert fold.session().summary is None
    fold.seed(SUMMARY)
    fold.seed(TODOS)
    assert (fold.session().summary, fold.session().todos) == (SUMMARY, TODOS.items)
    assert fold.session().entries == ()


# --- states


def test_the_last_state_counts_but_messages_of_a_whole_file_are_counted():
    session = session_of(state(name="old"), state(name="Tale", model="openai:x", updated_at=at(9)))
    assert (session.name, session.model) == ("Tale", "openai:x")
    assert session.updated_at == session.last_record_at == at(9)
    assert session_of(state(model="openai:x"), state(model="")).model == HEADER.model
    told = state(message_count=9, total_count=9, prompt_count=41)
    session = session_of(user("m1"), told, user("m2"), answer("m3"))
    assert (counts(session), session.prompt_count) == ((3, 3), 42)


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        ([user("m2")], (10, 13)),
        ([answer("m2", replaces="m1")], (9, 13)),
        ([RESET, answer("m2", replaces="m1")], (1, 13)),
    ],
)
def test_from_the_middle_on_counts_go_on_from_the_state(records, counted):
    told = state(message_count=9, total_count=12)
    assert counts(session_of(told, *records, whole=False)) == counted
    # What was read before the state is in its counts already.
    assert counts(session_of(user("m0"), told, *records, whole=False)) == counted


# --- offsets


def test_offsets_say_where_the_last_records_begin_and_go_on_from_the_state():
    assert session_of(user("m1"), SUMMARY, TODOS, SUMMARY).offsets == known(summary=3, todos=2)
    assert session_of(SUMMARY, TODOS, RESET).offsets == known(todos=1, reset=2)
    assert session_of(RESET, SUMMARY, RESET, TODOS).offsets == known(todos=3, reset=2)
    assert session_of(SETTINGS, RESET, SETTINGS, RESET).offsets == known(reset=3, settings=2)
    told = state(offsets=Offsets(summary=10, todos=20, reset=5))
    fold = folded([told, TODOS], Fold(HEADER, whole=False), first=30)
    assert fold.session().offsets == Offsets(summary=10, todos=31, reset=5)


def known(**places):
    return Offsets(**{"settings": None, **places})


# --- times


def test_last_use_is_the_newest_message_by_its_time_which_is_kept_as_it_stands():
    session = session_of(user("m1", time=at(7)), answer("m2", time=at(3)), user("m3", time="?"))
    assert session.last_used_at == at(7)
    session = session_of(user("m1", time="2026-01-01T09:00:00+09:00"), user("m2", time=at(60)))
    assert session.last_used_at == at(60)
    session = session_of(user("m1", time=at(60)), user("m2", time="2026-01-01T09:02:00+09:00"))
    assert session.last_used_at == "2026-01-01T09:02:00+09:00"


@pytest.mark.parametrize("use", [Opened(at=at(9), resumed=True), Restored(at=at(9))])
def test_an_explicit_resume_and_a_restore_are_uses(use):
    assert session_of(user("m1", time=at(3)), use).last_used_at == at(9)
    assert session_of(use, user("m1", time=at(3))).last_used_at == at(9)


@each_row(
    "other",
    [
        *(Opened(at=at(9)), Closed(at=at(9)), RESET, SUMMARY, TODOS),
        *(state(name="Tale", updated_at=at(9)), first("m2", "piece")),
    ],
)
def test_a_look_a_name_and_all_else_are_no_uses(other):
    assert session_of(user("m1", time=at(3)), other).last_used_at == at(3)
    assert session_of(other).last_used_at is None


def test_opened_and_closed_are_the_last_ones_and_what_is_opened_again_is_not_closed():
    opened = session_of(Opened(at=at(1)), Closed(at=at(2)), Opened(at=at(3)))
    assert (opened.opened_at, opened.closed_at) == (at(3), None)
    closed = session_of(Opened(at=at(1)), Closed(at=at(2)), Restored(at=at(3)))
    assert (closed.opened_at, closed.closed_at) == (at(1), at(2))


@each_row(
    "last",
    [
        *(user("m9", time=at(7)), first("m9", "x", timestamp=at(7)), state(updated_at=at(7))),
        *(Reset(at=at(7)), Opened(at=at(7)), Closed(at=at(7)), Restored(at=at(7))),
    ],
)
def test_the_time_of_the_last_record_is_known(last):
    assert session_of(user("m1", time=at(3)), last).last_record_at == at(7)
    assert session_of(user("m1", time=at(3)), last, TODOS).last_record_at == at(7)


# --- all of it


def test_the_journal_of_version_1_amounts_to_what_it_did():
    session = folded(map(decode, LINES)).session()
    assert (session.name, session.model) == ("", "openai:gpt-5")
    assert (counts(session), session.prompt_count) == ((2, 10), 3)
    assert [message.text for message in session.all_messages] == [
        *("Fix the bug in auth.py", "Reading it first.", "def login(): …"),
        *("会話 \x85 \u2028 \ud800 😀", "It is done.\n[image]", "", "Cut ", "Again.", "Yes."),
    ]
    assert (texts(session), session.summary) == (["Again.", "Yes."], None)
    assert session.settings.system_prompt == "Be brief."
    assert session.versions["m9"] == ("m8", "m9")
    assert [item.status for item in session.todos] == ["completed", "in_progress", "pending"]
    assert session.last_used_at == "2026-02-20T08:00:18.000Z"


@given(histories())
def test_a_whole_file_counts_what_it_shows(history):
    session = folded(history.records).session()
    assert session.message_count == len(session.loaded_messages)
    told = {each.id for each in history.records if isinstance(each, Message)}
    assert session.total_count == len(told | set(ids(session.interrupted)))
    prompts = {each.id for each in history.records if getattr(each, "role", "") == "user"}
    assert session.prompt_count == len(prompts)


def cuts_an_answer(records, seam):
    """Whether something of one message stands on both sides."""
    sides = records[:seam], records[seam:]
    before, after = ({getattr(r, "id", getattr(r, "message_id", None)) for r in s} for s in sides)
    return bool((before & after) - {None})


@given(histories(), st.data())
def test_from_a_state_on_a_session_is_what_the_whole_file_says(history, data):
    if not history.states:
        return
    place = data.draw(st.sampled_from(history.states), "state")
    # As a reader does that goes back to the beginning of an answer.
    seams = [seam for seam in history.seams if seam <= place]
    begins = [seam for seam in seams if not cuts_an_answer(history.records, seam)]
    begin = data.draw(st.sampled_from(begins), "begin")
    offsets = history.records[place].offsets
    fold = Fold(HEADER, whole=False)
    for hint in (offsets.summary, offsets.todos, offsets.settings):
        if hint is not None and hint < begin:
            fold.seed(history.records[hint])
    part = folded(history.records[begin:], fold, first=begin).session()
    whole = folded(history.records).session()
    for name in _KNOWN_FROM_A_STATE_ON:
        assert getattr(part, name) == getattr(whole, name), name
    assert (
        part.loaded_messages
        == whole.loaded_messages[len(whole.loaded_messages) - len(part.loaded_messages) :]
    )


_KNOWN_FROM_A_STATE_ON = [
    *("name", "model", "prompt_count", "message_count", "total_count", "summary"),
    *("todos", "settings", "offsets", "interrupted", "updated_at", "last_record_at"),
]


@given(histories(), st.data())
def test_going_on_from_a_session_is_folding_on(history, data):
    begin = data.draw(st.sampled_from(history.seams), "begin")
    session = folded(history.records[:begin]).session()
    on = folded(history.records[begin:], Fold.continuing(session), first=begin).session()
    assert on == folded(history.records).session()


@given(histories(), st.booleans())
def test_a_session_is_written_as_the_state_that_brings_it_back(history, held):
    session = folded(history.records).session(held=held)
    told = session.state(at(3000))
    assert told.updated_at == at(3000)
    back = folded([told], Fold(HEADER, whole=False)).session()
    assert back.state(at(3000)) == told


@given(st.lists(records(), max_size=12), st.booleans(), st.booleans())
def test_no_records_are_too_strange_to_be_folded(soup, held, whole):
    session = session_of(*soup, held=held, whole=whole)
    assert session.state(at(9)).name == session.name


def clashing():
    """Messages, pieces, resets and states in any order, of the same few ids."""
    names = st.sampled_from(["m1", "m2", "m3"])
    fields = {"timestamp": st.just(at(1)), "replaces": st.none() | names}
    roles = st.sampled_from(["user", "assistant"])
    return st.one_of(
        st.builds(Message, id=names, role=roles, content=st.just("x"), **fields),
        st.builds(Partial, message_id=names, at=st.integers(0, 3), text=st.just("x"), **fields),
        st.sampled_from([RESET, SUMMARY, state(message_count=9, total_count=9)]),
    )


@given(st.lists(clashing(), max_size=12))
def test_in_any_order_of_records_what_shows_is_counted(soup):
    session = session_of(*soup)
    assert session.message_count == len(session.loaded_messages)
    assert session.total_count >= len(session.all_messages)
