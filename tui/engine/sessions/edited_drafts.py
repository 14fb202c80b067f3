"""Prompts in the hands of an external editor: each in a folder of its own beside the drafts.

The folder is locked while its program lives. After a kill its text becomes a draft again.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.session import Draft
from tui.domain.json_limits import LINE_BYTES
from tui.files import read_bounded, read_json
from tui.storage import locks
from tui.storage.disk import storage_errors
from tui.storage.drafts import Drafts

_PROMPT, _DRAFT, _LOCK = "prompt.md", "draft.json", "lock"


@contextmanager
def lent(drafts: Drafts, draft: Draft) -> Generator[Path]:
    """A file with the text of a draft that nobody else can read; gone afterwards.

    Raises ``StorageError`` and ``OSError``.
    """
    folder = drafts.folder_for_edit(draft.session_id)
    lock = locks.take(folder / _LOCK, new=True)
    try:
        _write(folder / _DRAFT, journal_json(msgspec.to_builtins(draft)))
        _write(folder / _PROMPT, draft.text.encode("utf-8", "surrogatepass"))
        yield folder / _PROMPT
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def read_edited(path: Path, before: str) -> str:
    """Read what an editor has made of the text ``before``.

    Raises ``UnfitFile`` for another kind of file or a larger one than a prompt, and ``OSError``.
    """
    data = read_bounded(path, TEXT_BYTES)
    try:
        written = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        written = data.decode("utf-8", "replace")
    if "\r\n" not in before:
        written = written.replace("\r\n", "\n")
    # Editors end the last line; nobody has typed that.
    return written if before.endswith("\n") else written.removesuffix("\n")


def recover(drafts: Drafts, folder: Path) -> None:
    """Make a draft of what the editor of a killed program has written, and remove its folder.

    Raises ``StorageError``.
    """
    with storage_errors(f"Cannot read {folder}"):
        if not os.path.lexists(folder / _LOCK) or locks.holder_of(folder / _LOCK) is not None:
            return
    with suppress(OSError, msgspec.ValidationError):
        draft = msgspec.convert(read_json(folder / _DRAFT, LINE_BYTES), Draft)
        if folder.name.startswith(draft.session_id):
            drafts.save_edited(draft, read_edited(folder / _PROMPT, draft.text))
    shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
