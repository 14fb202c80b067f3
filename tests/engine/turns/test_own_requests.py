import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attached import NOTES, picture, showing
from tests.builders import answer, user
from tests.engine.conftest import PLACE, Clock
from tests.engine.scripted_model import ScriptedModel
from tests.tables import each_row
from tests.waiting import until
from tui.domain.journal.message import Message, TokenUsage, ToolCall
from tui.domain.journal.records import Summary
from tui.engine.model_requests import (
    after_summary,
    estimated_tokens,
    exchanged_with_models,
    live_tokens,
    project,
    read_context,
)
from tui.engine.sessions import open_session
from tui.engine.turns.own_requests import (
    FULL,
    KEPT,
    Compaction,
    SummaryPart,
    TitleRequest,
    cleaned,
    oldest_part,
    request_for,
)
from tui.errors import AnswerCut, ModelRefused
from tui.providers.protocol import TextReceived, TextTakenBack, ToolDefinition
from tui.storage.file_store import FileStore

WIDE = 1_000_000
CALL = ToolCall("c1", "read_file", {"path": "auth.py"})


def message(number, role="user", content="text", **fields):
    return Message(
        id=f"m{number}", role=role, content=content, timestamp="2026-01-01T00:00:00.000Z", **fields
    )


def talk(turns, size=10):
    return [
        message(2 * turn + each, role, f"{role} {turn} " + "x" * size)
        for turn in range(turns)
        for each, role in enumerate(("user", "assistant"))
    ]


def say(session, *texts, tokens=None):
    """The user and the model by turns; the last answer took so many tokens."""
    for number, text in enumerate(texts):
        if number % 2:
            answer = session.begin_answer("scripted:model")
            answer.receive(text)
            answer.usage = tokens and TokenUsage(tokens, 5)
            session.end_answer(answer)
        else:
            session.add_message("user", text)


def sent(session, window=WIDE):
    request = project("", session.summary, session._history.messages, window).request
    return request.system_prompt, [each.text for each in request.messages]


def asked(model):
    """What the model was last sent to summarise."""
    return model.requests[-1].messages[0].text


# --- what is summarised


def test_all_but_the_last_turn_is_summarised_and_nothing_twice():
    part = oldest_part(None, talk(3), room=WIDE, kept=0)
    assert part == SummaryPart(None, tuple(talk(3)[:4]), whole=True)
    assert part.through == "m3"
    before = Summary(text="So far.", through="m3")
    part = oldest_part(before, talk(4), room=WIDE, kept=0)
    assert [each.id for each in part.messages] == ["m4", "m5"]
    assert part.summary == before
    assert oldest_part(Summary(text="x", through="m5"), talk(4), room=WIDE, kept=0) is None


def test_the_last_turns_are_left_as_far_as_they_are_to_be_kept():
    messages = talk(10)
    three = live_tokens(None, messages[-6:])
    assert oldest_part(None, messages, room=WIDE, kept=three).through == "m13"
    assert oldest_part(None, messages, room=WIDE, kept=three - 1).through == "m15"


@each_row("messages", [[], talk(1), [message(1)], [message(1, "assistant")]])
def test_where_there_is_one_turn_or_none_there_is_nothing_to_summarise(messages):
    assert oldest_part(None, messages, room=WIDE, kept=0) is None


def test_what_is_further_back_than_a_request_reaches_is_left_out():
    part = oldest_part(None, talk(100, size=300), room=3000, kept=0)
    assert not part.whole
    assert part.through == "m197"
    assert sum(map(estimated_tokens, part.messages)) < 3000


def test_turns_of_the_built_in_guide_are_not_summarised():
    guided = [message(10, content="Keys?"), message(11, "assistant", "F1", model="offline:guide")]
    part = oldest_part(None, [*talk(1), *guided, *talk(2)[2:]], room=WIDE, kept=0)
    assert list(part.messages) == talk(1)
    assert oldest_part(None, [*guided, message(12)], room=WIDE, kept=0) is None


turns = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "call", "failed", "retry"]), st.integers(0, 90))
)


@given(turns, st.integers(1, 2000), st.integers(0, 2000))
def test_a_cut_falls_on_a_user_message_and_parts_no_call_from_its_result(told, room, kept):
    messages = []
    for number, (kind, size) in enumerate(told):
        text = "x" * size
        match kind:
            case "user":
                messages.append(message(number, "user", text))
            case "call":
                messages.append(message(number, "assistant", text, tool_calls=(CALL,)))
                messages.append(message(f"{number}r", "tool", text, tool_call_id="c1"))
            case "failed":
                messages.append(message(number, "assistant", text, status="failed"))
            case "retry" if messages and messages[-1].role == "assistant":
                again = message(number, "assistant", text, replaces=messages[-1].id)
                messages.append(again)
            case _:
                messages.append(message(number, "assistant", text))
    part = oldest_part(None, messages, room=room, kept=kept)
    live = exchanged_with_models(messages)
    if part is None:
        return
    rest = after_summary(Summary(text="s", through=part.through), live)
    assert rest[0].role == "user"
    assert [*live[len(live) - len(rest) - len(part.messages) :]] == [*part.messages, *rest]
    assert part.whole == (len(part.messages) + len(rest) == len(live))


# --- what the model is asked


def test_the_model_sees_everything_that_was_said_with_who_said_it():
    messages = (
        message(1, "user", "Read it."),
        message(2, "assistant", "", tool_calls=(CALL,)),
        message(3, "tool", "def login(): …", tool_call_id="c1"),
        message(4, "assistant", "half", status="failed"),
        message(5, "assistant", "It is fine."),
    )
    before = Summary(text="They spoke of tea.", through="m0")
    request = request_for(SummaryPart(before, messages, whole=True), 10_000)
    text = request.messages[0].text
    places = [
        text.index(each)
        for each in (
            "They spoke of tea.",
            "user: Read it.",
            'assistant calls read_file: {"path":"auth.py"}',
            "tool: def login(): …",
            "assistant: It is fine.",
        )
    ]
    assert all(one < other for one, other in pairwise(places))
    assert "half" not in text
    assert not request.tools


def test_pictures_are_names_in_what_is_summarised_and_files_are_text():
    part = SummaryPart(None, (message(1, content=showing("See", picture(), NOTES)),), whole=True)
    (only,) = request_for(part, WIDE).messages
    assert only.text == f"user: See\n{picture().label}\n{NOTES.fenced}\n"
    assert not only.attachments


def test_a_long_message_is_shortened_in_its_middle_and_may_be_any_text():
    def asked_of(text):
        part = SummaryPart(None, (message(1, "user", text),), whole=True)
        return request_for(part, 1000).messages[0].text

    text = asked_of("first " + "x" * 100_000 + " last")
    assert len(text) < 1000
    assert text.startswith("user: first")
    assert text.endswith(" last\n")
    assert "{words}" in asked_of("\ud800" * 5000 + "\x00{words}")


# --- compacting a session


async def test_a_summary_stands_for_what_was_said_and_nothing_leaves_the_journal(
    session, store, resume
):
    usage = TokenUsage(90, 9, cached_tokens=80)
    # Thinking that looked like a summary is none.
    model = ScriptedModel(["Hm. ", TextTakenBack(), "They spoke", " of tea.", usage])
    say(session, "one", "two", "three", "four", "five")
    compacted = await Compaction(model).run(session)
    assert compacted.words == "Summarised 4 messages."
    assert sent(session) == (
        "Summary of the earlier conversation:\nThey spoke of tea.",
        ["five"],
    )
    # There is nothing to compact twice.
    assert await Compaction(model).run(session) is None
    assert len(model.requests) == 1
    await session.close()
    kept = store.journal(session.id).load()
    assert [each.text for each in kept.loaded_messages] == ["one", "two", "three", "four", "five"]
    assert kept.message_count == 5
    assert kept.summary == Summary("They spoke of tea.", kept.summary.through, model.name, usage)
    again = resume(session.id)
    await again.context(WIDE)
    assert sent(again) == sent(session)
    again.reset()
    say(again, "anew")
    assert sent(again) == ("", ["anew"])
    await again.save()
    assert store.journal(session.id).load().summary is None


async def test_what_is_said_while_the_summary_is_made_is_kept_after_it(session):
    gate = asyncio.Event()
    say(session, "one", "two", "three", "four")
    model = ScriptedModel(["So far.", gate])
    task = asyncio.create_task(Compaction(model).run(session))
    await until(lambda: model.requests)
    say(session, "five", "six")
    await session.save()
    gate.set()
    assert (await task).part.through == session.session.loaded_messages[1].id
    assert sent(session)[1] == ["three", "four", "five", "six"]


async def test_a_second_summary_includes_the_first(session):
    model = ScriptedModel(["The first."], ["Both."])
    say(session, "one", "two", "three", "four")
    await Compaction(model).run(session)
    say(session, "five")
    await Compaction(model).run(session)
    assert "The first." in asked(model)
    assert "three" in asked(model)
    assert "one" not in asked(model)
    assert session.summary.text == "Both."
    assert sent(session)[1] == ["five"]


@each_row(
    "steps, error",
    [
        ([ModelRefused("no")], ModelRefused),
        (["Half of it", ModelRefused("cut")], ModelRefused),
        ([], AnswerCut),
        ([" \n"], AnswerCut),
        ([CALL], AnswerCut),
    ],
)
async def test_a_model_that_fails_changes_nothing(new_session, steps, error):
    session = new_session()
    say(session, "one", "two", "three")
    await session.save()
    with pytest.raises(error):
        await Compaction(ScriptedModel(steps)).run(session)
    assert session.summary is None
    assert not session.pending


@pytest.mark.parametrize("way", ["reset", "given up"])
async def test_a_summary_that_comes_too_late_is_dropped(session, way):
    gate = asyncio.Event()
    say(session, "one", "two", "three")
    model = ScriptedModel(["late", gate])
    task = asyncio.create_task(Compaction(model).run(session))
    await until(lambda: model.requests)
    if way == "reset":
        session.reset()
    else:
        session.abandon()
    gate.set()
    assert await task is None
    assert session.summary is None


async def test_a_summary_that_does_not_end_is_cut(new_session):
    class Endless(ScriptedModel):
        async def stream(self, request):
            while True:
                yield TextReceived("word " * 20)

    session = new_session()
    say(session, "one", "two", "three")
    compacted = await Compaction(Endless(context_window=4000)).run(session)
    assert 100 < len(compacted.summary.text) < 4000
    assert compacted.summary.text.endswith("…")


async def test_it_is_due_when_what_is_live_is_near_what_can_be_sent(session):
    model = ScriptedModel(["short"], context_window=4000)
    room, size = 3000, 0
    compaction = Compaction(model)
    while size < FULL * room:
        assert not await compaction.is_due(session)
        say(session, "a" * 300, "b" * 300)
        size += live_tokens(None, session.session.loaded_messages[-2:])
    assert await compaction.is_due(session)
    assert await compaction.run(session, KEPT)
    assert not await compaction.is_due(session)
    rest = live_tokens(session.summary, session._history.messages)
    assert 0.2 * room < rest <= KEPT * room


async def test_it_is_due_where_the_server_counted_more_than_was_estimated(session):
    compaction = Compaction(ScriptedModel(context_window=4000))
    say(session, "one", "a" * 6000, "two", "Yes.", tokens=2000)
    assert not await compaction.is_due(session)
    say(session, "three", "No.", tokens=2500)
    assert await compaction.is_due(session)


async def test_it_is_not_due_where_all_of_it_is_one_turn_but_earlier_with_tools(
    session, new_session
):
    say(session, "a" * 100_000, "b" * 100_000)
    model = ScriptedModel(["So far."], context_window=4000)
    assert not await Compaction(model).is_due(session)
    large = ToolDefinition("t", "", {"description": "x" * 4_000})
    long = new_session()
    say(long, *["a" * 1_000] * 8)
    assert not await Compaction(model).is_due(long)
    assert await Compaction(model, tools=(large,)).is_due(long)
    # A system prompt larger than the window is survived.
    short = new_session()
    say(short, "one", "two", "three")
    compaction = Compaction(ScriptedModel(["So far."], context_window=100), "x" * 1000)
    assert await compaction.is_due(short)
    assert await compaction.run(short, KEPT)


async def test_a_long_session_is_not_read_whole(file_session):
    session, store = file_session
    say(session, *(f"{number} " + "x" * 100 for number in range(1200)))
    await session.close()
    read = read_context(store.journal(session.id), None, 4000)
    assert len(read.messages) < 500


async def test_what_is_saved_while_the_disk_is_read_is_not_missed(file_session, clock, monkeypatch):
    """A prompt saved between the reading and its end stands in neither."""
    session, store = file_session
    say(session, *map(str, range(300)))
    await session.close()
    again = open_session.take_session(store, session.id, clock, resumed=True)
    loop = asyncio.get_running_loop()

    def and_then(*arguments):
        found = read_context(*arguments)

        async def add():
            again.add_message("user", "meanwhile")
            await again.save()

        asyncio.run_coroutine_threadsafe(add(), loop).result(10)
        return found

    monkeypatch.setattr(open_session, "read_context", and_then)
    assert (await again.context(100))[-1].text == "meanwhile"


# --- any order of it all


steps = st.lists(st.sampled_from(["turn", "compact", "reset", "reopen", "fail"]), max_size=25)


@given(steps)
async def test_what_is_sent_is_always_the_summary_and_all_that_came_after_it(
    tmp_path_factory, told
):
    clock = Clock()
    store = FileStore(tmp_path_factory.mktemp("data"), clock)
    session = open_session.new_session(store, PLACE, clock)
    summary, since = None, []
    for count, step in enumerate(told, 1):
        match step:
            case "turn":
                say(session, f"asked {count}", f"answered {count}")
                since += [f"asked {count}", f"answered {count}"]
            case "compact":
                model = ScriptedModel([f"summary {count}"])
                done = await Compaction(model).run(session)
                assert (done is not None) == (len(since) > 2)
                if done:
                    assert all(text in asked(model) for text in since[:-2])
                    assert summary is None or summary in asked(model)
                    summary, since = f"summary {count}", since[-2:]
            case "fail" if len(since) > 2:
                with pytest.raises(ModelRefused):
                    await Compaction(ScriptedModel([ModelRefused("no")])).run(session)
            case "reset":
                session.reset()
                summary, since = None, []
            case "reopen" if session.published or session.pending:
                await session.close()
                session = open_session.take_session(store, session.id, clock, resumed=True)
        await session.context(WIDE)
        prompt, messages = sent(session)
        assert prompt.rpartition("\n")[2] == (summary or "")
        assert messages == since


AT = "2026-01-11T14:30:00.000Z"


def title_asked(*steps, question="What is two?", said="It is 2."):
    """The model, and what it gives as a title."""
    model = ScriptedModel(steps)
    return model, TitleRequest(model, user("u1", question), answer("a1", said)).ask(AT)


async def test_it_is_one_short_request_whose_tokens_are_kept_with_the_title():
    usage = TokenUsage(120, 4)
    model, ask = title_asked("What", " two is", usage, question="q" * 9000, said="a" * 9000)
    titled = await ask
    assert (titled.text, titled.model, titled.at) == ("What two is", model.name, AT)
    assert titled.usage == TokenUsage(120, 4)
    (request,) = model.requests
    assert len(request.messages) == 1
    assert len(request.messages[0].text) < 3100
    assert request.tools == ()


@each_row("said", ["", "\n", '""'])
async def test_an_answer_without_words_is_no_title(said):
    _, ask = title_asked(*filter(None, [said]))
    with pytest.raises(AnswerCut):
        await asyncio.wait_for(ask, 10)


@each_row(
    "said, title",
    [
        ('"What two is"', "What two is"),
        ("\n\n# **What two is**\n\nBecause I say so", "What two is"),
        ("Title: “What two is”", "What two is"),
        ("What **two** is", "What two is"),
        ("a\x1b]0;x\x07b\tc", "a␛]0;x␇b c"),
        ("word " * 40, "word " * 15 + "word…"),
    ],
)
def test_a_title_is_one_safe_line_without_quotes_and_marks(said, title):
    assert cleaned(said) == title
