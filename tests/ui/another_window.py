"""Another window, which has the session on screen open."""

from typing import Any

from tests.ui.screen import conversation
from tests.ui.world import PLACE
from tests.waiting import until


async def begin_answer_elsewhere(holder: Any, app: Any) -> Any:
    """Ask a question in a window that holds the session, and see the answer begin here."""
    holder.add_message("user", "How are you?")
    await holder.save()
    await until(lambda: "How are you?" in conversation(app), "the question")
    answer = holder.begin_answer(PLACE.model)
    answer.receive("Very ")
    holder.add_piece(answer)
    await holder.save()
    await until(lambda: "Very" in conversation(app), "the first piece")
    return answer
