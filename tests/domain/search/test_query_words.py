"""The words of a question that are worth searching for."""

import pytest

from tui.domain.search.tokens import search_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What did we say about the login bug?", ("login*", '"bug"')),
        ("And in the SESSIONS of auth.py, what about caches?", ('"auth.py"', "cache*")),
        ("ログインのバグについて何と言いましたか？", ('"ログイン"', '"バグ"')),
        ("検索が遅い件はどうなった", ('"検索"', '"遅"')),
        ("我们说过什么关于登录错误的", ('"登录错误"',)),
        ("로그인 버그에 대해", ('"로그"', '"버그"')),
        ("What was it?", ()),
        ("", ()),
        ("foo_bar", ('"foo_bar"',)),
    ],
)
def test_only_what_means_something_is_searched_for(question, words):
    assert search_words(question) == words


def test_a_long_question_is_searched_for_by_its_first_words():
    assert len(search_words(" ".join(f"zebra{n}" for n in range(50)))) == 8
