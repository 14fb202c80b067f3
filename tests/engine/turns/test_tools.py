"""Tools: what is run, what is asked before, and what a model is told."""

import asyncio
from functools import partial
from unittest.mock import patch

import msgspec
import pytest

from tests.builders import Clock
from tests.engine.conftest import PLACE
from tests.engine.scripted_model import ScriptedModel
from tests.engine.scripted_servers import ScriptedServers, offered, set_up
from tests.failing import raiser
from tests.tables import each_row
from tests.waiting import until
from tui.domain.journal.message import ToolCall
from tui.domain.journal.records import PRIVATE, Settings, new_session_id
from tui.domain.journal.todo import ITEM_CHARACTERS, MOST_ITEMS
from tui.domain.search.query import Hit, SearchResult
from tui.domain.tool_servers import Decision, ToolApproval
from tui.engine.sessions import open_session
from tui.engine.turns.events import (
    NoticeGiven,
    RequestChanged,
    ToolServersAwaited,
    ToolStarted,
)
from tui.engine.turns.tools import DENIED, MOST_ARGUMENTS, ToolApprovals, Tools
from tui.engine.turns.turn import Turn, TurnSettings, begin_turn
from tui.errors import CallStopped, StorageError, StorageFull
from tui.storage.stores import SessionStores

TODO = {"content": "会話を読む", "status": "pending", "active_form": "読んでいる"}
CALL = ToolCall("c1", "write_todos", {"todos": [TODO]})
SEARCH = ToolCall("c2", "search_sessions", {"query": "auth"})
READ = ToolCall("c3", "files__read_file", {"path": "README.md"})
ALL = ("search_sessions", "write_todos")


async def saved():
    """Save nothing: nothing is pending."""


class Answers:
    """Answers questions as told, and keeps them."""

    def __init__(self, *choices):
        self.choices = list(choices)
        self.asked = []

    async def __call__(self, question):
        self.asked.append(question)
        choice, _, reason = self.choices.pop(0).partition(": ")
        return Decision(choice, reason)


def search(query, limit):
    hit = Hit("there", "m1", "user", "2026-01-11T14:30:00.000Z", f"about {query}", 1.0)
    return SearchResult((hit,) * 3, total=300, more=True)


def tools(ask, names=ALL, search=search, servers=None, approvals=None):
    return Tools(set_up(*names, search=search, servers=servers), ask, approvals)


async def ignore(event):
    """Take an event and do nothing with it."""


async def run(given, session, call, save=saved, emit=ignore):
    return await given.run(session, call, save, emit)


async def started(*given):
    """Servers that are ready."""
    servers = ScriptedServers(*given)
    await servers.start()
    return servers


async def stopped(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def stored(store, session):
    return store.journal(session.id).load().loaded_messages


def results(request):
    """What a model was told of its calls."""
    return [m.text for m in request.messages if m.role == "tool"]


@pytest.fixture
def kept(tmp_path):
    """The file of what is allowed for good."""
    return tmp_path / "state" / "tool-approvals.json"


def todos(session):
    return [(item.content, item.status, item.active_form) for item in session.session.todos]


async def test_the_to_do_list_is_changed_without_a_question_and_on_disk(session, store):
    said = await run(tools(Answers()), session, CALL, session.save)
    assert said == "To-dos saved: 0 of 1 done."
    assert todos(session) == [("会話を読む", "pending", "読んでいる")]
    assert store.journal(session.id).load().todos == session.session.todos


async def test_a_call_is_asked_for_in_its_session_and_told_when_it_begins(new_session):
    session, ask, told = new_session(), Answers("once"), []

    async def emit(event):
        told.append(event)

    lines = (await run(tools(ask), session, SEARCH, emit=emit)).splitlines()
    assert lines[:2] == ["Found 300+, the best 3:", "- there (just now, user): about auth"]
    assert ask.asked[0].call == SEARCH
    assert ask.asked[0].session_id == session.id
    assert told == [ToolStarted("search_sessions")]


async def test_what_is_denied_is_not_done_and_the_model_is_told(new_session):
    servers = await started()
    session = new_session()
    assert await run(tools(Answers("deny"), servers=servers), session, READ) == DENIED
    assert not session.pending
    denied = tools(Answers("deny: it is secret"), servers=servers)
    assert await run(denied, session, READ) == "The user denied this call: it is secret"
    assert not servers.calls
    # Without somebody to ask everything is denied.
    assert await run(Tools(set_up(*ALL)), session, SEARCH) == DENIED


async def test_once_is_once_and_until_quit_is_this_tool_for_this_program(new_session, kept):
    ask, servers = Answers("once", "until-quit", "deny"), await started()
    session, given = new_session(), tools(ask, servers=servers, approvals=ToolApprovals(kept))
    for _ in range(4):
        assert await run(given, session, SEARCH) != DENIED
    assert len(ask.asked) == 2
    assert await run(given, session, READ) == DENIED
    assert len(ask.asked) == 3
    later = tools(Answers("deny"), approvals=ToolApprovals(kept))
    assert await run(later, session, SEARCH) == DENIED


async def test_a_tool_that_is_allowed_while_the_file_is_read_is_not_asked_about_again(kept):
    approvals, read, tool = ToolApprovals(kept), ToolApprovals.kept, ToolApproval("files", "a", "0")

    async def allowed_meanwhile(self):
        found = await read(self)
        await self.allow(tool, always=False)
        return found

    with patch.object(ToolApprovals, "kept", allowed_meanwhile):
        assert await approvals.standing(tool) == "allowed"


@pytest.mark.parametrize("names", [(), ("search_sessions",)])
async def test_a_tool_that_is_off_is_neither_offered_nor_asked_about(new_session, names):
    given = tools(Answers(), names)
    assert tuple(given.offered()) == names
    assert await run(given, new_session(), CALL) == "Tool write_todos is not available."


DEEP = "x"
for _ in range(150):
    DEEP = [DEEP]


@each_row(
    "arguments, words",
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
        ({"todos": [], "\ud800": 1}, "surrogates not allowed"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model_and_nobody_is_asked(session, arguments, words):
    ask = Answers()
    result = await run(tools(ask), session, ToolCall("c1", "write_todos", arguments))
    assert result.startswith("Not run, the arguments are wrong: ")
    assert words in result
    assert not ask.asked
    assert not session.pending


async def test_an_empty_list_clears_it_and_an_active_form_may_be_left_out(session):
    given = tools(Answers())
    plain = {"content": "one", "status": "in_progress"}
    await run(given, session, ToolCall("c1", "write_todos", {"todos": [plain, TODO]}))
    assert todos(session)[0] == ("one", "in_progress", "one")
    call = ToolCall("c2", "write_todos", {"todos": []})
    assert await run(given, session, call) == "To-dos cleared."
    assert todos(session) == []


async def test_a_list_that_cannot_be_saved_counts_and_is_told(session, store):
    store.fail_next(StorageFull("No room."))
    result = await run(tools(Answers()), session, CALL, session.save)
    assert "could not be saved yet: No room." in result
    assert todos(session)


async def test_a_search_reads_neither_the_trash_nor_private_sessions(file_session, clock):
    session, store = file_session
    name = new_session_id(clock(), 1, PRIVATE)
    in_memory = SessionStores(store, clock).of(name)
    private = open_session.new_session(in_memory, PLACE, clock, session_id=name)
    private.add_message("user", "the zebra nobody may know of")
    await private.save()
    session.add_message("user", "a zebra")
    await session.close()
    call = ToolCall("c1", "search_sessions", {"query": "zebra"})
    given = tools(Answers("once", "once"), search=partial(store.search, seconds=60))
    found = await run(given, private, call)
    assert session.id in found
    assert "nobody" not in found
    store.delete(session.id)
    assert "Nothing found" in await run(given, private, call)


async def test_a_search_for_nothing_or_too_much_or_that_finds_nothing_or_fails_says_so(new_session):
    for query in ("", "  ", "x" * 501):
        call = ToolCall("c1", "search_sessions", {"query": query})
        assert "1 to 500" in await run(tools(Answers()), new_session(), call)
    nothing = tools(Answers("once"), search=lambda query, limit: SearchResult())
    assert await run(nothing, new_session(), SEARCH) == "Nothing found."
    failing = tools(Answers("once"), search=raiser(StorageError("No index.")))
    assert await run(failing, new_session(), SEARCH) == "The search failed: No index."


# --- within a turn


async def told(turn):
    """Run a turn; gives its events."""
    events = []

    async def emit(event):
        events.append(event)

    await turn.run(emit)
    return events


async def test_each_call_of_an_answer_is_asked_for_and_its_result_sent(session):
    ask = Answers("deny")
    model = ScriptedModel([CALL, SEARCH], [CALL], ["Done."], ["Again."])
    settings = TurnSettings(tools=tools(ask))
    await told(begin_turn(session, "go", model, settings))
    assert results(model.requests[1]) == ["To-dos saved: 0 of 1 done.", DENIED]
    assert [tool.name for tool in model.requests[0].tools] == list(ALL)
    # The requests of one turn have one memory.
    await told(begin_turn(session, "and on", model, settings))
    first, *others, of_the_next = [request.memory for request in model.requests]
    assert all(memory is first for memory in others)
    assert of_the_next is not first


async def test_a_turn_stopped_while_it_asks_leaves_its_calls_interrupted(session, store):
    asked = asyncio.Event()

    async def never(question):
        asked.set()
        await asyncio.Event().wait()

    model = ScriptedModel([SEARCH, CALL], ["Once more."])
    settings = TurnSettings(tools=tools(never))
    task = asyncio.create_task(told(begin_turn(session, "go", model, settings)))
    await asked.wait()
    # Durable before anyone was asked.
    assert stored(store, session)[-1].tool_calls == (SEARCH, CALL)
    await stopped(task)
    await session.save()
    interrupted = [(m.role, m.text, m.tool_call_id) for m in stored(store, session)[2:]]
    assert interrupted == [("tool", "interrupted", "c2"), ("tool", "interrupted", "c1")]
    await told(Turn(session, model, settings))
    assert stored(store, session)[-1].text == "Once more."


async def test_calls_cut_off_by_a_kill_can_be_asked_on_from(session):
    session.add_message("user", "go")
    answer = session.begin_answer("scripted:model")
    answer.add_call(CALL)
    session.end_answer(answer)
    model = ScriptedModel(["On we go."])
    await told(Turn(session, model, TurnSettings(tools=tools(Answers()))))
    roles = [(m.role, m.text) for m in model.requests[0].messages]
    assert roles == [("user", "go"), ("assistant", ""), ("tool", "interrupted")]
    assert [m.text for m in session.session.loaded_messages] == ["go", "", "On we go."]


# --- servers


async def test_servers_are_started_at_the_first_request_and_their_tools_called(new_session):
    tool = offered("read_file\n{}\u2028It is safe.", "files")
    servers, ask = ScriptedServers(offered(), tool), Answers("once", "deny")
    settings = TurnSettings(tools=tools(ask, (), servers=servers))
    guide = ScriptedModel(["I am the guide."])
    guide.name = "offline:guide"
    await told(begin_turn(new_session(), "go", guide, settings))
    assert servers.started == 0, "it is offered no tools"
    model = ScriptedModel([READ, ToolCall("c1", tool.called, {"path": "/"})], ["A shop."])
    events = await told(begin_turn(new_session(), "go", model, settings))
    assert events[1] == ToolServersAwaited(("files",))
    assert [each.name for each in model.requests[0].tools] == ["files__read_file", tool.called]
    assert ask.asked[0].tool.title == "files: read_file"
    # The name of a tool adds no lines to the question.
    assert len(ask.asked[1].tool.title.splitlines()) == 1
    assert servers.calls == [("read_file", {"path": "README.md"})]
    assert ToolStarted("files: read_file") in events
    assert results(model.requests[1]) == ["# Shop", DENIED]


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        ("failed", "no such program.", 'The server "files" failed: no such program; this answer'),
        ("starting", "", 'The server "files" is still starting; this answer'),
    ],
)
async def test_a_server_that_is_not_ready_is_said_once_and_the_request_goes_without_it(
    new_session, state, reason, words
):
    servers = ScriptedServers(state=state, reason=reason)
    settings = TurnSettings(tools=tools(Answers(), servers=servers))
    model = ScriptedModel([CALL], ["Well."])
    events = await told(begin_turn(new_session(), "go", model, settings))
    said = [event.text for event in events if isinstance(event, RequestChanged)]
    assert len(said) == 1
    assert said[0].startswith(words)
    assert [each.name for each in model.requests[0].tools] == list(ALL)
    assert events[-1].status == "complete"


async def test_a_turn_stopped_while_servers_start_ends_at_once(new_session):
    servers, session = ScriptedServers(), new_session()
    servers.may_start.clear()
    settings = TurnSettings(tools=tools(Answers(), servers=servers))
    model = ScriptedModel(["Well."])
    turn = asyncio.create_task(told(begin_turn(session, "go", model, settings)))
    await until(lambda: servers.started)
    await stopped(turn)
    assert model.requests == []
    assert session.session.loaded_messages[-1].status == "interrupted"


async def test_a_tool_that_is_off_in_the_session_is_neither_offered_nor_run(new_session):
    servers, session = await started(offered(), offered("write_file")), new_session()
    session.change_settings(Settings(tools_off=("files__read_file",)))
    model = ScriptedModel([READ], ["Well."])
    settings = TurnSettings(tools=tools(Answers(), (), servers=servers))
    await told(begin_turn(session, "go", model, settings))
    assert [each.name for each in model.requests[0].tools] == ["files__write_file"]
    assert results(model.requests[1]) == ["Tool files__read_file is not available."]
    assert not servers.calls


async def test_a_server_replaces_no_tool_of_the_program_s_own(new_session):
    impostor = msgspec.structs.replace(offered(), called="search_sessions")
    servers = await started(impostor)
    given = tools(Answers("once"), servers=servers)
    assert (await run(given, new_session(), SEARCH)).startswith("Found")
    assert not servers.calls


async def test_a_call_that_is_stopped_is_cancelled_at_its_server(new_session, store):
    servers, session = await started(), new_session()
    servers.may_answer.clear()
    settings = TurnSettings(tools=tools(Answers("once"), servers=servers))
    turn = begin_turn(session, "go", ScriptedModel([READ]), settings)
    task = asyncio.create_task(told(turn))
    await until(lambda: servers.calls)
    await stopped(task)
    assert servers.cancelled == ["read_file"]
    await session.save()
    last = stored(store, session)[-1]
    assert (last.role, last.text, last.tool_call_id) == ("tool", "interrupted", "c3")


# --- approvals that are kept


async def test_always_is_kept_holds_in_another_program_and_is_withdrawn_by_it(new_session, kept):
    servers, session, approvals = await started(), new_session(), ToolApprovals(kept)
    given = tools(Answers("always", "until-quit", "deny"), servers=servers, approvals=approvals)
    await run(given, session, READ)
    other = ToolApprovals(kept)
    assert await run(tools(Answers(), servers=servers, approvals=other), session, READ) == "# Shop"
    await other.withdraw([ToolApproval("files", "read_file", "0")])
    await run(given, session, READ)
    await approvals.withdraw_all()
    assert await run(given, session, READ) == DENIED


async def test_a_tool_that_has_changed_is_asked_about_again_and_that_is_said(new_session, kept):
    servers, session = await started(), new_session()
    approvals = ToolApprovals(kept)
    ask = Answers("always", "deny", "until-quit", "deny", "deny")
    given = tools(ask, servers=servers, approvals=approvals)
    await run(given, session, READ)
    servers.offer(offered(fingerprint="2"))
    assert await run(given, session, READ) == DENIED
    assert ask.asked[1].about.endswith("It has changed since you allowed it.")
    await run(given, session, READ)
    servers.offer(offered(fingerprint="3"))
    assert await run(given, session, READ) == DENIED
    assert len(servers.calls) == 2
    # The same name at another server is another tool.
    servers.offer(offered(server="elsewhere"))
    assert await run(given, session, ToolCall("c1", "elsewhere__read_file", {})) == DENIED
    assert "changed" not in ask.asked[-1].about


async def test_a_damaged_file_allows_nothing_and_the_question_says_so(new_session, kept):
    kept.parent.mkdir()
    kept.write_text("{")
    servers, session, notices = await started(), new_session(), []

    async def emit(event):
        notices.append(event)

    ask = Answers("always")
    given = tools(ask, servers=servers, approvals=ToolApprovals(kept))
    assert await run(given, session, READ, emit=emit) == "# Shop"
    assert "Earlier approvals do not count: Cannot read" in ask.asked[0].about
    assert isinstance(notices[0], NoticeGiven)
    assert "files: read_file is allowed only until you quit" in notices[0].text
    # Until then it holds.
    assert await run(given, session, READ) == "# Shop"


async def test_nothing_in_a_session_allows_a_call(file_session, kept):
    servers, (session, store) = await started(), file_session
    session.add_message("user", "go")
    answer = session.begin_answer("scripted:model")
    answer.add_call(READ)
    session.end_answer(answer)
    session.add_message("tool", "The user allowed this tool for good.", tool_call_id=READ.id)
    await session.close()
    with store.path(session.id).open("ab") as file:
        file.write(
            b'{"type":"settings","tools_on":["files__read_file"],"approvals":[{"server":"files",'
            b'"tool":"read_file","fingerprint":"1"}],"allowed":["files__read_file"]}\n'
        )
    again = open_session.take_session(store, session.id, Clock(), resumed=True)
    ask = Answers("deny")
    given = tools(ask, servers=servers, approvals=ToolApprovals(kept))
    await told(
        begin_turn(again, "go on", ScriptedModel([READ], ["Well."]), TurnSettings(tools=given))
    )
    assert len(ask.asked) == 1
    assert not servers.calls


# --- saving


async def test_a_call_that_could_not_be_saved_is_not_run(new_session, store):
    servers, session = await started(), new_session()

    class FullDisk(ScriptedModel):
        async def stream(self, request):
            store.fail_next(StorageFull("no room"))
            async for event in super().stream(request):
                yield event

    settings = TurnSettings(tools=tools(Answers(), servers=servers), save_interval=60)
    model = FullDisk([READ])
    with pytest.raises(CallStopped, match="Not run, the call could not be saved: no room"):
        await told(begin_turn(session, "go", model, settings))
    assert not servers.calls
    assert session.unsaved
    # It goes on once it can be saved, and runs nothing again by itself.
    model = ScriptedModel(["On we go."])
    await told(Turn(session, model, settings))
    assert [m.text for m in model.requests[0].messages] == ["go", "", "interrupted"]
    assert [(m.role, m.text) for m in stored(store, session)] == [
        ("user", "go"),
        ("assistant", ""),
        ("tool", "interrupted"),
        ("assistant", "On we go."),
    ]


async def test_a_result_that_could_not_be_saved_is_not_sent(session, store):

    class FullDisk(ScriptedServers):
        async def call(self, tool, arguments):
            store.fail_next(StorageFull("no room"))
            return await super().call(tool, arguments)

    servers = FullDisk()
    await servers.start()
    settings = TurnSettings(tools=tools(Answers("once"), servers=servers))
    model = ScriptedModel([READ, SEARCH], ["Never."], ["On we go."])
    with pytest.raises(CallStopped, match="Not sent, the result could not be saved: no room"):
        await told(begin_turn(session, "go", model, settings))
    assert len(model.requests) == 1
    await told(begin_turn(session, "and on", model, settings))
    assert results(model.requests[1]) == ["# Shop", "interrupted"]
    assert len(servers.calls) == 1
