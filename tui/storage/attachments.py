"""The pictures of messages: each is kept once, in a file that has its hash as its name.

Beside it is an empty file for each session that uses it, ``<sha256>.<session id>``, which is there
before the message that refers to the picture. A picture is used while one of these sessions exists,
while a draft names it, and for some days after it was kept or sent last: a session that could never
be saved may be in a rescue file. So a power cut leaves a picture too many at most.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from tui.domain.journal.message import ImageBlock, Message
from tui.domain.journal.records import SESSION_ID, Record
from tui.domain.json_text import LINE_BYTES
from tui.domain.text import late_pattern
from tui.errors import AttachmentNotFound, StorageError
from tui.files import UnfitFile, read_bounded, size_words
from tui.storage import disk
from tui.storage.drafts import Drafts
from tui.storage.folders import Folders

ATTACHMENT_BYTES = 32 * 1024 * 1024
"""The size limit of one of them."""
KEPT_DAYS = 30
"""A picture of a session that does not exist is kept for so long, unless that was purged."""
_SECONDS = KEPT_DAYS * 24 * 60 * 60
_NAMED_DIGITS = 16
_NAME = late_pattern(r"[0-9a-f]{64}", re.ASCII)
_PREFIX = late_pattern(r"[0-9a-f]{16,64}", re.ASCII)
_USE = late_pattern(rf"([0-9a-f]{{64}})\.({SESSION_ID.pattern})", re.ASCII)

Uses = Mapping[str, Collection[str]]
"""The ids of the sessions that use each picture."""


class AttachmentFiles:
    """The folder ``attachments`` of a data directory.

    Whoever notes, forgets or frees has locked out other programs.
    """

    def __init__(self, folders: Folders, clock: Callable[[], datetime]) -> None:
        self._folders = folders
        self._folder = folders.attachments
        self._clock = clock

    def keep(self, sha256: str, data: bytes) -> None:
        """Keep bytes under their hash, unless they are there. Raises ``StorageError``."""
        path = self._folder / sha256
        with disk.storage_errors(f"Cannot keep the picture in {self._folder}"):
            try:
                disk.publish(path, data)
            except FileExistsError as error:
                if path.is_dir():
                    raise StorageError(f"{path} is a directory; move it away.") from error
                if not self.is_intact(sha256):
                    disk.replace(path, data)

    def read(self, sha256: str) -> bytes:
        """Read a picture. Raises ``AttachmentNotFound`` if it is not there or damaged."""
        if not is_picture(sha256):
            raise AttachmentNotFound(sha256)
        with disk.storage_errors("Cannot read the picture"):
            try:
                data = read_bounded(self._folder / sha256, ATTACHMENT_BYTES)
            except (FileNotFoundError, UnfitFile) as error:
                raise AttachmentNotFound(sha256) from error
            except OSError as error:
                if error.errno not in disk.NOT_PLAIN:
                    raise
                raise AttachmentNotFound(sha256) from error
        if hash_of(data) != sha256:
            raise AttachmentNotFound(sha256)
        return data

    def is_intact(self, sha256: str) -> bool:
        """Check that a picture is there and undamaged. Raises ``StorageError``."""
        try:
            self.read(sha256)
        except AttachmentNotFound:
            return False
        return True

    def pictures(self) -> list[str]:
        """List the SHA-256 of all pictures. Raises ``StorageError``."""
        return list(filter(is_picture, self._names()))

    def unknown(self) -> list[str]:
        """List the files that are neither pictures nor their uses. Raises ``StorageError``."""
        return sorted(
            name for name in self._names() if not is_picture(name) and not _USE.fullmatch(name)
        )

    def uses(self) -> Uses:
        """Read which sessions use which pictures. Raises ``StorageError``."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for use in filter(None, map(_USE.fullmatch, self._names())):
            found[use[1]].add(use[2])
        return found

    def note(self, session_id: str, pictures: Iterable[str]) -> None:
        """Note, durably, that a session uses pictures. Raises ``StorageError``."""
        with disk.storage_errors(f"Cannot keep the picture in {self._folder}"):
            try:
                disk.make_directory(self._folder)
            except (FileExistsError, NotADirectoryError) as error:
                message = f"{self._folder} is not a directory; move it away."
                raise StorageError(message) from error
            for sha256 in pictures:
                path = self._folders.use(sha256, session_id)
                if not os.path.lexists(path):
                    os.close(disk.open_to_make(path, os.O_WRONLY | os.O_EXCL))
                noted = self._clock().timestamp()
                os.utime(path, (noted, noted), follow_symlinks=False)
            disk.sync_directory(self._folder)

    def expire(self, session_id: str) -> None:
        """Let a session's pictures be free as soon as it does not exist any more."""
        with disk.storage_errors("Cannot free the pictures"):
            for sha256 in self.used_by(session_id):
                os.utime(self._folders.use(sha256, session_id), (0, 0), follow_symlinks=False)

    def forget(self, session_id: str) -> None:
        """Free the pictures of a session that was purged, but those that are used elsewhere."""
        pictures = self.used_by(session_id)
        with disk.storage_errors("Cannot free the pictures"):
            for sha256 in pictures:
                os.unlink(self._folders.use(sha256, session_id))
        for sha256 in self.unused(pictures):
            self.free(sha256)

    def unused(self, pictures: Sequence[str]) -> list[str]:
        """Select the pictures that nothing uses. Raises ``StorageError``."""
        if not pictures:
            return []
        uses, drafted = self.uses(), self._drafts()
        return [
            sha256
            for sha256 in pictures
            if not any(self._counts(sha256, each) for each in uses.get(sha256, ()))
            and sha256[:_NAMED_DIGITS].encode() not in drafted
        ]

    def free(self, sha256: str) -> None:
        """Remove a picture and the notes of its uses. Raises ``StorageError``."""
        with disk.storage_errors("Cannot free the picture"):
            names = [name for name in self._names() if name.startswith(f"{sha256}.")]
            for name in (sha256, *filter(_USE.fullmatch, names)):
                (self._folder / name).unlink(missing_ok=True)
            disk.sync_directory(self._folder)

    def _counts(self, sha256: str, session_id: str) -> bool:
        if self._folders.exists(session_id):
            return True
        with disk.storage_errors("Cannot read the uses of a picture"):
            noted = os.lstat(self._folders.use(sha256, session_id)).st_mtime
        return self._clock().timestamp() - noted < _SECONDS

    def _drafts(self) -> bytes:
        """Read all drafts, in which a picture is named by the beginning of its hash."""
        found: list[bytes] = []
        with disk.storage_errors("Cannot read the drafts"):
            for path in Drafts(self._folders.root).files():
                # Sent or removed meanwhile.
                with suppress(FileNotFoundError):
                    found.append(read_bounded(path, LINE_BYTES))
        return b"\n".join(found)

    def used_by(self, session_id: str) -> list[str]:
        """List the pictures of a session. Raises ``StorageError``."""
        # By the ends of the names: a purge of many sessions asks for each.
        ending = f".{session_id}"
        names = [name for name in self._names() if name.endswith(ending)]
        uses = filter(None, map(_USE.fullmatch, names))
        return [use[1] for use in uses if use[2] == session_id]

    def _names(self) -> list[str]:
        with disk.storage_errors("Cannot look for the picture"):
            try:
                return os.listdir(self._folder)
            except (FileNotFoundError, NotADirectoryError):
                return []


def used_pictures(records: Iterable[Record]) -> list[str]:
    """List the SHA-256 of the pictures that records refer to."""
    return [
        block.sha256
        for record in records
        # Most contents are text: nothing is looked for there.
        if isinstance(record, Message) and isinstance(record.content, list)
        for block in record.attachments
        if isinstance(block, ImageBlock)
    ]


def is_picture(name: str) -> bool:
    """Tell whether a file has a picture, by its name."""
    return _NAME.fullmatch(name) is not None


def checked_hash(data: bytes) -> str:
    """Compute the SHA-256 of a picture. Raises ``StorageError`` if it is too large."""
    if len(data) > ATTACHMENT_BYTES:
        raise StorageError(f"The picture is larger than {size_words(ATTACHMENT_BYTES)}.")
    return hash_of(data)


def hash_of(data: bytes) -> str:
    # Imported late: it loads OpenSSL, in 5 ms.
    from hashlib import sha256

    return sha256(data).hexdigest()


def only_match(prefix: str, names: Iterable[str]) -> str:
    """Get the one of some SHA-256 that begins with a prefix. Raises ``AttachmentNotFound``."""
    found = [name for name in names if name.startswith(prefix)]
    if len(found) != 1 or not _PREFIX.fullmatch(prefix):
        raise AttachmentNotFound(prefix)
    return found[0]
