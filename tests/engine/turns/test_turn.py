"""One turn: a prompt, and all that answers it."""

import asyncio
import threading

import pytest

from tests.attached import PNG, numbered, picture, showing
from tests.builders import START, kept_texts
from tests.engine.scripted_model import ScriptedModel
from tests.failing import raiser
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
    model = ScriptedModel(["Yes."])
    store.add_attachment(session.id, PNG)
    turn = begin_turn(session, showing("See", picture()), model, SETTINGS)
    await told(turn)
    assert model.requests[0].images == {picture().sha256: PNG}
    request, _ = turn._sent
    assert request.images == {}


async def test_a_picture_that_is_missing_is_told_and_sent_as_its_name(session):
    model = ScriptedModel(["Yes."])
    events = await told(begin_turn(session, showing("See", picture()), model, SETTINGS))
    assert model.requests[0].images == {}
    said = "[image: photo.png, 70 bytes] is missing in the store: only its name is sent."
    assert RequestChanged(said) in events


async def test_of_many_pictures_the_newest_are_sent_and_that_is_told(session, store):
    model = ScriptedModel(["Yes."])
    for number in range(21):
        store.add_attachment(session.id, str(number).encode())
    content = showing("See", *map(numbered, range(21)))
    events = await told(begin_turn(session, content, model, SETTINGS))
    assert len(model.requests[0].images) == 20
    said = "The newest pictures are sent; of older ones, only the names."
    assert events.count(RequestChanged(said)) == 1


async def test_a_model_that_sees_nothing_is_sent_no_picture(session, store):
    model = ScriptedModel(["Yes."])
    model.sees_images = False
    store.add_attachment(session.id, PNG)
    events = await told(begin_turn(session, showing("See", picture()), model, SETTINGS))
    assert model.requests[0].images == {}
    assert model.requests[0].messages[0].content == f"See\n{picture().label}"
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
    assert store.journal(session.id).load().loaded_messages[-1].text == "Yes."


async def test_a_crash_after_text_was_taken_back_leaves_the_answer_only(session, store):
    session.add_message("user", "hello")
    answer = session.begin_answer("scripted:model")
    answer.receive("Hm, that is long.")
    session.add_piece(answer)
    answer.take_back()
    answer.receive("Yes")
    session.add_piece(answer)
    await session.save()
    assert store.journal(session.id).load().loaded_messages[-1].text == "Yes"


async def test_the_prompt_is_in_the_store_before_the_model_is_asked(session, store):

    class Watching(ScriptedModel):
        async def stream(self, request):
            assert kept_texts(store, session.id) == ["hello"]
            async for event in super().stream(request):
                yield event

    events = await played(session, Watching(["hi"]))
    assert isinstance(events[0], MessageSaved)
    assert events[0].message.text == "hello"


async def test_a_turn_tells_what_happens_in_order(session):
    events = await played(session, ScriptedModel(["hel", "lo", TokenUsage(1, 2)]))
    assert [type(event) for event in events] == [
        MessageSaved,
        AnswerStarted,
        TextAdded,
        TextAdded,
        UsageCounted,
        MessageSaved,
        TurnEnded,
    ]
    assert events[4] == UsageCounted(events[5].message.id, TokenUsage(1, 2))
    assert events[5].message.usage == TokenUsage(1, 2)
    assert events[5].message.text == "hello"
    assert events[5].message.model == "scripted:model"
    assert events[-1].status == "complete"


async def test_each_answer_of_a_turn_keeps_the_last_counts_of_its_own_request(session, store):
    call = ToolCall("c1", "read_file", {})
    first = [TokenUsage(10, 1), call, TokenUsage(10, 5, cached_tokens=8)]
    await played(session, ScriptedModel(first, ["done", TokenUsage(30, 2)]))
    kept = [message.usage for message in store.journal(session.id).load().loaded_messages]
    assert kept == [None, TokenUsage(10, 5, 8), None, TokenUsage(30, 2)]


@pytest.mark.parametrize("end", [ModelRefused("No more."), AnswerEnded("length")])
async def test_an_answer_that_fails_or_is_cut_keeps_what_was_counted(session, store, end):
    await played(session, ScriptedModel([TokenUsage(10, 1), "some", end]))
    last = store.journal(session.id).load().loaded_messages[-1]
    assert (last.status in ("failed", "truncated"), last.usage) == (True, TokenUsage(10, 1))


async def test_an_answer_said_to_be_saved_is_in_the_store_with_its_state(session, store):
    saved = []

    async def look(event):
        if isinstance(event, MessageSaved):
            saved.append(event.message.text)
            assert event.message in store.journal(session.id).load().loaded_messages

    await begin_turn(session, "hello", ScriptedModel(["hi"]), SETTINGS).run(look)
    assert saved == ["hello", "hi"]
    assert store.entry(session.id).message_count == 2
    assert session.pending == ()


async def test_each_piece_is_in_the_session_before_anyone_is_told(session, store):
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


async def test_what_has_arrived_is_saved_while_nothing_more_arrives(session, store):
    gate = asyncio.Event()
    task = asyncio.create_task(played(session, ScriptedModel(["half", gate, " more"])))
    await until(lambda: _stored_text(store, session) == "half")
    gate.set()
    await task
    assert _stored_text(store, session) == "half more"


def _stored_text(store, session):
    try:
        return store.journal(session.id).load().loaded_messages[-1].text
    except (SessionNotFound, IndexError):
        return ""


async def test_an_answer_that_is_there_at_once_is_not_written_in_pieces(file_session):
    session, store = file_session
    settings = TurnSettings(save_interval=60)
    await played(session, ScriptedModel(["a", "b", "c"]), settings=settings)
    assert b'"partial"' not in store.path(session.id).read_bytes()


async def test_the_model_is_sent_the_conversation_and_the_system_prompt(session):
    model = ScriptedModel(["one"], ["two"])
    await played(session, model, "first")
    await played(session, model, "second")
    request = model.requests[1]
    assert request.system_prompt == "Be brief."
    assert [m.text for m in request.messages] == ["first", "one", "second"]


async def test_the_sessions_own_settings_go_before_the_configuration(session):
    model = ScriptedModel(["one"], ["two"])
    session.change_settings(Settings(system_prompt="", temperature=0, max_tokens=9))
    await played(session, model)
    assert model.requests[0].system_prompt == ""
    assert model.requests[0].parameters == ModelParameters(temperature=0, max_tokens=9)
    session.change_settings(Settings())
    await played(session, model)
    assert model.requests[1].system_prompt == "Be brief."
    assert model.requests[1].parameters == ModelParameters(temperature=0.7)


async def test_the_sessions_own_effort_is_sent_unless_no_program_of_today_knows_it(session):
    model = ScriptedModel(["one"], ["two"])
    for effort, sent in (("high", "high"), ("enormous", None)):
        session.change_settings(Settings(effort=effort))
        await played(session, model)
        assert model.requests[-1].parameters == ModelParameters(temperature=0.7, effort=sent)


async def test_a_resumed_session_is_sent_from_the_store(session, resume):
    await played(session, ScriptedModel(["one"]), "first")
    await session.close()
    model = ScriptedModel(["two"])
    await played(resume(session.id), model, "second")
    assert [m.text for m in model.requests[0].messages] == ["first", "one", "second"]


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


async def test_an_answer_at_the_models_limit_is_truncated(new_session):
    events = await played(new_session(), ScriptedModel(["half", AnswerEnded("length")]))
    assert events[-1].status == "truncated"


async def test_an_answer_beyond_our_limit_is_truncated_and_stopped(new_session, monkeypatch):
    monkeypatch.setattr(answers, "TEXT_BYTES", 8)
    session, model = new_session(), ScriptedModel(["12345", "67890", "never"])
    events = await played(session, model)
    assert events[-1].status == "truncated"
    assert texts(session)[-1] == ("assistant", "12345678", "truncated")
    assert model.closed == 1


async def test_a_prompt_that_cannot_be_saved_is_not_sent_and_not_lost(session, store):
    model = ScriptedModel(["never"])
    store.fail_next(StorageFull("no room"))
    with pytest.raises(StorageFull):
        await played(session, model)
    assert model.requests == []
    await session.save()
    assert kept_texts(store, session.id) == ["hello"]


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
    model = ScriptedModel(["Reading.", CALL], ["Sorry."])
    events = await played(session, model)
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


async def test_a_call_is_in_the_store_before_its_tool_is_run(session, store):
    called = []

    async def look(event):
        if isinstance(event, ToolCalled):
            called.append(event.call)
            assert store.journal(session.id).load().loaded_messages[-1].tool_calls == (CALL,)

    await begin_turn(session, "hello", ScriptedModel([CALL], ["ok"]), SETTINGS).run(look)
    assert called == [CALL]


async def test_a_model_that_only_asks_for_tools_is_stopped(new_session):
    model = ScriptedModel(*[[CALL] for _ in range(ROUNDS + 1)])
    events = await played(new_session(), model)
    assert len(model.requests) == ROUNDS
    assert events[-1].status == "failed"
    assert "tools" in events[-1].error


async def test_a_stopped_turn_keeps_what_arrived_as_interrupted(session, store):
    gate = asyncio.Event()
    model = ScriptedModel([TokenUsage(10, 1), "half an ", gate])
    task = asyncio.create_task(played(session, model))
    await until(lambda: _stored_text(store, session) == "half an ")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.closed == 1
    await session.close()
    assert texts(session)[-1] == ("assistant", "half an ", "interrupted")
    kept = store.journal(session.id).load().loaded_messages[-1]
    assert (kept.status, kept.usage) == ("interrupted", TokenUsage(10, 1))


async def test_a_defect_in_a_model_loses_nothing_that_arrived(session, store):
    with pytest.raises(ZeroDivisionError):
        await played(session, ScriptedModel(["half", ZeroDivisionError()]))
    await session.save()
    assert store.journal(session.id).load().loaded_messages[-1].text == "half"


async def test_no_piece_is_written_after_the_answer_itself(file_session):
    session, store = file_session
    gate = asyncio.Event()
    task = asyncio.create_task(played(session, ScriptedModel(["one", gate, "two"])))
    await until(lambda: session.published and b"partial" in store.path(session.id).read_bytes())
    gate.set()
    await task
    await session.save()
    lines = store.path(session.id).read_bytes().splitlines()
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


async def test_a_failed_answer_is_asked_for_again_and_replaced(session, store):
    model = ScriptedModel([ModelRefused("no")], ["Better."])
    await played(session, model, "Hello")
    await again(session, model)
    messages = store.journal(session.id).load().loaded_messages
    assert [(m.role, m.text) for m in messages] == [("user", "Hello"), ("assistant", "Better.")]
    assert [m.text for m in model.requests[-1].messages] == ["Hello"]
    assert session.session.message_count == 2


@pytest.mark.parametrize("nothing", [[ModelRefused("no net")], ["\n"], []])
async def test_what_had_come_stays_if_nothing_comes_when_it_is_asked_for_again(
    session, store, nothing
):
    model = ScriptedModel(["Half of it", ModelRefused("cut")], nothing, ["Better."])
    await played(session, model, "Hello")
    [*_, ended] = await again(session, model)
    messages = store.journal(session.id).load().loaded_messages
    assert [(m.text, m.status) for m in messages] == [("Hello", None), ("Half of it", "failed")]
    assert messages[-1].error == ended.error != "cut"
    await again(session, model)
    assert kept_texts(store, session.id) == ["Hello", "Better."]


async def test_what_had_come_stays_if_asking_again_is_stopped_before_anything_comes(session, store):
    model = ScriptedModel(["Half of it", ModelRefused("cut")], [asyncio.Event()])
    await played(session, model, "Hello")
    asking = asyncio.create_task(again(session, model))
    await until(lambda: len(model.requests) == 2)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await session.close()
    messages = store.journal(session.id).load().loaded_messages
    assert [(m.text, m.status) for m in messages] == [
        ("Hello", None),
        ("Half of it", "interrupted"),
    ]


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


async def test_a_prompt_that_was_never_sent_is_sent_by_asking_again(session, store):
    store.fail_next(StorageFull("no room"))
    model = ScriptedModel(["There."])
    with pytest.raises(StorageFull):
        await played(session, model, "Hello")
    await again(session, model)
    assert kept_texts(store, session.id) == ["Hello", "There."]


@pytest.mark.parametrize("prompts", [[], ["Hello"]])
async def test_nothing_is_asked_for_again_where_nothing_is_open(session, prompts):
    model = ScriptedModel(["There."])
    for prompt in prompts:
        await played(session, model, prompt)
    with pytest.raises(UsageError, match=r"Nothing to retry\."):
        await again(session, model)


async def test_an_answer_that_the_end_of_the_program_interrupted_is_kept_once(session, store):
    model = ScriptedModel(["half", asyncio.Event()])
    task = asyncio.create_task(played(session, model, "Hello"))
    await until(lambda: session.entries and session.entries[-1].text == "half")
    session.interrupt()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await session.save()
    messages = store.journal(session.id).load().loaded_messages
    assert [(m.text, m.status) for m in messages] == [("Hello", None), ("half", "interrupted")]
