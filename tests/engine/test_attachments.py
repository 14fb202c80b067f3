import hashlib
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.tables import each_row
from tui.domain.journal.message import FileBlock, ImageBlock, Message
from tui.domain.references import reference_to, reference_to_picture, words_in
from tui.engine.attachments import (
    ATTACHMENTS,
    FOLDER_ENTRIES,
    TEXT_FILE_BYTES,
    PromptPlace,
    attach,
    preview,
)
from tui.errors import AttachmentNotFound, UsageError
from tui.storage.file_store import FileStore

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100
SESSION = "session-20261123-000000-000001"
NOT_UTF8 = os.fsdecode(b"bad\xff\xfename")
HOSTILE = [
    "line\nbreak",
    "\x1b]0;title\x07\x1b[2J",
    "evil\u202egpj.exe",
    "\u2028separated",
    "a" * 255,
    "trailing...",
    " blanks ",
    "quo\"te's",
    "@at@",
    "@",
    "-rf",
    "back\\slash\\",
    "tab\tname",
    "[markup]",
    "```",
]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "data", lambda: datetime(2026, 11, 23, tzinfo=UTC))


@pytest.fixture
def place(project, store):
    return PromptPlace(store, SESSION, [project])


@pytest.fixture
def attached(place):
    def attach_here(text, own=None, **more):
        content = attach(text, words_in(text) if own is None else own, place, **more).content
        return Message("m1", "user", content, "")

    return attach_here


@pytest.fixture
def refused(attached):
    def refuse(text, **more):
        with pytest.raises(UsageError) as told:
            attached(text, **more)
        return str(told.value)

    return refuse


# --- text


def test_a_text_file_comes_with_the_prompt_which_stays_as_typed(attached, project):
    plain = "mail me@example.org about @property and @types/node"
    assert attached(plain).content == plain
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("print('ä')\n")
    message = attached("explain @src/a.py, please")
    assert message.typed_text == "explain @src/a.py, please"
    assert message.attachments == (FileBlock("src/a.py", "print('ä')\n", 12),)


def test_paths_are_absolute_or_at_home_too_and_the_first_folder_that_has_one_counts(
    attached, project, store, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").write_text("one")
    (tmp_path / "more").write_text("two")
    message = attached(f"@~/notes @{tmp_path}/more @../more")
    assert [each.text for each in message.attachments] == ["one", "two"]
    (project / "notes").write_text("there")
    (project / "b").write_text("only there")
    both = PromptPlace(store, SESSION, [tmp_path, project])
    content = attach("@notes @b", ["@notes", "@b"], both).content
    texts = [each.text for each in Message("m", "user", content, "").attachments]
    assert texts == ["one", "only there"]


def test_punctuation_is_no_part_of_a_path_and_a_file_is_attached_once(attached, project):
    (project / "a.py").write_text("one")
    (project / "what?").write_text("two")
    (project / "link").symlink_to("a.py")
    message = attached("(see @a.py). Or @what?, @./a.py, @link and @a.py!")
    assert [each.name for each in message.attachments] == ["a.py", "what?"]


def test_utf_16_with_its_mark_a_mark_of_utf_8_and_nothing_are_text(attached, project):
    (project / "a").write_bytes("grüße".encode("utf-16"))
    (project / "b").write_bytes("grüße".encode("utf-8-sig"))
    (project / "empty").touch()
    a, b, empty = attached("@a @b @empty").attachments
    assert (a.text, b.text, empty) == ("grüße", "grüße", FileBlock("empty", "", 0))


def test_of_a_long_file_whole_characters_of_the_beginning_are_attached_and_that_is_said(
    attached, project, place
):
    (project / "big.log").write_text("ä" * TEXT_FILE_BYTES)
    found = attach("x@y @big.log", ["@big.log"], place)
    block = Message("m", "user", found.content, "").attachments[0]
    assert block.cut
    assert block.text == "ä" * (TEXT_FILE_BYTES // 2)
    assert found.notice == "Attached in part: [file: big.log, first 256 KB of 512 KB]"
    (project / "odd").write_text("x" + "ä" * TEXT_FILE_BYTES)
    assert attached("@odd").attachments[0].text == "x" + "ä" * (TEXT_FILE_BYTES // 2 - 1)


@each_row(
    "data",
    [b"\0\1\2", b"\xff\xfe\0\0a\0\0\0", b"\x7fELF\2\1\1\0", b"caf\xe9", b"a\0b", b"\xff\xfea"],
)
def test_what_is_no_text_is_refused(refused, project, data):
    (project / "photo.bin").write_bytes(data)
    assert refused("@photo.bin") == "Cannot attach photo.bin: it is not text or a picture."


def many(project, number, data, ending=""):
    """So many files of these bytes and their number; gives the words that name them."""
    for each in range(number):
        (project / f"f{each}{ending}").write_bytes(data + str(each).encode())
    return [f"@f{each}{ending}" for each in range(number)]


def test_more_text_or_files_than_a_message_holds_are_refused(refused, attached, project):
    text = " ".join(many(project, 34, b"x" * (TEXT_FILE_BYTES - 1)))
    assert refused(text) == "The files of a prompt may have 8 MiB of text at most."
    names = many(project, ATTACHMENTS + 1, b"x")
    assert len(attached(" ".join(names[1:])).attachments) == ATTACHMENTS
    assert refused(" ".join(names)) == "A prompt may have 50 files and pictures at most."


# --- folders


def test_a_folder_is_a_sorted_list_without_the_repository_s_own(attached, project):
    for name in ("b.txt", "a.txt", ".hidden"):
        (project / name).touch()
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    (project / "loop").symlink_to("loop")
    (project / "up").symlink_to("..")
    (found,) = attached("@./").attachments
    assert found == FileBlock("./", ".hidden\na.txt\nb.txt\nloop\nsub/\nup/", 6, folder=True)


def test_of_a_large_folder_the_first_entries_are_listed(attached, project):
    (project / "many").mkdir()
    for number in range(FOLDER_ENTRIES + 5):
        (project / "many" / f"{number:05}").touch()
    (found,) = attached("@many").attachments
    assert (found.cut, found.size) == (True, FOLDER_ENTRIES + 5)
    assert found.text.splitlines() == [f"{number:05}" for number in range(FOLDER_ENTRIES)]


# --- pictures


def test_a_picture_is_known_by_its_bytes_and_kept(attached, project, store):
    (project / "photo.txt").write_bytes(PNG)
    (found,) = attached("@photo.txt").attachments
    sha256 = hashlib.sha256(PNG).hexdigest()
    assert found == ImageBlock("photo.txt", "image/png", sha256, len(PNG))
    assert store.attachment(SESSION, sha256) == PNG


def test_pictures_that_are_too_large_or_too_many_are_refused_with_the_limit(refused, project):
    (project / "a.png").write_bytes(PNG + b"\0" * 7_300_000)
    reason = "a picture may have 5.0 MB at most, and this one has 7.3 MB"
    assert refused("@a.png") == f"Cannot attach a.png: {reason}."
    for number, size in ((4, 4_500_000), (21, 0)):
        text = " ".join(many(project, number, PNG + b"\0" * size, ".png"))
        assert refused(text) == "A prompt may have 20 pictures at most, of 15 MB together."


def test_a_picture_from_the_store_is_attached_once(attached, project, store):
    sha256 = store.add_attachment(SESSION, PNG)
    (project / "same.png").write_bytes(PNG)
    reference = reference_to_picture(sha256)
    (found,) = attached(f"{reference}, @same.png").attachments
    assert found == ImageBlock(reference[1:], "image/png", sha256, len(PNG))


def test_a_picture_that_is_gone_and_a_missing_file_are_refused(refused):
    name = "image-0123456789abcdef.png"
    assert refused(f"see @{name}.") == f"Cannot attach {name}: it is not kept here any more."
    assert refused("hi", files=["missing"]) == "Cannot attach missing: No such file or directory."


def test_a_picture_is_not_kept_if_another_file_is_refused(refused, project, store):
    (project / "a.png").write_bytes(PNG)
    (project / "b.bin").write_bytes(b"\0")
    refused("@a.png @b.bin")
    with pytest.raises(AttachmentNotFound):
        store.attachment(SESSION, hashlib.sha256(PNG).hexdigest())


# --- what cannot be read


def _make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "it is a pipe, not a regular file"),
        (_make_socket, "it is a socket, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a regular file"),
        (lambda path: path.symlink_to("thing"), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("nothing"), "No such file or directory"),
    ],
)
def test_a_thing_that_is_no_file_is_refused_at_once(refused, project, monkeypatch, make, reason):
    monkeypatch.chdir(project)
    make(Path("thing"))
    assert refused("@thing") == f"Cannot attach thing: {reason}."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_refused(refused, project):
    (project / "secret").touch(mode=0)
    assert refused("@secret") == "Cannot attach secret: Permission denied."


# --- names


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_attached_in_a_form_that_can_be_shown_and_stored(attached, project, name):
    (project / name).write_text("text")
    reference = reference_to(name)
    text = f"see {reference} there" if reference else "see"
    message = attached(text, files=[] if reference else [str(project / name)])
    (found,) = message.attachments
    assert found.text == "text"
    _check_name(found.name)


def test_a_name_that_is_no_utf_8_can_be_given_as_a_file(attached, project):
    try:
        (project / NOT_UTF8).write_text("text")
    except OSError:
        pytest.skip("this file system has no such names")
    (found,) = attached("see", files=[str(project / NOT_UTF8)]).attachments
    assert found.name.endswith("bad\ufffd\ufffdname")
    _check_name(found.name)


def test_a_folder_of_hostile_names_lists_one_a_line(attached, project):
    for name in HOSTILE:
        (project / name).touch()
    (found,) = attached('@"."').attachments
    assert len(found.text.splitlines()) == found.size == len(HOSTILE)
    for line in found.text.splitlines():
        _check_name(line)


def _check_name(name):
    name.encode()
    assert name.splitlines() == [name]
    assert not any(c < " " or c in "\x7f\u202e" for c in name)


@pytest.mark.parametrize(
    "path", ["a\0b", "x" * 300, "x" * 5000, "no/such", "a.py/deeper", "\ud800"]
)
def test_a_path_that_cannot_be_stays_text(attached, project, path):
    (project / "a.py").touch()
    text = f"see @{path}"
    assert attached(text).content == text


# --- earlier attachments


def test_a_reference_to_nothing_is_what_an_earlier_question_had_by_that_name(attached, project):
    file, picture = FileBlock("gone.txt", "text", 4), ImageBlock("p.png", "image/png", "0" * 64, 1)
    message = attached("again @gone.txt, @p.png and @other", earlier=[picture, file])
    assert message.attachments == (file, picture)
    (project / "gone.txt").write_text("new")
    (found,) = attached("@gone.txt", earlier=[file]).attachments
    assert found.text == "new"


# --- references that are not the user's own, and secrets


def test_only_own_words_are_looked_for_and_earlier_files_come_again_as_they_were(attached, project):
    for name in ("a", "b", "c"):
        (project / name).write_text(f"new {name}")
    message = attached("@a @b @c", {"@a"}, earlier=[FileBlock("b", "old b", 5)])
    assert [each.text for each in message.attachments] == ["new a", "old b"]


@pytest.mark.parametrize(
    "name",
    [
        *(".env", ".env.local", "server.PEM", "tls.key", "id_ed25519", ".netrc", ".npmrc"),
        *(".pypirc", ".ssh/config", ".gnupg/pubring.kbx", ".aws/credentials", "sibyl/keys/openai"),
        *("connections.toml", "deep/.ssh/x/y"),
    ],
)
def test_names_of_secrets_are_named_also_behind_a_link(project, place, name):
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    (project / "link").symlink_to(path)
    for written in (name, "link"):
        assert attach(f"@{written}", {f"@{written}"}, place).secrets == (written,)
    assert attach("", (), place, [str(path)]).secrets == (str(path),)
    for ordinary in ("keys.py", "ideas.md", "environment", "pem.txt", "sshd.md"):
        (project / ordinary).write_text("text")
        assert attach(f"@{ordinary}", {f"@{ordinary}"}, place).secrets == ()


KEPT = "0123456789abcdef"


class Store:
    def find_attachment(self, session_id, prefix):
        if prefix != KEPT:
            raise AttachmentNotFound(prefix)
        return prefix * 4

    def attachment(self, session_id, sha256):
        return b"x" * 2000


@pytest.fixture
def words(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_bytes(b"x" * 3000)
    (project / "to buy.txt").write_bytes(b"x")
    place = PromptPlace(Store(), "s", [project])
    return lambda text, room=200: preview(text, words_in(text), place).words(
        lambda line: len(line) <= room
    )


def test_files_have_their_size_and_all_of_them_their_bytes(words):
    assert words("see @src/a.py, @src/ and @src/a.py") == "3 KB attached: src/a.py 3 KB, src/"
    assert words('@"to buy.txt" @~/shop/src') == "5 bytes attached: to buy.txt 1 byte, ~/shop/src"


def test_only_the_part_of_a_long_text_counts_that_is_sent(words, tmp_path):
    (tmp_path / "shop" / "log").write_bytes(b"x" * 300_000)
    (tmp_path / "shop" / "photo").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 300_000)
    assert words("@log") == "attached: log 256 KB of 300 KB"
    assert words("@photo @log") == "556 KB attached: photo 300 KB, log 256 KB of 300 KB"


def test_a_list_without_room_counts_what_it_leaves_out(words, tmp_path):
    for number in range(60):
        (tmp_path / "shop" / f"{number}.txt").write_bytes(b"x" * 1000)
    text = " ".join(f"@{number}.txt" for number in range(60))
    assert words(text, 45) == "60 KB attached: 0.txt 1 KB and 59 more"
    assert words(text, 10) == "60 KB attached: 60 files"
    assert words(f"{text} @./gone", 10) == "not found: ./gone · 60 KB attached: 60 files"


def test_a_quoted_or_mistyped_name_and_a_path_from_elsewhere_are_missed(words):
    assert words("ask @ann about @property in a@b.c") == ""
    expected = "not found: a b, ./c, ../d and 2 more · attached: src/"
    assert words('@"a b" @./c @../d @~/e @/nowhere/f, @src/') == expected
    assert words("@src/aa.py @raedme.md @types/node @ann") == "not found: src/aa.py, raedme.md"


def test_a_kept_picture_is_known_one_that_is_gone_missed_and_a_refusal_left_to_the_sending(
    words, tmp_path
):
    assert words(f"@image-{KEPT}.png") == f"attached: image-{KEPT}.png 2 KB"
    assert words(f"@image-{KEPT[::-1]}.png") == f"not found: image-{KEPT[::-1]}.png"
    os.symlink("loop", tmp_path / "shop" / "loop")
    assert words("@loop") == ""
