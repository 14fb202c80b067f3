"""The entries of the debug log about requests: what they have, and what they never have."""

import contextlib
import re

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import (
    ChatServer,
    Gate,
    answers,
    answers_at,
    drops_the_connection,
    refuses,
    sends,
)
from tests.providers.conftest import KEY, asks, collected
from tui.cli.debug_log import DebugLog
from tui.domain.providers import Provider
from tui.errors import ModelError
from tui.logs import log_of
from tui.providers.catalog import Connection
from tui.providers.listed_models import list_models

SECRET = "xyzzyplugh"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "debug.log"


async def ask(model, place):
    """Ask with the log; gives its entries about requests, without their time and place."""
    with DebugLog(place).collecting(), contextlib.suppress(ModelError):
        await collected(model.stream(asks()))
    text = place.read_text()
    assert KEY not in text
    assert SECRET not in text
    return re.findall(r"exchange: request to local at 127\.0\.0\.1:\d+(.*)", text)


async def test_an_answer_has_path_status_times_size_and_end(model_at, dialect, place):
    with ChatServer(answers(SECRET, SECRET)) as server:
        begun, ended = await ask(model_at(server), place)
    path = "/chat/completions" if dialect == "openai" else "/v1/messages"
    assert begun == ": attempt 1 begins"
    expected = rf"{path}: attempt 1, status 200, first byte 0\.\d\d s, \d{{3,}} bytes, \d\.\d\d s, "
    assert re.fullmatch(expected + "complete", ended)


async def test_each_attempt_has_its_end_without_the_words_of_the_server(model_at, place):
    refusal = refuses(500, f"{KEY} {SECRET}", **{"Retry-After": "0"})
    with ChatServer(refusal, answers(SECRET)) as server:
        _, failed, _, ended = await ask(model_at(server, retries=1), place)
    assert "attempt 1, status 500, " in failed
    assert failed.endswith(", Refusal")
    assert "attempt 2, status 200, " in ended
    assert ended.endswith("complete")


@pytest.mark.parametrize(
    "reply",
    [
        drops_the_connection(),
        refuses(401, f"{KEY} {SECRET}"),
        refuses(400, body=f"<html>{SECRET}"),
        sends(f"data: {SECRET}\n\n".encode()),
    ],
)
async def test_a_failure_has_the_class_of_its_error_only(model_at, place, reply):
    with ChatServer(reply) as server:
        _, ended = await ask(model_at(server, retries=0), place)
    assert re.search(r", [A-Z][A-Za-z]+( from [A-Z].+)?$", ended)


async def test_the_path_of_an_address_may_be_a_secret_and_its_query_too(model_at, place):
    with ChatServer(answers("Yes.")) as server:
        model = model_at(
            f"{server.address('openai')}/{SECRET}",
            query={"code": SECRET},
            headers={"X-Code": SECRET},
        )
        assert len(await ask(model, place)) == 2


def test_a_request_for_facts_names_its_path_and_no_query(place):
    provider = Provider("local", dialect="anthropic", lists="anthropic")
    with ChatServer(models=["test-model"]) as server, DebugLog(place).collecting():
        list_models(Connection(replace(provider, base_url=server.root)))
    assert re.search(
        r": facts from local/v1/models: \d+ bytes, \d+ ms$", place.read_text(), re.MULTILINE
    )


async def test_an_answer_that_is_stopped_says_so(model_at, place):
    gate = Gate()
    with ChatServer(answers_at(gate, "one", "two")) as server, DebugLog(place).collecting():
        events = model_at(server).stream(asks())
        await anext(events)
        await events.aclose()
        gate.open()
    assert ", stopped\n" in place.read_text()


async def test_a_request_of_a_private_session_is_no_entry(model_at, place):
    private = log_of("private-20260111-153022-847291")
    with ChatServer(answers("Yes.")) as server, DebugLog(place).collecting(), private:
        await collected(model_at(server).stream(asks()))
    assert "request" not in place.read_text()
