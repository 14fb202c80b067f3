"""The settings of a server: each has its effect on what is sent."""

import sys

import pytest

from tests.providers.chat_server import ChatServer, answers

KEY = "sk-of-a-command"
SETTINGS = f"""
model = "gate:m"

[tools]
enabled = ["write_todos"]

[providers.gate]
base_url = "ADDRESS"
dialect = "DIALECT"
key_command = ['{sys.executable}', '-c', 'print("{KEY}")']
key_header = "api-key"
headers = {{ X-Team = "blue-team-9" }}
query = {{ api-version = "2026-10-01" }}
extra_body = {{ service_tier = "flex", nested = {{ list = [1, true] }} }}
stream_options = false
max_tokens = 77
max_tokens_name = "max_completion_tokens"
"""


@pytest.fixture
def request_with(sibyl, config):
    """Asks with the settings, and gives the request that a server got."""

    def request_with(dialect):
        with ChatServer(answers("Hello.")) as server:
            text = SETTINGS.replace("ADDRESS", server.address(dialect)).replace("DIALECT", dialect)
            config.write_text(text)
            result = sibyl("ask", "Hi")
            (request,) = server.requests
        assert (result.code, result.out) == (0, "Hello.\n")
        assert not [text for text in (KEY, "blue-team-9") if text in result.err]
        return request

    return request_with


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "responses"])
def test_headers_query_body_and_the_key_of_a_command_are_sent(request_with, dialect):
    request = request_with(dialect)
    assert request.headers["api-key"] == KEY
    assert not {"authorization", "x-api-key"} & set(request.headers)
    assert request.headers["x-team"] == "blue-team-9"
    assert "api-version=2026-10-01" in request.path
    assert request.body["service_tier"] == "flex"
    assert request.body["nested"] == {"list": [1, True]}
    assert "stream_options" not in request.body
    if dialect == "openai":
        assert request.body["max_completion_tokens"] == 77
        assert "max_tokens" not in request.body


@pytest.mark.parametrize(("window", "sent"), [("4_000", False), ("10_000_000", True)])
def test_the_window_of_a_model_is_as_large_as_the_settings_say(sibyl, saved, served, window, sent):
    session = saved("The first.", "word " * 20_000, "The last.", "Yes.", scope="project:/shop")
    server = served(answers("Hello."), more=f'[models."local:m"]\ncontext_window = {window}')
    assert sibyl("ask", "Hi", "--session", session).code == 0
    said = [message["content"] for message in server.requests[-1].body["messages"]]
    assert ("The first." in said) is sent
