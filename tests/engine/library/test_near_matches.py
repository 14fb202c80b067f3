"""What comes nearest to what somebody half remembers."""

import pytest

from tests.builders import answer, user
from tests.engine.library.conftest import Searched
from tests.engine.library.remembered import REMEMBERED
from tui.engine.library.loose_search import search_near


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


@pytest.mark.parametrize(
    ("text", "query", "found"),
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
    ],
)
def test_half_words_wrong_endings_and_words_never_said_are_passed_over(look, text, query, found):
    assert look(text) == (query, [found])


def test_an_ending_makes_no_other_word(look):
    assert look("how to authenticate the failing trains") == (
        "authenticat* OR fail* OR train*",
        ["train"],
    )


def test_the_filters_of_a_query_stay_and_are_not_looser(look):
    assert look("in:shop authent") == ("authent*", ["train"])
    assert look("in:farm authent") == ("", [])


def test_of_words_that_are_never_together_the_message_with_most_is_the_first(look):
    assert look("edinburgh train sourdough")[1] == ["train", "bread"]
    assert set(look("edinburgh sourdough")[1]) == {"train", "bread"}


@pytest.mark.parametrize("text", ["", "->", "the", "xylophone", "a b c"])
def test_nothing_comes_near_to_what_has_nothing_in_common(look, text):
    assert look(text) == ("", [])


def test_two_words_that_are_found_need_no_others(look):
    assert look("train edinburgh") == ("", [])


def test_beside_the_few_matches_of_a_whole_question_stand_those_of_some_of_its_words(tmp_path):
    both = user("both", "the login token expires in the staging cluster")
    one = user("one", "the staging cluster was slow")
    searched = Searched(tmp_path / "data", [both, one])
    question = "login token staging cluster"
    assert [hit.message_id for hit in searched.search(question).hits] == ["both"]
    near = searched.near(question)
    assert [hit.message_id for hit in near.hits] == ["one"]
    assert near.total == 1


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


def test_who_reads_one_list_finds_the_nearest_behind_what_has_all_words(tmp_path):
    said = [
        user("some", "the train to Edinburgh is late"),
        user("all", "a train to Edinburgh at three, platform two"),
    ]
    found = search_near(
        Searched(tmp_path / "data", said).search, "train Edinburgh three platform", 10
    )
    assert [hit.message_id for hit in found.hits] == ["all", "some"]
    assert found.total == 2
