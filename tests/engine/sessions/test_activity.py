"""How far an answer has come."""

from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import Question, ToolApproval
from tui.domain.views.shown_session import ActivityView
from tui.engine.sessions.loaded_session import Activity


def answering():
    activity = Activity()
    activity.begin_answer("qwen3", at=10)
    return activity


def test_nothing_is_shown_while_nothing_is_in_progress():
    activity = answering()
    activity.end_answer()
    activity.receive("answering", "late", at=11)
    assert activity.view(now=12) is None


def test_waiting_and_answering_count_from_when_the_prompt_was_sent():
    activity = answering()
    activity.enter("waiting", at=11)
    assert activity.view(now=14) == ActivityView("waiting", "qwen3", 4)
    activity.receive("answering", "four letters", at=15)
    assert activity.view(now=16) == ActivityView("answering", "qwen3", 6, tokens=4)


def test_thinking_counts_its_own_seconds():
    activity = answering()
    activity.receive("thinking", "hm", at=12)
    activity.receive("thinking", "so", at=13)
    view = activity.view(now=16)
    assert (view.phase, view.seconds) == ("thinking", 4)


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
