"""Tools: what is run, what is asked before, and what a model is told."""

import asyncio
import json

import pytest

from tests.builders import Clock
from tests.engine.scripted_model import ScriptedModel
from tui.domain.journal.message import ToolCall
from tui.domain.journal.todo import ITEM_CHARACTERS, MOST_ITEMS
from tui.domain.search.query import Hit, SearchResult
from tui.engine.turns.built_in_tools import built_in_tools
from tui.engine.turns.tools import DENIED, MOST_ARGUMENTS, Tools
from tui.engine.turns.turn import TurnSettings, begin_turn, retry_turn
from tui.errors import StorageError, StorageFull

TODO = {"content": "会話を読む", "status": "pending", "active_form": "読んでいる"}
CALL = ToolCall("c1", "write_todos", {"todos": [TODO]})
ALL = ("write_todos", "search_sessions")


async def saved():
    """Save nothing: nothing is pending."""


class Answers:
    """Answers questions as told, and keeps them."""

    def __init__(self, *choices):
        self.choices = list(choices)
        self.asked = []

    async def __call__(self, question):
        self.asked.append(question)
        return self.choices.pop(0)


def search(query, limit):
    hit = Hit("there", "m1", "user", "2026-01-11T14:30:00.000Z", f"about {query}", 1.0)
    return SearchResult((hit,) * 3, total=300, more=True)


def tools(ask, names=ALL, search=search):
    return Tools(built_in_tools(names, search, Clock()), ask)


def todos(session):
    return [(item.content, item.status, item.active_form) for item in session.session.todos]


async def test_what_is_allowed_is_done_and_on_disk(new_session, store):
    session, ask = new_session(), Answers("once")
    assert await tools(ask).run(session, CALL, session.save) == "To-dos saved: 0 of 1 done."
    assert todos(session) == [("会話を読む", "pending", "読んでいる")]
    assert store.load(session.id).todos == session.session.todos
    assert ask.asked[0].call == CALL
    assert ask.asked[0].session_id == session.id


async def test_what_is_denied_is_not_done_and_the_model_is_told(new_session):
    session = new_session()
    assert await tools(Answers("deny")).run(session, CALL, session.save) == DENIED
    assert not session.pending


async def test_without_somebody_to_ask_everything_is_denied(new_session):
    given = Tools(built_in_tools(ALL, search, Clock()))
    assert await given.run(new_session(), CALL, saved) == DENIED


async def test_once_is_once_and_always_is_this_tool_for_good(new_session):
    ask = Answers("once", "always", "deny")
    session, given = new_session(), tools(ask)
    for _ in range(4):
        await given.run(session, CALL, session.save)
    assert len(ask.asked) == 2
    other = ToolCall("c2", "search_sessions", {"query": "x"})
    assert await given.run(session, other, session.save) == DENIED
    assert len(ask.asked) == 3


async def test_what_is_allowed_for_good_is_so_for_one_program_only(new_session):
    session, given = new_session(), tools(Answers("always"))
    await given.run(session, CALL, session.save)
    assert await given.asking(Answers("deny")).run(session, CALL, session.save) == DENIED


@pytest.mark.parametrize("names", [(), ("search_sessions",)])
async def test_a_tool_that_is_off_is_neither_offered_nor_asked_about(new_session, names):
    given = tools(Answers(), names)
    assert tuple(each.name for each in given.definitions) == names
    assert await given.run(new_session(), CALL, saved) == "Tool write_todos is not available."


DEEP = "x"
for _ in range(150):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{no json", "expected a JSON object"),
        ([TODO], "expected a JSON object"),
        (None, "expected a JSON object"),
        ({}, "todos"),
        ({"todos": TODO}, "Expected `array`"),
        ({"todos": [DEEP]}, "$.todos[0]"),
        ({"todos": [{**TODO, "status": "done"}]}, "$.todos[0].status"),
        ({"todos": [{**TODO, "content": "\u200b"}]}, "content"),
        ({"todos": [{**TODO, "content": "x" * (ITEM_CHARACTERS + 1)}]}, "500"),
        ({"todos": [{**TODO, "active_form": "x" * (ITEM_CHARACTERS + 1)}]}, "active_form"),
        ({"todos": [TODO] * (MOST_ITEMS + 1)}, "at most 100"),
        ({"todos": [], "more": "x" * MOST_ARGUMENTS}, "longer than"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model_and_nobody_is_asked(
    new_session, arguments, words
):
    session, ask = new_session(), Answers()
    result = await tools(ask).run(session, ToolCall("c1", "write_todos", arguments), session.save)
    assert result.startswith("Not run, the arguments are wrong: ")
    assert words in result
    assert not ask.asked
    assert not session.pending


async def test_names_that_are_no_utf_8_end_nothing(new_session):
    call = ToolCall("c1", "write_todos", {"todos": [], "\ud800": 1})
    assert await tools(Answers("once")).run(new_session(), call, saved)


async def test_an_empty_list_clears_it_and_an_active_form_may_be_left_out(new_session):
    session, given = new_session(), tools(Answers("always"))
    plain = {"content": "one", "status": "in_progress"}
    await given.run(session, ToolCall("c1", "write_todos", {"todos": [plain, TODO]}), session.save)
    assert todos(session)[0] == ("one", "in_progress", "one")
    call = ToolCall("c2", "write_todos", {"todos": []})
    assert await given.run(session, call, session.save) == "To-dos cleared."
    assert todos(session) == []


async def test_a_list_that_cannot_be_saved_counts_and_is_told(new_session, monkeypatch):
    session = new_session()

    async def fail():
        raise StorageFull("No room.")

    monkeypatch.setattr(session, "save", fail)
    result = await tools(Answers("once")).run(session, CALL, session.save)
    assert "could not be saved yet: No room." in result
    assert todos(session)


async def test_a_search_gives_ids_ages_and_snippets(new_session):
    call = ToolCall("c1", "search_sessions", {"query": "auth"})
    lines = (await tools(Answers("once")).run(new_session(), call, saved)).splitlines()
    assert lines[0] == "Found 300+, the best 3:"
    assert lines[1] == "- there (just now, user): about auth"


@pytest.mark.parametrize("query", ["", "  ", "x" * 501])
async def test_a_search_for_nothing_or_too_much_is_not_run(new_session, query):
    call = ToolCall("c1", "search_sessions", {"query": query})
    assert "1 to 500" in await tools(Answers()).run(new_session(), call, saved)


async def test_a_search_that_finds_nothing_or_fails_says_so(new_session):
    def fails(query, limit):
        raise StorageError("No index.")

    call = ToolCall("c1", "search_sessions", {"query": "auth"})
    nothing = tools(Answers("once"), search=lambda query, limit: SearchResult())
    assert await nothing.run(new_session(), call, saved) == "Nothing found."
    failing = tools(Answers("once"), search=fails)
    assert await failing.run(new_session(), call, saved) == "The search failed: No index."


def test_what_is_shown_of_a_call_is_all_of_it_and_harmless():
    from tui.domain.views.approval import Question

    arguments = {"a": "red\x1b[31m", "b": "\u202e会話", "c": {"d": [1, None]}}
    shown = Question("s", ToolCall("c", "t", arguments), "does").arguments
    assert "会話" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert json.loads(shown.replace("<U+202E>", "\u202e")) == arguments


# --- within a turn


async def ignore(event):
    """Take an event and do nothing with it."""


async def played(turn):
    await turn.run(ignore)


async def test_each_call_of_an_answer_is_asked_for_and_its_result_sent(new_session):
    session, ask = new_session(), Answers("once", "deny")
    second = ToolCall("c2", "search_sessions", {"query": "x"})
    model = ScriptedModel([CALL, second], ["Done."])
    settings = TurnSettings(tools=tools(ask))
    await played(begin_turn(session, "go", model, settings))
    sent = [m.text for m in model.requests[1].messages if m.role == "tool"]
    assert sent == ["To-dos saved: 0 of 1 done.", DENIED]
    assert [tool.name for tool in model.requests[0].tools] == list(ALL)


async def test_the_requests_of_one_turn_have_one_memory(new_session):
    session, model = new_session(), ScriptedModel([CALL], [CALL], ["Done."], ["Again."])
    settings = TurnSettings(tools=tools(Answers("once", "once")))
    await played(begin_turn(session, "go", model, settings))
    await played(begin_turn(session, "and on", model, settings))
    first, *others, of_the_next = [request.memory for request in model.requests]
    assert all(memory is first for memory in others)
    assert of_the_next is not first


async def test_a_turn_stopped_while_it_asks_leaves_its_calls_interrupted(new_session, store):
    session, asked = new_session(), asyncio.Event()

    async def never(question):
        asked.set()
        await asyncio.Event().wait()

    second = ToolCall("c2", "search_sessions", {"query": "x"})
    model = ScriptedModel([CALL, second], ["Once more."])
    settings = TurnSettings(tools=tools(never))
    task = asyncio.create_task(played(begin_turn(session, "go", model, settings)))
    await asked.wait()
    # Durable before anyone was asked.
    assert store.load(session.id).loaded_messages[-1].tool_calls == (CALL, second)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await session.save()
    told = [(m.role, m.text, m.tool_call_id) for m in store.load(session.id).loaded_messages[2:]]
    assert told == [("tool", "interrupted", "c1"), ("tool", "interrupted", "c2")]
    await played(retry_turn(session, model, settings))
    assert store.load(session.id).loaded_messages[-1].text == "Once more."


async def test_calls_cut_off_by_a_kill_can_be_asked_on_from(new_session):
    session = new_session()
    session.add_message("user", "go")
    answer = session.begin_answer("scripted:model")
    answer.add_call(CALL)
    session.end_answer(answer)
    model = ScriptedModel(["On we go."])
    await played(retry_turn(session, model, TurnSettings(tools=tools(Answers()))))
    roles = [(m.role, m.text) for m in model.requests[0].messages]
    assert roles == [("user", "go"), ("assistant", ""), ("tool", "interrupted")]
    assert [m.text for m in session.session.loaded_messages] == ["go", "", "On we go."]
