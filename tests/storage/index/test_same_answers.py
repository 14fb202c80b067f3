"""The index and a plain scan of the journals give the same answers, whatever happened before."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, at, piece, user
from tests.examples import examples
from tests.storage.contract import state
from tui.domain.journal.records import Reset
from tui.domain.search.query import parse, rank
from tui.storage.file_store import FileStore
from tui.storage.folders import Folders
from tui.storage.index.files import SEARCHED, scan
from tui.storage.index.search_index import QueryEffort, from_journals

WORDS = [
    *("foo", "Foobar", "foo_bar", "a->b", "/usr/lib", "the", "THE", "naïve", "NAIVE", "x"),
    *("検索", "全文検索", "か\u3099", "ガ", "ｶﾞ", "검색", "\u1100\u1161", "слово", "Ёлка", "елка"),
    *("العَرَبِيَّة", "العربية", "हिन्दी", "हिन्", "ไทย", "ท", "ΌΣΟΣ", "ßtraße", "\U0001e900", "Ⅻ", "½"),
    *("\U0001d4d0", "\ua7af", "😀", "\u0307", "\x00", "\ud800", "\u2028", "𠮷", "か゚"),
    *("ﬁ", "x" * 70),
]
OPERATORS = ["", "-", '"', "*", "^", "AND", "OR", "NOT", "NEAR(", ")", "text:", "+", "{", "'", ";"]
FILTERS = [
    *("in:p", "in:one", "in:nowhere", "from:sibyl", "from:peer", "from:nobody", "in:one from:peer"),
    *("before:2027", "after:2026", "before:2026-01-11", "after:2027", "in:p after:2026-01"),
]
pieces = st.sampled_from(WORDS + OPERATORS)
texts = st.lists(st.tuples(pieces, st.sampled_from(["", " ", " ", "\n", "-"])), max_size=8).map(
    lambda parts: "".join(part for pair in parts for part in pair)
)
queries = st.one_of(
    texts,
    st.lists(pieces, min_size=1, max_size=3).map(" ".join),
    st.lists(pieces, min_size=1, max_size=3).map(lambda words: f'"{" ".join(words)}"'),
    st.tuples(st.sampled_from(WORDS), st.integers(1, 4)).map(lambda w: f"{w[0][: w[1]]}*"),
    st.tuples(st.sampled_from(FILTERS), texts).map(" ".join),
    st.lists(pieces, min_size=2, max_size=3).map(" OR ".join),
)
sessions = st.sampled_from(["one", "two", "three"])
changes = st.one_of(
    st.tuples(st.just("say"), sessions, st.lists(texts, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["replace", "again", "rename", "stream"]), sessions, texts),
    st.tuples(st.sampled_from(["reset", "archive", "delete", "restore", "purge"]), sessions),
)
deeds = st.lists(
    st.one_of(
        changes,
        st.tuples(st.sampled_from(["torn", "rewritten", "shortened"]), sessions),
        st.tuples(st.just("search"), queries),
    ),
    min_size=2,
    max_size=14,
)


class World:
    """A data directory, and other stores of the same sessions, changed deed by deed.

    Nothing holds a session in between.
    """

    def __init__(self, root, *others):
        self.store = FileStore(root)
        self.others = others
        self.folders = Folders(root)
        self.count = 0
        self.last = {}

    def play(self, deed):
        kind, *arguments = deed
        getattr(self, kind)(*arguments)

    def say(self, name, texts):
        self.write(name, [answer(self.next(name), text, self.count) for text in texts])

    def replace(self, name, text):
        if name in self.last:
            replaced = self.last[name]
            self.write(name, [answer(self.next(name), text, self.count, replaces=replaced)])

    def again(self, name, text):
        if name in self.last:
            self.write(name, [user(self.last[name], text, self.count)])

    def reset(self, name):
        self.write(name, [Reset(at=at(self.count))])

    def rename(self, name, text):
        self.write(name, [state(text)])

    def stream(self, name, text):
        if text:
            self.write(name, [piece(self.next(name), 0, text, self.count)])

    def archive(self, name):
        self.move("archive", name, "sessions")

    def delete(self, name):
        self.move("delete", name, "sessions", "archive")

    def restore(self, name):
        self.move("restore", name, "archive", "trash")

    def purge(self, name):
        self.move("purge", name, "trash")

    def move(self, verb, name, *folders):
        if self.folder(name) in folders:
            for store in (self.store, *self.others):
                getattr(store, verb)(name)

    def index(self, name):
        """Make the index of a session anew where that is done one by one."""
        if self.folder(name):
            for store in self.others:
                list(store.build_index("a test", anew=True))

    def torn(self, name):
        if self.folder(name):
            with self.store.path(name).open("ab") as file:
                file.write(b'{"type":"message","id":"torn","ro')

    def rewritten(self, name):
        """Another file with other messages, of the same name."""
        if self.folder(name):
            path = self.store.path(name)
            other = path.with_suffix(".new")
            other.write_bytes(path.read_bytes().replace(b"foo", b"bar"))
            other.replace(path)

    def shortened(self, name):
        if self.folder(name):
            path = self.store.path(name)
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[: max(1, len(lines) - 2)]))

    def search(self, query):
        found = self.store.search(query, 300, seconds=60)
        assert not found.notice
        assert not found.pending, "all of it is in the index, or the index is not what is tested"
        assert ids(found) == self.plain(query)

    def plain(self, text):
        files = [file.session_id for file in scan(self.folders) if file.folder in SEARCHED]
        query, effort = parse(text), QueryEffort(float("inf"))
        candidates = [] if query.is_empty else from_journals(self.folders, files, query, effort)[0]
        return ids(rank(query, candidates, 300))

    def write(self, name, records):
        folder = self.folder(name)
        if folder == "trash":
            return
        for store in (self.store, *self.others):
            if folder is None:
                theirs = "peer:1" if name == "one" else None
                lease = store.create(
                    f"project:/p/{name}", "/p", "m", session_id=name, imported_from=theirs
                )
            else:
                lease = store.lease(name)
            store.append(lease, records)
            lease.release()

    def folder(self, name):
        files = {file.session_id: file.folder for file in scan(self.folders)}
        return files.get(name)

    def next(self, name):
        self.count += 1
        self.last[name] = f"m{self.count}"
        return self.last[name]


def ids(found):
    return sorted((hit.session_id, hit.message_id or "", hit.role or "") for hit in found.hits)


@examples(1.5)
@given(deeds, st.lists(queries, min_size=1, max_size=4))
def test_the_index_and_a_plain_scan_give_the_same(deeds, queries):
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        world.say("one", ["foo bar 検索", "naïve search"])
        for deed in deeds:
            world.play(deed)
        for query in queries:
            world.search(query)


@examples(0.6)
@given(texts)
def test_a_text_is_found_by_itself_and_by_each_of_its_words(text):
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        world.say("one", [text])
        for query in [text, f'"{text.replace(chr(34), " ")}"', *text.split()]:
            if parse(query).terms:
                assert world.store.search(query, 10, seconds=60).total == 1
            world.search(query)
