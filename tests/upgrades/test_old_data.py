"""Today's program in the home of an earlier one: nothing is lost, and all goes on."""

import json
import sqlite3
import tomllib
from contextlib import closing

import pytest

from tests.providers.chat_server import ChatServer, answers, calls_tools
from tests.terminal.chats import SIBYL
from tui.storage.drafts import read_draft
from tui.storage.index import database

LISTED = (
    "id",
    "name",
    "scope",
    "ordinal",
    "active",
    "project_path",
    "model",
    "created_at",
    "last_used_at",
    "message_count",
    "status",
)
OF_SESSION = ("todos", "summary", "prompt_count", "settings", "damaged")
GUIDE = ("--model", "offline:guide")


def chosen(entry, fields):
    return {field: entry[field] for field in fields if field in entry}


def shown(sibyl, session_id):
    return sibyl("sessions", "show", "--json", "--all-messages", session_id).json


def first_words(told):
    """The typed text of a session's first question."""
    content = told["messages"][0]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def test_every_session_is_listed_as_it_was_and_opens_with_all_its_words(old, sibyl):
    listed = sibyl("sessions", "list", "--all", "--json").json
    assert [chosen(each, LISTED) for each in listed] == [
        chosen(each, LISTED) for each in old.listed
    ]
    assert {each["status"] for each in listed} == {"closed", "archived", "trashed"}

    for session_id, told in old.said("shown.json").items():
        now = shown(sibyl, session_id)
        assert now["messages"] == told["messages"]
        assert chosen(now["session"], OF_SESSION) | chosen(told["session"], OF_SESSION) == chosen(
            now["session"], OF_SESSION
        )


def test_every_session_is_found_before_and_after_the_index_is_built_anew(old, sibyl):
    said = {
        each: told
        for each, told in old.said("shown.json").items()
        if told["messages"] and told["session"]["status"] != "trashed"
    }

    def assert_found():
        for session_id, told in said.items():
            query = f'"{first_words(told)}"'
            hits = sibyl("sessions", "search", "--json", query, "--limit", 99).json
            assert session_id in {hit["session_id"] for hit in hits}, query

    assert_found()
    assert sibyl("index", "rebuild").code == 0
    assert_found()
    with closing(sqlite3.connect(old.data / database.NAME)) as index:
        assert index.execute("pragma user_version").fetchone() == (database.VERSION,)


def test_every_session_goes_on_and_stays_readable(old, sibyl):
    for entry in old.listed:
        if entry["status"] == "trashed":
            assert sibyl("sessions", "restore", entry["id"]).code == 0
        before = old.journal(entry["id"]).read_bytes()
        messages = shown(sibyl, entry["id"])["messages"]
        assert sibyl("ask", "--session", entry["id"], *GUIDE, "One more.").code == 0
        assert old.journal(entry["id"]).read_bytes().startswith(before)
        now = shown(sibyl, entry["id"])
        assert now["messages"][:-2] == messages
        assert now["messages"][-2]["content"] == "One more."
        assert now["session"]["damaged"] == 0
    assert sibyl("doctor").code == 0


def test_drafts_are_there_settings_mean_what_they_meant_and_doctor_has_nothing_to_say(old, sibyl):
    files = list((old.data / "drafts").glob("*.json"))
    assert len(files) >= 2
    for path in files:
        kept, draft = json.loads(path.read_text("utf-8")), read_draft(path)
        assert draft is not None
        assert (draft.text, list(draft.queued)) == (kept["text"], kept["queued"])

    then = tomllib.loads((old.home / "said/config.toml").read_text("utf-8"))
    now = tomllib.loads(sibyl("config", "show").out)

    def assert_within(part, whole, key=""):
        for name, value in part.items():
            if isinstance(value, dict):
                assert_within(value, whole[name], f"{key}{name}.")
            else:
                said = (
                    value.replace("/home/user/.", f"{old.home}/")
                    if isinstance(value, str)
                    else value
                )
                assert whole[name] == said, f"{key}{name}"

    assert_within(then, now)

    checked = sibyl("doctor")
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "clean")


def test_a_tool_that_was_allowed_for_good_asks_nothing(newest, sibyl):
    call = calls_tools(("call_1", "notes__add_note", ['{"text": "Kept"}']))
    key = (newest.config / "keys/local.key").read_text().strip()
    with ChatServer(call, answers("Done."), key=key) as server:
        connections = newest.config / "connections.toml"
        written = connections.read_text("utf-8")
        assert "http://localhost:8080/v1" in written
        connections.write_text(written.replace("http://localhost:8080/v1", server.base_url))
        release = newest.named("left for the release")
        assert sibyl("ask", "--session", release, "Note it.").code == 0
    assert shown(sibyl, release)["messages"][-2]["content"] == "Noted: Kept"


def test_an_import_adds_nothing_twice(newest, sibyl):
    before = sibyl("sessions", "list", "--all", "--json").json
    assert sibyl("import", "--all").code == 0
    after = sibyl("sessions", "list", "--all", "--json").json
    assert [chosen(each, LISTED) for each in after] == [chosen(each, LISTED) for each in before]


@pytest.mark.parametrize(
    "old", ["c0f0c5ed", pytest.param("b889b05", marks=pytest.mark.full)], indirect=True
)
def test_the_first_start_shows_what_was_queued_and_says_once_what_is_new(old, start):
    command = [*SIBYL, "--session", old.named("Never finished")]
    for is_first in (True, False):
        with start(*command) as program:
            program.until("その次の質問")
            program.until("has a beginning")
            if is_first:
                program.until("/help changes")
            program.send(b"\x1b[19~")  # F8
            program.until("Notices")
            assert ("/help changes" in program.text) == is_first
            program.press("escape", "ctrl+q")
            assert program.wait() == 0
    kept = json.loads((old.state / "ui.json").read_text("utf-8"))
    assert kept["program"]
    assert kept["theme"] == "textual-light"
