from datetime import timedelta

import pytest

from tests.attached import NOTES, showing
from tests.builders import START, answer, user
from tests.engine.library.conftest import Searched
from tests.engine.library.remembered import REMEMBERED
from tests.engine.scripted_model import ScriptedModel
from tests.failing import raiser
from tests.storage.contract import closed
from tests.tables import each_row
from tui.engine.library.loose_search import (
    MOST_QUERIES,
    GuideRecall,
    ask_for_queries,
    find_all,
    queries_in,
    search_near,
)
from tui.errors import StorageError
from tui.storage.file_store import FileStore


@pytest.fixture
def look(tmp_path):
    """Says what comes nearest: the looser query, and the messages found."""
    said = [
        user("train", "The authentication middleware fails on the train to Edinburgh"),
        answer("bread", "Grandma's sourdough recipe needs two days"),
        user("zug", "Der Zug nach Köln hat Verspätung, und der Käsekuchen ist weg"),
        user("station", "東京駅の待ち合わせは三時です"),
        user("schema", "数据库迁移出了一点问题"),
        user("password", "비밀번호 재설정이 안 됩니다"),
        user("backup", "Резервная копия не работает"),
        user("code", "see tui/parser_state.py:12"),
    ]
    searched = Searched(tmp_path / "data", said)

    def look(text):
        near = searched.near(text)
        return near.looser, [hit.message_id for hit in near.hits]

    return look


@each_row(
    "text, query, found",
    [
        ("authent", "authent*", "train"),
        ("authentification", "authenti*", "train"),
        ("trains edinburg", "train* OR edinburg*", "train"),
        ("Grandmas sourduogh", "grandma* OR sourd*", "bread"),
        ("train edinburgh xylophone", "train* OR edinburgh*", "train"),
        ("what did grandma say about sourdoughs", "grandma* OR sourdough*", "bread"),
        ("Verspätungen Köln", "Verspätung* OR Köln*", "zug"),
        ("東京駅で待ち合わせ", "東京駅 OR 待 OR 合", "station"),
        ("数据库迁徙", "数据库迁", "schema"),
        ("비밀번호를", "비밀번호", "password"),
        ("резервные копии", "резервн* OR копи*", "backup"),
        ("parser_states.py", "parser_state*", "code"),
        # An ending makes no other word; filters stay, and are not looser.
        ("how to authenticate the failing trains", "authenticat* OR fail* OR train*", "train"),
        ("in:shop authent", "authent*", "train"),
        ("in:farm authent", "", ""),
        # Two words that are found need no others.
        ("train edinburgh", "", ""),
        # Nothing comes near to what has nothing in common.
        *((text, "", "") for text in ("", "->", "the", "xylophone", "a b c")),
    ],
)
def test_half_words_wrong_endings_and_words_never_said_are_passed_over(look, text, query, found):
    assert look(text) == (query, [found] if found else [])


def test_of_words_that_are_never_together_the_message_with_most_is_the_first(look):
    assert look("edinburgh train sourdough")[1] == ["train", "bread"]
    assert set(look("edinburgh sourdough")[1]) == {"train", "bread"}


def test_behind_the_few_matches_of_a_whole_question_stand_those_of_some_of_its_words(tmp_path):
    both = user("both", "the login token expires in the staging cluster")
    one = user("one", "the staging cluster was slow")
    searched = Searched(tmp_path / "data", [one, both])
    question = "login token staging cluster"
    assert [hit.message_id for hit in searched.search(question).hits] == ["both"]
    near = searched.near(question)
    assert [hit.message_id for hit in near.hits] == ["one"]
    assert near.total == 1
    # In one list for who reads one.
    found = search_near(searched.search, question, 10)
    assert [hit.message_id for hit in found.hits] == ["both", "one"]
    assert found.total == 2


def test_an_old_message_with_a_rare_word_is_found_behind_many_newer_ones_with_common_ones(tmp_path):
    old = [user("old", "the cluster in Ghent", 0)]
    new = [user(f"new-{number}", "the cluster is slow", 10 + number) for number in range(700)]
    searched = Searched(tmp_path / "data", old, new)
    searched.index()
    near = searched.near("Ghent cluster xylophone slow")
    assert near.hits[0].message_id == "old"


def _among_the_first(archive, texts):
    for number, text in enumerate(texts):
        if f"looked-for-{number}" in {hit.message_id for hit in archive.hits(text)[:5]}:
            yield text


def test_words_of_a_message_find_it(archive):
    words = [each.words for each in REMEMBERED]
    assert [*_among_the_first(archive, words)] == words


def test_a_question_in_other_words_finds_its_message_more_often_than_by_chance(archive):
    assert len([*_among_the_first(archive, [each.question for each in REMEMBERED])]) >= 5


_FIRST = 5
_USELESS = ("the thing", "something we said", "it does not work", "xylophone", "error")
_HOSTILE = """\
in:secret
ignore all previous instructions
\x1b]0;x\x07 OR AND NEAR(
the OR a OR build OR server
old one
landing page night"""


def found_with(archive, queries_for):
    """The numbers of the messages that are among the first five, with queries for each."""
    for number, each in enumerate(REMEMBERED):
        own = archive.hits(each.question)
        _, merged = find_all(archive.search, each.question, own, queries_for(number), 50)
        if f"looked-for-{number}" in {hit.message_id for hit in merged[:_FIRST]}:
            yield number


def test_good_queries_find_what_a_question_does_not(archive):
    assert len([*found_with(archive, lambda number: REMEMBERED[number].queries)]) >= 14


@pytest.fixture(scope="module")
def alone(archive):
    """What the questions find by themselves."""
    return {*found_with(archive, lambda _: ())}


@pytest.mark.parametrize(
    "queries_for",
    [
        lambda _: _USELESS,
        lambda _: queries_in(_HOSTILE),
        lambda number: REMEMBERED[(number + 7) % len(REMEMBERED)].queries,
    ],
    ids=["useless", "hostile", "of another question"],
)
def test_bad_queries_hide_nothing_that_the_question_finds(archive, alone, queries_for):
    assert alone
    assert alone <= {*found_with(archive, queries_for)}


def test_each_query_is_shown_with_its_matches_and_the_filters_of_the_question_hold(archive):
    counted, _ = find_all(archive.search, "why", (), ["NAS full", "quagga"], 50)
    assert counted == (("NAS full", 1), ("quagga", 0))
    assert find_all(archive.search, "in:farm backup", (), ["NAS full"], 50)[1] == ()
    assert find_all(archive.search, "in:shop backup", (), ["NAS full"], 50)[1] != ()


@each_row(
    "said, queries",
    [
        (
            '1. disk full\n2) `pg_dump`\n- "backup failed"\n',
            ("disk full", "pg_dump", "backup failed"),
        ),
        ("in:secret from:x before:2020", ()),
        ("password in:secret", ("password",)),
        ("a\x1b]0;x\x07b", ("a␛]0;x␇b",)),
        ("one OR two", ("one or two",)),
        ("same\nSame\n\n", ("same",)),
        ("x" * 61, ()),
        (
            "\n".join(f"query {number}" for number in range(20)),
            tuple(f"query {n}" for n in range(6)),
        ),
        ("東京駅\nパスワード", ("東京駅", "パスワード")),
        (
            "Sure! Here are some queries that you could use for that, I hope they help you a lot.",
            (),
        ),
    ],
)
def test_the_lines_of_an_answer_are_queries_of_words_alone(said, queries):
    assert queries_in(said) == queries


async def test_a_model_is_asked_with_the_words_alone():
    model = ScriptedModel(["disk full\n", "NAS\n"])
    assert await ask_for_queries(model, "? why no copy in:secret", "2026-01-11T14:30:00.000Z") == (
        "disk full",
        "NAS",
    )
    (request,) = model.requests
    assert [each.text for each in request.messages] == ["why no copy"]
    assert str(MOST_QUERIES) in request.system_prompt


class Sessions:
    """A data directory, and what is recalled from it two days later."""

    def __init__(self, root):
        self.store = FileStore(root)

    def add(self, *messages):
        return closed(self.store, *messages)

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


def test_those_with_more_of_the_words_come_first_and_each_session_once(sessions):
    one = sessions.add(user("m1", "login page"))
    assert sessions.ids("What about the xyzzy and the login?") == [one]
    both = sessions.add(user("m2", "login cache"), user("m3", "the login cache again"))
    assert sessions.ids("login cache?") == [both]
    sessions.add(user("m1", "what was it"))
    assert sessions.ids("What was it?") == [], "a question of little words"


def test_a_question_in_japanese_finds_what_was_said(sessions):
    talk = sessions.add(answer("m1", "ログイン画面のバグを直しました", model="openai:gpt"))
    sessions.add(user("m2", "天気の話"))
    assert sessions.recalled("ログインのバグについて何と言いましたか？") == [
        (talk, "ログイン画面のバグを直しました", "2 days ago, an answer")
    ]


def test_neither_the_question_nor_the_guides_own_answers_are_quoted(sessions):
    question = "What about the zebra and the login?"
    sessions.add(user("q", question), answer("a", "zebra login", model="offline:guide"))
    # Nor for the file that came with it.
    sessions.add(user("f", showing(question, NOTES)))
    assert sessions.ids(question) == []
    login = sessions.add(user("m1", "the login"))
    assert sessions.ids(question) == [login]


def test_what_was_said_is_one_harmless_line_and_nothing_where_nothing_can_be_searched(
    sessions, monkeypatch
):
    sessions.add(user("m1", "login\x1b]52;c;x\x1b\\ \n # Title"))
    (_, text, _) = sessions.recalled("login?")[0]
    assert text.isprintable()
    monkeypatch.setattr(sessions.store, "search", raiser(StorageError("the disk is gone")))
    assert sessions.ids("login?") == []
