"""The JSON files of the state directory: choices on screen, lists of models, and tools allowed.

``ui.json`` and ``models.json`` are never a reason to fail: one that is damaged, missing, unreadable
or of another version counts as empty. ``tool-approvals.json`` allows nothing then, nor if other
users can change it: reading it fails, and it is never written over.
"""

import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.json_text import Count
from tui.domain.providers import ListedModel, Provider
from tui.domain.timestamps import format_utc
from tui.domain.tool_servers import ToolApproval
from tui.errors import StorageError
from tui.files import read_json
from tui.storage import disk, locks

UI_STATE = "ui.json"
MODELS = "models.json"
APPROVALS = "tool-approvals.json"
_VERSION = 1
_UI_BYTES = 64 * 1024
_MOST_BYTES = 1024 * 1024
_MOST_COLUMNS = 10_000
_TEXTS = ("theme", "theme_over", "auto_import", "auto_import_into", "program")
_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UiState(msgspec.Struct, frozen=True):
    """Choices made on screen; ``None`` for one not made. The width is in columns.

    ``theme_over`` is the configured theme that ``theme`` replaces. ``auto_import`` names programs,
    separated by spaces, for the store ``auto_import_into``. ``program`` is the version that was
    started last.
    """

    theme: str | None = None
    theme_over: str | None = None
    sidebar_width: int | None = None
    wrap_code: bool = True
    auto_import: str | None = None
    auto_import_into: str | None = None
    program: str | None = None


def read_ui_state(path: Path) -> UiState:
    """Read the choices, as far as they can be read."""
    values = _values(path)
    if values.get("version") != _VERSION:
        return UiState()
    width = values.get("sidebar_width")
    return UiState(
        sidebar_width=width if type(width) is int and 0 < width < _MOST_COLUMNS else None,
        wrap_code=values.get("wrap_code") is not False,
        **{name: text for name in _TEXTS if isinstance(text := values.get(name), str)},
    )


def change_ui_state(path: Path, changes: Mapping[str, str | int | None]) -> None:
    """Write some fields of ``UiState``; ``None`` removes one.

    A file of another version stays as it is, and so do keys of other programs. Raises
    ``StorageError``.
    """
    values = _values(path)
    if values.get("version", _VERSION) != _VERSION:
        return
    kept = {"version": _VERSION} | values | dict(changes)
    present = {key: value for key, value in kept.items() if value is not None}
    with disk.storage_errors(f"Cannot write {path}"):
        disk.make_directory(path.parent)
        disk.replace(path, msgspec.json.encode(present) + b"\n")


def _values(path: Path) -> dict[str, Any]:
    try:
        return read_json(path, _UI_BYTES)
    except OSError:
        return {}


class CachedList(msgspec.Struct, frozen=True):
    """The models of the server at ``address``; ``asked_at`` is in UTC."""

    address: str
    asked_at: str
    models: tuple[str, ...] = ()
    windows: dict[str, Count] = {}
    """In tokens, by the name of the model, as far as the server lists them."""
    sees_images: dict[str, bool] = {}
    """By the name of the model, as far as the server says so."""

    @classmethod
    def of(cls, address: str, asked_at: str, listed: Sequence[ListedModel]) -> "CachedList":
        """Make the list of a server ready to be kept."""
        windows = {each.name: each.window for each in listed if each.window}
        sees = {each.name: each.sees_images for each in listed if each.sees_images is not None}
        return cls(address, asked_at, tuple(each.name for each in listed), windows, sees)


Lists = Mapping[str, CachedList]
"""By the name of the provider."""


class _Cache(msgspec.Struct, frozen=True):
    version: int = _VERSION
    lists: dict[str, CachedList] = {}


def read_lists(path: Path) -> Lists:
    """Read the lists of models that servers gave, as far as they can be read."""
    try:
        cache = read_json(path, _MOST_BYTES, _Cache)
    except OSError:
        return {}
    return cache.lists if cache.version == _VERSION else {}


def change_lists(path: Path, changes: Mapping[str, CachedList | None]) -> None:
    """Write some lists of models; ``None`` removes one. Raises ``StorageError``."""
    with locks.alone(path):
        lists = {**read_lists(path), **changes}
        kept = {name: each for name, each in lists.items() if each is not None}
        data = msgspec.json.encode(_Cache(lists=kept))
        if len(data) <= _MOST_BYTES:  # else it could not be read again
            disk.replace(path, data)


class KeptLists(msgspec.Struct, eq=False):
    """Reads and writes the lists for whoever looks for what a model takes. Its methods block."""

    _file: Path
    _clock: Callable[[], datetime]

    def model(self, provider: Provider, model: str) -> ListedModel:
        """A model in its server's list, as far as that has been kept."""
        kept = read_lists(self._file).get(provider.name)
        if kept is None or kept.address != provider.base_url:
            return ListedModel(model)
        return ListedModel(model, kept.windows.get(model), sees_images=kept.sees_images.get(model))

    def keep(self, provider: Provider, listed: Sequence[ListedModel]) -> None:
        """Keep the list of a server, unless it is the one that is kept."""
        before = read_lists(self._file).get(provider.name)
        kept = CachedList.of(provider.base_url, format_utc(self._clock()), listed)
        if before and msgspec.structs.replace(before, asked_at=kept.asked_at) == kept:
            return
        # A list that is not kept is asked for again.
        with suppress(StorageError):
            change_lists(self._file, {provider.name: kept})


class _Approvals(msgspec.Struct, frozen=True):
    version: int
    allowed: tuple[ToolApproval, ...]


def read_approvals(path: Path) -> tuple[ToolApproval, ...]:
    """Read which tools are allowed. Raises ``StorageError`` for a file that cannot be trusted."""
    doing = f"Cannot read {path}"
    with disk.storage_errors(doing):
        try:
            disk.check_owner(path, _OTHERS_CAN_WRITE)
            kept = read_json(path, _MOST_BYTES, _Approvals)
        except FileNotFoundError:
            return ()
    if kept.version != _VERSION:
        raise StorageError(f"{doing}: another version of sibyl-tui wrote it")
    return kept.allowed


def allow(path: Path, tool: ToolApproval) -> None:
    """Allow a tool, in the place of what it was before. Raises ``StorageError``."""
    with locks.alone(path):
        _allow_only(path, *(each for each in read_approvals(path) if not each.is_of(tool)), tool)


def withdraw(path: Path, tools: Collection[ToolApproval]) -> None:
    """Allow some tools no more. Raises ``StorageError``."""
    with locks.alone(path):
        kept = (each for each in read_approvals(path) if not any(map(each.is_of, tools)))
        _allow_only(path, *kept)


def withdraw_all(path: Path) -> None:
    """Allow no tool any more, also where the file is damaged. Raises ``StorageError``."""
    with locks.alone(path):
        path.unlink(missing_ok=True)
        disk.sync_directory(path.parent)


def _allow_only(path: Path, *tools: ToolApproval) -> None:
    disk.replace(path, msgspec.json.encode(_Approvals(_VERSION, tools)) + b"\n")
