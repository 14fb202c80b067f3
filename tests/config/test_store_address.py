"""Passwords in the address of a store."""

import pytest

from tui.config.loading import Flags, load_settings, without_password
from tui.config.writing import as_toml, example
from tui.errors import ConfigError

ADDRESSES = [
    "postgresql://me:s3cret@db.example.org/sibyl",
    "postgresql://me:s3cret@db.example.org:5432/sibyl?sslmode=verify-full",
    "postgresql://me:s3/c?r@s3cret@db.example.org/sibyl",
    "postgresql://db.example.org/sibyl?user=me&password=s3cret",
    "postgresql://db.example.org/sibyl?sslpassword=s3cret&sslmode=require",
]
PLAIN = "postgresql://me@db.example.org:5432/sibyl?sslmode=verify-full"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config.toml"


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_hidden(address):
    shown = without_password(address)
    assert "s3" not in shown
    assert "db.example.org" in shown


def test_an_address_without_one_is_shown_whole():
    assert without_password(PLAIN) == PLAIN


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_refused_as_an_argument_and_not_quoted(address, file):
    with pytest.raises(ConfigError, match="--store: the address has a password") as refused:
        load_settings(file, {}, Flags(store=address))
    assert "s3" not in str(refused.value)


def test_it_may_be_in_a_variable_and_is_not_shown(file):
    settings = load_settings(file, {"SIBYL_STORE": ADDRESSES[0]})
    assert settings.config.store == ADDRESSES[0]
    assert "s3cret" not in as_toml(settings)


def test_an_empty_one_is_none(file):
    address = "postgresql://me:@db.example.org/sibyl"
    assert load_settings(file, {}, Flags(store=address)).config.store == address
    with pytest.raises(ConfigError, match="--store: the address has a password"):
        load_settings(file, {}, Flags(store="postgresql://me:@s3cret@db.example.org/sibyl"))


def test_it_is_refused_in_a_file_that_others_can_read(file):
    file.write_text(f'store = "{ADDRESSES[0]}"\n')
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="other users can read this file") as refused:
        load_settings(file, {})
    assert "s3" not in str(refused.value)


def test_it_is_read_from_a_file_of_its_owner_and_not_shown(file):
    file.write_text(f'store = "{ADDRESSES[0]}"\n')
    file.chmod(0o600)
    settings = load_settings(file, {})
    assert settings.config.store == ADDRESSES[0]
    assert 'store = "postgresql://me:[hidden]@db.example.org/sibyl"' in as_toml(settings)


def test_a_store_without_one_may_be_anywhere(file):
    file.write_text(f'store = "{PLAIN}"\n')
    file.chmod(0o644)
    assert load_settings(file, {}).config.store == PLAIN
    assert load_settings(file, {}, Flags(store="")).config.store == ""


def test_the_example_names_the_store():
    assert '#store = "postgresql://me@db.example.org/sibyl"' in example()
