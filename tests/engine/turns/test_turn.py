"""One turn: a prompt, and all that answers it."""

import asyncio
import threading

import pytest

from tests.attached import PNG, numbered, picture, showing
from tests.builders import START, kept_texts
from tests.engine.scripted_model import ScriptedModel
from tests.failing import raiser
from tests.tables import each_row
from tests.waiting import until
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.domain.journal.records import Partial, Settings
from tui.domain.models import Level, ModelParameters
from tui.engine.model_requests import project
from tui.engine.sessions import answer as answers
from tui.engine.sessions import open_session
from tui.engine.turns import turn as turn_module
from tui.engine.turns.events import (
    AnswerRestarted,
    AnswerStarted,
    AttemptRepeated,
    MessageSaved,
    MessagesLeftOut,
    NoticeGiven,
    RequestChanged,
    SaveFailed,
    TextAdded,
    ThinkingAdded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    UsageCounted,
)
from tui.engine.turns.turn import ROUNDS, Turn, TurnSettings, begin_turn
from tui.errors import ModelRefused, SessionNotFound, StorageError, StorageFull, UsageError
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    RequestAdapted,
    TextTakenBack,
    ThinkingReceived,
)
from tui.storage.journal import Journal

SETTINGS = TurnSettings(
    configured=lambda _: (Level("config.toml", "Be brief.", temperature=0.7),), save_interval=0.001
)
CALL = ToolCall("c1", "read_file", {"path": "auth.py"})


async def told(turn):
    """Run a turn and give its events."""
    events = []

    async def keep(event):
        events.append(event)

    await turn.run(keep)
    return events


async def played(session, model, prompt="hello", settings=SETTINGS):
    return await told(begin_turn(session, prompt, model, settings))


async def again(session, model):
    """Ask again where the last answer failed."""
    return await told(Turn(session, model, SETTINGS))


def texts(session):
    return [(m.role, m.text, m.status) for m in session.session.loaded_messages]


def last_of(store, session):
    """The last live message that is in the store."""
    return store.journal(session.id).load().loaded_messages[-1]


def kept(store, session):
    return [(m.text, m.status) for m in store.journal(session.id).load().loaded_messages]


async def stopped(task):
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_model_that_was_loaded_with_less_is_told_of_after_the_answer(new_session):
    class Shrinking(ScriptedModel):
        async def window(self):
            self.context_window = 100 if self.requests else 100_000
            return self.context_window

    session = new_session()
    await played(session, ScriptedModel(["Yes."]), "word " * 400)
    events = await played(session, Shrinking(["Fine."]))
    assert MessagesLeftOut() in events
    assert MessagesLeftOut() not in await played(new_session(), Shrinking(["Fine."]))


async def test_the_guide_is_sent_its_own_turns_and_a_model_is_not(new_session):
    session, model = new_session(), ScriptedModel(["Yes."])
    guide = ScriptedModel(["I am the guide."], ["F1"])
    guide.name = "offline:guide"
    for answering in (guide, guide, model):
        await played(session, answering)
    said = [
        [each.text for each in asked.messages] for asked in (guide.requests[1], *model.requests)
    ]
    assert said == [["hello", "I am the guide.", "hello"], ["hello"]]


async def test_an_answer_that_is_there_stays_while_its_window_is_asked_for(new_session):
    class Asked(ScriptedModel):
        def __init__(self, ask):
            super().__init__(["Fine."])
            self.ask = ask

        async def window(self):
            if self.requests:
                await self.ask()
            return self.context_window

    async def fail():
        raise ModelRefused("no")

    async def stop():
        assert not session.pending
        raise asyncio.CancelledError

    session = new_session()
    await played(session, Asked(fail))
    with pytest.raises(asyncio.CancelledError):
        await played(session, Asked(stop))
    assert [each for each in texts(session) if each[0] == "assistant"] == [
        ("assistant", "Fine.", None),
        ("assistant", "Fine.", None),
    ]


async def test_a_request_is_made_beside_the_event_loop(new_session, monkeypatch):
    threads = []

    def noting(*arguments):
        threads.append(threading.current_thread())
        return project(*arguments)

    monkeypatch.setattr(turn_module, "project", noting)
    await played(new_session(), ScriptedModel(["Yes."]))
    assert threads
    assert threading.main_thread() not in threads


async def test_a_request_has_the_bytes_of_its_pictures_and_they_are_not_kept(session, store):
    model = ScriptedModel(["Yes."], ["Yes."])
    turn = begin_turn(session, showing("See", picture()), model, SETTINGS)
    events = await told(turn)
    assert model.requests[0].images == {}
    said = "[image: photo.png, 70 bytes] is missing in the store: only its name is sent."
    assert RequestChanged(said) in events
    store.add_attachment(session.id, PNG)
    turn = begin_turn(session, showing("See", picture()), model, SETTINGS)
    await told(turn)
    assert model.requests[1].images == {picture().sha256: PNG}
    request, _ = turn._sent
    assert request.images == {}


async def test_of_many_pictures_the_newest_are_sent_and_none_to_a_model_that_sees_nothing(
    session, store
):
    model = ScriptedModel(["Yes."])
    for number in range(21):
        store.add_attachment(session.id, str(number).encode())
    events = await played(session, model, showing("See", *map(numbered, range(21))))
    assert len(model.requests[0].images) == 20
    said = "The newest pictures are sent; of older ones, only the names."
    assert events.count(RequestChanged(said)) == 1
    blind = ScriptedModel(["Yes."])
    blind.sees_images = False
    events = await played(session, blind, showing("See", numbered(1)))
    assert blind.requests[0].images == {}
    assert blind.requests[0].messages[-1].content == f"See\n{numbered(1).label}"
    said = "scripted:model sees no pictures: only their names are sent."
    assert events.count(RequestChanged(said)) == 1


async def test_messages_that_do_not_fit_are_told_once_in_a_turn(session):
    model = ScriptedModel([CALL], ["Done."], ["Fine."], context_window=400)
    long = "word " * 400
    assert MessagesLeftOut() not in await played(session, ScriptedModel(["Yes."]), long)
    events = await played(session, model)
    assert events.count(MessagesLeftOut()) == 1
    assert events.index(MessagesLeftOut()) > events.index(
        MessageSaved(session.id, events[0].message)
    )
    assert all(long not in [each.text for each in r.messages] for r in model.requests)


async def test_thinking_and_attempts_are_events_and_never_stored(session, store):
    failed = AttemptFailed(1, "status 500", 0.5)
    model = ScriptedModel([failed, ThinkingReceived("They greet."), "Good day."])
    events = await played(session, model)
    answer = session.session.loaded_messages[-1].id
    assert AttemptRepeated(answer, 2, "status 500", 0.5) in events
    assert ThinkingAdded(answer, "They greet.") in events
    assert kept_texts(store, session.id) == ["hello", "Good day."]


async def test_text_that_was_thinking_is_taken_back_from_the_session(session, store):
    model = ScriptedModel(["Hm.", TextTakenBack(), ThinkingReceived(" Well."), "Yes."])
    events = await told(begin_turn(session, "hello", model, SETTINGS))
    answer = session.session.loaded_messages[-1].id
    assert [each for each in events if getattr(each, "message_id", "") == answer][1:-1] == [
        TextAdded(answer, "Hm."),
        AnswerRestarted(answer),
        ThinkingAdded(answer, "Hm."),
        ThinkingAdded(answer, " Well."),
        TextAdded(answer, "Yes."),
    ]
    assert last_of(store, session).text == "Yes."
    # A crash leaves the answer only.
    answer = session.begin_answer("scripted:model")
    for text in ("Hm, that is long.", "So"):
        answer.take_back()
        answer.receive(text)
        session.add_piece(answer)
    await session.save()
    assert last_of(store, session).text == "So"


async def test_a_turn_tells_what_happens_in_order_and_of_what_is_on_disk(session, store):
    class Watching(ScriptedModel):
        async def stream(self, request):
            assert kept_texts(store, session.id) == ["hello"], "before the model is asked"
            async for event in super().stream(request):
                yield event

    events = []

    async def look(event):
        events.append(event)
        if isinstance(event, MessageSaved):
            assert event.message == last_of(store, session)

    model = Watching(["hel", "lo", TokenUsage(1, 2)])
    await begin_turn(session, "hello", model, SETTINGS).run(look)
    assert [type(event) for event in events] == [
        *(MessageSaved, AnswerStarted, TextAdded, TextAdded, UsageCounted, MessageSaved, TurnEnded),
    ]
    assert events[0].message.text == "hello"
    answer = events[5].message
    assert events[4] == UsageCounted(answer.id, TokenUsage(1, 2))
    assert (answer.usage, answer.text, answer.model) == (TokenUsage(1, 2), "hello", model.name)
    assert events[-1].status == "complete"
    assert store.entry(session.id).message_count == 2
    assert session.pending == ()


async def test_each_answer_keeps_the_last_counts_of_its_own_request_also_if_it_fails_or_is_cut(
    session, store
):
    call = ToolCall("c1", "read_file", {})
    first = [TokenUsage(10, 1), call, TokenUsage(10, 5, cached_tokens=8)]
    await played(session, ScriptedModel(first, ["done", TokenUsage(30, 2)]))
    usages = [message.usage for message in store.journal(session.id).load().loaded_messages]
    assert usages == [None, TokenUsage(10, 5, 8), None, TokenUsage(30, 2)]
    ends = (ModelRefused("No more."), "failed"), (AnswerEnded("length"), "truncated")
    for end, status in ends:
        await played(session, ScriptedModel([TokenUsage(10, 1), "some", end]))
        last = last_of(store, session)
        assert (last.status, last.usage) == (status, TokenUsage(10, 1))


async def test_each_piece_is_in_the_session_before_anyone_is_told_and_saved_in_pauses(
    session, store
):
    gate = asyncio.Event()
    seen = []

    async def look(event):
        if isinstance(event, TextAdded):
            seen.append((event.text, session.entries[-1].text))

    turn = begin_turn(session, "hello", ScriptedModel(["one ", gate, "two"]), SETTINGS)
    task = asyncio.create_task(turn.run(look))
    await until(lambda: _stored_text(store, session) == "one ")
    gate.set()
    await task
    assert seen == [("one ", "one "), ("two", "one two")]
    assert _stored_text(store, session) == "one two"


def _stored_text(store, session):
    try:
        return store.journal(session.id).load().loaded_messages[-1].text
    except (SessionNotFound, IndexError):
        return ""


async def test_the_model_is_sent_the_conversation_and_the_system_prompt(session, resume):
    model = ScriptedModel(["one"], ["two"], ["three"])
    await played(session, model, "first")
    await played(session, model, "second")
    request = model.requests[1]
    assert request.system_prompt == "Be brief."
    assert [m.text for m in request.messages] == ["first", "one", "second"]
    await session.close()
    await played(resume(session.id), model, "third")
    resumed = [m.text for m in model.requests[2].messages]
    assert resumed == ["first", "one", "second", "two", "third"]


@each_row(
    "own, system_prompt, parameters",
    [
        (
            Settings(system_prompt="", temperature=0, max_tokens=9),
            "",
            ModelParameters(temperature=0, max_tokens=9),
        ),
        (Settings(), "Be brief.", ModelParameters(temperature=0.7)),
        (Settings(effort="high"), "Be brief.", ModelParameters(temperature=0.7, effort="high")),
        # No program of today knows it.
        (Settings(effort="enormous"), "Be brief.", ModelParameters(temperature=0.7)),
    ],
)
async def test_the_sessions_own_settings_go_before_the_configuration(
    session, own, system_prompt, parameters
):
    model = ScriptedModel(["one"])
    session.change_settings(own)
    await played(session, model)
    assert model.requests[0].system_prompt == system_prompt
    assert model.requests[0].parameters == parameters


async def test_a_failure_keeps_what_arrived_and_says_why(session, store):
    events = await played(session, ScriptedModel(["half", ModelRefused("No key.")]))
    assert events[-1] == TurnEnded(session.id, events[-1].message_id, "failed", "No key.")
    last = store.journal(session.id).load().loaded_messages[-1]
    assert (last.text, last.status, last.error) == ("half", "failed", "No key.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([ThinkingReceived("Hm."), AnswerEnded("stop")], "The model thought, and gave no answer."),
        ([ThinkingReceived("Hm."), AnswerEnded("length")], "reached its limit of tokens before"),
        ([AnswerEnded("length")], "reached its limit of tokens before"),
        ([" \n"], "The model gave no answer."),
    ],
)
async def test_an_answer_without_a_word_is_a_failure_that_says_why(new_session, answer, said):
    events = await played(new_session(), ScriptedModel(answer))
    assert events[-1].status == "failed"
    assert said in events[-1].error


async def test_an_answer_at_the_models_limit_or_beyond_ours_is_truncated(new_session, monkeypatch):
    events = await played(new_session(), ScriptedModel(["half", AnswerEnded("length")]))
    assert events[-1].status == "truncated"
    monkeypatch.setattr(answers, "TEXT_BYTES", 8)
    session, model = new_session(), ScriptedModel(["12345", "67890", "never"])
    events = await played(session, model)
    assert events[-1].status == "truncated"
    assert texts(session)[-1] == ("assistant", "12345678", "truncated")
    assert model.closed == 1


async def test_a_prompt_that_cannot_be_saved_is_not_sent_and_not_lost(session, store):
    model = ScriptedModel(["There."])
    store.fail_next(StorageFull("no room"))
    with pytest.raises(StorageFull):
        await played(session, model)
    assert model.requests == []
    # Asking again sends it.
    await again(session, model)
    assert kept_texts(store, session.id) == ["hello", "There."]


async def test_an_answer_that_cannot_be_saved_is_told_and_stays_pending(session, store):

    class FullDisk(ScriptedModel):
        async def stream(self, request):
            async for event in super().stream(request):
                yield event
                store.fail_next(StorageFull("no room"))

    settings = TurnSettings(save_interval=60)
    events = await played(session, FullDisk(["hi"]), settings=settings)
    assert SaveFailed("no room", "disk full") in events
    assert not any(isinstance(e, MessageSaved) and e.message.text == "hi" for e in events)
    await session.save()
    assert kept_texts(store, session.id) == ["hello", "hi"]


async def test_a_tool_that_is_off_answers_that_it_is_not_available(session, store):
    model, events = ScriptedModel(["Reading.", CALL], ["Sorry."]), []

    async def look(event):
        events.append(event)
        if isinstance(event, ToolCalled):
            assert last_of(store, session).tool_calls == (CALL,), "before it is run"

    await begin_turn(session, "hello", model, SETTINGS).run(look)
    assert ToolCalled(CALL) in events
    assert ToolReturned(CALL, "Tool read_file is not available.") in events
    assert [(m.role, m.text) for m in store.journal(session.id).load().loaded_messages] == [
        ("user", "hello"),
        ("assistant", "Reading."),
        ("tool", "Tool read_file is not available."),
        ("assistant", "Sorry."),
    ]
    # As text: no tool was offered.
    assert [m.role for m in model.requests[1].messages] == ["user", "assistant", "user"]
    assert events[-1].status == "complete"


async def test_a_model_that_only_asks_for_tools_is_stopped(new_session):
    model = ScriptedModel(*[[CALL] for _ in range(ROUNDS + 1)])
    events = await played(new_session(), model)
    assert len(model.requests) == ROUNDS
    assert events[-1].status == "failed"
    assert "tools" in events[-1].error


@pytest.mark.parametrize("by_the_end_of_the_program", [False, True])
async def test_a_stopped_turn_keeps_what_arrived_as_interrupted_once(
    session, store, by_the_end_of_the_program
):
    model = ScriptedModel([TokenUsage(10, 1), "half an ", asyncio.Event()])
    task = asyncio.create_task(played(session, model))
    await until(lambda: _stored_text(store, session) == "half an ")
    if by_the_end_of_the_program:
        session.interrupt()
    await stopped(task)
    assert model.closed == 1
    await session.close()
    assert kept(store, session) == [("hello", None), ("half an ", "interrupted")]
    assert last_of(store, session).usage == TokenUsage(10, 1)


async def test_a_defect_in_a_model_loses_nothing_that_arrived(session, store):
    with pytest.raises(ZeroDivisionError):
        await played(session, ScriptedModel(["half", ZeroDivisionError()]))
    await session.save()
    assert store.journal(session.id).load().loaded_messages[-1].text == "half"


async def test_no_piece_is_written_after_the_answer_itself(file_session):
    session, store = file_session
    # One that is there at once is not written in pieces.
    at_once = TurnSettings(save_interval=60)
    await played(session, ScriptedModel(["a", "b", "c"]), settings=at_once)
    path = store.path(session.id)
    assert b'"partial"' not in path.read_bytes()
    gate = asyncio.Event()
    task = asyncio.create_task(played(session, ScriptedModel(["one", gate, "two"])))
    await until(lambda: b"partial" in path.read_bytes())
    gate.set()
    await task
    await session.save()
    lines = path.read_bytes().splitlines()
    answer = next(at for at, line in enumerate(lines) if b'"onetwo"' in line)
    assert not any(b'"partial"' in line for line in lines[answer:])
    assert not any(isinstance(record, Partial) for record in session.pending)


async def test_a_request_that_was_adapted_is_told_once_in_a_turn(new_session):
    left_out = RequestAdapted("No such thing.")
    model = ScriptedModel([left_out, CALL], [left_out, "Done."])
    events = await played(new_session(), model)
    assert events.count(RequestChanged("No such thing.")) == 1


async def test_what_happened_to_the_file_is_told(session, resume, store):
    await played(session, ScriptedModel(["one"]))
    await session.close()
    store.archive(session.id)
    events = await played(resume(session.id), ScriptedModel(["two"]))
    # Before it is answered, which may take a while.
    kinds = [type(event).__name__ for event in events]
    assert NoticeGiven("Restored this session from the archive") in events
    assert kinds[:2] == ["MessageSaved", "NoticeGiven"]


# --- asking again


@pytest.mark.parametrize("nothing", [[ModelRefused("no net")], ["\n"], []])
async def test_a_failed_answer_is_asked_for_again_and_replaced_once_something_comes(
    session, store, nothing
):
    with pytest.raises(UsageError, match=r"Nothing to retry\."):
        await again(session, ScriptedModel())
    model = ScriptedModel(["Half of it", ModelRefused("cut")], nothing, ["Better."])
    await played(session, model, "Hello")
    [*_, ended] = await again(session, model)
    assert kept(store, session) == [("Hello", None), ("Half of it", "failed")]
    assert last_of(store, session).error == ended.error != "cut"
    await again(session, model)
    assert kept_texts(store, session.id) == ["Hello", "Better."]
    assert [m.text for m in model.requests[-1].messages] == ["Hello"]
    assert session.session.message_count == 2
    with pytest.raises(UsageError, match=r"Nothing to retry\."):
        await again(session, model)


async def test_what_had_come_stays_if_asking_again_is_stopped_before_anything_comes(session, store):
    model = ScriptedModel(["Half of it", ModelRefused("cut")], [asyncio.Event()])
    await played(session, model, "Hello")
    asking = asyncio.create_task(again(session, model))
    await until(lambda: len(model.requests) == 2)
    await stopped(asking)
    await session.close()
    assert kept(store, session) == [("Hello", None), ("Half of it", "interrupted")]


async def test_no_answer_is_arriving_where_the_conversation_could_not_be_read(
    session, store, monkeypatch
):
    for number in range(3):
        session.add_message("user", str(number))
    await session.close()
    resumed = open_session.take_session(store, session.id, lambda: START, window=1, resumed=True)

    monkeypatch.setattr(Journal, "tail", raiser(StorageError("Cannot read it.")))
    with pytest.raises(StorageError):
        await played(resumed, ScriptedModel())
    assert resumed.arriving is None
