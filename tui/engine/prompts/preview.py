"""Previews of what a prompt will attach, made while it is typed; no file is read whole."""

import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tui.domain.journal.blocks import byte_words, media_type_of
from tui.domain.references import Reference, kept_picture, references
from tui.domain.text.safe_text import make_visible_name
from tui.domain.views.attached import AttachedView
from tui.engine.prompts.attaching import (
    PromptPlace,
    expanded,
    is_path,
    sent_bytes,
    shown,
    status_of,
)
from tui.engine.prompts.reading import TEXT_FILE_BYTES, read_attachment
from tui.errors import AttachmentNotFound, UsageError
from tui.files import read_beginning

_PICTURE_MARK = 12
"""The bytes by which a picture is known."""

_sizes: dict[str, int] = {}
"""The sizes of kept pictures, which never change."""


def preview(text: str, own: Collection[str], place: PromptPlace) -> AttachedView:
    """Describe what the user's own references in a prompt lead to. It blocks."""
    files: dict[str, int] = {}
    missing: dict[str, None] = {}
    for reference in references(text, own):
        found = _found(reference, place)
        if found is not None:
            files.setdefault(*found)
        elif is_path(reference, place):
            missing[shown(reference)] = None
    return AttachedView(tuple(files), sum(files.values()), tuple(missing))


def _found(reference: Reference, place: PromptPlace) -> tuple[str, int] | None:
    for find in (_on_disk, _in_store):
        for path in reference.candidates:
            if found := find(path, place):
                return found
    return None


def _on_disk(written: str, place: PromptPlace) -> tuple[str, int] | None:
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


def _in_store(written: str, place: PromptPlace) -> tuple[str, int] | None:
    prefix = kept_picture(written)
    if prefix is None:
        return None
    with suppress(AttachmentNotFound):
        found = place.store.find_attachment(place.session_id, prefix)
        if found not in _sizes:
            _sizes[found] = len(place.store.attachment(place.session_id, found))
        return f"{written} {byte_words(_sizes[found])}", _sizes[found]
    return None
