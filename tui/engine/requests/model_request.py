"""The request to a model: a pure projection of a session's records."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tui.domain.journal.message import INTERRUPTED, Message
from tui.domain.journal.records import Summary
from tui.domain.model_settings import ModelParameters
from tui.domain.providers import is_guide
from tui.domain.strict_messages import joined, result_as_text
from tui.engine.requests.missing_results import interrupted_result
from tui.engine.requests.pictures import pictures_of, with_newest_pictures
from tui.engine.requests.token_estimate import estimated_tokens, tokens_of, tokens_of_tools
from tui.providers.protocol import ModelRequest, ToolDefinition

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
    prompt = _with_summary(system_prompt, summary)
    live = sendable(after_summary(summary, messages))
    paired = list(_paired(with_newest_pictures(live)))
    turns = _turns(_begun(_ended(paired), _AFTER_SUMMARY if summary else _NO_QUESTION))
    first = _first_that_fits(turns, _room(prompt, context_window) - tokens_of_tools(tools))
    # Joined after the cut: a prompt that was refused as too long must not cling to the next one.
    newest = joined(_flat(turns[first:]))
    request = ModelRequest(prompt, newest, tools, parameters=parameters)
    left_out = tuple(_flat(turns[:first]))
    labelled = len(pictures_of(paired)) < len(pictures_of(live))
    return Projection(request if tools else request.without_tools(), left_out, labelled)


def fits(request: ModelRequest, context_window: int) -> bool:
    """Tell whether a request is one that a window of that size takes whole."""
    turns = _turns(request.messages)
    room = _room(request.system_prompt, context_window) - tokens_of_tools(request.tools)
    return _first_that_fits(turns, room) == 0


def room_for_messages(
    system_prompt: str,
    summary: Summary | None,
    context_window: int,
    tools: Sequence[ToolDefinition] = (),
) -> int:
    """Count the tokens left for messages, beside the prompt, the summary and the tools."""
    return _room(_with_summary(system_prompt, summary), context_window) - tokens_of_tools(tools)


def live_tokens(summary: Summary | None, messages: Sequence[Message]) -> int:
    """Count the tokens of a summary and all live messages."""
    live = with_newest_pictures(sendable(after_summary(summary, messages)))
    return sum(map(estimated_tokens, live))


def _room(prompt: str, context_window: int) -> int:
    answer = min(context_window // _ANSWER_SHARE, _LONGEST_ANSWER)
    return context_window - answer - tokens_of(prompt)


def _with_summary(system_prompt: str, summary: Summary | None) -> str:
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
        if message.tool_calls:
            following = (messages[each] for each in range(place + 1, len(messages)))
            yield from _results(message, following)


def _results(caller: Message, following: Iterable[Message]) -> Iterator[Message]:
    came: dict[str, Message] = {}
    for message in following:
        if message.role != "tool":
            break
        came.setdefault(message.tool_call_id or "", message)
    for call in caller.tool_calls:
        yield came.get(call.id) or interrupted_result(caller, call)


def _begun(messages: Iterable[Message], words: str) -> Iterator[Message]:
    """Let a user's message with these words come before an answer that has no question."""
    for place, message in enumerate(messages):
        if place == 0 and message.role != "user":
            yield Message(f"{message.id}-begin", "user", words, message.timestamp)
        yield message


def _ended(messages: Sequence[Message]) -> Iterator[Message]:
    """End each turn that was stopped among its tools as an answered one ends.

    Many templates refuse a user's message right after a tool's result.
    """
    for place, message in enumerate(messages):
        before = messages[place - 1] if place else message
        if (before.role, message.role) == ("tool", "user"):
            yield Message(f"{before.id}-end", "assistant", INTERRUPTED, before.timestamp)
        yield message


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


def _flat(turns: Iterable[Sequence[Message]]) -> Iterator[Message]:
    return itertools.chain.from_iterable(turns)
