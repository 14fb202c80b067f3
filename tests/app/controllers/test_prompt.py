from tests.app.controllers.stand_ins import Session, shared
from tui.app.controllers.prompt import PromptController


async def test_a_session_that_is_open_is_not_opened_again():
    session = Session()
    session.opened = object()
    controller = PromptController(*shared(), None, None)
    assert await controller.open_for_change(session)
