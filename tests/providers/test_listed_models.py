"""A server's list of models, the check of a key, and what is said where either fails."""

import json
import traceback

import pytest
from msgspec.structs import replace

from tests.providers.chat_server import (
    ChatServer,
    Gate,
    answers,
    drops_the_connection,
    is_silent,
    refuses,
    sends,
)
from tests.samples import rows
from tests.tables import each_row
from tui.domain.providers import PROVIDERS, ListedModel, Provider
from tui.errors import KeyRefused, ModelError, ModelTimedOut, NoModelList
from tui.providers import listed_models
from tui.providers.catalog import Connection
from tui.providers.listed_models import SECONDS, check, list_models
from tui.providers.secret import Secret

KEY = "sk-test-0123456789"
HTML = "<!doctype html><title>Login</title>"


def connected(server: ChatServer | str, name: str = "openai", **changes) -> Connection:
    dialect = PROVIDERS[name].dialect
    address = server if isinstance(server, str) else server.address(dialect)
    row = replace(PROVIDERS[name], base_url=address, **changes)
    return Connection(row, Secret(KEY, "TEST_API_KEY"))


def listed_names(connection: Connection) -> tuple[str, ...]:
    return tuple(each.name for each in list_models(connection))


def failed(connection: Connection, seconds: float = SECONDS) -> ModelError:
    with pytest.raises(ModelError) as caught:
        list_models(connection, seconds)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def lists(*pages: object) -> ChatServer:
    return ChatServer(
        lists=[sends(json.dumps(page).encode(), "application/json") for page in pages]
    )


class TestTheList:
    @each_row(
        "name, header, value",
        [
            ("openai", "authorization", f"Bearer {KEY}"),
            ("mistral", "authorization", f"Bearer {KEY}"),
            ("anthropic", "x-api-key", KEY),
            ("google", "x-goog-api-key", KEY),
        ],
    )
    def test_has_the_models_of_the_server_which_gets_the_key_and_nothing_of_the_machine(
        self, name, header, value
    ):
        with ChatServer(models=["b", "a"], key=KEY) as server:
            assert listed_names(connected(server, name)) == ("b", "a")
            (request,) = server.questions
        assert request.headers[header] == value
        assert KEY not in request.path
        assert request.headers["user-agent"] == "sibyl-tui"

    @each_row("items, names", rows(__file__, "listed"))
    def test_has_what_is_a_name_and_chats_in_order(self, items, names):
        # The default model is the first, and those that do not chat are left out.
        with lists({"data": items}) as server:
            assert list(listed_names(connected(server))) == names

    def test_has_windows_and_owners(self):
        items = [{"id": "a", "max_model_len": 4096, "owned_by": "vllm"}, {"id": "b"}]
        with lists({"data": items}) as server:
            listed = list_models(connected(server))
        assert listed == (ListedModel("a", 4096, "vllm"), ListedModel("b"))

    @pytest.mark.parametrize("name", ["openai", "anthropic"])
    def test_is_asked_for_with_all_that_is_set_about_the_server(self, name):
        changes = {
            "headers": {"X-Team": "blue"},
            "query": {"api-version": "1"},
            "key_header": "api-key",
        }
        with ChatServer(models=["a"]) as server:
            list_models(connected(server, name, **changes))
            (question,) = server.questions
        assert question.headers["x-team"] == "blue"
        assert question.headers["api-key"] == KEY
        assert not {"authorization", "x-api-key"} & set(question.headers)
        assert "api-version=1" in question.path

    def test_is_asked_for_with_its_key_or_that_of_a_command_whatever_other_headers_there_are(self):
        with ChatServer(models=["a"], key=KEY) as server:
            list_models(connected(server, headers={"authorization": "Basic x"}))
            assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
            row = connected(server, key_command=("echo", KEY)).provider
            assert listed_names(Connection(row)) == ("a",)

    def test_of_an_ollama_has_its_chat_models(self):
        names = ["qwen3:4b", "nomic-embed-text"]
        with ChatServer(ollama_models=names) as server:
            assert listed_names(connected(server, "ollama")) == ("qwen3:4b",)
            assert server.questions[0].path == "/api/tags"
        bert = {"name": "all-minilm", "details": {"family": "bert"}}
        with lists({"models": [bert, {"name": "qwen3", "details": {"family": "q"}}]}) as server:
            assert listed_names(connected(server, "ollama")) == ("qwen3",)

    @each_row("name, pages, names, asked", rows(__file__, "pages"))
    def test_is_read_page_by_page(self, name, pages, names, asked):
        with lists(*pages) as server:
            assert list(listed_names(connected(server, name))) == names
            assert [question.path for question in server.questions] == asked

    def test_of_a_row_that_is_added_needs_nothing_but_the_row(self):
        with ChatServer(models=["a"]) as server:
            row = Provider("added", base_url=server.base_url)
            assert listed_names(Connection(row)) == ("a",)
            assert "authorization" not in server.questions[0].headers

    def test_is_not_asked_for_at_another_server(self):
        with ChatServer(models=["a"]) as other:
            place = f"{other.base_url}/models"
            with ChatServer(lists=[refuses(302, Location=place)]) as server:
                assert f"redirects to {place}" in str(failed(connected(server)))
            assert other.questions == []


class TestAFailure:
    def test_hides_the_values_of_headers_in_what_a_server_says(self):
        with ChatServer(lists=[refuses(400, "No team blue-team-9 here.")]) as server:
            said = str(failed(connected(server, headers={"X-Team": "blue-team-9"})))
        assert "blue-team-9" not in said
        assert "It says: No team" in said

    def test_of_the_key_is_one_and_quotes_the_server_without_it(self):
        with ChatServer(models=["a"], key="sk-other") as server:
            error = failed(connected(server))
        assert isinstance(error, KeyRefused)
        host = server.root.removeprefix("http://")
        said = f"{host} refused the key (status 401). It says: Incorrect API key provided: [key]."
        assert str(error) == said

    @each_row("status, said", [(401, "requires a key"), (500, "status 500. It may require a key.")])
    def test_without_a_key_says_that_one_is_wanted(self, status, said):
        with ChatServer(lists=[refuses(status)]) as server:
            error = failed(replace(connected(server), key=None))
        assert isinstance(error, KeyRefused)
        assert said in str(error)

    def test_of_a_silent_server_ends_after_a_while(self):
        gate = Gate()
        with ChatServer(lists=[is_silent(gate)]) as server:
            error = failed(connected(server), 0.2)
            gate.open()
        assert isinstance(error, ModelTimedOut)
        assert "within 0.2 seconds" in str(error)

    def test_of_a_server_that_drips_ends_as_well(self):
        def drip(exchange):
            exchange.head(content_type="application/json")
            while True:
                exchange.raw(b" ")

        with ChatServer(lists=[drip]) as server:
            error = failed(connected(server), 0.5)
            assert isinstance(error, ModelTimedOut)

    @each_row(
        "reply, said",
        [
            (sends(HTML.encode(), "text/html"), "sent a web page instead of a list of models"),
            (refuses(502, body=HTML), "sent a web page"),
            (refuses(407, body=HTML), "sent a web page"),
            (sends(b"hello", "text/plain"), "sent no JSON. Check the address"),
            (sends(b"[" * 100_000, "application/json"), "sent no JSON"),
            (sends(b"[]", "application/json"), "sent no JSON"),
            (refuses(500, "On fire."), "failed with status 500. Try again later. It says: On fire"),
            (refuses(429, "Slow down."), "failed with status 429. Try again later."),
            (drops_the_connection(), "closed the connection without an answer"),
        ],
    )
    def test_is_said_as_what_it_is(self, reply, said):
        with ChatServer(lists=[reply]) as server:
            assert said in str(failed(connected(server)))

    @pytest.mark.parametrize(
        "reply", [refuses(404), refuses(405), sends(b'{"object": "list"}', "application/json")]
    )
    def test_is_another_where_there_is_no_list(self, reply):
        with ChatServer(lists=[reply]) as server:
            assert isinstance(failed(connected(server)), NoModelList)

    def test_of_a_reply_without_end_is_bounded(self, monkeypatch):
        monkeypatch.setattr(listed_models, "_MOST_BYTES", 1_000)
        with ChatServer(lists=[sends(b'{"data": [' + b" " * 5_000 + b"]}")]) as server:
            assert "sent no JSON" in str(failed(connected(server)))


class TestTheCheck:
    @each_row(
        "name, path, limit",
        [
            ("groq", "/v1/chat/completions", {"max_completion_tokens": 1000}),
            ("deepseek", "/v1/chat/completions", {"max_tokens": 1}),
            ("anthropic", "/v1/messages", {"max_tokens": 1}),
            (
                "google",
                "/v1beta/models/mine:generateContent",
                {"generationConfig": {"maxOutputTokens": 1}},
            ),
        ],
    )
    def test_asks_the_model_for_one_token_in_the_dialect_of_the_server(self, name, path, limit):
        with ChatServer(sends(b"{}", "application/json"), key=KEY) as server:
            check(connected(server, name), "mine")
            (request,) = server.requests
        assert request.path == path
        assert limit.items() <= request.body.items()
        assert ("max_tokens" in request.body) is ("max_tokens" in limit)
        assert request.body.get("model", "mine") == "mine"

    def test_tells_a_wrong_key(self):
        with ChatServer(answers("Hi"), key="sk-other") as server, pytest.raises(KeyRefused):
            check(connected(server), "mine")
