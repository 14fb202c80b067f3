"""Links and pictures of the conversation: which is meant, and whether to open it."""

from collections.abc import Sequence
from functools import partial

from tui.app.controllers.confirmations import WorkGiven
from tui.app.controllers.controller import Controller
from tui.app.services.picture_files import PictureFiles
from tui.domain.journal.message import ImageBlock
from tui.domain.text import cut_middle, make_visible_name
from tui.widgets.intents import LinksWanted

Wanted = tuple[str, str] | ImageBlock
"""A link, by its target and its text, or a picture."""

_ROW = 120
"""The limit of a picture's row, in characters."""


class LinkController(Controller):
    """Asks which link or picture, if there are several, and then whether to open it."""

    _files: PictureFiles

    def handle(self, event: LinksWanted) -> None:
        """Begin with what a reader wants opened."""
        wanted: Sequence[Wanted] = (*event.links, *event.pictures)
        session_id = self._workspace.current.id
        if not wanted:
            self._shell().say("No link or picture in this message.", "warning")
        elif len(wanted) == 1:
            self._open(wanted[0], session_id)
        else:
            self._let_choose(wanted, session_id)

    def _let_choose(self, wanted: Sequence[Wanted], session_id: str) -> None:
        from tui.screens.list_dialog import ListDialog

        def choose(place: int | None) -> None:
            if place is not None:
                self._open(wanted[place], session_id)

        kinds = ("picture" if isinstance(each, ImageBlock) else "link" for each in wanted)
        which = " or ".join(dict.fromkeys(kinds))
        rows = [
            cut_middle(make_visible_name(each.label), _ROW)
            if isinstance(each, ImageBlock)
            else each[0]
            for each in wanted
        ]
        self._app.push_screen(ListDialog(f"Open which {which}?", rows), choose)

    def _open(self, wanted: Wanted, session_id: str) -> None:
        from tui.commands.viewers import open_link, open_picture

        if isinstance(wanted, ImageBlock):
            keep = self._files.write
            work = partial(open_picture, picture=wanted, session_id=session_id, keep=keep)
        else:
            work = partial(open_link, target=wanted[0], text=wanted[1])
        self._app.post_message(WorkGiven(work))
