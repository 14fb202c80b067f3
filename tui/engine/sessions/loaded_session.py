"""A session as this program has it: looked at, or open for changes; and its work in progress."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import Record, SessionHeader, Settings, is_private
from tui.domain.journal.session import (
    Draft,
    Entry,
    Session,
    SessionEntry,
    Stamp,
    Tail,
    Versions,
    describe,
    numbered,
    title_question,
    with_new,
)
from tui.domain.references import NO_WORDS, words_naming
from tui.domain.views.costs import ContextUse, context_tokens
from tui.domain.views.notice import Notice
from tui.domain.views.session_rows import Mark
from tui.domain.views.shown_session import (
    ActivityView,
    Phase,
    PromptQueue,
    SaveState,
    SessionStatus,
    SessionView,
)
from tui.engine.model_requests import BYTES_PER_TOKEN
from tui.engine.sessions.loaded_pages import LoadedPages
from tui.engine.sessions.open_session import NewVersion, OpenSession
from tui.engine.sessions.prompt_state import PromptState

if TYPE_CHECKING:
    from tui.domain.tool_servers import Question
    from tui.providers.protocol import Model

_STEADY: frozenset[Phase] = frozenset({"waiting", "answering"})
"""Phases that count the seconds since the prompt was sent, as nothing new begins with them."""


class _Progress(msgspec.Struct):
    """The progress of an answer; times in seconds of one clock."""

    model: str
    begun_at: float
    phase: Phase
    phase_at: float
    name: str = ""
    size: int = 0
    attempt: int = 1
    reason: str = ""
    resumes_at: float = 0.0


class Activity:
    """An answer or a summary in progress, and the tool call that waits for approval.

    Controllers change it by its verbs: the worker that begins something also ends it. Times are
    seconds of the application's clock.
    """

    def __init__(self) -> None:
        self._answer: _Progress | None = None
        self._summary_begun_at: float | None = None
        self.asking: Question | None = None
        """The tool call that waits for approval."""

    @property
    def running(self) -> bool:
        """Tell whether an answer is in progress."""
        return self._answer is not None

    @property
    def phase(self) -> Phase | None:
        """The phase of the answer in progress."""
        return self._answer.phase if self._answer else None

    @property
    def summarising(self) -> bool:
        return self._summary_begun_at is not None

    def begin_answer(self, model: str = "", at: float = 0.0) -> None:
        self._answer = _Progress(model, at, "saving", at)

    def enter(self, phase: Phase, at: float, name: str = "") -> None:
        """Note that another phase of the answer has begun; ``name`` is that of a tool."""
        answer = self._answer
        if answer is not None and phase != answer.phase:
            answer.phase, answer.phase_at, answer.name = phase, at, name

    def receive(self, phase: Phase, text: str, at: float) -> None:
        """Count a piece of the answer or of the thinking before it."""
        if self._answer is not None:
            self.enter(phase, at)
            self._answer.size += len(text.encode(errors="replace"))

    def repeat(self, attempt: int, reason: str, resumes_at: float, at: float) -> None:
        """Note that the request has failed and is sent again."""
        if (answer := self._answer) is not None:
            self.enter("retrying", at)
            answer.attempt, answer.reason, answer.resumes_at = attempt, reason, resumes_at

    def end_answer(self) -> None:
        self._answer = None

    def begin_summary(self, at: float = 0.0) -> None:
        self._summary_begun_at = at

    def end_summary(self) -> None:
        self._summary_begun_at = None

    def view(self, now: float) -> ActivityView | None:
        """The snapshot for the activity line; ``None`` if nothing is in progress."""
        if self.asking is not None:
            return ActivityView("approval", self.asking.tool.title)
        work = self._answer
        if work is None:
            begun = self._summary_begun_at
            if begun is None:
                return None
            return ActivityView("summarising", "", max(0.0, now - begun))
        begun = work.begun_at if work.phase in _STEADY else work.phase_at
        return ActivityView(
            work.phase,
            work.name or work.model,
            max(0.0, now - begun),
            work.size // BYTES_PER_TOKEN,
            work.attempt,
            work.reason,
            max(0.0, work.resumes_at - now),
        )


class Access(msgspec.Struct):
    """The right to change a session, as far as it was last looked at.

    ``read_only`` is the reason against it, empty without one. ``asked_for`` says that the user
    wanted the session open: it is opened when it is free. ``held_elsewhere`` says that another
    program holds its lease, ``stamp`` where it was last seen, and in what state.
    """

    read_only: str = ""
    asked_for: bool = False
    held_elsewhere: bool = False
    archived: bool = False
    stamp: Stamp | None = None


Outbox = list[tuple["LoadedSession", Notice]]
"""Notices of all sessions that are not shown yet, in their order."""


class LoadedSession:
    """One session in memory: its loaded messages, its lease if there is one, its prompt.

    Either ``opened`` or ``tail`` is there. ``prompt``, ``activity`` and ``pages`` are changed by
    their own verbs, all else by the verbs here. ``listed_as`` is the label where too few messages
    are loaded for one. Notices also go to the ``outbox``, which all sessions of a program share.
    """

    def __init__(
        self,
        opened: OpenSession | None,
        tail: Tail | None = None,
        access: Access | None = None,
        listed_as: str = "",
        outbox: Outbox | None = None,
    ) -> None:
        self.opened = opened
        self.tail = tail
        """The end of the session as it was last read; none once it is open."""
        self.access = access or Access()
        self.unread = False
        """True if there is an answer that was not on screen yet."""
        self.save = SaveState()
        self.notices: tuple[Notice, ...] = ()
        """The notices of this run, oldest first."""
        self.model: Model | None = None
        """The model that answers next."""
        self.kept_versions: Versions = {}
        """The messages that have other versions on disk, as far as they were read."""
        self.prompt = PromptState()
        self.activity = Activity()
        self._listed_as = listed_as
        self._outbox: Outbox = [] if outbox is None else outbox
        self.pages = LoadedPages(lambda: self.latest, self.cursor)

    @property
    def id(self) -> str:
        return self.opened.id if self.opened else self._end.session.id

    @property
    def _end(self) -> Tail:
        if self.tail is None:
            raise ValueError("neither open nor looked at")
        return self.tail

    @property
    def session(self) -> Session:
        """The session as far as it is at hand."""
        return (self.opened or self._end).session

    @property
    def published(self) -> bool:
        """Tell whether the session exists for others."""
        return self.opened is None or self.opened.published

    @property
    def private(self) -> bool:
        """Tell whether the session is in memory only."""
        return is_private(self.id)

    @property
    def losable(self) -> bool:
        """Tell whether it is private and has messages, which leaving would destroy."""
        return self.private and bool(self.session.all_messages or self._arriving)

    @property
    def empty(self) -> bool:
        """Tell whether nothing was ever said or decided in it."""
        return self.opened is not None and not self.opened.published and not self.opened.pending

    @property
    def untouched(self) -> bool:
        """Tell whether it is as it was when it was begun."""
        has_settings = self.session.settings != Settings()
        return self.empty and not self.prompt.has_draft and not has_settings

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
        return Mark.READ_ONLY if self.access.read_only else Mark.NONE

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The loaded entries: earlier pages, then the end."""
        return (*self.pages.earlier, *self.latest)

    @property
    def latest(self) -> tuple[Entry, ...]:
        """The end of it, without the pages that were read."""
        return self.opened.entries if self.opened else self.session.entries

    @property
    def cursor(self) -> str | None:
        """Leads to what comes before ``latest``; ``None`` if nothing does."""
        return (self.opened or self._end).cursor

    @property
    def versions(self) -> Versions:
        """The messages that have other versions, as far as they are known."""
        new = self.opened.new_versions if self.opened else ()
        return with_new(self.kept_versions, new)

    def begin_version(self, version: NewVersion) -> None:
        """Let the next message follow an earlier one, and show the conversation up to there."""
        if self.opened is None:
            raise ValueError("only an open session can be changed")
        before = self.pages
        self.pages = LoadedPages(lambda: self.latest, version.end.cursor)
        self.opened.begin_version(version, partial(setattr, self, "pages", before))

    def drop_version(self) -> None:
        """Return to the live version; harmless if no new one was begun."""
        if self.opened is not None:
            self.opened.drop_version()

    def lacks_versions(self, entries: Sequence[Entry]) -> bool:
        """Tell whether some entries say that there are versions which were not read yet."""
        messages = (entry for entry in entries if isinstance(entry, Message))
        return any(each.after is not None and each.id not in self.versions for each in messages)

    @property
    def context_use(self) -> ContextUse | None:
        """The use of the model's context window, as of its last answer; ``None`` if unknown."""
        if self.model is None or self.model.known_window is None:
            return None
        session = self.session
        through = session.summary.through if session.summary else ""
        tokens = context_tokens(session.loaded_messages, through, self.model.name)
        return ContextUse(tokens, self.model.known_window) if tokens else None

    @property
    def shown(self) -> tuple[Entry, ...]:
        """The entries on screen: those of an excerpt, or the loaded ones."""
        return self.pages.excerpt.entries if self.pages.excerpt else self.entries

    @property
    def unsaved_questions(self) -> Sequence[Message]:
        """The questions that were sent and are not on disk yet."""
        return [m for m in self.pending if isinstance(m, Message) and m.role == "user"]

    def draft(self) -> Draft:
        """The draft to keep on disk: a prompt counts as sent when it is on disk."""
        header, prompt, unsaved = self.session.header, self.prompt, self.unsaved_questions
        sent = (each.typed_text for each in unsaved)
        own = prompt.references.union(*(references_of(header, each) for each in unsaved))
        return Draft(
            self.id,
            header.scope,
            header.project_path,
            prompt.text,
            (*sent, *prompt.leaving, *prompt.queue.prompts),
            prompt.folded_in(prompt.text),
            tuple(sorted(own)),
        )

    # --- newer readings, and the right to change it

    def hold(self, opened: OpenSession) -> None:
        """Take the lease, and keep the loaded pages that still join on to the end."""
        self.pages.keep_before(opened.session.entries, opened.cursor)
        self.opened, self.tail = opened, None
        self.access.read_only, self.access.held_elsewhere = "", False

    def follow(self, tail: Tail, pages: Sequence[Entry], *, anew: bool) -> None:
        """Replace the end of a session that is only read by a newer reading.

        ``pages`` were read before the tail, so that it joins on to the loaded messages; with
        ``anew``, those are dropped.
        """
        if anew:
            self.pages.restart(pages, tail.cursor)
        else:
            entries = (*pages, *tail.session.entries)
            self.pages.keep_before(entries, tail.cursor)
            self.pages.earlier = (*self.pages.earlier, *pages)
        self.tail = tail

    def say(self, notice: Notice) -> None:
        """Give a notice about the session, to be shown soon."""
        self.notices = (*self.notices, notice)
        self._outbox.append((self, notice))

    # --- views

    def label(self) -> str:
        """The title in a list."""
        return self.session.label(self._first_prompt)

    def row(self, now: str, *, active: bool) -> SessionEntry:
        """The row in the list of sessions."""
        used = self.session.updated_at or now
        return describe(self.session, self._first_prompt, "open", used, active=active)

    @property
    def _first_prompt(self) -> str:
        messages = (entry for entry in self.session.entries if isinstance(entry, Message))
        return self._listed_as or title_question(messages)

    def view(self) -> SessionView:
        """The snapshot that the screen shows."""
        session = self.session
        excerpt = self.pages.excerpt
        return SessionView(
            session_id=self.id,
            entries=excerpt.entries if excerpt else self.entries,
            earlier=self.pages.before is not None,
            later=excerpt is not None,
            arriving=self._arriving,
            draft=self.prompt.text,
            pastes=self.prompt.pastes,
            own_words=self.prompt.own_words,
            # They stand at the end.
            queue=PromptQueue() if excerpt else self.prompt.queue,
            prompt_count=session.prompt_count,
            read_only=self.access.read_only,
            todos=session.todos,
            asking=self.activity.asking,
            versions=numbered(self.versions),
            aside=self.pages.aside,
            editing=bool(self.prompt.editing),
        )

    def status(self) -> SessionStatus:
        """The snapshot for the status bar; its model is the one that answers next."""
        session = self.session
        return SessionStatus(
            session_id=self.id,
            label=self.label(),
            message_count=session.message_count,
            model=self.model_name,
            scope=session.header.scope,
            save=msgspec.structs.replace(self.save, private=self.private),
            running=self.activity.running,
            summarising=self.activity.summarising,
            asking=self.activity.asking is not None,
            queued=len(self.prompt.queued),
            read_only=bool(self.access.read_only),
            name=session.name,
            context_use=self.context_use,
        )

    @property
    def model_name(self) -> str:
        """The name of the model that answers next, if it can be loaded, else of the last one."""
        return self.model.name if self.model else self.session.model

    def end_saving(self, failure: str = "") -> None:
        """Show no write in progress any more, and a ``failure`` until a save succeeds."""
        self.save = SaveState(saved_at=self.save.saved_at, failure=failure)

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
        return next(iter(self.session.arriving), None)


def references_of(header: SessionHeader, question: Message) -> frozenset[str]:
    """The words of a question that led to its files; none if others may have written it."""
    if header.imported_from or header.forked_from or not question.attachments:
        return NO_WORDS
    names = {attachment.name for attachment in question.attachments}
    return words_naming(question.typed_text, names)
