"""Any conversations, imported in growing and overlapping steps, are there as they are, once."""

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import appended, user
from tests.engine.imports.notebook import SEVERAL, Shelf, said, told
from tui.engine.imports.history import imported_session_id
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.storage.file_store import FileStore

SESSION = imported_session_id("notebook", "r")
FIRST = imported_session_id("notebook", "c1")
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
def world():
    """A store and a shelf of its own for an example."""
    with TemporaryDirectory() as top:
        yield FileStore(Path(top, "data")), Shelf(Path(top, "home"))


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


@given(tree=trees(), data=st.data())
def test_a_tree_that_grows_is_there_as_it_is(tree, data):
    names = list(tree)
    steps = data.draw(st.lists(st.integers(1, len(names)), max_size=3).map(sorted))
    with world() as (store, shelf):
        imported = 0
        for number, length in enumerate([*steps, len(names)]):
            items = [message(name, parent=tree[name]) for name in names[:length]]
            shelf.put(f"{data.draw(st.integers(0, number))}.json", told(*items, root="r"))
            imported += take(store, shelf)
            live = check(
                store.journal(SESSION).load(), {name: tree[name] for name in names[:length]}
            )
            assert live == way_to(tree, names[length - 1])
            tail = store.journal(SESSION).tail(len(names)).session
            assert [each.text for each in tail.loaded_messages] == live
            assert tail.message_count == len(live)
        assert imported == len(names)


@given(tree=trees(), data=st.data())
def test_conversations_that_repeat_each_other_are_one_session(tree, data):
    leaves = data.draw(st.lists(st.sampled_from([*tree]), min_size=1, max_size=5))
    with world() as (store, shelf):
        for number, leaf in enumerate(leaves):
            items = map(message, way_to(tree, leaf))
            shelf.put(f"{number}.json", told(*items, source_id=f"c{number}", root="r"))
            if data.draw(st.booleans()):
                take(store, shelf)
        take(store, shelf)
        known = {name for leaf in leaves for name in way_to(tree, leaf)}
        check(store.journal(SESSION).load(), {name: tree[name] for name in tree if name in known})


@given(data=st.data())
def test_messages_that_change_after_an_import_are_there_as_they_were_and_as_they_are(data):
    texts = ["m0"]
    ever = set()
    with world() as (store, shelf):
        for step in range(data.draw(st.integers(1, 5))):
            changed = data.draw(st.integers(0, len(texts) - 1))
            texts[changed] = data.draw(st.sampled_from([texts[changed], f"new {step}"])) + "+"
            texts += [f"m{len(texts) + each}" for each in range(data.draw(st.integers(0, 2)))]
            ever |= {*texts}
            items = [message(f"m{place}", content=text) for place, text in enumerate(texts)]
            shelf.put("notes.json", told(*items, root="r"))
            take(store, shelf)
            session = store.journal(SESSION).load()
            assert [each.text for each in session.loaded_messages] == texts
            said_here = [each.text for each in session.all_messages]
            assert all(any(each.startswith(text) for each in said_here) for text in ever)
            tail = store.journal(SESSION).tail(2)
            assert [each.text for each in tail.session.loaded_messages] == texts[-2:]
            assert session.damaged == tail.session.damaged == 0
            shelf.put("copy.json", told(*items, root="r"))
            assert take(store, shelf) == 0


def live(store, session_id=FIRST):
    return store.journal(session_id).load().loaded_messages


def test_a_call_that_an_answer_got_after_the_result_of_its_first_is_shown(store, imported):
    first, second = ({"id": each, "name": "Bash", "arguments": {}} for each in "ab")
    result = said("m2", "tool", tool_call_id="a")
    imported(said("m0"), said("m1", "assistant", tool_calls=[first]), result)
    answer = said("m1", "assistant", tool_calls=[first, second])
    imported(said("m0"), answer, result, said("m3", "tool", tool_call_id="b"))
    assert [each.text for each in live(store)] == ["m0", "m1", "m2", "m3"]
    assert [call.id for call in live(store)[1].tool_calls] == ["a", "b"]


def test_a_message_in_the_place_of_others_is_followed_by_what_follows_it(
    take, shelf, store, imported
):
    imported(said("m0"), said("m1"), said("m2"), said("m3"))
    imported(said("m0"), said("edited"), said("m2"), said("m3"))
    assert [each.text for each in live(store)] == ["m0", "edited", "m2", "m3"]
    shelf.put("copy.json", told(said("m0"), said("edited"), said("m2"), said("m3")))
    assert take().sessions == 0


def test_a_conversation_without_its_beginning_is_not_repeated(store, imported):
    imported(*(said(f"m{n}") for n in range(9)))
    assert (
        imported(said("summary"), *(said(f"m{n}") for n in range(5, 10))).programs[0].messages == 2
    )


def test_an_older_copy_of_the_last_message_takes_nothing_away(take, shelf, store):
    shelf.put("new.json", told(said("m0"), said("m1", "assistant", content="all of its words")))
    take()
    shelf.put("old.json", told(said("m0"), said("m1", "assistant", content="all of")))
    assert take().sessions == 0
    assert [each.text for each in live(store)] == ["m0", "all of its words"]


def test_an_answer_that_changed_where_it_was_continued_here_is_in_the_fork(
    take, shelf, store, imported
):
    imported(said("m0"), said("m1", "assistant"), said("m2"))
    appended(store, FIRST, user("own", "my own words"))
    [fork] = (
        imported(said("m0"), said("m1", "assistant", content="other"), said("m2")).programs[0].forks
    )
    assert [each.text for each in live(store, fork.fork_id)] == ["m0", "other", "m2"]
    shelf.put("copy.json", told(said("m0"), said("m1", "assistant", content="other"), said("m2")))
    assert take().sessions == 0
