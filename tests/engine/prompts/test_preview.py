import os

import pytest

from tui.domain.references import words_in
from tui.engine.attachments import PromptPlace, preview
from tui.errors import AttachmentNotFound

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


def test_a_word_that_is_no_file_is_text(words):
    assert words("ask @ann about @property in a@b.c") == ""


def test_a_quoted_name_and_a_path_from_elsewhere_are_missed(words):
    expected = "not found: a b, ./c, ../d and 2 more · attached: src/"
    assert words('@"a b" @./c @../d @~/e @/nowhere/f, @src/') == expected


def test_a_mistyped_name_is_missed_and_a_word_of_code_is_none(words):
    assert words("@src/aa.py @raedme.md @types/node @ann") == "not found: src/aa.py, raedme.md"


def test_a_kept_picture_is_known_and_one_that_is_gone_is_missed(words):
    assert words(f"@image-{KEPT}.png") == f"attached: image-{KEPT}.png 2 KB"
    assert words(f"@image-{KEPT[::-1]}.png") == f"not found: image-{KEPT[::-1]}.png"


def test_what_the_disk_refuses_is_left_to_the_sending(words, tmp_path):
    os.symlink("loop", tmp_path / "shop" / "loop")
    assert words("@loop") == ""
