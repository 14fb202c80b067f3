"""A session that this program writes to."""

import asyncio
import threading

import pytest

from tests.builders import kept_texts
from tests.failing import raiser
from tui.domain.journal import records
from tui.domain.journal.records import Partial, Settings, State, Summary, Todos, encode
from tui.domain.journal.todo import TodoItem
from tui.engine.sessions.open_session import STATE_BYTES, take_session
from tui.errors import SessionBusy, SessionNotFound, StorageError, StorageFull
from tui.storage.journal import Journal
from tui.storage.protocol import SessionFilter


def kinds(records):
    return [type(record).__name__ for record in records]


async def test_a_session_in_which_nothing_happened_leaves_nothing_behind(session, store):
    await session.save()
    await session.close()
    assert store.list(SessionFilter(), None, 10).entries == ()
    assert not session.published


async def test_the_first_change_says_that_the_lease_was_taken(session):
    session.add_message("user", "hello")
    assert kinds(session.pending) == ["Opened", "Message"]


async def test_what_was_saved_is_no_longer_pending_and_is_in_the_store(session, store):
    message = session.add_message("user", "hello")
    await session.save()
    assert session.pending == ()
    assert store.journal(session.id).load().loaded_messages == (message,)


async def test_what_could_not_be_saved_stays_pending_and_is_saved_next_time(session, store):
    session.add_message("user", "hello")
    store.fail_next(StorageFull("no room"))
    with pytest.raises(StorageFull):
        await session.save()
    assert session.unsaved
    await session.save()
    assert kept_texts(store, session.id) == ["hello"]
    assert not session.unsaved


async def test_a_closed_session_can_be_taken_by_others_and_tells_its_state(session, store, clock):
    session.add_message("user", "hello")
    session.rename("Greeting")
    await session.close()
    assert store.holder(session.id) is None
    entry = store.entry(session.id)
    assert (entry.name, entry.message_count, entry.status) == ("Greeting", 1, "closed")
    assert entry.closed_at is not None


async def test_a_close_that_cannot_save_keeps_the_lease_until_the_session_is_abandoned(
    session, store, clock
):
    session.add_message("user", "hello")
    await session.save()
    session.add_message("user", "more")
    store.fail_next(StorageFull("no room"))
    with pytest.raises(StorageFull):
        await session.close()
    with pytest.raises(SessionBusy):
        take_session(store, session.id, clock)
    session.abandon()
    assert kept_texts(store, session.id) == ["hello"]


async def test_a_resumed_session_goes_on_where_it_was(new_session, resume, store):
    first = new_session()
    first.add_message("user", "one")
    first.rename("Talk")
    await first.close()
    second = resume(first.id)
    second.add_message("user", "two")
    await second.close()
    session = store.journal(first.id).load()
    assert [each.text for each in session.loaded_messages] == ["one", "two"]
    assert (session.name, session.prompt_count, session.message_count) == ("Talk", 2, 2)


async def test_taking_a_session_for_a_change_does_not_make_it_active(new_session, store, clock):
    first, second = new_session(), new_session()
    for session in (first, second):
        session.add_message("user", "hello")
        await session.close()
    await take_session(store, first.id, clock).close()
    assert store.active("project:/shop") == second.id


async def test_an_answer_that_a_crash_cut_off_is_written_by_the_next_holder(session, resume, store):
    session.add_message("user", "hello")
    answer = session.begin_answer("scripted:model")
    answer.receive("half an ans")
    session.add_piece(answer)
    await session.save()
    session.abandon()
    again = resume(session.id)
    assert kinds(again.pending) == ["Opened", "Message"]
    await again.close()
    written = store.journal(session.id).load()
    assert written.interrupted == ()
    assert [(m.text, m.status) for m in written.loaded_messages] == [
        ("hello", None),
        ("half an ans", "interrupted"),
    ]


async def test_pieces_that_were_not_written_yet_are_not_written_beside_the_whole_answer(session):
    answer = session.begin_answer("scripted:model")
    answer.receive("all of it")
    session.add_piece(answer)
    session.end_answer(answer)
    assert not any(isinstance(record, Partial) for record in session.pending)


async def test_no_piece_is_written_behind_the_whole_answer(session, store):
    session.add_message("user", "hello")
    answer = session.begin_answer("m")
    answer.receive("once")
    session.interrupt()
    answer.receive(" upon a time")
    session.add_piece(answer)
    assert not any(isinstance(record, Partial) for record in session.pending)
    await session.save()
    assert kept_texts(store, session.id) == ["hello", "once"]


async def test_a_state_is_written_at_least_every_64_kib(session):
    for _ in range(20):
        session.add_message("user", "x" * 10_000)
    since = 0
    for record in session.pending:
        since = 0 if isinstance(record, State) else since + len(encode(record))
        assert since <= STATE_BYTES


async def test_a_message_is_encoded_once_from_the_prompt_to_the_disk(file_session, monkeypatch):
    session, store = file_session
    encoded, encode_plain = [], records._encoded

    def counting(record):
        encoded.append(getattr(record, "content", None))
        return encode_plain(record)

    monkeypatch.setattr(records, "_encoded", counting)
    session.add_message("user", "hello")
    await session.save()
    session.add_message("user", "again")
    await session.save()
    assert encoded.count("hello") == encoded.count("again") == 1
    assert kept_texts(store, session.id) == ["hello", "again"]


async def test_the_context_goes_on_with_what_is_added(session, resume):
    session.add_message("user", "one")
    await session.close()
    again = resume(session.id)
    assert [each.text for each in await again.context(100_000)] == ["one"]
    again.add_message("user", "two")
    assert [each.text for each in await again.context(100_000)] == ["one", "two"]


async def test_after_a_reset_the_context_begins_anew_and_the_name_stays(session, store):
    session.add_message("user", "one")
    session.rename("Greeting")
    session.reset()
    session.add_message("user", "two")
    assert [each.text for each in await session.context(100_000)] == ["two"]
    await session.save()
    read = store.journal(session.id).load()
    assert [each.text for each in read.loaded_messages] == ["two"]
    assert [each.text for each in read.all_messages] == ["one", "two"]
    assert read.name == "Greeting"
    assert read.prompt_count == 2


async def test_an_answer_that_arrives_stands_at_the_end_of_the_conversation(session):
    question = session.add_message("user", "one")
    answer = session.begin_answer("m")
    answer.receive("so ")
    session.add_piece(answer)
    answer.receive("far")
    assert [each.text for each in session.entries] == ["one", "so far"]
    assert session.arriving == answer.message_id
    session.interrupt()
    assert session.arriving is None
    assert session.entries[0] == question
    assert session.entries[1].status == "interrupted"
    session.interrupt()
    assert len(session.entries) == 2


async def test_an_answer_that_is_asked_for_again_hides_the_one_it_replaces(session):
    session.add_message("user", "one")
    failed = session.end_answer(session.begin_answer("m"), status="failed", error="no")
    again = session.begin_answer("m", replaces=failed.id)
    again.receive("better")
    assert [each.text for each in session.entries] == ["one", "better"]


async def test_what_is_pending_can_be_saved_without_a_loop(session, store):
    session.add_message("user", "hello")
    session.save_at_once()
    assert not session.pending
    assert kept_texts(store, session.id) == ["hello"]


async def test_a_save_whose_caller_was_cancelled_goes_on_to_its_end(session, store, monkeypatch):
    session.add_message("user", "hello")
    entered, released = threading.Event(), threading.Event()
    append = store.append

    def slow_append(lease, records, *lines):
        entered.set()
        released.wait(60)
        return append(lease, records)

    monkeypatch.setattr(store, "append", slow_append)
    saving = asyncio.create_task(session.save())
    await asyncio.to_thread(entered.wait, 60)
    saving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saving
    session.add_message("user", "meanwhile")
    released.set()
    await session.save()
    assert kept_texts(store, session.id) == ["hello", "meanwhile"]
    assert session.pending == ()


async def test_what_others_appended_is_taken_in(file_session, other_program):
    session, store = file_session
    session.add_message("user", "mine")
    await session.save()
    other_program(session.id, "theirs")
    session.add_message("user", "mine again")
    await session.save()
    assert [m.text for m in await session.context(100_000)] == ["mine", "mine again", "theirs"]
    assert kept_texts(store, session.id) == ["mine", "theirs", "mine again"]


@pytest.mark.parametrize("harm", ["shorten", "remove"])
async def test_a_file_that_was_taken_away_leaves_what_was_open_in_a_session_of_its_own(
    file_session, harm
):
    session, store = file_session
    old_id = session.id
    session.add_message("user", "one")
    session.rename("Talk")
    await session.save()
    path = store.path(old_id)
    if harm == "shorten":
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.unlink()
    session.add_message("user", "two")
    await session.save()
    assert session.id != old_id
    copy = store.journal(session.id).load()
    assert [each.text for each in copy.loaded_messages] == ["one", "two"]
    assert (copy.name, copy.header.forked_from) == ("Talk", old_id)
    assert session.id in session.take_notices()[0]
    if harm == "shorten":
        assert path.stat().st_size == 100


async def test_the_first_change_of_an_archived_session_restores_it_and_says_so(
    session, resume, store
):
    session.add_message("user", "hello")
    await session.close()
    store.archive(session.id)
    again = resume(session.id)
    again.add_message("user", "more")
    await again.close()
    assert again.take_notices() == ("Restored this session from the archive",)
    assert store.entry(session.id).status == "closed"


async def test_a_session_that_is_not_there_cannot_be_taken(store, clock):
    with pytest.raises(SessionNotFound):
        take_session(store, "session-20260101-000000-000000", clock)


async def test_opened_and_closed_stand_around_each_time_a_session_was_held(file_session, clock):
    session, store = file_session
    session.add_message("user", "hello")
    await session.close()
    await take_session(store, session.id, clock, resumed=True).close()
    lines = store.path(session.id).read_text().splitlines()
    leases = [line for line in lines if '"opened"' in line or '"closed"' in line]
    assert [("opened" in line, "resumed" in line) for line in leases] == [
        (True, False),
        (False, False),
        (True, True),
        (False, False),
    ]


async def test_a_session_that_cannot_be_read_is_let_go_of_again(session, store, clock, monkeypatch):
    session.add_message("user", "hello")
    await session.close()

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "tail", raiser(StorageError("cannot be read")))
        with pytest.raises(StorageError):
            take_session(store, session.id, clock)
    assert store.holder(session.id) is None


async def test_a_copy_that_cannot_be_made_leaves_all_pending_and_is_made_next_time(
    file_session, monkeypatch
):
    session, store = file_session
    session.add_message("user", "one")
    await session.save()
    old_id = session.id
    store.path(old_id).unlink()
    session.add_message("user", "two")

    append = store.append

    def full_for_copies(lease, records, *lines):
        if lease.session_id != old_id:
            raise StorageFull("no room")
        return append(lease, records)

    for name, fails in (("create", raiser(StorageFull("no room"))), ("append", full_for_copies)):
        with monkeypatch.context() as patch:
            patch.setattr(store, name, fails)
            with pytest.raises(StorageFull):
                await session.save()
        assert session.unsaved
        assert session.id == old_id
    await session.save()
    assert session.id != old_id
    assert kept_texts(store, session.id) == ["one", "two"]


async def lost_file(file_session, *texts):
    """A session in which these were said, and whose file was taken away then."""
    session, store = file_session
    said = [session.add_message("user", text) for text in texts]
    await session.save()
    store.path(session.id).unlink()
    return session, store, said


async def test_the_copy_of_a_session_has_its_summary_and_its_todos(file_session):
    session, store = file_session
    first = session.add_message("user", "one")
    session.add(Summary(text="They met.", through=first.id))
    session.add(Todos((TodoItem("Sort", "pending", "Sorting"),)))
    await session.save()
    store.path(session.id).unlink()
    session.add_message("user", "two")
    await session.save()
    copy = store.journal(session.id).load()
    assert (copy.summary.text, copy.todos[0].content) == ("They met.", "Sort")
    assert [each.text for each in copy.all_messages] == ["one", "two"]


async def test_the_copy_of_a_session_has_a_summary_that_stands_far_back(file_session, clock):
    session, store = file_session
    first = session.add_message("user", "one")
    session.add(Summary("They met.", first.id))
    for number in range(3):
        session.add_message("user", str(number))
    await session.close()
    opened = take_session(store, session.id, clock, window=2)
    store.path(session.id).unlink()
    opened.add_message("user", "more")
    await opened.close()
    copy = store.journal(opened.id).load()
    assert copy.summary.text == "They met."
    assert [each.text for each in copy.loaded_messages] == ["1", "2", "more"]


async def test_what_is_said_while_a_copy_is_written_is_saved_too(file_session, monkeypatch):
    session, store, _ = await lost_file(file_session, "one")
    lost, append = session.id, store.append
    writing, released = threading.Event(), threading.Event()

    def slow_append(lease, records, *lines):
        if lease.session_id != lost:
            writing.set()
            assert released.wait(20)
        return append(lease, records)

    monkeypatch.setattr(store, "append", slow_append)
    session.add_message("user", "two")
    saving = asyncio.create_task(session.save())
    assert await asyncio.to_thread(writing.wait, 20)
    session.add_message("user", "three")
    released.set()
    await saving
    assert session.unsaved
    await session.close()
    assert kept_texts(store, session.id) == ["one", "two", "three"]
    assert store.entry(session.id).message_count == 3


async def test_a_copy_keeps_a_reset_where_it_was(file_session):
    session, store, _ = await lost_file(file_session, "one")
    session.reset()
    session.add_message("user", "two")
    await session.close()
    copy = store.journal(session.id).load()
    assert [each.text for each in copy.all_messages] == ["one", "two"]
    assert [each.text for each in copy.loaded_messages] == ["two"]
    entry = store.entry(session.id)
    assert (entry.message_count, entry.status, copy.prompt_count) == (1, "closed", 2)


async def test_a_copy_goes_on_with_an_answer_that_is_still_coming(file_session):
    session, store, _ = await lost_file(file_session, "one")
    answer = session.begin_answer("m")
    answer.receive("so ")
    session.add_piece(answer)
    await session.save()
    store.path(session.id).unlink()
    answer.receive("far, ")
    session.add_piece(answer)
    await session.save()
    answer.receive("so good")
    session.add_piece(answer)
    await session.save()
    session.abandon()
    assert [
        (each.text, each.status) for each in store.journal(session.id).load().loaded_messages
    ] == [
        ("one", None),
        ("so far, so good", "interrupted"),
    ]


async def test_a_copy_has_all_that_was_read_of_the_session_and_nothing_that_was_replaced(
    file_session, clock
):
    session, store = file_session
    for number in range(5):
        session.add_message("user", str(number))
    failed = session.end_answer(session.begin_answer("m"), status="failed", error="no")
    again = session.begin_answer("m", replaces=failed.id)
    again.receive("better")
    session.end_answer(again)
    await session.close()
    opened = take_session(store, session.id, clock, window=2)
    await opened.context(100_000)
    store.path(session.id).unlink()
    opened.add_message("user", "more")
    await opened.close()
    copy = store.journal(opened.id).load()
    assert [each.text for each in copy.loaded_messages] == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "better",
        "more",
    ]
    assert store.entry(opened.id).message_count == 7


async def test_a_session_is_known_by_the_id_of_its_copy(file_session):
    session, store, _ = await lost_file(file_session, "one")
    session.add_message("user", "two")
    await session.save()
    # What could not be saved is rescued under this header.
    assert session.header.id == session.session.id == session.id
    assert session.header.id in {entry.id for entry in store.list(SessionFilter(), None, 9).entries}


async def test_a_model_that_is_used_is_noted_with_the_state(session, store):
    session.add_message("user", "hello")
    session.use_model("other:model")
    session.use_model("other:model")
    await session.close()
    assert store.entry(session.id).model == "other:model"
    assert session.header.model == "scripted:model"


async def test_the_model_that_answers_is_that_of_the_session_after_a_crash(session, resume):
    session.add_message("user", "Why?")
    answer = session.begin_answer("another:model")
    answer.receive("half an ans")
    session.add_piece(answer)
    await session.save()
    session.abandon()
    assert resume(session.id).session.model == "another:model"


async def test_a_session_keeps_its_model_where_the_guide_answers_for_it(session, resume):
    session.add_message("user", "Why?")
    answer = session.begin_answer("offline:guide")
    answer.receive("From the manual")
    session.add_piece(answer)
    await session.save()
    session.abandon()
    assert resume(session.id).session.model == "scripted:model"


async def test_changed_settings_are_noted_with_the_state(session, store):
    session.add_message("user", "hello")
    session.change_settings(Settings(pinned=True))
    await session.close()
    assert store.entry(session.id).pinned


async def test_settings_that_are_the_same_write_nothing(session):
    session.add_message("user", "hello")
    session.change_settings(Settings())
    assert kinds(session.pending) == ["Opened", "Message"]


async def test_settings_alone_make_no_session_and_go_out_with_its_first_message(session, store):
    session.change_settings(Settings(temperature=0.5))
    await session.save()
    assert not session.published
    session.add_message("user", "hello")
    await session.save()
    assert store.journal(session.id).load().settings == Settings(temperature=0.5)
