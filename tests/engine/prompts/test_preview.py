import os

import pytest

from tui.engine.prompts.attaching import Place
from tui.engine.prompts.preview import preview_words
from tui.errors import AttachmentNotFound

KEPT = "0123456789abcdef"


class Store:
    def find_attachment(self, session_id, prefix):
        if prefix != KEPT:
            raise AttachmentNotFound(prefix)
        return prefix * 4


@pytest.fixture
def words(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_bytes(b"x" * 3000)
    (project / "to buy.txt").write_bytes(b"x")
    place = Place(Store(), "s", [project])
    return lambda text: preview_words(text, place)


def test_files_have_their_size_and_folders_none(words):
    assert words("see @src/a.py, @src/ and @src/a.py") == "attached: src/a.py 3 KB, src/"
    assert words('@"to buy.txt" @~/shop/src') == "attached: to buy.txt 1 byte, ~/shop/src"


def test_a_word_that_is_no_file_is_text(words):
    assert words("ask @ann about @property in a@b.c") == ""


def test_a_quoted_name_and_a_path_from_elsewhere_are_missed(words):
    expected = "not found: a b, ./c, ../d, ~/e, /nowhere/f · attached: src/"
    assert words('@"a b" @./c @../d @~/e @/nowhere/f, @src/') == expected


def test_a_kept_picture_is_known_and_one_that_is_gone_is_missed(words):
    assert words(f"@image-{KEPT}.png") == f"attached: image-{KEPT}.png"
    assert words(f"@image-{KEPT[::-1]}.png") == f"not found: image-{KEPT[::-1]}.png"


def test_what_the_disk_refuses_is_left_to_the_sending(words, tmp_path):
    os.symlink("loop", tmp_path / "shop" / "loop")
    assert words("@loop") == ""
