"""Reads a file, a folder or a picture for a prompt, within limits."""

import heapq
import itertools
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tui.domain.journal.blocks import PICTURE_BYTES, FileBlock, byte_words, media_type_of
from tui.domain.text.safe_text import make_visible_name
from tui.errors import UsageError
from tui.files import check_kind, read_beginning, text_beginning

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
    """Let what the system refuses be a ``UsageError`` that names the thing."""
    try:
        yield
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
