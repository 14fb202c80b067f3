"""Rescue files, written and taken back."""

import msgspec
import pytest

from tests.attached import PNG, picture, showing
from tests.failing import raiser
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    Offsets,
    Opened,
    Partial,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.todo import TodoItem
from tui.errors import SessionBusy, SessionNotFound, StorageFull, UsageError
from tui.storage import rescue
from tui.storage.doctor import Doctor
from tui.storage.file_store import FileStore
from tui.storage.rescue import import_file, write_rescue

NOW = "2026-02-01T00:00:00.000Z"
HEADER = SessionHeader(
    1,
    "session-20260111-153000-000001",
    "2026-01-11T14:30:00.000Z",
    "project:/shop",
    0,
    "/shop",
    "m",
)


def message(number, role="user", **fields):
    return Message(f"m{number}", role, f"text {number}", "2026-01-11T14:30:00.000Z", **fields)


def state(name="", at=NOW):
    return State(
        name=name,
        model="m",
        prompt_count=1,
        message_count=1,
        total_count=1,
        updated_at=at,
        offsets=Offsets(),
    )


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data")


@pytest.fixture
def rescued(tmp_path):
    return lambda *records: write_rescue([tmp_path / "state"], HEADER, records)


def test_a_rescue_file_is_private_and_in_the_first_directory_that_takes_it(tmp_path):
    closed = tmp_path / "closed"
    closed.write_text("not a directory")
    path = write_rescue([closed, tmp_path / "home"], HEADER, [message(1)])
    assert path.parent == tmp_path / "home"
    assert path.stat().st_mode & 0o777 == 0o600
    assert HEADER.id in path.name


def test_a_rescue_file_finds_a_private_place_where_no_directory_takes_it(tmp_path):
    closed = tmp_path / "closed"
    closed.write_text("not a directory")
    path = write_rescue([closed], HEADER, [message(1)])
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.unlink()
    path.parent.rmdir()


def test_two_rescue_files_of_one_session_do_not_overwrite_each_other(rescued):
    assert rescued(message(1)) != rescued(message(2))


def test_a_rescue_file_that_could_not_be_written_is_not_left_torn(tmp_path, monkeypatch):
    monkeypatch.setattr(rescue, "write_whole", raiser(OSError(28, "no room")))
    monkeypatch.setattr(rescue.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    with pytest.raises(StorageFull, match="No rescue file could be written"):
        write_rescue([tmp_path / "state"], HEADER, [message(1)])
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_session_that_is_gone_is_made_anew(store, rescued):
    path = rescued(
        Opened(NOW),
        message(1),
        Reset(NOW),
        message(2),
        Summary("They met.", "m2"),
        Todos((TodoItem("a", "pending", "doing a"),)),
        Settings(temperature=0.5),
        state("Talk"),
    )
    imported = import_file(store, path, NOW)
    assert (imported.session_id, imported.messages, imported.damaged) == (HEADER.id, 2, 0)
    session = store.journal(HEADER.id).load()
    assert [m.id for m in session.loaded_messages] == ["m2"]
    assert [m.id for m in session.all_messages] == ["m1", "m2"]
    assert (session.name, session.summary.text, session.todos[0].content) == (
        "Talk",
        "They met.",
        "a",
    )
    assert session.settings == Settings(temperature=0.5)
    assert session.header.imported_from == path.name
    assert store.entry(HEADER.id).message_count == 1


def test_only_messages_that_are_missing_are_added(store, rescued):
    import_file(store, rescued(message(1), message(2)), NOW)
    imported = import_file(store, rescued(message(2), message(3)), NOW)
    assert imported.messages == 1
    assert [m.id for m in store.journal(HEADER.id).load().loaded_messages] == ["m1", "m2", "m3"]


def test_versions_that_are_missing_stay_versions(store, rescued):
    first = [message(1), message(2)]
    import_file(store, rescued(*first), NOW)
    again = msgspec.structs.replace(message(4), after="m1")
    import_file(store, rescued(*first, message(3), again, message(5)), NOW)
    session = store.journal(HEADER.id).load()
    assert [m.id for m in session.loaded_messages] == ["m1", "m4", "m5"]
    assert session.versions == dict.fromkeys(["m2", "m4"], ("m2", "m4"))
    assert session.damaged == 0


def test_a_version_of_a_message_that_only_the_session_has_is_taken_back(store, rescued):
    import_file(store, rescued(message(1), message(2)), NOW)
    again = msgspec.structs.replace(message(4), after="m1")
    imported = import_file(store, rescued(Opened(NOW), again, state(), message(5)), NOW)
    assert (imported.messages, imported.damaged) == (2, 0)
    session = store.journal(HEADER.id).load()
    assert [m.id for m in session.loaded_messages] == ["m1", "m4", "m5"]
    assert session.versions == dict.fromkeys(["m2", "m4"], ("m2", "m4"))
    assert session.damaged == 0


def test_nothing_missing_writes_nothing(store, rescued):
    path = rescued(message(1))
    import_file(store, path, NOW)
    before = store.path(HEADER.id).read_bytes()
    assert import_file(store, path, NOW).messages == 0
    assert store.path(HEADER.id).read_bytes() == before


def test_an_answer_cut_off_by_a_crash_is_taken_back_as_interrupted(store, rescued):
    piece = Partial("m2", 0, "half an", "assistant", "2026-01-11T14:30:01.000Z")
    import_file(store, rescued(message(1)), NOW)
    import_file(store, rescued(message(1), piece), NOW)
    last = store.journal(HEADER.id).load().loaded_messages[-1]
    assert (last.text, last.status) == ("half an", "interrupted")


@pytest.mark.parametrize("written_down", [False, True])
def test_the_whole_answer_takes_the_place_of_its_beginning(store, rescued, written_down):
    piece = Partial("m2", 0, "half an", "assistant", "2026-01-11T14:30:01.000Z")
    begun = Message("m2", "assistant", "half an", "2026-01-11T14:30:01.000Z", status="interrupted")
    import_file(store, rescued(message(1), begun if written_down else piece), NOW)
    whole = Message("m2", "assistant", "half an answer", "2026-01-11T14:30:01.000Z")
    assert import_file(store, rescued(whole), NOW).messages == 1
    assert [(m.text, m.status) for m in store.journal(HEADER.id).load().loaded_messages] == [
        ("text 1", None),
        ("half an answer", None),
    ]
    assert import_file(store, rescued(begun), NOW).messages == 0
    assert store.journal(HEADER.id).load().loaded_messages[-1].text == "half an answer"


def test_an_answer_that_was_cut_off_in_the_session_itself_is_counted_once(store, rescued):
    import_file(store, rescued(message(1)), NOW)
    lease = store.lease(HEADER.id)
    store.append(lease, [Partial("m2", 0, "half an", "assistant", "2026-01-11T14:30:01.000Z")])
    lease.release()
    assert import_file(store, rescued(message(3)), NOW).messages == 1
    found = store.journal(HEADER.id).load()
    assert [each.text for each in found.loaded_messages] == ["text 1", "half an", "text 3"]
    assert store.entry(HEADER.id).message_count == found.message_count == 3


def test_a_file_of_a_newer_version_is_refused(store, rescued):
    path = rescued(message(1))
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    with pytest.raises(UsageError, match="newer sibyl-tui"):
        import_file(store, path, NOW)


def test_a_file_that_says_nothing_makes_no_session(store, rescued):
    with pytest.raises(UsageError, match="nothing"):
        import_file(store, rescued(state("")), NOW)
    assert store.holder(HEADER.id) is None


def test_a_session_that_had_only_a_name_comes_back_with_it(store, rescued):
    assert import_file(store, rescued(state("Talk")), NOW).messages == 0
    assert store.journal(HEADER.id).load().name == "Talk"


def test_a_session_in_the_trash_is_not_imported_into_and_the_reason_is_said(store, rescued):
    import_file(store, rescued(message(1)), NOW)
    store.delete(HEADER.id)
    with pytest.raises(SessionNotFound, match="It is in the trash"):
        import_file(store, rescued(message(2)), NOW)


def test_an_imported_session_is_as_old_as_it_was(store, rescued):
    import_file(store, rescued(message(1)), NOW)
    assert store.journal(HEADER.id).load().header.created_at == HEADER.created_at


def test_a_replaced_answer_is_not_added_a_second_time(store, rescued):
    talk = [message(1), message(2, "assistant"), message(3, "assistant", replaces="m2")]
    import_file(store, rescued(*talk), NOW)
    assert import_file(store, rescued(*talk), NOW).messages == 0


@pytest.mark.parametrize(("at", "name"), [("2020-01-01T00:00:00.000Z", "New"), (NOW, "Old")])
def test_the_later_name_stays(store, rescued, at, name):
    import_file(store, rescued(message(1), state("New")), "2026-01-15T00:00:00.000Z")
    later = "2026-03-01T00:00:00.000Z" if name == "Old" else at
    import_file(store, rescued(message(2), state("Old", later)), NOW)
    assert store.journal(HEADER.id).load().name == name


def test_a_later_name_is_taken_back_though_nothing_else_is_missing(store, rescued):
    import_file(store, rescued(message(1), state("Old")), "2026-01-15T00:00:00.000Z")
    assert import_file(store, rescued(state("New")), "2026-02-02T00:00:00.000Z").messages == 0
    assert store.journal(HEADER.id).load().name == "New"
    assert store.entry(HEADER.id).message_count == 1


def test_a_reset_that_could_not_be_saved_is_taken_back_before_what_was_said_after_it(
    store, rescued
):
    import_file(store, rescued(message(1), state()), "2026-01-15T00:00:00.000Z")
    path = rescued(Reset(NOW), message(2), state())
    for _ in range(2):
        import_file(store, path, "2026-02-02T00:00:00.000Z")
        session = store.journal(HEADER.id).load()
        assert [m.id for m in session.loaded_messages] == ["m2"]
        assert [m.id for m in session.all_messages] == ["m1", "m2"]


def test_a_reset_that_a_session_has_is_not_made_once_more(store, rescued):
    talk = [message(1), Reset(NOW), message(2)]
    import_file(store, rescued(*talk), "2026-01-15T00:00:00.000Z")
    import_file(store, rescued(*talk, message(3), state()), NOW)
    assert [m.id for m in store.journal(HEADER.id).load().loaded_messages] == ["m2", "m3"]


def test_damaged_lines_of_the_file_are_counted_and_skipped(store, rescued):
    path = rescued(message(1))
    path.write_bytes(path.read_bytes() + b"garbage\n")
    assert import_file(store, path, NOW).damaged == 1


def test_a_session_that_somebody_holds_is_not_imported_into(store, rescued):
    import_file(store, rescued(message(1)), NOW)
    lease = store.lease(HEADER.id)
    with pytest.raises(SessionBusy):
        import_file(FileStore(store.root), rescued(message(2)), NOW)
    lease.release()


def test_what_its_holder_says_until_it_lets_go_is_neither_changed_nor_left_out(
    store, rescued, monkeypatch
):
    held = store.create("project:/shop", "/shop", "m", session_id=HEADER.id)
    store.append(held, [message(1)])
    take = store.lease

    def take_when_it_is_free(session_id):
        store.append(held, [message(2, "assistant"), message(3)])
        held.release()
        return take(session_id)

    monkeypatch.setattr(store, "lease", take_when_it_is_free)
    begun = Message("m2", "assistant", "te", message(2).timestamp, status="interrupted")
    assert import_file(store, rescued(begun, message(4)), NOW).messages == 1
    found = store.journal(HEADER.id).load()
    assert [each.text for each in found.loaded_messages] == ["text 1", "text 2", "text 3", "text 4"]
    assert store.entry(HEADER.id).message_count == found.message_count == 4


def test_what_says_no_session_is_refused(store, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(UsageError):
        import_file(store, path, NOW)


def test_the_picture_of_a_message_that_could_not_be_saved_is_there_after_its_import(store, rescued):
    other = store.create("project:/shop", "/shop", "m", session_id="other")
    for session_id in (HEADER.id, "other"):
        store.add_attachment(session_id, PNG)
    shown = Message("m1", "user", showing("see", picture()), NOW)
    store.append(other, [shown])
    other.release()
    path = rescued(shown)
    store.delete("other")
    store.purge("other")
    assert list(Doctor(store.root).examine(repair=True)) == []
    import_file(store, path, NOW)
    (message,) = store.journal(HEADER.id).load().all_messages
    assert message == shown
    assert store.attachment(HEADER.id, picture().sha256) == PNG


def test_a_message_whose_picture_is_nowhere_is_imported_all_the_same(store, rescued):
    shown = Message("m1", "user", showing("see", picture()), NOW)
    import_file(store, rescued(shown), NOW)
    assert store.journal(HEADER.id).load().all_messages == (shown,)


def test_a_journal_of_another_data_directory_brings_its_pictures(store, tmp_path):
    backup = FileStore(tmp_path / "backup")
    lease = backup.create("project:/shop", "/shop", "m", session_id=HEADER.id)
    backup.add_attachment(HEADER.id, PNG)
    backup.append(lease, [Message("m1", "user", showing("see", picture()), NOW)])
    import_file(store, backup.path(HEADER.id), NOW)
    assert store.attachment(HEADER.id, picture().sha256) == PNG
