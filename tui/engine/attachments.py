"""The files and pictures that a prompt refers to: read, previewed, and made part of its message."""

import errno
import heapq
import itertools
import os
import stat
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from tui.domain.journal.message import (
    PICTURE_BYTES,
    TEXT_BYTES,
    Attachment,
    FileBlock,
    ImageBlock,
    byte_words,
    content_of,
    media_type_of,
)
from tui.domain.references import Reference, kept_picture, references
from tui.domain.text import late_pattern, make_visible_name
from tui.domain.views.shown_session import AttachedView, listed
from tui.engine.model_requests import PICTURES, REQUEST_PICTURE_BYTES
from tui.engine.project_folder import holds_secrets
from tui.errors import AttachmentNotFound, UsageError
from tui.files import check_kind, read_beginning, text_beginning
from tui.storage.protocol import JournalStore

TEXT_FILE_BYTES = 256_000
"""The part of a text file that is attached."""
FOLDER_ENTRIES = 1_000
"""The part of a folder's entries that is listed."""

_HIDDEN = ".git"
_NO_TEXT = "it is not text or a picture"


class Picture(msgspec.Struct, frozen=True):
    """A picture that was read, and is not kept yet."""

    name: str
    media_type: str
    data: bytes


def read_attachment(path: Path, name: str) -> FileBlock | Picture:
    """Read what a path names, also through symbolic links; ``name`` is what the user wrote.

    Raises ``UsageError`` with the reason if that cannot be attached.
    """
    with refused_as(name):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _listing(path, name)
        # Before it is opened: to open a device may do something.
        check_kind(mode, path)
        data, size = read_beginning(path, TEXT_FILE_BYTES, follow=True)
        if media_type_of(data) is None:
            return _text_file(name, data, size)
        picture, size = read_beginning(path, PICTURE_BYTES + 1, follow=True)
        return as_picture(name, picture, size)


def as_picture(name: str, data: bytes, size: int) -> Picture:
    """Make a picture of its bytes. Raises ``UsageError``."""
    media_type = media_type_of(data)
    if media_type is None:
        raise refusal(name, _NO_TEXT)
    if len(data) > PICTURE_BYTES:
        most = byte_words(PICTURE_BYTES)
        raise refusal(
            name, f"a picture may have {most} at most, and this one has {byte_words(size)}"
        )
    return Picture(make_visible_name(name), media_type, data)


def refusal(name: str, reason: str) -> UsageError:
    """The error for a thing that cannot be attached."""
    return UsageError(f"Cannot attach {make_visible_name(name)}: {reason}.")


@contextmanager
def refused_as(name: str) -> Generator[None]:
    """Let what the system or the store refuses be a ``UsageError`` that names the thing."""
    try:
        yield
    except AttachmentNotFound as error:
        raise refusal(name, "it is not kept here any more") from error
    except OSError as error:
        raise refusal(name, error.strerror or type(error).__name__) from error


def _text_file(name: str, data: bytes, size: int) -> FileBlock:
    try:
        text = text_beginning(data, size)
    except UnicodeDecodeError as error:
        raise refusal(name, _NO_TEXT) from error
    if "\0" in text:
        raise refusal(name, _NO_TEXT)
    return FileBlock(make_visible_name(name), text, size, cut=size > len(data))


def _listing(path: Path, name: str) -> FileBlock:
    numbers = itertools.count()
    with os.scandir(path) as entries:
        kept = (each for each in entries if each.name != _HIDDEN)
        # The number of each comes along: at the end the next one is their count.
        numbered = zip(kept, numbers, strict=False)
        first = heapq.nsmallest(FOLDER_ENTRIES, numbered, key=lambda each: each[0].name)
        lines = [_line(each) for each, _ in first]
    size = next(numbers)
    shown = make_visible_name(name)
    return FileBlock(shown, "\n".join(lines), size, cut=size > len(lines), folder=True)


def _line(entry: os.DirEntry[str]) -> str:
    try:
        is_folder = entry.is_dir()
    except OSError:
        is_folder = False  # a link that leads in circles
    return make_visible_name(entry.name) + "/" * is_folder


ATTACHMENTS = 50
"""The limit for one prompt."""

_PATHS = ("/", "~/", "./", "../")
_ENDING = late_pattern(r"\w\.\w{1,4}\Z")
_NAMES_SAID = 3
_UNKNOWN = (FileNotFoundError, NotADirectoryError)


class PromptPlace(msgspec.Struct, frozen=True):
    """The place of a prompt: its session, and the folders that relative paths begin in."""

    store: JournalStore
    session_id: str
    folders: Sequence[Path]
    """The first one that has the path counts."""


class Attached(msgspec.Struct, frozen=True):
    """The content of a message, and what the user is told of it."""

    content: str | list[Any]
    notice: str = ""
    missing: tuple[str, ...] = ()
    """References that were meant as such, and lead to nothing."""
    secrets: tuple[str, ...] = ()
    """Files that hold secrets, by their names."""


class _Named(msgspec.Struct, frozen=True):
    """A thing that exists; however it is named, it has the same ``key``."""

    key: Any
    read: Callable[[], Attachment | Picture]
    secret: str = ""
    """Its name if it holds secrets."""


def attach(
    text: str,
    own: Collection[str],
    place: PromptPlace,
    files: Iterable[str] = (),
    earlier: Sequence[Attachment] = (),
) -> Attached:
    """Read what a prompt refers to, and ``files`` besides, which are paths as they are.

    Only the words count that are the user's ``own``, and the names of ``earlier`` attachments,
    which come again as they are unless such a word reads them anew. A word that leads to nothing
    stays text. Raises ``UsageError`` with the name and the reason if one cannot be attached, and
    ``StorageError`` if a picture cannot be kept; nothing is attached then.
    """
    found: dict[Any, _Named] = {}
    missing: dict[str, None] = {}
    for name in files:
        with refused_as(name):
            each = _on_disk(Path(name), Path(name).stat(), name)
        found.setdefault(each.key, each)
    for reference in {each.candidates: each for each in references(text)}.values():
        is_own = text[reference.start : reference.end] in own
        each = _find(reference, place, earlier) if is_own else _earlier(reference, earlier)
        if each is not None:
            found.setdefault(each.key, each)
        elif is_own and is_path(reference, place):
            missing[make_visible_name(reference.candidates[-1])] = None
    if len(found) > ATTACHMENTS:
        raise UsageError(f"A prompt may have {ATTACHMENTS} files and pictures at most.")
    read = [each.read() for each in found.values()]
    _check_limits(text, read)
    # Nothing is kept before all could be read.
    distinct: dict[Any, Attachment] = {}
    for thing in read:
        block = thing
        if isinstance(block, Picture):
            sha256 = place.store.add_attachment(place.session_id, block.data)
            block = ImageBlock(block.name, block.media_type, sha256, len(block.data))
        # A picture may have come under another name, too.
        distinct.setdefault(block.sha256 if isinstance(block, ImageBlock) else block, block)
    blocks = [*distinct.values()]
    secrets = dict.fromkeys(each.secret for each in found.values() if each.secret)
    notice = ""
    cut = [each for each in blocks if isinstance(each, FileBlock) and each.cut]
    if len(cut) == 1:
        notice = f"Attached in part: {cut[0].label}"
    elif cut:
        size = byte_words(sum(map(sent_bytes, blocks)))
        names = listed([each.name for each in cut], _NAMES_SAID)
        notice = f"Attached in part: {names}; {size} sent in all"
    return Attached(content_of(text, blocks), notice, tuple(missing), tuple(secrets))


def is_path(reference: Reference, place: PromptPlace) -> bool:
    """Tell whether a word that leads to nothing was meant as a path: ``@ann`` was not.

    A path is quoted, begins as one, has a short ending or a folder that is there.
    """
    path = reference.candidates[-1]
    if reference.quoted or path.startswith(_PATHS) or kept_picture(path):
        return True
    if "/" not in path:
        return _ENDING.search(path) is not None
    return any(status_of(folder / path.partition("/")[0]) for folder in place.folders)


def _find(reference: Reference, place: PromptPlace, earlier: Sequence[Attachment]) -> _Named | None:
    finders = (_find_on_disk, _find_in_store)
    found = (find(path, place) for find in finders for path in reference.candidates)
    return next(filter(None, found), None) or _earlier(reference, earlier)


def _earlier(reference: Reference, earlier: Sequence[Attachment]) -> _Named | None:
    names = reference.names if earlier else ()
    block = next((each for each in earlier if each.name in names), None)
    if block is None:
        return None
    return _Named(block, lambda: block, block.name if holds_secrets(Path(block.name)) else "")


def _find_on_disk(written: str, place: PromptPlace) -> _Named | None:
    for folder in place.folders:
        path = folder / expanded(written)
        with refused_as(written):
            if (status := status_of(path)) is not None:
                return _on_disk(path, status, written)
    return None


def _find_in_store(written: str, place: PromptPlace) -> _Named | None:
    prefix = kept_picture(written)
    if prefix is None:
        return None
    with refused_as(written):
        sha256 = place.store.find_attachment(place.session_id, prefix)

    def read() -> Picture:
        with refused_as(written):
            data = place.store.attachment(place.session_id, sha256)
        return as_picture(written, data, len(data))

    return _Named(sha256, read)


def expanded(written: str) -> Path:
    home = Path(written).parts[:1] == ("~",)
    # Path.expanduser raises where there is no home.
    return Path(os.path.expanduser(written) if home else written)  # noqa: PTH111


def status_of(path: Path) -> os.stat_result | None:
    """Look up the status of a path; ``None`` if nothing is there, not even a broken link."""
    try:
        return path.stat()
    except _UNKNOWN:
        if os.path.lexists(path):
            raise
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    except ValueError:
        pass  # no path: it has a null character, or a part that no file system encodes
    return None


def _on_disk(path: Path, status: os.stat_result, name: str) -> _Named:
    # Both names of a link: it may hide what it leads to.
    is_secret = holds_secrets(path.absolute()) or holds_secrets(Path(os.path.realpath(path)))
    key, secret = (status.st_dev, status.st_ino), make_visible_name(name) if is_secret else ""
    return _Named(key, partial(read_attachment, path, name), secret)


def _check_limits(text: str, read: Sequence[Attachment | Picture]) -> None:
    """Raise ``UsageError`` for more than a message or a request takes."""
    texts = [text, *(each.text for each in read if isinstance(each, FileBlock))]
    if sum(len(each.encode(errors="replace")) for each in texts) > TEXT_BYTES:
        raise UsageError("The files of a prompt may have 8 MiB of text at most.")
    sizes = [sent_bytes(each) for each in read if not isinstance(each, FileBlock)]
    if len(sizes) > PICTURES or sum(sizes) > REQUEST_PICTURE_BYTES:
        most = byte_words(REQUEST_PICTURE_BYTES)
        raise UsageError(f"A prompt may have {PICTURES} pictures at most, of {most} together.")


def sent_bytes(read: Attachment | Picture) -> int:
    """The bytes of an attachment that are sent."""
    if isinstance(read, FileBlock):
        return len(read.text.encode(errors="replace"))
    return len(read.data) if isinstance(read, Picture) else read.size


_PICTURE_MARK = 12
"""The bytes by which a picture is known."""

_sizes: dict[str, int] = {}
"""The sizes of kept pictures, which never change."""


def preview(text: str, own: Collection[str], place: PromptPlace) -> AttachedView:
    """Describe what the user's own references in a prompt lead to. It blocks."""
    files: dict[str, int] = {}
    missing: dict[str, None] = {}
    for reference in references(text, own):
        finders = (_previewed_on_disk, _previewed_in_store)
        each = (find(path, place) for find in finders for path in reference.candidates)
        if (found := next(filter(None, each), None)) is not None:
            files.setdefault(*found)
        elif is_path(reference, place):
            missing[make_visible_name(reference.candidates[-1])] = None
    return AttachedView(tuple(files), sum(files.values()), tuple(missing))


def _previewed_on_disk(written: str, place: PromptPlace) -> tuple[str, int] | None:
    """The label of a file and the bytes of it that would be sent; ``None`` without one."""
    for folder in place.folders:
        # The reason why one cannot be looked up is told when it is sent.
        with suppress(OSError, UsageError):
            path = folder / expanded(written)
            if (status := status_of(path)) is not None:
                return _described(make_visible_name(written), path, status.st_mode, status.st_size)
    return None


def _described(name: str, path: Path, mode: int, size: int) -> tuple[str, int]:
    if stat.S_ISDIR(mode):
        return name, sent_bytes(read_attachment(path, name))
    if not stat.S_ISREG(mode):
        return name, 0
    sent = min(size, TEXT_FILE_BYTES)
    if sent < size:
        with suppress(OSError):
            beginning, _ = read_beginning(path, _PICTURE_MARK, follow=True)
            sent = size if media_type_of(beginning) else sent
    part = f"{byte_words(sent)} of " if sent < size else ""
    return f"{name} {part}{byte_words(size)}", sent


def _previewed_in_store(written: str, place: PromptPlace) -> tuple[str, int] | None:
    prefix = kept_picture(written)
    if prefix is None:
        return None
    with suppress(AttachmentNotFound):
        found = place.store.find_attachment(place.session_id, prefix)
        if found not in _sizes:
            _sizes[found] = len(place.store.attachment(place.session_id, found))
        return f"{written} {byte_words(_sizes[found])}", _sizes[found]
    return None
