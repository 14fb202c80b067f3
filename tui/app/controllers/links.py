"""Links and pictures of the conversation: which is meant, and whether to open it."""

from collections.abc import Awaitable, Callable, Sequence

from textual.app import App

from tui.commands.effects import Effect, say
from tui.commands.pictures import PictureOpener
from tui.domain.journal.blocks import ImageBlock
from tui.domain.text.labels import cut_middle
from tui.domain.text.safe_text import make_visible_name
from tui.engine.sessions.workspace import Workspace
from tui.widgets.transcript.transcript_messages import LinksWanted

Wanted = tuple[str, str] | ImageBlock
"""A link, by its target and its text, or a picture."""

_ROW = 120
"""The limit of a picture's row, in characters."""


class LinkController:
    """Asks which link or picture, if there are several, and then whether to open it."""

    def __init__(
        self,
        app: App[None],
        workspace: Workspace,
        pictures: PictureOpener,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self._app = app
        self._workspace = workspace
        self._pictures = pictures
        self._carry_out = carry_out

    async def take(self, event: LinksWanted) -> None:
        """Begin with what a reader wants opened."""
        wanted: Sequence[Wanted] = (*event.links, *event.pictures)
        session_id = self._workspace.current.id
        if not wanted:
            await self._carry_out(say("No link or picture in this message.", "warning"))
        elif len(wanted) == 1:
            await self._ask(wanted[0], session_id)
        else:
            self._let_choose(wanted, session_id)

    def _let_choose(self, wanted: Sequence[Wanted], session_id: str) -> None:
        from tui.screens.list_dialog import ListDialog

        async def ask(place: int | None) -> None:
            if place is not None:
                await self._ask(wanted[place], session_id)

        kinds = ("picture" if isinstance(each, ImageBlock) else "link" for each in wanted)
        which = " or ".join(dict.fromkeys(kinds))
        rows = [_row(each) for each in wanted]
        self._app.push_screen(ListDialog(f"Open which {which}?", rows), ask)

    async def _ask(self, wanted: Wanted, session_id: str) -> None:
        from tui.commands.links import ask_to_open

        if isinstance(wanted, ImageBlock):
            await self._carry_out((self._pictures.ask_to_open(wanted, session_id),))
        else:
            await self._carry_out((ask_to_open(*wanted),))


def _row(wanted: Wanted) -> str:
    if isinstance(wanted, ImageBlock):
        return cut_middle(make_visible_name(wanted.label), _ROW)
    return wanted[0]
