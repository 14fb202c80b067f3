"""A session as this program has it: looked at, or open for changes."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Record, Settings
from tui.domain.journal.session import (
    Draft,
    Entry,
    Session,
    SessionEntry,
    Stamp,
    Surroundings,
    Tail,
)
from tui.domain.views.notice import Notice, Shown
from tui.domain.views.prompt_queue import PromptQueue
from tui.domain.views.session_view import SessionView
from tui.domain.views.sidebar_rows import Mark
from tui.domain.views.status_line import SaveState, SessionStatus
from tui.engine.sessions.activity import Activity
from tui.engine.sessions.open_session import OpenSession
from tui.engine.sessions.prompt_state import PromptState
from tui.providers.protocol import Model


class PlacedNotice(msgspec.Struct, frozen=True):
    """A notice, and the message that it stands behind; ``None`` at the beginning."""

    after: str | None
    notice: Notice


class LoadedSession(msgspec.Struct, eq=False):
    """One session in memory: its loaded messages, its lease if there is one, its prompt.

    Either ``opened`` or ``tail`` is there. ``prompt`` and ``activity`` are changed by their own
    verbs; the fields below them belong to the engine, and no controller assigns them.
    ``listed_as`` is the label where too few messages are loaded for one. ``asked_for`` says that
    the user wanted the session open, ``held_elsewhere`` that another program holds its lease;
    ``stamp`` is that of the last reading. ``excerpt`` is shown instead of the end of the session.
    """

    opened: OpenSession | None
    tail: Tail | None = None
    prompt: PromptState = msgspec.field(default_factory=PromptState)
    activity: Activity = msgspec.field(default_factory=Activity)
    unread: bool = False
    archived: bool = False
    save: SaveState = msgspec.field(default_factory=SaveState)
    read_only: str = ""
    earlier: tuple[Entry, ...] = ()
    page_cursor: str | None = None
    excerpt: Surroundings | None = None
    notices: list[PlacedNotice] = msgspec.field(default_factory=list[PlacedNotice])
    model: Model | None = None
    listed_as: str = ""
    asked_for: bool = False
    held_elsewhere: bool = False
    stamp: Stamp | None = None

    def __post_init__(self) -> None:
        self.page_cursor = self.opened.cursor if self.opened else self._tail.cursor

    @property
    def id(self) -> str:
        return self.opened.id if self.opened else self._tail.session.id

    @property
    def session(self) -> Session:
        """The session as far as it is at hand."""
        return self.opened.session if self.opened else self._tail.session

    @property
    def published(self) -> bool:
        """Tell whether the session exists for others."""
        return self.opened.published if self.opened else True

    @property
    def empty(self) -> bool:
        """Tell whether nothing was ever said or decided in it."""
        return self.opened is not None and not self.opened.published and not self.opened.pending

    @property
    def untouched(self) -> bool:
        """Tell whether it is as it was when it was begun."""
        return self.empty and not self.prompt.has_draft and not self.has_settings

    @property
    def has_settings(self) -> bool:
        """Tell whether it has settings of its own."""
        return self.session.settings != Settings()

    @property
    def busy(self) -> bool:
        """Tell whether it must stay open while another is looked at."""
        return self.at_work or self.unsaved or (self.empty and self.prompt.has_draft)

    @property
    def at_work(self) -> bool:
        """Tell whether an answer or a summary is being made, or a prompt waits."""
        activity = self.activity
        return activity.running or activity.summarising or bool(self.prompt.queued)

    @property
    def mark(self) -> Mark:
        if self.activity.asking is not None:
            return Mark.ASKING
        if self.activity.running:
            return Mark.RUNNING
        if self.unsaved and self.save.failure:
            return Mark.UNSAVED
        if self.unread:
            return Mark.UNREAD
        return Mark.READ_ONLY if self.read_only else Mark.NONE

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The loaded entries: earlier pages, then the end."""
        return (*self.earlier, *self.latest)

    @property
    def latest(self) -> tuple[Entry, ...]:
        """The end of it, without the pages that were read."""
        return self.opened.entries if self.opened else self._tail.session.entries

    @property
    def has_earlier(self) -> bool:
        """Tell whether there is more before what is shown."""
        return (self.excerpt.earlier if self.excerpt else self.page_cursor) is not None

    @property
    def unsaved_prompts(self) -> tuple[str, ...]:
        """The prompts that were sent and are not on disk yet."""
        return tuple(m.text for m in self.pending if isinstance(m, Message) and m.role == "user")

    def draft(self) -> Draft:
        """The draft to keep on disk: a prompt counts as sent when it is on disk."""
        header = self.session.header
        prompt = self.prompt
        queued = (*self.unsaved_prompts, *prompt.queue.prompts)
        return Draft(self.id, header.scope, header.project_path, prompt.text, queued, prompt.folded)

    def hold(self, opened: OpenSession) -> None:
        """Go on as the holder, with the pages that were read as far as they still join on."""
        self._join(opened.session.entries, opened.cursor)
        self.opened, self.tail, self.read_only = opened, None, ""
        self.held_elsewhere = False

    def follow(self, tail: Tail, pages: Sequence[Entry], *, anew: bool) -> None:
        """Go on with another reading of a session that is only read.

        ``pages`` are what was read before the tail, so that it joins on to what is at hand; if
        that does not count any more it is read ``anew``.
        """
        if anew:
            self.earlier, self.page_cursor = tuple(pages), tail.cursor
        else:
            self._join((*pages, *tail.session.entries), tail.cursor)
            self.earlier = (*self.earlier, *pages)
        self.tail = tail

    def _join(self, entries: Sequence[Entry], cursor: str | None) -> None:
        """Keep what is at hand before these entries, if they join on to it."""
        earlier = entries_before(self.entries, entries)
        if earlier:
            self.earlier = earlier
        else:
            self.earlier, self.page_cursor = (), cursor

    def show_end(self) -> None:
        """Show the end of the session again, not an excerpt."""
        self.excerpt = None

    def mark_unread(self, *, unread: bool) -> None:
        """Note whether there is an answer that was not on screen yet."""
        self.unread = unread

    def say(self, notice: Notice) -> None:
        """Put a notice at the end of the conversation."""
        messages = [entry for entry in self.entries if isinstance(entry, Message)]
        self.notices.append(PlacedNotice(messages[-1].id if messages else None, notice))

    def label(self) -> str:
        """The title in a list."""
        session = self.session
        prompts = (m.text for m in session.all_messages if m.role == "user" and m.text.strip())
        return session.label(self.listed_as or next(prompts, ""))

    def row(self, now: str, *, active: bool) -> SessionEntry:
        """The row in the list of sessions."""
        session = self.session
        used = session.last_used_at or session.updated_at or now
        return SessionEntry(
            id=self.id,
            name=session.name,
            label=self.label(),
            scope=session.header.scope,
            ordinal=session.header.ordinal,
            active=active,
            project_path=session.header.project_path,
            model=session.model,
            created_at=session.header.created_at,
            updated_at=session.updated_at or used,
            last_used_at=used,
            closed_at=None,
            message_count=session.message_count,
            status="open",
            damaged=session.damaged,
            pinned=session.settings.pinned,
        )

    def view(self) -> SessionView:
        """The snapshot that the screen shows."""
        session = self.session
        excerpt = self.excerpt
        return SessionView(
            session_id=self.id,
            entries=excerpt.entries if excerpt else _with_notices(self.entries, self.notices),
            earlier=self.has_earlier,
            later=excerpt is not None,
            arriving=self._arriving,
            draft=self.prompt.text,
            pastes=self.prompt.pastes,
            # They stand at the end.
            queue=PromptQueue() if excerpt else self.prompt.queue,
            prompt_count=session.prompt_count,
            read_only=self.read_only,
            todos=session.todos,
            asking=self.activity.asking,
        )

    def status(self) -> SessionStatus:
        """The snapshot for the status bar; its model is the one that answers next."""
        session = self.session
        return SessionStatus(
            session_id=self.id,
            label=self.label(),
            message_count=session.message_count,
            model=self.model.name if self.model else session.model,
            scope=session.header.scope,
            save=self.save,
            running=self.activity.running,
            summarising=self.activity.summarising,
            asking=self.activity.asking is not None,
            queued=len(self.prompt.queued),
            read_only=bool(self.read_only),
            name=session.name,
            summarised=session.summary.through if session.summary else "",
        )

    def note_saved(self, at: datetime) -> None:
        """Everything is on disk."""
        self.save = SaveState(saved_at=at)

    def note_saving(self) -> None:
        self.save = msgspec.structs.replace(self.save, saving=True)

    def note_nothing_unsaved(self) -> None:
        """Clear a failure or a write in progress: no message is unsaved."""
        self.save = SaveState(saved_at=self.save.saved_at)

    def note_failure(self, reason: str) -> None:
        """Something could not be saved; said until a save succeeds."""
        self.save = SaveState(saved_at=self.save.saved_at, failure=reason)

    @property
    def pending(self) -> tuple[Record, ...]:
        """The records that are not on disk yet, oldest first."""
        return self.opened.pending if self.opened else ()

    @property
    def unsaved(self) -> bool:
        return self.opened is not None and self.opened.unsaved

    @property
    def _arriving(self) -> str | None:
        """The answer that is being made, here or elsewhere."""
        if self.opened:
            return self.opened.arriving
        return next(iter(self._tail.session.arriving), None)

    @property
    def _tail(self) -> Tail:
        if self.tail is None:
            raise ValueError("neither open nor looked at")
        return self.tail


def entries_before(known: Sequence[Entry], read: Sequence[Entry]) -> tuple[Entry, ...]:
    """Give the known entries before those that were read; none if they do not join."""
    places = {entry.id: place for place, entry in enumerate(known) if isinstance(entry, Message)}
    for count, entry in enumerate(read):
        place = places.get(entry.id) if isinstance(entry, Message) else None
        if place is None:
            continue
        for mark in reversed(read[:count]):
            place -= place > 0 and known[place - 1] == mark
        return tuple(known[:place])
    return ()


def _with_notices(entries: Sequence[Entry], notices: Sequence[PlacedNotice]) -> tuple[Shown, ...]:
    """Each notice behind the message that it was said after; at the end if that one is gone."""
    ids = {entry.id for entry in entries if isinstance(entry, Message)}
    shown: list[Shown] = [n.notice for n in notices if n.after is None]
    for entry in entries:
        shown.append(entry)
        if isinstance(entry, Message):
            shown += [n.notice for n in notices if n.after == entry.id]
    gone = [n.notice for n in notices if n.after is not None and n.after not in ids]
    return (*shown, *gone)
