"""What comes nearest to what somebody half remembers."""

import pytest

from tests.builders import answer, user
from tui.engine.library.near_matches import nearest
from tui.storage.file_store import FileStore


@pytest.fixture
def look(tmp_path):
    """Says what comes nearest: the queries, and the messages found."""
    store = FileStore(tmp_path / "data")
    lease = store.create("project:/shop", "/shop", "m")
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
    store.append(lease, said)
    lease.release()

    def look(text):
        near = nearest(lambda query: store.search(query, 50), text, 5)
        return near.queries, [hit.message_id for hit in near.found.hits]

    return look


@pytest.mark.parametrize(
    ("text", "queries", "found"),
    [
        ("authent", ["authent*"], "train"),
        ("authentification", ["authenti*"], "train"),
        ("trains edinburg", ["train* edinburg*"], "train"),
        ("Grandmas sourduogh", ["grandma* sourd*"], "bread"),
        ("train edinburgh xylophone", ["train* edinburgh*"], "train"),
        ("what did grandma say about sourdoughs", ["grandma* sourdough*"], "bread"),
        ("Verspätungen Köln", ["Verspätung* Köln*"], "zug"),
        ("東京駅で待ち合わせ", ["東京駅 待 合"], "station"),
        ("数据库迁徙", ["数据库迁"], "schema"),
        ("비밀번호를", ["비밀번호"], "password"),
        ("резервные копии", ["резервн* копи*"], "backup"),
        ("parser_states.py", ["parser_state*"], "code"),
    ],
)
def test_half_words_wrong_endings_and_words_never_said_are_passed_over(look, text, queries, found):
    assert look(text) == (tuple(queries), [found])


def test_the_filters_of_a_query_stay_and_are_not_looser(look):
    assert look("in:shop authent") == (("authent*",), ["train"])
    assert look("in:farm authent") == ((), [])


def test_words_that_are_never_together_are_looked_for_without_one_of_them(look):
    queries, found = look("edinburgh train sourdough")
    assert queries == ("edinburgh* train*",)
    assert found == ["train"]
    queries, found = look("edinburgh sourdough")
    assert set(queries) == {"edinburgh*", "sourdough*"}
    assert set(found) == {"train", "bread"}


@pytest.mark.parametrize("text", ["", "->", "the", "xylophone", "a b c"])
def test_nothing_comes_near_to_what_has_nothing_in_common(look, text):
    assert look(text) == ((), [])
