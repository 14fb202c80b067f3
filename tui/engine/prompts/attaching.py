"""Attaches to a prompt what its references name: the content of a message is made of them."""

import errno
import os
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import msgspec

from tui.domain.journal.blocks import Attachment, FileBlock, ImageBlock, byte_words, content_of
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.references import Reference, kept_picture, references
from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_name
from tui.domain.views.attached import listed
from tui.engine.prompts.reading import Picture, as_picture, read_attachment, refusal, refused_as
from tui.engine.requests.pictures import PICTURES, REQUEST_PICTURE_BYTES
from tui.errors import AttachmentNotFound, UsageError
from tui.storage.protocol import JournalStore

ATTACHMENTS = 50
"""The limit for one prompt."""

_PATHS = ("/", "~/", "./", "../")
_ENDING = late_pattern(r"\w\.\w{1,4}\Z")
_NAMES_SAID = 3
_UNKNOWN = (FileNotFoundError, NotADirectoryError)

_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", "gcloud"})
_NAMES = frozenset(
    {
        *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
        *(".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".bash_history"),
        *("credentials", "credentials.json", "secrets.json", "shadow", "connections.toml"),
    }
)
_OWN, _OWN_FOLDERS = ("config.toml", "tools.toml"), (["sibyl", "keys"], ["sibyl", "sign-ins"])
_PATTERNS = (
    *(".env.*", "*.env", "id_*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
    *("*.kdbx", "*.ppk", "*.asc", "*.gpg", "secrets.*"),
)


def holds_secrets(path: PurePath) -> bool:
    """Tell by its names whether a file or folder holds secrets, such as ``~/.ssh/id_rsa``."""
    parts = [part.casefold() for part in path.parts]
    name = parts[-1] if parts else ""
    is_ours = (parts[-2:-1] == ["sibyl"] and name in _OWN) or parts[-3:-1] in _OWN_FOLDERS
    if is_ours or not _FOLDERS.isdisjoint(parts):
        return True
    return name in _NAMES or any(fnmatchcase(name, pattern) for pattern in _PATTERNS)


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
            missing[shown(reference)] = None
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
    notice = _cut_notice(blocks)
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


def shown(reference: Reference) -> str:
    """The path of a reference that leads to nothing."""
    return make_visible_name(reference.candidates[-1])


def _find(reference: Reference, place: PromptPlace, earlier: Sequence[Attachment]) -> _Named | None:
    for find in (_find_on_disk, _find_in_store):
        for path in reference.candidates:
            if found := find(path, place):
                return found
    return _earlier(reference, earlier)


def _earlier(reference: Reference, earlier: Sequence[Attachment]) -> _Named | None:
    names = reference.names if earlier else ()
    block = next((each for each in earlier if each.written in names), None)
    if block is None:
        return None
    return _Named(block, lambda: block, block.written if holds_secrets(Path(block.written)) else "")


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
    with _refused_if_gone(written):
        sha256 = place.store.find_attachment(place.session_id, prefix)

    def read() -> Picture:
        with _refused_if_gone(written):
            data = place.store.attachment(place.session_id, sha256)
        return as_picture(written, data, len(data))

    return _Named(sha256, read)


@contextmanager
def _refused_if_gone(name: str) -> Generator[None]:
    try:
        yield
    except AttachmentNotFound as error:
        raise refusal(name, "it is not kept here any more") from error


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


def _cut_notice(blocks: Sequence[Attachment]) -> str:
    cut = [block for block in blocks if isinstance(block, FileBlock) and block.cut]
    if not cut:
        return ""
    if len(cut) == 1:
        return f"Attached in part: {cut[0].label}"
    size = byte_words(sum(map(sent_bytes, blocks)))
    return f"Attached in part: {listed([b.path for b in cut], _NAMES_SAID)}; {size} sent in all"
