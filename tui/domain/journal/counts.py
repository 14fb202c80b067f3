"""The requests of a journal, with the tokens that each took."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tui.domain.journal.message import Message, TokenUsage
from tui.domain.journal.records import Record, SessionHeader, Summary, Titled
from tui.domain.providers import is_guide


class CountedRequest(msgspec.Struct, frozen=True, gc=False):
    """A request that was answered; without ``usage`` its tokens were not counted."""

    id: str
    """Of the answer; a later record with the same id takes the place of an earlier one."""
    model: str
    timestamp: str
    """Of the answer; empty if unknown."""
    usage: TokenUsage | None


def counted_requests(records: Iterable[Record | None]) -> tuple[CountedRequest, ...]:
    """List the requests that some records answered, also for answers that are not live.

    The built-in guide is sent none. The answers that a fork begins with were another session's.
    """
    found: dict[str, CountedRequest] = {}
    forked_at = ""
    for record in records:
        if isinstance(record, SessionHeader):
            forked_at = record.created_at if record.forked_from else ""
        elif (each := _request(record)) and (each.usage or each.timestamp >= forked_at):
            found[each.id] = each
    return tuple(each for each in found.values() if not is_guide(each.model))


def by_model(requests: Iterable[CountedRequest]) -> Mapping[str, Sequence[CountedRequest]]:
    """Group requests by the name of their model."""
    groups: defaultdict[str, list[CountedRequest]] = defaultdict(list)
    for request in requests:
        groups[request.model].append(request)
    return groups


def may_answer(line: bytes) -> bool:
    """Tell cheaply whether a line may answer a request, or begin a fork."""
    return any(word in line for word in (b'"assistant"', b'"usage"', b'"forked_from"'))


def _request(record: Record | None) -> CountedRequest | None:
    match record:
        case Message(role="assistant"):
            return CountedRequest(record.id, record.model or "", record.timestamp, record.usage)
        case Summary(usage=TokenUsage()):
            # A version repeats the summary that counts in it.
            known = f"summary {record.through}"
            return CountedRequest(known, record.model or "", "", record.usage)
        case Titled(usage=TokenUsage()):
            known = f"title {record.at}"
            return CountedRequest(known, record.model or "", record.at, record.usage)
        case _:
            return None
