"""The estimate of tokens before a server has counted."""

import pytest
from hypothesis import given

from tests.strategies import any_text
from tui.domain.journal.message import Message, ToolCall
from tui.engine.model_requests import estimated_tokens, tokens_of


@pytest.mark.parametrize(
    ("text", "characters_per_token"),
    [
        ("The oldest messages are summarised in the background. ", (3.5, 4)),
        ("    return {'id': call.id, 'size': 4096}\n", (2.5, 3.5)),
        ("3fa9c1e07b", (2, 3.5)),
        ("Самые старые сообщения ", (1.8, 2.5)),
        ("会話を要約する", (1, 1)),
    ],
)
def test_it_is_near_the_counts_of_servers_and_rather_above_them(text, characters_per_token):
    least, most = characters_per_token
    long = text * 1000
    assert least <= len(long) / tokens_of(long) <= most


def test_a_call_counts_with_its_arguments():
    call = ToolCall("c1", "read_file", {"path": "a" * 400})
    plain = Message("m1", "assistant", "text", "2026-01-01T00:00:00.000Z")
    calling = Message("m1", "assistant", "text", "2026-01-01T00:00:00.000Z", tool_calls=(call,))
    assert estimated_tokens(calling) > estimated_tokens(plain) + 100


@given(any_text())
def test_any_text_can_be_weighed(text):
    assert tokens_of(text) >= 0
