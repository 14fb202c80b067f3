"""What the screen shows of one session."""

import msgspec
import pytest

from tui.domain.views.shown_session import PromptQueue, SessionView


def view(*entries):
    return SessionView(
        session_id="tale",
        entries=entries,
        earlier=False,
        arriving=None,
        draft="",
        queue=PromptQueue(),
        prompt_count=0,
        read_only="",
    )


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", ""),
        (
            "Read-only: open in another window (pid 7 on box)",
            "read-only: open in another window",
        ),
    ],
)
def test_why_it_is_read_only_is_said_without_the_process(sentence, said):
    assert msgspec.structs.replace(view(), read_only=sentence).read_only_in_short == said
