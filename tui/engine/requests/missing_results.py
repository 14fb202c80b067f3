"""Calls of tools whose results never came: the program was killed while one waited or ran."""

import msgspec

from tui.domain.journal.message import INTERRUPTED, Message, ToolCall
from tui.domain.journal.records import Reset
from tui.domain.journal.session import Session


def interrupted_result(caller: Message, call: ToolCall) -> Message:
    """Make the stand-in for a missing result; the same call always gives the same."""
    place = caller.tool_calls.index(call)
    return Message(
        id=f"{caller.id}-{place}",
        role="tool",
        content=INTERRUPTED,
        timestamp=caller.timestamp,
        tool_call_id=call.id,
    )


def missing_results(session: Session) -> tuple[Message, ...]:
    """Stand-ins for what the calls at the end of a session that nobody holds still wait for."""
    came: set[str | None] = set()
    for message in reversed(session.entries):
        if isinstance(message, Reset):
            break
        if not isinstance(message, Message):
            continue
        if message.role == "tool":
            came.add(message.tool_call_id)
            continue
        waiting = [call for call in message.tool_calls if call.id not in came]
        return tuple(interrupted_result(message, call) for call in waiting)
    return ()


def answered(session: Session) -> Session:
    """A session that nobody holds, with the stand-ins at its end."""
    missing = missing_results(session)
    if not missing:
        return session
    return msgspec.structs.replace(session, entries=(*session.entries, *missing))
