"""The questions before a prompt is sent whose files are not what the user may think."""

import math
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from tui.domain.journal.message import Content, ImageBlock, attachments_of
from tui.domain.views.shown_session import listed
from tui.engine.sessions.loaded_session import LoadedSession
from tui.errors import ModelError, UsageError

if TYPE_CHECKING:
    from tui.engine.attachments import Attached

_NAMES_SAID = 3
SECONDS_TO_READ = 0.5
"""An Enter that comes sooner is no answer about secrets: it was on its way, or is held down."""


class SendCheck:
    """Refuses a prompt once for each question; the same one sent again means yes."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, dict[str, float]]] = {}

    async def check(self, session: LoadedSession, prompt: str, attached: "Attached") -> None:
        """Raise ``UsageError`` with the next question that the user has not answered."""
        missing = listed(attached.missing, _NAMES_SAID)
        model = session.model.name if session.model else "the model"
        # One at a time: a list could be cut at the edge of the screen.
        secrets = [
            f"{name} may hold secrets. Enter sends it to {model}." for name in attached.secrets
        ]
        questions = {
            f"No such file: {missing}. Enter sends it as text." if missing else "": 0.0,
            **dict.fromkeys(secrets, SECONDS_TO_READ),
            await _about_pictures(session, attached.content): 0.0,
        }
        asked_for, asked_at = self._asked.pop(session.id, ("", {}))
        asked_at = asked_at if asked_for == prompt else {}
        for question, seconds in questions.items():
            if question and monotonic() < asked_at.get(question, math.inf) + seconds:
                self._asked[session.id] = prompt, {question: monotonic(), **asked_at}
                raise UsageError(question)


async def _about_pictures(session: LoadedSession, content: Content) -> str:
    model = session.model
    if model is None or not any(isinstance(b, ImageBlock) for b in attachments_of(content)):
        return ""
    # A model that cannot be loaded says so when it is asked.
    with suppress(ModelError):
        await model.window()
    if model.sees_images is not False:
        return ""
    return f"{model.name} sees no pictures. Enter sends only their names; /model chooses another."
