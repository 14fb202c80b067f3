"""Checks of the pictures of a data directory, for ``doctor``."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import msgspec

from tui.domain.journal.session import Session
from tui.domain.text.labels import plural
from tui.domain.timestamps import utc_now
from tui.errors import StorageError
from tui.storage.attachments import AttachmentFiles, used_pictures
from tui.storage.disk import TEMPORARY
from tui.storage.folders import Folders
from tui.storage.scopes import Scopes


class PictureFinding(msgspec.Struct, frozen=True):
    """A defect of the pictures, and its repair if there is one."""

    kind: str
    path: Path
    message: str
    session_id: str | None = None
    mend: Callable[[], object] | None = None


class PictureCheck:
    """Compares the pictures of a data directory with the messages that refer to them.

    First it is given every session.
    """

    def __init__(self, folders: Folders, scopes: Scopes) -> None:
        self._folders = folders
        self._scopes = scopes
        self._files = AttachmentFiles(folders, utc_now)
        self._users: defaultdict[str, set[str]] = defaultdict(set)
        self._is_intact = cache(self._files.is_intact)

    def check(self, session: Session, path: Path) -> Iterator[PictureFinding]:
        """Find the pictures that a session's messages refer to and that are not there."""
        pictures = set(used_pictures(session.all_messages))
        for sha256 in pictures:
            self._users[sha256].add(session.id)
        try:
            missing = sum(not self._is_intact(sha256) for sha256 in pictures)
        except StorageError as error:
            yield PictureFinding("unreadable", path, str(error), session.id)
            return
        if missing:
            message = f"missing or damaged: {plural(missing, 'picture')} of its messages"
            yield PictureFinding("missing_picture", path, message, session.id)

    def findings(self) -> Iterator[PictureFinding]:
        """Find what is wrong in the folder itself."""
        folder = self._folders.attachments
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            message = "not a directory: no picture can be kept until it is moved away"
            yield PictureFinding("unreadable", folder, message)
            return
        try:
            yield from self._unnoted()
            yield from self._unused()
        except StorageError as error:
            yield PictureFinding("unreadable", folder, str(error))
        yield from self._unknown()

    def _unnoted(self) -> Iterator[PictureFinding]:
        noted = self._files.uses()
        for sha256 in self._users.keys() & set(self._files.pictures()):
            for session_id in sorted(self._users[sha256] - set(noted.get(sha256, ()))):
                path = self._folders.attachments / sha256
                message = "its use by a session is not noted: a purge would not spare it"
                mend = partial(self._note, session_id, sha256)
                yield PictureFinding("unnoted_picture", path, message, session_id, mend)

    def _unused(self) -> Iterator[PictureFinding]:
        known = {*self._files.pictures(), *self._files.uses()} - self._users.keys()
        for sha256 in self._files.unused(sorted(known)):
            path = self._folders.attachments / sha256
            message = "no session and no draft uses this picture; safe to remove"
            mend = partial(self._free, sha256)
            yield PictureFinding("unused_picture", path, message, None, mend)

    def _unknown(self) -> Iterator[PictureFinding]:
        for name in self._files.unknown():
            path = self._folders.attachments / name
            if name.startswith(".") and name.endswith(TEMPORARY):
                message = "left behind by an interrupted write; safe to remove"
                mend = partial(path.unlink, missing_ok=True)
                yield PictureFinding("temporary_file", path, message, None, mend)
            else:
                yield PictureFinding("unknown_file", path, "not a picture; left alone")

    def _note(self, session_id: str, sha256: str) -> None:
        with self._scopes.locked():
            self._files.note(session_id, [sha256])

    def _free(self, sha256: str) -> None:
        with self._scopes.locked():
            # Again: it may have been sent meanwhile.
            for unused in self._files.unused([sha256]):
                self._files.free(unused)
