"""The question before pictures go to a model that sees none."""

from contextlib import suppress

from tui.domain.journal.blocks import Content, ImageBlock, attachments_of
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import ModelError, UsageError


class PictureCheck:
    """Refuses a prompt with pictures once; the same one sent again goes without them."""

    def __init__(self) -> None:
        self._refused: dict[str, tuple[str, str]] = {}

    async def check(self, session: LoadedSession, prompt: str, content: Content) -> None:
        """Raise ``UsageError`` if the model sees no pictures, unless the user knows that."""
        model = session.model
        if model is None or not any(isinstance(b, ImageBlock) for b in attachments_of(content)):
            return
        # A model that cannot be loaded says so when it is asked.
        with suppress(ModelError):
            await model.window()
        known = self._refused.pop(session.id, None) == (model.name, prompt)
        if model.sees_images is not False or known:
            return
        self._refused[session.id] = model.name, prompt
        raise UsageError(
            f"{model.name} sees no pictures. Enter sends only their names; /model chooses another."
        )
