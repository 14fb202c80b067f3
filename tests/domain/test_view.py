"""What the screen shows of one session."""

from tests.builders import answer, user
from tui.domain.notice import Notice
from tui.domain.records import Reset
from tui.domain.view import SessionView


def view(*entries):
    return SessionView(
        session_id="tale",
        entries=entries,
        earlier=False,
        arriving=None,
        draft="",
        queued=(),
        prompt_count=0,
        read_only="",
    )


def test_the_prompts_are_what_the_user_said_oldest_first():
    entries = (user("m1", "one"), answer("m2"), Notice("two"), Reset("now"), user("m3", "three"))
    assert view(*entries).prompts == ("one", "three")


def test_where_nothing_was_said_there_are_no_prompts():
    assert view(Notice("hello")).prompts == ()
