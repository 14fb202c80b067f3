"""Workspaces over a store that can be told to fail, and the other programs beside them."""

import threading
from pathlib import Path

from tests.builders import Clock
from tests.engine.scripted_model import ScriptedModel
from tests.waiting import until
from tui.domain.journal.records import encode
from tui.domain.journal.session import Draft
from tui.engine.sessions.open_session import SessionOrigin, new_session
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageFull
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore

SHOP = "project:/shop"
PLACE = SessionOrigin(SHOP, "/shop", "scripted:model")


class Store(FileStore):
    """Files; ``appends`` counts; ``failures`` are raised by the next, ``gate`` holds them up."""

    def __init__(self, root, clock):
        super().__init__(root, clock)
        self.failures = []
        self.gate = None
        self.waiting = threading.Event()
        self.leases = []
        self.appends = 0

    def append(self, lease, records, *lines):
        self.appends += 1
        if records and self.gate is not None:
            self.waiting.set()
            assert self.gate.wait(20)
        if records and self.failures:
            raise self.failures.pop(0).with_traceback(None)
        return super().append(lease, records, *lines)

    def fail_next(self, error, times=1):
        self.failures += [error] * times

    def lease(self, session_id):
        self.leases.append(super().lease(session_id))
        return self.leases[-1]

    def create(self, *arguments, **fields):
        self.leases.append(super().create(*arguments, **fields))
        return self.leases[-1]

    def another_program(self):
        """Another store of the same sessions, without the leases of this one."""
        return Store(self.root, self._clock)

    def slip_in(self, session_id, *records):
        """Write records without a lease."""
        with self.path(session_id).open("ab") as file:
            file.writelines(map(encode, records))

    def die(self):
        """Do what the system does for a program that was killed."""
        for lease in self.leases:
            lease.release()


class KeptDrafts(Drafts):
    """Drafts; ``failures`` are raised by the next savings, ``gate`` holds up the next one."""

    def __init__(self, root):
        super().__init__(root)
        self.failures = []
        self.gate = None
        self.saved = []

    def save(self, draft, *, token=None):
        gate, self.gate = self.gate, None
        if gate is not None:
            assert gate.wait(20)
        if self.failures:
            raise self.failures.pop(0).with_traceback(None)
        self.saved.append((draft.text, token))
        super().save(draft, token=token)


class Program:
    """One run of the program: a workspace with its own store."""

    def __init__(self, root: Path, clock: Clock, *, limit=10, place=PLACE, known=()):
        self.store = Store(root, clock)
        self.drafts = KeptDrafts(root)
        self.model = ScriptedModel()
        self.known = known
        self.workspace = Workspace(
            self.store, self.drafts, place, clock, self.model_for, limit=limit
        )

    def model_for(self, proposed):
        if proposed in (None, self.model.name, *self.known):
            return self.model, ()
        return self.model, (f"{proposed} is not among your models.",)

    @property
    def current(self):
        """The session on screen."""
        return self.workspace.current

    async def settle(self):
        """Wait until what was left is closed."""
        await until(lambda: not self.workspace.switcher._behind, "the closing of what was left")

    async def look_at(self, session_id):
        switched = await self.workspace.switcher.look_at(session_id)
        await self.settle()
        return switched

    async def open(self, session_id):
        switched = await self.workspace.open_session(session_id)
        await self.settle()
        return switched

    async def type(self, text):
        """What the screen does at each key: note it, and open the session for it."""
        conversation = self.current
        conversation.prompt.edit(text)
        if conversation.opened is None and not conversation.access.read_only:
            await self.workspace.take(conversation)

    async def keep(self, text):
        """Type, and keep the draft as a pause in typing does."""
        await self.type(text)
        await self.workspace.keep_drafts()

    async def send(self, text, *, save=True):
        """Send a prompt as a turn does, without an answer."""
        conversation = self.current
        await self.workspace.take(conversation)
        conversation.prompt.edit("")
        conversation.opened.add_message("user", text)
        if save:
            await self.workspace.pool.save(conversation)

    async def end(self):
        """What the end of the program does."""
        await self.workspace.keep_drafts()
        for conversation in self.workspace.open:
            await self.workspace.pool.close(conversation)


class World:
    """A data directory that several programs use."""

    def __init__(self, root: Path):
        self.root = root
        self.clock = Clock()
        self.programs = []

    def program(self, **fields) -> Program:
        self.programs.append(Program(self.root, self.clock, **fields))
        return self.programs[-1]

    def started(self, session_id=None, **fields) -> Program:
        """A program that has begun, in a new session or in one that is there."""
        program = self.program(**fields)
        program.workspace.start(session_id)
        return program

    async def opened(self, *texts, **fields):
        """A session with these messages, and a program that has begun in it."""
        there = await self.session(*texts, **fields)
        return there, self.started(there)

    async def looked_at(self, *texts, **fields):
        """A session with these messages, and a program that looks at it."""
        there, program = await self.session(*texts, **fields), self.started()
        await program.look_at(there)
        return there, program

    @property
    def reader(self) -> FileStore:
        """A store that holds nothing."""
        return FileStore(self.root, self.clock)

    @property
    def drafts(self) -> Drafts:
        return Drafts(self.root)

    async def session(self, *texts, name="", scope=SHOP, model=PLACE.model, project="/shop"):
        """A closed session with these messages, the user's and the model's by turns."""
        session = new_session(self.reader, SessionOrigin(scope, project, model), self.clock)
        for number, text in enumerate(texts or ("hello",)):
            if number % 2:
                answer = session.begin_answer(model)
                answer.receive(text)
                session.end_answer(answer)
            else:
                session.add_message("user", text)
        if name:
            session.rename(name)
        await session.close()
        return session.id

    def draft(self, session_id, text, queued=(), token=None, scope=SHOP):
        """Put a draft there, as a program that is gone did."""
        self.drafts.save(Draft(session_id, scope, "/shop", text, tuple(queued)), token=token)

    def bytes(self, session_id):
        return self.reader.path(session_id).read_bytes()

    def texts(self, session_id):
        return [message.text for message in self.reader.journal(session_id).load().all_messages]

    def holder(self, session_id):
        return self.reader.holder(session_id)

    def end(self):
        for program in self.programs:
            program.store.die()


FULL = StorageFull("No room.")


def said(conversation):
    """What the program told in a conversation."""
    return [notice.text for notice in conversation.notices]
