"""What the user's own sessions have on a question."""

from datetime import timedelta

import pytest

from tests.attached import NOTES, showing
from tests.builders import START, answer, user
from tests.failing import raiser
from tui.engine.library.loose_search import GuideRecall
from tui.errors import StorageError
from tui.storage.file_store import FileStore


class Sessions:
    """A data directory, and what is recalled from it two days later."""

    def __init__(self, root):
        self.store = FileStore(root)

    def add(self, *messages):
        lease = self.store.create("project:/shop", "/shop", "m")
        self.store.append(lease, messages)
        lease.release()
        return lease.session_id

    def recalled(self, question):
        recall = GuideRecall(self.store, lambda: START + timedelta(days=2))
        return [(hit.session_id, hit.text, hit.said) for hit in recall(question)]

    def ids(self, question):
        return [session_id for session_id, _, _ in self.recalled(question)]


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path / "data")


def test_a_question_in_plain_words_finds_what_was_said(sessions):
    login = sessions.add(user("m1", "The login has a bug: it takes any password"))
    sessions.add(user("m2", "What shall we eat?"))
    assert sessions.recalled("What did we say about the login bug?") == [
        (login, "The login has a bug: it takes any password", "2 days ago, you")
    ]


def test_words_that_nobody_said_do_not_hinder(sessions):
    login = sessions.add(user("m1", "the login"))
    assert sessions.ids("What about the xyzzy and the login?") == [login]


def test_those_with_more_of_the_words_come_first_and_each_session_once(sessions):
    one = sessions.add(user("m1", "login page"))
    both = sessions.add(user("m2", "login cache"), user("m3", "the login cache again"))
    assert sessions.ids("login cache?") == [both]
    assert one not in sessions.ids("login cache?")


def test_a_question_in_japanese_finds_what_was_said(sessions):
    talk = sessions.add(answer("m1", "ログイン画面のバグを直しました", model="openai:gpt"))
    sessions.add(user("m2", "天気の話"))
    assert sessions.recalled("ログインのバグについて何と言いましたか？") == [
        (talk, "ログイン画面のバグを直しました", "2 days ago, an answer")
    ]


def test_neither_the_question_nor_the_guides_own_answers_are_quoted(sessions):
    question = "What about the zebra and the login?"
    sessions.add(user("q", question), answer("a", "zebra login", model="offline:guide"))
    assert sessions.ids(question) == []
    login = sessions.add(user("m1", "the login"))
    assert sessions.ids(question) == [login]


def test_a_question_is_not_quoted_for_the_file_that_came_with_it(sessions):
    question = "What about the zebra?"
    sessions.add(user("q", showing(question, NOTES)))
    assert sessions.ids(question) == []


def test_nothing_is_searched_for_a_question_of_little_words(sessions):
    sessions.add(user("m1", "what was it"))
    assert sessions.ids("What was it?") == []


def test_what_was_said_is_one_harmless_line(sessions):
    sessions.add(user("m1", "login\x1b]52;c;x\x1b\\ \n # Title"))
    (_, text, _) = sessions.recalled("login?")[0]
    assert text.isprintable()


def test_sessions_that_cannot_be_searched_have_nothing(sessions, monkeypatch):
    sessions.add(user("m1", "login", seconds=1))

    monkeypatch.setattr(sessions.store, "search", raiser(StorageError("the disk is gone")))
    assert sessions.ids("login?") == []
