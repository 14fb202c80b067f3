"""Any order of questions, new versions, stops, kills and new starts, beside a model of it."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.domain.trees import Tree
from tests.engine.workspaces import World
from tui.domain.journal.message import Message
from tui.engine.sessions.versions import begin_again, begin_edit, fork_at, show_version


class Versions(RuleBasedStateMachine):
    """One session, which is held, left by a killed program, and opened again."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.loop = asyncio.new_event_loop()
        self.program = self.world.started()
        self.tree = Tree()
        self.roles = {}

    def teardown(self):
        self.world.end()
        self.loop.close()
        self.folder.cleanup()

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    @property
    def loaded(self):
        return self.program.current

    def said(self, message_id, role, after=None):
        self.tree.say(message_id, after)
        self.roles[message_id] = role

    def answer(self, after=None, *, pieces=False):
        opened = self.loaded.opened
        answer = opened.begin_answer("m")
        answer.receive("text")
        if pieces:
            opened.add_piece(answer)
            return answer.message_id
        opened.end_answer(answer)
        opened.note_state()
        self.said(answer.message_id, "assistant", after)
        return answer.message_id

    def ask(self, after=None):
        opened = self.loaded.opened
        self.said(opened.add_message("user", "question").id, "user", after)

    def save(self):
        self.run(self.program.workspace.pool.save(self.loaded))

    def of_role(self, data, role):
        return data.draw(st.sampled_from([e for e in self.tree.said if self.roles[e] == role]))

    def question_of(self, message_id):
        chain = self.tree.chain(message_id)
        return next(each for each in reversed(chain) if self.roles[each] == "user")

    @rule(saved=st.booleans())
    def turn(self, saved):
        self.run(self.program.workspace.take(self.loaded))
        self.ask()
        self.answer()
        if saved:
            self.save()

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data())
    def regenerate(self, data):
        message_id = self.of_role(data, "assistant")
        self.run(begin_again(self.program.workspace, self.loaded, message_id))
        self.answer(self.question_of(message_id))
        self.save()

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data())
    def edit(self, data):
        message_id = self.of_role(data, "user")
        self.run(begin_edit(self.program.workspace, self.loaded, message_id))
        self.ask(self.tree.follows[message_id])
        self.answer()
        self.save()

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data())
    def stop_before_anything_came(self, data):
        message_id = self.of_role(data, "assistant")
        self.run(begin_again(self.program.workspace, self.loaded, message_id))
        self.loaded.opened.begin_answer("m")
        self.loaded.opened.interrupt()

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data(), saved=st.booleans())
    def killed_within_a_version(self, data, saved):
        message_id = self.of_role(data, "assistant")
        self.run(begin_again(self.program.workspace, self.loaded, message_id))
        new = self.answer(pieces=True)
        if saved:
            self.save()
            self.said(new, "assistant", self.question_of(message_id))
        self._restart(killed=True)

    @precondition(lambda self: self.tree.said)
    @rule(killed=st.booleans())
    def start_anew(self, killed):
        self.save()
        self._restart(killed=killed)

    def _restart(self, *, killed):
        session_id = self.loaded.id
        if killed:
            self.program.store.die()
        else:
            self.run(self.program.end())
        self.program = self.world.started(session_id)

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data(), step=st.sampled_from([-1, 1]))
    def look(self, data, step):
        message_id = data.draw(st.sampled_from(self.tree.said))
        shown = self.run(show_version(self.program.workspace, self.loaded, message_id, step))
        group = self.tree.versions(message_id)
        place = group.index(message_id) + step
        assert shown == (group[place] if 0 <= place < len(group) else None)
        if shown is not None:
            ids = [each.id for each in self.loaded.shown if isinstance(each, Message)]
            assert ids[: ids.index(shown) + 1] == self.tree.chain(shown)
        self.loaded.pages.excerpt = None

    @precondition(lambda self: self.tree.said)
    @rule(data=st.data())
    def fork(self, data):
        message_id = data.draw(st.sampled_from(self.tree.said))
        fork = self.run(fork_at(self.program.workspace, self.loaded, message_id))
        copied = self.world.reader.journal(fork).load()
        assert [each.id for each in copied.all_messages] == self.tree.chain(message_id)

    @invariant()
    def everybody_sees_the_live_version(self):
        loaded = self.loaded
        shown = [each.id for each in loaded.entries if isinstance(each, Message)]
        assert shown == self.tree.live
        assert loaded.session.message_count == len(self.tree.live)
        told = {each: self.tree.versions(each) for each in self.tree.live}
        known = {each: group for each, group in loaded.versions.items() if each in told}
        assert known == {each: group for each, group in told.items() if len(group) > 1}
        if loaded.opened.published and not loaded.opened.unsaved:
            session = self.world.reader.journal(loaded.id).load()
            assert [each.id for each in session.loaded_messages] == self.tree.live
            assert [each.id for each in session.all_messages] == self.tree.said


TestVersions = Versions.TestCase
TestVersions.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
