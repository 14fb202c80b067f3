"""Requests to a model: a projection of a session's records, read back only as far as they fit.

Where no server has counted, tokens are estimated; rather too many than too few.
"""

import json
import string
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec
from msgspec.structs import replace

from tui.domain.journal.message import (
    INTERRUPTED,
    ImageBlock,
    Message,
    Part,
    ToolCall,
    content_of_parts,
    joined,
    merged,
    parts_of,
    result_as_text,
)
from tui.domain.journal.records import Record, Reset, Summary
from tui.domain.journal.session import Session
from tui.domain.models import ModelParameters
from tui.domain.providers import is_guide
from tui.providers.protocol import ModelRequest, ToolDefinition
from tui.storage.journal import Journal

BYTES_PER_TOKEN = 3
"""For a rough size of text that is not read."""
_TOKENS_PER_MESSAGE = 8
_TOKENS_PER_PICTURE = 1_600
"""A large picture's at Anthropic, by its documentation; OpenAI and Google count fewer."""
_WORDS = (string.ascii_letters + " \n").encode()
_ODD = bytes(set(range(128)) - set(_WORDS))


def estimated_tokens(message: Message) -> int:
    """Estimate the tokens of a message, with its files, its pictures and its calls."""
    pictures = sum(isinstance(each, ImageBlock) for each in message.attachments)
    return estimated_text_tokens(message) + pictures * _TOKENS_PER_PICTURE


def estimated_text_tokens(message: Message) -> int:
    """Estimate the tokens of a message whose pictures are sent as labels."""
    calls = "".join(call.name + str(call.arguments) for call in message.tool_calls)
    return tokens_of(message.text + calls) + _TOKENS_PER_MESSAGE


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, at two million characters in ten milliseconds.

    Of letters and blanks four make a token, of digits and punctuation two. A character that is
    not ASCII counts half a token for each byte but its first: a Cyrillic one half, a Chinese one
    whole.
    """
    data = text.encode(errors="replace")
    letters = len(data) - len(data.translate(None, _WORDS))
    odd = len(data) - letters if text.isascii() else len(data) - len(data.translate(None, _ODD))
    return (letters + 2 * odd) // 4 + (len(data) - len(text)) // 2


PICTURES = 20
"""Pictures in one request. Anthropic takes more only if they are small, Bedrock no more."""
REQUEST_PICTURE_BYTES = 15_000_000
"""Their size together: encoded they make 20 MB, which is all that Google takes in a request."""
_STEP = 5
"""Pictures that are left out at once: a request that begins as the one before it is cached."""


def pictures_of(messages: Iterable[Message]) -> list[ImageBlock]:
    """The pictures that users have sent, oldest first."""
    return [
        each
        for message in messages
        if message.role == "user"
        for each in message.attachments
        if isinstance(each, ImageBlock)
    ]


def with_newest_pictures(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with no more pictures than a request carries; older ones are labels.

    These become more in steps; a step spares the last message.
    """
    sizes = [picture.size for picture in pictures_of(messages)]
    kept, left = 0, REQUEST_PICTURE_BYTES
    for size in reversed(sizes):
        left -= size
        if kept == PICTURES or (kept and left < 0):
            break
        kept += 1
    older = len(sizes) - kept
    newest = next((count for each in reversed(messages) if (count := len(pictures_of([each])))), 0)
    return _labelled(messages, max(older, min(-(-older // _STEP) * _STEP, len(sizes) - newest)))


def without_pictures(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages for a model that sees nothing: all pictures are labels."""
    return _labelled(messages, len(pictures_of(messages)))


def _labelled(messages: Sequence[Message], labels: int) -> Sequence[Message]:
    """The messages with the oldest of their pictures as labels."""
    if not labels:
        return messages
    found: list[Message] = []
    for message in messages:
        number = len(pictures_of([message]))
        found.append(_with_labels(message, labels) if number and labels else message)
        labels = max(0, labels - number)
    return found


def _with_labels(message: Message, number: int) -> Message:
    """The message with the first of its pictures as labels."""
    parts: list[Part] = []
    for part in parts_of(message.content):
        if isinstance(part, ImageBlock) and number > 0:
            parts.append(part.label)
            number -= 1
        else:
            parts.append(part)
    return replace(message, content=content_of_parts(merged(parts, "\n")))


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


_ANSWER_SHARE = 4
_LONGEST_ANSWER = 128_000
"""Tokens; no model gives more in one answer."""
_NO_PARAMETERS = ModelParameters()
_SUMMARY_TITLE = "Summary of the earlier conversation:"
_AFTER_SUMMARY = "Continue from the summary of the earlier conversation."
_NO_QUESTION = "(This conversation begins with an answer.)"


class Projection(msgspec.Struct, frozen=True):
    """A request, and the live messages that did not fit into it.

    ``labelled`` is true if it has only the names of older pictures, for their number.
    """

    request: ModelRequest
    left_out: tuple[Message, ...] = ()
    labelled: bool = False


def project(
    system_prompt: str,
    summary: Summary | None,
    messages: Sequence[Message],
    context_window: int,
    tools: tuple[ToolDefinition, ...] = (),
    parameters: ModelParameters = _NO_PARAMETERS,
) -> Projection:
    """Choose and order what is sent: system prompt, summary, and the messages after it.

    ``messages`` are live ones. Failed, replaced and empty answers and the built-in guide's turns
    are left out; every call is followed by its result, ``interrupted`` where none came. What does
    not fit in ``context_window`` (tokens, estimated) beside the answer is cut from the oldest end.
    A user's message is the first one sent: one is made for an answer without a question, and a
    result whose call is behind the summary is text; the last user's message is always sent. A
    quarter of the window is kept for the answer, of a large one no more than the longest answer
    takes; the definitions of ``tools`` take their part. Roles alternate, as the templates of many
    servers demand, and without tools earlier calls are text. Of many pictures the older are labels.
    """
    prompt = with_summary(system_prompt, summary)
    live = sendable(after_summary(summary, messages))
    paired = list(_paired(with_newest_pictures(live)))
    turns = _turns(_bounded(paired, _AFTER_SUMMARY if summary else _NO_QUESTION))
    first = _first_that_fits(turns, room_beside(prompt, context_window, tools))
    # Joined after the cut: a prompt that was refused as too long must not cling to the next one.
    newest = joined(chain.from_iterable(turns[first:]))
    request = ModelRequest(prompt, newest, tools, parameters=parameters)
    left_out = tuple(chain.from_iterable(turns[:first]))
    labelled = len(pictures_of(paired)) < len(pictures_of(live))
    return Projection(request if tools else request.without_tools(), left_out, labelled)


def fits(request: ModelRequest, context_window: int) -> bool:
    """Tell whether a request is one that a window of that size takes whole."""
    room = room_beside(request.system_prompt, context_window, request.tools)
    return _first_that_fits(_turns(request.messages), room) == 0


def live_tokens(summary: Summary | None, messages: Sequence[Message]) -> int:
    """Count the tokens of a summary and all live messages."""
    live = with_newest_pictures(sendable(after_summary(summary, messages)))
    return sum(map(estimated_tokens, live))


def room_beside(prompt: str, context_window: int, tools: Sequence[ToolDefinition]) -> int:
    """Count the tokens left for messages, beside the prompt, the tools and the answer."""
    answer = min(context_window // _ANSWER_SHARE, _LONGEST_ANSWER)
    definitions = (f"{each.name}{each.description}{json.dumps(each.parameters)}" for each in tools)
    offered = sum(tokens_of(each) + _TOKENS_PER_MESSAGE for each in definitions)
    return context_window - answer - tokens_of(prompt) - offered


def with_summary(system_prompt: str, summary: Summary | None) -> str:
    """The system prompt with the summary of what is not sent any more."""
    if summary is None:
        return system_prompt
    return f"{system_prompt}\n\n{_SUMMARY_TITLE}\n{summary.text}".strip()


def after_summary(summary: Summary | None, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages that no summary covers."""
    if summary is None:
        return messages
    places = [place for place, each in enumerate(messages) if each.id == summary.through]
    return messages[places[0] + 1 :] if places else messages


def exchanged_with_models(messages: Sequence[Message]) -> list[Message]:
    """Messages without those that were asked again, and without the built-in guide's turns."""
    replaced = {message.replaces for message in messages if message.replaces}
    found: list[Message] = []
    for message in messages:
        if message.id in replaced:
            continue
        if message.status == "failed" or not is_guide(message.model):
            found.append(message)
        elif found and found[-1].role == "user":
            found.pop()
    return found


def sendable(messages: Sequence[Message]) -> list[Message]:
    """Messages without failed and empty answers, and without what no model was asked."""
    return [
        each
        for each in exchanged_with_models(messages)
        if each.status != "failed"
        and (each.role != "assistant" or each.text.strip() or each.tool_calls)
    ]


def _paired(messages: Sequence[Message]) -> Iterator[Message]:
    """Each call followed by its result; later results without their call are dropped."""
    first = 0
    for place, message in enumerate(messages):
        if message.role == "tool":
            if place == first:
                first += 1
                yield result_as_text(message)
            continue
        yield message
        came: dict[str, Message] = {}
        for after in range(place + 1, len(messages)) if message.tool_calls else ():
            if messages[after].role != "tool":
                break
            came.setdefault(messages[after].tool_call_id or "", messages[after])
        for call in message.tool_calls:
            yield came.get(call.id) or interrupted_result(message, call)


def _bounded(messages: Iterable[Message], words: str) -> Iterator[Message]:
    """Begin with a user's message, made of ``words`` before an answer that has no question.

    A turn that was stopped among its tools ends as an answered one does: many templates refuse a
    user's message right after a tool's result.
    """
    before: Message | None = None
    for message in messages:
        if before is None and message.role != "user":
            yield Message(f"{message.id}-begin", "user", words, message.timestamp)
        if before and (before.role, message.role) == ("tool", "user"):
            yield Message(f"{before.id}-end", "assistant", INTERRUPTED, before.timestamp)
        yield message
        before = message


def _turns(messages: Iterable[Message]) -> list[list[Message]]:
    """Split before each user's message."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([message])
        else:
            turns[-1].append(message)
    return turns


def _first_that_fits(turns: Sequence[Sequence[Message]], room: int) -> int:
    """Find the oldest turn that fits together with all that follow it; the last one always does."""
    first = len(turns)
    for turn in reversed(turns):
        room -= sum(map(estimated_tokens, turn))
        if room < 0 and first < len(turns):
            break
        first -= 1
    return first


PAGE = 200


class HistoryWindow(msgspec.Struct, eq=False):
    """The newest live messages, in order; ``tokens`` is how far back they reach at least."""

    messages: tuple[Message, ...]
    tokens: int
    whole: bool
    """True if they are all that is live."""

    def add(self, record: Record) -> None:
        """Follow what was added to the session."""
        match record:
            case Message():
                # It may be another writing of one that is there.
                place = self._place_of(record.id)
                self.messages = (*self.messages[:place], record, *self.messages[place + 1 :])
            case Summary() if rest := self.messages[self._place_of(record.through) :]:
                self.messages, self.whole = rest[1:], True
            case Reset():
                self.messages, self.whole = (), True
            case _:
                pass

    def _place_of(self, message_id: str) -> int:
        """The place of a message, or the one behind the last."""
        ids = [message.id for message in self.messages]
        return ids.index(message_id) if message_id in ids else len(ids)


def context_of(session: Session) -> HistoryWindow | None:
    """Give the loaded messages, if they are all that is live."""
    whole = len(session.loaded_messages) == session.message_count
    return HistoryWindow(tuple(session.loaded_messages), 0, whole) if whole else None


def read_context(
    journal: Journal,
    summary: Summary | None,
    tokens: int,
    last: str | None = None,
) -> HistoryWindow:
    """Read back from the end until there are so many tokens, or all that is live.

    Pictures count as labels, which they are once there are many newer ones. With ``last``, as if
    that message were the end. Raises what ``Journal.tail`` and ``page`` raise.
    """
    tail = journal.tail(PAGE, last)
    read, cursor = tail.session.loaded_messages, tail.cursor
    messages, size, resets = list[Message](), 0, list[int]()
    while True:
        messages[:0] = read
        # Not by the count of messages: a ``state`` may have a wrong one.
        is_begun = summary is not None and any(each.id == summary.through for each in read)
        whole = bool(resets) or is_begun or cursor is None
        # Failed answers are never sent: earlier messages take their room.
        size += sum(map(estimated_text_tokens, sendable(read)))
        if whole or cursor is None or size >= tokens:
            return HistoryWindow(tuple(messages), tokens, whole)
        page = journal.page(cursor, PAGE)
        resets = [place for place, each in enumerate(page.entries, 1) if isinstance(each, Reset)]
        live = page.entries[resets[-1] if resets else 0 :]
        read, cursor = [entry for entry in live if isinstance(entry, Message)], page.cursor
