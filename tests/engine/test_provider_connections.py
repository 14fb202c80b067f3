"""What the program makes of a key or an address, and what it keeps of it."""

import time
from pathlib import Path

import pytest

from tests.builders import Clock
from tests.providers.chat_server import ChatServer, sends
from tests.tables import each_row
from tui.config.loading import load_connections, load_settings
from tui.domain.models import OWN_SERVER
from tui.domain.providers import KNOWN_SERVERS, PROVIDERS, Provider
from tui.engine.model_lists import ModelLists
from tui.engine.provider_connections import ProviderConnections, address_of
from tui.errors import ConfigError, ModelUnavailable, NoModelList, UsageError
from tui.providers.source import ModelSource

KEY = "sk-pasted-0123456789abcdef"
OWN = Provider(OWN_SERVER)


@pytest.fixture
def file(tmp_path: Path):
    return tmp_path / "config.toml"


@pytest.fixture
def manager(file):
    """Makes a manager over settings and an environment."""

    def manager(config="", **environ):
        file.write_text(config)
        settings = load_settings(file, environ)
        models = ModelSource(settings, environ, find_ollama=lambda _: ())
        return ProviderConnections(models, settings, environ)

    return manager


@each_row(
    "provider, typed, address",
    [
        (OWN, "127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        (OWN, " http://gpu:8000/ ", "http://gpu:8000/v1"),
        (OWN, "https://gate.example/openai/v1", "https://gate.example/openai/v1"),
        (OWN, "[::1]:8080", "http://[::1]:8080/v1"),
        (PROVIDERS["ollama"], "gpu", "http://gpu:11434/v1"),
        (PROVIDERS["anthropic"], "http://gate", "http://gate"),
        *((OWN, typed, None) for typed in ("", " ", "http://", "a b", "ftp://x", "http://u:p@x")),
        (OWN, "ü", None),
    ],
)
def test_an_address_is_completed_or_refused(provider, typed, address):
    if address is None:
        with pytest.raises(UsageError):
            address_of(typed, provider)
    else:
        assert address_of(typed, provider) == address


class TestAServerOfOnesOwn:
    @each_row(
        "typed, name",
        [
            ("127.0.0.1:8080", "local"),
            ("localhost:1", "local"),
            ("127.evil.example:1", "127-evil-example"),
            ("gpu-box:8000", "gpu-box"),
            ("gate.example.com", "gate-example-com"),
            ("openai", "openai-2"),
        ],
    )
    def test_is_named_after_its_host(self, manager, typed, name):
        made = manager()
        draft = made.with_address(made.connection(OWN_SERVER), typed)
        assert draft.provider.name == name

    async def test_keeps_its_name_and_another_gets_another(self, manager):
        made = manager()
        draft = made.with_address(made.connection(OWN_SERVER), "127.0.0.1:1")
        await made.keep(draft, "a")
        again = made.with_address(made.connection(OWN_SERVER), "127.0.0.1:1")
        other = made.with_address(made.connection(OWN_SERVER), "127.0.0.1:2")
        assert (again.provider.name, other.provider.name) == ("local", "local-2")

    async def test_does_not_replace_one_that_another_window_has_connected_meanwhile(self, manager):
        windows = [manager(), manager()]
        drafts = [
            window.with_address(window.connection(OWN_SERVER), f"127.0.0.1:{port}")
            for port, window in enumerate(windows, start=1)
        ]
        kept = [
            await window.keep(draft, "m") for window, draft in zip(windows, drafts, strict=True)
        ]
        assert kept == ["local:m", "local-2:m"]
        later = manager()
        addresses = [later.provider(name).base_url for name in ("local", "local-2")]
        assert addresses == ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]


async def test_a_server_of_the_configuration_can_be_connected_and_is_at_the_next_start(manager):
    gate = '[providers.gate]\nbase_url = "http://gate/v1"\n'
    made = manager(gate)
    assert await made.keep(made.connection("gate"), "m") == "gate:m"
    later = manager(gate)
    assert later._models.first().name == "gate:m"
    assert later.provider("gate").base_url == "http://gate/v1"
    without = manager()
    assert without._models.first().name == "offline:guide", "it has no address any more"
    await without.keep(without.with_key(without.connection("openai"), KEY), "gpt-6")
    assert "gate" not in {row.name for row in without.rows()}


async def test_a_key_that_was_pasted_goes_to_a_file_and_is_used_until_that_is_gone(manager, file):
    made, written = manager(), file.parent / "keys" / "openai.key"
    draft = made.with_key(made.connection("openai"), f" {KEY}\n")
    assert await made.keep(draft, "gpt-6") == "openai:gpt-6"
    assert written.read_text().strip() == KEY
    assert made._models.first().name == "openai:gpt-6"
    assert made.connection("openai").key.reveal() == KEY
    assert KEY not in repr(draft) + repr(made.connection("openai"))
    written.unlink()
    assert made.connection("openai").key is None, "it is asked for again"


async def test_a_key_goes_to_the_server_that_it_was_given_for_also_without_its_variable(manager):
    made = manager(OPENAI_BASE_URL="http://gate/v1")
    await made.keep(made.with_key(made.connection("openai"), KEY), "gpt-6")
    assert manager().connection("openai").provider.base_url == "http://gate/v1"
    made = manager(OPENAI_API_KEY=KEY, AZURE_OPENAI_API_KEY=KEY)
    assert made.with_address(made.connection("openai"), "http://elsewhere/v1").key is None
    # That of a variable to the address that only the user knows.
    moved = made.with_address(made.connection("azure"), "mine.openai.azure.com")
    assert moved.provider.base_url == "https://mine.openai.azure.com/openai/v1"
    assert moved.key.reveal() == KEY


@pytest.mark.parametrize(
    ("config", "environ"),
    [("", {"OPENAI_API_KEY": KEY}), ('[providers.openai]\napi_key_file = "own.key"', {})],
)
async def test_a_key_of_the_environment_or_the_configuration_is_written_nowhere(
    manager, file, config, environ
):
    (file.parent / "own.key").write_text(KEY)
    (file.parent / "own.key").chmod(0o600)
    made = manager(config, **environ)
    await made.keep(made.connection("openai"), "gpt-6")
    assert not (file.parent / "keys").exists()
    assert load_connections(file.with_name("connections.toml")).model == "openai:gpt-6"


async def test_a_damaged_file_is_said_and_nothing_changes(manager, file):
    made = manager()
    file.with_name("connections.toml").write_text("nonsense")
    with pytest.raises(ConfigError):
        await made.keep(made.with_key(made.connection("openai"), KEY), "gpt-6")
    assert made._models.first().name == "offline:guide"
    assert file.with_name("connections.toml").read_text() == "nonsense"


def test_what_was_found_comes_first_then_the_usual_and_every_row_of_the_table_is_there(manager):
    rows = manager(OPENAI_API_KEY=KEY, GROQ_API_KEY=KEY).rows()
    above = ["openai", "groq", "anthropic", "google", "ollama"]
    others = [name for name in KNOWN_SERVERS if name not in above]
    assert [row.name for row in rows] == [*above, OWN_SERVER, *others]
    assert [row.note for row in rows][:2] == ["OPENAI_API_KEY is set", "GROQ_API_KEY is set"]


def test_a_local_server_is_shown_with_its_address_and_never_asked_by_itself(manager):
    made = manager()
    notes = {row.name: row.note for row in made.rows()}
    assert notes["lmstudio"] == "127.0.0.1:1234"
    assert ModelLists(made, made._models, None, lambda: None).due(anew=True) == ["ollama"]
    # One that has answered is found.
    first, *_ = made.rows(["ollama"])
    assert (first.name, first.note) == ("ollama", "running")


async def test_a_server_without_a_list_is_not_asked_for_one(manager):
    made = manager()
    await made.keep(made.connection("bedrock"), "a")
    lists = ModelLists(made, made._models, None, lambda: None)
    assert lists.due(anew=True) == ["ollama"]
    with pytest.raises(NoModelList, match=r"^Amazon Bedrock cannot be asked for its models\.$"):
        await lists.listed(made.connection("bedrock"))
    assert "bedrock:a" in [row.name for row in lists.rows("").rows]


GPU = '[providers.gpu]\nbase_url = "http://gpu/v1"'


@each_row(
    "config, environ, title, note",
    [
        ("", {"OPENAI_BASE_URL": "http://gate/v1"}, "OpenAI", "OPENAI_API_KEY is not set"),
        (f'{GPU}\napi_key_env = "GPU_KEY"', {}, "gpu", "GPU_KEY is not set"),
        (GPU, {}, "gpu", ""),
        ("", {}, "OpenAI", ""),
    ],
)
def test_what_a_provider_lacks_stands_beside_it(manager, config, environ, title, note):
    notes = {row.title: row.note for row in manager(config, **environ).rows()}
    assert notes[title] == note


@pytest.fixture
def lists_at(manager, tmp_path):
    """Makes the lists of a run whose OpenAI is at an address; a file keeps them for the next."""

    def lists_at(address):
        made = manager(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=address)
        lists = ModelLists(made, made._models, tmp_path / "models.json", Clock())
        return made, lists

    return lists_at


def models_of(lists):
    return {row.name: row.facts.window for row in lists.rows("").rows}


async def test_a_list_and_its_windows_are_kept_for_the_next_run_at_this_address(lists_at):
    listed = b'{"data": [{"id": "gpt-6-luna", "context_window": 77000}, {"id": "a"}]}'
    with ChatServer(lists=[sends(listed, "application/json")]) as server:
        made, lists = lists_at(server.base_url)
        assert await lists.listed(made.connection("openai")) == ("gpt-6-luna", "a")
        made, later = lists_at(server.base_url)
    await later.begin()
    assert models_of(later).items() >= {"openai:gpt-6-luna": 77_000, "openai:a": None}.items()
    assert "openai:a" in made._models.names()
    _, moved = lists_at("http://elsewhere/v1")
    await moved.begin()
    assert "openai:a" not in models_of(moved)


async def test_an_answer_counts_more_than_the_lists_read_meanwhile(lists_at, tmp_path):
    cache = tmp_path / "models.json"
    replies = [
        sends(b'{"data": [{"id": "%s"}]}' % name, "application/json") for name in (b"old", b"new")
    ]
    with ChatServer(lists=replies) as server:
        made, lists = lists_at(server.base_url)
        await lists.listed(made.connection("openai"))
        kept = cache.read_bytes()
        made, later = lists_at(server.base_url)
        await later.listed(made.connection("openai"))
    cache.write_bytes(kept)
    await later.begin()
    assert "openai:new" in made._models.names()


async def test_a_name_that_is_never_looked_up_is_given_up(manager, monkeypatch):
    monkeypatch.setattr("tui.engine.model_lists._GIVE_UP_SECONDS", 0.05)
    monkeypatch.setattr("tui.providers.listed_models.list_models", lambda _: time.sleep(1))
    made = manager(OPENAI_API_KEY=KEY)
    lists = ModelLists(made, made._models, None, lambda: None)
    with pytest.raises(ModelUnavailable, match="did not answer"):
        await lists.listed(made.connection("openai"))
