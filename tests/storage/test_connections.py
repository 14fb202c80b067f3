"""The file of connections and those of keys: whole or not at all, and the user's alone."""

import os
import stat
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.failing import raiser
from tui.config.loading import load_connections
from tui.config.settings_schema import ProviderSettings
from tui.errors import ConfigError, StorageError
from tui.storage import connections, disk

KEY = "sk-test-0123456789"
SIGN_IN = {"tokens": {"access_token": "secret"}}


@pytest.fixture
def file(tmp_path: Path):
    return tmp_path / "sibyl" / "connections.toml"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def connect(file: Path, model: str = "openai:a"):
    path = connections.write_key(file, "openai", KEY)
    provider = ProviderSettings(api_key_file=str(path))
    return connections.change(file, lambda kept: kept.with_connected("openai", provider, model))


def test_a_connection_is_there_at_the_next_start_and_leaves_no_key_once_removed(file):
    kept = connect(file)
    assert load_connections(file) == kept
    assert kept.model == "openai:a"
    assert Path(kept.providers["openai"].api_key_file).read_text().strip() == KEY
    connections.change(file, lambda kept: kept.without("openai"))
    connections.remove_key(file, "openai")
    connections.remove_key(file, "openai")
    assert load_connections(file).providers == {}
    assert not connections.key_path(file, "openai").exists()


@pytest.mark.parametrize("made_before", [True, False])
def test_only_the_user_can_read_it_and_the_key_is_in_no_other_file(file, made_before):
    if made_before:
        (file.parent / "keys").mkdir(parents=True, mode=0o755)
    old = os.umask(0)
    try:
        connect(file)
    finally:
        os.umask(old)
    assert mode(file) == mode(connections.key_path(file, "openai")) == 0o600
    assert mode(file.parent / "keys") == 0o700
    holding = [path for path in file.parent.rglob("*") if path.is_file()]
    assert [path.name for path in holding if KEY in path.read_text()] == ["openai.key"]


class Killed(BaseException):
    """The program is gone."""


@pytest.mark.parametrize("call", ["write", "fdatasync", "rename", "fsync"])
def test_a_kill_in_the_middle_of_writing_leaves_the_old_or_the_new(file, monkeypatch, call):
    connect(file, "openai:old")
    before = file.read_bytes()

    monkeypatch.setattr(disk.os, call, raiser(Killed))
    with pytest.raises(Killed):
        connections.change(file, lambda kept: replace(kept, model="openai:new"))
    monkeypatch.undo()
    assert load_connections(file).model in {"openai:old", "openai:new"}
    assert (file.read_bytes() == before) == (call != "fsync")


def test_a_damaged_file_is_left_as_it_is(file):
    file.parent.mkdir()
    file.write_text("nonsense")
    with pytest.raises(ConfigError):
        connections.change(file, lambda kept: replace(kept, model="openai:new"))
    assert file.read_text() == "nonsense"


def test_a_place_that_cannot_be_written_is_an_error_without_the_key(file):
    file.parent.write_text("no directory")
    with pytest.raises(StorageError) as caught:
        connect(file)
    assert KEY not in str(caught.value)


def test_two_programs_that_write_at_once_both_count(file):
    reading, go_on = threading.Event(), threading.Event()

    def slow(kept):
        reading.set()
        assert go_on.wait(30)
        return kept.with_chosen("openai:slow")

    one = threading.Thread(target=connections.change, args=(file, slow))
    other = threading.Thread(
        target=connections.change, args=(file, lambda kept: kept.with_chosen("openai:fast"))
    )
    one.start()
    assert reading.wait(30)
    other.start()
    go_on.set()
    one.join(30)
    other.join(30)
    assert load_connections(file).recent == ("openai:fast", "openai:slow")


# --- sign-ins


@pytest.fixture
def sign_ins(tmp_path):
    return connections.SignInFiles(tmp_path)


def test_each_server_has_a_file_of_its_own_that_only_the_user_can_read(sign_ins, tmp_path):
    sign_ins.write("one", SIGN_IN)
    sign_ins.write("two", {})
    assert mode(tmp_path / "one.json") == 0o600
    assert [sign_ins.read(each) for each in ("one", "two", "three")] == [SIGN_IN, {}, {}]
    assert (sign_ins.forget("one"), sign_ins.forget("one")) == (True, False)
    assert sign_ins.read("one") == {}


@pytest.mark.parametrize(
    "spoil",
    [
        *(lambda path, mode=mode: path.chmod(mode) for mode in (0o640, 0o604, 0o620)),
        lambda path: path.rename(path.with_name("x")) and path.symlink_to("x"),
    ],
)
def test_a_link_or_a_file_that_others_can_read_or_change_is_not_used(sign_ins, tmp_path, spoil):
    sign_ins.write("one", SIGN_IN)
    spoil(tmp_path / "one.json")
    with pytest.raises(StorageError, match=r"one\.json"):
        sign_ins.read("one")
