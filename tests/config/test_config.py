"""Settings: what may be in the file, what is said of what may not, and what counts."""

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.tables import each_row
from tui.config.loading import Flags, load_settings
from tui.config.settings_schema import (
    Config,
    ModelTable,
    ProviderSettings,
    faults,
)
from tui.config.writing import as_toml, example
from tui.domain.providers import KNOWN_SERVERS
from tui.errors import ConfigError

Write = Callable[[str], Path]


def load_config(file):
    return load_settings(file, {}).config


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        file = tmp_path / "config.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


ALL = Path(__file__).with_name("samples").joinpath("all.toml").read_text("utf-8")


_FILES = ("openai.key", "client.pem", "client.key")


def _has(config: dict[str, Any], said: dict[str, Any]) -> bool:
    """True if each value of a file is that of the configuration, too."""
    return all(
        _has(config[key], value) if isinstance(value, dict) else config[key] == value
        for key, value in said.items()
    )


class TestTheFile:
    def test_may_be_missing_or_empty(self, write: Write, tmp_path: Path):
        config = load_config(tmp_path / "none" / "config.toml")
        assert config == load_config(write("")) == Config()
        assert config.auto_save_interval == 300
        assert config.max_open_sessions == 10
        assert config.retention.backlog_limit == 20
        assert config.retention.max_age_days == 30
        assert config.retention.action == "archive"

    def test_may_say_all_of_it(self, write: Write):
        config = load_config(write(ALL))
        assert _has(msgspec.json.decode(msgspec.json.encode(config)), tomllib.loads(ALL))
        assert config.system_prompt.endswith("簡潔に。")
        assert config.providers["openai"] == ProviderSettings(timeout=30, temperature=1)
        assert msgspec.structs.astuple(config.retention) == (5, 0, "trash")

    def test_understands_servers_of_tools_as_other_programs_write_them(self, write: Write):
        file = write(
            '[mcpServers.here]\ncommand = "npx"\nargs = ["-y", "server"]\nenv = { KEY = "blue" }\n'
            '[mcp.other]\ncommand = "serve"\n'
            '[mcp.listed]\ncommand = ["serve"]\nargs = ["--all"]\n'
        )
        settings = load_settings(file, {})
        servers = settings.config.mcp
        assert {name: each.command for name, each in servers.items()} == {
            "here": ("npx", "-y", "server"),
            "other": ("serve",),
            "listed": ("serve", "--all"),
        }
        assert servers["here"].env == {"KEY": "blue"}
        assert settings.sources["mcp.here.command"] == str(file)

    def test_names_programs_keys_and_certificates_from_where_it_is(
        self, write: Write, private_home: Path
    ):
        file = write(
            '[mcp.here]\ncommand = ["./serve", "./data"]\ncwd = "~/notes"\n'
            '[mcp.path]\ncommand = ["serve"]\n'
            '[providers.openai]\napi_key_file = "openai.key"\n'
            'client_certificate = "client.pem"\nclient_key = "client.key"\n'
            '[providers.ollama]\napi_key_file = "~/ollama.key"\n'
        )
        config, folder = load_config(file), file.parent
        here, path = config.mcp["here"], config.mcp["path"]
        assert here.command == (str(folder / "serve"), "./data")
        assert here.cwd == str(private_home / "notes")
        assert (path.command, path.cwd) == (("serve",), None)
        provider = config.providers["openai"]
        files = provider.api_key_file, provider.client_certificate, provider.client_key
        assert files == tuple(str(folder / f"{name}") for name in _FILES)
        assert config.providers["ollama"].api_key_file == str(private_home / "ollama.key")

    @pytest.mark.parametrize("kind", ["directory", "pipe", "device", "huge"])
    def test_that_no_program_could_read_to_its_end_is_an_error_at_once(
        self, tmp_path: Path, kind: str
    ):
        path = tmp_path / "config.toml"
        if kind == "directory":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            path.touch()
            os.truncate(path, 3 * 1024**3)
        said = {"huge": "it is larger than 1 MiB"}.get(kind, f"it is a {kind}, not a regular file")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert str(caught.value) == f"{path}: the file: cannot be read: {said}"

    def test_that_is_a_link_to_a_file_is_read(self, tmp_path: Path):
        (tmp_path / "dotfile").write_text('theme = "nord"')
        (tmp_path / "config.toml").symlink_to("dotfile")
        assert load_config(tmp_path / "config.toml").theme == "nord"

    def test_a_number_that_nobody_could_print_is_an_error(self, tmp_path: Path):
        path = tmp_path / "config.toml"
        path.write_text("auto_save_interval = 0x" + "f" * 10_000)
        with pytest.raises(ConfigError, match="got a longer one"):
            load_config(path)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("model = \n", "line 1, column 9: this is not TOML: Invalid value"),
            ('\n\nmodel = "a\n', "line 3, column 11: this is not TOML: "),
            ("theme", "end of document: this is not TOML: "),
            ("a = " + "9" * 5000, "the file: this is not TOML: "),
            ("a = " + "[" * 5000, "the file: is nested too deeply"),
            ("\n" + "a." * 40_000 + "a = 1", "line 2: expected at most 64 KiB of text"),
        ],
    )
    def test_that_is_no_toml_is_an_error_with_its_line(self, write: Write, text: str, said: str):
        file = write(text)
        with pytest.raises(ConfigError) as caught:
            load_config(file)
        assert str(caught.value).startswith(f"{file}: {said}")

    def test_that_is_no_text_is_an_error_with_its_line(self, tmp_path: Path):
        file = tmp_path / "config.toml"
        file.write_bytes(b"# fine\ntheme = '\xff'\n")
        with pytest.raises(ConfigError, match=r"config\.toml: line 2: expected text in UTF-8$"):
            load_config(file)


class TestAWrongValue:
    @each_row("text, said", rows(__file__, "wrong_values"))
    def test_is_an_error_with_file_key_and_what_was_expected(
        self, write: Write, text: str, said: str
    ):
        file = write(text)
        with pytest.raises(ConfigError) as caught:
            load_config(file)
        assert re.fullmatch(f"{re.escape(str(file))}: {said}", str(caught.value))

    @each_row("text, key, close", rows(__file__, "unknown_keys"))
    def test_a_key_that_is_not_there_is_an_error_with_the_closest_that_is(
        self, write: Write, text: str, key: str, close: str
    ):
        with pytest.raises(ConfigError) as caught:
            load_config(write(text))
        assert caught.value.key == key
        assert caught.value.expected.startswith("there is no such key; ")
        assert close in caught.value.expected

    @pytest.mark.parametrize(
        "text",
        [
            "[providers.openai]\napi_key = 'sk-secret'",
            "[providers.openai]\napi_key_env = 'sk-secret'",
            "[providers.openai]\nbase_url = 'sk-secret'",
            "[providers.openai]\nmodels = 'sk-secret'",
            "model = 'sk-secret is this'",
            "max_open_sessions = 'sk-secret'",
        ],
    )
    def test_is_not_quoted_for_it_may_be_a_key_in_the_wrong_place(self, write: Write, text: str):
        with pytest.raises(ConfigError) as caught:
            load_config(write(text))
        assert "sk-secret" not in str(caught.value)

    _VALUES = st.recursive(
        st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    )
    _KEYS = st.sampled_from([*Config.__struct_fields__, "other"])

    @given(st.dictionaries(_KEYS, _VALUES, max_size=4))
    def test_is_found_whenever_there_is_one(self, raw: dict[str, Any]):
        """The words are found by a second reading; it must agree with the first."""
        found = list(faults(raw, msgspec.inspect.type_info(Config), ""))
        try:
            msgspec.convert(raw, Config)
        except msgspec.ValidationError:
            right = False
        else:
            right = True
        assert right == (not found)


class TestWhatCounts:
    def test_is_a_flag_then_the_environment_unless_it_is_empty_then_the_file(self, write: Write):
        file = write('model = "openai:a"\nauto_save_interval = 7')
        environ = {
            "SIBYL_MODEL": "openai:b",
            "SIBYL_AUTO_SAVE_INTERVAL": "0",
            "SIBYL_SCOPE": "work",
        }
        flags = Flags(model="openai:c", scope="home", auto_save_interval=2.5)
        names = ("model", "auto_save_interval", "scope")
        of_environment = dict(zip(names, environ, strict=True))
        of_flags = {name: f"--{name.replace('_', '-')}" for name in names}
        of_file = dict.fromkeys(names[:2], str(file))
        for around, flag, values, sources in (
            ({}, None, ("openai:a", 7, None), of_file),
            (dict.fromkeys(environ, ""), None, ("openai:a", 7, None), of_file),
            (environ, None, ("openai:b", 0, "work"), of_environment),
            (environ, flags, ("openai:c", 2.5, "home"), of_flags),
        ):
            settings = load_settings(file, around, flag)
            config = settings.config
            assert (config.model, config.auto_save_interval, settings.scope) == values
            assert settings.sources == sources

    def test_a_wrong_variable_or_flag_is_an_error_that_names_it(self, write: Write):
        said = "^environment: SIBYL_AUTO_SAVE_INTERVAL: expected a number from 0 to 86400, got "
        for value in ("soon", "-1", "nan", "inf"):
            with pytest.raises(ConfigError, match=said):
                load_settings(write(""), {"SIBYL_AUTO_SAVE_INTERVAL": value})
        with pytest.raises(ConfigError, match=r"^command line: --auto-save-interval: expected"):
            load_settings(write(""), {}, Flags(auto_save_interval="often"))
        with pytest.raises(ConfigError, match=r"^command line: --model: expected PROVIDER:MODEL"):
            load_settings(write(""), {}, Flags(model="no such thing"))


class TestTheExample:
    def test_changes_nothing_as_it_is_printed(self, write: Write):
        assert load_config(write(example())) == Config()

    def test_loads_with_every_key_that_there_is_once_the_marks_are_taken_away(self, write: Write):
        text = re.sub(r"^#(?=\S)", "", example(), flags=re.MULTILINE)
        # A server of tools is a program or an address, but not both.
        text = re.sub(
            r"^(url|headers|client_(id|secret)) = .*(tools.example|Bearer|my-client|SECRET).*\n",
            "",
            text,
            flags=re.MULTILINE,
        )
        load_config(write(text))
        raw = tomllib.loads(text)
        assert set(raw) == set(Config.__struct_fields__)
        for table in ("retention", "hooks", "notify", "tools"):
            kind = type(getattr(Config(), table))
            assert set(raw[table]) == set(kind.__struct_fields__)
        assert set(raw["providers"]) == {"local", *KNOWN_SERVERS}
        assert set(raw["providers"]["local"]) == set(ProviderSettings.__struct_fields__)
        (model,) = raw["models"].values()
        assert set(model) == set(ModelTable.__struct_fields__)
        assert raw["keys"]

    def test_has_each_known_server_in_three_lines_and_explains_each_key(self):
        blocks = example().split("\n\n")
        known = [block for block in blocks if re.match(r"#\[providers\.(?!local)", block)]
        assert len(known) == len(KNOWN_SERVERS)
        assert all(len(block.splitlines()) == 3 for block in known)
        assert '#[providers.groq]\n#api_key_env = "GROQ_API_KEY"\n#models = ["' in example()
        lines = example().partition("\n# The known servers")[0].splitlines()
        keys = [place for place, line in enumerate(lines) if re.match(r"#\w+ = ", line)]
        assert keys
        assert all(lines[place - 1].startswith(("# ", "[keys]", "[prompts]")) for place in keys)


class TestWhatIsShown:
    def test_tells_each_setting_and_whence_it_is(self, write: Write):
        file = write(ALL)
        shown = as_toml(load_settings(file, {"SIBYL_MODEL": "openai:x"}, Flags(scope="work")))
        assert shown.startswith(f'# {file}\n# scope "work", from --scope\n')
        assert 'model = "openai:x"  # SIBYL_MODEL\n' in shown
        assert f"max_open_sessions = 3  # {file}\n" in shown
        assert '[models."openai:gpt-6-luna"]\n' in shown
        assert f"temperature = 0.2  # {file}\n" in shown
        assert "# context_window is not set\n" in shown
        shown = as_toml(load_settings(Path("/none/config.toml"), {}))
        assert shown.startswith("# /none/config.toml (not there)\n")

    def test_is_toml_that_means_the_same(self, write: Write):
        said = ALL.replace('"blue"', '"[hidden]"')
        config = load_config(write(said))
        shown = as_toml(load_settings(write(ALL), {}))
        assert load_config(write(shown)) == config

    def test_hides_the_values_of_headers_and_the_passwords_of_proxies(self, write: Write):
        file = write(
            'proxy = "http://me:secret@proxy:3128"\n'
            '[providers.openai]\nproxy = "http://token-secret@other"\n'
            '[providers.openai.headers]\n"X-Team.a" = "secret"\n'
            '[mcp.a]\ncommand = ["a"]\nenv = { TOKEN = "secret" }\n'
            '[mcp.b]\nurl = "http://secret@h/mcp?key=secret"\nheaders = { X = "secret" }\n'
            'client_secret = "secret"\n'
        )
        shown = as_toml(load_settings(file, {})).replace("client_secret", "")
        assert "secret" not in shown
        assert 'proxy = "http://[hidden]@proxy:3128"' in shown
        assert '"X-Team.a" = "[hidden]"' in shown
        assert 'url = "http://[hidden]@h/mcp?[hidden]"' in shown

    @given(st.text(st.characters(codec="utf-8")))
    def test_holds_any_text(self, text: str):
        settings = load_settings(Path("/none"), {"SIBYL_SCOPE": "x"})
        config = msgspec.structs.replace(settings.config, system_prompt=text)
        shown = as_toml(type(settings)(config, None, settings.file, {}))
        assert tomllib.loads(shown)["system_prompt"] == text

    def test_names_a_key_file_and_never_reads_it(self, write: Write, tmp_path: Path):
        (tmp_path / "my.key").write_text("sk-secret")
        file = write('[providers.openai]\napi_key_file = "my.key"')
        shown = as_toml(load_settings(file, {"OPENAI_API_KEY": "sk-other"}))
        assert str(tmp_path / "my.key") in shown
        assert "sk-" not in shown


@pytest.mark.parametrize("where", ["flag", "variable", "file"])
def test_a_key_is_no_model_and_is_not_repeated(tmp_path, where):
    key = "sk-Zq3x9TnV7LmPw2RkYb8"
    file = tmp_path / "config.toml"
    file.write_text(f'model = "{key}"\n' if where == "file" else "")
    environ = {"SIBYL_MODEL": f"openai:{key}"} if where == "variable" else {}
    flags = Flags(model=key) if where == "flag" else None
    with pytest.raises(ConfigError, match="model: This looks like a key") as refused:
        load_settings(file, environ, flags)
    assert key not in str(refused.value)
