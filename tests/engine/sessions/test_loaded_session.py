import pytest

from tests.builders import header, user
from tui.domain.journal.fold import Fold
from tui.domain.journal.message import ToolCall
from tui.domain.journal.session import Tail
from tui.domain.tool_servers import Question, ToolApproval
from tui.domain.views.notice import Notice
from tui.domain.views.session_rows import Mark
from tui.domain.views.shown_session import ActivityView, PromptQueue, SaveState
from tui.engine.sessions.loaded_session import Activity, LoadedSession


def answering():
    activity = Activity()
    activity.begin_answer("qwen3", at=10)
    return activity


def test_waiting_and_answering_count_from_when_the_prompt_was_sent_and_thinking_its_own_seconds():
    activity = answering()
    activity.enter("waiting", at=11)
    assert activity.view(now=14) == ActivityView("waiting", "qwen3", 4)
    activity.receive("thinking", "hm", at=12)
    activity.receive("thinking", "so", at=13)
    assert (activity.view(now=16).phase, activity.view(now=16).seconds) == ("thinking", 4)
    activity = answering()
    activity.receive("answering", "four letters", at=15)
    assert activity.view(now=16) == ActivityView("answering", "qwen3", 6, tokens=4)
    activity.end_answer()
    activity.receive("answering", "late", at=17)
    assert activity.view(now=18) is None


def test_an_attempt_is_shown_until_something_arrives():
    activity = answering()
    activity.repeat(2, "status 500", resumes_at=13, at=11)
    view = activity.view(now=12)
    assert (view.phase, view.attempt, view.reason, view.pause) == ("retrying", 2, "status 500", 1)
    activity.repeat(3, "no connection", resumes_at=15, at=13)
    view = activity.view(now=20)
    assert (view.attempt, view.reason, view.pause) == (3, "no connection", 0)
    activity.receive("answering", "At last.", at=21)
    assert activity.view(now=21).phase == "answering"


def test_a_tool_is_named_while_it_runs():
    activity = answering()
    activity.enter("tool", at=12, name="write_todos")
    assert activity.view(now=13) == ActivityView("tool", "write_todos", 1)
    activity.enter("waiting", at=14)
    assert activity.view(now=15).name == "qwen3"


def test_a_question_goes_before_everything_else_and_a_summary_comes_last():
    activity = answering()
    activity.begin_summary(at=11)
    tool = ToolApproval("", "write_todos", "1")
    question = Question("session-1", ToolCall("c1", "write_todos", {}), "It changes them.", tool)
    activity.asking = question
    assert activity.view(now=12).phase == "approval"
    activity.asking = None
    assert activity.view(now=12).phase == "saving"
    activity.end_answer()
    assert activity.view(now=12) == ActivityView("summarising", "", 1)


@pytest.fixture
def new(new_session):
    return LoadedSession(new_session())


def looked_at(*messages, cursor=None):
    fold = Fold(header())
    for message in messages:
        fold.add(message)
    return LoadedSession(None, Tail(fold.session(), cursor))


def shown(conversation):
    return [getattr(entry, "text", None) for entry in conversation.view().entries]


def test_a_conversation_is_open_or_looked_at():
    with pytest.raises(ValueError, match="neither open nor looked at"):
        LoadedSession(None)


async def test_a_new_session_is_empty_until_something_is_said_or_decided(new):
    assert new.empty
    assert not new.published
    row = new.row("2026-01-11T14:30:00.000Z", active=False)
    assert row.last_used_at == "2026-01-11T14:30:00.000Z"
    assert row.updated_at == new.session.last_record_at
    assert row.message_count == 0
    new.opened.add_message("user", "hello")
    assert not new.empty
    await new.opened.save()
    assert new.published
    assert not new.empty
    # A draft alone keeps only a session open that would be gone.
    new.prompt.edit("half")
    assert not new.busy


def test_a_session_that_is_looked_at_is_neither_empty_nor_busy():
    conversation = looked_at(user("m1"))
    assert not conversation.empty
    assert not conversation.busy
    assert conversation.published
    assert not conversation.unsaved_questions


@pytest.mark.parametrize(
    ("change", "busy"),
    [
        (lambda c: None, False),
        (lambda c: c.activity.begin_answer(), True),
        (lambda c: c.prompt.enqueue("next"), True),
        (lambda c: c.opened.add_message("user", "x"), True),
        (lambda c: c.prompt.edit("half"), True),
        (lambda c: c.prompt.edit(" \n"), False),
    ],
)
def test_a_session_stays_open_while_something_goes_on_in_it(new, change, busy):
    change(new)
    assert new.busy is busy


def test_the_mark_is_what_matters_most(new):
    new.end_saving("disk full")
    assert new.mark is Mark.NONE, "nothing is unsaved"
    new.end_saving()
    new.access.read_only = "held elsewhere"
    assert new.mark is Mark.READ_ONLY
    new.unread = True
    assert new.mark is Mark.UNREAD
    new.opened.add_message("user", "hello")
    assert new.mark is Mark.UNREAD
    new.end_saving("disk full")
    assert new.mark is Mark.UNSAVED
    new.activity.begin_answer()
    assert new.mark is Mark.RUNNING


# --- drafts


def test_a_draft_holds_what_waits_and_what_was_sent_and_is_not_saved(new):
    new.opened.add_message("user", "sent")
    new.prompt.enqueue("waits")
    new.prompt.edit("half")
    draft = new.draft()
    assert (draft.queued, draft.text) == (("sent", "waits"), "half")
    assert (draft.session_id, draft.scope) == (new.id, "project:/shop")


def test_held_prompts_wait_behind_those_that_are_sent_and_come_into_an_empty_text_only(new):
    prompt = new.prompt
    for each in ("one", "two"):
        prompt.enqueue(each)
    prompt.hold_queue()
    prompt.enqueue("three")
    assert prompt.queue == PromptQueue(("three",), ("one", "two"))
    prompt.edit("typed")
    assert not prompt.edit_next()
    prompt.edit("")
    assert prompt.edit_next()
    assert (prompt.text, prompt.queue) == ("one", PromptQueue(("three",), ("two",)))
    prompt.release_queue()
    assert prompt.queued == ["three", "two"]
    prompt.edit("")
    assert not prompt.edit_next()


def test_another_reading_goes_on_with_what_is_not_in_its_prompt_yet():
    before, after = looked_at(), looked_at()
    before.prompt.edit("typed")
    after.prompt.edit("from disk")
    after.prompt.take_over(before.prompt)
    assert after.prompt.text == "from disk\n\ntyped"
    before.prompt.enqueue("waits")
    after.prompt.take_over(before.prompt)
    after.prompt.take_over(before.prompt)
    assert after.prompt.text == "from disk\n\ntyped"
    assert after.prompt.queue.held == ("waits",)


# --- names


@pytest.mark.parametrize("content", [b"garbage\n", b"garbage", b""])
async def test_a_session_of_which_nothing_can_be_read_is_called_unreadable(world, content):
    there = await world.session("What is two?")
    world.reader.path(there).write_bytes(content)
    current = world.started(there).workspace.current
    assert (current.label(), current.status().label) == ("(unreadable)", "(unreadable)")


def test_a_session_is_called_by_its_name_else_by_its_first_words_else_empty(new):
    assert new.label() == "(empty)"
    new.prompt.edit("not said yet")
    assert new.label() == "(empty)"
    new.opened.add_message("user", "  ")
    new.opened.add_message("user", "What is two?")
    assert new.label() == "What is two?"
    listed = LoadedSession(new.opened, listed_as="As in the list")
    assert listed.label() == "As in the list"
    new.opened.rename("Sums")
    assert new.label() == "Sums"


async def test_the_row_of_an_open_session_says_what_the_list_would(world):
    there, program = await world.opened("What is two?", "It is 2.")
    row = program.current.row("2026-01-11T14:30:00.000Z", active=True)
    entry = world.reader.entry(there)
    assert row.status == "open"
    for known in ("id", "name", "label", "scope", "ordinal", "model", "message_count"):
        assert getattr(row, known) == getattr(entry, known), known
    assert row.active


# --- what is shown


def test_a_notice_goes_to_the_outbox_and_not_into_the_conversation():
    outbox = []
    one, other = (LoadedSession(None, looked_at().tail, outbox=outbox) for _ in range(2))
    one.say(Notice("first"))
    other.say(Notice("second", "error"))
    assert outbox == [(one, Notice("first")), (other, Notice("second", "error"))]
    assert one.notices == (Notice("first"),)
    assert shown(one) == []


def test_pages_stand_before_what_is_at_hand():
    conversation = looked_at(user("m2", "two"), cursor="there")
    assert conversation.view().earlier
    conversation.pages.earlier, conversation.pages.cursor = (user("m1", "one"),), None
    assert shown(conversation) == ["one", "two"]
    assert not conversation.view().earlier


def test_the_view_has_what_is_said_what_arrives_and_what_stands_in_the_prompt(new):
    assert new.view().arriving is None
    new.opened.add_message("user", "hello")
    arriving = new.opened.begin_answer("scripted:model")
    arriving.receive("half")
    new.prompt.edit("typed")
    new.prompt.enqueue("waits")
    view = new.view()
    assert (view.arriving, view.prompt_count) == (arriving.message_id, 1)
    assert shown(new) == ["hello", "half"]
    assert (view.session_id, view.draft, view.queue.prompts) == (new.id, "typed", ("waits",))


def test_the_status_names_the_model_that_answers_next(new):
    assert new.status().model == "scripted:model"

    class Other:
        name, known_window = "other:model", None

    new.model = Other()
    new.prompt.enqueue("waits")
    new.activity.begin_answer()
    status = new.status()
    assert (status.model, status.queued, status.running) == ("other:model", 1, True)
    assert (status.session_id, status.scope, status.label) == (new.id, "project:/shop", "(empty)")
    assert not status.read_only


def test_a_failed_save_is_shown_until_one_succeeds(new, clock):
    at = clock()
    new.save = SaveState(saved_at=at, saving=True)
    assert str(new.save) == "saving"
    new.end_saving("disk full")
    assert str(new.save) == "NOT SAVED: disk full"
    new.end_saving()
    assert str(new.save) == f"saved {at.astimezone():%H:%M}"
