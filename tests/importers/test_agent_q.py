"""Sessions of Agent-Q, in both of its formats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all
from tui.domain.journal.message import ToolCall
from tui.importers.agent_q import READER
from tui.importers.protocol import Places

# As Emacs prints them: oldest first, times in two halves.
FIRST = r""";; -*- mode: emacs-lisp; lexical-binding: t; -*-
;; Agent-Q Session
;; Created: 2026-01-12 10:00:00
;; Name: Fix "it"

(:version 1 :id "session-20260112-100000" :name "Fix \"it\"" :created-at
          (26980 50720 123456 789000)
          :updated-at
          (26980 50800 0 0)
          :model nil :messages
          ((:id "20260112100010-1a2b" :role user :content "How does \"defun\" work?\n; no comment\t\303\251\n\n## Context\n(:role user :content \"x\")" :timestamp
                (26980 50730 500000 0)
                :context-snapshot nil :metadata nil)
           (:id "20260112100020-3c4d" :role assistant :content
                #("Like this: \\(defun\\) \e[1m" 0 4
                  (face bold))
                :timestamp
                (26980 50740 0 0)
                :context-snapshot nil :metadata
                (:model "claude-sonnet-4" :tool-calls
                        ((:name "describe" :arguments
                                (:symbol "defun" :deep t)
                                :result "A macro.")))))
          :metadata
          (:total-input-tokens 12))
"""  # noqa: E501
# As SBCL prints them.
SECOND = r""";;; -*- Mode: LISP; Syntax: COMMON-LISP -*-
;;; Agent-Q Session v2
;;; Created: 2026-01-18 10:00:00
;;; Name: Fix "it"

(:version 2 :id "session-20260118-100000-1A2B" :name "Fix \"it\"" :created-at 3977719200
 :updated-at 3977719400 :model "claude-sonnet-4-20250514" :metadata
 (:provider :anthropic :total-input-tokens 12) :messages
 ((:role :user :content "How does \"defun\" work?
; not a comment \\n 😀"
   :timestamp 3977719210)
  (:role :debug :content "[DEBUG] x" :timestamp 3977719211)
  (:role :assistant :content "Like this: (defun f (x) \"doc\" x)" :timestamp 3977719220)))
"""


def written(home, name, text):
    path = home / ".emacs.d" / "agent-q-sessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return path


@pytest.fixture
def first(tmp_path):
    """The sample of the first format."""
    return written(tmp_path, "session-20260112-100000.el", FIRST)


@pytest.fixture
def second(tmp_path):
    """The sample of the second format."""
    return written(tmp_path, "session-20260118-100000-1A2B.lisp", SECOND)


def test_sessions_of_both_formats_are_found(tmp_path, first, second):
    first.with_name("notes.el").write_text("()")
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [first, second]
    for path in (first, second):
        assert READER.recognises(path, path.read_bytes()[:200])


def test_a_session_of_emacs_is_read_whole(first):
    ((heading, (question, answer, result)),) = check(READER, first, lambda _: 2).conversations
    assert heading.source_id == "session-20260112-100000"
    assert heading.name == 'Fix "it"'
    assert heading.created_at == "2026-01-12T10:00:00.123Z"
    assert heading.updated_at == "2026-01-12T10:00:20.000Z"
    assert question.id == "session-20260112-100000/20260112100010-1a2b"
    assert question.content == (
        'How does "defun" work?\n; no comment\té\n\n## Context\n(:role user :content "x")'
    )
    assert question.timestamp == "2026-01-12T10:00:10.500Z"
    assert answer.content == "Like this: \\(defun\\) \x1b[1m"
    assert answer.model == "claude-sonnet-4"
    call_id = f"{answer.id}-0"
    assert answer.tool_calls == (ToolCall(call_id, "describe", {"symbol": "defun", "deep": True}),)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "A macro.", call_id)


def test_a_session_of_common_lisp_is_read_whole(second):
    reading = check(READER, second, lambda _: 3)
    ((heading, (question, answer)),) = reading.conversations
    assert heading.source_id == "session-20260118-100000-1A2B"
    assert (heading.name, heading.model) == ('Fix "it"', "claude-sonnet-4-20250514")
    assert heading.created_at == "2026-01-18T10:00:00.000Z"
    assert question.content == 'How does "defun" work?\n; not a comment \\n 😀'
    assert question.timestamp == "2026-01-18T10:00:10.000Z"
    assert answer.content == 'Like this: (defun f (x) "doc" x)'
    assert reading.ledger.skipped == {"debug message": 1}


def test_the_header_decides_and_not_the_suffix(tmp_path):
    swapped = written(tmp_path, "session-1.lisp", FIRST)
    assert read_all(READER, swapped).messages[0].content.startswith('How does "defun" work?\n;')
    swapped = written(tmp_path, "session-2.el", SECOND)
    assert "comment \\n" in read_all(READER, swapped).messages[0].content


def test_the_version_decides_where_the_header_is_gone(tmp_path):
    bare = written(tmp_path, "session-2.el", SECOND[SECOND.index("(:version") :])
    assert "comment \\n" in read_all(READER, bare).messages[0].content


@pytest.mark.parametrize("sample", [FIRST, SECOND])
def test_whole_messages_of_a_cut_file_are_read(tmp_path, sample):
    path = written(tmp_path, "session-1.el", sample[: sample.index("Like this")])
    reading = read_all(READER, path)
    assert len(reading.messages) == 1
    assert reading.messages[0].content.startswith('How does "defun" work?')
    assert reading.ledger.skipped["unfinished message"] == 1


@pytest.mark.full
def test_mutants_do_not_fail(first, second, tmp_path):
    check_mutants(READER, first, tmp_path / "first")
    check_mutants(READER, second, tmp_path / "second")


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    for write in (emacs, common_lisp):
        path = written(tmp_path_factory.getbasetemp(), "session-1.lisp", write(said))
        reading = check(READER, path, lambda _: len(said))
        assert [(message.role, message.content) for message in reading.messages] == said


def emacs(said):
    messages = "\n".join(
        f'(:id "m{n}" :role {role} :content "{escaped(text)}" :timestamp (26980 {n} 0 0))'
        for n, (role, text) in enumerate(said)
    )
    return f';; Agent-Q Session\n\n(:version 1 :id "session-1" :messages\n ({messages}))\n'


def escaped(text):
    """The text as Emacs prints it, with all of its escapes."""
    named = {"\n": "\\n", "\f": "\\f", "\x1b": "\\e", "\\": "\\\\", '"': '\\"'}
    return "".join(
        named.get(each) or (f"\\{ord(each):03o}" if each < " " else each) for each in text
    )


def common_lisp(said):
    messages = "\n".join(
        '(:role :{} :content "{}" :timestamp {})'.format(
            role, text.replace("\\", "\\\\").replace('"', '\\"'), 3977719200 + n
        )
        for n, (role, text) in enumerate(said)
    )
    body = f'(:version 2 :id "session-1" :messages\n ({messages}))\n'
    return f";;; Agent-Q Session v2\n;;; Created: 2026-01-18 10:00:00\n\n{body}"
