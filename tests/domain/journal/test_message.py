import pytest
from hypothesis import given

from tests.strategies import messages
from tui.domain.journal.message import TEXT_BYTES, Message


def message(content):
    return Message(id="m", role="assistant", content=content, timestamp="t")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, ""),
        ([], ""),
        (["one", "two"], "one\ntwo"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "image", "data": "…"}, "seen"], "[image]\nseen"),
        ([{"text": 3}, {}], "[block]\n[block]"),
        ([1, None, ["x"]], "\n\n"),
    ],
)
def test_the_text_of_a_message_is_its_content_or_that_of_its_blocks(content, text):
    assert message(content).text == text


@given(messages())
def test_every_message_has_a_text(each):
    assert isinstance(each.text, str)


def test_the_longest_text_has_8_mib():
    assert TEXT_BYTES == 8 * 1024 * 1024


def test_a_message_cannot_be_changed():
    with pytest.raises(AttributeError):
        message("x").content = "y"


@pytest.mark.parametrize(
    ("text", "folded", "title"),
    [
        ("PASTE why does it fail?", ((0, 5),), " why does it fail?"),
        ("why? PASTE and PASTE", ((5, 10), (15, 20)), "why?  and "),
        ("PASTE", ((0, 5),), "PASTE"),
        ("why?", ((2, 90),), "wh"),
        ("why?", None, "why?"),
    ],
)
def test_a_title_has_no_paste_unless_that_is_all(text, folded, title):
    prompt = Message(id="m", role="user", content=text, timestamp="t", folded=folded)
    assert prompt.title_text == title
