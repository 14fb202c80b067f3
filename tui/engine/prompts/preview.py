"""Previews of what a prompt will attach, made while it is typed: nothing is read but sizes."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import msgspec

from tui.domain.journal.blocks import byte_words
from tui.domain.references import Reference, kept_picture, references
from tui.domain.text.safe_text import make_visible_name
from tui.engine.prompts.attaching import ATTACHMENTS, Place, expanded, status_of
from tui.errors import AttachmentNotFound

_PATHS = ("/", "~/", "./", "../")


class _Preview(msgspec.Struct, frozen=True):
    name: str
    size: str = ""
    missing: bool = False


def preview_words(text: str, place: Place) -> str:
    """Describe in a line what the references of a prompt lead to; empty without one.

    A reference to nothing is plain text, but what is quoted or a path from elsewhere was meant as
    one. It blocks.
    """
    found = dict.fromkeys(islice(_previews(text, place), ATTACHMENTS))
    missing = [each.name for each in found if each.missing]
    attached = [f"{each.name} {each.size}".rstrip() for each in found if not each.missing]
    parts = {"not found": missing, "attached": attached}
    return " · ".join(f"{words}: {', '.join(names)}" for words, names in parts.items() if names)


def _previews(text: str, place: Place) -> Iterator[_Preview]:
    for reference in references(text):
        preview = _preview(reference, place)
        if preview is not None:
            yield preview


def _preview(reference: Reference, place: Place) -> _Preview | None:
    for find in (_on_disk, _in_store):
        for path in reference.candidates:
            if preview := find(path, place):
                return preview
    path = reference.candidates[-1]
    was_meant = reference.quoted or path.startswith(_PATHS) or kept_picture(path)
    return _Preview(make_visible_name(path), missing=True) if was_meant else None


def _on_disk(written: str, place: Place) -> _Preview | None:
    for folder in place.folders:
        # What cannot be looked up is said when it is sent, with the reason.
        with suppress(OSError):
            if (status := status_of(folder / expanded(written))) is not None:
                is_file = stat.S_ISREG(status.st_mode)
                size = byte_words(status.st_size) if is_file else ""
                return _Preview(make_visible_name(written), size)
    return None


def _in_store(written: str, place: Place) -> _Preview | None:
    prefix = kept_picture(written)
    if prefix is None:
        return None
    with suppress(AttachmentNotFound):
        place.store.find_attachment(place.session_id, prefix)
        return _Preview(written)
    return None
