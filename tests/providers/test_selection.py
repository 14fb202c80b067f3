"""The table of choices: which model answers in which circumstances, and what is said about it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tui.config import Connections, Flags, ProviderSettings, Settings, load_settings
from tui.domain.providers import PROVIDERS
from tui.errors import ConfigError, ModelUnavailable
from tui.providers.catalog import ModelChoice, provider_of
from tui.providers.guide import OfflineGuide
from tui.providers.selection import build, choose, is_known, named
from tui.storage.connections import write_key

KEY = "sk-test-0123456789"
OPENAI = {"OPENAI_API_KEY": KEY}
ANTHROPIC = {"ANTHROPIC_API_KEY": KEY}
AZURE = {
    "AZURE_OPENAI_API_KEY": KEY,
    "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/",
}
SERVER = (
    '[providers.local]\nbase_url = "http://127.0.0.1:8080/v1"\nmodels = ["qwen3", "qwen3:4b"]\n'
)
KEYED = SERVER + 'api_key_env = "LOCAL_API_KEY"\n'
CLAUDE = "anthropic:claude-sonnet-5-5"

SettingsWith = Callable[..., Settings]


@pytest.fixture
def settings_with(tmp_path: Path) -> SettingsWith:
    def settings_with(
        text: str = "", environ: dict[str, str] | None = None, model: str | None = None
    ) -> Settings:
        file = tmp_path / "config.toml"
        file.write_text(text)
        return load_settings(file, environ or {}, Flags(model=model))

    return settings_with


def nothing(_: str) -> None:
    return None


def llama(_: str) -> str:
    return "llama3.2"


class TestTheFirstThatIsFound:
    @pytest.mark.parametrize(
        ("environ", "text", "ollama", "name"),
        [
            ({}, "", nothing, "offline:guide"),
            (ANTHROPIC, "", nothing, CLAUDE),
            (OPENAI, "", nothing, "openai:gpt-6-luna"),
            (OPENAI | ANTHROPIC, SERVER, llama, CLAUDE),
            (OPENAI, SERVER, llama, "openai:gpt-6-luna"),
            ({}, SERVER, nothing, "local:qwen3"),
            ({}, KEYED, nothing, "offline:guide"),
            ({"LOCAL_API_KEY": KEY}, KEYED, nothing, "local:qwen3"),
            ({}, "", llama, "ollama:llama3.2"),
            (ANTHROPIC, "", llama, CLAUDE),
            (
                ANTHROPIC,
                '[providers.anthropic]\nmodels = ["claude-x"]',
                llama,
                "anthropic:claude-x",
            ),
            ({"ANTHROPIC_API_KEY": " "}, "", nothing, "offline:guide"),
            ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "", nothing, "offline:guide"),
            ({}, KEYED, llama, "ollama:llama3.2"),
            ({}, '[providers.ollama]\nmodels = ["mine"]', llama, "ollama:mine"),
            ({}, '[providers.ollama]\nmodels = ["mine"]', nothing, "offline:guide"),
            (OPENAI, '[providers.openai]\nmodels = ["gpt-x"]', nothing, "openai:gpt-x"),
            ({"OPENAI_API_KEY": " "}, "", nothing, "offline:guide"),
            ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "", nothing, "offline:guide"),
            ({"GROQ_API_KEY": KEY}, SERVER, llama, "groq:openai/gpt-oss-120b"),
            ({"GROQ_API_KEY": KEY, "XAI_API_KEY": KEY} | OPENAI, "", llama, "openai:gpt-6-luna"),
            ({"XAI_API_KEY": KEY, "GROQ_API_KEY": KEY}, "", llama, "groq:openai/gpt-oss-120b"),
            ({"AZURE_OPENAI_API_KEY": KEY}, "", llama, "ollama:llama3.2"),
            (AZURE, "", llama, "ollama:llama3.2"),
            (AZURE, '[providers.azure]\nmodels = ["mine"]', llama, "azure:mine"),
            ({"AWS_BEARER_TOKEN_BEDROCK": KEY}, "", llama, "ollama:llama3.2"),
            ({"HF_TOKEN": KEY}, "", nothing, "huggingface:openai/gpt-oss-120b"),
            ({"HF_TOKEN": KEY}, "", llama, "ollama:llama3.2"),
            ({"HF_TOKEN": KEY}, SERVER, nothing, "local:qwen3"),
            ({"HF_TOKEN": KEY, "GROQ_API_KEY": KEY}, "", llama, "groq:openai/gpt-oss-120b"),
            (
                {"HF_TOKEN": KEY},
                '[providers.huggingface]\nmodels = ["mine"]',
                llama,
                "huggingface:mine",
            ),
            ({"GOOGLE_API_KEY": KEY}, "", llama, "ollama:llama3.2"),
            ({"GEMINI_API_KEY": KEY}, "", llama, "google:gemini-3.5-flash"),
            ({}, "[providers.lmstudio]\nmodels = ['a']", nothing, "offline:guide"),
        ],
    )
    def test_is_taken(self, settings_with: SettingsWith, environ, text, ollama, name):
        choice, _ = choose(settings_with(text), environ, find_ollama=ollama)
        assert choice.name == name

    def test_is_asked_of_the_ollama_that_is_meant(self, settings_with: SettingsWith):
        asked: list[str] = []
        environ = {"OLLAMA_HOST": "127.0.0.1:8000"}
        choose(settings_with(), environ, find_ollama=asked.append)
        choose(settings_with(), {}, find_ollama=asked.append)
        choose(
            settings_with('[providers.ollama]\nbase_url = "http://127.0.0.1:9000/v1"'),
            {},
            find_ollama=asked.append,
        )
        assert asked == [
            "http://127.0.0.1:8000/v1",
            "http://127.0.0.1:11434/v1",
            "http://127.0.0.1:9000/v1",
        ]

    def test_is_not_asked_for_where_something_else_was_found(self, settings_with: SettingsWith):
        def find(_: str) -> str:
            pytest.fail("Ollama was asked")

        choose(settings_with(), OPENAI, find_ollama=find)
        choose(settings_with(), ANTHROPIC, find_ollama=find)
        choose(settings_with(SERVER), {}, find_ollama=find)
        choose(settings_with(model="offline:guide"), {}, find_ollama=find)

    @pytest.mark.parametrize(
        ("environ", "text", "notices"),
        [
            ({}, "", []),
            (OPENAI, "", []),
            (ANTHROPIC, "", []),
            (OPENAI | ANTHROPIC, "", []),
            (
                {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
                "",
                ["ANTHROPIC_BASE_URL is set, but ANTHROPIC_API_KEY is not."],
            ),
            (
                {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
                "",
                ["OPENAI_BASE_URL is set, but OPENAI_API_KEY is not."],
            ),
        ],
    )
    def test_is_told_with_what_was_passed_over(
        self, settings_with: SettingsWith, environ, text, notices
    ):
        _, told = choose(settings_with(text), environ, find_ollama=nothing)
        assert list(told) == notices

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"AZURE_OPENAI_API_KEY": KEY}, "azure: no models listed."),
            (AZURE, "azure: no models listed."),
            (
                {"AZURE_OPENAI_ENDPOINT": "https://mine"},
                "AZURE_OPENAI_ENDPOINT is set, but AZURE_OPENAI_API_KEY is not.",
            ),
        ],
    )
    def test_is_told_with_an_azure_that_lacks_something(
        self, settings_with: SettingsWith, environ, said
    ):
        _, (told,) = choose(settings_with(), environ, find_ollama=nothing)
        assert told.startswith(said)

    @pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    def test_may_have_either_key_of_google(self, settings_with: SettingsWith, variable: str):
        choice, told = choose(settings_with(), {variable: KEY}, find_ollama=nothing)
        assert (choice.name, told) == (f"google:{PROVIDERS['google'].models[0]}", ())
        assert choice.key is not None
        assert choice.key.source == variable

    def test_is_told_with_a_server_that_lacks_its_key(self, settings_with: SettingsWith):
        _, (told,) = choose(settings_with(KEYED), {}, find_ollama=nothing)
        assert told.startswith("local requires a key. Press F5 to enter it, set LOCAL_API_KEY,")

    def test_is_told_with_a_server_that_lacks_a_model(self, settings_with: SettingsWith):
        text = '[providers.local]\nbase_url = "http://127.0.0.1:8080/v1"'
        choice, (told,) = choose(settings_with(text), {}, find_ollama=nothing)
        assert choice.name == "offline:guide"
        assert told.startswith("local: no models listed.")


class TestTheOneThatWasAskedFor:
    @pytest.mark.parametrize(
        ("asked", "name"),
        [
            ("anthropic:claude-x", "anthropic:claude-x"),
            ("anthropic", CLAUDE),
            ("openai:gpt-x", "openai:gpt-x"),
            ("openai", "openai:gpt-6-luna"),
            ("ollama:qwen3:4b", "ollama:qwen3:4b"),
            ("ollama", "ollama:llama3.2"),
            ("local:other", "local:other"),
            ("local", "local:qwen3"),
            ("offline:guide", "offline:guide"),
            ("offline", "offline:guide"),
        ],
    )
    def test_is_taken_whatever_else_there_is(self, settings_with: SettingsWith, asked, name):
        environ = OPENAI | ANTHROPIC
        choice, notices = choose(settings_with(SERVER, {}, asked), environ, find_ollama=llama)
        assert (choice.name, notices) == (name, ())

    def test_by_a_flag_comes_before_the_variable_and_that_before_the_file(
        self, settings_with: SettingsWith
    ):
        text = f'model = "openai:from-file"\n{SERVER}'
        environ = OPENAI | {"SIBYL_MODEL": "openai:from-variable"}
        for settings, name in (
            (settings_with(text, environ, "openai:from-flag"), "openai:from-flag"),
            (settings_with(text, environ), "openai:from-variable"),
            (settings_with(text, OPENAI), "openai:from-file"),
        ):
            assert choose(settings, environ, find_ollama=nothing)[0].name == name

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ("anthropic", "anthropic requires a key. Press F5 to enter it, set ANTHROPIC_API_KEY,"),
            ("openai:gpt-x", "openai requires a key. Press F5 to enter it, set OPENAI_API_KEY, or"),
            ("keyed:a", "keyed requires a key. Press F5 to enter it, set KEYED_API_KEY,"),
            ("nobody:a", 'There is no provider "nobody". Known are anthropic, openai,'),
            ("gpt-4o", 'There is no provider "gpt-4o". .* A model is named PROVIDER:MODEL'),
            ("ollama", "No Ollama with a model answers at http://127.0.0.1:11434/v1."),
            ("groq", "groq requires a key. Press F5 to enter it, set GROQ_API_KEY, or add"),
            ("azure:mine", "azure requires an address. Press F5 to enter it, set AZURE_OPENAI_E"),
            ("lmstudio", "lmstudio: no models listed. Choose one with /model, or add models ="),
            ("bare", "bare: no models listed. Choose one with /model, or add models ="),
            (
                "offline:other",
                "There is no model offline:other. The built-in guide is offline:guide.",
            ),
        ],
    )
    def test_but_cannot_be_had_is_told_with_what_to_do(
        self, settings_with: SettingsWith, asked, said
    ):
        text = (
            '[providers.keyed]\nbase_url = "http://h/v1"\napi_key_env = "KEYED_API_KEY"\n'
            '[providers.bare]\nbase_url = "http://h/v1"\n'
        )
        with pytest.raises(ModelUnavailable, match=f"^{said.replace('[', '.')}"):
            choose(settings_with(text, {}, asked), {}, find_ollama=nothing)

    def test_without_a_key_names_the_lines_of_the_settings(self, settings_with: SettingsWith):
        settings = settings_with(model="openai:gpt-x")
        with pytest.raises(ModelUnavailable) as caught:
            choose(settings, {}, find_ollama=nothing)
        said = f'add api_key_file = "openai.key" to [providers.openai] in {settings.file}.'
        assert said in str(caught.value)


class TestWhatASessionProposes:
    TEXT = f'model = "local:qwen3"\n{SERVER}'

    @pytest.mark.parametrize(
        ("proposed", "environ", "name"),
        [
            ("local:qwen3:4b", {}, "local:qwen3:4b"),
            ("openai:gpt-6-luna", OPENAI, "openai:gpt-6-luna"),
            ("openai:gpt-6-luna", {}, "local:qwen3"),
            ("openai:gpt-dear", OPENAI, "local:qwen3"),
            ("local:unlisted", {}, "local:qwen3"),
            ("elsewhere:qwen3", {}, "local:qwen3"),
            (CLAUDE, ANTHROPIC, CLAUDE),
            (CLAUDE, OPENAI, "local:qwen3"),
            ("anthropic:claude-dear", ANTHROPIC, "local:qwen3"),
            ("offline:guide", {}, "local:qwen3"),
            ("ollama:llama3.2", {}, "local:qwen3"),
            ("openai", OPENAI, "local:qwen3"),
            ("", {}, "local:qwen3"),
            (":", {}, "local:qwen3"),
            ("\x1b[31m:\ud800", {}, "local:qwen3"),
        ],
    )
    def test_is_taken_only_if_the_settings_know_it(
        self, settings_with: SettingsWith, proposed, environ, name
    ):
        settings = settings_with(self.TEXT)
        choice, _ = choose(settings, environ, proposed, find_ollama=nothing)
        assert choice.name == name
        assert is_known(proposed, settings, environ) == (proposed == name)

    def test_is_told_if_something_else_is_asked(self, settings_with: SettingsWith):
        settings = settings_with(self.TEXT)
        _, notices = choose(settings, {}, "openai:gpt-dear", find_ollama=nothing)
        said = "openai:gpt-dear is not in your settings. local:qwen3 answers instead."
        assert notices == (said,)

    @pytest.mark.parametrize("proposed", ["local:qwen3", "local:qwen3:4b", "offline:guide"])
    def test_is_not_told_if_that_is_what_is_asked_or_was_the_guide(
        self, settings_with: SettingsWith, proposed
    ):
        _, notices = choose(settings_with(self.TEXT), {}, proposed, find_ollama=nothing)
        assert notices == ()

    def test_comes_after_a_flag_or_a_variable(self, settings_with: SettingsWith):
        for settings in (
            settings_with(self.TEXT, {}, "local:other"),
            settings_with(self.TEXT, {"SIBYL_MODEL": "local:other"}),
        ):
            choice, notices = choose(settings, {}, "local:qwen3:4b", find_ollama=nothing)
            assert (choice.name, notices) == ("local:other", ())


class TestTheChoice:
    def test_has_what_the_table_says(self, settings_with: SettingsWith):
        choice, _ = choose(settings_with(), OPENAI, find_ollama=nothing)
        table = PROVIDERS["openai"]
        assert choice.base_url == "https://api.openai.com/v1"
        assert (choice.timeout, choice.retries) == (table.timeout, table.retries) == (60, 2)
        assert choice.context_window == table.context_window == 128_000
        assert choice.dialect == "responses"

    @pytest.mark.parametrize(
        ("text", "dialect"),
        [
            ("base_url = 'https://api.openai.com/v1'", "responses"),
            ("base_url = 'https://API.OpenAI.com/v1/'", "responses"),
            ("base_url = 'https://api.openai.com.example.org/v1'", "openai"),
            ("base_url = 'http://127.0.0.1:8000/v1'", "openai"),
            ("dialect = 'openai'", "openai"),
            ("base_url = 'http://127.0.0.1:8000/v1'\ndialect = 'responses'", "responses"),
        ],
    )
    def test_speaks_responses_unasked_at_the_address_of_openai_only(
        self, settings_with: SettingsWith, text: str, dialect: str
    ):
        settings = settings_with(f"[providers.openai]\n{text}")
        choice, _ = choose(settings, OPENAI, find_ollama=nothing)
        assert choice.dialect == dialect

    def test_of_anthropic_speaks_its_dialect(self, settings_with: SettingsWith):
        choice, _ = choose(settings_with(), ANTHROPIC, find_ollama=nothing)
        assert choice.dialect == "anthropic"
        assert choice.base_url == "https://api.anthropic.com"
        assert (choice.context_window, choice.answer_tokens) == (200_000, 32_000)
        assert choice.key is not None
        assert choice.key.source == "ANTHROPIC_API_KEY"

    def test_of_anthropic_is_asked_where_its_variable_says(self, settings_with: SettingsWith):
        environ = ANTHROPIC | {"ANTHROPIC_BASE_URL": "http://variable"}
        choice, _ = choose(settings_with(), environ, find_ollama=nothing)
        assert choice.base_url == "http://variable"

    def test_of_azure_has_the_path_of_its_api_and_its_header(self, settings_with: SettingsWith):
        choice, _ = choose(settings_with(model="azure:mine"), AZURE, find_ollama=nothing)
        assert choice.base_url == "https://mine.openai.azure.com/openai/v1"
        assert (choice.key_header, choice.key_form) == ("api-key", "{}")
        assert choice.max_tokens_name == "max_completion_tokens"

    def test_of_azure_has_its_address_as_it_stands_if_it_has_a_path(
        self, settings_with: SettingsWith
    ):
        address = "https://mine.openai.azure.com/openai/deployments/a"
        environ = AZURE | {"AZURE_OPENAI_ENDPOINT": address}
        choice, _ = choose(settings_with(model="azure:mine"), environ, find_ollama=nothing)
        assert choice.base_url == address

    def test_has_what_the_settings_say_instead(self, settings_with: SettingsWith):
        text = (
            '[providers.openai]\nbase_url = "http://gate/v1"\ncontext_window = 5\n'
            'timeout = 7\nretries = 0\napi_key_env = "OTHER_KEY"'
        )
        choice, _ = choose(settings_with(text), {"OTHER_KEY": KEY}, find_ollama=nothing)
        assert choice.base_url == "http://gate/v1"
        assert (choice.context_window, choice.timeout, choice.retries) == (5, 7, 0)
        assert choice.key is not None
        assert choice.key.source == "OTHER_KEY"

    def test_has_the_window_of_its_own_table_before_that_of_its_provider(
        self, settings_with: SettingsWith
    ):
        text = (
            'model = "openai:a"\n[models."openai:a"]\ncontext_window = 2_000_000\n'
            "[providers.openai]\ncontext_window = 5"
        )
        settings = settings_with(text)
        assert named("openai:a", settings, OPENAI).configured_window == 2_000_000
        assert named("openai:b", settings, OPENAI).configured_window == 5
        assert named("openai:b", settings_with(), OPENAI).configured_window is None

    def test_sees_pictures_as_its_own_table_says_before_that_of_its_provider(
        self, settings_with: SettingsWith
    ):
        text = (
            'model = "openai:a"\n[models."openai:a"]\nimages = true\n'
            "[providers.openai]\nimages = false"
        )
        settings = settings_with(text)
        assert named("openai:a", settings, OPENAI).configured_images is True
        assert named("openai:b", settings, OPENAI).configured_images is False
        assert named("openai:b", settings_with(), OPENAI).configured_images is None

    def test_has_all_that_the_settings_say_of_its_server(self, settings_with: SettingsWith):
        text = (
            'model = "gate:m"\nproxy = "http://me:pass@above:1"\n[providers.gate]\n'
            'base_url = "http://gate"\ndialect = "anthropic"\nkey_header = "api-key"\n'
            'headers = { X-Team = "blue" }\nquery = { api-version = "1" }\n'
            "extra_body = { tier = { name = 1 } }\nstream_options = false\n"
            'max_tokens_name = "max_completion_tokens"\nclient_certificate = "/c.pem"\n'
            'client_key = "/c.key"\nkey_command = ["pass", "gate"]\ncontext_window = 10_000_000\n'
        )
        choice, _ = choose(settings_with(text), {}, find_ollama=nothing)
        assert choice.dialect == "anthropic"
        assert (choice.key, choice.key_command) == (None, ("pass", "gate"))
        assert (choice.key_header, choice.key_form) == ("api-key", "{}")
        assert {name: text.reveal() for name, text in choice.headers.items()} == {"X-Team": "blue"}
        assert (choice.query, choice.extra_body) == ({"api-version": "1"}, {"tier": {"name": 1}})
        assert (choice.stream_options, choice.max_tokens_name) == (False, "max_completion_tokens")
        assert (choice.client_certificate, choice.client_key) == ("/c.pem", "/c.key")
        assert choice.context_window == 10_000_000
        provider = provider_of(choice)
        assert (provider.proxy, provider.headers) == ("http://me:pass@above:1", {"X-Team": "blue"})
        for secret in ("blue", "me:pass"):
            assert secret not in repr(choice) + repr(provider)

    @pytest.mark.parametrize(
        ("text", "proxy"),
        [
            ("[providers.openai]", None),
            ('proxy = ""', ""),
            ('proxy = "http://a:1"\n[providers.openai]\nproxy = ""', ""),
            ('proxy = "http://a:1"\n[providers.openai]\nproxy = "http://b:1"', "http://b:1"),
        ],
    )
    def test_has_the_proxy_of_its_server_before_that_of_all(
        self, settings_with: SettingsWith, text: str, proxy: str | None
    ):
        choice, _ = choose(settings_with(text), OPENAI, find_ollama=nothing)
        assert provider_of(choice).proxy == proxy

    def test_of_a_vendor_whose_key_a_command_prints_is_taken(self, settings_with: SettingsWith):
        text = '[providers.openai]\nkey_command = ["pass", "openai"]'
        choice, _ = choose(settings_with(text), {}, find_ollama=nothing)
        assert (choice.name, choice.key) == ("openai:gpt-6-luna", None)

    def test_has_the_address_of_the_variable_before_that_of_the_settings(
        self, settings_with: SettingsWith
    ):
        environ = OPENAI | {"OPENAI_BASE_URL": "http://variable/v1"}
        text = '[providers.openai]\nbase_url = "http://file/v1"'
        choice, _ = choose(settings_with(text), environ, find_ollama=nothing)
        assert choice.base_url == "http://variable/v1"

    @pytest.mark.parametrize(
        ("variable", "model"),
        [
            ("OPENAI_BASE_URL", "openai"),
            ("ANTHROPIC_BASE_URL", "anthropic"),
            ("OLLAMA_HOST", "ollama:a"),
        ],
    )
    def test_with_a_variable_that_is_no_address_is_an_error(
        self, settings_with: SettingsWith, variable, model
    ):
        environ = OPENAI | {variable: "http://[zz"}
        with pytest.raises(ConfigError, match=f"^environment: {variable}: expected the address"):
            choose(settings_with(model=model), environ, find_ollama=nothing)

    def test_has_the_key_of_a_file(self, settings_with: SettingsWith, tmp_path: Path):
        file = tmp_path / "openai.key"
        file.write_text(KEY)
        file.chmod(0o600)
        settings = settings_with('[providers.openai]\napi_key_file = "openai.key"')
        choice, _ = choose(settings, {}, find_ollama=nothing)
        assert choice.name == "openai:gpt-6-luna"
        assert choice.key is not None
        assert (choice.key.reveal(), choice.key.source) == (KEY, str(file))

    def test_has_the_key_of_the_variable_before_that_of_a_file(self, settings_with: SettingsWith):
        settings = settings_with('[providers.openai]\napi_key_file = "none"')
        choice, _ = choose(settings, OPENAI, find_ollama=nothing)
        assert choice.key is not None
        assert choice.key.source == "OPENAI_API_KEY"

    def test_with_a_key_file_that_others_may_read_is_an_error(
        self, settings_with: SettingsWith, tmp_path: Path
    ):
        (tmp_path / "openai.key").write_text(KEY)
        (tmp_path / "openai.key").chmod(0o644)
        settings = settings_with('[providers.openai]\napi_key_file = "openai.key"')
        with pytest.raises(ConfigError, match="chmod 600") as caught:
            choose(settings, {}, find_ollama=nothing)
        assert KEY not in str(caught.value)

    def test_never_shows_its_key(self, settings_with: SettingsWith):
        choice, _ = choose(settings_with(), OPENAI, find_ollama=nothing)
        assert KEY not in f"{choice!r} {choice}"

    def test_of_ollama_sends_no_key_of_anyone_elses(self, settings_with: SettingsWith):
        choice, _ = choose(settings_with(model="ollama:a"), OPENAI, find_ollama=nothing)
        assert choice.key is None
        assert choice.base_url == "http://127.0.0.1:11434/v1"


class TestAConnection:
    """What was connected on the screen comes below the user's own settings."""

    @pytest.fixture
    def connected(self, settings_with: SettingsWith, tmp_path: Path):
        def connected(text: str = "", model: str | None = "openai:gpt-6", flag: str | None = None):
            key = write_key(tmp_path / "connections.toml", "openai", "sk-pasted-0123456789")
            openai = ProviderSettings(api_key_file=str(key))
            kept = Connections(model=model, recent=("openai:gpt-6",), providers={"openai": openai})
            return replace(settings_with(text, {}, flag), connections=kept)

        return connected

    @pytest.mark.parametrize(
        ("text", "environ", "flag", "name"),
        [
            ("", {}, None, "openai:gpt-6"),
            ("", ANTHROPIC, None, "openai:gpt-6"),
            (f'model = "local:qwen3"\n{SERVER}', {}, None, "local:qwen3"),
            ("", {}, "openai:other", "openai:other"),
        ],
    )
    def test_answers_after_flag_and_configuration_and_before_the_first_variable(
        self, connected, text, environ, flag, name
    ):
        choice, _ = choose(connected(text, flag=flag), environ, find_ollama=nothing)
        assert choice.name == name

    def test_has_the_key_that_was_pasted_before_the_usual_variable(self, connected):
        choice, _ = choose(connected(), OPENAI, find_ollama=nothing)
        assert choice.key.reveal() == "sk-pasted-0123456789"

    def test_has_the_key_of_a_variable_that_the_configuration_names(self, connected):
        text = '[providers.openai]\napi_key_env = "OTHER_KEY"'
        choice, _ = choose(connected(text), {"OTHER_KEY": KEY}, find_ollama=nothing)
        assert choice.key.reveal() == KEY

    def test_whose_key_is_gone_asks_for_a_new_one(self, connected, tmp_path: Path):
        settings = connected()
        (tmp_path / "keys" / "openai.key").unlink()
        with pytest.raises(ModelUnavailable, match=r"The key of openai cannot be used.* F5 takes"):
            choose(settings, {}, find_ollama=nothing)

    def test_lets_a_session_have_the_models_that_were_chosen(self, connected):
        settings = connected(model=None)
        assert is_known("openai:gpt-6", settings, {})
        assert is_known("openai:gpt-6-luna", settings, {})
        assert not is_known("openai:gpt-dear", settings, {})


class TestBuilding:
    def test_the_guide_needs_no_server(self):
        assert isinstance(build(ModelChoice("offline", "guide")), OfflineGuide)

    def test_a_model_has_the_name_and_the_window_of_the_choice(self):
        choice = ModelChoice("local", "qwen3", "http://127.0.0.1:1/v1", context_window=77)
        model = build(choice)
        assert (model.name, model.context_window) == ("local:qwen3", 77)

    @pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "google"])
    def test_a_model_imports_no_more_than_it_needs(self, dialect: str):
        code = (
            "import sys\n"
            "from tui.providers.catalog import ModelChoice\n"
            "from tui.providers.selection import build\n"
            f"build(ModelChoice('local', 'm', 'http://127.0.0.1:1', dialect={dialect!r}))\n"
            "print(*sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        loaded = set(done.stdout.split())
        assert "httpx2" in loaded
        assert not loaded & {"boto3", "genai_prices", "pydantic"}
