"""The parameters of a request, as they arrive at a server."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import ChatServer, answers, refuses
from tests.providers.conftest import ModelAt, asks, collected, only_openai, text_of
from tests.samples import rows
from tests.tables import each_row
from tui.domain.models import ModelParameters
from tui.errors import ModelError
from tui.providers.protocol import RequestAdapted


@only_openai
@each_row("spoken, model, wanted, status, said, fields, notices", rows(__file__, "refused_fields"))
async def test_a_refused_field_is_sent_as_the_server_takes_it_from_then_on_and_that_is_told(
    model_at: ModelAt,
    spoken: str,
    model: str,
    wanted: dict[str, Any],
    status: int,
    said: Any,
    fields: dict[str, list[Any]],
    notices: list[str],
):
    request = replace(asks(), parameters=ModelParameters(**wanted))
    refused = {"message": said} if isinstance(said, str) else {"body": said}
    with ChatServer(refuses(status, **refused), answers("Fine.")) as server:
        asked = model_at(server.address(spoken), dialect=spoken, model=model)
        for _ in range(2):
            events = await collected(asked.stream(request))
            assert text_of(events) == "Fine."
            assert [each.notice for each in events if isinstance(each, RequestAdapted)] == notices
        bodies = [each.body for each in server.requests]
    assert {name: [body.get(name) for body in bodies] for name in fields} == fields


SET = ModelParameters(max_tokens=9_000, effort="high")


@each_row(
    "status, sent, is_told",
    [(400, SET, True), (401, SET, False), (500, SET, False), (400, ModelParameters(), False)],
)
async def test_a_refusal_without_a_name_is_told_with_what_was_sent(
    model_at: ModelAt, status: int, sent: ModelParameters, *, is_told: bool
):
    with ChatServer(refuses(status)) as server, pytest.raises(ModelError) as caught:
        await collected(model_at(server, retries=0).stream(replace(asks(), parameters=sent)))
    _, _, told = str(caught.value).partition("It was sent with ")
    words = "max_tokens 9000 and effort high; /set shows where each value comes from."
    assert told == (words if is_told else "")


def test_no_warning_of_a_library_is_printed():
    program = (
        "import warnings\n"
        "from tui.providers.chat_model import ChatModel\n"
        "from tests.providers.conftest import a_choice\n"
        "ChatModel(a_choice('local', 'm', 'http://127.0.0.1:1/v1'))\n"
        "warnings.warn('Dropped.')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
