"""An archive of five hundred messages, and searches in it that are patient."""

import pytest

from tests.engine.library.remembered import five_hundred
from tests.storage.contract import closed
from tui.engine.library.loose_search import nearest
from tui.storage.file_store import FileStore

_PATIENT = 5


class Searched:
    """A store, and what is found in it."""

    def __init__(self, folder, *sessions):
        self.store = FileStore(folder)
        for messages in sessions:
            closed(self.store, *messages)

    def search(self, query, limit=50):
        return self.store.search(query, limit, seconds=_PATIENT)

    def near(self, text):
        """What comes nearest to a query."""
        return nearest(self.search, text, self.search(text), 50, _PATIENT)

    def hits(self, text):
        """All hits of a query: those of all its words, then those of some."""
        return [*self.search(text).hits, *self.near(text).hits]

    def index(self):
        list(self.store.build_index("a test"))


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    messages = five_hundred()
    parts = [messages[at : at + 25] for at in range(0, len(messages), 25)]
    searched = Searched(tmp_path_factory.mktemp("remembered") / "data", *parts)
    searched.index()
    return searched
