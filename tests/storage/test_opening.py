"""Stores of other packages, chosen by the configuration."""

import re

import pytest

from tests.builders import Clock, user
from tui.errors import ConfigError, SibylError, StorageError
from tui.storage.file_store import FileStore
from tui.storage.opening import open_store

KEEPING = """
from tui.storage.memory_store import MemoryStore

class Shelf(MemoryStore):
    def __init__(self, address, clock):
        super().__init__(clock)
        self.address = address
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package that names a store."""

    def install(code, package="shelf-store", point="shelf_code:Shelf"):
        folder = tmp_path / package
        about = folder / f"{package.replace('-', '_')}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[sibyl_tui.stores]\nshelf = {point}\n")
        (folder / "shelf_code.py").write_text(code)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(__import__("sys").modules, "shelf_code", raising=False)

    return install


def opened(address, tmp_path):
    return open_store(address, tmp_path, Clock())


def test_without_an_address_the_store_is_the_data_directory(tmp_path):
    store = opened("", tmp_path)
    assert isinstance(store, FileStore)
    assert store.root == tmp_path


@pytest.mark.parametrize("address", ["shelf", "shelf:", "shelf://host/a?b#c"])
def test_an_address_begins_with_the_name_of_an_installed_store(install, tmp_path, address):
    install(KEEPING)
    store = opened(address, tmp_path)
    assert store.address == address
    lease = store.create("s", "/s", "m")
    store.append(lease, [user("m1")])
    assert store.load(lease.session_id).message_count == 1


def refused(address, tmp_path, error=StorageError):
    with pytest.raises(error) as told:
        opened(address, tmp_path)
    return str(told.value)


def test_an_unknown_name_is_told_with_those_that_are_installed(install, tmp_path):
    known = "settings: store: there is no store"
    assert refused("self:x", tmp_path, ConfigError) == f'{known} "self" (none is installed)'
    install(KEEPING)
    assert refused("self:x", tmp_path, ConfigError) == f'{known} "self" (installed: shelf)'


def test_an_address_that_begins_with_no_name_is_not_repeated(tmp_path):
    told = refused("//me:secret@host/x", tmp_path, ConfigError)
    assert "postgresql:// or with the name of an installed store" in told
    assert "secret" not in told


def test_two_packages_with_one_name_are_told(install, tmp_path):
    install(KEEPING)
    install(KEEPING, "other-store")
    told = refused("shelf", tmp_path, ConfigError)
    assert 'other-store and shelf-store both have a store "shelf"' in told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import a_module_that_is_absent", "loaded: ModuleNotFoundError: No module named .*"),
        ("1 / 0", "loaded: ZeroDivisionError: division by zero"),
        ("Shelf =", "loaded: SyntaxError: .*"),
        ("", "loaded: AttributeError: .*Shelf.*"),
        ("Shelf = None", "opened: TypeError: .*NoneType.*"),
        ("def Shelf(address): pass", "opened: TypeError: .* takes 1 positional argument.*"),
        ("def Shelf(address, clock): raise OSError('no disk')", "opened: OSError: no disk"),
    ],
)
def test_a_store_that_cannot_be_had_is_told_with_its_package(install, tmp_path, code, told):
    install(code)
    told = f'The store "shelf" of shelf-store cannot be {told}'
    assert re.fullmatch(told, refused("shelf", tmp_path))


def test_the_words_of_a_store_that_refuses_to_open_are_left_alone(install, tmp_path):
    install("from tui.errors import StorageError\ndef Shelf(*_): raise StorageError('No room.')")
    assert refused("shelf", tmp_path, SibylError) == "No room."


def test_a_store_for_another_version_is_told_with_what_it_lacks(install, tmp_path):
    install(KEEPING + "    append = property()\n    watch = None\n")
    assert refused("shelf", tmp_path) == (
        'The store "shelf" of shelf-store does not fit this version of sibyl-tui:'
        " it has no append or watch."
    )
