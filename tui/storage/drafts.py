"""Drafts: prompts typed and not sent, one small file a session, replaced atomically."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from tui.domain.journal.records import is_session_id
from tui.domain.journal.session import Draft
from tui.domain.json_text import LINE_BYTES, journal_json
from tui.domain.timestamps import MILLISECOND_NS, from_milliseconds
from tui.errors import SessionNotFound, StorageError
from tui.files import read_json
from tui.storage import locks
from tui.storage.disk import replace, storage_errors, sync_directory
from tui.storage.folders import Folders

_SUFFIX = ".json"
_ASIDE = "~"
_EDITED = ".edit"


class Drafts:
    """The drafts of one data directory.

    Only a session's holder writes its own draft. A program that has the session read-only puts
    its draft aside, under a token; the next holder is offered it.
    """

    def __init__(self, root: Path) -> None:
        self._folders = Folders(root)

    def save(self, draft: Draft, *, token: str | None = None) -> None:
        """Write a draft, or remove it if it is empty; with ``token``, put it aside."""
        self._folders.prepare()
        path = self._path(draft.session_id, token)
        with storage_errors(f"Cannot save the draft of {draft.session_id}"):
            if draft.empty:
                _remove(path)
            else:
                data = journal_json(msgspec.to_builtins(draft))
                if len(data) > LINE_BYTES:
                    # Readers refuse a larger file; an unsaved draft goes to a rescue file.
                    raise StorageError(f"The draft of {draft.session_id} is larger than 64 MiB.")
                replace(path, data)

    def save_edited(self, before: Draft, text: str) -> None:
        """Write the draft that an editor has made of another one, whose session nobody holds.

        It is put aside if it is held, or if its draft has changed since then.
        """
        own = self.load(before.session_id)
        after = msgspec.structs.replace(own or before, text=text, folded=())
        is_free = (own is None or own.text == before.text) and not self._held(before.session_id)
        self.save(after, token=None if is_free else os.urandom(3).hex())

    def folder_for_edit(self, session_id: str) -> Path:
        """Make the folder in which an editor gets the draft of a session."""
        self._folders.prepare()
        folder = self._folders.drafts / f"{session_id}{_ASIDE}{os.urandom(3).hex()}{_EDITED}"
        folder.mkdir(0o700)
        return folder

    def edits(self) -> Iterator[Path]:
        """List the folders of drafts that are in an editor, or were when their program ended."""
        return self._ending_in(_EDITED)

    def load(self, session_id: str) -> Draft | None:
        """Read the holder's draft; ``None`` if there is none, or it is unreadable."""
        return read_draft(self._path(session_id))

    def written_at(self, session_id: str, token: str | None = None) -> datetime | None:
        """Read the time of a draft's last change, to the millisecond, or ``None``."""
        try:
            written = self._path(session_id, token).stat().st_mtime_ns
        except OSError:
            return None
        return from_milliseconds(written // MILLISECOND_NS)

    def aside(self, session_id: str) -> tuple[tuple[str, Draft], ...]:
        """Read the drafts put aside for a session, each with its token."""
        prefix = session_id + _ASIDE
        found = [
            (path.stem.removeprefix(prefix), draft)
            for path in sorted(self.files())
            if path.name.startswith(prefix) and (draft := read_draft(path))
        ]
        return tuple(found)

    def forget(self, session_id: str) -> None:
        """Remove all drafts of a session, those put aside included."""
        with storage_errors(f"Cannot remove the drafts of {session_id}"):
            _remove(self._path(session_id))
            for token, _ in self.aside(session_id):
                _remove(self._path(session_id, token))

    def unclaimed(self, scope: str) -> Draft | None:
        """Find the newest draft of a scope whose session has no journal and no holder."""
        # By name alone: most drafts belong to existing sessions, and are not read.
        ownerless = [
            path
            for path in self.files()
            if is_session_id(path.stem) and not self._folders.exists(path.stem)
        ]
        for path in sorted(ownerless, key=_time, reverse=True):
            draft = read_draft(path)
            if draft is not None and draft.scope == scope and not self._held(draft.session_id):
                return draft
        return None

    def _held(self, session_id: str) -> bool:
        return locks.holder_of(self._folders.lock(session_id)) is not None

    def _path(self, session_id: str, token: str | None = None) -> Path:
        if not is_session_id(session_id) or (token is not None and not token.isalnum()):
            raise SessionNotFound(session_id)
        name = session_id if token is None else session_id + _ASIDE + token
        return self._folders.drafts / (name + _SUFFIX)

    def files(self) -> Iterator[Path]:
        """List the files of drafts, those put aside included."""
        return self._ending_in(_SUFFIX)

    def _ending_in(self, suffix: str) -> Iterator[Path]:
        try:
            names = os.listdir(self._folders.drafts)
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            if name.endswith(suffix) and not name.startswith("."):
                yield self._folders.drafts / name


def read_draft(path: Path) -> Draft | None:
    """Read a draft; ``None`` for a file that is missing, unreadable or another session's."""
    try:
        draft = read_json(path, LINE_BYTES, Draft)
    except OSError:
        # Left in place: doctor reports it.
        return None
    return draft if draft.session_id == path.stem.partition(_ASIDE)[0] else None


def _remove(path: Path) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    sync_directory(path.parent)


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
