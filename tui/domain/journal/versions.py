"""Versions: messages that follow the same message, of which only one is live."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Summary

Versions = Mapping[str, tuple[str, ...]]
"""For the id of a message that has other versions: the ids of them all, in file order."""

_MOST_NAMED = 100
NOTHING = -1
"""The place of the message before a first one."""

_Entries = Sequence[Message | Reset | Summary | None]
"""Entries in file order; ``None`` is an answer of which only pieces came."""
_Parents = Mapping[int, int]
"""The place of a message, mapped to that of the one it follows if that is not the previous one."""


def live_places(entries: _Entries, parents: _Parents, tip: int | None = None) -> set[int]:
    """The places of the entries that are live, and were before each earlier reset.

    The last message is live, and so is each message that a live one follows. With a ``tip``, that
    counts as the last message.
    """
    live: set[int] = set()
    wanted = tip
    for place in reversed(range(len(entries))):
        entry = entries[place]
        if isinstance(entry, Reset):
            wanted = None
            live.add(place)
        elif wanted is None or wanted == place:
            live.add(place)
            if not isinstance(entry, Summary):
                wanted = parents.get(place)
    return live


def message_before(entries: _Entries, place: int) -> int:
    """The place of the message before another one since a reset."""
    for before in reversed(range(place)):
        if isinstance(entries[before], Reset):
            return NOTHING
        if not isinstance(entries[before], Summary):
            return before
    return NOTHING


def parents_of(entries: _Entries, parents: _Parents, hidden: AbstractSet[str]) -> dict[str, str]:
    """Map each message that is not hidden to the one it follows; ``""`` for a first one."""
    found: dict[str, str] = {}
    shown: dict[int, str] = {NOTHING: ""}
    before = NOTHING
    for place, entry in enumerate(entries):
        if isinstance(entry, Reset):
            before = NOTHING
        if entry is None or isinstance(entry, Message):
            parent = shown[parents.get(place, before)]
            before = place
            if entry is None or entry.id in hidden:
                shown[place] = parent
            else:
                found[entry.id], shown[place] = parent, entry.id
    return found


class Version(msgspec.Struct, frozen=True):
    """The place of a message among its versions, such as 2 of 3."""

    number: int
    count: int


def versions_of(
    entries: Iterable[Message | Reset | Summary], parents: Mapping[str, str]
) -> Versions:
    """Map each message that has other versions to all of them, in the order of the file."""
    followers: dict[tuple[int, str], list[str]] = {}
    resets = 0
    for entry in entries:
        resets += isinstance(entry, Reset)
        if isinstance(entry, Message):
            followers.setdefault((resets, parents[entry.id]), []).append(entry.id)
    groups = [tuple(group) for group in followers.values() if len(group) > 1]
    return {message_id: group for group in groups for message_id in group}


def numbered(versions: Versions) -> Mapping[str, Version]:
    """Number each message among its versions."""
    groups = {id(group): group for group in versions.values()}.values()
    return {
        message_id: Version(number, len(group))
        for group in groups
        for number, message_id in enumerate(group, 1)
    }


def versions_json(versions: Versions, message_id: str) -> dict[str, tuple[str, ...]]:
    """The field with the ids of a message's versions; of many, only the first one has it."""
    group = versions.get(message_id, ())
    is_named = group and (len(group) <= _MOST_NAMED or message_id == group[0])
    return {"versions": group} if is_named else {}


def with_new(versions: Versions, new: Iterable[tuple[str, str]]) -> Versions:
    """Add versions: pairs of a known message and the new version of it."""
    known = dict(versions)
    for beside, message_id in new:
        group = known.get(beside, (beside,))
        if message_id not in group:
            group = (*group, message_id)
        known |= dict.fromkeys(group, group)
    return known
