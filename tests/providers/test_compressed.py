"""Answers that a gateway compresses, though they were asked for as they are.

Reading such an answer could take for ever and block every signal but SIGKILL: a process of its own
asks, and has a time limit.
"""

import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.providers.chat_server import (
    ChatServer,
    Exchange,
    Gate,
    Reply,
    answers,
    answers_at,
    compressed,
    ends_without_a_word_after,
    refuses,
)
from tests.providers.conftest import ModelAt, asks, collected, events_from
from tui.domain.providers import DialectName
from tui.errors import AnswerCut, ModelRefused
from tui.providers.protocol import TextReceived

ROOT = Path(__file__).parents[2]
TIME_LIMIT = 60.0

either_coding = pytest.mark.parametrize("coding", ["gzip", "deflate"])


def in_every_form(reply: Reply) -> list[Reply]:
    """The reply in gzip and deflate, in chunks and up to the connection's end."""
    forms = product(["gzip", "deflate"], [True, False])
    return [compressed(reply, coding, chunked=chunked) for coding, chunked in forms]


def printed_answers(dialect: DialectName, replies: Sequence[Reply]) -> list[str]:
    with ChatServer(*replies) as server:
        where = [dialect, server.address(dialect), str(len(replies))]
        done = subprocess.run(
            [sys.executable, "-m", "tests.providers.asking", *where],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            timeout=TIME_LIMIT,
            check=True,
        )
    return done.stdout.splitlines()


def test_a_compressed_answer_is_read_to_its_end(dialect: DialectName):
    replies = in_every_form(answers("Hello", "."))
    assert printed_answers(dialect, replies) == ["Hello."] * 4


@pytest.mark.full
def test_a_compressed_answer_that_ends_without_its_last_word_is_cut(dialect: DialectName):
    replies = in_every_form(ends_without_a_word_after("Hello"))
    assert printed_answers(dialect, replies) == ["AnswerCut"] * 4


@either_coding
async def test_a_compressed_piece_is_given_before_the_next_is_sent(model_at: ModelAt, coding: str):
    reply = compressed(answers_at(Gate(), "One", "Two"), coding, chunked=True)
    with ChatServer(reply) as server:
        events = model_at(server).stream(asks())
        assert await anext(events) == TextReceived("One")
        await events.aclose()


@either_coding
async def test_nothing_is_awaited_after_the_end_of_a_compressed_answer(
    model_at: ModelAt, coding: str
):
    def stays(exchange: Exchange) -> None:
        answers("Hello.")(exchange)
        exchange.wait(Gate())

    events = await events_from(model_at, compressed(stays, coding, chunked=True))
    assert TextReceived("Hello.") in events


@either_coding
async def test_a_compressed_error_is_quoted(model_at: ModelAt, coding: str):
    reply = compressed(refuses(400, "Too odd."), coding, chunked=False)
    with pytest.raises(ModelRefused, match="Too odd"):
        await events_from(model_at, reply)


async def test_a_few_compressed_bytes_do_not_become_an_endless_line(
    model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.providers.reception.LONGEST_LINE", 100_000)

    def bomb(exchange: Exchange) -> None:
        exchange.head()
        exchange.raw(b"data: " + b"x" * 10_000_000)
        exchange.wait(Gate())

    with pytest.raises(AnswerCut):
        await events_from(model_at, compressed(bomb, "gzip", chunked=True))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
async def test_an_answer_that_is_not_compressed_as_it_says_is_cut(model_at: ModelAt, coding: str):
    def garbled(exchange: Exchange) -> None:
        exchange.head(Content_Encoding=coding)
        exchange.raw(b"\xff\xfe\x00 no such thing \n\n")

    said = "did not send a stream of an answer"
    with pytest.raises(AnswerCut, match=said):
        await events_from(model_at, garbled)


async def test_an_answer_is_asked_for_uncompressed(model_at: ModelAt):
    with ChatServer() as server:
        await collected(model_at(server).stream(asks()))
        (request,) = server.requests
    assert request.headers["accept-encoding"] == "identity"
