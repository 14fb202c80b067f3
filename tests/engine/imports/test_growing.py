"""Any conversations, imported in growing and overlapping steps, are there as they are, once."""

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.imports.notebook import SEVERAL, Shelf, said, told
from tui.engine.imports.ids import imported_session_id
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.storage.file_store import FileStore
from tui.storage.memory_store import MemoryStore

SESSION = imported_session_id("notebook", "r")
ROLES = ["user", "assistant", "tool"]


@st.composite
def trees(draw):
    """Messages by id, each with the one that it follows, which comes before it, or none."""
    parents = {"m0": ""}
    for number in range(1, draw(st.integers(1, 12))):
        # Most follow the one before them.
        last = f"m{number - 1}"
        parents[f"m{number}"] = draw(st.just(last) | st.sampled_from([*parents, "", last]))
    return parents


def message(name, **fields):
    return said(name, ROLES[int(name[1:]) % 3], **fields)


def way_to(parents, name):
    """The messages from the first one of a conversation to this one."""
    way = []
    while name:
        way.insert(0, name)
        name = parents[name]
    return way


@contextmanager
def world(kind):
    """A store and a shelf of its own for an example."""
    with TemporaryDirectory() as top:
        store = FileStore(Path(top, "data")) if kind == "files" else MemoryStore()
        yield store, Shelf(Path(top, "home"))


def take(store, shelf):
    outcome = run(store, make_plan(store, Wanted(shelf.places), readers=[SEVERAL]))
    assert not outcome.error
    assert not outcome.programs[0].failures
    return outcome.programs[0].messages


def follows(session):
    """For each message of a session the one that it follows."""
    ids = [each.id for each in session.all_messages]
    if session.parents:
        return {each: session.parents[each] for each in ids}
    return dict(zip(ids, ["", *ids], strict=False))


def check(session, parents):
    """Check that a session has these messages, and nothing twice; gives what is live."""
    names = {each.id: each.text for each in session.all_messages}
    found = {names[child]: names.get(parent, "") for child, parent in follows(session).items()}
    assert found == parents
    assert len(session.all_messages) == session.total_count == len(parents)
    assert [each.role for each in session.all_messages] == [
        ROLES[int(each.text[1:]) % 3] for each in session.all_messages
    ]
    assert session.damaged == 0
    return [each.text for each in session.loaded_messages]


@pytest.mark.parametrize("kind", ["files", "memory"])
@given(tree=trees(), data=st.data())
def test_a_tree_that_grows_is_there_as_it_is(kind, tree, data):
    names = list(tree)
    steps = data.draw(st.lists(st.integers(1, len(names)), max_size=3).map(sorted))
    with world(kind) as (store, shelf):
        imported = 0
        for number, length in enumerate([*steps, len(names)]):
            items = [message(name, parent=tree[name]) for name in names[:length]]
            shelf.put(f"{data.draw(st.integers(0, number))}.json", told(*items, root="r"))
            imported += take(store, shelf)
            live = check(store.load(SESSION), {name: tree[name] for name in names[:length]})
            assert live == way_to(tree, names[length - 1])
            tail = store.tail(SESSION, len(names)).session
            assert [each.text for each in tail.loaded_messages] == live
            assert tail.message_count == len(live)
        assert imported == len(names)


@pytest.mark.parametrize("kind", ["files", "memory"])
@given(tree=trees(), data=st.data())
def test_conversations_that_repeat_each_other_are_one_session(kind, tree, data):
    leaves = data.draw(st.lists(st.sampled_from([*tree]), min_size=1, max_size=5))
    with world(kind) as (store, shelf):
        for number, leaf in enumerate(leaves):
            items = map(message, way_to(tree, leaf))
            shelf.put(f"{number}.json", told(*items, source_id=f"c{number}", root="r"))
            if data.draw(st.booleans()):
                take(store, shelf)
        take(store, shelf)
        known = {name for leaf in leaves for name in way_to(tree, leaf)}
        check(store.load(SESSION), {name: tree[name] for name in tree if name in known})
