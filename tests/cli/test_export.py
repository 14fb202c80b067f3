"""``sibyl-tui sessions export``"""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attached import NOTES, PNG, picture, showing
from tests.builders import answer, appended, user
from tests.cli.test_sessions import ENTRY_FIELDS
from tests.failing import raiser
from tests.planted import TOKEN
from tui.domain.journal.records import Reset, Settings, Summary, Todos
from tui.domain.journal.todo import TodoItem
from tui.storage.file_store import FileStore


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def of_type(objects, kind):
    return [each for each in objects if each["type"] == kind]


# --- one session


def test_one_session_goes_to_standard_output_as_sessions_show_has_it(sibyl, saved):
    name = "a name that is longer than any row of the sidebar has room for"
    session_id = saved("How do I sort?", "Use `sorted`.", name=name)
    exported = sibyl("sessions", "export", name)
    assert exported.out == sibyl("sessions", "show", session_id).out
    assert exported.out.startswith(f"# {name}\n")
    assert sibyl("sessions", "export", name, "--output", "-").out == exported.out


def test_one_session_goes_to_a_file_and_replaces_another_only_by_force(sibyl, saved, tmp_path):
    saved("How do I sort?", name="Sorting")
    told = sibyl("sessions", "export", "Sorting", "--output", "talk.md")
    assert (told.out, told.err) == ("Exported 1 session to talk.md\n", "")
    path = tmp_path / "talk.md"
    assert path.read_text().startswith("# Sorting\n")
    path.write_text("mine")
    told = sibyl("sessions", "export", "Sorting", "--output", path)
    assert (told.code, told.err) == (1, f"{path} already exists. Add --force to replace it.\n")
    assert path.read_text() == "mine"
    assert sibyl("sessions", "export", "Sorting", "--output", path, "--force").code == 0
    assert path.read_text().startswith("# Sorting\n")


def test_a_full_disk_is_said_and_leaves_nothing(sibyl, saved, tmp_path, monkeypatch):
    saved("How do I sort?", name="Sorting")

    monkeypatch.setattr(os, "link", raiser(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    folder = tmp_path / "out"
    told = sibyl("sessions", "export", "Sorting", "--output", f"{folder}/")
    (name,) = ["Sorting-" + told.err.partition("Sorting-")[2].partition(":")[0]]
    assert (told.code, told.err) == (
        1,
        f"Cannot write {folder / name}: No space left on device.\n",
    )
    assert names(folder) == []


# --- several


def test_several_sessions_go_to_files_of_their_titles_and_ids(sibyl, saved, tmp_path):
    first = saved("one", name="Fix: the ../../login bug!")
    second, third, long = (
        saved("日本語で話しましょう"),
        saved("x", name="///"),
        saved("one", name="日" * 200),
    )
    told = sibyl("sessions", "export", "--output", "out")
    assert told.out == "Exported 4 sessions to out\n"
    *others, last = sorted(names(tmp_path / "out"), key=len)
    assert sorted(others) == sorted(
        [f"Fix-the-login-bug-{first}.md", f"日本語で話しましょう-{second}.md", f"{third}.md"]
    )
    # A long title leaves room for the id.
    assert last.endswith(f"日-{long}.md")
    assert len(last.encode()) < 150


def test_files_that_are_there_stay_and_are_counted_and_what_cannot_be_read_hides_no_other(
    sibyl, saved, store, tmp_path
):
    saved("one"), saved("two")
    sibyl("sessions", "export", "--output", "out")
    path = store.path(saved("bad"))
    path.unlink()
    path.mkdir()
    good = saved("good")
    told = sibyl("sessions", "export", "--output", "out")
    assert told.code == 1
    assert told.out == "Exported 1 session to out\n"
    assert "2 files already exist. Add --force to replace them.\n" in told.err
    assert len(names(tmp_path / "out")) == 3
    assert f"good-{good}.md" in names(tmp_path / "out")
    path.rmdir()
    assert sibyl("sessions", "export", "--output", "out", "--force").code == 0


def test_several_sessions_need_a_folder(sibyl, saved, tmp_path):
    saved("one"), saved("two")
    told = sibyl("sessions", "export", "1", "2")
    assert (told.code, told.out) == (2, "")
    assert told.err == "Several sessions need a folder (--output FOLDER) or --format jsonl.\n"
    (tmp_path / "file").touch()
    told = sibyl("sessions", "export", "--output", "file")
    assert (told.code, told.err) == (2, "file is a file. Several sessions need a folder.\n")


# --- which


def test_the_options_of_the_list_choose(sibyl, saved, store, tmp_path):
    kept, archived, trashed = saved("kept"), saved("archived"), saved("trashed")
    store.archive(archived)
    store.delete(trashed)

    def chosen(*flags):
        objects = sibyl("sessions", "export", "--format", "jsonl", *flags).lines
        return {each["id"] for each in of_type(objects, "session")}

    assert chosen() == {kept}
    assert chosen("--archived") == {archived}
    assert chosen("--all") == {kept, archived, trashed}
    assert chosen(archived) == {archived}
    assert chosen("--scope", "project:/other") == set()


def test_a_day_chooses_what_was_used_since_also_among_copied_files(sibyl, saved, store):
    new, old = saved("new"), saved("old")
    # Their times are those of the copy.
    store.path(old).write_bytes(store.path(old).read_bytes().replace(b"2026-01-11", b"2025-01-11"))

    def used(since):
        told = sibyl("sessions", "export", "--format", "jsonl", "--since", since)
        return [each["id"] for each in of_type(told.lines, "session")]

    assert sorted(used("2025-01-10")) == sorted([new, old])
    assert used("2026-01-10") == [new]
    assert used("2026-01-13") == []
    told = sibyl("sessions", "export", "--since", "soon", "--output", "out")
    assert (told.code, told.err) == (2, '"soon" is not a date such as 2026-01-31.\n')
    # Names and choices exclude each other.
    for flags in (["--all"], ["--archived"], ["--trashed"], ["--since", "2026-01-01"]):
        assert sibyl("sessions", "export", new, *flags).code == 2


def test_without_a_session_it_says_so(sibyl, tmp_path):
    told = sibyl("sessions", "export", "--output", "out")
    assert (told.code, told.out, told.err) == (0, "", "No session to export.\n")
    assert not (tmp_path / "out").exists()
    assert sibyl("sessions", "export", "nowhere").code == 2


# --- JSON Lines


def test_json_lines_begin_with_the_session_and_name_it_in_each(sibyl, saved, store):
    session_id = saved("How do I sort?", "So.", name="Sorting")
    session, *rest = sibyl("sessions", "export", "1", "--format", "jsonl").lines
    assert [name for name in session if name in ENTRY_FIELDS] == ENTRY_FIELDS
    assert (session["type"], session["name"]) == ("session", "Sorting")
    assert {each["session_id"] for each in rest} == {session_id}
    messages = of_type(rest, "message")
    assert [each["content"] for each in messages] == ["How do I sort?", "So."]
    assert [each["live"] for each in messages] == [True, True]


def test_json_lines_have_every_field_and_what_is_not_live_when_asked_for(sibyl, saved, store):
    session_id = saved("old")
    later = "2026-01-11T15:00:00.000Z"
    appended(store, session_id, Reset(later), answer("a0"))
    appended(store, session_id, answer("a1", "first", model="p:m"), answer("a2", "2nd", after="a0"))
    live = of_type(sibyl("sessions", "export", "1", "--format", "jsonl").lines, "message")
    assert [each["id"] for each in live] == ["a0", "a2"]
    told = sibyl("sessions", "export", "1", "--format", "jsonl", "--all-messages").lines
    assert of_type(told, "reset") == [{"type": "reset", "session_id": session_id, "at": later}]
    messages = of_type(told, "message")
    assert [each["live"] for each in messages] == [False, True, False, True]
    assert messages[2]["versions"] == ["a1", "a2"]
    assert messages[2]["model"] == "p:m"
    assert "after_at" not in messages[3]


def test_what_was_exported_is_imported_again_as_it_was(sibyl, saved, store, tmp_path):
    session_id = saved("question", "answer", name="Sorting")
    (first, last) = store.journal(session_id).load().loaded_messages
    appended(
        store,
        session_id,
        answer("again", "another", after=first.id),
        Summary("All of it", first.id),
        Todos((TodoItem("do", "pending", "doing"),)),
        Settings(temperature=0.2),
    )
    before = store.journal(session_id).load()
    sibyl("sessions", "export", "1", "--format", "jsonl", "--all-messages", "--output", "x.jsonl")
    there = tmp_path / "there"
    command = [sys.executable, "-m", "tui", "sessions", "import", "x.jsonl", "--data-dir", there]
    subprocess.run(command, check=True, capture_output=True)
    after = FileStore(there).journal(session_id).load()
    for field in ("name", "todos", "settings", "summary", "message_count", "versions"):
        assert getattr(after, field) == getattr(before, field), field
    assert [each.text for each in after.all_messages] == ["question", "answer", "another"]
    assert last.id in {each.id for each in after.all_messages}


@pytest.mark.parametrize("form", ["markdown", "jsonl"])
def test_a_file_has_the_same_as_standard_output(sibyl, saved, tmp_path, form):
    saved("日本\x9b\u2028", "Use `sorted`.", name="Sorting")
    printed = sibyl("sessions", "export", "1", "--format", form).out
    sibyl("sessions", "export", "1", "--format", form, "--output", "file")
    written = (tmp_path / "file").read_text("utf-8")
    if form == "jsonl":
        assert lines(written) == lines(printed)
    else:
        assert written == printed


def test_a_closed_pipe_ends_it_in_silence(saved, process):
    for _ in range(20):
        saved("word " * 5000)
    exporting = process("sessions", "export", "--format", "jsonl")
    exporting.stdout.readline()
    exporting.stdout.close()
    assert exporting.stderr.read() == ""
    assert exporting.wait() == 1


# --- pictures and files


@pytest.fixture
def shown(store, saved):
    """A session that shows a picture and has a file."""
    session_id = saved("question", name="My talk")
    store.add_attachment(session_id, PNG)
    appended(store, session_id, user("shown", showing("see", picture("a [b].png"), NOTES)))
    return session_id


def test_markdown_on_standard_output_has_the_names_of_pictures_and_the_text_of_files(sibyl, shown):
    for verb in ("show", "export"):
        told = sibyl("sessions", verb, shown).out
        assert "see\n\n[image: a [b].png, 70 bytes]\n\n[file: notes.txt, 9 bytes]\n" in told
        assert "```txt\nBuy milk.\n```" in told


def test_a_file_of_markdown_has_its_pictures_beside_it(sibyl, shown, tmp_path):
    name = f"{picture().sha256}.png"
    assert sibyl("sessions", "export", shown, "--output", "my talk.md").code == 0
    assert names(tmp_path / "my talk-attachments") == [name]
    assert (tmp_path / "my talk-attachments" / name).read_bytes() == PNG
    written = (tmp_path / "my talk.md").read_text()
    link = rf"![image: a \[b\].png, 70 bytes](my%20talk-attachments/{name})"
    assert f"see\n\n{link}\n\n[file: notes.txt, 9 bytes]" in written
    # Again: what is there is the same picture.
    assert sibyl("sessions", "export", shown, "--output", "my talk.md", "--force").code == 0
    assert (tmp_path / "my talk.md").read_text() == written


def test_a_picture_that_is_gone_is_its_name_and_a_session_not_exported_leaves_none(
    sibyl, shown, data, tmp_path
):
    talk, beside = tmp_path / "talk.md", tmp_path / "talk-attachments"
    talk.write_text("mine")
    assert sibyl("sessions", "export", shown, "--output", "talk.md").code == 1
    assert not beside.exists()
    talk.unlink()
    beside.write_text("mine")
    told = sibyl("sessions", "export", shown, "--output", "talk.md")
    assert (told.code, told.err) == (1, "Cannot write a picture to talk-attachments: File exists\n")
    assert not talk.exists()
    beside.unlink()
    (data / "attachments" / picture().sha256).unlink()
    assert sibyl("sessions", "export", shown, "--output", "talk.md").code == 0
    assert "[image: a [b].png, 70 bytes]" in talk.read_text()
    assert not beside.exists()


@pytest.mark.parametrize("beside", [True, False])
def test_an_import_takes_the_pictures_that_are_beside_the_file(
    sibyl, shown, store, tmp_path, beside
):
    sibyl("sessions", "export", shown, "--format", "jsonl", "--output", "talk.jsonl")
    if not beside:
        (tmp_path / "talk-attachments").rename(tmp_path / "elsewhere")
    there = tmp_path / "there"
    command = [sys.executable, "-m", "tui", "sessions", "import", "talk.jsonl"]
    subprocess.run([*command, "--data-dir", there], check=True, capture_output=True)
    after = FileStore(there).journal(shown).load().all_messages[-1]
    assert after.content == store.journal(shown).load().all_messages[-1].content
    assert (there / "attachments" / picture().sha256).exists() is beside


def test_another_file_beside_is_no_picture_of_the_session(sibyl, shown, data, tmp_path):
    kept = data / "attachments" / picture().sha256
    sibyl("sessions", "export", shown, "--format", "jsonl", "--output", "talk.jsonl")
    kept.unlink()
    (tmp_path / "talk-attachments" / f"{picture().sha256}.png").write_bytes(b"another")
    assert sibyl("sessions", "import", "talk.jsonl").code == 0
    assert not kept.exists()


# --- secrets


@pytest.fixture
def secretive(saved):
    return saved(f"Why does {TOKEN} fail?", "It is `db_password: s3cr3tP4ss`.")


@pytest.mark.parametrize("form", ["markdown", "jsonl"])
def test_secrets_are_counted_also_in_the_title_and_stay(sibyl, saved, secretive, form):
    told = sibyl("sessions", "export", secretive, "--format", form)
    assert (told.out.count(TOKEN), told.out.count("s3cr3tP4ss")) == (2, 1)
    assert told.err == "Found 3 secrets; --mask-secrets masks them.\n"
    harmless = saved("How do I sort?", "Use `sorted`.")
    plain = sibyl("sessions", "export", harmless, "--format", form)
    assert sibyl("sessions", "export", harmless, "--format", form, "--mask-secrets") == plain
    assert plain.err == ""


@pytest.mark.parametrize("form", ["markdown", "jsonl"])
@pytest.mark.parametrize("place", ["-", "out.txt", "folder/"])
def test_secrets_are_masked_where_that_is_asked_for(sibyl, secretive, store, tmp_path, form, place):
    kept = Path(store.location(secretive))
    before = kept.read_bytes()
    given = ("--format", form, "--output", place, "--mask-secrets")
    told = sibyl("sessions", "export", secretive, *given)
    files = [*tmp_path.glob("out.txt"), *tmp_path.glob("folder/*")]
    written = "".join([told.out, *(path.read_text() for path in files)])
    assert (told.code, told.err) == (0, "Masked 3 secrets.\n")
    assert written.count("[masked GitHub token]") == 2
    assert "db_password: [masked secret]" in written
    assert not any(secret in written for secret in (TOKEN[4:12], "s3cr3tP4ss"))
    assert not any(TOKEN[4:12] in path.name for path in files)
    assert kept.read_bytes() == before
    if (form, place) == ("jsonl", "-"):
        _, answered = of_type(lines(written), "message")
        assert answered["content"] == "It is `db_password: [masked secret]`."
