"""The store that the configuration names."""

import pytest

from tests.builders import Clock
from tui.errors import ConfigError
from tui.storage.file_store import FileStore
from tui.storage.opening import open_store


def test_without_an_address_the_store_is_the_data_directory(tmp_path):
    store = open_store("", tmp_path, Clock())
    assert isinstance(store, FileStore)
    assert store.root == tmp_path


@pytest.mark.parametrize("address", ["shelf:x", "//me:secret@host/x", "ftp://me:secret@host"])
def test_any_other_address_is_refused_and_not_repeated(tmp_path, address):
    with pytest.raises(ConfigError) as told:
        open_store(address, tmp_path, Clock())
    assert str(told.value) == "settings: store: an address begins with postgresql://"
