"""What the screen shows of one session."""

import msgspec
import pytest

from tests.attached import NOTES, showing
from tests.builders import answer, user
from tui.domain.journal.records import Reset
from tui.domain.views.notice import Notice
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


def test_the_prompts_are_what_the_user_said_oldest_first():
    entries = (user("m1", "one"), answer("m2"), Notice("two"), Reset("now"), user("m3", "three"))
    assert view(*entries).prompts == ("one", "three")


def test_the_prompts_are_recalled_without_their_files():
    entries = (user("m1", showing("read @notes.txt", NOTES)),)
    assert view(*entries).prompts == ("read @notes.txt",)


def test_where_nothing_was_said_there_are_no_prompts():
    assert view(Notice("hello")).prompts == ()


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
