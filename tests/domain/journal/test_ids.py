import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text
from tui.domain.journal.records import (
    MESSAGE_TOKEN_BYTES,
    SESSION_NUMBERS,
    is_session_id,
    new_message_id,
    new_session_id,
)

NOW = datetime(2026, 1, 11, 14, 30, 22, 987654, UTC)


def test_a_session_is_named_by_local_time_and_six_digits(zone):
    zone("JST-9")
    assert new_session_id(NOW, 847) == "session-20260111-233022-000847"


def test_the_highest_number_has_six_digits():
    assert new_session_id(NOW, SESSION_NUMBERS - 1).endswith("-999999")


def test_a_message_is_named_by_utc_to_the_millisecond_and_a_token(zone):
    zone("JST-9")
    there = NOW.astimezone(timezone(timedelta(hours=-5)))
    assert new_message_id(there, "a1b2c3d4") == "20260111T143022987-a1b2c3d4"


def test_a_message_has_a_token_of_eight_digits():
    assert len(bytes(MESSAGE_TOKEN_BYTES).hex()) == 8


@given(
    st.integers(0, 2**32).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(0, SESSION_NUMBERS - 1),
)
def test_every_name_given_to_a_session_is_a_session_id(now, number):
    name = new_session_id(now, number)
    assert is_session_id(name)
    assert re.fullmatch(r"session-\d{8}-\d{6}-\d{6}", name)


@pytest.mark.parametrize("name", ["a", "0", "A.b_c-d", "a..b", "a" * 128, "session-1", "x-"])
def test_letters_digits_dots_underscores_and_hyphens_make_an_id(name):
    assert is_session_id(name)


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "../a", "a/b", "a/", "/a", "\\a", "a\\b", "-a", "_a", ".a", "~a", "a~1"),
        *(
            "a b",
            " a",
            "a ",
            "a\n",
            "\na",
            "a\x00",
            "a\x00.jsonl",
            "a\r",
            "a*",
            "a:b",
            "a%2e",
            "#1",
        ),
        *("é", "aé", "ａ", "а", "١", "a١", "会話", "a\u202e", "a\ud800", "a\u200b", "ſ", "\u212a"),
        "a" * 129,
    ],
)
def test_anything_else_is_refused(text):
    assert not is_session_id(text)


@given(any_text() | st.text(st.sampled_from("aZ9.-_/\\~ \n\x00é"), max_size=130))
def test_an_id_is_a_plain_file_name_of_its_folder(text):
    if is_session_id(text):
        assert text.isascii()
        assert 1 <= len(text) <= 128
        assert not set(text) & set("/\\~ \n\x00")
        assert text[0] not in ".-_"
