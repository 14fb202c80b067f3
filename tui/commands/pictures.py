"""Opening a picture of a message in the desktop's viewer, after asking."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from tui.commands.effects import Ask, Effect, Say, say
from tui.commands.links import open_outside
from tui.domain.journal.blocks import ImageBlock
from tui.domain.journal.ids import is_private
from tui.domain.pictures import file_ending, media_type_of
from tui.domain.text.labels import cut_middle
from tui.domain.text.safe_text import make_visible_name
from tui.domain.views.notice import Notice
from tui.errors import AttachmentNotFound, StorageError

_DETAIL = "It opens in your picture viewer, outside this program."
_PRIVATE = (
    "No viewer for a picture of a private session: it would be written to disk. /keep saves it"
)
_SHOWN = 120
"""The limit of a name in a question or a notice, in characters."""
_DIGITS = 16


class Pictures(Protocol):
    """The verb of a store that reads pictures."""

    def attachment(self, session_id: str, sha256: str) -> bytes: ...


class Files(Protocol):
    """A place for the files that a viewer reads."""

    def write(self, name: str, data: bytes) -> Path: ...


class PictureOpener(msgspec.Struct, frozen=True):
    """Opens pictures of sessions, each from a file of its own."""

    store: Pictures
    files: Files
    open_file: Callable[[str], Awaitable[str]] | None = None
    """Returns the reason of a failure, or nothing."""

    def ask_to_open(self, picture: ImageBlock, session_id: str) -> Effect:
        """Ask before opening a picture; one of a private session is refused."""
        if is_private(session_id):
            return Say(Notice(_PRIVATE, "error"))
        confirmed = partial(self._open, picture, session_id)
        return Ask(f"Open {shown_name(picture)} ? (y/n)", confirmed, detail=_DETAIL)

    async def _open(self, picture: ImageBlock, session_id: str) -> Sequence[Effect]:
        name = shown_name(picture)
        try:
            path = await asyncio.to_thread(self._written, picture, session_id)
        except AttachmentNotFound:
            return say(f"Not opened: {name} is missing or damaged.", "error")
        except StorageError as error:
            return say(f"Not opened: {name}: {error.short}", "error")
        except OSError as error:
            return say(f"Not opened: {name}: {error.strerror}.", "error")
        if path is None:
            return say(f"Not opened: {name} is no picture.", "error")
        refusal = await (self.open_file or open_outside)(str(path))
        if refusal:
            return say(
                f"Not opened ({refusal}): {name}. /export writes pictures to files", "warning"
            )
        return say(f"Opened {name}")

    def _written(self, picture: ImageBlock, session_id: str) -> Path | None:
        """Write the picture to a file; ``None`` if its bytes are something else."""
        data = self.store.attachment(session_id, picture.sha256)
        if media_type_of(data) is None:
            return None
        return self.files.write(f"image-{picture.sha256[:_DIGITS]}{file_ending(data)}", data)


def shown_name(picture: ImageBlock) -> str:
    """The name of a picture in one line."""
    return cut_middle(make_visible_name(picture.name), _SHOWN)
