"""The verbs that copy a store into another one: its journals as bytes, numbers and pictures."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from tui.domain.journal.records import SessionHeader
from tui.domain.moves import Move, Place


class StoredJournal(msgspec.Struct, frozen=True):
    """A session as a store keeps it, without the bytes of its journal."""

    header: SessionHeader
    """With the session's number in this store; made up if it is damaged."""
    place: Place
    size: int
    """Of the journal, in bytes. While a program writes to it, up to its last whole line."""
    used_ns: int
    """The last use, in nanoseconds since 1970."""

    @property
    def id(self) -> str:
        return self.header.id


class SessionNumber(msgspec.Struct, frozen=True):
    """The number of a session in its scope."""

    scope: str
    ordinal: int
    id: str


class Numbers(msgspec.Struct, frozen=True):
    """The numbers of sessions; for each scope, the highest ever given and the active session."""

    given: tuple[SessionNumber, ...] = ()
    highest: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    active: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def every_highest(self) -> Mapping[str, int]:
        """The highest numbers, those of ``given`` included."""
        highest = dict(self.highest)
        for each in self.given:
            highest[each.scope] = max(each.ordinal, highest.get(each.scope, 0))
        return highest


class Journals(Protocol):
    """The journals of a store as bytes, to copy them into another store.

    A copy has every byte, also of damaged lines and of newer versions. Other programs may use both
    stores meanwhile, but not copy.
    """

    def sizes(self) -> Mapping[str, int]:
        """List the ids of all sessions, in every place, with the sizes of their journals."""
        ...

    def find(self, session_id: str) -> StoredJournal:
        """Look at a session. Raises ``SessionNotFound``."""
        ...

    def read(self, session_id: str, end: int) -> Iterator[bytes]:
        """Read the bytes of a journal up to an offset, in blocks.

        Raises ``SessionNotFound``, and ``StorageError`` if the journal is shorter.
        """
        ...

    def add(self, journal: StoredJournal, blocks: Iterable[bytes]) -> None:
        """Add a session in its place; on return it is durable.

        It is added whole or not at all, also if making a block fails. It gets the number that
        ``add_numbers`` gave it. Raises ``SessionExists``, and ``SessionBusy`` while a
        program reserves the id.
        """
        ...

    def extend(self, journal: StoredJournal, begin: int, blocks: Iterable[bytes]) -> None:
        """Add bytes to a journal of ``begin`` bytes, and move the session to its new place.

        If the program is killed, some of the bytes may have been added. Raises
        ``SessionNotFound``, ``SessionBusy`` while any program has leased the session, and
        ``StorageError`` if its journal has another size.
        """
        ...

    def numbers(self) -> Numbers:
        """Read the numbers of all scopes; those of purged sessions may be among them."""
        ...

    def add_numbers(self, new: Numbers) -> None:
        """Give sessions that will be added their numbers; on return they are durable.

        A session that has a number here keeps it. If its number belongs to another session here,
        it gets the next one of its scope. ``highest`` numbers are raised, and ``active`` sessions
        set in scopes that have none.
        """
        ...

    def pictures(self) -> Mapping[str, Collection[str]]:
        """Read which pictures each session uses, by its id."""
        ...

    def use_pictures(self, session_id: str, used: Sequence[str]) -> Sequence[str]:
        """Note that a session uses pictures, and return those that are missing or damaged."""
        ...

    def add_moves(self, moves: Sequence[Move]) -> None:
        """Append moves of sessions to the log."""
        ...
