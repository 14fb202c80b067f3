"""Anything may happen in any order, and at once: no word is lost, and no lease is kept."""

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.engine.workspaces import SHOP, World
from tests.examples import examples
from tui.engine.sessions.open_session import SessionOrigin, new_session, take_session
from tui.errors import StorageError, StorageFull, UsageError

REFUSED = (StorageError, UsageError)
LIMIT = 3
NUMBERS = st.integers(0, 5)
STEPS = st.sampled_from(["look", "open", "begin", "type", "send", "save", "keep", "rename"])


class WorkspaceMachine(RuleBasedStateMachine):
    """Words are typed, sent, queued and saved while sessions are switched, held and lost.

    Each word is written once. ``saved`` are those of which it was said that they are on disk, and
    where; ``written`` are all that the user has not taken back.
    """

    def __init__(self):
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.world = World(Path(self.place.name) / "data")
        self.number = 0
        self.written = {}
        self.saved = {}
        self.names = {}
        self.others = {}
        self.ids = []
        self.program = None

    @initialize(count=st.integers(1, 3))
    def begin_with_some_sessions(self, count):
        self.ids = [self.run(self.world.session(f"first {number}")) for number in range(count)]
        self.start(None)

    def run(self, coroutine):
        """Let something happen, and what is done behind it."""
        result = self.loop.run_until_complete(coroutine)
        if self.program is not None:
            self.loop.run_until_complete(self.program.settle())
            for conversation in self.workspace.open:
                self.know(conversation)
        return result

    def start(self, session_id):
        self.program = self.world.program(limit=LIMIT)
        self.workspace = self.program.workspace
        try:
            self.workspace.start(session_id)
        except StorageError:
            self.workspace.start()

    def word(self):
        self.number += 1
        return f"<{self.number}>"

    def an_id(self, number):
        known = [*self.ids, *(each.id for each in self.workspace.open)]
        return known[number % len(known)]

    def know(self, conversation):
        if conversation.published and conversation.id not in self.ids:
            self.ids.append(conversation.id)

    # --- what a user does

    async def step(self, name, number):
        with suppress(*REFUSED):
            await getattr(self, f"do_{name}")(number)

    async def do_look(self, number):
        await self.workspace.switcher.look_at(self.an_id(number))

    async def do_open(self, number):
        await self.workspace.open_session(self.an_id(number))

    async def do_begin(self, number):
        await self.workspace.begin()

    async def do_type(self, number):
        conversation = self.workspace.current
        self.take_back(conversation.prompt.text)
        word = self.word()
        conversation.prompt.edit(word)
        self.written[word] = conversation.id
        if conversation.opened is None and not conversation.access.read_only:
            await self.workspace.take(conversation)

    def take_back(self, text):
        """The user threw this away."""
        for word in [word for word in self.written if word in text]:
            if word not in self.saved:
                del self.written[word]

    async def do_send(self, number):
        conversation = self.workspace.current
        await self.workspace.take(conversation)
        if conversation.opened is None or conversation is not self.workspace.current:
            return
        text = conversation.prompt.text or self.word()
        conversation.prompt.edit("")
        self.written.setdefault(text, conversation.id)
        if conversation.activity.running:
            conversation.prompt.enqueue(text)
        else:
            await self.say(conversation, text)
            # As at the end of every turn.
            await self.workspace.switcher.leave(conversation)

    async def say(self, conversation, text):
        conversation.opened.add_message("user", text)
        words = [word for word in self.written if word in text]
        await self.workspace.pool.save(conversation)
        self.saved |= dict.fromkeys(words, conversation.id)

    async def do_save(self, number):
        await self.workspace.save_all()

    async def do_keep(self, number):
        await self.workspace.keep_drafts()

    async def do_rename(self, number):
        conversation = self.workspace.current
        name = f"name {number}"
        await self.workspace.take(conversation)
        if conversation.opened is not None:
            self.names[conversation.id] = name
        await self.workspace.change(conversation, lambda opened: opened.rename(name))

    @rule(name=STEPS, number=NUMBERS)
    def one_thing(self, name, number):
        self.run(self.step(name, number))

    @rule(steps=st.lists(st.tuples(STEPS, NUMBERS), min_size=2, max_size=4))
    def several_things_at_once(self, steps):
        async def together():
            await asyncio.gather(*[self.step(*each) for each in steps])

        self.run(together())

    # --- what goes on beside

    @rule()
    def an_answer_begins(self):
        if self.workspace.current.opened is not None:
            self.workspace.current.activity.begin_answer()

    @rule(number=NUMBERS, stopped=st.booleans())
    def an_answer_ends(self, number, stopped):
        running = [each for each in self.workspace.open if each.activity.running]
        if running:
            self.run(self.end_turn(running[number % len(running)], stopped=stopped))

    async def end_turn(self, conversation, *, stopped):
        conversation.activity.end_answer()
        with suppress(*REFUSED):
            if conversation.prompt.queued and not stopped:
                await self.say(conversation, conversation.prompt.next_queued())
            conversation.prompt.hold_queue()
        await self.workspace.switcher.leave(conversation)

    @rule(times=st.integers(1, 3))
    def the_disk_is_full(self, times):
        self.program.store.failures = [StorageFull("No room.") for _ in range(times)]

    @rule()
    def drafts_cannot_be_written(self):
        self.program.drafts.failures = [StorageFull("No room.")]

    @rule(number=NUMBERS)
    def another_program_opens_a_session(self, number):
        session_id = self.ids[number % len(self.ids)]
        with suppress(StorageError):
            self.others[session_id] = take_session(self.world.reader, session_id, self.world.clock)

    @precondition(lambda self: self.others)
    @rule(number=NUMBERS, says=st.booleans())
    def another_program_closes_a_session(self, number, says):
        session_id = [*self.others][number % len(self.others)]
        other = self.others.pop(session_id)
        if says:
            word = self.word()
            other.add_message("user", word)
            self.saved[word] = self.written[word] = session_id
        self.run(other.close())

    @rule(number=NUMBERS)
    def another_program_sets_a_session_aside(self, number):
        with suppress(StorageError):
            self.world.reader.archive(self.ids[number % len(self.ids)])

    @rule(number=NUMBERS)
    def another_program_makes_a_session(self, number):
        new = new_session(self.world.reader, SessionOrigin(SHOP, "/shop", "m"), self.world.clock)
        new.add_message("user", "from elsewhere")
        self.run(new.close())
        self.ids.append(new.id)

    # --- ends and beginnings

    def room_again(self):
        self.program.store.failures.clear()
        self.program.drafts.failures.clear()

    @rule(number=st.none() | NUMBERS)
    def the_program_is_left_and_started_again(self, number):
        self.leave()
        self.start(None if number is None else self.ids[number % len(self.ids)])

    def leave(self):
        self.room_again()
        for conversation in self.workspace.open:
            conversation.activity.end_answer()
        self.run(self.program.end())
        for conversation in (*self.workspace.open, self.workspace.current):
            assert not conversation.unsaved

    @rule(number=st.none() | NUMBERS, settled=st.booleans())
    def the_program_is_killed_and_started_again(self, number, settled):
        """Three seconds after the last key, or with a full disk since then."""
        self.program.drafts.failures.clear()
        if settled:
            self.room_again()
        self.run(self.workspace.keep_drafts())
        self.names = {}
        self.program.store.die()
        self.start(None if number is None else self.ids[number % len(self.ids)])

    # --- what must always be so

    @invariant()
    def what_was_said_to_be_saved_is_on_disk(self):
        by_session = {}
        for word, session_id in self.saved.items():
            by_session.setdefault(session_id, []).append(word)
        for session_id, words in by_session.items():
            found = "\n".join(self.world.texts(session_id))
            assert all(word in found for word in words)

    @invariant()
    def no_word_is_lost(self):
        if not self.ids:
            return
        found = "\n".join(self.all_texts())
        for word in self.written.keys() - self.saved.keys():
            assert word in found, word

    def all_texts(self):
        """Whatever stands in a prompt, waits, is pending, or is on disk."""
        for each in (*self.workspace.open, self.workspace.current):
            yield from (each.prompt.text, *each.prompt.queue.prompts)
            yield from (question.text for question in each.unsaved_questions)
        for path in (*self.world.drafts.files(), *self.world.root.glob("*/*.jsonl")):
            yield path.read_text()

    @invariant()
    def each_lease_is_held_by_one_open_session_and_no_other_is_held(self):
        if not self.ids:
            return
        held = [lease.session_id for lease in self.program.store.leases if lease.lock.held]
        assert sorted(held) == sorted(each.id for each in self.workspace.open)
        assert not set(held) & set(self.others)

    @invariant()
    def the_current_session_is_open_or_looked_at(self):
        if not self.ids:
            return
        current, opened = self.workspace.current, self.workspace.open
        assert (current in opened) == (current.opened is not None)
        assert sum(each.id == current.id for each in opened) == (current in opened)
        assert (not current.access.read_only) or current.opened is None
        assert self.workspace.switcher.find(current.id) is current
        assert not current.save.saving

    @invariant()
    def a_session_that_nothing_goes_on_in_is_only_open_on_screen(self):
        for each in self.workspace.open if self.ids else ():
            assert each is self.workspace.current or each.busy or each.save.failure

    def teardown(self):
        try:
            if self.ids:
                for other in self.others.values():
                    other.abandon()
                self.leave()
                self.no_word_is_lost()
                assert not [lease for lease in self.program.store.leases if lease.lock.held]
                assert not any(self.world.holder(each) for each in self.ids)
                for session_id, name in self.names.items():
                    assert self.world.reader.entry(session_id).name == name
        finally:
            self.world.end()
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            self.place.cleanup()


TestWorkspace = WorkspaceMachine.TestCase
TestWorkspace.settings = examples(0.25)
