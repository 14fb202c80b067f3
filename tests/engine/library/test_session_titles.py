"""Titles in place of ids, in the words for the user of the screen."""

import pytest

from tui.engine.library.session_pages import SessionTitles


class Titled:
    """An open session, or a row of a list."""

    def __init__(self, session_id, title):
        self.id = session_id
        self._title = title

    def label(self):
        return self._title


class Known:
    """A workspace with one session, and a list with another."""

    switcher = property(lambda self: self)

    def find(self, session_id):
        return Titled("one", "The open one") if session_id == "one" else None

    @property
    def entries(self):
        entry = Titled("session-20260111-153022-847291", "")
        entry.label = "A listed one"
        return (entry,)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Session one is read-only here.", '"The open one" is read-only here.'),
        ("Cannot open session one: gone", 'Cannot open "The open one": gone'),
        (
            "Session session-20260111-153022-847291 is damaged: gone",
            '"A listed one" is damaged: gone',
        ),
        ("Session other-1.2 is read-only here.", "Session other-1.2 is read-only here."),
        ("Restored this session", "Restored this session"),
    ],
)
def test_the_title_of_a_known_session_replaces_its_id(text, named):
    assert SessionTitles(Known(), Known()).named(text) == named
