"""Sources of every program are found, recognised and read as what stands beside them says.

``sources/PROGRAM/CASE/`` is a home directory with what a program keeps there, a database as the
script that makes it, or an export alone. ``sources/PROGRAM/CASE.jsonl`` is its reading: headings
with their messages, and the counts of records; a field that is not there has its default.
"""

import json
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.builders import facts
from tests.examples import examples
from tests.importers.odd_texts import texts
from tests.importers.samples import (
    SOURCES,
    beginning,
    check,
    check_junk_lines,
    check_mutants,
    files_in,
    laid_out,
    read_all,
)
from tests.tables import each_row
from tui.importers.protocol import Ledger, Places
from tui.importers.readers import reader

CASES = sorted(SOURCES.glob("*/*.jsonl"))


@pytest.fixture(autouse=True)
def east(monkeypatch):
    """A machine an hour east of Greenwich: the times of some programs are local."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def named(case):
    return f"{case.parent.name}-{case.stem}"


def size(case):
    return sum(file.stat().st_size for file in files_in(case.with_suffix("")))


def largest():
    """The largest case of each kind of file that a program has."""
    kinds = {}
    for case in sorted(CASES, key=size):
        for file in files_in(case.with_suffix("")):
            kinds[case.parent.name, file.suffix] = case
    return sorted(set(kinds.values()))


@each_row("case", CASES)
def test_a_source_is_read_as_expected(case, tmp_path, monkeypatch):
    home = tmp_path / named(case) / "home"
    monkeypatch.setenv("HOME", str(home))
    expected = lines_of(case)
    program, sources = laid_out(case, home)
    lines = []
    for source, total in zip(sources, totals(expected), strict=True):
        assert program.recognises(source, beginning(source))
        lines += printed(check(program, source, lambda _, total=total: total), home)
    assert lines == expected


SMALL = [
    SOURCES / f"{name}.jsonl"
    for name in (
        "claude-code/a-compaction-becomes-a-summary-of-what-came-before",
        "claude-code/an-export-of-a-session-on-the-web-is-read-as-its-lines-would-be",
        "codex/a-compaction-becomes-a-summary",
        "copilot-cli/a-compaction-becomes-a-summary",
        "pi/a-compaction-stands-for-what-is-before-the-first-that-is-kept",
    )
]
"""Those that are tried at each run."""


@pytest.mark.parametrize(
    "case",
    [*SMALL, *(pytest.param(case, marks=pytest.mark.full) for case in largest())],
    ids=named,
)
def test_a_damaged_source_does_no_harm(case, tmp_path):
    program, sources = laid_out(case, tmp_path / "home")
    for number, source in enumerate(sources):
        root = None if source.is_dir() else source.parent
        check_mutants(program, source, tmp_path / str(number), root)


@pytest.mark.parametrize(
    ("program", "name", "text"),
    [
        ("claude-code", "s/subagents/agent-1.jsonl", '{"type": "user", "message": {}}'),
        ("cursor-cli", "s/subagents/1.jsonl", '{"role": "user", "message": {"content": "Look"}}'),
        ("gemini-cli", "s/1.jsonl", '{"sessionId": "1", "projectHash": "h", "kind": "subagent"}'),
        ("pi", "run-1/session.jsonl", '{"type": "session", "id": "1"}'),
        ("vibe", "session_1/agents/session_2/messages.jsonl", '{"role": "user", "content": "Hi"}'),
    ],
)  # fmt: skip
def test_a_sub_agent_whose_file_is_named_is_counted(program, name, text, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text + "\n")
    path.with_name("meta.json").write_text('{"session_id": "2"}')
    reading = read_all(reader(program), path)
    assert reading.conversations == []
    assert reading.ledger.skipped == {"sub-agent": text.count("\n") + 1}


@pytest.mark.parametrize(
    "program", ["claude-code", "codex", "copilot-cli", "gptme", "jan", "pi", "qwen-code"]
)
def test_lines_that_are_no_records_hide_nothing(program, tmp_path):
    case = max(SOURCES.glob(f"{program}/*.jsonl"), key=size)
    program, (source, *_) = laid_out(case, tmp_path / "home")
    check_junk_lines(program, source, tmp_path / "copy")


@pytest.mark.parametrize(
    ("program", "case", "variable", "folder"),
    [
        ("aider", "lines-before-the-first-chat-are-read", "AIDER_CHAT_HISTORY_FILE",
         "work/shop/.aider.chat.history.md"),
        ("claude-code", "files-are-found-but-those-of-sub-agents", "CLAUDE_CONFIG_DIR", ".claude"),
        ("copilot-cli", "files-are-found-with-older-ones", "COPILOT_HOME", ".copilot"),
        ("cursor-cli", "finds-stores-and-the-transcripts-of-other-sessions", "CURSOR_CONFIG_DIR",
         ".cursor"),
        ("elia", "reads-a-chat", "XDG_DATA_HOME", ".local/share"),
        ("gptme", "a-conversation-is-read-whole", "GPTME_LOGS_HOME", ".local/share/gptme/logs"),
        ("llm", "reads-a-thread", "XDG_CONFIG_HOME", ".config"),
        ("llm", "reads-a-thread", "LLM_USER_PATH", ".config/io.datasette.llm"),
        ("oterm", "reads-a-chat", "OTERM_DATA_DIR", ".local/share/oterm"),
        ("parllama", "a-chat-is-read-whole", "PARLLAMA_DATA_DIR", ".local/share/parllama"),
        ("picoclaw", "a-session-is-read-whole-old", "PICOCLAW_HOME", ".picoclaw"),
        ("qwen-code", "a-session-is-read-whole", "QWEN_HOME", ".qwen"),
        ("qwen-code", "a-session-is-read-whole", "QWEN_RUNTIME_DIR", ".qwen"),
        ("vibe", "a-session-is-read-whole", "VIBE_HOME", ".vibe"),
    ],
)  # fmt: skip
def test_a_variable_names_the_place_of_a_program(program, case, variable, folder, tmp_path):
    program, sources = laid_out(SOURCES / program / f"{case}.jsonl", tmp_path / "home")
    places = Places(tmp_path / "elsewhere", {variable: str(tmp_path / "home" / folder)})
    assert [each.path for each in program.find(places)] == sources


def in_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def in_ascii(text):
    return json.dumps(text)[1:-1]


def in_sql(text):
    return text.replace("'", "''").replace("\0", "'||char(0)||'")


def in_json_in_sql(text):
    return in_sql(in_ascii(text))


def in_hex(text):
    return in_ascii(text).encode().hex().upper()


def in_lisp(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def in_emacs(text):
    """The text as Emacs prints it, with all of its escapes."""
    named = {"\n": "\\n", "\f": "\\f", "\x1b": "\\e", "\\": "\\\\", '"': '\\"'}
    return "".join(
        named.get(each) or (f"\\{ord(each):03o}" if each < " " else each) for each in text
    )


@pytest.mark.parametrize(
    ("program", "case", "written"),
    [
        ("agent-q", "a-session-of-emacs-is-read-whole", in_emacs),
        ("agent-q", "a-session-of-common-lisp-is-read-whole", in_lisp),
        ("aichat", "a-session-of-quoted-texts-is-read", in_json),
        ("chatbox", "threads-follow-each-other-and-forks-are-versions", in_json),
        ("cherry-studio", "messages-with-blocks-are-read", in_json),
        ("cline", "a-task-is-read-whole", in_json),
        ("cline", "a-session-of-the-newest-command-line-is-read-whole", in_ascii),
        ("continue", "a-session-is-read-whole", in_json),
        ("crush", "reads-a-session-with-its-tools", in_json_in_sql),
        ("cursor", "a-chat-is-read-whole", in_json_in_sql),
        ("cursor-cli", "reads-a-session-with-its-tools-transcript", in_ascii),
        ("cursor-cli", "gives-the-facts-of-a-stored-session", in_hex),
        ("deepseek", "the-last-answer-is-shown-and-others-are-versions", in_json),
        ("elia", "reads-a-chat", in_sql),
        ("goose", "reads-a-session-with-its-tools-in-database", in_json_in_sql),
        ("goose", "reads-a-session-with-its-tools-in-file", in_ascii),
        ("gptme", "a-conversation-is-read-whole", in_json),
        ("grok", "responses-without-parents-follow-each-other", in_json),
        ("jan", "a-thread-is-read-whole", in_json),
        ("jidocode", "a-session-is-read-whole-in-the-order-of-time", in_json),
        ("llm", "reads-the-older-form", in_sql),
        ("lm-studio", "the-selected-versions-are-shown", in_json),
        ("lobechat", "the-tables-of-an-export-are-read", in_json),
        ("messages", "gives-loose-messages-of-a-session-their-own-conversation", in_ascii),
        ("nextchat", "the-sessions-of-a-backup-are-read", in_json),
        ("opencode", "gives-the-facts-of-a-session-exported", in_ascii),
        ("opencode", "gives-the-facts-of-a-session-in-database", in_json_in_sql),
        ("opencode", "gives-the-facts-of-a-session-stored", in_ascii),
        ("oterm", "reads-a-chat", in_sql),
        ("parllama", "a-chat-is-read-whole", in_json),
        ("picoclaw", "a-session-is-read-whole-new", in_json),
        ("picoclaw", "a-session-is-read-whole-old", in_json),
        ("qwen-code", "a-rewound-turn-is-a-version", in_json),
        ("sharegpt", "reads-sharegpt", in_ascii),
        ("sibyl", "a-session-is-read-whole", in_lisp),
        ("typingmind", "the-chats-of-an-export-are-read", in_json),
        ("vibe", "a-session-is-read-whole", in_json),
    ],
)
@examples(0.4 if settings.default.max_examples < 100 else 1)
@given(words=texts)
def test_any_words_are_read_back(program, case, written, words):
    case = SOURCES / program / case
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, program, case.name)
        shutil.copytree(case, copy)
        expected = [
            new if replace(copy, written(text), written(new)) else text
            for number, text in enumerate(texts_of(case.with_suffix(".jsonl")))
            if (new := f"Words {number}: {words}.")
        ]
        program, sources = laid_out(copy.with_suffix(".jsonl"), Path(folder, "home"))
        messages = [each for source in sources for each in read_all(program, source).messages]
    assert [each.content for each in messages if each.content] == expected
    assert any(each.startswith("Words") for each in expected)


def texts_of(case):
    """The texts of the messages that a case expects."""
    messages = [json.loads(line).get("ForeignMessage", {}) for line in lines_of(case)]
    return [each["content"] for each in messages if each.get("content")]


def replace(folder, old, new):
    """Put a text in the place of one that is there just once; tell whether it was."""
    files = [each for each in files_in(folder) if old.encode() in each.read_bytes()]
    if len(files) != 1 or files[0].read_bytes().count(old.encode()) != 1:
        return False
    files[0].write_bytes(files[0].read_bytes().replace(old.encode(), new.encode()))
    return True


def lines_of(path):
    """The lines of a file; only a line feed ends one."""
    return path.read_text().removesuffix("\n").split("\n")


def totals(lines):
    """The numbers of records in sources, by the counts after their conversations."""
    for line in map(json.loads, lines):
        if "read" in line:
            ledger = Ledger()
            ledger.read, ledger.skipped = line["read"], Counter(line["skipped"])
            yield ledger.total


def printed(reading, home):
    """Lines of JSON for a reading, with its defaults left out."""
    lines = []
    for heading, items in reading.conversations:
        lines += [{type(each).__name__: facts(each)} for each in (heading, *items)]
    counts = {"read": reading.ledger.read, "skipped": dict(sorted(reading.ledger.skipped.items()))}
    texts = [json.dumps(line, ensure_ascii=False) for line in (*lines, counts)]
    return [text.replace(str(home), "~") for text in texts]
