"""``sibyl-tui ask``, against real servers on loopback."""

import codecs
import errno
import json
import os
import re
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing

import pytest

from tests.builders import kept_texts
from tests.failing import raiser
from tests.providers.chat_server import (
    ChatServer,
    Gate,
    answers,
    answers_at,
    calls_tools,
    is_silent,
    refuses,
    scenarios,
)
from tests.waiting import SECONDS, wait_for
from tui.cli import console
from tui.config.settings_schema import ProviderSettings, connections_file
from tui.domain.journal.records import Partial, decode
from tui.storage import writer
from tui.storage.connections import change, key_path, write_key
from tui.storage.protocol import SessionFilter


def test_question_and_answer_are_indexed_where_there_is_an_index(sibyl, served, saved, data):
    def messages():
        with closing(sqlite3.connect(data / "index.sqlite3")) as connection:
            return connection.execute("select count(*) from messages").fetchone()[0]

    served(answers("Yes."), answers("No."), answers("Perhaps."))
    sibyl("ask", "Well?")
    assert not (data / "index.sqlite3").exists()
    sibyl("index", "rebuild")
    saved("What another program said.")
    sibyl("ask", "Why?")
    sibyl("ask", "--continue", "Why not?")
    assert messages() == 6, "and nothing of another session"


def test_the_configured_settings_of_the_model_are_sent(sibyl, served):
    table = 'system_prompt = "Be brief."\n[models."local:m"]\ntemperature = 0.3\nmax_tokens = 9'
    server = served(answers("Yes."), more=table)
    assert sibyl("ask", "Well?").code == 0
    (request,) = server.requests
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.3, 9)
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}


def only_session(store):
    (entry,) = store.list(SessionFilter(), None, 10).entries
    return store.journal(entry.id).load()


def said(store):
    return [(m.role, m.text, m.status) for m in only_session(store).loaded_messages]


# --- files

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


def attachments(store):
    return only_session(store).loaded_messages[0].attachments


def test_files_pictures_and_references_go_with_the_prompt(sibyl, served, store, tmp_path):
    (tmp_path / "a.py").write_text("one = 1")
    (tmp_path / "my notes").write_text("two")
    (tmp_path / "log").write_text("x" * 300_000)
    (tmp_path / "photo").write_bytes(PNG)
    server = served(answers("Fine."))
    prompt = "Compare with @a.py, please."
    result = sibyl("ask", "-f", "a.py", "--file", "my notes", "-f", "log", "-f", "photo", prompt)
    (request,) = server.requests
    assert (result.code, result.out) == (0, "Fine.\n")
    asked, *_ = request.body["messages"][-1]["content"]
    assert asked["text"].startswith(f"{prompt}\n[file: a.py, 7 bytes]\n```py\none = 1\n```")
    first, second, long, shown = attachments(store)
    assert [(each.name, each.text) for each in (first, second)] == [
        ("a.py", "one = 1"),
        ("my notes", "two"),
    ]
    assert long.name == "log"
    assert "Attached in part: [file: log, first 256 KB of 300 KB]" in result.err
    assert (shown.name, shown.media_type) == ("photo", "image/png")
    assert store.attachment(only_session(store).id, shown.sha256) == PNG
    assert only_session(store).loaded_messages[0].typed_text == prompt


def test_paths_begin_where_the_shell_is_then_in_the_project(sibyl, served, store, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "top").write_text("of the project")
    (tmp_path / "same").write_text("of the project")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "same").write_text("of the folder")
    served(answers("Fine."))
    os.chdir(tmp_path / "sub")
    assert sibyl("ask", "@same and @top").code == 0
    texts = [each.text for each in attachments(store)]
    assert texts == ["of the folder", "of the project"]


def test_piped_text_refers_to_nothing(sibyl, served, store, tmp_path):
    (tmp_path / "secret").write_text("secret")
    served(answers("No."), answers("No."))
    assert sibyl("ask", "Sum up.", stdin=b"see @secret").code == 0
    assert sibyl("ask", "--continue", "-", stdin=b"see @secret").code == 0
    asked = [each for each in only_session(store).loaded_messages if each.role == "user"]
    assert [each.attachments for each in asked] == [(), ()]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-16-le"])
def test_piped_text_is_read_by_its_mark(sibyl, served, store, encoding):
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else b""
    served(answers("Fine."))
    assert sibyl("ask", stdin=mark + "grüße 会話\n".encode(encoding)).code == 0
    assert only_session(store).loaded_messages[0].typed_text == "grüße 会話"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        *(
            (binary, "Standard input is not text.")
            for binary in (PNG, b"\x7fELF\0\0\1", b"a\0b", "a\0b".encode("utf-16"))
        ),
        (("x" * 9_000_000).encode("utf-16"), "Prompt is larger than 8 MiB."),
    ],
)
def test_a_piped_binary_and_too_much_text_are_refused(sibyl, served, data, told):
    server = served()
    result = sibyl("ask", "What is it?", stdin=data)
    assert server.requests == []
    assert (result.code, told in result.err) == (2, True)


def test_a_reference_to_nothing_is_told_before_the_prompt_is_sent(sibyl, served, tmp_path):
    served(answers("Fine."))
    result = sibyl("ask", "See @notes.mdd and @ann")
    assert result.code == 0
    assert result.err.startswith("No such file: notes.mdd. It is sent as text.\n")


_MISSING = "Cannot attach missing\ufffd: No such file or directory."


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["-f", ".env", "Check."], "Not sent: .env may hold secrets"),
        (["Check @.env"], "Not sent: .env may hold secrets"),
        (["-f", "link", "x"], "Not sent: link may hold secrets"),
        (["look at @bad.bin"], "Cannot attach bad.bin: it is not text or a picture.\n"),
        (["-f", "missing\udcff", "hi"], _MISSING),
        (["--json", "-f", "missing\udcff", "hi"], _MISSING),
    ],
)
def test_what_cannot_be_attached_or_asked_about_is_a_wrong_usage_that_names_it(
    sibyl, served, store, tmp_path, asked, told
):
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "link").symlink_to(".env")
    (tmp_path / "bad.bin").write_bytes(b"\0")
    server = served(answers("No."))
    result = sibyl("ask", *asked)
    assert server.requests == []
    assert (result.code, told in result.err) == (2, True)
    assert not told.endswith("\n") or result.err == told
    assert ("pipe its text into ask" in result.err) == ("secrets" in told)
    if "--json" in asked:
        assert result.lines == [{"type": "error", "message": told}]
    assert store.list(SessionFilter(), None, 10).entries == ()


@pytest.mark.parametrize("name", ["pipe", "/dev/stdin"])
def test_a_stream_is_refused_at_once_with_the_way_to_send_it(process, tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    out, told = process("ask", "-f", name, "hi").communicate(timeout=SECONDS)
    said = f"Cannot attach {name}: it is a stream. Pipe its text into ask, without -f.\n"
    assert (out, told) == ("", said)


# --- an answer


def test_the_answer_goes_to_standard_output_and_all_else_to_standard_error(sibyl, served, store):
    seen = []

    def look(exchange):
        seen.append(said(store))
        answers("会話は", "失われない。")(exchange)

    served(look)
    result = sibyl("ask", "日本語で")
    assert seen == [[("user", "日本語で", None)]], "on disk before the server is asked"
    session = only_session(store)
    assert (result.code, result.out) == (0, "会話は失われない。\n")
    assert result.err.splitlines() == [
        f"Session saved: {session.id}",
        f"Resume with: sibyl-tui ask --session {session.id} --data-dir {store.root} PROMPT",
    ]
    assert said(store)[1:] == [("assistant", "会話は失われない。", None)]
    assert session.loaded_messages[1].model == "local:m"
    # The files are plain lines that grep finds.
    lines = store.path(session.id).read_bytes().split(b"\n")
    kinds = [json.loads(line)["type"] for line in lines if line]
    assert kinds == ["session", "opened", "message", "message", "state", "closed"]
    assert any("日本語で".encode() in line for line in lines)
    assert any("会話は失われない。".encode() in line for line in lines)


def test_a_question_in_quotes_needs_no_command_and_takes_the_flags_of_ask(sibyl, served, store):
    served(answers("Rayleigh."))
    result = sibyl("--model", "local:m", "Why is it blue?", "--json", stdin=b"the sky")
    assert result.code == 0
    assert result.lines[-1]["status"] == "complete"
    assert said(store)[0] == ("user", "Why is it blue?\n\nthe sky", None)
    served(answers("Green."))
    assert sibyl("-c", "And the grass?").out == "Green.\n"


def test_as_json_each_thing_that_happens_is_a_line(sibyl, served, store):
    served(answers("Hel", "lo."))
    result = sibyl("ask", "hi", "--json")
    session = only_session(store)
    user, answer = (message.id for message in session.loaded_messages)
    assert result.lines == [
        {"type": "saved", "session_id": session.id, "message_id": user, "role": "user"},
        {"type": "delta", "text": "Hel"},
        {"type": "delta", "text": "lo."},
        {
            "type": "saved",
            "session_id": session.id,
            "message_id": answer,
            "role": "assistant",
            "usage": {"input_tokens": 11, "output_tokens": 7},
        },
        {
            "type": "done",
            "session_id": session.id,
            "message_id": answer,
            "status": "complete",
        },
    ]


def test_controls_are_stored_as_typed_and_reach_no_json_reader_raw(sibyl, served, store):
    served(*scenarios(Gate())["escapes"])
    result = sibyl("ask", "\x1b[31m\x07red", "--json")
    assert said(store)[0][1] == "\x1b[31m\x07red"
    assert "\x1b]52;c;aGVsbG8=\x1b\\" in said(store)[1][1]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.out)


@pytest.mark.parametrize("prompt", ["", "   "])
def test_nothing_to_send_is_a_usage_error_and_leaves_nothing(sibyl, data, prompt):
    result = sibyl("ask", prompt)
    assert (result.code, result.err) == (2, "Nothing to send.\n")
    assert not data.exists()


@pytest.mark.full
def test_an_answer_of_ten_thousand_pieces_is_kept_whole(sibyl, served, store):
    served(*scenarios(Gate())["flood"])
    result = sibyl("ask", "count")
    counted = "".join(f"{number} " for number in range(10_000))
    assert result.out == counted + "\n"
    assert said(store)[1] == ("assistant", counted, None)


def test_a_tool_call_is_answered_that_the_tool_is_not_available(sibyl, served, store):
    call = calls_tools(("call_1", "read_file", ['{"pa', 'th": "a', '.py"}']))
    server = served(call, answers("No tools, then."))
    result = sibyl("ask", "hi", "--json")
    sent = server.requests[1].body["messages"]
    assert {
        "type": "tool_call",
        "id": "call_1",
        "name": "read_file",
        "arguments": {"path": "a.py"},
    } in result.lines
    assert {
        "type": "tool_result",
        "tool_call_id": "call_1",
        "name": "read_file",
        "content": "Tool read_file is not available.",
    } in result.lines
    # None was offered: the server may refuse calls and results.
    assert sent[-2:] == [
        {"role": "assistant", "content": 'Called read_file with {"path":"a.py"}.'},
        {"role": "user", "content": "Result of read_file:\nTool read_file is not available."},
    ]
    assert [each[:2] for each in said(store)] == [
        ("user", "hi"),
        ("assistant", ""),
        ("tool", "Tool read_file is not available."),
        ("assistant", "No tools, then."),
    ]


def test_a_model_whose_tools_are_off_is_offered_none(sibyl, served):
    off = '[tools]\nenabled = ["write_todos"]\n[models."local:m"]\ntools = false'
    for are_on, more in ((False, off), (True, off.replace("false", "true"))):
        server = served(answers("Yes."), more=more)
        assert sibyl("ask", "Well?").out == "Yes.\n"
        assert ("tools" in server.requests[0].body) == are_on


# --- going on


def test_a_session_is_gone_on_with_by_its_id_and_keeps_its_scope(sibyl, served, store):
    server = served(answers("one"), answers("two"))
    sibyl("ask", "first", "--scope", "work")
    session_id = only_session(store).id
    assert sibyl("ask", "second", "--session", session_id).code == 0
    sent = server.requests[1].body["messages"]
    assert [message["content"] for message in sent] == ["first", "one", "second"]
    assert [each[1] for each in said(store)] == ["first", "one", "second", "two"]
    assert only_session(store).prompt_count == 2
    assert (store.entry(session_id).scope, store.active("work")) == ("work", session_id)


def test_continue_goes_on_with_the_scopes_active_session_else_with_a_new_one(sibyl, served, store):
    served(answers("fine"))
    sibyl("ask", "first", "--continue")
    session_id = only_session(store).id
    sibyl("ask", "elsewhere", "--scope", "other")
    sibyl("ask", "second", "--continue")
    asked = store.journal(session_id).load().loaded_messages
    assert [m.text for m in asked if m.role == "user"] == ["first", "second"]
    # Without a flag each question is a session of its own.
    sibyl("ask", "third")
    here = [each for each in store.list(SessionFilter(), None, 10).entries if each.scope != "other"]
    assert [(entry.ordinal, entry.active) for entry in here] == [(2, True), (1, False)]


def test_a_session_that_is_unknown_or_held_elsewhere_is_not_asked_in(sibyl, served, saved, store):
    session_id = saved("hello")
    server = served(answers("never"))
    unknown = sibyl("ask", "hi", "--session", "session-20990101-000000-000000")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err.startswith("Session not found: session-20990101-000000-000000\n")
    lease = store.lease(session_id)
    result = sibyl("ask", "hi", "--session", session_id)
    assert server.requests == []
    lease.release()
    assert result.code == 1
    assert re.fullmatch(
        f"Session {session_id} is open in another window "
        rf"\(pid {os.getpid()} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d\)\.\n",
        result.err,
    )


# --- failures


@pytest.mark.parametrize(
    ("scenario", "kept", "reason"),
    [
        ("401", "", "401"),
        ("429", "", "429"),
        ("500", "", "500"),
        ("404", "", "404|m"),
        ("html", "", "."),
        ("garbage", "So far ", "."),
        ("cut", "The answer is forty-", "."),
        ("ends", "The answer is forty-", "."),
        ("error-within", None, "."),
        ("empty", "", "."),
        ("no-text", "", "."),
    ],
)
def test_a_failure_keeps_the_prompt_says_why_and_the_next_question_goes_on(
    sibyl, served, store, scenario, kept, reason
):
    server = served(*scenarios(Gate())[scenario])
    result = sibyl("ask", "hi")
    assert result.code == 1
    user, answer = only_session(store).loaded_messages
    assert (user.text, answer.status) == ("hi", "failed")
    assert kept is None or answer.text == kept
    assert re.search(reason, answer.error)
    assert answer.error in result.err
    server = served(answers("better"))
    assert sibyl("ask", "again", "--continue").code == 0
    sent = [message["content"] for message in server.requests[0].body["messages"]]
    assert "\n\n".join(sent).split() == ["hi", "again"]


def test_as_json_a_failure_is_an_error_and_then_done_unless_it_is_before_the_question(
    sibyl, served, saved, store
):
    served(refuses(401))
    result = sibyl("ask", "hi", "--json")
    assert [line["type"] for line in result.lines] == ["saved", "saved", "error", "done"]
    assert (result.lines[-1]["status"], result.code) == ("failed", 1)
    session_id = saved("hello")
    lease = store.lease(session_id)
    result = sibyl("ask", "hi", "--json", "--session", session_id)
    lease.release()
    assert result.lines == [{"type": "error", "message": result.err.rstrip("\n")}]
    assert sibyl("ask", "", "--json").lines == [{"type": "error", "message": "Nothing to send."}]


def test_silence_is_not_borne_for_ever(sibyl, served, store):
    gate, begun = Gate(), time.monotonic()
    served(is_silent(gate), timeout=0.3, retries=0)
    assert sibyl("ask", "hi").code == 1
    served(answers_at(gate, "And then ", "never"), timeout=0.3, retries=0)
    assert sibyl("ask", "again", "--continue").code == 1
    assert [each[1] for each in said(store)] == ["hi", "", "again", "And then "]
    assert time.monotonic() - begun < 20, "the timeout of the settings counts"


@pytest.mark.parametrize("model", ["openai:gpt-x", "anthropic:claude", "nosuch:thing", "thing"])
def test_a_model_that_cannot_be_had_keeps_the_prompt(sibyl, store, model):
    result = sibyl("ask", "hi", "--model", model)
    assert result.code == 1
    user, answer = only_session(store).loaded_messages
    assert (user.text, answer.status) == ("hi", "failed")
    assert answer.error in result.err


@pytest.mark.full
def test_an_anthropic_key_is_all_that_its_models_need(sibyl, monkeypatch, store):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    with ChatServer(answers("Hello", "."), refuses(401, "No sk-secret.")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.root)
        first = sibyl("ask", "hi")
        second = sibyl("ask", "again", "--continue")
        assert [request.path for request in server.requests] == ["/v1/messages"] * 2
        assert server.requests[0].headers["x-api-key"] == "sk-secret"
    assert (first.code, first.out) == (0, "Hello.\n")
    assert second.code == 1
    assert f"{server.root} refused the key from ANTHROPIC_API_KEY" in second.err
    assert "sk-secret" not in first.out + first.err + second.out + second.err
    assert only_session(store).model == "anthropic:claude-sonnet-5-5"


def test_without_any_model_a_program_that_reads_the_answer_gets_none(sibyl, served, store):
    result = sibyl("ask", "How do I connect a model?")
    assert (result.code, result.out) == (1, "")
    assert "No model is connected. Connect one with F5 in sibyl-tui, set a variable" in result.err
    printed = json.loads(sibyl("ask", "--continue", "Well?", "--json").out.splitlines()[-1])
    assert printed["status"] == "failed"
    server = served(answers("So."))
    sibyl("ask", "And now?", "--continue")
    said = server.requests[0].body["messages"]
    assert [each["content"] for each in said] == ["How do I connect a model?\n\nWell?\n\nAnd now?"]


def test_the_offline_guide_answers_where_it_is_named_or_somebody_is_at_a_terminal(
    sibyl, store, monkeypatch
):
    result = sibyl("ask", "How do I connect a model?", "--model", "offline:guide")
    assert result.code == 0
    assert "Press F5 or type `/connect`" in result.out
    assert only_session(store).model == "offline:guide"
    resumed = f" --data-dir {store.root} --model offline:guide PROMPT"
    assert result.err.splitlines()[-1].endswith(resumed)
    monkeypatch.setattr(console, "is_terminal", lambda stream: stream is sys.stdout)
    unnamed = sibyl("ask", "How do I connect a model?")
    assert (unnamed.code, "the built-in guide" in unnamed.out) == (0, True)


def test_the_offline_guide_quotes_what_was_said_before_with_its_session(sibyl, store, monkeypatch):
    monkeypatch.setenv("SIBYL_MODEL", "offline:guide")
    sibyl("ask", "The login bug is in auth.py")
    (before,) = [entry.id for entry in store.list(SessionFilter(), None, 9).entries]
    result = sibyl("ask", "What did we say about the login bug?")
    assert f"- {before} (just now, you): `The login bug is in auth.py`\n" in result.out
    assert "not a language model" in result.out
    assert result.out.count("`What did we say") == 0


def test_the_model_that_a_session_was_held_with_is_used_if_the_settings_know_it(
    sibyl, served, config
):
    server = served(answers("fine"), more='[providers.other]\nbase_url = "http://127.0.0.1:9/v1"\n')
    sibyl("ask", "first", "--model", "local:special")
    config.write_text(config.read_text() + 'models = ["m", "special"]\n')
    sibyl("ask", "second", "--continue")
    sibyl("ask", "third", "--continue", "--model", "local:m")
    asked = [request.body["model"] for request in server.requests]
    assert asked == ["special", "special", "m"]


def test_a_session_from_elsewhere_cannot_choose_what_is_asked(sibyl, served, saved, store):
    session_id = saved("hello")
    path = store.path(session_id)
    path.write_bytes(path.read_bytes().replace(b"offline:guide", b"evil:model"))
    server = served(answers("fine"))
    sibyl("ask", "hi", "--session", session_id)
    assert server.requests[0].body["model"] == "m"
    assert store.entry(session_id).model == "local:m"


# --- ends


@pytest.fixture
def half_way(process, served):
    """Asks, and gives the process that has the first of two pieces, the gate, and the server."""

    def ask(*others):
        gate = Gate()
        server = served(answers_at(gate, "half an ", "answer"), *others)
        asking = process("ask", "hi", "--json")
        guard = threading.Timer(SECONDS, asking.kill)
        guard.start()
        assert any('"delta"' in line for line in asking.stdout), asking.stderr.read()
        guard.cancel()
        return asking, gate, server

    return ask


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.full)],
)
def test_a_signal_that_ends_the_program_ends_it_in_order(half_way, store, number):
    asking, _, server = half_way()
    asking.send_signal(number)
    _, err = asking.communicate(timeout=SECONDS)
    server.wait_for_disconnect()
    assert asking.returncode == 128 + number
    assert "Traceback" not in err
    assert said(store) == [("user", "hi", None), ("assistant", "half an ", "interrupted")]
    assert only_session(store).closed_at is not None


def test_a_session_that_was_killed_is_gone_on_with_and_its_half_answer_is_sent(
    half_way, sibyl, store
):
    asking, _, server = half_way(answers("whole"))
    (entry,) = store.list(SessionFilter(), None, 10).entries
    session_id = entry.id
    wait_for(lambda: b'"partial"' in store.path(session_id).read_bytes())
    asking.kill()
    asking.communicate(timeout=SECONDS)
    assert said(store) == [("user", "hi", None), ("assistant", "half an ", "interrupted")]
    assert sibyl("ask", "go on", "--session", session_id).out == "whole\n"
    sent = [message["content"] for message in server.requests[1].body["messages"]]
    assert sent == ["hi", "half an ", "go on"]
    lines = store.path(session_id).read_bytes().splitlines()
    assert [type(decode(line)) for line in lines].count(Partial) == 1
    messages = store.journal(session_id).load().loaded_messages
    assert [each.status for each in messages] == [None, "interrupted", None, None]


def test_a_reader_that_leaves_ends_the_answer_which_is_kept(half_way, store):
    asking, gate, _ = half_way()
    asking.stdout.close()
    gate.open()
    assert asking.wait(SECONDS) == 1
    assert "Traceback" not in asking.stderr.read()
    assert only_session(store).loaded_messages[0].text == "hi"
    assert only_session(store).loaded_messages[1].text.startswith("half an ")


@pytest.mark.full
def test_a_file_that_is_taken_away_during_an_answer_costs_nothing(half_way, store):
    asking, gate, _ = half_way()
    (entry,) = store.list(SessionFilter(), None, 10).entries
    store.path(entry.id).unlink()
    gate.open()
    _, err = asking.communicate(timeout=SECONDS)
    assert entry.id in err
    session = only_session(store)
    assert session.id != entry.id
    assert [m.text for m in session.loaded_messages] == ["hi", "half an answer"]


@pytest.mark.parametrize("piece", ["", "half an "])
def test_what_cannot_be_saved_goes_to_a_rescue_file_and_comes_back(
    sibyl, served, saved, store, monkeypatch, piece
):
    session_id = saved("hello")
    full = OSError(errno.ENOSPC, "no room")

    def answer_and_fill_the_disk(exchange):
        if piece:
            monkeypatch.setattr(writer, "write_whole", raiser(full))
        answers("half an ", "answer")(exchange)

    server = served(answer_and_fill_the_disk)
    if not piece:
        monkeypatch.setattr(writer, "write_whole", raiser(full))
    result = sibyl("ask", "hi", "--session", session_id)
    assert len(server.requests) == bool(piece)
    assert result.code == 1
    monkeypatch.undo()
    file = re.search(r"What could not be saved is in (.*)\.\n", result.err)[1]
    assert f"sessions import {file} --data-dir {store.root}" in result.err
    assert result.err.count("No space left on device") == 1
    assert "Session saved" not in result.err
    assert sibyl("sessions", "import", file).code == 0
    assert kept_texts(store, session_id) == (
        ["hello", "hi", "half an answer"] if piece else ["hello", "hi"]
    )


@pytest.mark.parametrize("failing", ["the prompt", "the answer"])
def test_what_is_saved_only_when_the_session_is_closed_is_told_to_be_saved(
    sibyl, served, saved, store, monkeypatch, failing
):
    session_id = saved("hello")
    write, failures = writer.write_whole, [OSError(errno.EIO, "for a moment")]

    def fail_once(descriptor, data):
        if (b'"assistant"' in data) == (failing == "the answer") and failures:
            raise failures.pop()
        write(descriptor, data)

    monkeypatch.setattr(writer, "write_whole", fail_once)
    served(answers("Yes."))
    result = sibyl("ask", "hi", "--session", session_id, "--json")
    assert not failures
    told = [line.get("message_id") for line in result.lines if line["type"] == "saved"]
    assert told == [message.id for message in store.journal(session_id).load().loaded_messages][1:]
    assert "Cannot save" not in result.out + result.err
    assert f"Session saved: {session_id}" in result.err
    assert result.code == (failing == "the prompt")
    assert (result.lines[-1]["type"] == "done") == (failing == "the answer")


def test_the_model_that_was_connected_on_the_screen_is_asked(sibyl, monkeypatch, tmp_path):
    file = tmp_path / "settings" / "config.toml"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setenv("SIBYL_CONFIG", str(file))
    with ChatServer(answers("Connected."), key="sk-pasted-0123456789") as server:
        write_key(file, "local", "sk-pasted-0123456789")
        local = ProviderSettings(
            base_url=server.base_url, api_key_file=str(key_path(file, "local"))
        )
        change(
            connections_file(file),
            lambda kept: kept.with_connected("local", local, "local:mine"),
        )
        done = sibyl("ask", "Hello?")
        assert (done.code, done.out) == (0, "Connected.\n")
        assert server.requests[0].body["model"] == "mine"
