"""The grammar, the exit codes, and the commands that only tell."""

import os
import subprocess
import sys
import tomllib

import pytest

from tests.failing import raiser
from tests.tables import each_row
from tui import __version__
from tui.cli.parser import build, parse

NAME = [sys.executable, "-m", "tui", "sessions", "name"]


def test_without_a_terminal_the_screen_says_what_works_without_one(sibyl):
    result = sibyl()
    assert (result.code, result.out) == (2, "")
    assert result.err == "sibyl-tui needs a terminal; `sibyl-tui ask` works without one.\n"


@each_row(
    "arguments",
    [
        [],
        ["--continue", "--scope", "a"],
        ["--session=x", "--model", "offline:guide", "--data-dir", "d"],
        ["--auto-save-interval", "0"],
    ],
)
def test_a_start_reads_what_the_whole_grammar_reads(arguments):
    assert parse(arguments) == build().parse_args(arguments)


def test_help_lists_every_command(sibyl):
    result = sibyl("--help")
    assert result.code == 0
    for command in ("ask", "sessions", "doctor", "index", "config", "completion"):
        assert command in result.out
    assert 'sibyl-tui "Why is the sky blue?"' in result.out
    assert "/help in the full screen" in result.out
    result = sibyl("--version")
    assert (result.code, result.out) == (0, f"sibyl-tui {__version__}\n")


@each_row(
    "arguments",
    [
        ["nosuch"],
        ["sessions"],
        ["sessions", "nosuch"],
        ["sessions", "show"],
        ["config"],
        ["completion", "powershell"],
        ["ask", "--session", "x", "--continue", "hello"],
        ["sessions", "list", "--js"],
        ["--dat", "x", "doctor"],
    ],
)
def test_what_is_no_command_is_a_usage_error(sibyl, arguments):
    result = sibyl(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "usage: sibyl-tui" in result.err


@pytest.mark.parametrize(
    ("word", "closest"),
    [
        ("serch", "sessions search"),
        ("sesions", "sessions"),
        ("doctr", "doctor"),
        ("Hello", ""),
        ("sessions lst", "sessions list"),
        ("config shw", "config show"),
        ("sessions doctor", ""),
    ],
)
def test_a_word_that_is_no_command_names_the_closest_and_the_way_to_ask_it(sibyl, word, closest):
    lines = sibyl(*word.split()).err.splitlines()
    assert f'sibyl-tui: There is no command "{word}".' in lines
    assert (f"Closest: sibyl-tui {closest}" in lines) == bool(closest)
    assert lines[-1] == f'To ask it as a question: sibyl-tui ask "{word}"'


def test_an_unknown_option_is_told_with_the_usage_of_its_command_and_no_control_raw(sibyl):
    result = sibyl("ask", "-m", "nope", "Hello?")
    assert result.code == 2
    assert result.err.startswith("usage: sibyl-tui ask [-h]")
    assert result.err.endswith("sibyl-tui ask: unrecognized arguments: -m Hello?\n")
    result = sibyl("\x1b]0;title\x07\x9b31m")
    assert result.code == 2
    assert not set("\x1b\x9b") & set(result.err)


NOT_UTF8 = "caf\udce9"


@pytest.mark.parametrize(
    "arguments",
    [["ask", NOT_UTF8], ["sessions", "show", NOT_UTF8], ["doctor", "--scope", NOT_UTF8]],
)
def test_text_that_is_not_utf8_is_refused(sibyl, data, arguments):
    result = sibyl(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err == '"caf\ufffd" is not valid UTF-8.\n'
    assert not data.exists()


def test_a_directory_may_have_any_name_and_what_the_locale_could_not_decode_is_decoded(tmp_path):
    place = f"{tmp_path}/{NOT_UTF8}"
    assert parse(["--data-dir", place, "doctor"]).data_dir == place
    # As in the locale C without Python's UTF-8 mode.
    assert parse(["ask", "caf\udcc3\udca9"]).prompt == "caf\xe9"


def test_what_follows_two_dashes_is_data(sibyl, saved, store):
    session_id = saved("hello")
    assert sibyl("--data-dir", store.root, "sessions", "name", session_id).code == 2
    code = subprocess.run(
        [*NAME, "--data-dir", store.root, session_id, "--", "--yes"],
        check=False,
        capture_output=True,
    ).returncode
    assert code == 0
    assert store.entry(session_id).name == "--yes"


def test_a_scope_narrows_the_list_wherever_it_is_given_and_the_last_one_counts(
    sibyl, saved, monkeypatch
):
    saved("a", scope="here"), saved("b", scope="there")

    def scopes(*arguments):
        return {entry["scope"] for entry in sibyl(*arguments, "--json").json}

    assert scopes("sessions", "list", "--scope", "here") == {"here"}
    assert scopes("--scope", "here", "sessions", "list") == {"here"}
    assert scopes("--scope", "here", "sessions", "list", "--scope", "there") == {"there"}
    monkeypatch.setenv("SIBYL_SCOPE", "here")
    assert scopes("sessions", "list") == {"here"}


def test_the_environment_names_the_data_directory_and_a_flag_overrules_it(
    saved, store, tmp_path, monkeypatch, capsys
):
    from tui.cli import run

    saved("hello")
    monkeypatch.setenv("SIBYL_DATA_DIR", str(store.root))
    assert run(["sessions", "list"]) == 0
    assert "hello" in capsys.readouterr().out
    assert run(["sessions", "list", "--data-dir", str(tmp_path / "other")]) == 0
    assert capsys.readouterr().out == "No saved sessions.\n"


def test_a_mistake_in_a_configuration_with_a_byte_order_mark_names_file_key_and_type(sibyl, config):
    config.write_text('\ufeffauto_save_interval = "often"\n', "utf-8")
    result = sibyl("sessions", "list")
    assert (result.code, result.out) == (2, "")
    assert f"{config}: auto_save_interval: expected" in result.err


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ('theme = "mauve"', "theme: unknown theme; the themes are"),
        ('keys.nope = "f9"', "keys.nope: unknown action"),
        ('keys.new = "ctrl+q"', "keys.new: ctrl+q is the key of quit already"),
        ('store = "ftp://x"', "store: an address begins with postgresql://"),
        (
            'model = "openai:gpt-6"\nproviders.openai.api_key_file = "/nowhere"',
            "providers.openai.api_key_file: /nowhere cannot be read",
        ),
    ],
)
def test_settings_that_the_screen_would_not_start_with_are_not_shown(
    sibyl, settings, fault, config
):
    config.write_text(settings)
    result = sibyl("config", "show")
    assert (result.code, result.out) == (2, "")
    assert fault in result.err


@pytest.mark.parametrize("command", [["sessions", "list"], ["ask", "hi"], ["config", "show"]])
def test_a_configuration_that_is_named_and_not_there_is_an_error(
    sibyl, tmp_path, monkeypatch, command
):
    monkeypatch.setenv("SIBYL_CONFIG", str(tmp_path / "mine.toml"))
    result = sibyl(*command)
    assert result.code == 2
    assert f"SIBYL_CONFIG: there is no file {tmp_path / 'mine.toml'}" in result.err
    monkeypatch.setenv("SIBYL_CONFIG", "")
    assert sibyl("sessions", "list").code == 0


def test_place_and_example_of_the_configuration_are_told_and_what_is_in_force(
    sibyl, tmp_path, monkeypatch
):
    monkeypatch.setenv("SIBYL_CONFIG", str(tmp_path / "mine.toml"))
    assert sibyl("config", "path").out == f"{tmp_path / 'mine.toml'}\n"
    tomllib.loads(sibyl("config", "example").out)
    monkeypatch.delenv("SIBYL_CONFIG")
    shown = sibyl("config", "show", "--model", "openai:gpt-x").out
    assert tomllib.loads(shown)["model"] == "openai:gpt-x"


@each_row(
    "shell, known, files",
    [
        ("bash", "--continue", "__file_COMPGEN=_shtab_compgen_files"),
        ("zsh", "--continue", ":FILE:_files"),
        ("fish", "sessions", "__fish_complete_path"),
        ("tcsh", "completion", ""),
    ],
)
def test_completion_scripts_know_the_commands_and_complete_the_names_of_files(
    sibyl, shell, known, files
):
    script = sibyl("completion", shell).out
    assert "sessions" in script
    assert known in script
    assert files in script


def test_damage_and_findings_have_their_exit_codes(sibyl, saved, store):
    session_id = saved("hello")
    assert sibyl("doctor").out.endswith("\n\nclean\n")
    told = sibyl("doctor", "--json").json
    assert (told["status"], told["findings"]) == ("clean", [])
    store.path(session_id).chmod(0o644)
    result = sibyl("doctor", "--json")
    assert (result.code, result.json["status"]) == (1, "findings")
    names = {"kind", "session_id", "path", "message", "repaired"}
    assert set(result.json["findings"][0]) == names
    assert sibyl("doctor", "--repair").code == 1
    assert sibyl("doctor").code == 0
    with store.path(session_id).open("ab") as file:
        file.write(b"garbage\n")
    assert sibyl("doctor").code == 2


def test_a_data_directory_that_cannot_be_read_is_a_sentence(sibyl, data):
    data.write_text("a file in the way")
    result = sibyl("ask", "hello")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert str(data) in result.err


def test_a_working_directory_that_is_gone_is_told_unless_the_scope_is_named(
    sibyl, tmp_path, monkeypatch
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(os, "getcwd", raiser(FileNotFoundError(2, "gone")))
    result = sibyl("sessions", "list")
    assert result.code == 2
    assert "--scope" in result.err
    assert sibyl("sessions", "list", "--scope", "here").code == 0


@pytest.mark.parametrize("arguments", [["sessions", "list"], ["--help"]])
def test_a_full_standard_output_is_a_sentence_and_a_full_error_costs_no_exit_code(
    saved, store, arguments
):
    saved("hello")
    program = [sys.executable, "-m", "tui"]
    with open("/dev/full", "wb") as full:
        command = [*program, *arguments, "--data-dir", store.root]
        listing = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)
        refused = subprocess.run([*program, "nonsense"], stderr=full)
    assert listing.returncode == 1
    assert listing.stderr == b"Cannot write to standard output: No space left on device.\n"
    assert refused.returncode == 2


@pytest.mark.full
def test_a_reader_that_leaves_early_is_no_error_message(saved, process):
    for number in range(300):
        saved(f"session {number}")
    listing = process("sessions", "list")
    listing.stdout.close()
    assert listing.wait(30) == 1
    assert listing.stderr.read() == ""
