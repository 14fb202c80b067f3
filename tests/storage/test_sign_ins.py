"""Sign-ins at tool servers, each in a private file."""

import stat

import pytest

from tui.errors import StorageError
from tui.storage.sign_ins import SignInFiles

KEPT = {"tokens": {"access_token": "secret"}}


@pytest.fixture
def files(tmp_path):
    return SignInFiles(tmp_path / "sign-ins")


def test_each_server_has_a_file_of_its_own_that_only_the_user_can_read(files, tmp_path):
    files.write("one", KEPT)
    files.write("two", {})

    path = tmp_path / "sign-ins" / "one.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (files.read("one"), files.read("two"), files.read("three")) == (KEPT, {}, {})


def test_a_forgotten_one_is_gone(files):
    files.write("one", KEPT)
    assert (files.forget("one"), files.forget("one")) == (True, False)
    assert files.read("one") == {}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_or_change_is_not_used(files, tmp_path, mode):
    files.write("one", KEPT)
    (tmp_path / "sign-ins" / "one.json").chmod(mode)
    with pytest.raises(StorageError, match="other users"):
        files.read("one")


def test_a_link_to_a_file_is_not_followed(files, tmp_path):
    files.write("one", KEPT)
    (tmp_path / "sign-ins" / "two.json").symlink_to("one.json")
    with pytest.raises(StorageError):
        files.read("two")
