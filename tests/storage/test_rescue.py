"""Rescue files, written and taken back."""

import msgspec
import pytest

from tests.attached import PNG, picture, showing
from tests.builders import texts
from tests.failing import raiser
from tests.storage.contract import destroy
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
BEGUN = "2026-01-11T14:30:01.000Z"
ID = "session-20260111-153000-000001"
HEADER = SessionHeader(1, ID, "2026-01-11T14:30:00.000Z", "project:/shop", 0, "/shop", "m")
PIECE = Partial("m2", 0, "half an", "assistant", BEGUN)


def message(number, role="user", **fields):
    return Message(f"m{number}", role, f"text {number}", "2026-01-11T14:30:00.000Z", **fields)


def state(name="", at=NOW):
    counts = dict.fromkeys(["prompt_count", "message_count", "total_count"], 1)
    return State(name=name, model="m", updated_at=at, offsets=Offsets(), **counts)


SHOWN = Message("m1", "user", showing("see", picture()), NOW)


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data")


@pytest.fixture
def rescued(tmp_path):
    return lambda *records: write_rescue([tmp_path / "state"], HEADER, records)


@pytest.fixture
def take_back(store, rescued):
    """Writes a rescue file and imports it."""
    return lambda *records, now=NOW: import_file(store, rescued(*records), now)


def load(store):
    return store.journal(ID).load()


def ids(messages):
    return [message.id for message in messages]


def test_a_rescue_file_is_private_and_in_the_first_directory_that_takes_it(tmp_path):
    closed = tmp_path / "closed"
    closed.write_text("not a directory")
    path, other = (
        write_rescue([closed, tmp_path / "home"], HEADER, [message(number)]) for number in (1, 2)
    )
    assert path != other
    assert path.parent == tmp_path / "home"
    assert path.stat().st_mode & 0o777 == 0o600
    assert ID in path.name
    path = write_rescue([closed], HEADER, [message(1)])
    assert path.parent.stat().st_mode & 0o777 == 0o700, "a place of its own, as private"
    path.unlink()
    path.parent.rmdir()


def test_a_rescue_file_that_could_not_be_written_is_not_left_torn(tmp_path, monkeypatch):
    monkeypatch.setattr(rescue, "write_whole", raiser(OSError(28, "no room")))
    monkeypatch.setattr(rescue.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    with pytest.raises(StorageFull, match="No rescue file could be written"):
        write_rescue([tmp_path / "state"], HEADER, [message(1)])
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_session_that_is_gone_is_made_anew(store, rescued):
    todo = TodoItem("a", "pending", "doing a")
    path = rescued(
        *(Opened(NOW), message(1), Reset(NOW), message(2), Summary("They met.", "m2")),
        *(Todos((todo,)), Settings(temperature=0.5), state("Talk")),
    )
    imported = import_file(store, path, NOW)
    assert (imported.session_id, imported.messages, imported.damaged) == (ID, 2, 0)
    session = load(store)
    assert ids(session.loaded_messages) == ["m2"]
    assert ids(session.all_messages) == ["m1", "m2"]
    assert (session.name, session.summary.text, session.todos) == ("Talk", "They met.", (todo,))
    assert session.settings == Settings(temperature=0.5)
    assert session.header.imported_from == path.name
    assert session.header.created_at == HEADER.created_at
    assert store.entry(ID).message_count == 1


def test_only_messages_that_are_missing_are_added(store, rescued):
    import_file(store, rescued(message(1), message(2)), NOW)
    path = rescued(message(2), message(3))
    assert import_file(store, path, NOW).messages == 1
    assert ids(load(store).loaded_messages) == ["m1", "m2", "m3"]
    before = store.path(ID).read_bytes()
    assert import_file(store, path, NOW).messages == 0
    assert store.path(ID).read_bytes() == before


@pytest.mark.parametrize("with_all_before_it", [True, False])
def test_versions_that_are_missing_stay_versions(store, take_back, with_all_before_it):
    first = [message(1), message(2)]
    take_back(*first)
    again = msgspec.structs.replace(message(4), after="m1")
    before = [*first, message(3)] if with_all_before_it else [Opened(NOW)]
    imported = take_back(*before, again, *([] if with_all_before_it else [state()]), message(5))
    assert (imported.messages, imported.damaged) == (2 + with_all_before_it, 0)
    session = load(store)
    assert ids(session.loaded_messages) == ["m1", "m4", "m5"]
    assert session.versions == dict.fromkeys(["m2", "m4"], ("m2", "m4"))
    assert session.damaged == 0


@pytest.mark.parametrize("written_down", [False, True])
def test_the_whole_answer_takes_the_place_of_its_beginning(store, take_back, written_down):
    begun = Message("m2", "assistant", "half an", BEGUN, status="interrupted")
    take_back(message(1))
    take_back(message(1), begun if written_down else PIECE)
    last = load(store).loaded_messages[-1]
    assert (last.text, last.status) == ("half an", "interrupted")
    whole = Message("m2", "assistant", "half an answer", BEGUN)
    assert take_back(whole).messages == 1
    assert take_back(begun).messages == 0
    assert [(m.text, m.status) for m in load(store).loaded_messages] == [
        ("text 1", None),
        ("half an answer", None),
    ]


def test_an_answer_that_was_cut_off_in_the_session_itself_is_counted_once(store, take_back):
    take_back(message(1))
    lease = store.lease(ID)
    store.append(lease, [PIECE])
    lease.release()
    assert take_back(message(3)).messages == 1
    found = load(store)
    assert texts(found.loaded_messages) == ["text 1", "half an", "text 3"]
    assert store.entry(ID).message_count == found.message_count == 3


def test_a_file_of_a_newer_version_or_one_that_says_nothing_is_refused(store, rescued, tmp_path):
    path = rescued(message(1))
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    empty = tmp_path / "empty"
    empty.touch()
    for refused, words in ((path, "newer sibyl-tui"), (rescued(state("")), "nothing"), (empty, "")):
        with pytest.raises(UsageError, match=words or None):
            import_file(store, refused, NOW)
    assert store.holder(ID) is None


def test_a_session_that_had_only_a_name_comes_back_with_it(store, take_back):
    assert take_back(state("Talk")).messages == 0
    assert load(store).name == "Talk"


def test_a_session_in_the_trash_or_held_by_somebody_is_not_imported_into(store, take_back, rescued):
    take_back(message(1))
    lease = store.lease(ID)
    with pytest.raises(SessionBusy):
        import_file(FileStore(store.root), rescued(message(2)), NOW)
    lease.release()
    store.delete(ID)
    with pytest.raises(SessionNotFound, match="It is in the trash"):
        take_back(message(2))


def test_a_replaced_answer_is_not_added_a_second_time(take_back):
    talk = [message(1), message(2, "assistant"), message(3, "assistant", replaces="m2")]
    take_back(*talk)
    assert take_back(*talk).messages == 0


@pytest.mark.parametrize(
    ("at", "name", "more", "kept"),
    [
        ("2020-01-01T00:00:00.000Z", "Old", [message(2)], "New"),
        ("2026-03-01T00:00:00.000Z", "Newer", [message(2)], "Newer"),
        (NOW, "Newer", [], "Newer"),
    ],
)
def test_the_later_name_stays(store, take_back, at, name, more, kept):
    take_back(message(1), state("New"), now="2026-01-15T00:00:00.000Z")
    assert take_back(*more, state(name, at)).messages == len(more)
    assert load(store).name == kept
    assert store.entry(ID).message_count == 1 + len(more)


def test_a_reset_that_could_not_be_saved_is_taken_back_before_what_was_said_after_it(
    store, take_back
):
    take_back(message(1), state(), now="2026-01-15T00:00:00.000Z")
    for _ in range(2):
        take_back(Reset(NOW), message(2), state(), now="2026-02-02T00:00:00.000Z")
        session = load(store)
        assert ids(session.loaded_messages) == ["m2"]
        assert ids(session.all_messages) == ["m1", "m2"]
    take_back(message(1), Reset(NOW), message(2), message(3), state())
    assert ids(load(store).loaded_messages) == ["m2", "m3"], "it has this reset already"


def test_damaged_lines_of_the_file_are_counted_and_skipped(store, rescued):
    path = rescued(message(1))
    path.write_bytes(path.read_bytes() + b"garbage\n")
    assert import_file(store, path, NOW).damaged == 1


def test_what_its_holder_says_until_it_lets_go_is_neither_changed_nor_left_out(
    store, take_back, monkeypatch
):
    held = store.create("project:/shop", "/shop", "m", session_id=ID)
    store.append(held, [message(1)])
    take = store.lease

    def take_when_it_is_free(session_id):
        store.append(held, [message(2, "assistant"), message(3)])
        held.release()
        return take(session_id)

    monkeypatch.setattr(store, "lease", take_when_it_is_free)
    begun = Message("m2", "assistant", "te", message(2).timestamp, status="interrupted")
    assert take_back(begun, message(4)).messages == 1
    found = load(store)
    assert texts(found.loaded_messages) == ["text 1", "text 2", "text 3", "text 4"]
    assert store.entry(ID).message_count == found.message_count == 4


def test_the_picture_of_a_message_that_could_not_be_saved_is_there_after_its_import(store, rescued):
    other = store.create("project:/shop", "/shop", "m", session_id="other")
    for session_id in (ID, "other"):
        store.add_attachment(session_id, PNG)
    store.append(other, [SHOWN])
    other.release()
    path = rescued(SHOWN)
    destroy(store, "other")
    assert list(Doctor(store.root).examine(repair=True)) == []
    import_file(store, path, NOW)
    assert load(store).all_messages == (SHOWN,)
    assert store.attachment(ID, picture().sha256) == PNG


def test_a_message_whose_picture_is_nowhere_is_imported_all_the_same(store, take_back):
    take_back(SHOWN)
    assert load(store).all_messages == (SHOWN,)


def test_a_journal_of_another_data_directory_brings_its_pictures(store, tmp_path):
    backup = FileStore(tmp_path / "backup")
    lease = backup.create("project:/shop", "/shop", "m", session_id=ID)
    backup.add_attachment(ID, PNG)
    backup.append(lease, [SHOWN])
    import_file(store, backup.path(ID), NOW)
    assert store.attachment(ID, picture().sha256) == PNG
