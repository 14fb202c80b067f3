"""The report of ``doctor``, of files and of a server."""

import json
import os
import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

import tui
from tests.builders import Clock, header, user
from tests.storage.contract import closed
from tui.domain.journal.records import Import
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.postgres.store import PostgresStore

KEY, TEXT, TITLE, PASSWORD = "sk-canarykey0123456789", "canaryprompt", "canarytitle", "canarypass"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory, with everything in the usual places."""
    for name in [each for each in os.environ if each.startswith(("XDG_", "SIBYL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def config(home, monkeypatch):
    path = home / "config.toml"
    monkeypatch.setenv("SIBYL_CONFIG", str(path))
    return path


def test_versions_and_places_are_told_and_the_verdict_comes_last(sibyl, saved, home):
    saved(TEXT, name=TITLE)
    lines = sibyl("doctor").out.splitlines()
    assert lines[0] == "versions"
    assert lines[1].split() == ["sibyl-tui", tui.__version__]
    assert lines[-2:] == ["", "clean"]
    words = [" ".join(line.split()) for line in lines]
    assert "place ~/data" in words
    assert [word for word in words if word.startswith("sessions 1 session, ")]
    assert "formats version 1: 1" in words
    assert [word for word in words if word.startswith("debug log ~/")]
    assert str(home) not in "\n".join(lines)


def test_as_json_it_has_the_same_sections(sibyl, home):
    report = sibyl("doctor", "--json").json["report"]
    titles = ["versions", "configuration", "connections", "store", "terminal", "logs"]
    assert list(report) == titles
    assert report["store"]["place"] == "~/data"


def test_no_key_text_title_or_password_is_in_it(sibyl, saved, home, config, monkeypatch):
    saved(TEXT, name=TITLE)
    key_file = home / "key"
    key_file.write_text(KEY)
    config.write_text(
        f'system_prompt = "{TEXT}"\nproxy = "http://me:{PASSWORD}@proxy:3128"\n'
        f'[providers.one]\nbase_url = "http://one.example/{KEY}/v1"\napi_key_env = "ONE_KEY"\n'
        f'headers = {{ "X-Code" = "{KEY}" }}\nquery = {{ code = "{KEY}" }}\n'
        f'[providers.two]\nbase_url = "http://two.example:8080/v1"\napi_key_file = "{key_file}"\n'
        f'[providers.three]\nbase_url = "http://three.example/v1"\napi_key_env = "NO_KEY"\n'
        'proxy = ""\n'
        f'[mcp.program]\ncommand = ["sh", "--key={KEY}"]\nenv = {{ TOKEN = "{KEY}" }}\n'
        '[mcp.missing]\ncommand = ["no-such-program"]\n'
        f'[mcp.web]\nurl = "http://web.example/{KEY}"\nheaders = {{ X = "{KEY}" }}\n'
    )
    monkeypatch.setenv("ONE_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@proxy:3128")
    monkeypatch.setenv("SIBYL_MODEL", "one:m")
    for arguments in (("doctor",), ("doctor", "--json")):
        out = sibyl(*arguments).out
        assert not [word for word in (KEY, TEXT, TITLE, PASSWORD) if word in out]
    rows = json.loads(out)["report"]["connections"]
    assert rows["one"] == "one.example, openai, key in ONE_KEY"
    assert rows["two"] == "two.example:8080, openai, key in a file"
    assert rows["three"] == "three.example, openai, NO_KEY is not set"
    assert rows["anthropic"] == "api.anthropic.com, anthropic, key in ANTHROPIC_API_KEY"
    assert (rows["mcp.program"], rows["mcp.web"]) == ("sh, found", "web.example")
    assert rows["mcp.missing"] == "no-such-program, not found"
    said = "HTTPS_PROXY, proxy in config.toml, proxy in [providers.three]"
    assert rows["proxies and certificates"].startswith(said)


def test_a_damaged_configuration_is_a_finding_and_all_else_is_told(sibyl, saved, config):
    saved(TEXT)
    config.write_text(f'api_key = "{KEY}"\n')
    result = sibyl("doctor")
    assert (result.code, result.out.splitlines()[-1]) == (1, "findings")
    assert "configuration: ~/config.toml: " in result.out
    assert "1 session, " in result.out
    assert KEY not in result.out + result.err


def test_a_data_directory_that_is_a_file_is_damage_and_the_report_comes(sibyl, data, home):
    data.write_text("in the way")
    result = sibyl("doctor")
    assert (result.code, result.out.splitlines()[-1]) == (2, "damage")
    assert "unreadable (Not a directory)" in result.out


def test_the_search_index_is_described(sibyl, saved, store, home):
    saved(TEXT, "An answer.")
    assert sibyl("doctor", "--json").json["report"]["store"]["search index"].startswith("missing")
    list(IndexMaintenance(store.root).build("a test"))
    described = sibyl("doctor", "--json").json["report"]["store"]["search index"]
    assert "2 messages of 1 session, " in described
    (store.root / "index.sqlite3").write_bytes(b"no index")
    described = sibyl("doctor", "--json").json["report"]["store"]["search index"]
    assert described.startswith("damaged")


def test_the_terminal_is_described_without_one(home):
    environment = {**os.environ, "TERM": "xterm-kitty", "TMUX": "/tmp/x", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "tui", "doctor", "--json", "--data-dir", str(home / "d")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    terminal = json.loads(done.stdout)["report"]["terminal"]
    assert terminal["size"] == "no terminal"
    assert (terminal["TERM"], terminal["multiplexer"]) == ("xterm-kitty", "tmux")


def test_programs_whose_format_has_changed_are_named(sibyl, store, home):
    before = sibyl("doctor", "--json").json["report"]["store"]
    assert before["imports"] == "every format is known"
    for name, skipped in (("one", {"unknown role": 2, "unknown record": 1}), ("two", {"x": 1})):
        ledger = Import(at="", program="pi", source_id=name, path="/a", read=1, skipped=skipped)
        theirs = header(name, ordinal=0, imported_from=f"pi:{name}")
        store.add_imported(theirs, [(user("m1"), b""), (ledger, b"")])
    report = sibyl("doctor", "--json").json
    assert report["status"] == "clean"
    assert report["report"]["store"]["imports"] == (
        "format has changed: pi (2 unknown roles, 1 unknown record)"
    )


def test_doctor_describes_the_server(sibyl, server):
    done = sibyl("doctor", "--json", "--store", server)
    rows = done.json["report"]["server"]
    names = ("server", "connection", "tables", "role", "sessions", "round trip", "clocks")
    assert set(rows) == set(names)
    assert rows["connection"] == "this machine, no TLS"
    assert rows["sessions"] == "0, 0 open"
    assert "store" not in done.json["report"]
    assert done.json["report"]["files of this machine"]["sessions"] == "none"


def test_doctor_reads_the_clock_of_a_database_that_writes_dates_in_another_style(
    sibyl, postgres, server
):
    with psycopg.connect(postgres, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(f"alter database {database} set datestyle = 'German, DMY'".encode())
    done = sibyl("doctor", "--json", "--store", server)
    assert done.code == 0
    assert done.json["report"]["server"]["clocks"].endswith(" s apart")


def test_doctor_says_that_the_server_is_away(sibyl):
    done = sibyl("doctor", "--json", "--store", "postgresql://127.0.0.1:1/sibyl")
    (finding,) = [each for each in done.json["findings"] if each["path"] == "store"]
    assert "cannot be reached" in finding["message"]
    # Nothing is damaged.
    assert (done.code, done.json["status"]) == (1, "findings")


def test_doctor_reads_on_behind_a_session_that_is_gone(sibyl, postgres, server):
    with closing(PostgresStore(postgres, Clock())) as store:
        first, last = closed(store), closed(store)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("delete from sibyl.pieces where session = %s", (last,))
        connection.execute("update sibyl.pieces set data = set_byte(data, length(data) - 3, 0)")
    done = sibyl("doctor", "--json", "--store", server)
    found = {each["session_id"]: each["kind"] for each in done.json["findings"]}
    assert found == {last: "unreadable", first: "damaged_records"}
    assert done.code == 2
    assert done.json["report"]["server"]["sessions"] == "2, 0 open"


def test_a_verb_without_the_server_names_the_local_files(sibyl):
    done = sibyl("sessions", "list", "--store", "postgresql://127.0.0.1:1/sibyl")
    assert done.code == 1
    assert "The store's server cannot be reached" in done.err
    assert '--store ""' in done.err
