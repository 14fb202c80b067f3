"""A session that this program writes to."""

import asyncio
import threading

import pytest

from tests.builders import kept_texts, user
from tests.failing import raiser
from tests.tables import each_row
from tui.domain.journal import records
from tui.domain.journal.records import Partial, Settings, State, Summary, Todos, encode
from tui.domain.journal.todo import TodoItem
from tui.engine.sessions.open_session import STATE_BYTES, take_session
from tui.errors import SessionBusy, SessionNotFound, StorageError, StorageFull
from tui.storage.journal import Journal
from tui.storage.protocol import SessionFilter


def kinds(records):
    return [type(record).__name__ for record in records]


def begun(session, *texts, model="m"):
    """An answer of which these pieces have come; the session has them."""
    answer = session.begin_answer(model)
    for text in texts:
        answer.receive(text)
        session.add_piece(answer)
    return answer


def loaded(store, session):
    """The live messages that are in the store."""
    return [(m.text, m.status) for m in store.journal(session.id).load().loaded_messages]


async def test_a_session_is_there_once_something_was_said_in_it(new_session, store):
    silent = new_session()
    await silent.save()
    await silent.close()
    assert store.list(SessionFilter(), None, 10).entries == ()
    assert not silent.published
    session = new_session()
    message = session.add_message("user", "hello")
    assert kinds(session.pending) == ["Opened", "Message"]
    await session.save()
    assert session.pending == ()
    assert store.journal(session.id).load().loaded_messages == (message,)
    # Also without a loop.
    session.add_message("user", "again")
    session.save_at_once()
    assert session.pending == ()
    assert kept_texts(store, session.id) == ["hello", "again"]


async def test_a_closed_session_can_be_taken_by_others_and_tells_its_state(session, store):
    session.add_message("user", "hello")
    session.rename("Greeting")
    for _ in range(2):
        session.use_model("other:model")
    session.change_settings(Settings(pinned=True))
    await session.close()
    assert store.holder(session.id) is None
    entry = store.entry(session.id)
    assert (entry.name, entry.message_count, entry.status) == ("Greeting", 1, "closed")
    assert (entry.model, session.header.model) == ("other:model", "scripted:model")
    assert entry.pinned
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
    assert kept_texts(store, first.id) == ["one", "two"]
    session = store.journal(first.id).load()
    assert (session.name, session.prompt_count, session.message_count) == ("Talk", 2, 2)


@each_row(
    "model, of_session",
    # The guide only answers for the session's own model.
    [("another:model", "another:model"), ("offline:guide", "scripted:model")],
)
async def test_an_answer_that_a_crash_cut_off_is_written_by_the_next_holder(
    new_session, resume, store, model, of_session
):
    session = new_session()
    session.add_message("user", "hello")
    begun(session, "half an ans", model=model)
    await session.save()
    session.abandon()
    again = resume(session.id)
    assert kinds(again.pending) == ["Opened", "Message"]
    assert again.session.model == of_session
    await again.close()
    assert store.journal(session.id).load().interrupted == ()
    assert loaded(store, session) == [("hello", None), ("half an ans", "interrupted")]


async def test_no_piece_is_written_beside_the_whole_answer_or_behind_it(session, store):
    session.add_message("user", "hello")
    session.end_answer(begun(session, "all of it"))
    answer = begun(session, "once")
    session.interrupt()
    answer.receive(" upon a time")
    session.add_piece(answer)
    assert not any(isinstance(record, Partial) for record in session.pending)
    await session.save()
    assert kept_texts(store, session.id) == ["hello", "all of it", "once"]


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


async def test_the_context_goes_on_with_what_is_added_and_begins_anew_after_a_reset(
    session, resume, store
):
    session.add_message("user", "one")
    session.rename("Greeting")
    await session.close()
    again = resume(session.id)
    assert [each.text for each in await again.context(100_000)] == ["one"]
    again.add_message("user", "two")
    assert [each.text for each in await again.context(100_000)] == ["one", "two"]
    again.reset()
    again.add_message("user", "three")
    assert [each.text for each in await again.context(100_000)] == ["three"]
    await again.save()
    read = store.journal(session.id).load()
    assert [each.text for each in read.loaded_messages] == ["three"]
    assert [each.text for each in read.all_messages] == ["one", "two", "three"]
    assert (read.name, read.prompt_count) == ("Greeting", 3)


async def test_an_answer_that_arrives_stands_at_the_end_of_the_conversation(session):
    question = session.add_message("user", "one")
    answer = begun(session, "so ")
    answer.receive("far")
    assert [each.text for each in session.entries] == ["one", "so far"]
    assert session.arriving == answer.message_id
    for _ in range(2):
        session.interrupt()
        assert session.arriving is None
        assert session.entries[0] == question
        assert [each.status for each in session.entries] == [None, "interrupted"]
    again = session.begin_answer("m", replaces=session.entries[1].id)
    again.receive("better")
    assert [each.text for each in session.entries] == ["one", "better"]


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


async def test_what_others_appended_is_taken_in(session, store):
    session.add_message("user", "mine")
    await session.save()
    store.slip_in(session.id, user("other", "theirs"))
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
    first = session.add_message("user", "one")
    session.rename("Talk")
    session.add(Summary(text="They met.", through=first.id))
    session.add(Todos((TodoItem("Sort", "pending", "Sorting"),)))
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
    assert [each.text for each in copy.all_messages] == ["one", "two"]
    assert (copy.name, copy.header.forked_from) == ("Talk", old_id)
    assert (copy.summary.text, copy.todos[0].content) == ("They met.", "Sort")
    assert session.id in session.take_notices()[0]
    # What could not be saved is rescued under this header.
    assert session.header.id == session.session.id == session.id
    assert session.id in {entry.id for entry in store.list(SessionFilter(), None, 9).entries}
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


async def test_a_session_that_is_not_there_or_cannot_be_read_is_not_held(
    session, store, clock, monkeypatch
):
    with pytest.raises(SessionNotFound):
        take_session(store, "session-20260101-000000-000000", clock)
    session.add_message("user", "hello")
    await session.close()
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "tail", raiser(StorageError("cannot be read")))
        with pytest.raises(StorageError):
            take_session(store, session.id, clock)
    assert store.holder(session.id) is None


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


async def test_a_copy_that_cannot_be_made_leaves_all_pending_and_is_made_next_time(
    file_session, monkeypatch
):
    session, store = await lost_file(file_session, "one")
    old_id, append = session.id, store.append
    session.add_message("user", "two")

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
    for text in texts:
        session.add_message("user", text)
    await session.save()
    store.path(session.id).unlink()
    return session, store


async def test_a_copy_has_all_that_was_read_of_the_session_and_nothing_that_was_replaced(
    file_session, clock
):
    session, store = file_session
    first = session.add_message("user", "0")
    session.add(Summary("They met.", first.id))
    for number in range(1, 5):
        session.add_message("user", str(number))
    failed = session.end_answer(session.begin_answer("m"), status="failed", error="no")
    again = session.begin_answer("m", replaces=failed.id)
    again.receive("better")
    session.end_answer(again)
    await session.close()
    for reads_all, wanted in ((False, "4 better more"), (True, "0 1 2 3 4 better more")):
        opened = take_session(store, session.id, clock, window=2)
        if reads_all:
            await opened.context(100_000)
        path = store.path(session.id)
        there = path.read_bytes()
        path.unlink()
        opened.add_message("user", "more")
        await opened.close()
        copy = store.journal(opened.id).load()
        assert copy.summary.text == "They met."
        assert [each.text for each in copy.loaded_messages] == wanted.split()
        assert store.entry(opened.id).message_count == len(wanted.split())
        path.write_bytes(there)


async def test_what_is_said_while_a_copy_is_written_is_saved_too(file_session, monkeypatch):
    session, store = await lost_file(file_session, "one")
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
    session, store = await lost_file(file_session, "one")
    session.reset()
    session.add_message("user", "two")
    await session.close()
    copy = store.journal(session.id).load()
    assert [each.text for each in copy.all_messages] == ["one", "two"]
    assert [each.text for each in copy.loaded_messages] == ["two"]
    entry = store.entry(session.id)
    assert (entry.message_count, entry.status, copy.prompt_count) == (1, "closed", 2)


async def test_a_copy_goes_on_with_an_answer_that_is_still_coming(file_session):
    session, store = await lost_file(file_session, "one")
    answer = begun(session, "so ")
    await session.save()
    store.path(session.id).unlink()
    for text in ("far, ", "so good"):
        answer.receive(text)
        session.add_piece(answer)
        await session.save()
    session.abandon()
    assert loaded(store, session) == [("one", None), ("so far, so good", "interrupted")]


async def test_settings_alone_make_no_session_and_go_out_with_its_first_message(session, store):
    session.change_settings(Settings(temperature=0.5))
    await session.save()
    assert not session.published
    session.add_message("user", "hello")
    session.change_settings(Settings(temperature=0.5))
    assert kinds(session.pending) == ["Opened", "Settings", "Message"]
    await session.save()
    assert store.journal(session.id).load().settings == Settings(temperature=0.5)
