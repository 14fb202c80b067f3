"""The lists of models that servers gave: ``models.json`` in the state directory.

A cache: a file that is damaged, missing or of another version counts as empty.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tui.domain.json_text import Count
from tui.domain.providers import ListedModel
from tui.files import read_json
from tui.storage import disk, locks

FILE = "models.json"
_VERSION = 1
_MOST_BYTES = 1024 * 1024


class CachedList(msgspec.Struct, frozen=True):
    """The models of the server at ``address``; ``asked_at`` is in UTC."""

    address: str
    asked_at: str
    models: tuple[str, ...] = ()
    windows: dict[str, Count] = {}
    """In tokens, by the name of the model, as far as the server lists them."""
    sees_images: dict[str, bool] = {}
    """By the name of the model, as far as the server says so."""


Lists = Mapping[str, CachedList]
"""By the name of the provider."""


class _Cache(msgspec.Struct, frozen=True):
    version: int = _VERSION
    lists: dict[str, CachedList] = {}


def cached(address: str, asked_at: str, listed: Sequence[ListedModel]) -> CachedList:
    """Make the list of a server ready to be kept."""
    windows = {each.name: each.window for each in listed if each.window}
    sees = {each.name: each.sees_images for each in listed if each.sees_images is not None}
    return CachedList(address, asked_at, tuple(each.name for each in listed), windows, sees)


def read(path: Path) -> Lists:
    """Read the lists, as far as they can be read."""
    try:
        cache = read_json(path, _MOST_BYTES, _Cache)
    except OSError:
        return {}
    return cache.lists if cache.version == _VERSION else {}


def change(path: Path, changes: Mapping[str, CachedList | None]) -> None:
    """Write some lists; ``None`` removes one. Raises ``StorageError``."""
    with locks.alone(path), disk.storage_errors(f"Cannot write {path}"):
        lists = {**read(path), **changes}
        kept = {name: each for name, each in lists.items() if each is not None}
        data = msgspec.json.encode(_Cache(lists=kept))
        if len(data) <= _MOST_BYTES:  # else it could not be read again
            disk.replace(path, data)
