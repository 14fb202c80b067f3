"""The wording of a message: its text, its calls and its error, but no times and no tokens."""

from tui.domain.journal.blocks import Content
from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import Message, ToolCall


def wording(message: Message) -> int:
    """Make a number of what a message says, which is the same only within one process."""
    if isinstance(message.content, str) and not message.tool_calls and not message.error:
        return hash(message.content)
    return hash(wording_json(message))


def wording_json(message: Message) -> bytes:
    """Encode what a message says, the same in every process."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return journal_json((message.content, calls, message.error))


def extends(longer: Message, shorter: Message) -> bool:
    """Tell whether a message has every word of another one, and maybe more behind them."""
    count = len(shorter.tool_calls)
    return (
        _begins_with(longer.content, shorter.content)
        and len(longer.tool_calls) >= count
        and all(map(_is_call, longer.tool_calls, shorter.tool_calls))
        and shorter.error in (None, longer.error)
    )


def _begins_with(longer: Content, shorter: Content) -> bool:
    if not shorter:
        return True
    if isinstance(longer, str) and isinstance(shorter, str):
        return longer.startswith(shorter)
    if isinstance(longer, list) and isinstance(shorter, list):
        return longer[: len(shorter)] == shorter
    return False


def _is_call(longer: ToolCall, shorter: ToolCall) -> bool:
    """Tell whether a call is another one, whose arguments may still have been on their way."""
    if (longer.id, longer.name) != (shorter.id, shorter.name):
        return False
    return not shorter.arguments or longer.arguments == shorter.arguments
