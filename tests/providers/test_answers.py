"""What comes from a real server, as it arrives."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.providers.chat_server import (
    ChatServer,
    Exchange,
    Gate,
    answers,
    answers_after_thinking,
    answers_step_by_step,
    calls_tools,
    scenarios,
)
from tests.providers.conftest import (
    EVERY_DIALECT,
    ModelAt,
    asks,
    collected,
    events_from,
    only_anthropic,
    text_of,
)
from tests.providers.speech import message_delta, message_start
from tests.tables import each_row
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.domain.providers import DialectName
from tui.errors import ModelError
from tui.providers.protocol import AnswerEnded, TextReceived, TextTakenBack, ThinkingReceived

# The arguments of Google's calls are objects, not texts.
WITH_TEXTS_AS_ARGUMENTS = ["openai", "anthropic", "responses"]


@pytest.fixture(params=EVERY_DIALECT)
def dialect(request: pytest.FixtureRequest) -> DialectName:
    return request.param


async def test_an_answer_comes_in_the_pieces_that_were_sent_then_usage_then_the_end(
    model_at: ModelAt,
):
    for pieces in (["Hello", ", ", "world."], []):
        events = await events_from(model_at, answers(*pieces))
        texts = [each.text for each in events if isinstance(each, TextReceived)]
        assert list(filter(None, texts)) == pieces
        # Some servers count the input before the answer as well.
        assert events[-2:] == [TokenUsage(11, 7), AnswerEnded("stop")]


async def test_each_piece_is_given_before_the_next_is_sent(model_at: ModelAt):
    gates = [Gate(), Gate(), Gate()]
    with ChatServer(answers_step_by_step(gates, "One", "Two", "Three")) as server:
        events = model_at(server).stream(asks())
        for gate, piece in zip(gates, ("One", "Two", "Three"), strict=True):
            gate.open()
            assert await anext(events) == TextReceived(piece)
        await events.aclose()


@each_row(
    "pieces",
    [
        ["> ", "\x1b]52;c;aGVsbG8=\x1b\\ \x9b2J \u202e \x00 \r\n\t \u2028 <|im_start|> ok"],
        ["\n", " ", "  one"],
        *(["> ", piece, piece] for piece in ("\0", " ", "\n", "<think>", "[DONE]", "data:")),
    ],
)
async def test_every_piece_is_text_as_it_was_sent(model_at: ModelAt, pieces: list[str]):
    events = await events_from(model_at, answers(*pieces))
    assert text_of(events) == "".join(pieces)


@each_row(
    "finish, done, ended",
    [("length", True, "length"), (None, True, "stop"), ("stop", False, "stop")],
)
async def test_an_answer_is_whole_that_has_a_reason_of_its_end_or_an_end_mark(
    model_at: ModelAt, finish: str | None, ended: Any, *, done: bool
):
    events = await events_from(model_at, answers("All of it.", finish=finish, done=done))
    assert text_of(events) == "All of it."
    assert events[-1] == AnswerEnded(ended)


async def test_the_end_is_not_waited_for_where_a_server_keeps_the_connection(model_at: ModelAt):
    gate = Gate()

    def reply(exchange: Exchange) -> None:
        answers("All of it.")(exchange)
        exchange.wait(gate)

    with ChatServer(reply) as server:
        events = await collected(model_at(server).stream(asks()))
        assert events[-1] == AnswerEnded("stop")
        await asyncio.to_thread(server.wait_for_disconnect)


@pytest.mark.full
async def test_ten_thousand_pieces_all_come(model_at: ModelAt):
    pieces = [f"{number} " for number in range(10_000)]
    events = await events_from(model_at, answers(*pieces))
    assert text_of(events) == "".join(pieces)


class TestToolCalls:
    async def test_come_whole_at_the_end_however_they_were_shuffled(self, model_at: ModelAt):
        reply = calls_tools(
            ("call_1", "read_file", ['{"pa', 'th": ', '"a.py"}']),
            ("call_2", "list_files", ["{", '"deep": {"er": [1, null]}', "}"]),
            text="Looking.",
        )
        events = await events_from(model_at, reply)
        assert events == [
            TextReceived("Looking."),
            ToolCall("call_1", "read_file", {"path": "a.py"}),
            ToolCall("call_2", "list_files", {"deep": {"er": [1, None]}}),
            AnswerEnded("tool_calls"),
        ]

    @pytest.mark.parametrize("dialect", WITH_TEXTS_AS_ARGUMENTS, indirect=True)
    @pytest.mark.parametrize(
        ("sent", "received"),
        [
            ("", {}),
            ("{}", {}),
            ("null", None),
            ('{"a": "ä\\ud800"}', {"a": "ä\ud800"}),
            ("no json", "no json"),
            ('{"a": ', '{"a": '),
            ("[1, 2]", "[1, 2]"),
            ('{"a": NaN}', '{"a": NaN}'),
            ("[" * 5000, "[" * 5000),
            (f'{{"a": {"9" * 5000}}}', f'{{"a": {"9" * 5000}}}'),
        ],
    )
    async def test_have_an_object_as_arguments_or_the_text_that_came(
        self, model_at: ModelAt, sent: str, received: object
    ):
        events = await events_from(model_at, calls_tools(("call_1", "f", [sent])))
        assert events[0] == ToolCall("call_1", "f", received)

    async def test_have_ids_of_their_own_even_if_the_server_gives_them_the_same(
        self, model_at: ModelAt
    ):
        same = [("call", "f", ["{}"]), ("call", "g", ["{}"]), ("call", "h", ["{}"])]
        events = await events_from(model_at, calls_tools(*same))
        ids = [event.id for event in events if isinstance(event, ToolCall)]
        assert len(set(ids)) == 3
        assert ids[0] == "call"


class TestThinking:
    async def test_in_a_block_of_its_own_is_no_text(self, model_at: ModelAt):
        reply = answers_after_thinking("Hm. ", "Well.", text="Yes.")
        events = await events_from(model_at, reply)
        assert events == [
            ThinkingReceived("Hm. "),
            ThinkingReceived("Well."),
            TextReceived("Yes."),
            AnswerEnded("stop"),
        ]

    async def test_an_end_tag_alone_takes_the_text_back_and_the_next_answer_begins_with_thinking(
        self, model_at: ModelAt
    ):
        with ChatServer(answers("Hm.\n", "</th", "ink>\n\n", "Yes.")) as server:
            model = model_at(server)
            first = await collected(model.stream(asks()))
            second = await collected(model.stream(asks()))
        at = first.index(TextTakenBack())
        assert (text_of(first[:at]), text_of(first[at:])) == ("Hm.\n", "Yes.")
        assert text_of(second) == "Yes."
        thinking = [event.text for event in second if isinstance(event, ThinkingReceived)]
        assert "".join(thinking) == "Hm.\n"


def test_any_text_comes_as_it_was_sent(model_at: ModelAt):
    sent: list[str] = []

    def reply(exchange: Exchange) -> None:
        answers(*sent)(exchange)

    with ChatServer(reply) as server:
        model = model_at(server)

        @examples(0.6)
        # A "<" may begin a tag, and is given with the next piece.
        @given(
            st.lists(
                st.text(st.characters(codec="utf-8", exclude_characters="<"), min_size=1),
                max_size=6,
            )
        )
        def check(pieces: list[str]) -> None:
            sent[:] = ["> ", *pieces]
            events = asyncio.run(collected(model.stream(asks())))
            assert [event.text for event in events if isinstance(event, TextReceived)] == sent

        check()


@pytest.mark.full
async def test_every_scenario_of_the_server_ends_in_an_end_or_an_error_of_ours(
    model_at: ModelAt, dialect: DialectName
):
    fine: set[str] = set()
    for name, replies in scenarios(Gate()).items():
        with ChatServer(*replies) as server:
            try:
                events = await collected(model_at(server, timeout=0.3).stream(asks()))
            except ModelError:
                continue
            assert isinstance(events[-1], AnswerEnded)
            fine.add(name)
    names = "normal 429-then-fine 500-then-fine flood tool-call two-tool-calls write-todos length"
    names += " no-text thinking multi-byte escapes"
    no_stream = {"no-stream"} if dialect in {"openai", "mistral"} else set()
    assert fine == {*names.split()} | no_stream


@only_anthropic
async def test_what_is_counted_is_told_at_once_and_at_the_end_also_of_a_refusal(model_at: ModelAt):
    gate = Gate()
    counts = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10}

    def refuses(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(message_start({**counts, "output_tokens": 1}))
        exchange.text("Yes.")
        exchange.wait(gate)
        exchange.event(message_delta("refusal", {"output_tokens": 7}))
        exchange.event({"type": "message_stop"})

    with ChatServer(refuses) as server:
        stream = model_at(server).stream(asks())
        assert await anext(stream) == TokenUsage(100, 1, cached_tokens=80, cache_write_tokens=10)
        assert await anext(stream) == TextReceived("Yes.")
        gate.open()
        assert await anext(stream) == TokenUsage(100, 7, cached_tokens=80, cache_write_tokens=10)
        with pytest.raises(ModelError):
            await anext(stream)
