"""Pages that a reader wants of the session on screen."""

from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import shared
from tui.app.controllers.navigation import Navigation
from tui.widgets.intents import PageWanted


@pytest.mark.parametrize("is_begun", [False, True])
async def test_an_earlier_page_is_not_shown_in_a_version_begun_while_it_was_read(is_begun):
    excerpt = SimpleNamespace(excerpt=object(), before=None)
    session, shown = SimpleNamespace(pages=excerpt), []

    async def read_earlier(_):
        if is_begun:
            session.pages = SimpleNamespace(excerpt=None, before="cursor")
        return ["earlier"]

    reader = SimpleNamespace(journal=None)
    workspace = SimpleNamespace(current=session, reader=reader, read_earlier=read_earlier)
    conversation = SimpleNamespace(prepend=lambda entries, earlier: shown.extend(entries))
    chat = SimpleNamespace(conversation=conversation)
    presenter = SimpleNamespace(price_later=lambda: None)
    navigation = Navigation(*shared(workspace=workspace, chat=chat, presenter=presenter))
    await navigation.handle(PageWanted("earlier"))
    assert shown == ([] if is_begun else ["earlier"])
